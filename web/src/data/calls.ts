// SPDX-License-Identifier: GPL-2.0-or-later
// Which calls are shown, how they nest, and how they are written.
import type { CallValue, TracedCall } from './document';

export interface CallFilter {
  function: string | null; // calls of it, and all inside them
  task: string | null;
  times: { from: number; to: number } | null; // of the trace's clock
}

export interface CallRow {
  call: TracedCall;
  order: number; // among those that the file holds, from 1
  depth: number; // of nesting in what is shown
}

function isWithin(call: TracedCall, times: { from: number; to: number }): boolean {
  return (call.began_ns ?? -Infinity) < times.to && (call.ended_ns ?? Infinity) >= times.from;
}

// In the order of their begins; a call stands behind the one around it.
export function shownCalls(calls: TracedCall[], filter: CallFilter): CallRow[] {
  const depths: (number | undefined)[] = []; // of those that are shown
  const belongs: boolean[] = []; // to a call of the function
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

// What it returned; empty where that is not known, or nothing.
export function resultText(call: TracedCall): string {
  if (typeof call.result_text === 'string') return call.result_text;
  if (call.error !== null) return String(call.error);
  if (call.result !== null) return valueText(call.result);
  return call.return_value ?? '';
}

export function argumentTexts(call: TracedCall): [string, string][] {
  return Object.entries(call.argument_texts ?? call.arguments ?? {}).map(([name, value]) => [name, valueText(value)]);
}

// "vfs_read(file=0xffff888103a5c000, count=4096) = 4096"
export function callText(call: TracedCall): string {
  const given = argumentTexts(call)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
  const result = resultText(call);
  return `${call.function}(${given})${result === '' ? '' : ` = ${result}`}`;
}

// What is special about a call.
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
