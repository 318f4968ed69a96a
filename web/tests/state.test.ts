// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { decode } from '../src/data/decode';
import { fromHash, kFirstState, toHash, type State } from '../src/state';

test('the address keeps the state, with any characters in names', () => {
  const state: State = {
    page: 'tables',
    table: 'caches',
    side: 1,
    filter: {
      range: { from: 3, to: 9 },
      site: 'a+0x1 & b?c#d=%',
      module: 'nf_conntrack',
      subsystem: 'file systems (guess)',
      directory: null,
      cache: null,
      task: '\u202e</script>',
      allocator: 'slab',
    },
    callsOf: 'f & g=?',
  };
  assert.deepEqual(fromHash(toHash(state), 2), state);
  assert.equal(toHash(kFirstState), '#overview');
});

test('an invalid address shows the overview', () => {
  for (const hash of [
    '',
    '#',
    '#nowhere',
    '#compare',
    '#__proto__',
    '#overview?range=9-3',
    '#overview?range=-1',
    '#overview?trace=b',
  ])
    assert.deepEqual(fromHash(hash, 1), kFirstState);
  assert.equal(fromHash('#compare', 2).page, 'compare');
});

test('data are unpacked, and other versions are refused', async () => {
  const pack = (document: unknown): string => gzipSync(JSON.stringify(document)).toString('base64');
  const name = 'caf\u00e9 \u202e';
  assert.deepEqual(await decode(` ${pack({ schema: 'kmemtrace.html/1', name })}\n`), {
    schema: 'kmemtrace.html/1',
    name,
  });
  await assert.rejects(decode(pack({ schema: 'kmemtrace.html/2' })), /different versions/);
  await assert.rejects(decode('AAAA'));
});
