// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LeakRow, Leaks } from '../src/data/document';
import { kNoFilter } from '../src/data/filter';
import { makeModel, type Model } from '../src/data/model';
import { isUpperBound } from '../src/data/unseen_frees';
import { tableRows } from '../src/data/rows';
import { atMost } from '../src/text';
import { smallTrace } from './small_trace';

const address = (symbol: string): { address: string; symbol: string } => ({ address: '0x1', symbol });

function row(keys: LeakRow['keys'], live_bytes: number, reason: string, bytes: number): LeakRow {
  return {
    keys,
    verdict: 'uncertain',
    growth: null,
    certain_growth: null,
    allocations: 9,
    live_allocations: 9,
    live_bytes,
    certain_bytes: live_bytes - bytes,
    uncertain_bytes: bytes,
    uncertain: [{ reason, allocations: 1, bytes }],
    untraced_path: null,
    age: { oldest_ns: 1, median_ns: 1 },
    series: null,
  };
}

// The first slab group of the trace keeps 300 bytes live.
function modelWith(...rows: LeakRow[]): Model {
  const trace = smallTrace();
  Object.assign(trace.explore.changes, { frees: [0, 0, 0, 0, 5, 0], freed: [0, 0, 0, 0, 50, 0] });
  trace.leaks = {
    judged: rows.length,
    verdicts: {},
    groups: { slab: { total: 1, older_frees: 0, rows } },
  } as unknown as Leaks;
  return makeModel(trace);
}

test('memory whose frees may lack an event is an upper bound', () => {
  const model = modelWith(row({ caller: address('s1') }, 300, 'reallocated', 30));
  assert.deepEqual([...model.possiblyFreed], [30, 0, 0, 0]);
  assert.ok(isUpperBound(model, [0, 1], 300));
  assert.ok(!isUpperBound(model, [1, 2], 50));
  const shown = tableRows(model, 'site', { ...kNoFilter, range: { from: 0, to: 5 } }).rows;
  assert.deepEqual(
    shown.map((one) => `${one.name} ${atMost(one.liveIsAtMost, String(one.liveBytes))}`),
    ['s1 ≤ 300', 's2 0', 's1 8192'],
  );
});

test('a caller above the call site is found by its stack', () => {
  const model = modelWith(
    row({ caller: address('wrapper'), stack: [address('s1'), address('wrapper')] }, 300, 'untraced-path', 300),
  );
  assert.equal(model.possiblyFreed[0], 300);
});

test('reclaimable memory is live, and parts below 1 % do not count', () => {
  assert.ok(!isUpperBound(modelWith(row({ caller: address('s1') }, 300, 'reclaimable', 300)), [0], 300));
  assert.ok(!isUpperBound(modelWith(row({ caller: address('s1') }, 300, 'reallocated', 2)), [0], 300));
});
