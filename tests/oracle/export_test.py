#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests `export` by reading its files with other tools: Python's sqlite3, csv and json, and `go tool pprof`. The
numbers must equal those of `report --json`, for real traces of five kernels, generated traces, and a trace with
hostile names."""
import collections
import csv
import gzip
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

from export_traces import (FOLDER, METRICS, Case, data, expected, export, export_file, knows_bytes, place, planted, report, run,
                           reported_of, totals, unfinished)

SPEEDSCOPE_SCHEMA = os.environ.get('SPEEDSCOPE_SCHEMA', '')


class Events(Case):
    """Tests CSV and JSON lines."""

    def check(self, path):
        reported = report(path)
        rows = list(csv.DictReader(io.StringIO(export(path, 'csv'))))
        lines = [json.loads(line) for line in export(path, 'jsonl').splitlines()]
        self.assertEqual(reported['events'], dict(collections.Counter(row['event'] for row in rows)))
        times = [int(row['time_ns']) for row in rows]
        self.assertEqual(sorted(times), times)
        for row, line in zip(rows, lines, strict=True):
            from_json = {key: ';'.join(frame.replace(';', '\\x3b') for frame in value) if key == 'stack' else str(value)
                    for key, value in line.items()}
            for key in ('task', 'event', 'symbol', 'cache', 'migrate_type', 'gfp_flags', 'stack'):
                if from_json.get(key, '').startswith(('=', '+', '-', '@')):  # a spreadsheet would treat this as a formula
                    from_json[key] = f'\\x{ord(from_json[key][0]):02x}{from_json[key][1:]}'
            self.assertEqual({key: value for key, value in row.items() if value != ''}, from_json)
        for allocator, total in totals(reported).items():
            of = [row for row in lines if row.get('allocator') == allocator]
            began = [row for row in of if row.get('outcome', '').startswith('allocation')]
            twice = sum(row['outcome'] == 'allocation-reported-twice' for row in began)
            self.assertEqual(total['allocations'], len(began) - twice)
            self.assertEqual(total['failed_allocations'], sum(row.get('outcome') == 'failed' for row in of))
            if not twice:
                self.assertEqual(total['bytes_allocated'], sum(row['bytes_allocated'] for row in began))
            if allocator != 'pages':
                frees = [row for row in of if row.get('outcome') == 'free']
                self.assertEqual(total['matched_frees'], len(frees))
                self.assertEqual(total['lifetime']['mean_ns'],
                                 sum(row['lifetime_ns'] for row in frees) // max(len(frees), 1))
        # Each free refers to the allocation that it ends.
        began = {row['allocation']: row for row in lines if row.get('outcome', '').startswith('allocation')}
        for row in lines:
            if row.get('outcome') == 'free' and row['allocator'] != 'pages':
                self.assertEqual(began[row['allocation']]['address'], row['address'])
                self.assertEqual(began[row['allocation']]['time_ns'] + row['lifetime_ns'], row['time_ns'])

    def test_all_traces(self):
        self.of_all(self.check)

    def test_formulas(self):
        """No cell may start like a spreadsheet formula. The original text must be recoverable."""
        path = place('formulas')
        names = '=cmd|x', '+1', '-sh', '@SUM(1)', '=a,"b"', "it's=1"
        with open(path, 'w', encoding='ascii') as file:
            for i, name in enumerate(names):
                file.write(f'{name:>16}-{7 + i:<5} [000] ..... 10.{i:06}: kmalloc: call_site=f+0x1/0x2 '
                           f'ptr=00000000000001{i}0 bytes_req=90 bytes_alloc=96 gfp_flags=GFP_KERNEL\n')
        rows = list(csv.DictReader(io.StringIO(export(path, 'csv'))))
        self.assertEqual(['\\x3dcmd|x', '\\x2b1', '\\x2dsh', '\\x40SUM(1)', '\\x3da,"b"', "it's=1"],
                         [row['task'] for row in rows])
        lines = [json.loads(line) for line in export(path, 'jsonl').splitlines()]
        self.assertEqual(list(names), [line['task'] for line in lines])

    def test_stacks_are_exported_once(self):
        """The line of an event must contain the event's stack. The line of a stack record must contain the stack only
        if it belongs to no event."""
        for path in (data('amd64-stacks/trace.dat'), data('s390x/trace.stack.dat')):
            lines = [json.loads(line) for line in export(path, 'jsonl').splitlines()]
            records = [line for line in lines if line['event'] == 'kernel_stack']
            reported = sum('stack' in line for line in lines)
            self.assertGreater(len(records), 400)
            self.assertEqual(len(records), reported)
            done = run('check', path, '--json')
            unmatched = sum(finding['count'] for finding in json.loads(done.stdout)['files'][0]['findings']
                            if finding['kind'] == 'unmatched_stack')
            self.assertEqual(unmatched, sum('stack' in line for line in records))

    def test_a_part(self):
        path = data('amd64/trace.dat')
        for options in (('--cache', 'kmalloc-*'), ('--cpu', '0'), ('--time', '+0.05,+0.1'), ('--context', 'softirq')):
            with self.subTest(options):
                reported = report(path, *options)
                lines = [json.loads(line) for line in export(path, 'jsonl', *options).splitlines()]
                slab = [row for row in lines if row.get('allocator') == 'slab']
                self.assertEqual(reported['slab']['allocations'], sum(row['outcome'] == 'allocation' for row in slab))
                self.assertEqual(reported['slab']['matched_frees'], sum(row['outcome'] == 'free' for row in slab))

    def test_closed_pipe(self):
        done = subprocess.run(f'"$KMEMTRACE" export "{data("amd64/trace.dat")}" --to csv | head -n 2', shell=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((b'', 2), (done.stderr, len(done.stdout.splitlines())))


class Sqlite(Case):
    MEASURES = ('allocations', 'failed_allocations', 'bytes_requested', 'bytes_allocated', 'bytes_freed',
                'live_allocations', 'live_bytes', 'cross_cpu_frees', 'first_ns', 'last_ns')
    # The key and the columns of each view, in addition to the allocator.
    VIEWS = {'call_sites': ('call-site', ('call_site',)), 'caches': ('cache', ('cache',)),
             'tasks': ('task', ('tid', 'task')), 'comms': ('comm', ('task',)), 'sizes': ('size', ('size',)),
             'requested_sizes': ('requested-size', ('size',)), 'migrate_types': ('migrate-type', ('migrate_type',)),
             'gfp_flags': ('gfp', ('printf("0x%x", gfp_value)', 'gfp_text')), 'nodes': ('node', ('node',)),
             'cpus': ('cpu', ('cpu',)), 'contexts': ('context', ('context',))}

    def open(self, path, *options):
        connection = sqlite3.connect(export_file(path, 'sqlite', *options))
        connection.row_factory = sqlite3.Row
        self.addCleanup(connection.close)
        return connection

    @staticmethod
    def key_of(key, value):
        if key == 'call-site':
            return (value['address'],)
        if key == 'task':
            return value['tid'], value['comm']
        if key == 'gfp':
            return value['value'], value['text']
        if key == 'migrate-type':
            return (value and value['name'],)
        return (value,)

    def same_groups(self, connection, path, view, options):
        key, columns = self.VIEWS[view]
        reported = report(path, '--by', key, *options)
        single = view in ('caches', 'migrate_types')
        allocator = f"'{'slab' if view == 'caches' else 'pages'}'" if single else 'allocator'
        got = {}
        for row in connection.execute(f'SELECT {allocator} AS of, {", ".join(columns)}, * FROM report_{view}'):
            got[(row['of'], *(row[1 + i] for i in range(len(columns))))] = row
        want = {(allocator, *self.key_of(key, row['keys'][key])): row
                for allocator, table in reported['groups'].items() for row in table['rows']}
        if key in ('node', 'requested-size', 'size', 'gfp'):  # these keys do not apply to every allocator
            got = {name: row for name, row in got.items() if name[0] in reported['groups']}
        self.assertEqual(set(want), set(got))
        for name, row in want.items():
            for measure in self.MEASURES:
                if row[measure] is None or not knows_bytes(reported, name[0]) and 'bytes' in measure:
                    continue
                if measure in ('first_ns', 'last_ns') and self.twice:
                    continue
                self.assertEqual(row[measure], got[name][measure], (view, name, measure))
            self.assertEqual(row['frees'], got[name]['matched_frees'], (view, name))
            self.assertEqual(row['lifetime']['mean_ns'], got[name]['mean_lifetime_ns'] or 0, (view, name))

    def check(self, path, *options):
        connection = self.open(path, *options)
        reported = reported_of(path, *options)
        self.assertEqual('ok', connection.execute('PRAGMA integrity_check').fetchone()[0])
        self.assertEqual([], connection.execute('PRAGMA foreign_key_check').fetchall())
        self.twice = connection.execute("SELECT count(*) FROM allocations WHERE state = 'reported-twice'").fetchone()[0]
        facts = dict(connection.execute('SELECT name, value FROM trace').fetchall())
        self.assertEqual((reported['trace']['kernel'], reported['trace']['lost_events'], 1),
                         (facts['kernel'], facts['lost_events'], facts['complete']))
        if not options:
            self.assertEqual(reported['events'], dict(connection.execute('SELECT name, count FROM report_events').fetchall()))
        rows = {row['allocator']: row for row in connection.execute('SELECT * FROM report_totals')}
        self.assertEqual(set(totals(reported)), set(rows))
        for allocator, total in totals(reported).items():
            for name in set(total) & set(rows[allocator].keys()):
                if name in ('cross_node_frees',) or total[name] is None or \
                        'bytes' in name and not knows_bytes(reported, allocator):
                    continue
                self.assertEqual(total[name], rows[allocator][name], (allocator, name))
        self.assertEqual([[row[key] for key in ('order', 'allocations', 'failed_allocations', 'frees', 'bytes_allocated',
                                                'live_bytes')] for row in reported['page_orders']],
                         [list(row) for row in connection.execute('SELECT * FROM report_page_orders')])
        for view in self.VIEWS:
            self.same_groups(connection, path, view, options)
        anomalies = dict(connection.execute('SELECT kind, count FROM report_anomalies').fetchall())
        # The view of anomalies in the database counts a block as freed twice only if all of its pages had been freed
        # before.
        twice = 'pages_freed_twice'
        self.assertLessEqual(anomalies.pop(twice, 0), reported['anomalies'].get(twice, 0))
        self.assertEqual({kind: count for kind, count in reported['anomalies'].items() if 'another' not in kind and kind != twice},
                         anomalies)
        self.same_lifetimes(connection, path, options)
        leaks = connection.execute('SELECT count(*), min(age_ns) FROM leaks').fetchone()
        self.assertEqual(sum(total['live_allocations'] for total in totals(reported).values()), leaks[0])
        self.assertGreaterEqual(leaks[1] or 0, 0)
        crossing = connection.execute('SELECT coalesce(sum(frees), 0) FROM cross_cpu WHERE cpu <> freed_cpu').fetchone()[0]
        slab = [sum(row['cross_cpu_frees'] for row in rows.values())]
        self.assertEqual(slab, [crossing])
        wasted = connection.execute('SELECT coalesce(sum(bytes_wasted), 0) FROM wasted').fetchone()[0]
        self.assertEqual(reported['slab']['bytes_allocated'] - reported['slab']['bytes_requested'], wasted)
        if reported['trace']['stacks'] > 0:
            report_by_stack = report(path, '--by', 'stack', *options)['groups']
            frames = collections.defaultdict(list)
            for stack, address in connection.execute('SELECT stack, printf("0x%x", address) FROM frames ORDER BY 1, depth'):
                frames[stack].append(address)
            got = collections.Counter()
            for row in connection.execute('SELECT * FROM report_stacks'):
                got[row['allocator'], tuple(frames[row['stack']])] += row['allocations']
            want = collections.Counter()
            for allocator, table in report_by_stack.items():
                for row in table['rows']:
                    want[allocator, tuple(frame['address'] for frame in row['keys']['stack'])] += row['allocations']
            self.assertEqual(want, got)

    def same_lifetimes(self, connection, path, options):
        reported = report(path, '--by', 'lifetime', *options)['groups']
        want = {(allocator, row['keys']['lifetime']['from_ns'], row['keys']['lifetime']['to_ns']): row['frees']
                for allocator, table in reported.items() for row in table['rows'] if row['keys']['lifetime']}
        got = {tuple(row)[:3]: row[3] for row in
               connection.execute('SELECT allocator, from_ns, to_ns, matched_frees FROM lifetimes')}
        self.assertEqual(want, got)

    def test_all_traces(self):
        self.of_all(self.check)

    def test_a_part(self):
        for options in (('--cache', 'kmalloc-*'), ('--cpu', '0'), ('--time', '+0.05,+0.1'), ('--pid', '1')):
            with self.subTest(options):
                self.check(data('amd64/trace.dat'), *options)

    def test_frees_of_the_recorder(self):
        self.check(data('../../docs/tutorial/leak.kmt'))

    def test_every_view(self):
        connection = self.open(planted('hostile', 'amd64', hostile=True, stacks=True))
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
            connection.execute(f'SELECT * FROM {name}').fetchall()

    def test_needs_a_file(self):
        done = run('export', data('amd64/trace.dat'), '--to', 'sqlite')
        self.assertEqual(2, done.returncode)
        self.assertIn('-o FILE', done.stderr)


class Stacks(Case):
    """Tests collapsed stacks, speedscope and Firefox Profiler."""

    def check_collapsed(self, path):
        reported = reported_of(path)
        for metric in (*METRICS, 'peak'):
            sums = collections.Counter()
            for line in export(path, 'collapsed', '--metric', metric).splitlines():
                stack, value = line.rsplit(' ', 1)
                root, *frames = stack.split(';')
                self.assertGreater(len(frames), 0)
                sums[root.strip('[]')] += int(value)
            if metric == 'peak':  # the peaks of different stacks occur at different times
                for name, value in sums.items():
                    self.assertGreaterEqual(value, reported[name]['peak_bytes'])
            else:
                self.assertEqual({name: value for name, value in expected(reported, metric).items() if value}, dict(sums))

    def test_collapsed(self):
        self.of_all(self.check_collapsed)

    def check_speedscope(self, path):
        """Checks properties that the schema cannot express: frame indexes are valid, and weights add up."""
        reported = reported_of(path)
        document = json.loads(export(path, 'speedscope'))
        self.assertEqual('https://www.speedscope.app/file-format-schema.json', document['$schema'])
        frames = document['shared']['frames']
        for frame in frames:
            self.assertLessEqual(set(frame), {'name', 'file', 'line', 'col'})
            self.assertIsInstance(frame['name'], str)
        by_name = {profile['name']: profile for profile in document['profiles']}
        self.assertEqual([*METRICS, 'wasted'], list(by_name))  # viewers add up weights, but peaks do not add up
        for metric, profile in by_name.items():
            self.assertEqual({'type', 'name', 'unit', 'startValue', 'endValue', 'samples', 'weights'}, set(profile))
            self.assertEqual('sampled', profile['type'])
            self.assertIn(profile['unit'], ('none', 'bytes'))
            self.assertEqual(len(profile['samples']), len(profile['weights']))
            self.assertEqual(sum(profile['weights']), profile['endValue'] - profile['startValue'])
            sums = collections.Counter()
            for stack, weight in zip(profile['samples'], profile['weights']):
                self.assertTrue(all(0 <= frame < len(frames) for frame in stack))
                sums[frames[stack[0]]['name'].strip('[]')] += weight
            if metric in METRICS:
                self.assertEqual({name: value for name, value in expected(reported, metric).items() if value}, dict(sums))

    @unittest.skipUnless(jsonschema and os.path.exists(SPEEDSCOPE_SCHEMA), 'needs speedscope and jsonschema')
    def test_speedscope_schema(self):
        """Validates the output against the schema published by speedscope. The schema also rejects invalid profiles,
        so the result is meaningful."""
        with open(SPEEDSCOPE_SCHEMA, encoding='utf-8') as file:
            schema = json.load(file)
        for path in (planted('hostile', 'amd64', hostile=True, stacks=True), data('amd64-stacks/trace.dat')):
            document = json.loads(export(path, 'speedscope'))
            jsonschema.validate(document, schema)
        document['profiles'][0]['unit'] = 'sheep'
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(document, schema)

    def test_speedscope(self):
        self.of_all(self.check_speedscope)

    TABLES = {'frameTable': ('address', 'inlineDepth', 'category', 'subcategory', 'func', 'nativeSymbol',
                             'innerWindowID', 'implementation', 'line', 'column'),
              'funcTable': ('name', 'isJS', 'relevantForJS', 'resource', 'fileName', 'lineNumber', 'columnNumber'),
              'stackTable': ('frame', 'prefix', 'category', 'subcategory'),
              'samples': ('stack', 'time', 'weight'),
              'markers': ('category', 'data', 'name', 'startTime', 'endTime', 'phase'),
              'resourceTable': ('lib', 'name', 'host', 'type'),
              'nativeSymbols': ('libIndex', 'address', 'name', 'functionSize')}

    def check_firefox(self, path):
        """Checks version 49 of the processed profile format, described in src/types/profile.js of Firefox Profiler."""
        reported = reported_of(path)
        document = json.loads(export(path, 'firefox'))
        meta = document['meta']
        self.assertEqual(49, meta['preprocessedProfileVersion'])
        for key in ('interval', 'startTime', 'processType', 'product', 'version', 'categories', 'markerSchema',
                    'symbolicated'):
            self.assertIn(key, meta)
        self.assertEqual([*METRICS, 'wasted'], [thread['name'] for thread in document['threads']])
        for thread in document['threads']:
            for name, columns in self.TABLES.items():
                for column in columns:
                    self.assertEqual(thread[name]['length'], len(thread[name][column]), (name, column))
            texts, stacks, frames = thread['stringArray'], thread['stackTable'], thread['frameTable']
            sums = collections.Counter()
            for stack, weight in zip(thread['samples']['stack'], thread['samples']['weight']):
                depth = 0
                while stacks['prefix'][stack] is not None:
                    self.assertLess(stacks['prefix'][stack], stack)
                    stack = stacks['prefix'][stack]
                    depth += 1
                self.assertGreater(depth, 0)
                root = texts[thread['funcTable']['name'][frames['func'][stacks['frame'][stack]]]].strip('[]')
                self.assertEqual(root, meta['categories'][stacks['category'][stack]]['name'])
                sums[root] += weight
            self.assertIn(thread['samples']['weightType'], ('samples', 'bytes'))
            if thread['name'] in METRICS:
                want = expected(reported, thread['name'])
                self.assertEqual({name: value for name, value in want.items() if value}, dict(sums))

    def test_firefox(self):
        self.of_all(self.check_firefox)


@unittest.skipUnless(shutil.which('go'), 'needs go')
class Pprof(Case):
    TYPES = {'alloc_objects': 'hits', 'alloc_space': 'allocated', 'inuse_objects': 'live-objects',
             'inuse_space': 'live', 'wasted_space': 'wasted'}

    def pprof(self, file, *options):
        done = subprocess.run(['go', 'tool', 'pprof', *options, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=120, text=True, env=dict(os.environ, PPROF_TMPDIR=FOLDER.name))
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def test_totals(self):
        """Each allocator must have a root frame and a label in every sample type."""
        for path in (data('amd64/trace.dat'), data('amd64-stacks/trace.dat'), data('s390x/trace.lost.dat'),
                     planted('hostile', 'amd64', hostile=True, stacks=True)):
            reported = reported_of(path)
            file = export_file(path, 'pprof')
            sums = {name: collections.Counter() for name in self.TYPES}
            text = self.pprof(file, '-raw')
            types = re.search(r'(?m)^Samples:\n(.*)$', text)[1].split()
            names = [name.split('/')[0] for name in types]
            for values, label in re.findall(r'(?m)^ +([\d ]+): [\d ]+\n +allocator:\[(\w+)\]', text):
                for name, value in zip(names, values.split(), strict=True):
                    sums[name.replace('[dflt]', '')][label] += int(value)
            for name, metric in self.TYPES.items():
                if metric == 'wasted' and 'allocated_less_than_requested' in reported['anomalies']:
                    continue  # negative waste does not appear in a stack, but reduces the total
                want = {key: value for key, value in expected(reported, metric).items() if value}
                with self.subTest(os.path.basename(path) + ' ' + name):
                    self.assertEqual(want, {key: value for key, value in sums[name].items() if value})

    def test_top_rows_of_pprof_agree(self):
        path = data('amd64-stacks/trace.dat')
        reported = reported_of(path)
        file = export_file(path, 'pprof')
        for name, metric in (('alloc_space', 'bytes_allocated'), ('alloc_objects', 'allocations')):
            top = self.pprof(file, '-top', '-cum', '-unit=B', '-nodecount=100000', '-nodefraction=0',
                             f'-sample_index={name}')
            found = {match[2]: int(match[1]) for match in re.finditer(r'(\d+)B? +[\d.]+% +\[(\w+)\]$', top, re.M)}
            self.assertEqual({name: total[metric] for name, total in totals(reported).items()}, found)


class Writing(Case):
    def test_refused_arguments(self):
        path = place('own.dat')
        shutil.copy(data('amd64-stacks/trace.dat'), path)
        for arguments, word in (((path, '--to', 'csv', '-o', path), 'not CSV'),
                                ((path, '--to', 'csv', '-o', path, '--force'), 'same file'),
                                ((path, '--to', 'cvs'), '"csv"'), ((path,), '--to'),
                                ((path, '--to', 'collapsed', '--metric', 'hit'), '"hits"'),
                                ((path, '--to', 'csv', '-o', FOLDER.name), 'folder')):
            done = run('export', *arguments)
            self.assertEqual(2, done.returncode, arguments)
            self.assertIn(word, done.stderr)
        with open(path, 'rb') as one, open(data('amd64-stacks/trace.dat'), 'rb') as other:
            self.assertEqual(other.read(), one.read())

    def test_a_failure_keeps_the_old_file(self):
        path, output = place('text'), place('out.db')
        for name in (path, output):
            with open(name, 'w', encoding='ascii') as file:
                file.write('no trace')
        self.assertEqual(2, run('export', path, '--to', 'sqlite', '-o', output).returncode)
        with open(output, encoding='ascii') as file:
            self.assertEqual('no trace', file.read())
        self.assertEqual([], unfinished(output))

    def test_fails_before_reading(self):
        """An output path that cannot be written must be reported before the trace is read. This trace is a FIFO that
        never ends."""
        fifo = place('fifo')
        os.mkfifo(fifo)
        for command in (('export', '--to', 'csv'), ('export', '--to', 'sqlite'), ('flamegraph',)):
            done = run(*command, fifo, '-o', place('no-folder/x'))
            self.assertEqual(2, done.returncode)
            self.assertIn('no-folder/x', done.stderr)

    def test_no_other_file_is_overwritten(self):
        """A symlink with the temporary file name of older versions must not be followed. A replaced file must keep
        its permissions."""
        folder = place('shared')
        os.mkdir(folder)
        victim, output = os.path.join(folder, 'victim'), os.path.join(folder, 'out.svg')
        with open(victim, 'w', encoding='ascii') as file:
            file.write('mine')
        os.symlink(victim, output + '.unfinished')
        draw = ('flamegraph', data('amd64-stacks/trace.dat'), '-o')
        old = os.umask(0o027)
        try:
            self.assertEqual(0, run(*draw, output).returncode)
        finally:
            os.umask(old)
        self.assertEqual(0o600, os.stat(output).st_mode & 0o777)
        os.chmod(output, 0o604)
        self.assertEqual(0, run(*draw, output).returncode)
        self.assertEqual(0o604, os.stat(output).st_mode & 0o777)
        os.symlink('out.svg', os.path.join(folder, 'link.svg'))
        os.truncate(output, 0)
        self.assertEqual(0, run(*draw, os.path.join(folder, 'link.svg')).returncode)
        self.assertFalse(os.path.islink(os.path.join(folder, 'link.svg')))
        self.assertGreater(os.path.getsize(os.path.join(folder, 'link.svg')), 1000)
        self.assertEqual(0, os.path.getsize(output))
        with open(victim, encoding='ascii') as file:
            self.assertEqual('mine', file.read())
        self.assertEqual({'victim', 'out.svg', 'out.svg.unfinished', 'link.svg'}, set(os.listdir(folder)))

    def test_findings_are_reported(self):
        """A picture or a database is often passed on without the findings of the trace, so the command must report
        them."""
        for command in (('export', '--to', 'csv'), ('export', '--to', 'pprof'), ('flamegraph',), ('report', '--html')):
            name = place('lacks.' + command[-1].strip('-'))
            output = [name] if '--html' in command else ['-o', name]
            for path, lost in ((data('s390x/trace.lost.dat'), True), (data('amd64/trace.dat'), False)):
                done = run(*command, *output, path)
                self.assertEqual(0, done.returncode, done.stderr)
                self.assertEqual(lost, 'the trace is incomplete: events were lost' in done.stderr, command)

    def test_output_is_appended_to_an_open_file(self):
        """If a shell redirects standard output with `>>`, the output must be appended to the file."""
        log, fresh = place('log'), place('fresh')
        draw = [os.environ['KMEMTRACE'], 'flamegraph', data('amd64-stacks/trace.dat'), '-o']
        with open(log, 'w', encoding='ascii') as file:
            file.write('before\n')
        for output in ('/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'):
            with open(log, 'a', encoding='ascii') as file:
                subprocess.run([*draw, output], stdout=file, check=True)
        subprocess.run([*draw, fresh], check=True)
        with open(log, encoding='utf-8') as file, open(fresh, encoding='utf-8') as one:
            self.assertEqual('before\n' + 3 * one.read(), file.read())

    def test_a_file_replaces_a_link(self):
        """A symlink at the output path is replaced by a file. Otherwise, users with write access to the folder could
        choose which files root overwrites or creates."""
        folder = place('links')
        os.mkdir(folder)
        victim = os.path.join(folder, 'victim')
        for name, command in (('x.svg', ('flamegraph', data('amd64-stacks/trace.dat'), '-o')),
                              ('x.csv', ('export', data('amd64/trace.dat'), '--to', 'csv', '-o')),
                              ('x.html', ('report', data('amd64/trace.dat'), '--html')),
                              ('x.kmt', ('convert', data('amd64/trace.dat'))),
                              ('x.dat', ('convert', data('amd64/trace.dat')))):
            for target in (victim, os.path.join(folder, 'nowhere'), '/dev/full'):
                with open(victim, 'w', encoding='ascii') as file:
                    file.write('mine')
                link = os.path.join(folder, name)
                os.symlink(target, link)
                if target == victim:
                    self.assertEqual(2, run(*command, link).returncode, name)
                done = run(*command, link, '--force')
                self.assertEqual(0, done.returncode, (name, target, done.stderr))
                self.assertFalse(os.path.islink(link), (name, target))
                self.assertGreater(os.path.getsize(link), 1000)
                os.remove(link)
                with open(victim, encoding='ascii') as file:
                    self.assertEqual('mine', file.read(), name)
                self.assertEqual(['victim'], os.listdir(folder), name)

    def test_errors_name_the_requested_file(self):
        done = run('export', data('amd64/trace.dat'), '--to', 'sqlite', '-o', '/dev/full')
        self.assertEqual(2, done.returncode)
        self.assertNotIn('unfinished', done.stderr)

    def test_signals_leave_no_files(self):
        """Before the first event is read, a signal ends the program."""
        folder, fifo = place('ended'), place('waiting')
        os.mkdir(folder)
        os.mkfifo(fifo)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([os.environ['KMEMTRACE'], 'export', fifo, '--to', 'sqlite', '-o',
                                        os.path.join(folder, 'x.db')], stderr=subprocess.PIPE)
            deadline = time.monotonic() + 20
            while not os.listdir(folder) and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertTrue(os.listdir(folder))
            process.send_signal(number)
            process.communicate(timeout=20)
            self.assertEqual(-number, process.returncode)
            self.assertEqual([], os.listdir(folder))

    def test_output_is_reproducible(self):
        path = data('amd64-stacks/trace.dat')
        for format in ('pprof', 'speedscope', 'firefox', 'perfetto', 'chrome', 'sqlite'):
            with open(export_file(path, format), 'rb') as file:
                first = file.read()
            with open(export_file(path, format), 'rb') as file:
                self.assertEqual(first, file.read(), format)
        with gzip.open(export_file(path, 'pprof')) as file:
            self.assertGreater(len(file.read()), 1000)


if __name__ == '__main__':
    unittest.main()
