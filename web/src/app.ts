// SPDX-License-Identifier: GPL-2.0-or-later
// Holds the view state and the models of the traces. Switches between the pages of a report.
import type { PageDocument, TraceDocument } from './data/document';
import { filtersGroups, type Dimension, type Range } from './data/filter';
import { hasMemory, makeModel, rangeOf, type Model } from './data/model';
import { fromHash, kPages, toHash, type Page, type State } from './state';
import { hideTooltip } from './widgets/tooltip';

export class App {
  state: State;
  private readonly models: (Model | undefined)[] = [];

  constructor(
    readonly document: PageDocument,
    private readonly draw: (app: App) => void,
  ) {
    this.state = fromHash(location.hash, document.traces.length, document.front);
    window.addEventListener('hashchange', () => {
      const state = fromHash(location.hash, document.traces.length, document.front);
      if (toHash(state) === toHash(this.state)) return;
      this.state = state;
      this.redraw();
    });
  }

  model(side = this.state.side): Model {
    return (this.models[side] ??= makeModel(this.document.traces[side]));
  }

  // False if the report contains no trace, only the results of `investigate`.
  get hasTrace(): boolean {
    return this.document.traces.length > 0;
  }

  get trace(): TraceDocument {
    return this.document.traces[this.state.side];
  }

  // Returns the pages for which the report has data.
  get pages(): Page[] {
    if (!this.hasTrace) return ['findings'];
    const pages = this.pagesOfTrace;
    return this.document.investigation ? ['findings', ...pages] : pages;
  }

  private get pagesOfTrace(): Page[] {
    const { traces } = this.document;
    const hasCalls = this.trace.calls !== null;
    if (!hasMemory(this.trace))
      return kPages.filter(
        (page) =>
          page === 'overview' ||
          (page === 'calls' && hasCalls) ||
          (page === 'timeline' && (this.trace.timeline?.samples.length ?? 0) > 0) ||
          (page === 'compare' && traces.some(hasMemory)),
      );
    return kPages.filter(
      (page) => page !== 'findings' && (page !== 'compare' || traces.length > 1) && (page !== 'calls' || hasCalls),
    );
  }

  get page(): Page {
    return this.pages.includes(this.state.page) ? this.state.page : this.pages[0];
  }

  get isFiltered(): boolean {
    return this.state.filter.range !== null || filtersGroups(this.state.filter);
  }

  set(change: Partial<State>): void {
    const page = this.state.page;
    const side = this.state.side;
    this.state = { ...this.state, ...change };
    // Each trace has its own clock, so a time range of one trace is not valid for the other.
    if (this.state.side !== side) this.state.filter = { ...this.state.filter, range: null };
    const hash = toHash(this.state);
    if (hash !== location.hash) history.pushState(null, '', hash);
    this.redraw();
    if (page !== this.state.page) window.scrollTo(0, 0);
  }

  filterBy(dimension: Dimension, text: string | null): void {
    this.set({ filter: { ...this.state.filter, [dimension]: text } });
  }

  setRange(range: Range | null): void {
    this.set({ filter: { ...this.state.filter, range } });
  }

  // Selects the time buckets that overlap an interval. The interval is on the trace's clock.
  setTimes(fromNs: number, toNs: number): void {
    const { start_ns, bucket_ns } = this.model().explore;
    const from = Math.max(0, Math.floor((fromNs - start_ns) / bucket_ns));
    const to = Math.min(this.model().buckets, Math.ceil((toNs - start_ns) / bucket_ns));
    if (to <= from) return;
    this.setRange(from === 0 && to === this.model().buckets ? null : { from, to });
  }

  // Returns the selected time range in nanoseconds since the first bucket.
  get times(): Range {
    const range = rangeOf(this.model(), this.state.filter);
    const width = this.model().explore.bucket_ns;
    return { from: range.from * width, to: range.to * width };
  }

  // Draws the page again, and gives the focus back to the control that had it.
  redraw(): void {
    const active = document.activeElement as HTMLElement | null;
    const focused = active?.dataset['focus'];
    hideTooltip();
    this.draw(this);
    if (!focused) return;
    const again = document.querySelector<HTMLElement>(`[data-focus="${CSS.escape(focused)}"]`);
    if (again !== document.activeElement) again?.focus({ preventScroll: true });
  }
}
