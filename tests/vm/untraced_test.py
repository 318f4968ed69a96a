#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records loads that use kernel paths without a tracepoint, with probes, in a virtual machine. Fewer than 1 in 100,000
allocations may get the address of an object that looks live, because its free was not recorded.
  untraced_test.py KERNEL
The load `compile` needs the compiler cc1 and the assembler of this machine. It is left out if they are missing."""
import collections
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'support')]
from kmemtrace import report, run  # noqa: E402
from machine import run_script  # noqa: E402

KERNEL = sys.argv.pop()
KERNEL_LOADS = os.environ['KERNEL_LOADS']
# Objects of the recorder and of the programs that read the counts.
SLACK = 50
SOURCE = '''#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char** words) {
  for (int i = 0; i < count; ++i) printf("%s %zu\\n", words[i], strlen(words[i]));
  return atoi(words[0]);
}
'''


def compiler(folder):
    """Returns the options that bring the compiler and a preprocessed file into the machine. Empty without a compiler."""
    if not shutil.which('gcc') or not shutil.which('as'):
        return []
    source = os.path.join(folder, 'source.i')
    subprocess.run(['gcc', '-E', '-x', 'c', '-', '-o', source], input=SOURCE, encoding='utf-8', check=True)
    cc1 = subprocess.run(['gcc', '-print-prog-name=cc1'], stdout=subprocess.PIPE, encoding='utf-8', check=True).stdout.strip()
    return ['--file', f'{cc1}:/bin/cc1', '--file', f'{shutil.which("as")}:/bin/as', '--file', f'{source}:/source.i']


class Untraced(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        # With several CPUs, the clocks of emulated CPUs disagree, and a free may seem to follow the next allocation.
        run_script('untraced.sh', cls.out, '--kernel', KERNEL, '--cpus', '1', '--memory', '2048', '--timeout', '1500', '--file',
                   f'{KERNEL_LOADS}:/bin/kernel_loads', '--file', os.path.join(HERE, 'untraced_loads.sh'), *compiler(cls.out))

    def reused(self, name):
        """Returns how many allocations of a recording got the address of an object that looks live."""
        [found] = json.loads(run('check', '--json', os.path.join(self.out, name)).stdout)['files']
        kinds = {finding['kind']: finding['count'] for finding in found['findings']}
        self.assertNotIn('lost_events', kinds, name)
        return kinds.get('allocation_on_live_pointer', 0)

    def test_without_probes_many_addresses_are_reused(self):
        self.assertGreater(self.reused('without.kmt'), 1000)

    def text(self, name):
        with open(os.path.join(self.out, name), encoding='ascii') as file:
            return file.read()

    def counted_events(self):
        """Returns the events between the times at which the kernel's counts were read, and all events before them."""
        begin, end = (float(self.text(f'uptime-{when}')) * 1e9 for when in ('before', 'after'))
        export = run('export', '--to', 'csv', '-o', '-', os.path.join(self.out, 'counts.kmt')).stdout
        for event in csv.DictReader(io.StringIO(export)):
            if int(event['time_ns']) < end:
                yield event, int(event['time_ns']) > begin

    def test_pages_are_those_of_vmstat(self):
        """The trace has all frees, but not the allocations of the recorder."""
        def vmstat(when, prefix):
            return sum(int(line.split()[1]) for line in self.text(f'vmstat-{when}').splitlines() if line.startswith(prefix))

        def of_recorder(when):
            return sum(int(pages) << int(order) for order, pages in
                       re.findall(r'order: +(\d+) } hitcount: +(\d+)', self.text(f'own-{when}')))

        found = {'pgalloc_': of_recorder('after') - of_recorder('before'), 'pgfree ': 0}
        for event, is_inside in self.counted_events():
            if is_inside and event['event'] == 'mm_page_free':
                found['pgfree '] += 1 << int(event['order'])
            elif is_inside and event['allocator'] == 'pages' and event['outcome'] == 'allocation':
                found['pgalloc_'] += 1 << int(event['order'])
        for prefix, pages in found.items():
            with self.subTest(prefix):
                counted = vmstat('after', prefix) - vmstat('before', prefix)
                print(f'{KERNEL} {prefix}: {pages} pages in the trace, {counted} in vmstat')
                self.assertGreater(counted, 50_000)
                self.assertLess(abs(pages - counted), 0.005 * counted)

    def test_objects_are_those_of_slabinfo(self):
        """The kernel had returned free objects to their slabs. Only those of a CPU's current slab count as in use."""
        def slabinfo(when):
            return {line.split()[0]: [int(number) for number in line.split()[1:6]]
                    for line in self.text(f'slabinfo-{when}').splitlines()[2:]}

        events = [one for one in self.counted_events() if one[0]['allocator'] == 'slab']
        # The trace names the cache of an allocation by its free, or by that of another object of the call site.
        sites = {event['symbol']: event['cache'] for event, _ in events if event['cache'] and 'free' not in event['event']}
        # `unnamed` counts live objects of unknown caches by their size.
        net, allocations, unknown, unnamed = (collections.Counter() for _ in range(4))
        live, caches, waiting = set(), {}, set()
        for event, is_inside in events:
            address = event['address']
            if 'free' not in event['event']:
                caches[address] = event['cache'] or sites.get(event['symbol'])
                live.add(address)
                waiting.discard(address)
                net[caches[address]] += is_inside
                allocations[caches[address]] += is_inside
                unnamed[event['bytes_allocated']] += is_inside and not caches[address]
            elif address in waiting:
                waiting.remove(address)  # the second event of an object of kfree_rcu()
            else:
                cache = event['cache'] or caches.get(address)  # a kfree does not name the cache
                (net if address in live else unknown)[cache] -= is_inside
                live.discard(address)
                if event['event'] == 'free_rcu':
                    waiting.add(address)
        before, after = slabinfo('before'), slabinfo('after')
        busy = [cache for cache in allocations if allocations[cache] > 1000 and cache in after]
        self.assertGreater(len(busy), 20)
        for cache in busy:
            with self.subTest(cache):
                in_use, _, size, objects_per_slab, _ = after[cache]
                changed = in_use - before[cache][0]
                slack = SLACK + objects_per_slab
                print(f'{KERNEL} {cache}: {allocations[cache]} allocations, net {net[cache]}, {-unknown[cache]} other frees, '
                      f'{unnamed[str(size)]} unnamed, {changed} in slabinfo')
                # If the allocation of a freed object is unknown, the object may be one of the recorder. Frees by kfree()
                # and kfree_rcu() then do not name the cache.
                self.assertLessEqual(net[cache] + unknown[cache] + unknown[None] - slack, changed)
                self.assertLessEqual(changed, net[cache] + unnamed[str(size)] + slack)

    def test_few_addresses_are_reused_without_a_seen_free(self):
        sums = [0, 0]
        for name in sorted(os.listdir(self.out)):
            if not name.endswith('.kmt') or name in ('without.kmt', 'counts.kmt'):
                continue
            reused = self.reused(name)
            allocations = report(os.path.join(self.out, name))['slab']['allocations']
            print(f'{KERNEL} {name}: {reused} of {allocations} allocations reuse an address')
            sums = [sums[0] + reused, sums[1] + allocations]
        self.assertGreater(sums[1], 500_000)
        self.assertLess(sums[0] * 100_000, sums[1])


if __name__ == '__main__':
    unittest.main()
