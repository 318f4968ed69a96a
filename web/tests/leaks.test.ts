// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LeakRow, Leaks } from '../src/data/document';
import { growthOf, processName, rankLeaks, unclearText } from '../src/data/leaks';

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

const kVerdicts = { certain: '', uncertain: '', uneven: '', unsure: '', explained: '', 'no-growth': '' };

function leaksWith(...rows: LeakRow[]): Leaks {
  return {
    threshold_bytes_per_s: 1,
    confidence_needed: 0.95,
    judged: rows.length,
    found: rows.some((one) => one.verdict === 'certain'),
    unclear: null,
    cut_at_ns: null,
    start_ns: 0,
    bucket_ns: 1,
    verdicts: kVerdicts,
    groups: { slab: { total: rows.length, older_frees: 0, rows } },
  };
}

test('explained growth, as of the page cache, never counts as growth', () => {
  const pageCache = row('__filemap_get_folio', 'explained', 1e9);
  assert.deepEqual(growthOf(leaksWith(pageCache, row('slow', 'unsure', 1))), { row: null, groups: 0 });
  const found = growthOf(
    leaksWith(pageCache, row('slow', 'certain', 1), row('do_eventfd', 'certain', 7), row('x', 'uneven', 99)),
  );
  assert.equal((found.row as { name?: string } | null)?.name, 'do_eventfd');
  assert.equal(found.groups, 2);
});

test('a trace that cannot exclude growth says why', () => {
  assert.equal(unclearText(leaksWith()), null);
  assert.match(unclearText({ ...leaksWith(), unclear: 'too-short' }) ?? '', /^Growth cannot be judged: .*too short/);
  assert.match(unclearText({ ...leaksWith(), unclear: 'new-reason' }) ?? '', /new-reason/);
});

test('processes have their pid, interrupts have none', () => {
  assert.equal(processName({ pid: 4321, comm: 'leaky' }), 'leaky (pid 4321)');
  assert.equal(processName({ pid: null, comm: '[softirq]' }), '[softirq]');
});
