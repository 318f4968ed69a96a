// SPDX-License-Identifier: GPL-2.0-or-later
// The page with the findings of `investigate`: what grows, how fast, how certain the growth is, and the cause. Each
// claim links to its numbers.
import type { App } from '../app';
import type {
  BalanceChange,
  FindingSite,
  GrowthFinding,
  Investigation,
  InvestigationTrend,
  StateGrowth,
} from '../data/document';
import { bytes, count, duration, numberOf, percent, printable, signed, span } from '../text';
import { css } from '../widgets/colors';
import { empty, note, section } from '../widgets/controls';
import { el } from '../widgets/dom';
import { plot } from '../widgets/plot';
import { sparkline } from '../widgets/spark';
import { revealRow, table } from '../widgets/table';
import { inspectionSections } from './inspection';

const kCertainty: Record<GrowthFinding['certainty'], string> = {
  sure: 'Growth confirmed',
  likely: 'It likely grows',
  weak: 'It may grow',
};

// Formats the name of a merged cache like the output of `kmemtrace investigate`.
function withMerged(name: string, others: string[]): string {
  if (others.length === 0) return printable(name);
  const most = 4;
  const more = others.length > most ? ` and ${others.length - most} more` : '';
  return printable(`${name} (merged with ${others.slice(0, most).join(', ')}${more})`);
}

function rate(value: number | null): string {
  return value === null ? '-' : `${signed(value, bytes)}/s`;
}

const kStates = 'finding-states';

// A sentence that links to the numbers on which it is based.
function claim(text: string, lead: () => void): HTMLElement {
  const follow = (event: MouseEvent): void => {
    event.preventDefault(); // the address must not change, because it contains the name of the current page
    lead();
  };
  return el('a', { href: '#', class: 'claim', title: 'Show the numbers', click: follow }, text);
}

function bringIntoSight(id: string): void {
  const element = document.getElementById(id);
  element?.scrollIntoView({ block: 'start' });
  element?.focus({ preventScroll: true });
}

// Returns the kernel counter for the finding: that of the first cache that has one.
function accountOf(finding: GrowthFinding, found: Investigation): string | null {
  const known = finding.caches.find((cache) => found.states.some((state) => state.name === cache.account));
  return known?.account ?? null;
}

function reason(finding: GrowthFinding, at: number, which: number, found: Investigation): Node | string {
  const text = `${printable(finding.reasons[which])}.`;
  const ground = finding.grounds[which];
  if (ground === 'account') {
    const account = accountOf(finding, found);
    return account === null ? text : claim(text, () => revealRow(kStates, account));
  }
  // If the finding is based on a recording, the page has no time series of samples to link to.
  if (ground === 'samples' && finding.source === 'recording') return text;
  return claim(text, () => bringIntoSight(`finding-${at}-${ground === 'call_sites' ? 'sites' : 'course'}`));
}

function lead(finding: GrowthFinding, at: number, found: Investigation): HTMLElement {
  const reasons = finding.reasons.map((_, which) => reason(finding, at, which, found));
  const spaced = reasons.flatMap((one) => [' ', one]);
  return el('p', { class: 'lead' }, `${kCertainty[finding.certainty]}.`, ...spaced);
}

// The verdict, with a link to the finding on which it is based.
function verdict(found: Investigation): HTMLElement {
  const text = printable(found.words);
  const surest = found.findings.at(0);
  const state =
    found.states.find((one) => one.sure) ??
    found.states.find((one) => one.rises_since_s !== null) ??
    found.states.at(0);
  if (surest && (surest.certainty === 'sure' || !state?.sure)) return claim(text, () => bringIntoSight('finding-0'));
  return state ? claim(text, () => revealRow(kStates, state.name)) : el('span', {}, text);
}

function sites(finding: GrowthFinding, at: number): HTMLElement {
  return table<FindingSite>({
    name: `finding-sites-${at}`,
    label: `Call sites of finding ${at + 1}`,
    short: true,
    rows: finding.call_sites,
    columns: [
      {
        key: 'site',
        title: 'Call site',
        isText: true,
        isCode: true,
        value: (row) => row.call_site,
        text: (row) => printable(row.call_site),
      },
      {
        key: 'cache',
        title: 'Cache',
        isText: true,
        isCode: true,
        value: (row) => row.cache,
        text: (row) => printable(row.cache ?? '–'),
      },
      { key: 'bytes', title: 'Live', value: (row) => row.bytes, text: (row) => about(row) + bytes(row.bytes) },
      { key: 'objects', title: 'Objects', value: (row) => row.objects, text: (row) => about(row) + count(row.objects) },
    ],
    sort: '-bytes',
    empty: 'None.',
  });
}

function about(site: FindingSite): string {
  return site.estimated ? '~' : '';
}

function stack(finding: GrowthFinding): HTMLElement | null {
  const site = finding.call_sites.find((one) => one.call_site === finding.call_site);
  if (!site || site.stack.length < 2) return null;
  return el('pre', { class: 'stack' }, site.stack.map(printable).join('\n'));
}

function processes(finding: GrowthFinding): HTMLElement {
  return el(
    'ul',
    {},
    ...finding.processes.map((process) => {
      const name = process.process === null ? process.task : `${process.task} (pid ${process.process})`;
      const cgroup = process.cgroup === null ? '' : `, cgroup ${process.cgroup}`;
      return el(
        'li',
        {},
        `${printable(name + cgroup)}: ${bytes(process.bytes)} in ${numberOf(process.objects, 'object')}`,
      );
    }),
  );
}

// Shares are approximate: estimates may be too high, and other tasks may free memory at the same time.
function shareText(share: number): string {
  return share > 1.25 ? 'more than' : `${percent(Math.min(100 * share, 100))} of`;
}

function explained(finding: GrowthFinding, found: Investigation): HTMLElement {
  return el(
    'ul',
    {},
    ...finding.caches.map((cache) => {
      const whole = cache.kernel_bytes_per_s;
      const share =
        whole !== null && whole > 0
          ? `${shareText(cache.bytes_per_s / whole)} the ${rate(whole)} that the kernel counts for the whole cache`
          : whole !== null
            ? 'the kernel reports no growth of the whole cache'
            : printable(cache.no_account ?? '');
      const text = `${rate(cache.bytes_per_s)} in ${withMerged(cache.kind ?? cache.name, cache.merged_with)}: ${share}`;
      const { account } = cache;
      const isKnown = account !== null && found.states.some((state) => state.name === account);
      return el('li', {}, isKnown ? claim(text, () => revealRow(kStates, account)) : text);
    }),
  );
}

function interval(finding: GrowthFinding, growth: InvestigationTrend): string {
  if (finding.since_s !== null)
    return `Since about ${Math.round(finding.since_s)} s, its part of what the kernel counts`;
  return `From ${rate(growth.low)} to ${rate(growth.high)} with 95 % confidence`;
}

function findingSection(finding: GrowthFinding, at: number, found: Investigation): HTMLElement {
  const growth = finding.growth;
  const first = finding.processes[0];
  const who = first.process !== null ? `${first.task} (pid ${first.process})` : finding.task;
  const unrecorded = finding.unrecorded_bytes_per_s;
  const fast = growth ? `${unrecorded > 0 ? 'at least ' : ''}${rate(growth.bytes_per_s)}` : '';
  const element = section(
    `${at + 1}. ${fast} in ${printable(finding.function)}, by ${printable(who)}`,
    lead(finding, at, found),
    growth &&
      note(
        `${interval(finding, growth)}; ${bytes(finding.bytes)} in ${count(finding.objects)} objects in ${span(finding.seconds)}, ${finding.source === 'recording' ? 'all of them recorded' : 'estimated from samples'}${unrecorded > 0 ? `; and about ${rate(unrecorded)} in caches that were not recorded` : ''}.`,
      ),
    el('h3', { id: `finding-${at}-course`, tabindex: -1 }, 'Course'),
    plot({
      label: `Live bytes of finding ${at + 1}`,
      times: finding.series.map((_, step) => (step + 1) * finding.step_seconds),
      lines: [{ name: 'live', color: css('--slab'), values: finding.series }],
      stacked: true,
      from: 0,
      to: finding.series.length * finding.step_seconds,
      brush: () => undefined,
      height: 150,
    }),
    el('h3', { id: `finding-${at}-sites`, tabindex: -1 }, 'Call sites'),
    sites(finding, at),
    stack(finding),
    el('h3', {}, 'Processes'),
    processes(finding),
    el('h3', {}, 'Share that it explains'),
    explained(finding, found),
  );
  element.id = `finding-${at}`;
  element.tabIndex = -1;
  return element;
}

function howItGrows(state: StateGrowth): string {
  if (state.sure) return 'confirmed';
  if (state.of_the_recording) return 'of the recording';
  if (state.slab_accounting) return 'accounting data of slabs';
  if (state.may_be_in_sheaves) return 'may be free objects in sheaves';
  if (state.rises_since_s !== null) return `since ${Math.round(state.rises_since_s)} s`;
  return state.reclaimable ? 'reclaimable' : '';
}

function shownName(state: StateGrowth): string {
  return state.name === 'unaccounted' ? 'unaccounted memory' : withMerged(state.kind ?? state.name, state.merged_with);
}

// Returns the rate without jumps, or the only rate if there are few values. Null if the value changed in a jump, as in
// the text output.
function rateOf(state: StateGrowth): number | null {
  const steady = state.growth?.bytes_per_s ?? state.mean_bytes_per_s;
  return steady * (state.last - state.first) > 0 ? steady : null;
}

function states(found: Investigation): HTMLElement {
  return table<StateGrowth>({
    name: kStates,
    idOf: (row) => row.name,
    label: 'Changes according to the kernel’s counters',
    rows: found.states,
    columns: [
      {
        key: 'name',
        title: 'Cache or line',
        isText: true,
        isCode: true,
        value: (row) => row.name,
        text: shownName,
      },
      {
        key: 'course',
        title: 'Course',
        width: 12,
        value: () => null,
        text: () => '',
        node: (row) => {
          const least = Math.min(...row.series);
          return sparkline(
            row.series.map((value) => value - least),
            `Course of ${shownName(row)}`,
          );
        },
      },
      {
        key: 'judged',
        title: 'Grows',
        isText: true,
        width: 12,
        help: 'growth during the whole investigation, or since a later time',
        value: howItGrows,
        text: howItGrows,
      },
      {
        key: 'change',
        title: 'Change',
        value: (row) => row.last - row.first,
        text: (row) => signed(row.last - row.first, bytes),
      },
      {
        key: 'rate',
        title: 'Steady rate',
        value: rateOf,
        text: (row) => rate(rateOf(row)),
      },
      {
        key: 'explained',
        title: 'Explained',
        help: 'explained by the confirmed and likely findings above, for all their caches; SUnreclaim counts whole slabs, including free objects',
        value: (row) => row.explained_bytes_per_s,
        text: (row) => (row.explained_bytes_per_s > 0 ? rate(row.explained_bytes_per_s) : '–'),
      },
      { key: 'first', title: 'From', value: (row) => row.first, text: (row) => bytes(row.first) },
      { key: 'last', title: 'To', value: (row) => row.last, text: (row) => bytes(row.last) },
      { key: 'source', title: 'Source', isText: true, value: (row) => row.source, text: (row) => row.source },
    ],
    sort: '-change',
    filterText: shownName,
    empty: 'Nothing changed.',
  });
}

function balance(rows: BalanceChange[]): HTMLElement {
  const amount = (value: number | null): string => (value === null ? 'unknown' : signed(value, bytes));
  const change = (row: BalanceChange): number | null =>
    row.before === null || row.after === null ? null : row.after - row.before;
  return table<BalanceChange>({
    name: 'finding-balance',
    label: 'Memory use at the start and at the end',
    rows: rows.filter((row) => row.before !== 0 || row.after !== 0),
    columns: [
      {
        key: 'label',
        title: 'Where it is',
        isText: true,
        value: (row) => row.label,
        text: (row) => row.label,
        node: (row) => {
          const label = el('span', { class: 'indented' }, row.label);
          label.style.paddingLeft = `${1.5 * row.depth}em`;
          return label;
        },
      },
      {
        key: 'before',
        title: 'Before',
        value: (row) => row.before,
        text: (row) => amount(row.before).replace('+', ''),
      },
      {
        key: 'after',
        title: 'After',
        value: (row) => row.after,
        text: (row) => amount(row.after).replace('+', ''),
      },
      {
        key: 'change',
        title: 'Change',
        value: change,
        text: (row) => amount(change(row)),
      },
    ],
    empty: 'No snapshot.',
  });
}

function unknowns(found: Investigation): HTMLElement {
  return el(
    'ul',
    {},
    ...found.unseen.map((one) =>
      el('li', {}, printable(`${one.what}: ${one.why}${one.how === null ? '' : `; ${one.how}`}`)),
    ),
    found.left_out_bytes > 0 &&
      el(
        'li',
        {},
        `${bytes(found.left_out_bytes)} of live memory are not judged: page tables of processes, reclaimable memory, and memory that may be freed on untraced paths.`,
      ),
    el('li', {}, 'For memory that was allocated earlier, only the sum is known.'),
  );
}

export function findingsPage(app: App): HTMLElement {
  const found = app.document.investigation;
  if (!found) return empty('This page has no investigation.');
  const { cost } = found;
  return el(
    'div',
    {},
    section(
      'What grows',
      el('p', { class: 'lead', 'data-found': String(found.found) }, verdict(found)),
      note(
        `Watched for ${span(found.seconds)}; judged: ${numberOf(found.judged, 'group')}, each with one task and one kernel entry point.`,
      ),
      ...found.large_caches.map((cache) => el('p', { class: 'lead' }, printable(cache.words))),
      !found.complete && note(`The investigation ended early: ${found.cut_short ?? ''}.`),
    ),
    ...found.findings.map((finding, at) => findingSection(finding, at, found)),
    ...inspectionSections(found),
    section('By the kernel’s own account', states(found)),
    found.balance && section('Balance sheet', balance(found.balance)),
    section('Still unknown', unknowns(found)),
    section(
      'Numbers',
      cost &&
        note(
          `Until this page was written it took ${duration(cost.cpu_seconds * 1e9)} of CPU time, and about ${duration(cost.kernel_cpu_seconds * 1e9)} in the kernel: ${percent(cost.share === null ? null : 100 * cost.share)} of ${cost.cpus} CPUs. ${duration(cost.most_cpu_seconds * 1e9)} might be taken, which is ${percent(100 * cost.asked_share)} of ${duration((cost.most_cpu_seconds / cost.asked_share / cost.cpus) * 1e9)}.`,
        ),
      el(
        'ul',
        {},
        ...found.files.map((file) =>
          el('li', {}, el('a', { href: file.name }, printable(file.name)), `: ${printable(file.what)}`),
        ),
      ),
      found.next.length > 0 && el('h3', {}, 'Next'),
      el('pre', { class: 'stack' }, found.next.map(printable).join('\n')),
    ),
  );
}
