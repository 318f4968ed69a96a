#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the nodes of memory with a kernel that has two NUMA nodes, in a virtual machine.
  nodes_test.py KERNEL"""
import collections
import csv
import io
import json
import os
import re
import struct
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'support')]
from kmemtrace import report, run  # noqa: E402
from machine import run_script  # noqa: E402

KERNEL = sys.argv.pop()
PAGE = 4096


class Nodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        run_script('nodes.sh', cls.out, '--kernel', KERNEL, '--nodes', '2', '--cpus', '2', '--memory', '1536',
                   '--timeout', '600')
        cls.trace = os.path.join(cls.out, 'nodes.kmt')

    def read(self, name, mode='r'):
        with open(os.path.join(self.out, name), mode) as file:
            return file.read()

    def rows(self, allocator, *keys):
        found = report(self.trace, '--by', ','.join(keys))['groups'].get(allocator, {'rows': []})['rows']
        return {tuple(row['keys'][key] for key in keys): row for row in found}

    def zones(self):
        """Returns the node of each zone with memory, and its page frames."""
        zones = []
        for text in re.split(r'^Node ', self.read('zoneinfo'), flags=re.M)[1:]:
            numbers = {name: int(value) for name, value in re.findall(r'(present|spanned|start_pfn:) +(\d+)', text)}
            if numbers.get('present'):
                first = numbers['start_pfn:']
                zones.append((int(text.split(',')[0]), range(first, first + numbers['spanned'])))
        return zones

    def node_of_frame(self, frame):
        [node] = {node for node, frames in self.zones_ if frame in frames}
        return node

    def test_each_page_and_object_is_on_the_node_of_its_address(self):
        self.zones_ = self.zones()
        self.assertEqual({0, 1}, {node for node, _ in self.zones_})
        headers = self.read('kcore', 'rb')
        segments = []
        for at in range(struct.unpack_from('<H', headers, 56)[0]):
            kind, _, _, virtual, physical, size = struct.unpack_from('<IIQQQQ', headers, 64 + at * 56)
            if kind == 1 and physical not in (0, 2 ** 64 - 1):
                segments.append((virtual, physical, size))

        def node_of_object(address):
            [(virtual, physical)] = [segment[:2] for segment in segments if 0 <= address - segment[0] < segment[2]]
            return self.node_of_frame((address - virtual + physical) // PAGE)

        expected = collections.Counter()
        for event in csv.DictReader(io.StringIO(run('export', '--to', 'csv', '-o', '-', self.trace).stdout)):
            if event['outcome'] not in ('allocation', 'allocation-after-early-free'):
                continue
            if event['allocator'] == 'pages':
                expected['pages', self.node_of_frame(int(event['address'], 0))] += 1
            elif event['allocator'] == 'slab':
                expected['slab', node_of_object(int(event['address'], 0))] += 1
        for allocator in ('slab', 'pages'):
            rows = self.rows(allocator, 'memory-node')
            self.assertEqual({node: count for (of, node), count in expected.items() if of == allocator},
                             {node: row['allocations'] for (node,), row in rows.items()})
            self.assertGreater(min(row['allocations'] for row in rows.values()), 1000)

    def test_cpus_get_memory_of_their_own_node(self):
        # SLUB also uses partial slabs of other nodes (get_any_partial() in mm/slub.c).
        for allocator, least in (('slab', 0.6), ('pages', 0.9)):
            rows = self.rows(allocator, 'cpu', 'memory-node')
            for cpu in (0, 1):
                of_cpu = {node: row['allocations'] for (of, node), row in rows.items() if of == cpu}
                self.assertGreater(of_cpu[cpu] / sum(of_cpu.values()), least, f'{allocator} on CPU {cpu}: {of_cpu}')

    def test_pages_agree_with_the_counters_of_the_nodes(self):
        """numa_hit and numa_miss count allocations of pages by the node of the memory, with the recorder's own."""
        rows = self.rows('pages', 'memory-node')
        for node in (0, 1):
            before, after = (dict(re.findall(r'^(numa_\w+) (\d+)', self.read(f'node{node}.{when}'), re.M))
                             for when in ('before', 'after'))
            counted = sum(int(after[name]) - int(before[name]) for name in ('numa_hit', 'numa_miss'))
            recorded = rows[(node,)]['allocations']
            self.assertLess(abs(recorded - counted), counted * 0.1, f'node {node}: {recorded}, counted {counted}')

    def test_nodes_of_other_memory_are_unknown(self):
        for allocator in ('vmalloc', 'percpu'):
            self.assertLessEqual(set(self.rows(allocator, 'memory-node')), {(None,)}, allocator)

    def test_the_snapshot_shows_each_node(self):
        nodes = json.loads(self.read('snapshot.json'))['nodes']
        self.assertEqual([0, 1], [node['node'] for node in nodes])
        for node in nodes:
            expected = {name: int(value) * (1024 if unit else 1) for name, value, unit in
                        re.findall(r'^Node \d+ (\S+): +(\d+)( kB)?$', self.read(f'node{node["node"]}.meminfo'), re.M)}
            self.assertEqual(set(expected), set(node['meminfo']))
            for name in ('MemTotal', 'HugePages_Total', 'SecPageTables'):
                self.assertEqual(expected.get(name), node['meminfo'].get(name), name)
            self.assertAlmostEqual(expected['Slab'], node['meminfo']['Slab'], delta=expected['Slab'] * 0.1)
        text = self.read('snapshot.text')
        self.assertIn('Memory by NUMA node', text)
        self.assertRegex(text, r'\n +node 1 ')

    def test_the_difference_shows_the_node_that_grew(self):
        files = [os.path.join(self.out, f'{name}.kmt') for name in ('small', 'large')]
        changes = {one['name']: one['b'] - one['a']
                   for one in json.loads(run('diff', *files, '--json', '--limit', '0').stdout)['nodes']}
        self.assertAlmostEqual(64 << 20, changes['node 1 FilePages'], delta=2 << 20)
        self.assertLess(abs(changes.get('node 0 FilePages', 0)), 2 << 20)
        self.assertAlmostEqual(64 << 20, changes['node 1 MemUsed'], delta=8 << 20)
        self.assertIn('node 1 FilePages', run('diff', *files).stdout)


if __name__ == '__main__':
    unittest.main()
