# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the program under test with limits on time and memory, so that an endless run fails a test instead of
blocking the machine."""
import glob
import json
import os
import re
import resource
import subprocess
import sys

PROGRAM = os.environ.get('KMEMTRACE') or sys.exit('KMEMTRACE must name the program under test')
DATA = os.environ.get('KMEMTRACE_DATA') or sys.exit('KMEMTRACE_DATA must name tests/data')
# AddressSanitizer reserves terabytes of address space, so its builds cannot be limited.
SANITIZED = os.environ.get('KMEMTRACE_SANITIZED') == '1'


def data(name):
    return os.path.join(DATA, name)


def all_traces(folder):
    """Returns the paths of all traces in tests/data. Compressed traces are unpacked into `folder`."""
    found = []
    for path in sorted(glob.glob(f'{DATA}/**/*', recursive=True)):
        if re.search(r'\.(dat|data)\.zst$', path):
            unpacked = os.path.join(folder, os.path.relpath(path, DATA)[:-len('.zst')].replace('/', '-'))
            with open(unpacked, 'wb') as file:
                subprocess.run(['zstd', '-q', '-d', '-c', path], stdout=file, check=True)
            found.append(unpacked)
        elif re.search(r'\.(dat|data)$', path) or re.search(r'/lttng(\.\w+)?$', path):
            found.append(path)
    return found


def run(*arguments, seconds=60, megabytes=None):
    """Returns the finished process. `megabytes` limits its address space; allocations beyond the limit fail."""
    def limit():
        if megabytes and not SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    return subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          timeout=seconds, preexec_fn=limit, encoding='utf-8', errors='replace')


def report(path, *options, exit_codes=(0,), **limits):
    """Returns the result of `report --json` with all call sites."""
    done = run('report', path, '--json', '--limit', '1000000', *options, **limits)
    if done.returncode not in exit_codes:
        raise AssertionError(f'report {path} {" ".join(options)}: exit {done.returncode}: {done.stderr}')
    return json.loads(done.stdout)
