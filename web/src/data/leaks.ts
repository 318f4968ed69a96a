// SPDX-License-Identifier: GPL-2.0-or-later
// Ranks live memory by the certainty and the rate of its growth.
import type { LeakRow } from './document';

// Sorts the rows by the certainty of their growth, then by the rate of growth, and numbers them. If the verdict is
// "certain", the rate is that of the certain part. `verdicts` are in order of certainty.
export function rankLeaks(rows: (LeakRow & { rank: number })[], verdicts: string[]): void {
  const growth = (row: LeakRow): number =>
    (row.verdict === 'certain' ? row.certain_growth : row.growth)?.bytes_per_s ?? -Infinity;
  const faster = (a: LeakRow, b: LeakRow): number => (growth(a) === growth(b) ? 0 : growth(b) > growth(a) ? 1 : -1);
  rows.sort((a, b) => verdicts.indexOf(a.verdict) - verdicts.indexOf(b.verdict) || faster(a, b));
  rows.forEach((row, at) => (row.rank = at + 1));
}
