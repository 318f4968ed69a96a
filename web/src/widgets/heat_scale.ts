// SPDX-License-Identifier: GPL-2.0-or-later
// The colours of heat maps. Equal ratios of values have equal distances on the scale.

export type Rgb = [number, number, number];

// Colours from low to high values. Hue and lightness both change, so that a factor of 16 is visible on a scale from 1
// to a million.
const kLight: Rgb[] = [
  [232, 240, 150],
  [116, 203, 122],
  [33, 140, 141],
  [62, 74, 137],
  [58, 0, 72],
];
const kDark: Rgb[] = [
  [84, 36, 118],
  [62, 92, 152],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 60],
];
const kMostStops = 7;
const kNearest = 0.08; // minimum distance between two values in the legend, as a share of the scale

// Returns the place of a value on the scale: 0 for `least`, 1 for `most`.
export function placeOnScale(value: number, least: number, most: number): number {
  if (most <= least) return 1;
  return Math.max(0, Math.min(1, Math.log(value / least) / Math.log(most / least)));
}

export function scaleColor(place: number, dark: boolean): Rgb {
  const stops = dark ? kDark : kLight;
  const at = Math.max(0, Math.min(1, place)) * (stops.length - 1);
  const step = Math.min(stops.length - 2, Math.floor(at));
  return stops[step].map((from, part) => Math.round(from + (stops[step + 1][part] - from) * (at - step))) as Rgb;
}

// Returns the relative luminance as defined by WCAG 2.1.
function luminance(color: Rgb): number {
  const [r, g, b] = color.map((part) => {
    const value = part / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: Rgb, b: Rgb): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

// Returns black or white, whichever is easier to read on a colour.
export function textOn(color: Rgb): Rgb {
  const black: Rgb = [0, 0, 0];
  const white: Rgb = [255, 255, 255];
  return contrast(black, color) > contrast(white, color) ? black : white;
}

// Returns the values for the legend of a scale: `least`, evenly spaced powers of `base`, and `most`.
export function scaleStops(least: number, most: number, base: number): number[] {
  const first = Math.ceil(Math.log(least) / Math.log(base) + 1e-9);
  const last = Math.floor(Math.log(most) / Math.log(base) - 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / (kMostStops - 2)));
  const stops = [least];
  for (let exponent = Math.ceil(first / step) * step; exponent <= last; exponent += step) stops.push(base ** exponent);
  const isNear = (value: number, other: number): boolean =>
    Math.abs(placeOnScale(value, least, most) - placeOnScale(other, least, most)) < kNearest;
  const distinct = stops.filter((value, at) => at === 0 || (!isNear(value, least) && !isNear(value, most)));
  return most > least ? [...distinct, most] : distinct;
}
