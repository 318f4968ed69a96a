# SPDX-License-Identifier: GPL-2.0-or-later
"""The real and generated traces on which reports are compared with the oracle. Each trace is read once per run, and
only if a test asks for its events."""
import functools
import os
import re
import tempfile

import groups_oracle
import planted_trace
import trace_text
from kmemtrace import data, run

PAGE = 4096  # page size of all traces here
REAL = ('amd64-5.10/trace.dat', 'amd64-stacks/trace.dat', 'amd64/trace.dat', 'arm64/trace.dat', 'i386/trace.dat',
        'i386/trace.mono.dat', 's390x/trace.dat', 's390x/trace.lost.dat', 's390x/trace.stack.dat')
KERNELS = {'amd64-5.10': '5.10', 'amd64-stacks': '6.18'}  # the kernel versions; all others are 6.1
FOLDER = tempfile.TemporaryDirectory()


class Sample:
    def __init__(self, path, kernel, plan=None):
        self.path, self.kernel, self.plan = path, kernel, plan
        self.nodes = plan.nodes if plan else None

    @functools.cached_property
    def events(self):
        """The events according to trace-cmd."""
        return trace_text.load(self.path)

    @functools.cached_property
    def history(self):
        """The history of all events."""
        return self.during()

    def during(self, start=0, end=1 << 64):
        """The history of the events in a time window. Cache names are taken from the whole trace."""
        return groups_oracle.History([event for event in self.events if start <= event.time < end], PAGE, self.kernel,
                                     self.history.names if start else None)

    @functools.cached_property
    def kmt(self):
        path = os.path.join(FOLDER.name, re.sub(r'\W', '_', self.path) + '.kmt')
        done = run('convert', self.path, path)
        assert done.returncode == 0, done.stderr
        return path


@functools.lru_cache(None)
def real(name):
    return Sample(data(name), KERNELS.get(name.split('/')[0], '6.1'))


@functools.lru_cache(None)
def planted(donor, seed, noise=10_000, kernel=None, **more):
    plan = planted_trace.plant(data(f'{donor}/trace.dat'), seed, noise, kernel, **more)
    path = os.path.join(FOLDER.name, f'{donor}-{seed}-{noise}.dat')
    planted_trace.write(plan, path)
    return Sample(path, kernel or '6.1', plan)


PLANTED = {'little endian': lambda: planted('amd64', 1), 'big endian': lambda: planted('s390x', 2),
           '32 bit': lambda: planted('i386', 3), 'stacks': lambda: planted('arm64', 4, stacks=True),
           'stacks, 32 bit': lambda: planted('i386', 5, stacks=True),
           'stacks, big endian': lambda: planted('s390x', 6, stacks=True),
           'kfree takes all': lambda: planted('amd64', 7, kernel='6.12.9'),
           'named caches': lambda: planted('amd64', 8, kernel='7.0.1', names_caches=True),
           'named caches, 32 bit': lambda: planted('i386', 9, names_caches=True)}
