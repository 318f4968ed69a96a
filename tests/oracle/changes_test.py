#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests small generated traces of systems that change: successive modules at the same address, successive processes
with the same ID, a CPU without events, and notes that are far too long."""
import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
import kmt_writer  # noqa: E402
import tracedat  # noqa: E402
from kmemtrace import data, report, run  # noqa: E402

SITE = 0xffffffffc0481010


class Changes(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), 'made.kmt')
        self.trace = tracedat.read(data('amd64/trace.dat'))

    def write(self, count=4, **facts):
        """Writes `count` kmallocs of task 300 on each of two CPUs, at the ticks 1001, 1002 …"""
        number, fields = tracedat.formats(self.trace)['kmalloc']
        size = max(field.offset + field.size for field in fields.values())
        records = []
        for place in range(count):
            record = bytearray(size)
            record[:2] = number.to_bytes(2, 'little')
            for name, value in (('call_site', SITE), ('ptr', 0xffff888000000000 + 64 * place), ('bytes_req', 64),
                                ('bytes_alloc', 64)):
                at = slice(fields[name].offset, fields[name].offset + fields[name].size)
                record[at] = value.to_bytes(fields[name].size, 'little')
            records.append(bytes(record[:size]))
        with open(self.path, 'wb') as file:
            file.write(kmt_writer.file(self.trace, kmt_writer.literals(records, tid=300), **facts))

    def sites(self):
        return {row['keys']['call-site']['symbol']: (row['keys']['call-site']['address'], row['allocations'])
                for row in report(self.path, '--by', 'call-site')['groups']['slab']['rows']}

    def test_two_modules_at_one_address_have_two_names(self):
        self.write(**{'note:module_changes': '+ 900 800 one ffffffffc0481000 4096 -\n'
                                             'ffffffffc0481000 t first\t[one]\n'
                                             '- 1003 1003 one\n'
                                             '+ 1003 1003 two ffffffffc0480000 8192 -\n'
                                             'ffffffffc0481008 t second\t[two]\n'})
        self.assertEqual({'first+0x10 [one]': (hex(SITE), 4), 'second+0x8 [two]': (hex(SITE), 4)}, self.sites())

    def test_unknown_modules_are_not_named(self):
        self.write(**{'note:module_changes': '+ 900 800 one ffffffffc0481000 4096 -\n'
                                             'ffffffffc0481000 t first\t[one]\n'
                                             '- 1003 1003 one\n'})
        self.assertEqual({'first+0x10 [one]': (hex(SITE), 4), 'unknown+0x10 [removed]': (hex(SITE), 4)}, self.sites())

    def test_a_module_loaded_again_has_one_row(self):
        self.write(**{'note:module_changes': '+ 900 800 one ffffffffc0481000 4096 0123\n'
                                             'ffffffffc0481000 t first\t[one]\n'
                                             '- 1002 1002 one\n'
                                             '+ 1002 1002 one ffffffffc0481000 4096 0123\n'
                                             'ffffffffc0481000 t first\t[one]\n'
                                             '- 1003 1003 one\n'
                                             '+ 1003 1003 one ffffffffc0481000 4096 4567\n'
                                             'ffffffffc0481000 t other\t[one]\n'})
        self.assertEqual({'first+0x10 [one]': (hex(SITE), 4), 'other+0x10 [one]': (hex(SITE), 4)}, self.sites())

    def test_cgroups_and_containers_are_those_at_the_start(self):
        group = '/system.slice/docker-0123456789abcdef.scope'
        self.write(**{'note:tasks': f'300 1 4026531836 {group}\n', 'note:tasks_later': '300 1 4026531836 /other\n'})
        for key, expected in (('cgroup', group), ('container', 'docker 0123456789ab')):
            with self.subTest(key):
                [row] = report(self.path, '--by', key)['groups']['slab']['rows']
                self.assertEqual((expected, 8), (row['keys'][key], row['allocations']))

    def test_a_missing_cpu_is_reported_first(self):
        self.write(cpu_stats='CPU: 3\nentries: 0\noverrun: 7\nread events: 70\n')
        done = run('check', self.path, '--json')
        [found] = json.loads(done.stdout)['files']
        self.assertEqual(1, done.returncode)
        kinds = [finding['kind'] for finding in found['findings']]
        self.assertIn('missing_cpu', kinds)
        printed = run('check', self.path).stdout
        places = {kind: printed.find(sentence) for kind, sentence in
                  ((finding['kind'], finding['sentence'][:30]) for finding in found['findings']) if sentence in printed}
        self.assertEqual('missing_cpu', min(places, key=places.get))

    def test_every_report_mentions_a_missing_cpu_first(self):
        self.write(cpu_stats='CPU: 3\nentries: 0\noverrun: 7\nread events: 70\n')
        for command in (['report'], ['leaks'], ['pages'], ['timeline'], ['simulate']):
            with self.subTest(command):
                lines = run(*command, self.path).stdout.splitlines()
                self.assertIn('lacks the events of CPU 3', lines[1], lines[:3])
        self.assertIn('lacks the events of CPU 3', run('diff', self.path, self.path).stdout.splitlines()[0])
        for style in (['--style', 'perf-report', '--by', 'comm'], ['--style', 'perf-kmem', '--slab', '--caller']):
            with self.subTest(style):
                self.assertIn('lacks the events of CPU 3', run('report', self.path, *style).stderr.splitlines()[0])

    def test_notes_of_any_length_need_bounded_memory(self):
        many = range(2_000_000)
        for name, text in (('tasks', ''.join(f'{task} 1 1 \n' for task in many)),
                           ('module_changes', ''.join(f'+ {task} 1 m{task} {task << 12 | 1 << 63:x} 4096 -\n'
                                                      for task in many[:500_000])),
                           ('cpu_changes', '1 1 online\n' * len(many))):
            with self.subTest(name):
                self.write(**{f'note:{name}': text})
                done = run('report', self.path, '--json', seconds=300, megabytes=900)
                self.assertEqual(0, done.returncode, done.stderr)


if __name__ == '__main__':
    unittest.main()
