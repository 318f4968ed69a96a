// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  atMost,
  bytes,
  bytesSpan,
  change,
  count,
  duration,
  fixed,
  numberOf,
  percent,
  printable,
  rate,
  signed,
} from '../src/text';

test('sizes, counts and times are formatted as in kmemtrace', () => {
  assert.equal(bytes(0), '0 B');
  assert.equal(bytes(1023), '1023 B');
  assert.equal(bytes(1024), '1.0 KiB');
  assert.equal(bytes(1536 * 1024), '1.5 MiB');
  assert.equal(bytes(-2048), '-2.0 KiB');
  assert.equal(bytes(null), '–');
  assert.equal(bytesSpan(96, 96), '96 B');
  assert.equal(bytesSpan(182, 255), '182–255 B');
  assert.equal(bytesSpan(1000, 2048), '1000 B – 2.0 KiB');
  assert.equal(count(1234567), '1,234,567');
  assert.equal(count(-1234), '-1,234');
  assert.equal(count(999), '999');
  assert.equal(numberOf(1, 'group'), '1 group');
  assert.equal(numberOf(1234, 'process', 'processes'), '1,234 processes');
  assert.equal(atMost(true, bytes(1024)), '≤ 1.0 KiB');
  assert.equal(atMost(false, bytes(1024)), '1.0 KiB');
  assert.equal(atMost(true, bytes(null)), '–');
  assert.equal(duration(999), '999 ns');
  assert.equal(duration(1500), '1.5 us');
  assert.equal(duration(3_047_473), '3.0 ms');
  assert.equal(duration(1_250_000_000), '1.250 s');
  assert.equal(duration(725e9), '12 min 5 s');
  assert.equal(duration(7380e9), '2 h 3 min');
  assert.equal(percent(Number.NaN), '–');
  assert.equal(signed(5, count), '+5');
  assert.equal(signed(-5, count), '-5');
});

// Expected values are from the output of `kmemtrace report`.
test('ties are rounded as in kmemtrace', () => {
  assert.equal(bytes(1280), '1.2 KiB');
  assert.equal(bytes(1792), '1.8 KiB');
  assert.equal(bytes(2304), '2.2 KiB');
  assert.equal(bytes(-1280), '-1.2 KiB');
  assert.equal(bytes(1.25 * 1024 ** 3), '1.2 GiB');
  assert.equal(bytes(1048524), '1023.9 KiB');
  assert.equal(bytes(1048525), '1.0 MiB');
  assert.equal(duration(1250), '1.2 us');
  assert.equal(duration(1350), '1.4 us');
  assert.equal(duration(2_750_000), '2.8 ms');
  assert.equal(duration(1_062_500_000), '1.062 s');
  assert.equal(duration(1_187_500_000), '1.188 s');
  assert.equal(percent(6.25), '6.2%');
  assert.equal(percent(18.75), '18.8%');
  assert.equal(percent(0.25), '0.2%');
  assert.equal(fixed(0.15, 1), '0.1'); // 0.15 is slightly less than 15/100 in binary
  assert.equal(fixed(0.35, 1), '0.3');
  assert.equal(fixed(12.5, 0), '12');
  assert.equal(rate(0.256), '0.26');
  assert.equal(rate(0.5), '0.5');
  assert.equal(rate(12.25), '12.2');
  assert.equal(rate(1234.9), '1,234');
});

test('changes are percentages, factors for large changes, or words', () => {
  assert.equal(change(100, 110), '+10.0%');
  assert.equal(change(100, 50), '-50.0%');
  assert.equal(change(10, 12762), '×1,276');
  assert.equal(change(0, 5), 'new');
  assert.equal(change(5, 0), 'gone');
  assert.equal(change(0, 0), '0%');
  assert.equal(change(null, 5), '–');
});

test('text of a trace cannot hide or move other text', () => {
  assert.equal(printable('kmalloc-64'), 'kmalloc-64');
  assert.equal(printable('a\u0000b\n\u001b[31m'), 'a\\u0000b\\u000a\\u001b[31m');
  assert.equal(printable('\u202eexe.txt'), '\\u202eexe.txt');
  assert.equal(printable('a\u200bb\u2066c\ufeff'), 'a\\u200bb\\u2066c\\ufeff');
  assert.equal(printable('\ud800x\udc00'), '\\ud800x\\udc00');
  assert.equal(printable('\u{1f600}'), '\u{1f600}');
  assert.equal(printable('\u{e0041}'), '\\u{e0041}');
  assert.equal(printable('</script>'), '</script>');
  // Right-to-left letters are shown in the order of the text.
  assert.equal(printable('\u05d0\u05d1 x'), '\u202d\u05d0\u05d1 x\u202c');
});
