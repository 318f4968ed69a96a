// SPDX-License-Identifier: GPL-2.0-or-later
// The colours of the theme, and colours computed from them.
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

const kHues = [214, 168, 275, 30]; // hues of slab, percpu, vmalloc and pages, as in style.css

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

// Red means more and green means less; small differences are pale. `share` is from -1 to 1.
export function changeColor(share: number): string {
  const strength = Math.min(1, Math.sqrt(Math.abs(share)));
  const dark = isDark();
  if (strength < 0.02) return dark ? 'hsl(220 8% 27%)' : 'hsl(220 12% 90%)';
  const hue = share > 0 ? 4 : 140;
  return dark
    ? `hsl(${hue} ${20 + 42 * strength}% ${28 + 4 * strength}%)`
    : `hsl(${hue} ${30 + 45 * strength}% ${90 - 24 * strength}%)`;
}

type Rgb = [number, number, number];
const kLight: Rgb[] = [
  [232, 239, 250],
  [122, 166, 228],
  [38, 92, 176],
  [20, 56, 124],
];
const kDark: Rgb[] = [
  [28, 38, 54],
  [44, 88, 150],
  [92, 154, 226],
  [150, 196, 250],
];

// Returns the colour for `share`, from 0 to 1, and a text colour that is readable on it.
export function heatColor(share: number): { fill: string; text: string } {
  const stops = isDark() ? kDark : kLight;
  const at = Math.max(0, Math.min(1, share)) * (stops.length - 1);
  const step = Math.min(stops.length - 2, Math.floor(at));
  const mixed = stops[step].map((from, part) => Math.round(from + (stops[step + 1][part] - from) * (at - step)));
  const luminance = (0.299 * mixed[0] + 0.587 * mixed[1] + 0.114 * mixed[2]) / 255;
  return { fill: `rgb(${mixed.join(' ')})`, text: luminance > 0.5 ? '#10151d' : '#ffffff' };
}

export function hashOf(text: string): number {
  let hash = 2166136261;
  for (let at = 0; at < text.length; ++at) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return hash >>> 0;
}
