// SPDX-License-Identifier: GPL-2.0-or-later
import { svg } from './dom';

const kWidth = 84;
const kHeight = 20;

// Reduces the series to one step per pixel. Each step has the highest value of its part of the series.
function thinned(series: ArrayLike<number>): ArrayLike<number> {
  if (series.length <= kWidth) return series;
  const course = new Float64Array(kWidth);
  for (let at = 0; at < series.length; ++at) {
    const step = Math.floor((at * kWidth) / series.length);
    course[step] = Math.max(course[step], series[at]);
  }
  return course;
}

// A small line plot of a value, from 0 to its maximum.
export function sparkline(series: ArrayLike<number>, label: string): SVGElement {
  const course = thinned(series);
  const most = Array.prototype.reduce.call(course, (a, b) => Math.max(a as number, b as number), 0) as number;
  const steps = Math.max(1, course.length - 1);
  const points: string[] = [];
  for (let at = 0; at < course.length; ++at) {
    const y = most > 0 ? kHeight - 1 - (Math.max(0, course[at]) / most) * (kHeight - 3) : kHeight - 1;
    points.push(`${((at / steps) * kWidth).toFixed(1)},${y.toFixed(1)}`);
  }
  const picture = svg('svg', {
    class: 'spark',
    viewBox: `0 0 ${kWidth} ${kHeight}`,
    width: kWidth,
    height: kHeight,
    role: 'img',
    'aria-label': label,
  });
  const line = points.join(' ');
  picture.append(
    svg('polygon', { points: `0,${kHeight} ${line} ${kWidth},${kHeight}`, class: 'area' }),
    svg('polyline', { points: line }),
  );
  return picture;
}
