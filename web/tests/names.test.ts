// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tellingNames } from '../src/data/names';

test('names of traces are the parts in which their paths differ', () => {
  assert.deepEqual(tellingNames(['/a/b/trace.dat']), ['trace.dat']);
  assert.deepEqual(tellingNames(['/a/before.kmt', '/a/after.kmt']), ['before.kmt', 'after.kmt']);
  assert.deepEqual(tellingNames(['/t/5.10/trace.dat', '/t/6.1/trace.dat']), ['5.10/trace.dat', '6.1/trace.dat']);
  assert.deepEqual(tellingNames(['/x/t/trace.dat', '/y/t/trace.dat']), ['x/t/trace.dat', 'y/t/trace.dat']);
  assert.deepEqual(tellingNames(['trace.dat', 'x/trace.dat']), ['trace.dat', 'x/trace.dat']);
  assert.deepEqual(tellingNames(['trace.dat', 'trace.dat']), ['trace.dat', 'trace.dat']);
  assert.deepEqual(tellingNames(['/', '-']), ['/', '-']);
});
