// SPDX-License-Identifier: GPL-2.0-or-later
// A table with any number of rows. Only visible rows have elements. Users can sort it by its column headers and filter
// it by a text. The column of names stays visible while users scroll. In narrow windows, the sorted column is next to
// the names.
import { el } from './dom';
import { textField } from './controls';
import { scrollHint } from './scroll_hint';

export interface Column<Row> {
  key: string;
  title: string;
  help?: string;
  value: (row: Row) => number | string | null; // exact value of the cell, also used for sorting
  text: (row: Row) => string;
  node?: (row: Row) => Node; // element that is shown instead of the text
  isText?: boolean;
  isCode?: boolean; // true: the text is a name from the kernel
  width?: number; // width in characters; by default, the width of the longest text
  room?: number; // width in characters in wide windows, which leaves space for a more important column
  wraps?: boolean; // true: long texts are wrapped; only for short tables, because others have rows of fixed height
}

export interface TableOptions<Row> {
  name: string; // identifies the table when its state is restored
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  sort?: string; // key of the sorted column; with a leading "-", the largest is first
  filterText?: (row: Row) => string;
  activate?: (row: Row) => void;
  activateHelp?: string;
  empty: string;
  idOf?: (row: Row) => string; // returns an ID by which revealRow() finds the row
  short?: boolean; // true: the table has few rows and does not scroll
  dense?: boolean; // true: the table has many columns of numbers and little space between them
}

const kRowHeight = 30;
const kSpare = 12;
const kStep = 6; // rows are added in steps of this number, so that few scroll events add rows
const kNarrow = 640; // windows of at most this width, in pixels, are narrow
const states = new Map<string, { sort: string; filter: string; top: number }>();

const revealers = new Map<string, (id: string) => void>();

// Scrolls to a row of a table, and gives the row the focus.
export function revealRow(name: string, id: string): void {
  revealers.get(name)?.(id);
}

function compare(a: number | string | null, b: number | string | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === 'string' || typeof b === 'string') return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
  return a - b;
}

// Sorts rows without a value last, in both sort directions.
export function sortRows<Row>(rows: Row[], column: Column<Row>, largestFirst: boolean): Row[] {
  const keyed = rows.map((row) => ({ row, value: column.value(row) }));
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null) return compare(a.value, b.value);
    return largestFirst ? compare(b.value, a.value) : compare(a.value, b.value);
  });
  return keyed.map((entry) => entry.row);
}

export function table<Row>(options: TableOptions<Row>): HTMLElement {
  const state = states.get(options.name) ?? { sort: options.sort ?? '', filter: '', top: 0 };
  states.set(options.name, state);
  const { columns } = options;
  const narrow = window.innerWidth < kNarrow;
  const named = columns.find((column) => column.isText && !column.width) ?? columns.find((column) => column.isText);
  const pinned = narrow || named === columns[0] ? named : undefined;
  let order = columns; // the columns from left to right
  let shown: Row[] = [];
  let focused = 0;

  const body = el('tbody');
  const classOf = (column: Column<Row>): string =>
    [column.isText && 'text', column.isCode && 'code', column.wraps && 'wraps', column === pinned && 'pinned']
      .filter(Boolean)
      .join(' ');
  const heads = columns.map((column) =>
    el(
      'th',
      { scope: 'col', class: classOf(column), title: column.help },
      el(
        'button',
        { type: 'button', 'data-focus': `${options.name}-${column.key}`, click: () => sortBy(column) },
        column.title,
        el('span', { class: 'arrow', 'aria-hidden': 'true' }),
      ),
    ),
  );
  const cols = columns.map(() => el('col'));
  const group = el('colgroup', {}, ...cols);
  const headRow = el('tr', {}, ...heads);
  const grid = el(
    'table',
    { 'aria-label': options.label, 'aria-colcount': columns.length },
    group,
    el('thead', {}, headRow),
    body,
  );
  const frame = el(
    'div',
    {
      class: ['table', options.short && 'short', options.dense && 'dense'].filter(Boolean).join(' '),
      scroll: () => draw(),
    },
    grid,
  );
  const counted = el('span', { class: 'counted', role: 'status' });
  const filterText = options.filterText;
  const bar =
    filterText &&
    el(
      'div',
      { class: 'bar' },
      textField(
        `${options.name}-filter`,
        'Filter rows',
        state.filter,
        (text) => {
          state.filter = text;
          frame.scrollTop = 0;
          update();
        },
        true,
      ),
      counted,
    );

  function sortBy(column: Column<Row>): void {
    const down = `-${column.key}`;
    if (column.isText) state.sort = state.sort === column.key ? down : column.key;
    else state.sort = state.sort === down ? column.key : down;
    frame.scrollTop = 0;
    update();
  }

  function arrange(sorted: Column<Row> | undefined): void {
    if (!narrow || !pinned) return;
    const rank = (column: Column<Row>): number =>
      column === pinned ? 0 : column === sorted ? 1 : column.isText === true ? 3 : 2;
    order = columns.slice().sort((a, b) => rank(a) - rank(b));
    const places = order.map((column) => columns.indexOf(column));
    const focus = document.activeElement;
    group.replaceChildren(...places.map((at) => cols[at]));
    headRow.replaceChildren(...places.map((at) => heads[at]));
    if (headRow.contains(focus)) (focus as HTMLElement).focus({ preventScroll: true });
    frame.scrollLeft = 0;
  }

  function update(): void {
    const wanted = state.filter.toLowerCase();
    shown =
      wanted && filterText
        ? options.rows.filter((row) => filterText(row).toLowerCase().includes(wanted))
        : options.rows.slice();
    const sorted = columns.find((column) => state.sort.replace(/^-/, '') === column.key);
    if (sorted) shown = sortRows(shown, sorted, state.sort.startsWith('-'));
    heads.forEach((head, at) => {
      const is = columns[at] === sorted;
      head.setAttribute('aria-sort', !is ? 'none' : state.sort.startsWith('-') ? 'descending' : 'ascending');
    });
    arrange(sorted);
    grid.setAttribute('aria-rowcount', String(shown.length + 1));
    counted.textContent =
      shown.length === options.rows.length ? `${shown.length} rows` : `${shown.length} of ${options.rows.length} rows`;
    focused = 0;
    drawn = '';
    elements.clear();
    draw();
  }

  function rowElement(row: Row, at: number): HTMLElement {
    const cells = order.map((column) => {
      const value = column.value(row);
      const text = column.text(row);
      return el(
        'td',
        {
          class: classOf(column),
          'data-column': column.key,
          'data-value': value,
          title: column.isText ? text : null,
        },
        column.node ? column.node(row) : text,
      );
    });
    const activate = options.activate;
    return el(
      'tr',
      {
        'aria-rowindex': at + 2,
        class: activate ? 'active' : '',
        tabindex: at === focused ? 0 : -1,
        'data-focus': `${options.name}-row-${at}`,
        title: options.activateHelp,
        click: () => activate?.(row),
        keydown: (event: KeyboardEvent) => onKey(event, row, at),
      },
      ...cells,
    );
  }

  function onKey(event: KeyboardEvent, row: Row, at: number): void {
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor(frame.clientHeight / kRowHeight) - 2);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -shown.length,
      End: shown.length,
    };
    if ((event.key === 'Enter' || event.key === ' ') && options.activate) {
      event.preventDefault();
      options.activate(row);
    } else if (event.key in steps) {
      event.preventDefault();
      event.stopPropagation();
      focusRow(Math.max(0, Math.min(shown.length - 1, at + steps[event.key])));
    }
  }

  function focusRow(at: number): void {
    focused = at;
    const y = focused * kRowHeight;
    const room = frame.clientHeight - kRowHeight * 2;
    if (!options.short && y < frame.scrollTop) frame.scrollTop = y;
    else if (!options.short && y > frame.scrollTop + room) frame.scrollTop = y - room;
    drawn = '';
    elements.clear();
    draw();
    body.querySelector<HTMLElement>(`[aria-rowindex="${focused + 2}"]`)?.focus();
  }

  const idOf = options.idOf;
  if (idOf)
    revealers.set(options.name, (id) => {
      const at = shown.findIndex((row) => idOf(row) === id);
      if (at >= 0) focusRow(at);
      else if (state.filter !== '') {
        state.filter = '';
        const field = bar?.querySelector('input');
        if (field) field.value = '';
        update();
        revealRow(options.name, id);
      }
    });

  let drawn = '';
  let elements = new Map<Row, HTMLElement>(); // elements of the rows that are drawn
  function draw(): void {
    if (frame.isConnected) state.top = frame.scrollTop;
    const first = options.short ? 0 : Math.max(0, Math.floor(frame.scrollTop / kRowHeight / kStep) * kStep - kSpare);
    const fitting = Math.ceil((frame.clientHeight || 700) / kRowHeight) + kStep + 2 * kSpare;
    const last = options.short ? shown.length : Math.min(shown.length, first + fitting);
    const key = `${first} ${last}`;
    if (key === drawn) return;
    drawn = key;
    const hadFocus = (document.activeElement as HTMLElement | null)?.dataset['focus'];
    const rows = shown.slice(first, last).map((row, at) => elements.get(row) ?? rowElement(row, first + at));
    elements = new Map(rows.map((element, at) => [shown[first + at], element]));
    body.replaceChildren(spacer(first), ...rows, spacer(shown.length - last));
    if (shown.length === 0)
      body.replaceChildren(el('tr', {}, el('td', { class: 'text none', colspan: columns.length }, options.empty)));
    if (hadFocus?.startsWith(`${options.name}-row-`))
      body.querySelector<HTMLElement>(`[data-focus="${hadFocus}"]`)?.focus({ preventScroll: true });
  }

  function spacer(rows: number): HTMLElement {
    const row = el('tr', { class: 'spacer', 'aria-hidden': 'true' });
    row.style.height = `${rows * kRowHeight}px`;
    row.hidden = rows === 0;
    return row;
  }

  // Column widths are computed from all rows, so that they do not change while users scroll.
  const longestText = narrow ? 17 : 44;
  const widths = columns.map((column) => {
    // The pinned column covers a part of a narrow window all the time, so it must leave room for a column of numbers.
    if (column.width) return narrow ? Math.min(column.width, column === pinned ? longestText : 40) : column.width;
    if (column.room && !narrow) return column.room;
    let most = column.title.length + 1;
    for (const row of options.rows) most = Math.max(most, column.text(row).length);
    return Math.min(column.isText ? longestText : 24, most + 1);
  });
  // The first text column takes the remaining width. If there is no text column, the table is only as wide as its
  // columns.
  const stretched = columns.findIndex((column) => column.isText && !column.width);
  cols.forEach((col, at) => {
    if (at !== stretched) col.style.width = `calc(${widths[at]}ch + 2 * var(--cell))`;
  });
  const least = `calc(${widths.reduce((a, b) => a + b, 0)}ch + ${2 * widths.length} * var(--cell))`;
  if (stretched < 0) grid.style.width = least;
  else grid.style.minWidth = least;
  frame.classList.toggle('fitting', stretched < 0);
  update();
  const top = state.top;
  requestAnimationFrame(() => {
    frame.scrollTop = top;
    draw();
  });
  return el('div', { class: 'table-box', 'data-table': options.name }, bar ?? null, scrollHint(frame), frame);
}
