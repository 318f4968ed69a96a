// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byteTicks, octaveTicks, roundTime, thinOut, timeTicks, type Tick } from '../src/widgets/ticks';

const texts = (ticks: Tick[]): string[] => ticks.map((tick) => tick.text);

test('sizes of an axis have one unit and lose no digit', () => {
  const quarter = 256 << 10;
  assert.deepEqual(byteTicks([0, quarter, 2 * quarter, 5 * quarter]), ['0', '0.25 MiB', '0.5 MiB', '1.25 MiB']);
  assert.deepEqual(byteTicks([0, 512 << 20], '/s'), ['0', '512 MiB/s']);
  assert.deepEqual(byteTicks([-64, 0, 64]), ['-64 B', '0', '64 B']);
});

test('times are round', () => {
  assert.equal(roundTime(1), '1 ns');
  assert.equal(roundTime(200e3), '200 us');
  assert.equal(roundTime(1e10), '10 s');
  assert.deepEqual(texts(timeTicks(0, 10.03e9, 0.05e9, 10)), ['0 s', '2 s', '4 s', '6 s', '8 s', '10 s']);
  const ticks = timeTicks(0.772e9, 1.22e9, 0.01e9, 5);
  assert.deepEqual(texts(ticks), ['0.8 s', '0.9 s', '1 s', '1.1 s', '1.2 s']);
  assert.ok(Math.abs(ticks[0].at - 2.8) < 1e-9);
});

test('octaves have marks at powers of ten', () => {
  const ticks = octaveTicks(10, 12); // 1,024 ns to 4.2 ms
  assert.deepEqual(texts(ticks), ['10 us', '100 us', '1 ms']);
  assert.ok(Math.abs(ticks[0].at - (Math.log2(1e4) - 10)) < 1e-9);
  assert.deepEqual(texts(octaveTicks(0, 4)), ['1 ns', '2 ns', '5 ns', '10 ns']);
});

test('marks that are too close are left out, but remain evenly spaced', () => {
  const ticks = Array.from({ length: 9 }, (_, at) => ({ at, text: String(at) }));
  assert.deepEqual(texts(thinOut(ticks, 10, 10)).length, 9);
  assert.deepEqual(texts(thinOut(ticks, 10, 25)), ['0', '3', '6']);
  assert.deepEqual(texts(thinOut(ticks, 1, 25)), ['0']);
  assert.deepEqual(thinOut([], 1, 25), []);
});
