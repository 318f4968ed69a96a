// SPDX-License-Identifier: GPL-2.0-or-later
// Ranks live memory by the certainty and the rate of its growth. The program has judged it: this page only selects.
import type { KeyValue, LeakRow, Leaks } from './document';
import { keyName } from './rows';

// Sorts the rows by the certainty of their growth, then by the rate of growth, and numbers them. If the verdict is
// "certain", the rate is that of the certain part. `verdicts` are in order of certainty.
export function rankLeaks(rows: (LeakRow & { rank: number })[], verdicts: string[]): void {
  const growth = (row: LeakRow): number =>
    (row.verdict === 'certain' ? row.certain_growth : row.growth)?.bytes_per_s ?? -Infinity;
  const faster = (a: LeakRow, b: LeakRow): number => (growth(a) === growth(b) ? 0 : growth(b) > growth(a) ? 1 : -1);
  rows.sort((a, b) => verdicts.indexOf(a.verdict) - verdicts.indexOf(b.verdict) || faster(a, b));
  rows.forEach((row, at) => (row.rank = at + 1));
}

// The verdicts that `kmemtrace leaks` calls growth: those more certain than "unsure". Reclaimable memory and other
// explained growth have less certain verdicts.
function growingVerdicts(leaks: Leaks): string[] {
  const verdicts = Object.keys(leaks.verdicts);
  return verdicts.slice(0, Math.max(0, verdicts.indexOf('unsure')));
}

// Returns the fastest of the groups with the most certain growth, and the number of groups with this verdict. The row
// is null if nothing grows.
export function growthOf(leaks: Leaks): { row: LeakRow | null; groups: number } {
  const growing = growingVerdicts(leaks);
  const rows = Object.values(leaks.groups)
    .flatMap((groups) => groups.rows)
    .filter((row) => growing.includes(row.verdict))
    .map((row) => ({ ...row, rank: 0 }));
  rankLeaks(rows, growing);
  const row = rows.at(0) ?? null;
  return { row, groups: rows.filter((one) => one.verdict === row?.verdict).length };
}

const kUnclear: Record<string, string> = {
  'no-clock': "the trace's clock does not count nanoseconds",
  'too-short': 'the trace is too short, because a group must be followed for at least a second',
  'no-events': 'the trace has no events',
  'mostly-lost': 'more events were lost than recorded',
  'missing-events': 'a part of the trace is missing',
};

// Returns a sentence that says why growth cannot be excluded; null if it can be.
export function unclearText({ unclear }: Leaks): string | null {
  return unclear === null ? null : `Growth cannot be judged: ${kUnclear[unclear] ?? unclear}.`;
}

// Returns the name and the pid of a process. An interrupt has no pid.
export function processName(process: KeyValue): string {
  const name = keyName(process);
  const pid = typeof process === 'object' && process !== null && 'pid' in process ? process['pid'] : null;
  return typeof pid === 'number' ? `${name} (pid ${pid})` : name;
}
