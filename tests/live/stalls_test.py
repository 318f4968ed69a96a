#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records a task that reclaims memory of its cgroup. The times must be those between the events."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from recording import PROGRAM, LiveTest, read_file, wait_until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from stalls import stalls_of  # noqa: E402

LIMIT = 24 << 20
LOAD = """
import os, sys
with open(sys.argv[1] + '/cgroup.procs', 'w') as file:
    file.write(str(os.getpid()))
with open(sys.argv[2], 'wb') as file:
    for _ in range(96):
        file.write(bytes(1 << 20))
"""


class Stalls(LiveTest):
    def setUp(self):
        super().setUp()
        self.cgroup, limit = self.memory_cgroup()
        os.mkdir(self.cgroup)
        self.addCleanup(wait_until, self.removed)
        with open(f'{self.cgroup}/{limit}', 'w', encoding='ascii') as file:
            file.write(str(LIMIT))

    def memory_cgroup(self):
        """Returns the place of a new memory cgroup and the name of its limit, for version 2 or 1 of cgroups."""
        name = f'kmemtrace-test-{os.getpid()}'
        for line in read_file('/proc/self/mounts').splitlines():
            _, place, kind, options, *_ = line.split()
            if kind == 'cgroup2' and 'memory' in read_file(f'{place}/cgroup.subtree_control').split():
                return f'{place}/{name}', 'memory.max'
            if kind == 'cgroup' and 'memory' in options.split(','):
                return f'{place}/{name}', 'memory.limit_in_bytes'
        return self.skipTest('no cgroup can limit memory')

    def removed(self):
        try:
            os.rmdir(self.cgroup)
        except OSError:  # the task has just ended
            return False
        return True

    def stalls(self, *options):
        done = subprocess.run([PROGRAM, 'pages', '--stalls', '--json', '--limit', '0', *options, self.trace],
                              stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def test_cgroup_reclaim(self):
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(self.trace)) as file:
            self.record('--stalls', '--', 'python3', '-c', LOAD, self.cgroup, file.name)
        stalls = self.stalls('--comm', 'python3')
        self.assertEqual(stalls['uncertain_stalls'], 0)
        [kind] = [row for row in stalls['kinds'] if row['kind'] == 'cgroup_reclaim']
        computed = stalls_of(self.trace)
        tasks = {int(wait['task'].rpartition('-')[2]) for wait in stalls['longest']}
        expected = [sum(values) for values in zip(*(row for (task, name), row in computed.items()
                                                    if task in tasks and name == 'cgroup_reclaim'))]
        self.assertEqual([kind['stalls'], kind['total_ns'], kind['reclaimed_pages']], expected)
        self.assertGreater(kind['reclaimed_pages'] * 4096, 32 << 20)
        self.assertEqual(sum(wait['total_ns'] for wait in stalls['longest']), stalls['total']['total_ns'])
        # The task writes a file, so it waits for page cache.
        pages = [wait for wait in stalls['longest'] if wait['memory'] and wait['memory']['allocator'] == 'pages']
        self.assertGreater(len(pages), len(stalls['longest']) / 2)

    def test_a_trace_without_such_events_says_so(self):
        self.record('--', 'true')
        self.assertIs(self.stalls()['recorded'], False)


if __name__ == '__main__':
    unittest.main()
