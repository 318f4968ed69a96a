// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kNoFilter } from '../src/data/filter';
import { makeModel } from '../src/data/model';
import { windowClasses, windowRange } from '../src/data/window';
import { smallTrace } from './small_trace';

const model = makeModel(smallTrace());
const during = (from: number, to: number) => ({ ...kNoFilter, range: { from, to } });

test('a range is extended to the steps in which lives are stored', () => {
  assert.deepEqual(windowRange(model, during(1, 3)), { from: 0, to: 4 });
  assert.deepEqual(windowRange(model, during(3, 5)), { from: 2, to: 5 });
});

test('memory is sorted by when it was allocated and when it ended', () => {
  // 300 bytes were allocated and ended in the first four buckets, and 50 bytes were left.
  assert.deepEqual(windowClasses(model, during(0, 4), 0), {
    leftLive: 50,
    freedInside: 300,
    freedOlder: 0,
    throughout: 0,
  });
  // 250 bytes were live at the start; 200 of them ended in the third and fourth bucket.
  assert.deepEqual(windowClasses(model, during(2, 4), 0), {
    leftLive: 0,
    freedInside: 100,
    freedOlder: 200,
    throughout: 50,
  });
  assert.deepEqual(windowClasses(model, during(4, 5), 0), {
    leftLive: 0,
    freedInside: 0,
    freedOlder: 50,
    throughout: 0,
  });
  assert.equal(windowClasses(model, during(0, 4), 3).leftLive + windowClasses(model, during(0, 4), 3).throughout, 8192);
});

test('filters by group have no effect', () => {
  assert.deepEqual(windowClasses(model, { ...during(0, 4), site: 's2' }, 0), windowClasses(model, during(0, 4), 0));
});
