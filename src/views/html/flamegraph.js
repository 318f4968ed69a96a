// SPDX-License-Identifier: GPL-2.0-or-later
// Runs inside the SVG of a flame graph. It fits the graph to the window, zooms on click or Enter, moves the focus with
// arrow keys, and searches on Ctrl+F or /. The last line of the graph describes the frame that is under the pointer or
// has the focus.
(() => {
  'use strict';
  const svg = document.documentElement;
  const said = document.getElementById('said');
  const [left, drawn, letter, row, least] = [10, 1200, 6.6, 17, 320];
  // Positions and widths are fractions of the width of the whole graph.
  const frames = [...document.querySelectorAll('#frames > g')].map((group) => {
    const rect = group.querySelector('rect');
    return {
      group,
      rect,
      title: group.querySelector('title').textContent,
      text: group.querySelector('text'),
      fill: rect.getAttribute('fill'),
      name: group.dataset.name,
      allocator: group.dataset.allocator,
      x: (Number(rect.getAttribute('x')) - left) / drawn,
      y: Number(rect.getAttribute('y')),
      width: Number(rect.getAttribute('width')) / drawn,
      shown: true,
    };
  });
  let whole = drawn;  // pixels
  let zoomed = {x: 0, width: 1};

  const zoom = (to) => {
    zoomed = to;
    const scale = whole / to.width;
    for (const frame of frames) {
      const begin = Math.max((frame.x - to.x) * scale, 0);
      const end = Math.min((frame.x + frame.width - to.x) * scale, whole);
      frame.shown = end - begin >= 0.05;
      frame.group.style.display = frame.shown ? '' : 'none';
      if (!frame.shown) continue;
      frame.rect.setAttribute('x', left + begin);
      frame.rect.setAttribute('width', end - begin);
      frame.text.setAttribute('x', left + begin + 3);
      const letters = Math.floor((end - begin - 6) / letter);
      const {name} = frame;
      frame.text.textContent = name.length <= letters ? name : letters < 3 ? '' : name.slice(0, letters - 2) + '..';
    }
  };
  const zoomOut = () => zoom({x: 0, width: 1});

  // Only the current frame can be reached with Tab.
  let current = frames[0];
  const widest = (found) => found.reduce((a, b) => (a && a.width >= b.width ? a : b), undefined);
  const steps = {
    ArrowUp: () => above(-row),
    ArrowDown: () => above(row),
    ArrowLeft: () => beside(({x}) => x < current.x).pop(),
    ArrowRight: () => beside(({x}) => x > current.x)[0],
  };
  const beside = (where) =>
      frames.filter((one) => one.shown && one.y === current.y && where(one)).sort((a, b) => a.x - b.x);
  const touches = (one) => one.x < current.x + current.width && current.x < one.x + one.width;
  const above = (by) => widest(frames.filter((one) => one.shown && one.y === current.y + by && touches(one)));

  // Returns the width of the part of `of` that the frames cover. The frames must be sorted by start. Overlapping
  // parts count once.
  const coveredBy = (found, of) => {
    let [covered, end] = [0, of.x];
    for (const {x, width} of found) {
      const stop = Math.min(x + width, of.x + of.width);
      covered += Math.max(0, stop - Math.max(end, x));
      end = Math.max(end, stop);
    }
    return covered;
  };

  const search = (wanted) => {
    let pattern;
    try {
      pattern = new RegExp(wanted);
    } catch (problem) {
      said.textContent = String(problem);
      return;
    }
    // The first frame is the root, which is not a function.
    const found = wanted === '' ? [] : frames.slice(1).filter(({name}) => pattern.test(name));
    for (const {rect, fill} of frames) rect.setAttribute('fill', fill);
    for (const {rect} of found) rect.setAttribute('fill', 'rgb(150,60,230)');
    found.sort((a, b) => a.x - b.x || b.width - a.width);
    const shares = frames.filter(({allocator}) => allocator !== undefined)
                       .map((of) => `${(100 * coveredBy(found, of) / of.width).toFixed(2)} % of ${of.allocator}`);
    said.textContent = `${found.length} frames match${shares.length > 0 ? ': ' : ''}${shares.join(', ')}`;
  };

  const make = (space, name, attributes, parent) => {
    const element = document.createElementNS(`http://www.w3.org/${space}`, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  };
  const tools = make('2000/svg', 'foreignObject', {y: 4, width: 240, height: 26}, svg);
  const bar = make('1999/xhtml', 'div', {style: 'display: flex; gap: 6px; justify-content: flex-end'}, tools);
  const all = make('1999/xhtml', 'button', {type: 'button'}, bar);
  all.textContent = 'all';
  all.addEventListener('click', zoomOut);
  const field = make('1999/xhtml', 'input', {
    type: 'search',
    placeholder: 'search (/)',
    'aria-label': 'Functions whose names contain, a regular expression',
    style: 'width: 160px',
  }, bar);
  field.addEventListener('input', () => search(field.value));

  const fit = () => {
    const width = Math.max(Math.floor(visualViewport.width), least);
    whole = width - 2 * left;
    svg.setAttribute('width', width);
    svg.setAttribute('viewBox', `0 0 ${width} ${svg.getAttribute('height')}`);
    document.getElementById('paper').setAttribute('width', width);
    tools.setAttribute('x', width - left - 240);
    zoom(zoomed);
  };

  for (const frame of frames) {
    frame.group.setAttribute('tabindex', frame === current ? 0 : -1);
    frame.group.setAttribute('role', 'button');
    const tell = () => (said.textContent = frame.title);
    frame.group.addEventListener('click', () => zoom(frame));
    frame.group.addEventListener('mouseover', tell);
    frame.group.addEventListener('focus', () => {
      current.group.setAttribute('tabindex', -1);
      current = frame;
      frame.group.setAttribute('tabindex', 0);
      tell();
    });
  }
  addEventListener('keydown', (event) => {
    const inField = event.target === field;
    const finds = (event.ctrlKey || event.metaKey) && event.key === 'f';
    const onFrame = event.target === current?.group;
    const step = onFrame ? steps[event.key] : undefined;
    if (event.key === 'Escape' && inField) {
      field.value = '';
      search('');
      field.blur();
    } else if (event.key === 'Escape') {
      zoomOut();
    } else if (finds || (event.key === '/' && !inField)) {
      field.focus();
      field.select();
    } else if (step) {
      step()?.group.focus();
    } else if (onFrame && (event.key === 'Enter' || event.key === ' ')) {
      zoom(current);
    } else {
      return;
    }
    event.preventDefault();
  });
  addEventListener('resize', fit);
  svg.setAttribute('role', 'group');
  fit();
})();
