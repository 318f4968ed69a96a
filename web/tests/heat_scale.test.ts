// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contrast, placeOnScale, scaleColor, scaleStops, textOn, type Rgb } from '../src/widgets/heat_scale';

// CIE 1976 colour difference. From about 2, people see it; from 10, they see it at a glance.
function difference(a: Rgb, b: Rgb): number {
  const lab = (color: Rgb): Rgb => {
    const [r, g, blue] = color.map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    const root = (value: number): number => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
    const x = root((0.4124 * r + 0.3576 * g + 0.1805 * blue) / 0.9505);
    const y = root(0.2126 * r + 0.7152 * g + 0.0722 * blue);
    const z = root((0.0193 * r + 0.1192 * g + 0.9505 * blue) / 1.089);
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
  };
  const [first, second] = [lab(a), lab(b)];
  return Math.hypot(...first.map((part, at) => part - second[at]));
}

for (const dark of [false, true]) {
  const theme = dark ? 'dark' : 'light';
  const color = (value: number): Rgb => scaleColor(placeOnScale(value, 1, 593004), dark);

  test(`different values have different colours, ${theme}`, () => {
    assert.ok(difference(color(37151), color(593004)) > 20);
    for (let value = 1; value * 16 < 593004; value *= 2) assert.ok(difference(color(value), color(16 * value)) > 15);
  });

  test(`texts on all colours are readable, ${theme}`, () => {
    for (let place = 0; place <= 1; place += 0.01) {
      const fill = scaleColor(place, dark);
      assert.ok(contrast(fill, textOn(fill)) >= 4.5, `${place}`);
    }
  });
}

test('the scale has equal distances for equal ratios', () => {
  assert.equal(placeOnScale(1, 1, 10000), 0);
  assert.equal(placeOnScale(100, 1, 10000), 0.5);
  assert.equal(placeOnScale(10000, 1, 10000), 1);
  assert.equal(placeOnScale(7, 7, 7), 1);
});

test('the legend has round values between the least and the most', () => {
  assert.deepEqual(scaleStops(1, 3975, 10), [1, 10, 100, 1000, 3975]);
  assert.deepEqual(scaleStops(225, 869336, 10), [225, 1000, 10000, 100000, 869336]);
  assert.deepEqual(scaleStops(92, 1.4 * 2 ** 20, 16), [92, 256, 4096, 65536, 1.4 * 2 ** 20]);
  assert.deepEqual(scaleStops(5, 5, 10), [5]);
  assert.ok(scaleStops(1, 1e12, 10).length <= 8);
});
