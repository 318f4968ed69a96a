// SPDX-License-Identifier: GPL-2.0-or-later
// Draws the page of a series of snapshots: docs/formats/html-json.md, "The page of a series".
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const first = data.first_unix_ns / 1e6; // ms
  const last = Math.max(data.last_unix_ns / 1e6, first + 1);
  const parts = data.bands.length ? data.bands[0].least.length : 1;
  const kLeastParts = 4; // smallest number of parts of the time to which one can zoom
  const canvas = document.getElementById('plot');
  const hint = document.getElementById('hint');
  let from = first;
  let to = last;
  let dragged = null; // x at the start of a drag, in CSS pixels

  const bytes = (value) => {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (Math.abs(value) >= 1024 && unit < units.length - 1) {
      value /= 1024;
      ++unit;
    }
    return `${value.toFixed(unit ? 1 : 0)} ${units[unit]}`;
  };
  const time = (ms) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
  const node = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const table = (heads, rows) => {
    const made = node('table');
    const head = made.appendChild(node('tr'));
    for (const text of heads) head.append(node('th', text));
    for (const { cells, kind } of rows) {
      const row = made.appendChild(node('tr'));
      if (kind) row.className = kind;
      for (const cell of cells) row.append(node('td', cell.text ?? cell, cell.number ? 'number' : ''));
    }
    return made;
  };

  const value = (check) => {
    if (check.unit === 'share') return `${(check.value * 100).toFixed(1)} %`;
    return check.unit === 'bytes' ? bytes(check.value) : check.value.toLocaleString('en');
  };
  const events = [
    ...data.boots_unix_ns.map((ns) => ({ kind: 'boot', at: ns / 1e6, until: ns / 1e6, text: 'boot' })),
    ...data.oom_kills.map((one) => ({
      kind: 'oom',
      at: one.unix_ns / 1e6,
      until: one.unix_ns / 1e6,
      text: one.kills === 1 ? 'OOM kill' : `${one.kills} OOM kills`,
    })),
    ...data.alerts.map((one) => ({
      kind: 'alert',
      at: one.first_unix_ns / 1e6,
      until: one.last_unix_ns / 1e6,
      text: `${one.health}: ${one.label}${one.subject ? ` (${one.subject})` : ''}: ${value(one)}`,
    })),
  ].sort((a, b) => a.at - b.at);

  const select = document.getElementById('band');
  for (const band of data.bands) select.append(new Option(band.label, band.id));
  if (data.bands.some((band) => band.id === 'slab')) select.value = 'slab';
  const shown = () => data.bands[select.selectedIndex];

  const x_of = (ms, width) => ((ms - from) / (to - from)) * width;
  const ms_of = (x, width) => from + (x / width) * (to - from);
  const part_of = (ms) => Math.min(parts - 1, Math.max(0, Math.floor(((ms - first) / (last - first)) * parts)));

  // Returns the smallest and the largest amount in the visible time.
  const range = (band) => {
    let least = Infinity;
    let most = -Infinity;
    for (let i = part_of(from); i <= part_of(to); ++i) {
      if (band.least[i] === null) continue;
      least = Math.min(least, band.least[i]);
      most = Math.max(most, band.most[i]);
    }
    return [least, most];
  };

  const draw = () => {
    const scale = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext('2d');
    context.scale(scale, scale);
    const style = getComputedStyle(document.body);
    context.font = '12px sans-serif';
    context.fillStyle = style.color;
    const band = shown();
    if (!band) return;
    const [least, most] = range(band);
    if (least > most) {
      context.fillText('no snapshots in this time', 10, 20);
      return;
    }
    const space = Math.max((most - least) * 0.05, 1);
    const y_of = (amount) => height - 30 - ((amount - least + space) / (most - least + 2 * space)) * (height - 50);
    context.fillStyle = '#3a7bd5';
    const part_ms = (last - first) / parts;
    for (let i = part_of(from); i <= part_of(to); ++i) {
      if (band.least[i] === null) continue;
      const left = x_of(first + i * part_ms, width);
      const top = y_of(band.most[i]);
      const wide = Math.max((part_ms / (to - from)) * width, 1);
      context.fillRect(left, top, wide, Math.max(y_of(band.least[i]) - top, 2));
    }
    for (const event of events) {
      if (event.until < from || event.at > to) continue;
      context.fillStyle = { boot: '#27c', oom: '#c22', alert: '#b70' }[event.kind];
      const left = Math.max(x_of(event.at, width), 0);
      if (event.kind === 'alert') context.fillRect(left, 2, Math.max(Math.min(x_of(event.until, width), width) - left, 3), 4);
      else context.fillRect(left, 0, 2, height - 20);
    }
    context.fillStyle = style.color;
    context.fillText(bytes(most), 4, y_of(most) - 4);
    context.fillText(bytes(least), 4, y_of(least) + 14);
    context.fillText(time(from), 4, height - 4);
    const end = time(to);
    context.fillText(end, width - context.measureText(end).width - 4, height - 4);
    canvas.setAttribute('aria-label', `${band.label}: ${bytes(least)} to ${bytes(most)}, ${time(from)} to ${time(to)}`);
  };

  const zoom = (begin, end) => {
    const least = ((last - first) / parts) * kLeastParts;
    if (end - begin < least) {
      const middle = (begin + end) / 2;
      [begin, end] = [middle - least / 2, middle + least / 2];
    }
    from = Math.max(first, begin);
    to = Math.min(last, end);
    draw();
  };
  const zoom_by = (factor) => {
    const middle = (from + to) / 2;
    zoom(middle - ((to - from) * factor) / 2, middle + ((to - from) * factor) / 2);
  };

  const x_in = (event) => event.clientX - canvas.getBoundingClientRect().left;
  canvas.addEventListener('pointerdown', (event) => {
    dragged = x_in(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointercancel', () => {
    dragged = null;
    draw();
  });
  canvas.addEventListener('pointerup', (event) => {
    if (dragged === null) return; // the drag started outside the plot
    const [a, b] = [dragged, x_in(event)].sort((one, other) => one - other);
    dragged = null;
    if (b - a > 5) zoom(ms_of(a, canvas.clientWidth), ms_of(b, canvas.clientWidth));
  });
  canvas.addEventListener('pointermove', (event) => {
    const at = ms_of(x_in(event), canvas.clientWidth);
    const band = shown();
    const part = part_of(at);
    const near = ((to - from) / canvas.clientWidth) * 4;
    const found = events.filter((one) => one.at - near <= at && at <= one.until + near).map((one) => one.text);
    const amounts =
      !band || band.least[part] === null ? 'no snapshot' : `${bytes(band.least[part])} to ${bytes(band.most[part])}`;
    hint.textContent = [time(at), amounts, ...found].join(' · ');
    if (dragged === null) return;
    draw();
    const context = canvas.getContext('2d');
    context.fillStyle = '#8885';
    context.fillRect(dragged, 0, x_in(event) - dragged, canvas.clientHeight);
  });
  canvas.addEventListener('keydown', (event) => {
    if (event.key === '+') zoom_by(0.5);
    else if (event.key === '-') zoom_by(2);
    else if (event.key === 'ArrowLeft') zoom(Math.max(first, from - (to - from) / 4), to - (to - from) / 4);
    else if (event.key === 'ArrowRight') zoom(from + (to - from) / 4, Math.min(last, to + (to - from) / 4));
  });
  document.getElementById('out').addEventListener('click', () => zoom_by(2));
  document.getElementById('all').addEventListener('click', () => zoom(first, last));
  select.addEventListener('change', draw);
  window.addEventListener('resize', draw);

  const found = data.files.some((file) => file.growth_found);
  document.getElementById('summary').textContent =
    `${data.snapshots.toLocaleString('en')} snapshots, ${time(first)} to ${time(last)} UTC. ` +
    (found ? 'Memory grows: see below.' : 'No confirmed growth.');
  const events_place = document.getElementById('events');
  if (events.length === 0) events_place.append(node('p', 'No boots, OOM kills or alerts.'));
  else
    events_place.append(
      table(
        ['Time (UTC)', 'Until', 'Event'],
        events.map((one) => ({
          kind: one.kind,
          cells: [time(one.at), one.until > one.at ? time(one.until) : '', one.text],
        })),
      ),
    );
  const growth_place = document.getElementById('growth');
  for (const file of data.files) {
    growth_place.append(
      node('p', `${file.path}${file.release ? `, Linux ${file.release}` : ''}: ${file.snapshots.toLocaleString('en')} snapshots` +
        (file.damaged ? `, ${file.damaged} damaged` : '') + (file.finished ? '' : ', unfinished')),
    );
    if (file.growth.length === 0) continue;
    growth_place.append(
      table(
        ['What', 'Name', 'Growth per hour', 'At least', 'First', 'Last', 'Verdict'],
        file.growth.sort((a, b) => b.certain - a.certain).map((row) => ({
          kind: row.certain ? 'certain' : '',
          cells: [
            row.part,
            row.name,
            { text: bytes(row.bytes_per_s * 3600), number: true },
            { text: bytes(row.least_bytes_per_s * 3600), number: true },
            { text: bytes(row.first_bytes), number: true },
            { text: bytes(row.last_bytes), number: true },
            row.verdict,
          ],
        })),
      ),
    );
  }
  draw();
  window.kmemtrace = { ready: true, visible: () => [from, to] };
})();
