# SPDX-License-Identifier: GPL-2.0-or-later
"""The traces used in tests of exports and flame graphs, and the results of `report --json` for these traces."""
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import planted_trace  # noqa: E402
from kmemtrace import data, report, run  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()
REAL = ('amd64/trace.dat', 'amd64-5.10/trace.dat', 'amd64-stacks/trace.dat', 'arm64/trace.dat', 'i386/trace.dat',
        's390x/trace.dat', 's390x/trace.lost.dat', 's390x/trace.stack.dat')
ALLOCATORS = 'slab', 'pages', 'percpu', 'vmalloc'
METRICS = {'hits': 'allocations', 'allocated': 'bytes_allocated', 'live-objects': 'live_allocations',
           'live': 'live_bytes'}
HOSTILE = '<&>"\';,]]>\x1b[2J\x07$(x)'


def place(name):
    return os.path.join(FOLDER.name, name)


def export(path, format, *options, exit_code=0):
    done = run('export', path, '--to', format, *options)
    assert done.returncode == exit_code, f'export {path} --to {format} {options}: {done.returncode}: {done.stderr}'
    return done.stdout


def export_file(path, format, *options):
    output = place('export.' + format)
    assert export(path, format, '-o', output, *options) == ''
    assert unfinished(output) == []
    return output


def unfinished(output):
    """Returns the temporary files of an unfinished output."""
    return [name for name in os.listdir(os.path.dirname(output)) if name.startswith(os.path.basename(output) + '.')]


def planted(name, donor, hostile=False, **options):
    path = place(name)
    if not os.path.exists(path):
        plan = planted_trace.plant(data(f'{donor}/trace.dat'), 11, 5_000, **options)
        if hostile:
            make_hostile(plan.trace)
        planted_trace.write(plan, path)
    return path


def make_hostile(trace):
    """Adds names of tasks, caches and functions with markup, script, separators and control sequences."""
    evil = HOSTILE.encode()
    trace.cmdlines = b''.join(line.split()[0] + b' ' + evil[:15] + b'\n' for line in trace.cmdlines.splitlines())
    trace.kallsyms = re.sub(rb'(?m)^(\S+ [tT] )(\w+)$', lambda match: match[1] + match[2] + evil, trace.kallsyms)
    for i, buffer in enumerate(trace.buffers):
        pages = {cpu: pages.replace(b'dentry', b'<";,&\x1b') for cpu, pages in buffer.pages.items()}
        trace.buffers[i] = buffer._replace(pages=pages)


def samples():
    for name in REAL:
        yield data(name)
    yield planted('planted', 'amd64', stacks=True)
    yield planted('planted-be', 's390x', stacks=True, renames=True)
    yield planted('planted-32', 'i386', names_caches=True, kernel='7.0.1')
    yield planted('hostile', 'amd64', hostile=True, stacks=True)


def reported_of(path, *options):
    """Runs `report` and adds the live pages, which the totals lack: the sum over all orders."""
    reported = report(path, *options)
    orders = report(path, '--by', 'order', *options)['groups'].get('pages', {'rows': []})['rows']
    reported['pages']['live_allocations'] = sum(row['live_allocations'] for row in orders)
    return reported


def totals(reported):
    """Returns {allocator: totals} of the allocators that allocated anything."""
    found = {name: reported[name] for name in ALLOCATORS}
    return {name: total for name, total in found.items() if total['allocations'] + total['failed_allocations'] > 0}


def knows_bytes(reported, allocator):
    return allocator != 'percpu' or reported['percpu']['bytes_allocated'] > 0


class Case(unittest.TestCase):
    maxDiff = 4000

    def of_all(self, check):
        for path in samples():
            with self.subTest(os.path.relpath(path, data(''))):
                check(path)


def expected(reported, metric):
    """Returns {allocator: sum of the metric}."""
    if metric == 'wasted':
        return {'slab': reported['slab']['bytes_allocated'] - reported['slab']['bytes_requested']}
    return {name: total[METRICS[metric]] or 0 if knows_bytes(reported, name) or 'bytes' not in METRICS[metric] else 0
            for name, total in totals(reported).items()}
