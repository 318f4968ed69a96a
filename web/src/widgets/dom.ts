// SPDX-License-Identifier: GPL-2.0-or-later
// Makes elements. Text is never interpreted as HTML.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

// Attributes with a function as value are event listeners: { click: () => … }.
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value as unknown as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

export function svg(tag: string, attributes: Record<string, string | number>): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

// Sets the canvas size in CSS pixels for the screen's pixel density, and returns the context.
export function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const density = window.devicePixelRatio || 1;
  const pixels = [Math.max(1, Math.round(width * density)), Math.max(1, Math.round(height * density))];
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('no canvas here');
  context.setTransform(density, 0, 0, density, 0, 0);
  return context;
}

// Calls `draw` when the element is added to the page, and whenever its width changes. Stops when the element is
// removed, and calls `gone`, which may free the resources of `draw`.
export function onWidth(element: HTMLElement, draw: (width: number) => void, gone?: () => void): void {
  let width = 0;
  const observer = new ResizeObserver(() => {
    if (!element.isConnected) {
      observer.disconnect();
      gone?.();
      return;
    }
    const now = element.clientWidth;
    if (now === width || now === 0) return;
    width = now;
    draw(now);
  });
  observer.observe(element);
}
