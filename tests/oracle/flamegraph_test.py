#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that the SVG of `flamegraph` shows the numbers of `report --json`, and that frames do not overlap."""
import collections
import re
import unittest
import xml.etree.ElementTree

from export_traces import Case, data, expected, place, planted, planted_trace, report, run


class Flamegraph(Case):
    SVG = '{http://www.w3.org/2000/svg}'

    def draw(self, path, *options):
        output = place('flame.svg')
        done = run('flamegraph', path, '-o', output, *options)
        self.assertEqual(0, done.returncode, done.stderr)
        tree = xml.etree.ElementTree.parse(output).getroot()
        frames = []
        for group in tree.iter(self.SVG + 'g'):
            if group.get('class') == 'f':
                rect = group.find(self.SVG + 'rect')
                frames.append((group.get('data-name'), group.find(self.SVG + 'title').text,
                               *(float(rect.get(key)) for key in ('x', 'y', 'width')), rect.get('fill')))
        return frames, done.stderr, tree

    @staticmethod
    def value(title):
        return int(re.search(r'\(([\d,]+) bytes\)', title)[1].replace(',', ''))

    def check(self, path, *options):
        frames, _, _ = self.draw(path, *options)
        reported = report(path)
        want = {name: value for name, value in expected(reported, 'allocated').items() if value > 0}
        total = sum(want.values())  # only for widths: it counts pages with slab objects twice
        name, title, x, all_y, all_width, _ = frames[0]
        self.assertEqual(('all', 10, 1200), (name, x, all_width))
        self.assertEqual(want, {name: int(value.replace(',', ''))
                                for name, value in re.findall(r'(\w+) [^,(]*\(([\d,]+) bytes\)', title)})
        self.assertNotIn('%', title)
        self.assertEqual(len(want) > 1, 'do not add' in title)
        rows = collections.defaultdict(list)
        for name, title, x, y, width, _ in frames[1:]:
            self.assertAlmostEqual(1200 * self.value(title) / total, width, delta=0.001)
            share, of = re.search(r'bytes\), ([\d.]+) % of (\w+)$', title).groups()
            self.assertAlmostEqual(100 * self.value(title) / want[of], float(share), delta=0.005001)
            rows[y].append((x, width, self.value(title)))
        rows[all_y].append((10, 1200, total))
        for row in rows.values():  # nothing overlaps
            row.sort()
            for (x, width, _), (following, _, _) in zip(row, row[1:]):
                self.assertLessEqual(x + width, following + 0.002)
        by_depth = [rows[y] for y in sorted(rows, reverse='icicle' not in options)]
        self.assertEqual([(10, 1200, total)], by_depth[0])
        for above, below in zip(by_depth, by_depth[1:]):  # each frame is inside a frame of the row below it
            for x, width, _ in below:
                self.assertTrue(any(left - 0.002 <= x and x + width <= left + wide + 0.002 for left, wide, _ in above))
        roots = {name: self.value(title) for name, title, _, y, _, _ in frames if name.startswith('[')}
        self.assertEqual({f'[{allocator}]': value for allocator, value in want.items()}, roots)

    def test_all_traces(self):
        self.of_all(self.check)

    def test_every_frame_is_drawn(self):
        """Even the narrowest frames must be drawn, because zooming makes them visible."""
        path = data('amd64-stacks/trace.dat')
        stacks = [line.rsplit(' ', 1)[0].split(';') for line in run('export', path, '--to', 'collapsed').stdout.splitlines()]
        self.assertEqual(len({tuple(stack[:depth]) for stack in stacks for depth in range(len(stack) + 1)}),
                         len(self.draw(path)[0]))

    def test_many_frames(self):
        """If there are too many frames, the largest must be drawn."""
        path = place('many.txt')
        with open(path, 'w', encoding='ascii') as file:
            for i in range(12_000):
                file.write(f'  a-1  [000] .....  1.{i:06}: kmalloc: call_site=f{i}+0x1/0x2 ptr={i + 1:016x} '
                           f'bytes_req={i + 1} bytes_alloc={i + 1} gfp_flags=GFP_KERNEL\n')
        frames, messages, _ = self.draw(path)
        self.assertIn('the 2,002 smallest of 12,002 frames are not drawn', messages)
        self.assertEqual({f'f{i}' for i in range(2_002, 12_000)} | {'all', '[slab]'}, {name for name, *_ in frames})

    def test_icicle(self):
        self.check(data('amd64-stacks/trace.dat'), '--by', 'icicle')

    def test_hostile(self):
        path = planted('hostile', 'amd64', hostile=True, stacks=True)
        frames, _, tree = self.draw(path, '--title', '</text><script>alert(1)</script>')
        self.assertEqual(1, len(list(tree.iter(self.SVG + 'script'))))
        self.assertTrue(any('<&>"\';,]]>\\x1b[2J\\x07' in name for name, *_ in frames))

    def test_impossible_sizes(self):
        """Sums must saturate instead of wrapping around, so no frame may be wider than the root."""
        path = place('huge.txt')
        with open(path, 'w', encoding='ascii') as file:
            for at, size in enumerate((2**64 - 1, 2, 2**63, 2**64 - 1)):
                file.write(f'  a-1  [000] .....  1.{at:06}: kmalloc: call_site=f{at}+0x1/0x2 ptr={at + 1:016x} '
                           f'bytes_req={size} bytes_alloc={size} gfp_flags=GFP_KERNEL\n')
        frames, _, _ = self.draw(path)
        self.assertTrue(all(width <= 1200 for *_, width, _ in frames))

    def test_peaks(self):
        """The peak of a single stack is exact. For several stacks, the sum of their peaks is shown as an upper
        limit."""
        path = data('amd64-stacks/trace.dat')
        frames, _, _ = self.draw(path, '--metric', 'peak')
        exact = {self.value(title) for _, title, *_ in frames[1:] if 'at most' not in title}
        known = {row['peak_bytes'] for table in report(path, '--by', 'stack')['groups'].values() for row in table['rows']}
        self.assertGreater(len(exact), 4)
        self.assertLess(len(exact - known), len(exact) / 4)  # some of these stacks also differ in their page order
        (whole,) = [title for name, title, *_ in frames if name == '[slab]']
        self.assertIn('[slab]: at most', whole)
        self.assertGreater(self.value(whole), report(path)['slab']['peak_bytes'])
        self.assertFalse(any('%' in title for _, title, *_ in frames))

    def test_difference(self):
        path = data('amd64-stacks/trace.dat')
        same, messages, _ = self.draw(path, '--diff', path)
        self.assertEqual('', messages)
        self.assertEqual({'rgb(238,238,236)'}, {fill for *_, fill in same})
        other, _, _ = self.draw(path, '--diff', planted('planted', 'amd64', stacks=True))
        fills = {tuple(map(int, re.findall(r'\d+', fill))) for *_, fill in other}
        self.assertTrue(any(red > green for red, green, _ in fills))
        self.assertIn('; before: ', other[1][1])
        self.assertNotIn('before', other[0][1])

    def test_difference_if_stacks_start_late(self):
        late = place('late.dat')
        planted_trace.write(planted_trace.plant(data('amd64/trace.dat'), 11, planted_trace.MANY,
                                                stacks=planted_trace.LATE), late)
        rows = lambda frames: len({y for *_, y, _, _ in frames})  # noqa: E731
        frames, messages, _ = self.draw(late, '--diff', data('amd64-stacks/trace.dat'))
        self.assertNotIn('has stacks', messages)
        self.assertGreater(rows(frames), 3)
        for path, base, which in ((late, data('amd64/trace.dat'), 'FILE'), (data('amd64/trace.dat'), late, 'BASE')):
            frames, messages, _ = self.draw(path, '--diff', base)
            self.assertIn(f'only {which} has stacks', messages)
            self.assertEqual(rows(frames), 3)  # the root, allocators and call sites

    def test_difference_if_one_trace_has_no_stacks(self):
        """If one trace lacks stacks, call sites are compared, and a message reports this."""
        with_stacks, without = data('amd64-stacks/trace.dat'), data('amd64/trace.dat')
        for path, base, which in ((with_stacks, without, 'FILE'), (without, with_stacks, 'BASE')):
            frames, messages, tree = self.draw(path, '--diff', base)
            self.assertIn(f'only {which} has stacks', messages)
            self.assertTrue(any('only one of the traces has stacks' in (text.text or '')
                                for text in tree.iter(self.SVG + 'text')))
            reported = [report(trace, '--by', 'call-site')['groups']['slab']['rows'] for trace in (path, base)]
            sums = [collections.Counter() for _ in reported]
            for rows, sum_of in zip(reported, sums):
                for row in rows:
                    site = row['keys']['call-site']
                    sum_of[re.split(r'[+ ]', site['symbol'] or site['address'])[0].split('.')[0]] += row['bytes_allocated']
            slab = [(name, title) for name, title, *_ in frames[1:] if '% of slab' in title and name[0] != '[']
            self.assertGreater(len(slab), 2)
            for name, title in slab:
                now, before = (int(value.replace(',', ''))
                               for value in re.findall(r'\(?([\d,]+) bytes\)', title)[:2])
                self.assertEqual((sums[0][name], sums[1][name]), (now, before), title)


if __name__ == '__main__':
    unittest.main()
