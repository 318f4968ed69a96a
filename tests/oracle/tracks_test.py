#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the output of `export --to perfetto` and `chrome`, also with protoc. Counters must equal those of `timeline
--json`, and slices must equal the allocations in JSON lines."""
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import unittest

from export_traces import Case, data, export, export_file, place, run


def fields(data):
    """Returns [(number, value)] of a protobuf message. A value is an integer, 8 raw bytes, or a byte string."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
    found = []
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
        elif key & 7 == 1:
            found.append((key >> 3, data[at:at + 8]))
            at += 8
        else:
            assert key & 7 == 2, key & 7
            length = varint()
            assert at + length <= len(data)
            found.append((key >> 3, data[at:at + length]))
            at += length
    return found


class Tracks(Case):
    """Tests Perfetto traces and the Chrome trace event format."""

    def timeline(self, path):
        done = run('timeline', path, '--json', '--top', '10')
        self.assertEqual(0, done.returncode, done.stderr)
        return json.loads(done.stdout)

    def same_counters(self, path, counters):
        """Checks that {name: [(time_ns, value)]}, the counters of the file, equal the arrays of `timeline`."""
        reported = self.timeline(path)
        width = reported['bucket_ns']
        for series in reported['allocators']:
            of = series['allocator']
            got = counters[f'{of} allocations']
            self.assertEqual([round(value * width / 1e9) for _, value in got], series['allocations'] + [0])
            if series.get('live_bytes') is not None:
                self.assertEqual([0, *series['live_bytes']], [value for _, value in counters[f'{of} live']])
                self.assertEqual(reported['start_ns'], counters[f'{of} live'][0][0])
        return reported

    def same_slices(self, path, slices):
        """Checks that the slices (name, start, end or None, args) are the allocations in JSON lines."""
        lines = [json.loads(line) for line in export(path, 'jsonl').splitlines()]
        began = [row for row in lines if row.get('outcome', '').startswith('allocation')]
        self.assertEqual(sorted((row['time_ns'], row['bytes_allocated'], row['allocator']) for row in began),
                         sorted((begin, args['bytes'], args['allocator']) for _, begin, _, args in slices))
        # If a page free ends several allocations, its line names only one, so pages are not compared.
        self.assertEqual(sorted((row['time_ns'] - row['lifetime_ns'], row['time_ns']) for row in lines
                                if 'lifetime_ns' in row and row['allocator'] != 'pages'),
                         sorted((begin, begin + args['lifetime ns']) for _, begin, _, args in slices
                                if args['end'] == 'freed' and args['allocator'] != 'pages'))
        for _, begin, end, args in slices:
            if end is not None and args['end'] != 'live':
                self.assertEqual(end, begin + args['lifetime ns'])

    def check_perfetto(self, path):
        with open(export_file(path, 'perfetto'), 'rb') as file:
            trace = file.read()
        tracks, events = {}, []
        for number, packet in fields(trace):
            self.assertEqual(1, number)
            packet = dict(fields(packet))
            self.assertEqual(1, packet[10])
            if 60 in packet:
                track = dict(fields(packet[60]))
                self.assertNotIn(track[1], tracks)
                self.assertTrue(5 not in track or track[5] in tracks)
                tracks[track[1]] = track
            else:
                events.append((packet[8], fields(packet[11])))
        counters, open_slices, slices = collections.defaultdict(list), {}, []
        for time, event in events:
            one = dict(event)
            track = tracks[one[11]]
            if one[9] == 4:
                self.assertIn(8, track)
                self.assertTrue(not counters[track[2].decode()] or counters[track[2].decode()][-1][0] <= time)
                value = struct.unpack('<d', one[44])[0] if 44 in one else one[30] - (one[30] >> 63 << 64)
                counters[track[2].decode()].append((time, value))
            elif one[9] == 2:
                name, begin, args = open_slices.pop(one[11])  # slices of a track do not overlap
                slices.append((name, begin, time, args))
            else:
                args = {}
                for annotation in (dict(fields(value)) for number, value in event if number == 4):
                    args[annotation[10].decode()] = annotation[3] if 3 in annotation else annotation[6].decode()
                if one[9] == 3:
                    slices.append((one[23].decode(), time, None, args))
                else:
                    self.assertNotIn(one[11], open_slices)
                    open_slices[one[11]] = (one[23].decode(), time, args)
        self.assertEqual({}, open_slices)
        self.same_counters(path, counters)
        self.same_slices(path, slices)

    def test_perfetto(self):
        self.of_all(self.check_perfetto)

    @unittest.skipUnless(shutil.which('protoc'), 'needs protoc')
    def test_protoc(self):
        with open(export_file(data('amd64/trace.dat'), 'perfetto', '--events', '10'), 'rb') as file:
            done = subprocess.run(['protoc', '--decode_raw'], stdin=file, stdout=subprocess.PIPE, timeout=60, text=True)
        self.assertEqual(0, done.returncode)
        self.assertGreater(done.stdout.count('1 {'), 100)

    def check_chrome(self, path):
        document = json.loads(export(path, 'chrome'), parse_float=str)

        def nanoseconds(text):
            whole, part = text.split('.')
            return int(whole) * 1000 + int(part)
        counters, begun, slices = collections.defaultdict(list), {}, []
        for event in document['traceEvents']:
            self.assertLessEqual({'ph', 'pid', 'tid', 'name', 'ts'}, set(event))
            time = nanoseconds(event['ts'])
            if event['ph'] == 'C':
                (value,) = event['args'].values()
                counters[event['name']].append((time, float(value)))
            elif event['ph'] == 'b':
                begun[event['id']] = event
            elif event['ph'] == 'e':
                begin = begun.pop(event['id'])
                self.assertEqual([begin[key] for key in ('cat', 'name', 'pid', 'tid')],
                                 [event[key] for key in ('cat', 'name', 'pid', 'tid')])
                slices.append((event['name'], nanoseconds(begin['ts']), time, begin['args']))
            elif event['ph'] == 'i':
                slices.append((event['name'], time, None, event['args']))
            else:
                self.assertEqual(('M', True), (event['ph'], isinstance(event['args']['name'], str)))
        self.assertEqual({}, begun)
        self.same_counters(path, counters)
        self.same_slices(path, slices)

    def test_chrome(self):
        self.of_all(self.check_chrome)

    def same_calls(self, path, steps):
        """Checks that the steps (track, begin, end or instant, time_ns, name, args) are the calls in `graph`, with the
        same nesting."""
        calls = json.loads(run('graph', path, '--json', '--limit', '0').stdout)['calls']
        whole = [call for call in calls if call['began_ns'] is not None and call['ended_ns'] is not None]
        wanted, nesting = collections.Counter(), collections.Counter()
        for call in whole:
            slab = call['inside'].get('slab', {})
            wanted[call['tid'], call['function'], call['began_ns'], call['ended_ns'], call['cpu'], call['duration_ns'],
                   slab.get('bytes'), slab.get('live_bytes')] += 1
            around = call
            while around['parent'] is not None:
                around = calls[around['parent']]
                if around['began_ns'] is None or around['ended_ns'] is None:
                    continue
                nesting[around['function'], call['function'], call['began_ns']] += 1
                break
        got, nested, stacks, instants = collections.Counter(), collections.Counter(), collections.defaultdict(list), 0
        for track, kind, time, name, args in steps:
            stack = stacks[track]
            if kind == 'instant':
                instants += 1
            elif kind == 'begin':
                if stack:
                    nested[stack[-1][0], name, time] += 1
                stack.append((name, time, args))
            else:
                name, began, args = stack.pop()
                tid = 0 if track.startswith('<idle>') else int(track.rsplit(' ', 1)[1])
                got[tid, name, began, time, args['cpu'], args['duration ns'], args.get('slab bytes'), args.get('slab live bytes')] += 1
        self.assertFalse(any(stacks.values()))
        self.assertEqual(wanted, got)
        self.assertEqual(nesting, nested)
        self.assertEqual(len(calls) - len(whole), instants)
        self.assertGreater(len(nesting), 100)

    def test_calls_in_perfetto(self):
        for trace in 'amd64', 's390x':
            path = data(f'graph/{trace}.dat')
            with open(export_file(path, 'perfetto'), 'rb') as file:
                packets = [dict(fields(packet)) for _, packet in fields(file.read())]
            tracks = {track[1]: track for track in (dict(fields(packet[60])) for packet in packets if 60 in packet)}
            (process,) = [uuid for uuid, track in tracks.items() if 3 in track and dict(fields(track[3]))[6] == b'calls']
            steps = []
            for packet in (packet for packet in packets if 11 in packet):
                event = fields(packet[11])
                one = dict(event)
                track = tracks[one[11]]
                if track[5] != process:
                    continue
                args = {}
                for annotation in (dict(fields(value)) for number, value in event if number == 4):
                    args[annotation[10].decode()] = annotation[3] if 3 in annotation else annotation[6].decode()
                steps.append((track[2].decode(), {1: 'begin', 2: 'end', 3: 'instant'}[one[9]], packet[8],
                              one.get(23, b'').decode(), args))
            self.same_calls(path, steps)

    def test_calls_in_chrome(self):
        path = data('graph/amd64.dat')
        events = [event for event in json.loads(export(path, 'chrome'), parse_float=str)['traceEvents'] if event['pid'] == 3]
        names = {event['tid']: event['args']['name'] for event in events if event['name'] == 'thread_name'}
        self.same_calls(path, [(names[event['tid']], {'B': 'begin', 'E': 'end', 'i': 'instant'}[event['ph']],
                                int(event['ts'].replace('.', '')), event['name'], event['args'])
                               for event in events if event['ph'] != 'M'])
        done = run('export', path, '--to', 'chrome', '--calls', '5', '--pid', '117')
        self.assertIn('showing the first 5 of ', done.stderr)
        shown = [event for event in json.loads(done.stdout)['traceEvents'] if event['pid'] == 3]
        self.assertEqual({'trace-cmd 117'}, {event['args']['name'] for event in shown if event['name'] == 'thread_name'})
        self.assertEqual(5, sum(event['ph'] in 'Bi' for event in shown))
        self.assertNotIn('"calls"', export(path, 'chrome', '--calls', '0'))

    def test_arguments_of_calls(self):
        """The arguments must be those that the text of `graph` shows."""
        path, types = data('graph/args.7.2.dat'), ('--btf', data('graph/args.7.2.btf'))
        text = run('graph', path, '--args', '--limit', '0', *types).stdout
        wanted = set(re.findall(r'\|  +(\S.*?\))(?:;| \{)', text))
        for to in 'chrome', 'perfetto':
            with open(export_file(path, to, *types), 'rb') as file:
                content = file.read()
            if to == 'chrome':
                calls = [(event['name'], list(event['args'].items())) for event in json.loads(content)['traceEvents']
                         if event['ph'] == 'B']
            else:
                calls = []
                for event in (fields(dict(fields(packet))[11]) for _, packet in fields(content) if 11 in dict(fields(packet))):
                    one = dict(event)
                    notes = [dict(fields(value)) for number, value in event if number == 4]
                    if one[9] == 1 and one[22] == b'call':
                        calls.append((one[23].decode(), [(note[10].decode(), note[6].decode()) for note in notes if 6 in note]))
            self.assertGreater(len(calls), 1000)
            for name, arguments in calls:
                shown = ', '.join(f'{key[5:]}={value}' for key, value in arguments if key.startswith('args.'))
                self.assertTrue(wanted & {f'{name}({shown})', f'{name}({shown}, ...)'}, (name, shown))

    def test_largest(self):
        """The largest allocations must be kept, with a message about the others."""
        path = data('amd64/trace.dat')
        done = run('export', path, '--to', 'chrome', '--events', '50')
        self.assertIn('showing the 50 largest of ', done.stderr)
        sizes = [event['args']['bytes'] for event in json.loads(done.stdout)['traceEvents'] if event['ph'] in 'bi']
        lines = [json.loads(line) for line in export(path, 'jsonl').splitlines()]
        all_sizes = sorted((row['bytes_allocated'] for row in lines if row.get('outcome', '').startswith('allocation')),
                           reverse=True)
        self.assertEqual(all_sizes[:50], sorted(sizes, reverse=True))


    def busy_pages(self):
        """Returns a trace of one task that allocates every 100 µs: single pages, and every hundredth time a block of 16
        pages. Every third single page is freed after 3 µs. All others live for 30 ms or more."""
        path = place('pages')
        if os.path.exists(path):
            return path
        lines, pfn, now = [], 4096, 0

        def tell(at, name, frame, order):
            lines.append((at, f'            busy-7     [000] ..... 10.{at:06}: mm_page_{name}: page=(nil) pfn=0x{frame:x} '
                              f'order={order}' + (' migratetype=0 gfp_flags=GFP_KERNEL' if name == 'alloc' else '') + '\n'))
        for number in range(1200):
            order = 4 if number % 100 == 0 else 0
            tell(now, 'alloc', pfn, order)
            tell(now + (3 if order == 0 and number % 3 == 0 else 30_000 + number), 'free', pfn, order)
            pfn, now = pfn + 64, now + 100
        with open(path, 'w', encoding='ascii') as file:
            file.writelines(line for _, line in sorted(lines))
        return path

    def test_lanes_have_the_largest_allocations(self):
        path = self.busy_pages()
        done = run('export', path, '--to', 'chrome')
        events = json.loads(done.stdout)['traceEvents']
        (name,) = [event['args']['name'] for event in events if event['ph'] == 'M' and 'largest' in event['args']['name']]
        slices = [event['args'] for event in events if event['ph'] == 'b']
        instants = [event['args'] for event in events if event['ph'] == 'i']
        self.assertEqual(1200, len(slices) + len(instants))
        self.assertEqual(f'largest allocations: {len(slices):,} slices, {len(instants):,} instants', name)
        self.assertIn(f'{len(instants):,} allocations are shown as instants', done.stderr)
        self.assertGreater(len(instants), 100)
        weight = [[one['bytes'] * one['lifetime ns'] for one in of] for of in (slices, instants)]
        self.assertEqual(12, sum(one['bytes'] == 16 * 4096 for one in slices))  # the largest allocations are all slices
        self.assertLess(max(weight[1]), max(weight[0]))
        # Each instant must overlap with at least 32 slices, because there are 32 lanes. Each of these slices must have
        # at least the weight (bytes * lifetime) of the instant.
        whole = [(event['ts'], event['args']) for event in events if event['ph'] in 'bi']
        spans = [(round(ts * 1000), round(ts * 1000) + args['lifetime ns'], args['bytes'] * args['lifetime ns'])
                 for ts, args in whole]
        kept = [span for span, event in zip(spans, (event for event in events if event['ph'] in 'bi'))
                if event['ph'] == 'b']
        for span, event in zip(spans, (event for event in events if event['ph'] in 'bi')):
            if event['ph'] == 'i':
                heavier = sum(begin < span[1] and span[0] < end and heavy >= span[2] for begin, end, heavy in kept)
                self.assertGreaterEqual(heavier, 32)

    def test_all_tracks_are_used(self):
        """Tasks whose allocations were displaced by larger ones do not appear."""
        events = json.loads(export(data('amd64/trace.dat'), 'chrome', '--events', '20'))['traceEvents']
        named = {event['tid'] for event in events if event['ph'] == 'M' and event['name'] == 'thread_name'}
        self.assertEqual(named, {event['tid'] for event in events if event['ph'] in 'bei'})
        with open(export_file(data('amd64/trace.dat'), 'perfetto', '--events', '20'), 'rb') as file:
            packets = [dict(fields(packet)) for _, packet in fields(file.read())]
        tracks = [dict(fields(packet[60])) for packet in packets if 60 in packet]
        used = {dict(fields(packet[11]))[11] for packet in packets if 11 in packet}
        used |= {track[5] for track in tracks if track[1] in used}  # parent tracks of used lanes
        self.assertEqual(set(), {track[1] for track in tracks if 3 not in track} - used)


if __name__ == '__main__':
    unittest.main()
