// SPDX-License-Identifier: GPL-2.0-or-later
// The time range for which the page and `kmemtrace report --window` are compared.
//   node selected_time.mjs REPORT.html
// Prints the range as the argument of --window.
import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

export const kSelected = { from: 64, to: 192 }; // in buckets

function timeOf(report) {
  const packed = readFileSync(report, 'utf8').match(/<script id="kmemtrace-data"[^>]*>([^<]*)</)[1];
  const { explore } = JSON.parse(gunzipSync(Buffer.from(packed, 'base64'))).traces[0];
  // The page extends the range to whole buckets of `lives`.
  const width = explore.lives_coarse;
  const ends = [Math.floor(kSelected.from / width), Math.ceil(kSelected.to / width)];
  return ends.map((end) => {
    const ns = BigInt(end * width) * BigInt(explore.bucket_ns);
    return `+${ns / 1000000000n}.${String(ns % 1000000000n).padStart(9, '0')}`;
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(timeOf(process.argv[2]).join(','));
