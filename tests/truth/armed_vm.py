#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs armed.py in a virtual machine, where nothing else makes kernel memory grow.

armed_vm.py KMEMTRACE [--kernel VERSION] [--plants N] [--quiet SECONDS] [--load NAME,…] [--keep DIR]

The clock of the machine counts instructions and skips idle time. So the load of this machine does not change the result,
and an hour in the virtual machine takes only about the time that its programs compute. The exit status is that of armed.py."""
import argparse
import os
import platform
import subprocess
import sys
import tarfile
import tempfile

from python_in_vm import VM, add_python, load_vm_run

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
INSIDE = ('armed.py', 'bench.py', 'loads.py', 'plants.py')
# Loads that leave the processor idle most of the time, and differ in what they allocate.
MIXED = 'steady_churn,open_connections,sawtooth,steady_descriptors,inotify_churn,queue_length,job_bursts'
LONGEST = 6 * 3600  # seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('--kernel', default='6.12', help='as for tests/vm/run (default: %(default)s)')
    parser.add_argument('--plants', default='20')
    parser.add_argument('--quiet', default='600')
    parser.add_argument('--load', default=MIXED)
    parser.add_argument('--keep', default='')
    options = parser.parse_args()
    if platform.machine() != 'x86_64':
        print('the machine of tests/vm/run has a kmemtrace only on x86_64')
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix='kmemtrace-armed-') as folder:
        with tarfile.open(f'{folder}/inside.tar', 'w') as archive:
            add_python(archive, load_vm_run().libraries)
            for name in INSIDE:
                archive.add(os.path.join(HERE, name), f'truth/{name}')
        with open(f'{folder}/script', 'w', encoding='utf-8') as script:
            # Plants hold thousands of descriptors.
            script.write(f'ulimit -n 1000000 && tar -xf /inside.tar -C / && rm /inside.tar && '
                         f'exec {os.path.realpath(sys.executable)} /truth/armed.py /bin/kmemtrace --plants {options.plants} '
                         f'--quiet {options.quiet} --load {options.load} --keep /out\n')
        command = [VM, '--kernel', options.kernel, '--memory', '2048', '--cpus', '1', '--by-instructions', '--timeout',
                   str(LONGEST), '--file', f'{folder}/inside.tar']
        if options.keep:
            command += ['--out', options.keep]
        done = subprocess.run([*command, f'{folder}/script'], check=False,
                              env={**os.environ, 'KMEMTRACE': os.path.abspath(options.program)})
    sys.exit(done.returncode)


if __name__ == '__main__':
    main()
