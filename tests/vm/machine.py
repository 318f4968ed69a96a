# SPDX-License-Identifier: GPL-2.0-or-later
"""Running a script in a virtual machine from a test."""
import os
import subprocess
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77


def boot(*arguments, **options):
    """The finished tests/vm/run; the test is skipped where no machine can be booted."""
    done = subprocess.run([f'{HERE}/run', *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8',
                          errors='replace', check=False, **options)
    if done.returncode == SKIPPED and os.environ.get('KMEMTRACE_REQUIRE_VM') != '1':
        raise unittest.SkipTest(done.stderr)
    return done


def run_script(name, out, *options):
    """A script of this folder, which has to succeed; it leaves its files in `out`."""
    done = boot('--out', out, *options, f'{HERE}/{name}')
    if done.returncode != 0:
        raise AssertionError(f'{name}: exit code {done.returncode}\n{done.stdout}{done.stderr}')
