// SPDX-License-Identifier: GPL-2.0-or-later
// Formats sizes, times and counts like kmemtrace (src/base/units.cpp), and makes text from a trace safe to show.

const kUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const kUnknown = '–';

// Rounds like fmt. A tie is rounded to the even digit, whereas toFixed rounds it away from 0. A number is a tie if it
// has exactly `places` + 1 binary places.
export function fixed(value: number, places: number): string {
  const text = value.toFixed(places);
  if (Math.abs(value * 2 ** (places + 1)) % 2 !== 1) return text;
  const last = Number(text.at(-1));
  return last % 2 === 0 ? text : `${text.slice(0, -1)}${last - 1}`;
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return kUnknown;
  const sign = value < 0 ? '-' : '';
  let size = Math.abs(value);
  if (size < 1023.95) return `${sign}${Math.round(size)} B`;
  let unit = 0;
  while (size >= 1023.95 && unit + 1 < kUnits.length) {
    size /= 1024;
    ++unit;
  }
  return `${sign}${fixed(size, 1)} ${kUnits[unit]}`;
}

// Formats a value that may be an upper bound.
export function atMost(isUpperBound: boolean, text: string): string {
  return isUpperBound && text !== kUnknown ? `≤ ${text}` : text;
}

// Formats a range of sizes, with one unit if both sizes have the same unit.
export function bytesSpan(least: number, most: number): string {
  const [from, to] = [bytes(least), bytes(most)];
  if (from === to) return from;
  const [number, unit] = from.split(' ');
  return to.endsWith(` ${unit}`) ? `${number}–${to}` : `${from} – ${to}`;
}

export function count(value: number | null | undefined): string {
  if (value === null || value === undefined) return kUnknown;
  const digits = Math.abs(Math.round(value)).toString();
  return (value <= -0.5 ? '-' : '') + digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

// Returns a number and a noun: "1 group", "2 groups".
export function numberOf(value: number, noun: string, plural = `${noun}s`): string {
  return `${count(value)} ${value === 1 ? noun : plural}`;
}

export function duration(value: number | null | undefined): string {
  if (value === null || value === undefined) return kUnknown;
  if (value < 1e3) return `${Math.round(value)} ns`;
  if (value < 1e6) return `${fixed(value / 1e3, 1)} us`;
  if (value < 1e9) return `${fixed(value / 1e6, 1)} ms`;
  if (value < 120e9) return `${fixed(value / 1e9, 3)} s`;
  const seconds = Math.floor(value / 1e9);
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
}

// Formats how long something was observed, like the text of an investigation.
export function span(seconds: number): string {
  return seconds < 120 ? `${seconds.toFixed(1)} s` : duration(seconds * 1e9);
}

// Formats a time of the trace's clock in seconds.
export function clock(nanoseconds: number | null | undefined): string {
  if (nanoseconds === null || nanoseconds === undefined) return kUnknown;
  return `${(nanoseconds / 1e9).toFixed(6)} s`;
}

export function percent(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value) ? kUnknown : `${fixed(value, 1)}%`;
}

export function rate(value: number | null | undefined): string {
  if (value === null || value === undefined) return kUnknown;
  if (value > 0 && value < 1) return String(Number(value.toPrecision(2)));
  return value < 100 ? fixed(value, 1) : count(Math.floor(value));
}

// Formats by how much b is larger than a, like `kmemtrace diff`.
export function change(a: number | null | undefined, b: number | null | undefined): string {
  if (a === null || a === undefined || b === null || b === undefined || a < 0) return kUnknown;
  if (a === b) return '0%';
  if (a === 0) return 'new';
  if (b === 0) return 'gone';
  const more = (100 * (b - a)) / a;
  return more >= 1000 ? `×${count(b / a)}` : signed(more, percent);
}

export function signed(value: number | null, format: (value: number) => string): string {
  if (value === null) return kUnknown;
  return value > 0 ? `+${format(value)}` : format(value);
}

// Characters that are invisible or that move other characters: controls, zero width, bidirectional marks, lone
// surrogates.
const kHidden =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]|[\u{e0000}-\u{e0fff}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;
const kRightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

const printed = new Map<string, string>();

// Makes text from a trace safe to show. Right-to-left letters are shown in the order of the text, so that they do not
// reorder the text around them.
export function printable(text: string): string {
  const known = printed.get(text);
  if (known !== undefined) return known;
  let shown = text.replace(kHidden, escaped);
  if (kRightToLeft.test(shown)) shown = `\u202d${shown}\u202c`;
  printed.set(text, shown);
  return shown;
}
