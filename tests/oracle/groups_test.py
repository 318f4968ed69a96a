#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares `report --by` with groups that Python computes from trace-cmd's text: every row and every number. The
traces are real ones of five kernels and generated ones, read from trace.dat and from .kmt. Generated traces are also
compared with their plan."""
import collections
import functools
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import groups_oracle  # noqa: E402
import kmem_oracle  # noqa: E402
from kmemtrace import report, run  # noqa: E402
from samples import PAGE, PLANTED, REAL, planted, real  # noqa: E402

ALWAYS = 'cache', 'cache,call-site', 'stack,task'  # the keys with the most groups
NESTED = 'cache,call-site', 'task,size', 'order,migrate-type', 'context,cpu,gfp'


def text_of(path, keys, *options):
    done = run('report', '--json', '--limit', '0', '--by', keys, *options, path)
    if done.returncode != 0:
        raise AssertionError(f'report --by {keys} {" ".join(options)} {path}: exit {done.returncode}: {done.stderr}')
    return done.stdout


def by(path, keys, *options):
    return json.loads(text_of(path, keys, *options))


class Case(unittest.TestCase):
    maxDiff = None

    def assert_none(self, found):
        if found:
            self.fail(f'{len(found)} differences:\n' + '\n'.join(found[:20]))

    def check(self, sample, keys, *options, allocations=None):
        if allocations is None:
            allocations = sample.history.allocations
        want = groups_oracle.groups(allocations, keys.split(','), sample.nodes)
        got = by(sample.path, keys, *options)
        self.assert_none(groups_oracle.differences(want, got, keys.split(',')))
        return want, got

    def check_all(self, sample, turn=0, turns=1):
        """Checks every `turns`th key, so that the samples share the work. Keys in ALWAYS are checked for each
        sample."""
        keys_of_all = [key for key in groups_oracle.KEYS if key != 'lifetime'] + list(NESTED)
        if any(event.stack for event in sample.events):
            keys_of_all.append('stack,task')
        for number, keys in enumerate(keys_of_all):
            if keys not in ALWAYS and number % turns != turn % turns:
                continue
            with self.subTest(keys):
                _, got = self.check(sample, keys)
                # Reading and grouping are independent, so a third of the keys is enough to compare the two formats.
                if keys not in ALWAYS and number % 3 != turn % 3:
                    continue
                from_kmt = by(sample.kmt, keys)
                self.assertEqual((got['groups'], got.get('anomaly_sites')), (from_kmt['groups'], from_kmt.get('anomaly_sites')))


class RealTraces(Case):
    def test_all_keys(self):
        for name in REAL:
            with self.subTest(name):
                self.check_all(real(name))

    def test_names(self):
        """Symbols and GFP flags must have the names that trace-cmd prints."""
        for name in REAL:
            sample = real(name)
            symbols = {event.site: event.symbol for event in sample.events if event.symbol}
            flags = {groups_oracle.number(event.fields['gfp_flags']): event.gfp for event in sample.events if event.gfp}
            with self.subTest(name):
                rows = by(sample.path, 'call-site')['groups']['slab']['rows']
                for site in (row['keys']['call-site'] for row in rows):
                    symbol = re.sub(r'/0x[0-9a-f]+| \[[^\]]*\]$', '', site['symbol'])
                    self.assertEqual(symbols[int(site['address'], 16)], symbol)
                groups = by(sample.path, 'gfp')['groups']
                for flags_shown in (row['keys']['gfp'] for of in groups.values() for row in of['rows']):
                    want = flags[int(flags_shown['value'], 16)]
                    if not want.startswith('0x'):  # trace-cmd does not understand the print format of arm64
                        self.assertEqual(want, flags_shown['text'])

    def test_sorted(self):
        """Rows must be sorted by the column of --sort, by default allocated bytes, largest first."""
        sample = real('amd64/trace.dat')
        for options, key in (((), 'bytes_allocated'), (('--sort', 'hits'), 'allocations'),
                             (('--sort', 'live-bytes'), 'live_bytes')):
            for of in by(sample.path, 'task,size', *options)['groups'].values():
                values = [row[key] for row in of['rows']]
                self.assertEqual(sorted(values, reverse=True), values)

    def test_limit_keeps_the_first_rows_and_the_total(self):
        sample = real('amd64/trace.dat')
        whole = by(sample.path, 'cache')['groups']['slab']
        some = json.loads(run('report', '--json', '--limit', '3', '--by', 'cache', sample.path).stdout)['groups']['slab']
        self.assertEqual((whole['total'], whole['rows'][:3]), (some['total'], some['rows']))


class Planted(Case):
    def test_all_keys(self):
        for turn, (name, make) in enumerate(PLANTED.items()):
            with self.subTest(name):
                self.check_all(make(), turn, 3)

    def test_many(self):
        """The trace is so large that several threads read it and that every hash table must grow."""
        sample = planted('amd64', 10, 50_000)
        for keys in 'call-site', 'cache,call-site', 'order,migrate-type':
            with self.subTest(keys):
                self.check(sample, keys)

    def test_plan(self):
        """The planted objects must be reported. This test does not depend on the oracle."""
        for name, make in PLANTED.items():
            sample = make()
            with self.subTest(name):
                groups = by(sample.path, 'call-site')['groups']
                rows = {int(row['keys']['call-site']['address'], 16): row for row in groups['slab']['rows']}
                for what, site in sample.plan.sites.items():
                    row = rows[site.site]
                    self.assertEqual((site.allocations, site.frees, site.live, site.live_bytes, site.cross_cpu),
                                     tuple(row[key] for key in ('allocations', 'frees', 'live_allocations', 'live_bytes',
                                                                'cross_cpu_frees')), what)
                    self.assertEqual(site.frees, row['lifetime']['count'], what)
                allocators = by(sample.path, 'context')['groups']
                for allocator, planned in sample.plan.allocators.items():
                    sums = [sum(row[key] for row in allocators[allocator]['rows'])
                            for key in ('allocations', 'bytes_allocated', 'live_allocations')]
                    self.assertEqual(planned, tuple(sums), allocator)

    def test_oracle_finds_the_plan(self):
        for name, make in PLANTED.items():
            sample = make()
            with self.subTest(name):
                rows = groups_oracle.groups(sample.history.allocations, ['call-site'])['slab']
                for what, site in sample.plan.sites.items():
                    row = rows[site.site,]
                    self.assertEqual((site.allocations, site.frees, site.live, site.live_bytes, site.cross_cpu),
                                     tuple(row[key] for key in ('allocations', 'frees', 'live_allocations', 'live_bytes',
                                                                'cross_cpu_frees')), what)

    def test_totals_equal_the_oracles(self):
        for make in (lambda: planted('amd64', 1), lambda: planted('s390x', 2), lambda: planted('i386', 3),
                     lambda: planted('amd64', 10, 50_000)):
            path = make().path
            with self.subTest(path):
                want = kmem_oracle.Report(kmem_oracle.parse(kmem_oracle.report_text(path)), PAGE)
                self.assert_none(kmem_oracle.differences(want, report(path)))

    def test_losses(self):
        sample = PLANTED['big endian']()
        trace = report(sample.path)['trace']
        self.assertEqual(sum(count or 1 for *_, count in sample.plan.losses), trace['lost_events'])
        self.assertEqual(2, len(sample.plan.losses))  # a loss without a number counts as one event


class Lifetimes(Case):
    """Tests groups by lifetime."""

    def test_real_traces(self):
        for name in REAL:
            for keys in 'lifetime', 'cache,lifetime':
                with self.subTest(name=name, keys=keys):
                    self.check(real(name), keys)

    def test_planted_traces(self):
        for name, make in PLANTED.items():
            for keys in 'lifetime', 'lifetime,context':
                with self.subTest(name=name, keys=keys):
                    self.check(make(), keys)


class Modules(Case):
    """A module has the sums of its call sites. Without stacks, its name is that in brackets after the call site."""

    SUMS = 'allocations', 'bytes_requested', 'bytes_allocated', 'frees', 'bytes_freed', 'live_allocations', 'live_bytes'

    def test_sums_of_call_sites(self):
        for name in REAL:
            with self.subTest(name=name):
                sample = real(name)
                want = collections.defaultdict(collections.Counter)
                for row in by(sample.path, 'module,call-site')['groups']['slab']['rows']:
                    want[row['keys']['module']].update({key: row[key] for key in self.SUMS})
                    symbol = row['keys']['call-site']['symbol']
                    if symbol.startswith('0x') or any(event.stack for event in sample.events):
                        continue
                    module = re.search(r' \[(\w+)\]$', symbol)
                    self.assertEqual(row['keys']['module'], module[1] if module else '[kernel]', symbol)
                for row in by(sample.path, 'module')['groups']['slab']['rows']:
                    self.assertEqual(dict(want.pop(row['keys']['module'])), {key: row[key] for key in self.SUMS})
                self.assertFalse(want)


class Freers(Case):
    """Tests groups by the task or function that frees, and the matrix of allocators and freers."""

    KEYS = 'free-site', 'free-task', 'free-comm', 'call-site,free-site', 'task,free-task', 'free-process,order,process'

    def check_freers(self, sample, keys):
        want = groups_oracle.by_freer(sample.history.allocations, keys.split(','))
        got = by(sample.path, keys)
        self.assertEqual(want, groups_oracle.said_by_freer(got))
        return got

    def test_real_traces(self):
        for name in REAL:
            for keys in self.KEYS:
                with self.subTest(name=name, keys=keys):
                    self.check_freers(real(name), keys)

    def test_planted_traces(self):
        for name, make in PLANTED.items():
            for keys in 'task,free-task', 'free-site,context':
                with self.subTest(name=name, keys=keys):
                    self.check_freers(make(), keys)

    def test_renamed(self):
        """The freer must have the name that it had at the time of the free."""
        self.check_freers(planted('amd64', 11, renames=True), 'free-task')

    def test_matrix(self):
        """Each row of the matrix must have the sums of its groups, and the column of others must have the rest."""
        for name in REAL:
            got = by(real(name).path, 'task,free-task', '--matrix')
            self.assertEqual(set(got['groups']), set(got['matrices']))
            for allocator, matrix in got['matrices'].items():
                with self.subTest(name=name, allocator=allocator):
                    self.check_matrix(matrix, got['groups'][allocator]['rows'])

    def check_matrix(self, matrix, groups):
        amount = {'allocated': 'bytes_allocated', 'hits': 'allocations'}[matrix['amount']]
        sums = collections.Counter()
        for row in groups:
            sums[str(row['keys']['task']), str(row['keys']['free-task'])] += row[amount]
        columns = [str(column) for column in matrix['columns']]
        self.assertLessEqual(len(columns), 12)
        for row in matrix['rows']:
            task = str(row['keys']['task'])
            self.assertEqual([sums[task, column] for column in columns], row['amounts'])
            self.assertEqual(sum(value for (of, _), value in sums.items() if of == task), row['total'])
            self.assertEqual(row['total'], sum(row['amounts']) + row['others'])
        self.assertEqual(sum(sums.values()), matrix['total']['total'])
        self.assertEqual(len({column for _, column in sums}), len(columns) + matrix['other_columns'])


class Names(Case):
    """Each allocation must have the name that the task had at that time."""

    def test_renamed_tasks(self):
        for donor in ('amd64', 's390x'):
            sample = planted(donor, 11, renames=True)
            for keys in 'task', 'comm', 'process,size':
                with self.subTest(donor=donor, keys=keys):
                    _, got = self.check(sample, keys)
                    self.assertEqual(got['groups'], by(sample.kmt, keys)['groups'])
            named = [a for a in sample.history.allocations if a.event.comm == 'second' and not a.event.interrupt()]
            self.assertGreater(len(named), 9)
            self.check(sample, 'task', '--comm', 'second', allocations=named)

    def test_process(self):
        """A process must be listed under its last name, followed by the earlier names under which it allocated."""
        sample = planted('amd64', 11, renames=True)
        names = {}
        for allocation in sample.history.allocations:
            if not allocation.event.interrupt():
                of = names.setdefault(allocation.event.tid, {})
                of.pop(allocation.event.comm, None)
                of[allocation.event.comm] = True
        processes = {row['keys']['process']['pid']: row['keys']['process'] for of in by(sample.path, 'process')['groups'].values()
                for row in of['rows']}
        self.assertTrue(any(len(of) > 2 for of in names.values()))
        for pid, of in names.items():
            *earlier, last = of
            self.assertEqual((last, set(earlier)), (processes[pid]['comm'], set(processes[pid].get('earlier_comms', []))), pid)


def seconds(time):
    return f'{time // 10**9}.{time % 10**9:09}'


class Filters(Case):
    """Filters select allocations; the matching frees are selected too."""

    SAMPLES = (lambda: real('amd64/trace.dat'), lambda: real('s390x/trace.lost.dat'), lambda: planted('i386', 3),
               lambda: planted('amd64', 7, kernel='6.12.9'))

    def check_filter(self, options_of, selects_of, keys=('call-site', 'context,size'),
                     history_of=lambda sample: sample.history):
        some = False
        for make in self.SAMPLES:
            sample = make()
            options = options_of(sample)
            with self.subTest(path=sample.path, options=options):
                every = history_of(sample).allocations
                chosen = list(filter(selects_of(sample), every))
                some = some or 0 < len(chosen) < len(sample.history.allocations)
                for of in keys:
                    self.check(sample, of, *options, allocations=chosen)
        self.assertTrue(some, 'nothing was selected, or all: this proves nothing')

    def test_time(self):
        def middle(sample):
            return sample.events[len(sample.events) // 3].time, sample.events[2 * len(sample.events) // 3].time
        self.check_filter(lambda sample: ('--time', ','.join(map(seconds, middle(sample)))), lambda sample: lambda a: True,
                          ('call-site', 'cache', 'order'), lambda sample: sample.during(*middle(sample)))

    def test_cpu(self):
        self.check_filter(lambda sample: ('--cpu', '1'), lambda sample: lambda a: a.event.cpu == 1)

    @staticmethod
    @functools.lru_cache(None)
    def busiest(sample):
        count = collections.Counter(a.event.tid for a in sample.history.allocations if a.event.tid and not a.event.interrupt())
        return count.most_common(1)[0][0]

    def test_pid(self):
        self.check_filter(lambda sample: ('--pid', str(self.busiest(sample))),
                          lambda sample: lambda a: a.event.tid == self.busiest(sample) and not a.event.interrupt())

    def test_comm(self):
        self.check_filter(lambda sample: ('--comm', 'trace-c*', '--comm', '[softirq]'),
                          lambda sample: lambda a: a.event.interrupt() == 'softirq' if a.event.interrupt() else
                          a.event.comm.startswith('trace-c'))

    def test_cache(self):
        for pattern in ('kmalloc-*', 'kmalloc-64', 'd*', '*inode*'):
            self.check_filter(lambda sample: ('--cache', pattern), lambda sample: groups_oracle.by_cache(pattern),
                              ('cache', 'call-site'))
        self.check(real('amd64/trace.dat'), 'cache', '--cache', 'nothing', allocations=[])

    @staticmethod
    def site(sample):
        count = collections.Counter(a.event.symbol for a in sample.history.allocations if a.event.symbol)
        return count.most_common(1)[0][0]

    def test_call_site(self):
        def check(pattern_of):
            self.check_filter(lambda sample: ('--call-site', pattern_of(sample)),
                              lambda sample: groups_oracle.by_call_site(pattern_of(sample)))
        check(self.site)
        check(lambda sample: self.site(sample).split('+')[0])
        check(lambda sample: '*' + self.site(sample)[2:6] + '*')
        check(lambda sample: '[a-m]*+0x??')

    def test_size(self):
        for text, least, most in (('64-', 64, 1 << 64), ('-4095', 0, 4095), ('64-128', 64, 128), ('4K-4K', 4096, 4096)):
            self.check_filter(lambda sample: ('--size', text), lambda sample: groups_oracle.by_size(least, most))

    def test_context(self):
        for context in ('task', 'softirq', 'hardirq', 'nmi'):
            self.check_filter(lambda sample: ('--context', context),
                              lambda sample: lambda a: (a.event.interrupt() or 'task') == context)

    def test_together_three_filters(self):
        self.check_filter(lambda sample: ('--cpu', '0', '--size', '-512', '--context', 'task'),
                          lambda sample: lambda a: a.event.cpu == 0 and a.given <= 512 and not a.event.interrupt())


class Threads(Case):
    """The output must be byte-identical for any number of threads."""

    def check_threads(self, path, keys, *options):
        self.assertEqual(text_of(path, keys, '--threads', '1', *options), text_of(path, keys, '--threads', '2', *options))

    def test_real_traces(self):
        for name in REAL:
            sample = real(name)
            # Reading and counting are independent, so each key is tested with only one of the two formats.
            for turn, keys in enumerate(('call-site', 'cache,call-site', 'task,size', 'lifetime', 'order,migrate-type', 'stack')):
                with self.subTest(name=name, keys=keys):
                    self.check_threads((sample.path, sample.kmt)[turn % 2], keys)

    def test_planted_traces(self):
        for number, make in enumerate((*PLANTED.values(), lambda: planted('amd64', 10, 50_000))):
            sample = make()
            for turn, keys in enumerate(groups_oracle.KEYS):
                if (number + turn // 2) % 2:  # another sample checks this key
                    continue
                with self.subTest(path=sample.path, keys=keys):
                    if turn % 2:
                        self.check_threads(sample.path, keys)
                    else:
                        self.check_threads(sample.kmt, keys, '--cpu', '1')

    def test_text_output(self):
        for path in (real('amd64/trace.dat').path, planted('s390x', 2).path):
            texts = [run('report', '--by', 'cache,call-site', '--threads', count, path).stdout for count in ('1', '2')]
            self.assertEqual(texts[0], texts[1])


if __name__ == '__main__':
    unittest.main()
