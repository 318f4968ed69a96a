#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares `simulate` with a slow SLUB model in Python, which replays trace-cmd's output of real traces of four
architectures and two kernels. Also compares the results with the kernels' slabinfo before and after the traces."""
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import slub_oracle  # noqa: E402
from groups_oracle import CACHE_ALLOCATIONS  # noqa: E402
from kmem_oracle import ALLOCATIONS, FREES, number  # noqa: E402
from kmemtrace import data, run  # noqa: E402
from samples import real  # noqa: E402

MACHINES = {'amd64': (6, 1), 'arm64': (6, 1), 'i386': (6, 1), 's390x': (6, 1), 'amd64-5.10': (5, 10)}
CPUS = 2
DMA, RECLAIMABLE, ACCOUNT = 0x1, 0x10, 0x400000  # bits of gfp_t, which are the same in both kernels


def simulate(path, *options):
    done = run('simulate', path, '--json', '--limit', '0', *options, seconds=300)
    if done.returncode != 0:
        raise AssertionError(f'simulate {path} {" ".join(options)}: exit {done.returncode}: {done.stderr}')
    return json.loads(done.stdout)


def kmalloc_cache(size, flags, version):
    if size > 8192:
        return 'large kmalloc'
    kind = ('dma-kmalloc-' if flags & DMA else 'kmalloc-rcl-' if flags & RECLAIMABLE else
            'kmalloc-cg-' if flags & ACCOUNT and version >= (5, 14) else 'kmalloc-')
    return kind + (f'{size // 1024}k' if size >= 1024 else str(size))


def node_of(event):
    node = int(event.fields.get('node', '-1'), 0)
    return node - (1 << 32) if node >> 31 else node


class Replay:
    """Replays all slab objects of the events. `choose(event, requested, given)` returns the name and object size of
    the cache."""

    def __init__(self, sample, version, choose):
        self.caches, self.live, self.sums = {}, {}, collections.defaultdict(collections.Counter)
        self.version, self.names = version, sample.history.names
        self.start, self.now = None, None
        for key, event in enumerate(sample.events):
            if ALLOCATIONS.get(event.name, ('',))[0] == 'slab':
                self.allocate(key, event, choose)
            elif FREES.get(event.name, ('',))[0] == 'slab' and number(event.fields['ptr']) in self.live:
                self.reach(event)
                self.end(number(event.fields['ptr']), event)
        self.reach(sample.events[-1])

    def reach(self, event):
        if self.start is None:
            self.start = self.now = event.time
        passed, self.now = event.time - self.now, max(self.now, event.time)
        for name, cache in self.caches.items():
            self.sums[name]['held'] += passed * cache.held()

    def allocate(self, key, event, choose):
        pointer = number(event.fields['ptr'])
        if pointer == 0:
            return
        self.reach(event)
        if pointer in self.live:
            self.sums[self.live[pointer][0]]['unseen'] += 1
            self.end(pointer, event)
        requested, given = number(event.fields['bytes_req']), number(event.fields['bytes_alloc'])
        name, size = choose(self, event, requested, given)
        if (name, size) not in self.caches and name != 'large kmalloc':
            self.caches[name, size] = slub_oracle.Cache(size, CPUS, self.version)
        where = (name, size) if name != 'large kmalloc' else (name, None)
        cache = self.caches.setdefault(where, slub_oracle.Pages())
        if name == 'large kmalloc':
            cache.allocate(key, size)
        else:
            cache.allocate(key, event.cpu, node_of(event))
        self.live[pointer] = where, key, requested, size
        sums = self.sums[where]
        sums.update(allocations=1, requested=requested, given=size, live_given=size, live_requested=requested)
        if cache.held() > sums['peak']:
            sums['peak'], sums['peak_given'], sums['peak_requested'] = cache.held(), sums['live_given'], sums['live_requested']

    def end(self, pointer, event):
        where, key, requested, size = self.live.pop(pointer)
        self.caches[where].release(key, event.cpu)
        self.sums[where].subtract(live_given=size, live_requested=requested)

    def rows(self):
        span = max(self.now - self.start, 1)
        return sorted((name, size, sums['allocations'], sums['requested'], sums['given'], sums['held'] // span,
                       sums['peak'], sums['peak_requested'], sums['peak_given'], self.caches[name, size].held())
                      for (name, size), sums in self.sums.items() if sums['allocations'])


    def untraced_frees(self):
        """Returns {cache name: (untraced frees, objects)} of caches with untraced frees. The name of an unknown cache
        is None."""
        caches = collections.defaultdict(collections.Counter)
        for (name, _), sums in self.sums.items():
            caches[None if name.startswith('(unknown') else name].update(unseen=sums['unseen'], allocations=sums['allocations'])
        return {name: (sums['unseen'], sums['allocations']) for name, sums in caches.items() if sums['unseen']}


def recorded(replay, event, requested, given):
    if event.name not in CACHE_ALLOCATIONS:
        return kmalloc_cache(given, number(event.fields.get('gfp_flags', '0')), replay.version), given
    names = replay.names.get((event.site, given), {})
    common = (name for name, frees in names.items() if 10 * frees >= sum(names.values()))
    return '|'.join(sorted(common)) or f'(unknown, {given} bytes)', given


def rows_of(heap):
    return sorted((row['name'], row['object_bytes'], row['allocations'], row['bytes_requested'], row['bytes_given'],
                   row['average']['held_bytes'], row['peak']['held_bytes'], row['peak']['requested_bytes'],
                   row['peak']['given_bytes'], row['end']['held_bytes']) for row in heap['caches']['rows'])


class Case(unittest.TestCase):
    maxDiff = None

    def assert_rows(self, got, replay):
        """Checks the caches of the heap, and that the sums of the heap are the sums of its caches."""
        key = lambda row: (row[0], row[1] or 0)
        self.assertEqual(sorted(rows_of(got), key=key), sorted(replay.rows(), key=key))
        for column, name in ((2, 'allocations'), (3, 'bytes_requested'), (4, 'bytes_given')):
            self.assertEqual(sum(row[column] for row in rows_of(got)), got[name])
        self.assertEqual(sum(row[9] for row in rows_of(got)), got['end']['held_bytes'])


class Replays(Case):
    def test_as_recorded(self):
        for machine, version in MACHINES.items():
            with self.subTest(machine):
                sample = real(f'{machine}/trace.dat')
                got = simulate(sample.path, '--suggest', '0')
                replay = Replay(sample, version, recorded)
                self.assert_rows(got['heaps'][0], replay)
                self.assertEqual(len(got['heaps']), 1)
                unseen = {row['cache']: (row['objects'], row['allocations']) for row in got['unseen_frees']}
                self.assertEqual(unseen, replay.untraced_frees())
                self.assertEqual(sum(objects for objects, _ in unseen.values()), got['given_again'])

    def test_other_classes(self):
        """Replays with size classes that no kernel has."""
        classes = 24, 40, 56, 200, 640, 1104, 3000, 8192
        sample = real('amd64/trace.dat')

        def choose(replay, event, requested, given):
            name, size = recorded(replay, event, requested, given)
            if event.name in CACHE_ALLOCATIONS:
                return name, size
            fits = [size for size in classes if size >= requested]
            if not fits:
                return 'large kmalloc', 4096 << slub_oracle.order_of(requested, 4096)
            kind = name.rpartition('-')[0] + '-' if name != 'large kmalloc' else 'kmalloc-'
            return kind + (f'{fits[0] // 1024}k' if fits[0] % 1024 == 0 else str(fits[0])), fits[0]
        got = simulate(sample.path, '--classes', ','.join(map(str, classes)))
        self.assert_rows(got['heaps'][1], Replay(sample, (6, 1), choose))


class Suggestions(Case):
    """A suggestion must have the same numbers as a replay with that class or cache."""

    def held_by(self, heap, names):
        return [sum(row[when]['held_bytes'] for row in heap['caches']['rows'] if row['name'] in names)
                for when in ('average', 'peak')]

    def test_requested_suggestions(self):
        found = 0
        for machine in MACHINES:
            path = data(f'{machine}/trace.dat')
            for goal in 'held', 'given':
                got = simulate(path, '--goal', goal)
                saved = [s['average_held_bytes'] - s['average_held_bytes_then'] for s in got['suggestions']]
                if goal == 'held':
                    self.assertTrue(all(saving > 0 for saving in saved), (machine, saved))
                    self.assertEqual(saved, sorted(saved, reverse=True))
                for suggestion in got['suggestions']:
                    if suggestion['above_bytes'] not in [0] + got['model']['classes']:
                        continue  # without another suggestion, this class would get more objects
                    with self.subTest(machine=machine, goal=goal, suggestion=suggestion):
                        self.compare(path, got['heaps'][0], suggestion)
                        found += 1
        self.assertGreater(found, 5)

    def compare(self, path, recorded, suggestion):
        size, site = suggestion['object_bytes'], suggestion['function']
        asked = simulate(path, *(['--cache', f'{site}={size}'] if site else ['--classes', f'+{size}']))
        kind = [name.rpartition('-')[0] for name in suggestion['from']]
        word = f'{size // 1024}k' if size >= 1024 and size % 1024 == 0 else str(size)
        new = [f'{site}-{size}'] if site else [f'{prefix}-{word}' for prefix in kind]
        self.assertEqual(self.held_by(recorded, suggestion['from']),
                         [suggestion['average_held_bytes'], suggestion['peak_held_bytes']])
        then = self.held_by(asked['heaps'][1], suggestion['from'] + new)
        self.assertEqual(then, [suggestion['average_held_bytes_then'], suggestion['peak_held_bytes_then']])

    def test_suggestions_ignore_untraced_frees(self):
        """If addresses are reused without a traced free, as after kfree_rcu(), most objects that appear live are
        already freed."""
        for addresses, suggested in ((20000, ['alloc_pipe_info']), (5000, [])):
            with self.subTest(addresses), tempfile.NamedTemporaryFile('w', suffix='.txt', encoding='ascii') as file:
                file.write('# tracer: nop\n#\n')
                file.writelines(LINE % (123, i, 0xffff888000000000 + 1024 * (i % addresses)) for i in range(20000))
                file.flush()
                self.assertEqual(suggested, [s['function'] for s in simulate(file.name)['suggestions'] if s['function']][:1])


LINE = ('            bash-812     [000] .....   %d.%06d: kmalloc: call_site=alloc_pipe_info+0x49/0xa0 ptr=%x bytes_req=640'
        ' bytes_alloc=1024 gfp_flags=GFP_KERNEL node=-1 accounted=false\n')


class Interrupted(unittest.TestCase):
    """Ctrl+C at any time during the three passes over the trace."""

    def ended_after(self, path, seconds):
        process = subprocess.Popen([os.environ['KMEMTRACE'], 'simulate', path, '--json'], stdout=subprocess.PIPE)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        return process.returncode, out

    def test_an_interrupted_replay_suggests_nothing(self):
        with tempfile.NamedTemporaryFile('w', suffix='.txt', encoding='ascii') as file:
            file.write('# tracer: nop\n#\n')
            file.writelines(LINE % (123, i, 0xffff888000000000 + 1024 * i) for i in range(60000))
            file.flush()
            started = time.monotonic()
            whole = simulate(file.name)
            took = time.monotonic() - started
            self.assertTrue(whole['complete'])
            self.assertGreater(whole['candidates'], 0)
            unreplayed = 0
            for part in range(20, 60):
                if unreplayed >= 4:
                    break
                status, out = self.ended_after(file.name, took * (part * 7 % 40 + 20) / 60)
                if status != 130:  # interrupted before the first pass, or ended before the signal
                    continue
                got = json.loads(out)
                self.assertFalse(got['complete'])
                if got['heaps'][0]['allocations'] == 0:
                    unreplayed += 1
                    # The trial pass must be complete, or its results must not be used.
                    self.assertIn((got['candidates'], len(got['suggestions']), len(got['heaps'])),
                                  [(None, 0, 1), (whole['candidates'], len(whole['suggestions']), 2)])
                    if got['candidates'] is not None:
                        self.assertEqual(whole['suggestions'], got['suggestions'])
            if not unreplayed:
                self.skipTest('no signal came while the trial read')


class Kernel(Case):
    # Upper limits of the model's error in pages, summed over all caches. The first is a share of the slab pages after
    # the trace, the second a share of their change. Much of the change occurred before the first event, when trace-cmd
    # started, but after slabinfo was read.
    MOST_ERROR = 0.10
    MOST_OF_CHANGE = 0.4

    def test_bytes(self):
        """The model must give each kmalloc the same number of bytes as the kernel."""
        for machine in MACHINES:
            with self.subTest(machine):
                model = simulate(data(f'{machine}/trace.dat'), '--suggest', '0')['model']
                self.assertGreater(model['kmallocs'], 100)
                self.assertEqual(model['kmallocs_reproduced'], model['kmallocs'], model['mismatches'][:5])

    def test_slabinfo(self):
        for machine in MACHINES:
            with self.subTest(machine):
                names = (data(f'snapshot/{machine}/{when}/slabinfo') for when in ('before', 'after'))
                slabinfo = simulate(data(f'{machine}/trace.dat'), '--suggest', '0', '--slabinfo', ','.join(names))['model']['slabinfo']
                self.assertGreater(slabinfo['geometry_compared'], 80)
                self.assertEqual(slabinfo['geometry_differs'], [])
                self.assertEqual(slabinfo['by_size'], MACHINES[machine] < (5, 12))  # older events lack cache names
                self.assertLess(slabinfo['error_pages'], self.MOST_ERROR * slabinfo['pages_after'], slabinfo['changed'][:8])
                self.assertLess(slabinfo['error_pages'], self.MOST_OF_CHANGE * slabinfo['unchanged_error_pages'])


if __name__ == '__main__':
    unittest.main(verbosity=2)
