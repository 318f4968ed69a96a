#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records loads that use kernel paths without a tracepoint, with probes, in a virtual machine. Fewer than 1 in 100,000
allocations may get the address of an object that looks live, because its free was not recorded.
  untraced_test.py KERNEL
The load `compile` needs the compiler cc1 and the assembler of this machine. It is left out if they are missing."""
import json
import os
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
                   f'{KERNEL_LOADS}:/bin/kernel_loads', *compiler(cls.out))

    def reused(self, name):
        """Returns how many allocations of a recording got the address of an object that looks live."""
        [found] = json.loads(run('check', '--json', os.path.join(self.out, name)).stdout)['files']
        kinds = {finding['kind']: finding['count'] for finding in found['findings']}
        self.assertNotIn('lost_events', kinds, name)
        return kinds.get('allocation_on_live_pointer', 0)

    def test_without_probes_many_addresses_are_reused(self):
        self.assertGreater(self.reused('without.kmt'), 1000)

    def test_few_addresses_are_reused_without_a_seen_free(self):
        sums = [0, 0]
        for name in sorted(os.listdir(self.out)):
            if not name.endswith('.kmt') or name == 'without.kmt':
                continue
            reused = self.reused(name)
            allocations = report(os.path.join(self.out, name))['slab']['allocations']
            print(f'{KERNEL} {name}: {reused} of {allocations} allocations reuse an address')
            sums = [sums[0] + reused, sums[1] + allocations]
        self.assertGreater(sums[1], 500_000)
        self.assertLess(sums[0] * 100_000, sums[1])


if __name__ == '__main__':
    unittest.main()
