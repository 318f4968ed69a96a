// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callText, remarks, shownCalls, type CallFilter } from '../src/data/calls';
import type { TracedCall } from '../src/data/document';

function call(name: string, parent: number | null, began: number | null, ended: number | null): TracedCall {
  return {
    function: name,
    parent,
    tid: 7,
    task: 'cat',
    cpu: 0,
    end_cpu: 0,
    interrupt: null,
    on_top: false,
    began_ns: began,
    ended_ns: ended,
    duration_ns: began === null || ended === null ? null : ended - began,
    lost_events: false,
    inside_hidden: false,
    arguments: null,
    return_value: null,
    result: null,
    error: null,
    inside: {},
  };
}

// The calls are open(lookup(alloc)), and read(alloc) by another task. The first alloc started before the trace.
const kCalls = [
  call('alloc', null, null, 5),
  call('open', null, 10, 50),
  call('lookup', 1, 20, 40),
  { ...call('read', null, 22, null), task: 'dd', tid: 8 },
  call('alloc', 2, 25, 30),
  { ...call('alloc', 3, 45, 48), task: 'dd', tid: 8 },
];
const kAll: CallFilter = { function: null, task: null, times: null };

// Returns the order of each shown call, with a ">" for each level of nesting.
function outline(filter: Partial<CallFilter>): string {
  return shownCalls(kCalls, { ...kAll, ...filter })
    .map((row) => '>'.repeat(row.depth) + String(row.order))
    .join(' ');
}

test('calls are nested inside the calls that contain them', () => {
  assert.equal(outline({}), '1 2 >3 4 >>5 >6');
});

test('a function filter keeps the calls inside its calls', () => {
  assert.equal(outline({ function: 'lookup' }), '3 >5');
  assert.equal(outline({ function: 'alloc' }), '1 5 6');
  assert.equal(outline({ function: 'nothing' }), '');
});

test('filters select calls by task and by overlapping time range', () => {
  assert.equal(outline({ task: 'dd' }), '4 >6');
  assert.equal(outline({ times: { from: 0, to: 10 } }), '1');
  assert.equal(outline({ times: { from: 41, to: 46 } }), '2 4 >6');
  assert.equal(outline({ times: { from: 1000, to: 1001 } }), '4');
});

test('calls are formatted as in C', () => {
  const one = call('vfs_read', null, 1, 2);
  assert.equal(callText(one), 'vfs_read()');
  assert.equal(
    callText({ ...one, arguments: { file: '0xffff', count: 4096, nowait: false, pos: null }, result: 12 }),
    'vfs_read(file=0xffff, count=4096, nowait=false, pos=?) = 12',
  );
  assert.equal(callText({ ...one, result: '0xfffffffffffffffe', error: -2 }), 'vfs_read() = -2');
  assert.equal(callText({ ...one, return_value: '0x7' }), 'vfs_read() = 0x7');
  assert.equal(callText({ ...one, return_value: '0x7', result_text: null }), 'vfs_read() = 0x7');
  assert.equal(callText({ ...one, return_value: '0x7', result_text: '' }), 'vfs_read()', 'it returns nothing');
});

test('remarks mention interrupts, losses and missing starts or ends', () => {
  assert.deepEqual(remarks(call('f', null, 1, 2)), []);
  assert.deepEqual(remarks({ ...call('f', null, null, 2), interrupt: 'softirq', on_top: true, lost_events: true }), [
    'softirq on top',
    'events were lost',
    'start not in the trace',
  ]);
  assert.deepEqual(remarks({ ...call('f', null, 1, 2), lost_events: true, only_missed: true }), [
    'calls may have been missed',
  ]);
  assert.deepEqual(remarks({ ...call('f', null, 1, null), interrupt: 'hardirq', error: -22, inside_hidden: true }), [
    'hardirq',
    'end not in the trace',
    'error',
    'made calls that are not in this file',
  ]);
  assert.deepEqual(
    remarks({ ...call('handle_mm_fault', null, 1, 2), failed: true }),
    ['error'],
    'flags may tell of one',
  );
});
