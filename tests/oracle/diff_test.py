#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares `diff --json` with the differences of two `report --json`. Also checks values that must not change."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
from kmemtrace import data, report, run  # noqa: E402

# The columns that are sums, and their keys in the JSON of `report`.
SUMS = {'hits': 'allocations', 'requested': 'bytes_requested', 'allocated': 'bytes_allocated', 'frees': 'frees',
        'live': 'live_allocations', 'live-bytes': 'live_bytes', 'pingpong': 'cross_cpu_frees',
        'failed': 'failed_allocations'}
LEVELS = ('live', 'live-bytes')
AMD64, OLDER, S390X = 'amd64/trace.dat', 'amd64-5.10/trace.dat', 's390x/trace.dat'


def diff(a, b, *options):
    done = run('diff', a, b, '--json', '--limit', '0', *options)
    if done.returncode != 0:
        raise AssertionError(f'diff {a} {b} {" ".join(options)}: exit {done.returncode}: {done.stderr}')
    return json.loads(done.stdout)


def function(symbol):
    return re.sub(r'(\.(part|constprop|isra|cold|llvm|lto_priv|localalias)(\.\d+)?)+$', '', symbol.split('+0x')[0])


def name_of(key, value):
    """Returns a name for the value of a key. The name of a group must be the same on all kernels, so it has no
    addresses."""
    if key in ('call-site', 'caller'):
        return function(value['symbol'])
    if key in ('task', 'process'):
        return value['comm']
    if key == 'stack':
        return [function(frame['symbol']) for frame in value]
    if key == 'gfp':
        return value['text']
    return value['name'] if key == 'migrate-type' else value


def sums(result, allocator):
    """Returns {name: {column: sum}}. Rows with the same name are added up."""
    groups = collections.defaultdict(collections.Counter)
    for row in result['groups'].get(allocator, {'rows': []})['rows']:
        name = json.dumps([name_of(key, value) for key, value in row['keys'].items()])
        for column, key in SUMS.items():
            groups[name][column] += row[key] or 0
    return groups


def allocates(result, allocator):
    return result[allocator]['allocations'] + result[allocator]['failed_allocations'] > 0


class Differences(unittest.TestCase):
    def check(self, a, b, *options, divisor=lambda result: 1):
        a, b = data(a), data(b)
        by = [option for option in options if not option.startswith(('--per', '--absolute', 'kmalloc'))]
        reports = [report(path, *by) for path in (a, b)]
        divisors = [divisor(result) for result in reports]
        got = diff(a, b, *options)
        checked = 0
        for allocator in ('slab', 'pages', 'percpu', 'vmalloc'):
            old, new = (sums(result, allocator) for result in reports)
            rows = got['groups'].get(allocator, {'rows': []})['rows']
            found = {json.dumps(list(row['keys'].values())): row for row in rows}
            self.assertEqual(len(rows), len(found))
            self.assertEqual(set(old) | set(new), set(found))
            for name, row in found.items():
                self.assertEqual((name in old, name in new), (row['in_a'], row['in_b']), name)
                for column in SUMS:
                    if not all(allocates(result, allocator) for result in reports):
                        self.assertEqual('unknown', row['columns'][column]['verdict'])
                        continue
                    by_a, by_b = (1, 1) if column in LEVELS else divisors
                    want = old[name][column] / by_a, new[name][column] / by_b
                    change = row['columns'][column]
                    self.assertAlmostEqual(want[0], change['a'], msg=(name, column))
                    self.assertAlmostEqual(want[1], change['b'], msg=(name, column))
                    self.assertAlmostEqual(want[1] - want[0], change['difference'], msg=(name, column))
                    if want[0]:
                        self.assertAlmostEqual((want[1] / want[0] - 1) * 100, change['percent'], msg=(name, column))
                    checked += 1
            for column in ('hits', 'allocated', 'live-bytes'):
                total = got['totals'].get(allocator)
                if total and total['in_a'] and rows:
                    self.assertAlmostEqual(total['columns'][column]['a'],
                                           sum(row['columns'][column]['a'] for row in rows), msg=column)
        self.assertGreater(checked, 0)

    def test_columns_are_described(self):
        """The columns must have the titles of the text output."""
        path = data('amd64-stacks/trace.dat')
        columns = diff(path, path)['columns']
        self.assertEqual(set(columns), set(diff(path, path)['totals']['slab']['columns']))
        self.assertEqual(({'count', 'bytes', 'percent', 'ns'}), {column['unit'] for column in columns.values()})
        for key, column in columns.items():
            self.assertIn(f': change of {column["title"]}', run('diff', path, path, '--sort', key, '--absolute').stdout)

    def test_call_sites(self):
        self.check(OLDER, AMD64, '--absolute')

    def test_byte_orders(self):
        self.check(S390X, AMD64, '--absolute')

    def test_word_sizes(self):
        self.check('i386/trace.dat', 'arm64/trace.dat', '--absolute', '--by', 'comm')

    def test_a_second(self):
        self.check(OLDER, AMD64, divisor=lambda result: result['trace']['recorded_ns'] / 1e9)

    def test_per_event(self):
        self.check(OLDER, AMD64, '--per', 'kmalloc', divisor=lambda result: result['events']['kmalloc'])

    def test_other_keys(self):
        for keys in ('cache', 'size', 'task', 'order', 'gfp', 'migrate-type', 'cpu', 'cache,call-site'):
            with self.subTest(keys):
                self.check(OLDER, AMD64, '--absolute', '--by', keys)

    def test_stacks(self):
        self.check('s390x/trace.stack.dat', 'amd64-stacks/trace.dat', '--absolute', '--by', 'stack')

    def test_pages_missing_in_one_trace(self):
        got = diff(data(AMD64), data('s390x/trace.stack.dat'), '--by', 'order')
        self.assertEqual((True, False), (got['totals']['pages']['in_a'], got['totals']['pages']['in_b']))
        table = got['groups']['pages']
        self.assertEqual((0, table['total']), (table['changed'], table['unknown']))
        for row in table['rows']:
            self.assertEqual((True, False), (row['in_a'], row['in_b']))
            self.assertIsNone(row['columns']['hits']['b'])

    def test_exact_symbols(self):
        got = diff(data(AMD64), data(AMD64), '--exact')['groups']['slab']
        self.assertEqual({site['symbol'] for site in report(data(AMD64))['call_sites']},
                         {row['keys']['call-site'] for row in got['rows']})

    def test_filters_apply_to_both_traces_but_not_to_divisors(self):
        whole, part = (diff(data(OLDER), data(AMD64), '--per', 'kmalloc', *options)
                       for options in ((), ('--call-site', 'alloc_inode*')))
        self.assertEqual(whole['basis'], part['basis'])
        rows = part['groups']['slab']['rows']
        self.assertEqual(['alloc_inode'], [row['keys']['call-site'] for row in rows])
        same, = [row for row in whole['groups']['slab']['rows'] if row['keys']['call-site'] == 'alloc_inode']
        self.assertEqual(same['columns']['hits'], rows[0]['columns']['hits'])


class Nothing(unittest.TestCase):
    """Traces that differ only in length or in noise must have no changes."""

    def test_changes_in_identical_traces(self):
        for path in (AMD64, OLDER, S390X, 's390x/trace.lost.dat', 'amd64-stacks/trace.dat'):
            got = diff(data(path), data(path), '--threshold', '0', '--min-count', '0')
            for table in got['groups'].values():
                self.assertEqual(0, table['changed'])
                for row in table['rows']:
                    for column in row['columns'].values():
                        self.assertIn(column['difference'], (0, None))

    def test_changes_in_a_longer_trace_of_the_same_work(self):
        generate = os.path.join(HERE, '..', '..', 'bench', 'generate_trace.py')
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for events in (100_000, 200_000):
                paths.append(os.path.join(folder, f'{events}.dat'))
                subprocess.run([sys.executable, '-B', generate, '--events', str(events), '--trace-dat', paths[-1],
                                '--from', data(AMD64)], check=True, stdout=subprocess.DEVNULL)
            for options in ((), ('--per', 'kmalloc'), ('--per', 'kmem:mm_page_alloc')):
                with self.subTest(options):
                    got = diff(*paths, *options)
                    self.assertEqual('event' if options else 'second', got['basis']['per'])
                    self.assertGreater(got['basis']['b'] / got['basis']['a'], 1.5)
                    for allocator, table in got['groups'].items():
                        self.assertEqual((allocator, 0), (allocator, table['changed']))
            absolute = diff(*paths, '--absolute')['groups']['slab']
            self.assertGreater(absolute['changed'], 10)


class Names(unittest.TestCase):
    """The names of migrate types must match the numbers in trace-cmd's text."""

    def test_migrate_types(self):
        text = subprocess.run(['trace-cmd', 'report', '-t', '-R', data(AMD64)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True, encoding='utf-8', errors='replace').stdout
        numbers = collections.Counter(int(number, 0) for number in re.findall(r' mm_page_alloc:.* migratetype=(\w+)', text))
        names = ('Unmovable', 'Movable', 'Reclaimable', 'HighAtomic')  # from /proc/pagetypeinfo of that kernel
        rows = report(data(AMD64), '--by', 'migrate-type')['groups']['pages']['rows']
        self.assertEqual({names[number]: count for number, count in numbers.items()},
                         {row['keys']['migrate-type']['name']: row['allocations'] + row['failed_allocations']
                          for row in rows})


if __name__ == '__main__':
    unittest.main()
