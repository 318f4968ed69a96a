// SPDX-License-Identifier: GPL-2.0-or-later
// Which of what is live is looked at first.
import type { LeakRow } from './document';

// Numbers them by the certainty of their growth, among equals by how fast they grow, where that is certain by what is
// certain of it, and sorts them so. `verdicts` are in the order of certainty.
export function rankLeaks(rows: (LeakRow & { rank: number })[], verdicts: string[]): void {
  const growth = (row: LeakRow): number =>
    (row.verdict === 'certain' ? row.certain_growth : row.growth)?.bytes_per_s ?? -Infinity;
  const faster = (a: LeakRow, b: LeakRow): number => (growth(a) === growth(b) ? 0 : growth(b) > growth(a) ? 1 : -1);
  rows.sort((a, b) => verdicts.indexOf(a.verdict) - verdicts.indexOf(b.verdict) || faster(a, b));
  rows.forEach((row, at) => (row.rank = at + 1));
}
