// SPDX-License-Identifier: GPL-2.0-or-later
// Selects calls, computes their nesting, and formats them.
import type { CallValue, TracedCall } from './document';

export interface CallFilter {
  function: string | null; // show only calls of this function, and calls inside them
  task: string | null;
  times: { from: number; to: number } | null; // in nanoseconds of the trace's clock
}

export interface CallRow {
  call: TracedCall;
  order: number; // position among the file's calls, from 1
  depth: number; // nesting depth among the shown calls
}

function isWithin(call: TracedCall, times: { from: number; to: number }): boolean {
  return (call.began_ns ?? -Infinity) < times.to && (call.ended_ns ?? Infinity) >= times.from;
}

// Returns the calls that the filter selects, in order of their start. A call comes after the call that contains it.
export function shownCalls(calls: TracedCall[], filter: CallFilter): CallRow[] {
  const depths: (number | undefined)[] = []; // for each call: nesting depth; undefined if the call is not shown
  const belongs: boolean[] = []; // for each call: true if it is, or is inside, a call of the wanted function
  const rows: CallRow[] = [];
  calls.forEach((call, at) => {
    belongs[at] =
      filter.function === null || call.function === filter.function || (call.parent !== null && belongs[call.parent]);
    if (!belongs[at]) return;
    if (filter.task !== null && call.task !== filter.task) return;
    if (filter.times && !isWithin(call, filter.times)) return;
    const around = call.parent === null ? undefined : depths[call.parent];
    const depth = (depths[at] = around === undefined ? 0 : around + 1);
    rows.push({ call, order: at + 1, depth });
  });
  return rows;
}

function valueText(value: CallValue): string {
  return value === null ? '?' : String(value);
}

// Returns the result as text; empty if it is unknown or void.
export function resultText(call: TracedCall): string {
  if (typeof call.result_text === 'string') return call.result_text;
  if (call.error !== null) return String(call.error);
  if (call.result !== null) return valueText(call.result);
  return call.return_value ?? '';
}

export function argumentTexts(call: TracedCall): [string, string][] {
  return Object.entries(call.argument_texts ?? call.arguments ?? {}).map(([name, value]) => [name, valueText(value)]);
}

// Returns a text such as "vfs_read(file=0xffff888103a5c000, count=4096) = 4096".
export function callText(call: TracedCall): string {
  const given = argumentTexts(call)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
  const result = resultText(call);
  return `${call.function}(${given})${result === '' ? '' : ` = ${result}`}`;
}

// Returns notes about special properties of a call.
export function remarks(call: TracedCall): string[] {
  const said: string[] = [];
  if (call.interrupt !== null) said.push(call.on_top ? `${call.interrupt} on top` : call.interrupt);
  if (call.lost_events) said.push(call.only_missed === true ? 'calls may have been missed' : 'events were lost');
  if (call.began_ns === null) said.push('start not in the trace');
  if (call.ended_ns === null) said.push('end not in the trace');
  if (call.failed ?? call.error !== null) said.push('error');
  if (call.inside_hidden) said.push('made calls that are not in this file');
  return said;
}
