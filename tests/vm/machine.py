# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a script in a virtual machine, for the tests."""
import os
import subprocess
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77


def boot(*arguments, **options):
    """Returns the finished tests/vm/run. Skips the test if no machine can be booted."""
    done = subprocess.run([f'{HERE}/run', *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8',
                          errors='replace', check=False, **options)
    if done.returncode == SKIPPED and os.environ.get('KMEMTRACE_REQUIRE_VM') != '1':
        raise unittest.SkipTest(done.stderr)
    return done


def run_script(name, out, *options):
    """Runs a script of this folder, which must succeed. Its files are in `out` afterwards."""
    done = boot('--out', out, *options, f'{HERE}/{name}')
    if done.returncode != 0:
        raise AssertionError(f'{name}: exit code {done.returncode}\n{done.stdout}{done.stderr}')
