// SPDX-License-Identifier: GPL-2.0-or-later
// Bundles everything in src into one file, report.html. With --tests, bundles the unit tests so that they can run.
//   [ESBUILD=PROGRAM] node build.mjs [--out FOLDER] [--tests]
// Uses the program esbuild, because distributions have it without its package for Node.js.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = path.dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string' }, tests: { type: 'boolean' } } });
const out = path.resolve(values.out ?? path.join(here, 'out'));

const program = process.env.ESBUILD ?? path.join(here, 'node_modules', '.bin', 'esbuild');

function esbuild(...options) {
  const most = 64 << 20; // maximum output of esbuild in bytes
  return execFileSync(program, ['--bundle', '--log-level=warning', ...options], { encoding: 'utf8', maxBuffer: most });
}

function bundle(entry) {
  return esbuild(
    path.join(here, 'src', entry),
    '--minify',
    '--format=iife',
    '--target=chrome100,firefox113,safari16.4',
    '--charset=ascii', // the page shows untrusted text, so its own code must not contain invisible characters
    '--legal-comments=none',
  );
}

function hash(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

async function makePage() {
  const script = bundle('main.ts')
    .replace(/<\/(script)/gi, '<\\/$1')
    .replace(/<!--/g, '<\\!--');
  const style = bundle('style.css');
  const page = (await readFile(path.join(here, 'src', 'index.html'), 'utf8'))
    .replace('@SCRIPT_HASH@', () => hash(script))
    .replace('@STYLE_HASH@', () => hash(style))
    .replace('@STYLE@', () => style)
    .replace('@SCRIPT@', () => script);
  const markers = page.split('@KMEMTRACE_DATA@').length - 1;
  if (markers !== 1) throw new Error(`the marker of the data is ${markers} times in the page, not once`);
  await mkdir(out, { recursive: true });
  await writeFile(path.join(out, 'report.html.new'), page);
  await rename(path.join(out, 'report.html.new'), path.join(out, 'report.html'));
}

async function makeTests() {
  const folder = path.join(here, 'tests');
  const entryPoints = (await readdir(folder)).filter((name) => name.endsWith('.test.ts'));
  esbuild(
    ...entryPoints.map((name) => path.join(folder, name)),
    '--platform=node',
    '--target=node18',
    '--format=esm',
    '--out-extension:.js=.mjs',
    `--outdir=${path.join(out, 'tests')}`,
  );
}

await (values.tests ? makeTests() : makePage());
