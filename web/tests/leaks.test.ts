// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LeakRow } from '../src/data/document';
import { rankLeaks } from '../src/data/leaks';

function row(name: string, verdict: string, bytes_per_s: number | null): LeakRow & { name: string; rank: number } {
  const growth =
    bytes_per_s === null ? null : { bytes_per_s, low: 0, high: 0, late_bytes_per_s: 0, confidence: 1, evenness: 1 };
  return {
    name,
    rank: 0,
    keys: null,
    verdict,
    growth,
    certain_growth: growth && { ...growth, bytes_per_s: growth.bytes_per_s / (name === 'doubtful' ? 100 : 1) },
    allocations: 1,
    live_allocations: 1,
    live_bytes: 1,
    certain_bytes: 1,
    uncertain_bytes: 0,
    uncertain: [],
    untraced_path: null,
    age: { oldest_ns: 1, median_ns: 1 },
    series: null,
  };
}

test('confirmed growth comes first, then the fastest', () => {
  const rows = [
    row('still', 'no-growth', 900),
    row('unknown', 'no-growth', null),
    row('slow', 'uncertain', 5),
    row('falls', 'no-growth', -3),
    row('fast', 'uncertain', 50),
    row('doubtful', 'certain', 10),
    row('sure', 'certain', 1),
  ];
  rankLeaks(rows, ['certain', 'uncertain', 'no-growth']);
  assert.deepEqual(
    rows.map(({ name, rank }) => `${rank} ${name}`),
    ['1 sure', '2 doubtful', '3 fast', '4 slow', '5 still', '6 falls', '7 unknown'],
  );
});
