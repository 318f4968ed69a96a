// SPDX-License-Identifier: GPL-2.0-or-later
// The colours of the theme, and other colours that are computed from these.
import { kAllocators } from '../data/allocators';

export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function isDark(): boolean {
  return css('--dark') === '1';
}

export function allocatorColor(allocator: number): string {
  return css(`--${kAllocators[allocator] ?? 'slab'}`);
}

export function seriesColors(): string[] {
  return [1, 2, 3, 4, 5, 6, 7, 8].map((number) => css(`--series-${number}`));
}

const kHues = [214, 168, 275, 30]; // hues of slab, percpu, vmalloc and pages; must be those in style.css

// Returns shades of an allocator's colour. Text in --flame-text is readable on them.
export function flameShades(allocator: number): string[] {
  const hue = kHues[allocator] ?? kHues[0];
  const dark = isDark();
  const shades: string[] = [];
  for (let step = 0; step < 8; ++step) {
    const lightness = dark ? 24 + (step % 4) * 2.6 : 85 - (step % 4) * 3.4;
    shades.push(`hsl(${hue + (step - 4) * 4} ${dark ? 38 : 62}% ${lightness}%)`);
  }
  return shades;
}

// Returns a red colour for more and a green one for less. Small differences are pale. `share` is from -1 to 1.
export function changeColor(share: number): string {
  const strength = Math.min(1, Math.sqrt(Math.abs(share)));
  const dark = isDark();
  if (strength < 0.02) return dark ? 'hsl(220 8% 27%)' : 'hsl(220 12% 90%)';
  const hue = share > 0 ? 4 : 140;
  return dark
    ? `hsl(${hue} ${20 + 42 * strength}% ${28 + 4 * strength}%)`
    : `hsl(${hue} ${30 + 45 * strength}% ${90 - 24 * strength}%)`;
}

export function hashOf(text: string): number {
  let hash = 2166136261;
  for (let at = 0; at < text.length; ++at) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return hash >>> 0;
}
