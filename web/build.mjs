// SPDX-License-Identifier: GPL-2.0-or-later
// Makes one file, report.html, of everything in src; with --tests, makes the unit tests ready to run.
//   node build.mjs [--out FOLDER] [--tests]
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string' }, tests: { type: 'boolean' } } });
const out = path.resolve(values.out ?? path.join(here, 'out'));

async function bundle(entry, loader) {
  const result = await build({
    entryPoints: [path.join(here, 'src', entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['chrome100', 'firefox113', 'safari16.4'],
    charset: 'ascii', // the page shows hostile text, so its own code shall hold nothing that is not seen
    legalComments: 'none',
    outdir: out,
    ...loader,
  });
  return result.outputFiles[0].text;
}

function hash(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

async function makePage() {
  const script = (await bundle('main.ts', {})).replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');
  const style = await bundle('style.css', {});
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
  await build({
    entryPoints: entryPoints.map((name) => path.join(folder, name)),
    bundle: true,
    platform: 'node',
    target: 'node18',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    outdir: path.join(out, 'tests'),
  });
}

await (values.tests ? makeTests() : makePage());
