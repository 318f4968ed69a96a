#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that the data of an HTML page adds up to the numbers of `report`, over the whole trace and over parts of
its time."""
import base64
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import planted_trace  # noqa: E402
import ring_writer  # noqa: E402
import tracedat  # noqa: E402

PROGRAM = os.environ['KMEMTRACE']
DATA = os.environ['KMEMTRACE_DATA']
TRACES = ('amd64/trace.dat', 'amd64-5.10/trace.dat', 'amd64-stacks/trace.dat', 'arm64/trace.dat', 'i386/trace.dat',
          's390x/trace.dat', 's390x/trace.lost.dat', 's390x/trace.stack.dat')
ALLOCATORS = ('slab', 'percpu', 'vmalloc', 'pages')
CLASSES = ('left_live', 'freed_inside', 'freed_older', 'throughout')
COUNTS = ('allocations', 'requested', 'allocated', 'frees', 'freed', 'replacements', 'replaced')


def page_of(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'out.html')
        subprocess.run([PROGRAM, 'report', '--html', path, *arguments], check=True, stderr=subprocess.PIPE)
        with open(path, encoding='utf-8') as file:
            return file.read()


def data_of(page):
    packed, = re.findall(r'<script id="kmemtrace-data"[^>]*>([^<]*)</script>', page)
    return json.loads(gzip.decompress(base64.b64decode(packed, validate=True)))


def report(*arguments):
    return json.loads(subprocess.run([PROGRAM, 'report', '--json', '--limit', '0', *arguments], check=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout)


def graph(*arguments):
    return json.loads(subprocess.run([PROGRAM, 'graph', '--json', '--args', '--ret', '--limit', '0', *arguments], check=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout)


def changes_of(explore):
    """Yields each entry of `changes` as (group, bucket, {count: value})."""
    columns = explore['changes']
    group = bucket = 0
    last = None
    for i, (step, by) in enumerate(zip(columns['group'], columns['bucket'])):
        group += step
        bucket = bucket + by if group == last else by
        last = group
        yield group, bucket, {name: columns[name][i] for name in COUNTS}


def summed(changes, key):
    sums = {}
    for group, bucket, counts in changes:
        total = sums.setdefault(key(group, bucket), dict.fromkeys(COUNTS, 0))
        for name in COUNTS:
            total[name] += counts[name]
    return sums


def classes_of_groups(explore, changes, first, last):
    """Returns the bytes of each group by class, for a range of buckets of `lives`."""
    groups = [[0] * len(CLASSES) for _ in explore['groups']['allocator']]
    for group, bucket, counts in changes:
        left_live, freed_inside, _, throughout = range(len(CLASSES))
        step = bucket // explore['lives_coarse']
        if step < first:
            groups[group][throughout] += counts['allocated'] - counts['freed']
        elif step < last:
            groups[group][left_live] += counts['allocated'] - counts['freed']
            groups[group][freed_inside] += counts['freed']
    lives = explore['lives']
    group = 0
    for by, began, ended, size in zip(lives['group'], lives['began'], lives['ended'], lives['bytes']):
        group += by
        if began < first <= ended < last:
            for at, sign in enumerate((1, -1, 1, -1)):
                groups[group][at] += sign * size
    return groups


def sum_of_classes(groups, explore, key, allocator):
    sums = {}
    for group, classes in enumerate(groups):
        if explore['groups']['allocator'][group] == allocator:
            before = sums.get(key(group), [0] * len(CLASSES))
            sums[key(group)] = [one + other for one, other in zip(before, classes)]
    return sums


class Html(unittest.TestCase):
    maxDiff = None

    @staticmethod
    def traces():
        for name in TRACES:
            trace = os.path.join(DATA, name)
            explore = data_of(page_of(trace))['traces'][0]['explore']
            yield trace, explore, list(changes_of(explore))

    def test_totals(self):
        for trace, explore, changes in self.traces():
            expected = report(trace)
            groups = explore['groups']
            sums = summed(changes, lambda group, _: groups['allocator'][group])
            for number, name in enumerate(ALLOCATORS):
                totals = expected[name]
                found = sums.get(number, dict.fromkeys(COUNTS, 0))
                self.assertEqual(found['allocations'], totals['allocations'])
                self.assertEqual(found['frees'], totals['lifetime']['count'])
                live = found['allocations'] - found['frees'] - found['replacements']
                self.assertEqual(live, totals.get('live_allocations', live))
                if totals['bytes_allocated'] is not None:
                    self.assertEqual(found['allocated'], totals['bytes_allocated'])
                    self.assertEqual(found['freed'] - found['replaced'], totals['bytes_freed'])
                    self.assertEqual(found['allocated'] - found['freed'], totals['live_bytes'])
                frees = explore['lifetimes']
                self.assertEqual(sum(count for of, count in zip(frees['allocator'], frees['frees']) if of == number),
                                 totals['lifetime']['count'])
                frees = explore['cpus']
                crossing = sum(count for of, count, one, other in
                               zip(frees['allocator'], frees['frees'], frees['from'], frees['to'])
                               if of == number and one != other)
                self.assertEqual(crossing, totals.get('cross_cpu_frees', crossing))
            sizes = explore['sizes']
            self.assertEqual(sum(sizes['allocations']), expected['slab']['allocations'])
            for of_each, total in (('requested', 'bytes_requested'), ('allocated', 'bytes_allocated')):
                self.assertEqual(sum(size * count for size, count in zip(sizes[of_each], sizes['allocations'])),
                                 expected['slab'][total])
            self.assertEqual(explore['left_out']['groups'], 0)

    def test_call_sites_caches_and_tasks(self):
        for trace, explore, changes in self.traces():
            for key, column in (('call-site', 'site'), ('cache', 'cache'), ('comm', 'task')):
                rows = report(trace, '--by', key)['groups'].get('slab', {'rows': []})['rows']
                expected = {}
                for row in rows:
                    value = row['keys'][key]
                    name = value['symbol'] if key == 'call-site' else 'unknown' if value is None else value
                    entry = expected.setdefault(name, [0, 0])  # two call sites may have the same name
                    entry[0] += row['allocations']
                    entry[1] += row['bytes_allocated']
                groups = explore['groups']
                slab = (change for change in changes if groups['allocator'][change[0]] == 0)
                found = summed(slab, lambda group, _, names=groups[column]: explore['strings'][names[group]])
                self.assertEqual({name: [counts['allocations'], counts['allocated']] for name, counts in found.items()},
                                 {name: entry for name, entry in expected.items() if entry[0]}, (trace, key))

    def test_parts_of_the_time(self):
        """The allocations in a range of buckets must equal those in a report of the same time."""
        for trace, explore, changes in self.traces():
            start, width, buckets = explore['start_ns'], explore['bucket_ns'], explore['buckets']
            for first, last in ((0, buckets // 3), (buckets // 3, buckets // 2), (buckets // 2, buckets)):
                since = f'{(first * width) // 10**9}.{(first * width) % 10**9:09}'
                until = f'{(last * width) // 10**9}.{(last * width) % 10**9:09}'
                expected = report(trace, '--time', f'+{since},+{until}')['slab']
                found = dict.fromkeys(COUNTS, 0)
                for group, bucket, counts in changes:
                    if first <= bucket < last and explore['groups']['allocator'][group] == 0:
                        for name in COUNTS:
                            found[name] += counts[name]
                # An event exactly on the edge belongs to the next bucket, but is in the reports of both ranges.
                self.assertLessEqual(abs(found['allocations'] - expected['allocations']), 1, (start, first, last))
                self.assertLessEqual(abs(found['allocated'] - expected['bytes_allocated']), 8192)

    def test_memory_of_a_window(self):
        """The classes of `report --window` must follow from `lives` and `changes`, in total and by call site."""
        compared = 0
        for trace, explore, changes in self.traces():
            width = explore['bucket_ns'] * explore['lives_coarse']
            steps = -(-explore['buckets'] // explore['lives_coarse'])
            for first, last in ((steps // 4, steps // 2), (steps // 2, steps // 2 + 1), (steps // 3, steps)):
                since, until = (f'+{step * width // 10**9}.{step * width % 10**9:09}' for step in (first, last))
                expected = report(trace, '--window', f'{since},{until}')
                windows = expected['window']
                groups = classes_of_groups(explore, changes, first, last)
                for number, name in enumerate(ALLOCATORS):
                    if name not in windows:
                        continue
                    compared += 1
                    self.assertEqual(sum_of_classes(groups, explore, lambda group: number, number).get(number, [0] * 4),
                                     [windows[name][kind]['bytes'] for kind in CLASSES], (trace, first, last, name))
                strings = explore['strings']
                sites = sum_of_classes(groups, explore, lambda group: strings[explore['groups']['site'][group]], 0)
                wanted = {}
                for row in expected['groups'].get('slab', {'rows': []})['rows']:
                    sums = wanted.setdefault(row['keys']['call-site']['symbol'], [0] * 4)
                    for at, kind in enumerate(CLASSES):
                        sums[at] += row['window'][kind]['bytes']
                self.assertEqual({site: sums for site, sums in sites.items() if any(sums)},
                                 {site: sums for site, sums in wanted.items() if any(sums)}, (trace, first, last))
        self.assertGreater(compared, 20)

    def test_stacks_end_at_the_allocation(self):
        explore = data_of(page_of(os.path.join(DATA, 'amd64-stacks/trace.dat')))['traces'][0]['explore']
        self.assertTrue(explore['has_stacks'])
        names = [explore['strings'][frame] for frame in explore['frames']]
        stacks = [[names[frame] for frame in stack] for stack in explore['stacks']]
        getxattr = next(stack for stack in stacks if 'do_getxattr' in stack)
        self.assertLess(getxattr.index('do_syscall_64'), getxattr.index('do_getxattr'))
        self.assertFalse(any('trace_event_raw_event' in name for stack in stacks for name in stack))

    def test_two_traces(self):
        data = data_of(page_of('--diff', os.path.join(DATA, 'amd64/trace.dat'), os.path.join(DATA, 'amd64-5.10/trace.dat')))
        self.assertEqual(len(data['traces']), 2)
        self.assertEqual(data['diff']['schema'], 'kmemtrace.diff/1')
        self.assertEqual([trace['report']['trace']['kernel'] for trace in data['traces']],
                         [data['diff'][side]['kernel'] for side in 'ab'])

    def test_one_trace_of_two_has_stacks(self):
        data = data_of(page_of('--diff', os.path.join(DATA, 'amd64-stacks/trace.dat'), os.path.join(DATA, 'amd64/trace.dat')))
        self.assertEqual([trace['explore']['has_stacks'] for trace in data['traces']], [False, False])
        depths = {len(stack) for trace in data['traces'] for stack in trace['explore']['stacks']}
        self.assertEqual(depths, {1})

    def test_stacks_that_start_late(self):
        with tempfile.TemporaryDirectory() as folder:
            late = os.path.join(folder, 'late.dat')
            planted_trace.write(planted_trace.plant(os.path.join(DATA, 'amd64/trace.dat'), 11, planted_trace.MANY,
                                                    stacks=planted_trace.LATE), late)
            explore, = [trace['explore'] for trace in data_of(page_of(late))['traces']]
            self.assertTrue(explore['has_stacks'])
            self.assertGreater(max(map(len, explore['stacks'])), 1)
            both = data_of(page_of('--diff', late, os.path.join(DATA, 'amd64-stacks/trace.dat')))
            self.assertEqual([trace['explore']['has_stacks'] for trace in both['traces']], [True, True])
            leaks = subprocess.run([PROGRAM, 'leaks', '--json', late], stdout=subprocess.PIPE, check=False).stdout
            self.assertEqual(json.loads(leaks)['by'], ['caller', 'stack'])

    def test_calls_equal_those_of_graph(self):
        for name, *options in (('amd64',), ('s390x',), ('args.7.2', '--btf', os.path.join(DATA, 'graph/args.7.2.btf'))):
            trace = os.path.join(DATA, f'graph/{name}.dat')
            page, = data_of(page_of(trace, *options))['traces']
            found = page['calls']
            expected = graph(trace, *options)
            for key in ('calls_traced', 'calls_selected', 'return_values', 'arguments', 'types', 'functions',
                        'functions_total', 'outside', 'findings'):
                self.assertEqual(found['graph'][key], expected[key], (name, key))
            self.assertEqual(len(expected['functions']), expected['functions_total'])
            self.assertEqual(page['report'], {**report(trace), 'groups': page['report']['groups']}, name)

            # A page has only some of the calls: the first ones and the slowest.
            calls = expected['calls']
            timed = [at for at, call in enumerate(calls) if call['duration_ns'] is not None]
            slowest = sorted(timed, key=lambda at, of=calls: (-of[at]['duration_ns'], at))[:found['slowest']]
            held = sorted({*range(min(found['first'], len(calls))), *slowest})
            self.assertEqual(len(held) < len(calls), name in ('amd64', 'args.7.2'), name)
            place = {at: i for i, at in enumerate(held)}
            wanted = [{**calls[at], 'parent': place.get(calls[at]['parent'])} for at in held]
            inside = {calls[at]['parent'] for at in range(len(calls)) if at not in place}
            for at, call in zip(held, wanted):
                call['inside_hidden'] = at in inside
            for call in found['graph']['calls']:
                texts, result = call.pop('argument_texts'), call.pop('result_text')
                self.assertEqual(texts and list(texts), call['arguments'] and list(call['arguments']))
                self.assertTrue(result or call['result'] is None)
            self.assertEqual(found['graph']['calls'], wanted, name)
            if options:
                self.assertTrue(any(call['arguments'] for call in wanted))

    def test_calls_that_start_late(self):
        recorder = ring_writer.Recorder(os.path.join(DATA, 'graph/amd64.dat'), cpus=1)
        begin, site, function = 10**10, 0xffffffff81000010, 0xffffffff81200000
        for at in range(planted_trace.MANY):
            recorder.add(begin + at * 1000, 0, 'kfree', call_site=site, ptr=0xffff888000000000 + at * 64, tid=7)
        late = begin + 10**9
        recorder.add(late, 0, 'funcgraph_entry', func=function, depth=0, tid=7)
        recorder.add(late + 100, 0, 'kmalloc', call_site=site, ptr=0xffff888000000000, bytes_req=90, bytes_alloc=96, tid=7)
        recorder.add(late + 500, 0, 'funcgraph_exit', func=function, depth=0, calltime=late, rettime=late + 450, tid=7)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'late.dat')
            with open(path, 'wb') as file:
                file.write(tracedat.to_v7(recorder.finished())[0])
            trace, = data_of(page_of(path))['traces']
        call, = trace['calls']['graph']['calls']
        self.assertEqual((call['began_ns'], call['duration_ns'], call['inside']['slab']['bytes']), (late, 450, 96))
        self.assertEqual(trace['report']['slab']['allocations'], 1)
        self.assertEqual(trace['report']['slab']['frees'], planted_trace.MANY)

    def test_traces_without_calls(self):
        self.assertIsNone(data_of(page_of(os.path.join(DATA, 'amd64/trace.dat')))['traces'][0]['calls'])

    def test_a_page_needs_no_other_files(self):
        page = page_of(os.path.join(DATA, 's390x/trace.dat'))
        self.assertNotIn('@KMEMTRACE_DATA@', page)
        self.assertIn("default-src 'none'", page)
        for reference in re.findall(r'(?:src|href)\s*=\s*["\']?([^"\'>\s]+)', page):
            self.assertTrue(reference.startswith(('#', 'data:')), reference)
        self.assertLess(len(page), 1 << 20)


if __name__ == '__main__':
    unittest.main()
