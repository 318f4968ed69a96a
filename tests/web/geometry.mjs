// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the positions of all texts on a page: no text may overlap another one or be cut off.

// Records the texts drawn on canvases, so that their positions can be checked. Call this before the page is opened.
export function watchCanvases(context) {
  return context.addInitScript(() => {
    const proto = CanvasRenderingContext2D.prototype;
    const { clearRect, fillRect, fillText } = proto;
    const forget = (canvas, width, height) => {
      if (width * devicePixelRatio >= canvas.width - 1 && height * devicePixelRatio >= canvas.height - 1)
        canvas.texts = [];
    };
    proto.clearRect = function (x, y, width, height) {
      forget(this.canvas, width, height);
      clearRect.call(this, x, y, width, height);
    };
    proto.fillRect = function (x, y, width, height) {
      forget(this.canvas, width, height);
      fillRect.call(this, x, y, width, height);
    };
    proto.fillText = function (text, x, y, most = Infinity) {
      const measured = this.measureText(text);
      const width = Math.min(most, measured.width);
      const height = measured.actualBoundingBoxAscent + measured.actualBoundingBoxDescent;
      const left = { center: x - width / 2, right: x - width, end: x - width }[this.textAlign] ?? x;
      const top = y - measured.actualBoundingBoxAscent;
      const matrix = this.getTransform();
      const corners = [new DOMPoint(left, top), new DOMPoint(left + width, top + height)].map((point) =>
        point.matrixTransform(matrix),
      );
      const [xs, ys] = ['x', 'y'].map((axis) => corners.map((corner) => corner[axis]));
      (this.canvas.texts ??= []).push({
        text,
        left: Math.min(...xs) / devicePixelRatio,
        right: Math.max(...xs) / devicePixelRatio,
        top: Math.min(...ys) / devicePixelRatio,
        bottom: Math.max(...ys) / devicePixelRatio,
        squeezed: measured.width > most * 1.15,
      });
      fillText.call(this, text, x, y, most === Infinity ? undefined : most);
    };
  });
}

// Returns descriptions of texts that overlap or are cut off.
export function misplaced(page) {
  return page.evaluate(() => {
    const found = [];
    const kSlack = 1.5; // pixels
    const short = (text) => text.trim().replaceAll(/\s+/g, ' ').slice(0, 40);
    const round = (box) => ['left', 'top', 'right', 'bottom'].map((side) => Math.round(box[side])).join(' ');
    const clips = (style) => style.overflowX !== 'visible' || style.overflowY !== 'visible';
    const scrolls = (style) => /auto|scroll/.test(style.overflowX) || /auto|scroll/.test(style.overflowY);

    // Returns the visible part of the box around an element's text, or null. Reports the text if it is cut off.
    function visible(element, text, box) {
      let { left, top, right, bottom } = box;
      for (let at = element; at && at !== document.body; at = at.parentElement) {
        const style = getComputedStyle(at);
        if (!clips(style)) continue;
        const frame = at.getBoundingClientRect();
        const isCut = left < frame.left - kSlack || right > frame.right + kSlack;
        const isLow = top < frame.top - kSlack || bottom > frame.bottom + kSlack;
        // A name may end with "…" if its title, or the title of its cell, contains the whole name.
        const isShortened = style.textOverflow === 'ellipsis' && (at.title || at.closest('[title]'));
        if ((isCut || isLow) && !scrolls(style) && !(isCut && isShortened && !isLow))
          found.push(`cut off: "${short(text)}" at ${round(box)} in ${at.tagName}.${at.className} ${round(frame)}`);
        [left, right] = [Math.max(left, frame.left), Math.min(right, frame.right)];
        [top, bottom] = [Math.max(top, frame.top), Math.min(bottom, frame.bottom)];
        if (right - left < 1 || bottom - top < 1) return null;
      }
      return { left, top, right, bottom };
    }

    function overlaps(boxes, of) {
      boxes.sort((a, b) => a.top - b.top);
      for (let at = 0; at < boxes.length; ++at)
        for (let next = at + 1; next < boxes.length && boxes[next].top < boxes[at].bottom - kSlack; ++next) {
          const [a, b] = [boxes[at], boxes[next]];
          if (a.element === b.element && a.element) continue;
          const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          if (width > kSlack && height > kSlack)
            found.push(`overlap${of}: "${short(a.text)}" ${round(a)} and "${short(b.text)}" ${round(b)}`);
        }
    }

    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!node.textContent.trim() || element.closest('script, style, option, select, svg, [aria-hidden=true].spacer'))
        continue;
      if (getComputedStyle(element).visibility === 'hidden') continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const line of range.getClientRects()) {
        if (line.width < 1) continue;
        // Shrink the box of a line, which is higher than the letters.
        const part = Math.min(3, line.height / 6);
        const box = { left: line.left, right: line.right, top: line.top + part, bottom: line.bottom - part };
        const seen = visible(element, node.textContent, box);
        if (seen) texts.push({ ...seen, text: node.textContent, element });
        if (box.left < -kSlack || (seen && seen.right > document.documentElement.clientWidth + kSlack))
          found.push(`outside of the window: "${short(node.textContent)}" at ${round(box)}`);
      }
    }
    overlaps(texts, '');

    for (const picture of document.querySelectorAll('main svg, main canvas, main input, main select, main button')) {
      const box = picture.getBoundingClientRect();
      if (box.width < 1) continue;
      visible(picture.parentElement, picture.getAttribute('aria-label') ?? picture.tagName, box);
    }

    for (const canvas of document.querySelectorAll('canvas')) {
      const { width, height } = canvas.getBoundingClientRect();
      const drawn = canvas.texts ?? [];
      for (const one of drawn) {
        if (one.squeezed) found.push(`squeezed in a picture: "${one.text}"`);
        const isOutside =
          one.left < -kSlack || one.right > width + kSlack || one.top < -kSlack || one.bottom > height + kSlack;
        if (isOutside) found.push(`cut off in a picture: "${one.text}" at ${round(one)} of ${width} x ${height}`);
      }
      overlaps(drawn.slice(), ' in a picture');
    }

    // A pinned column must leave room for other columns.
    for (const frame of document.querySelectorAll('.table')) {
      const pinned = frame.querySelector('th.pinned');
      if (!pinned || frame.scrollWidth <= frame.clientWidth + 1) continue;
      const { width } = pinned.getBoundingClientRect();
      if (width > frame.clientWidth * 0.6)
        found.push(`pinned column "${short(pinned.textContent)}" has ${Math.round(width)} of ${frame.clientWidth} px`);
    }

    // A link that is cut off must end with "…".
    for (const link of document.querySelectorAll('td .link')) {
      const cell = link.closest('td');
      const isCut = link.getBoundingClientRect().right > cell.getBoundingClientRect().right + kSlack;
      if (isCut) found.push(`cut off in its cell: link "${short(link.textContent)}"`);
    }

    // If a table is wider than its frame, a hint must be visible.
    for (const frame of document.querySelectorAll('.table')) {
      const isWide = frame.scrollWidth > frame.clientWidth + 1;
      const hint = frame.closest('.table-box')?.querySelector('.scroll-hint');
      const isShown = Boolean(hint) && hint.getClientRects().length > 0;
      if (isWide !== isShown)
        found.push(`a table that ${isWide ? 'scrolls has no hint' : 'does not scroll has a hint'}: ${frame.className}`);
    }
    return [...new Set(found)].slice(0, 12);
  });
}
