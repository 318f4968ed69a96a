// SPDX-License-Identifier: GPL-2.0-or-later
// Draws the parts that all pages have: the trace's name, the navigation, and the current filters.
import type { App } from './app';
import { kAllocatorTitles } from './data/allocators';
import type { PageDocument } from './data/document';
import { kDimensions, kDimensionTitles } from './data/filter';
import { showHelp } from './help';
import { tellingNames } from './data/names';
import type { Page } from './state';
import { bytes, clock, count, duration, printable, span } from './text';
import { switchTheme, theme } from './theme';
import { anomaliesPage } from './views/anomalies';
import { callsPage } from './views/calls';
import { presentAllocators } from './views/common';
import { comparePage } from './views/compare';
import { cpusPage } from './views/cpus';
import { findingsPage } from './views/findings';
import { flamePage } from './views/flame';
import { leaksPage } from './views/leaks';
import { lifetimesPage } from './views/lifetimes';
import { overviewPage } from './views/overview';
import { tablesPage } from './views/tables';
import { timelinePage } from './views/timeline';
import { wastePage } from './views/waste';
import { empty, segmented } from './widgets/controls';
import { el } from './widgets/dom';

const kViews: Record<Page, { title: string; draw: (app: App) => HTMLElement }> = {
  findings: { title: 'Findings', draw: findingsPage },
  overview: { title: 'Overview', draw: overviewPage },
  timeline: { title: 'Timeline', draw: timelinePage },
  flame: { title: 'Flame graph', draw: flamePage },
  tables: { title: 'Tables', draw: tablesPage },
  waste: { title: 'Waste', draw: wastePage },
  lifetimes: { title: 'Lifetimes', draw: lifetimesPage },
  cpus: { title: 'CPUs', draw: cpusPage },
  leaks: { title: 'Leaks', draw: leaksPage },
  anomalies: { title: 'Anomalies', draw: anomaliesPage },
  compare: { title: 'Comparison', draw: comparePage },
  calls: { title: 'Calls', draw: callsPage },
};

function traceNames(app: App): string[] {
  return tellingNames(app.document.traces.map(({ report }) => report.trace.path)).map(printable);
}

function fact(name: string, value: string, exact?: number | null): HTMLElement {
  return el('div', {}, el('dt', {}, name), el('dd', { 'data-value': exact }, value));
}

function tools(app: App): HTMLElement {
  return el(
    'div',
    { class: 'tools' },
    el(
      'button',
      { type: 'button', 'data-focus': 'theme', 'aria-label': 'Dark or light', click: () => switchTheme(app) },
      theme() === 'dark' ? 'Light' : 'Dark',
    ),
    el('button', { type: 'button', 'data-focus': 'keys', 'aria-label': 'Show help', click: showHelp }, '?'),
  );
}

function title(app: App): HTMLElement {
  if (app.document.investigation) return el('h1', {}, 'Investigation');
  return el('h1', { title: printable(app.trace.report.trace.path) }, traceNames(app)[0]);
}

// The name of the trace, or a choice between the two traces of a comparison.
function who(app: App): HTMLElement {
  const sides = traceNames(app).map((name, at) => ({ value: String(at), title: `${'AB'[at]}: ${name}` }));
  const choice = segmented('side', 'Trace', sides, String(app.state.side), (side) => app.set({ side: Number(side) }));
  return el('div', { class: 'who' }, el(choice ? 'h1' : 'span', { class: 'brand' }, 'kmemtrace'), choice ?? title(app));
}

function investigationFacts({ investigation }: PageDocument): (HTMLElement | null)[] {
  if (!investigation) return [];
  const { seconds } = investigation;
  return [
    investigation.host ? fact('Host', printable(investigation.host)) : null,
    fact('Watched for', seconds > 0 ? span(seconds) : 'not known', seconds),
  ];
}

function traceFacts(app: App): HTMLElement[] {
  const { report } = app.trace;
  const { trace } = report;
  const lost = trace.loss_known
    ? count(trace.lost_events)
    : trace.lost_events === 0
      ? 'not known'
      : `${count(trace.lost_events)} or more`;
  return [
    fact('Machine', `${printable(trace.arch ?? 'not known')}, ${trace.cpus} ${trace.cpus === 1 ? 'CPU' : 'CPUs'}`),
    // In a report with an investigation, this is the length of its recording, which covers only a part of the time.
    fact(app.document.investigation ? 'Recorded for' : 'Duration', duration(trace.duration_ns), trace.duration_ns),
    fact('Events', count(trace.events), trace.events),
    fact('Lost', lost, trace.lost_events),
    ...presentAllocators(app)
      .filter((name) => name === 'slab' || name === 'pages')
      .map((name) => {
        const allocated = report[name].bytes_allocated;
        return fact(`${kAllocatorTitles[name]} allocated`, bytes(allocated), allocated);
      }),
  ];
}

function header(app: App): HTMLElement {
  const kernel = app.document.investigation?.kernel ?? (app.hasTrace ? app.trace.report.trace.kernel : null);
  return el(
    'header',
    {},
    el('div', { class: 'top' }, who(app), tools(app)),
    el(
      'dl',
      { class: 'facts' },
      fact('Kernel', printable(kernel ?? 'not known')),
      ...investigationFacts(app.document),
      ...(app.hasTrace ? traceFacts(app) : []),
    ),
  );
}

function navigation(app: App): HTMLElement {
  const { pages } = app;
  const onKey = (event: KeyboardEvent): void => {
    const last = pages.length - 1;
    const at = pages.indexOf(app.page);
    const steps: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
    if (!(event.key in steps)) return;
    event.preventDefault();
    event.stopPropagation();
    app.set({ page: pages.at(steps[event.key] % pages.length) ?? 'overview' });
    document.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus();
  };
  return el(
    'nav',
    { 'aria-label': 'Pages' },
    el(
      'div',
      { role: 'tablist', keydown: onKey },
      ...pages.map((page) =>
        el(
          'button',
          {
            type: 'button',
            role: 'tab',
            id: `tab-${page}`,
            'aria-selected': page === app.page ? 'true' : 'false',
            'aria-controls': 'page',
            tabindex: page === app.page ? 0 : -1,
            'data-focus': `tab-${page}`,
            click: () => app.set({ page }),
          },
          kViews[page].title,
        ),
      ),
    ),
  );
}

function chip(name: string, text: string, remove: () => void): HTMLElement {
  return el(
    'span',
    { class: 'chip' },
    el('span', { class: 'label' }, `${name} `),
    el('b', { title: text }, text),
    el('button', { type: 'button', 'aria-label': `Remove the filter ${name} ${text}`, click: remove }, '×'),
  );
}

function chips(app: App): HTMLElement | null {
  const { filter, callsOf } = app.state;
  const found: HTMLElement[] = [];
  if (filter.range) {
    const { from, to } = app.times;
    found.push(chip('Time', `${clock(from)} – ${clock(to)}`, () => app.setRange(null)));
  }
  for (const dimension of kDimensions) {
    const text = filter[dimension];
    if (text !== null)
      found.push(chip(kDimensionTitles[dimension], printable(text), () => app.filterBy(dimension, null)));
  }
  if (callsOf !== null && app.page === 'calls')
    found.push(chip('Calls of', printable(callsOf), () => app.set({ callsOf: null })));
  if (found.length === 0) return null;
  return el('div', { class: 'chips', role: 'group', 'aria-label': 'Filters' }, ...found);
}

// If one page fails, the other pages remain usable.
function content(app: App): HTMLElement {
  try {
    return kViews[app.page].draw(app);
  } catch (error) {
    reportError(error);
    return empty(`This page cannot be drawn: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function drawPage(app: App): void {
  const view = kViews[app.page];
  const name = app.hasTrace ? traceNames(app)[app.state.side] : 'Investigation';
  document.title = `${view.title} – ${name} – kmemtrace`;
  document.body.replaceChildren(
    header(app),
    el('div', { class: 'bars' }, navigation(app), chips(app)),
    el('main', { id: 'page', role: 'tabpanel', 'aria-labelledby': `tab-${app.page}` }, content(app)),
    el('footer', {}, `kmemtrace ${app.document.version} · press ? for keys`),
  );
}
