#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares perf.data with perf: every event with the output of `perf script`, reports with totals computed from that
text, and call sites and totals with `perf kmem stat`. Pipe mode and other formats are compared with the same file in
file mode."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import kmem_oracle  # noqa: E402
import perfdata  # noqa: E402
from kmemtrace import data, report, run  # noqa: E402

PAGE = 4096  # page size of all fixtures
KERNELS = ('amd64', 'amd64-5.10', 'arm64', 'i386', 's390x')
TRACES = tuple(f'{kernel}/perf.data' for kernel in KERNELS) + (
    'amd64/perf.g.data', 'i386/perf.g.data', 's390x/perf.g.data', 'amd64/perf.z.data', 's390x/perf.z.data',
    'amd64/perf.lost.data', 's390x/perf.lost.data')
PRINT_EVENTS = os.environ.get('PRINT_EVENTS', '')
LINE = re.compile(r'\s*(?P<comm>.*?)\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+\[(?P<cpu>\d+)\]\s+(?P<s>\d+)\.(?P<ns>\d{9}):\s+'
                  r'kmem:(?P<name>\w+): (?P<rest>.*)')
FRAME = re.compile(r'\s+(?P<address>[0-9a-f]+) \((?P<dso>.*)\)$')

Shown = collections.namedtuple('Shown', 'time cpu tid comm name address site requested allocated stack')


def perf(*arguments):
    return subprocess.run(['perf', *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          encoding='utf-8', errors='replace').stdout


def script(path):
    """Returns [(kmem_oracle.Event, [(address, program) of the call chain, kernel part first])] in perf's order."""
    events = []
    fields = 'comm,tid,pid,cpu,time,event,trace'
    # perf.z.data has no build IDs. Without --kallsyms, perf would use the names of this machine's kernel.
    for line in perf('script', '--ns', '--kallsyms', '/dev/null', '-i', path, '-F', fields + (',ip,dso' if '.g.' in path else '')).splitlines():
        match, frame = LINE.match(line), FRAME.match(line)
        if match:
            pairs = dict(pair.split('=', 1) for pair in match['rest'].split() if '=' in pair)
            time = int(match['s']) * 10**9 + int(match['ns'])
            events.append((kmem_oracle.Event(time, int(match['cpu']), int(match['tid']), match['comm'], match['name'],
                                             pairs), []))
        elif frame:
            events[-1][1].append((int(frame['address'], 16), frame['dso']))
        elif line.strip():
            raise ValueError(f'not understood: {line!r}')
    return events


def printed(path):
    done = subprocess.run([PRINT_EVENTS, path], stdout=subprocess.PIPE, check=True, encoding='utf-8')
    for line in done.stdout.splitlines():
        words = line.split('\t')
        numbers = [int(words[i]) for i in (0, 1, 2, 5, 6, 7, 8)]
        yield Shown(*numbers[:3], words[3], words[4], *numbers[3:], [int(address) for address in words[9].split()])


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def written(self, name, contents):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as file:
            file.write(contents)
        return path

    def contents(self, name):
        path = data(name)
        if not os.path.exists(path):
            return subprocess.run(['zstd', '-q', '-d', '-c', path + '.zst'], stdout=subprocess.PIPE, check=True).stdout
        with open(path, 'rb') as file:
            return file.read()

    def original(self, name):
        """Returns the path of a fixture. Unpacks a compressed fixture first."""
        return self.written(name.replace('/', '.'), self.contents(name))


class Events(Case):
    """Compares the events one by one; the order must be the same."""

    def check(self, name):
        path = self.original(name)
        want = script(path)
        got = list(printed(path))
        renamed = self.renamed(path)
        self.assertGreater(len(want), 400)
        self.assertEqual(len(want), len(got))
        for (event, stack), shown in zip(self.sorted_alike(want), got):
            with self.subTest(event=event):
                comm = '<idle>' if event.tid == 0 else event.comm
                self.assertEqual((event.time, event.cpu, event.tid, event.name), shown[:3] + shown[4:5])
                if (event.time, event.tid) not in renamed:  # a rename at the same time may be before or after the event
                    self.assertEqual(comm, shown.comm)
                kernel, user = stack[:len(shown.stack)], stack[len(shown.stack):]
                self.assertEqual([address for address, _ in kernel], shown.stack)
                self.assertFalse([dso for _, dso in kernel if dso.startswith('/')])
                self.assertFalse([dso for _, dso in user if dso.startswith('[kernel')])
                for field, value in (('call_site', shown.site), ('ptr', shown.address), ('pfn', shown.address),
                                     ('bytes_req', shown.requested), ('bytes_alloc', shown.allocated)):
                    if field in event.fields and event.name in kmem_oracle.ALLOCATIONS | kmem_oracle.FREES:
                        self.assertEqual(kmem_oracle.number(event.fields[field]), value, field)

    @staticmethod
    def renamed(path):
        """Returns {(time, task)} of all renames."""
        text = perf('script', '--ns', '--show-task-events', '-i', path, '-F', 'comm,tid,pid,cpu,time,event')
        return {(int(s) * 10**9 + int(ns), int(task)) for s, ns, task in re.findall(
            r'(\d+)\.(\d{9}): PERF_RECORD_COMM(?: exec)?: .*:\d+/(\d+)$', text, re.M)}

    @staticmethod
    def sorted_alike(events):
        """perf orders events of equal time by the CPU whose buffer it read first; kmemtrace sorts them by CPU."""
        runs, last = [], None
        for event in events:
            if last != event[0].time:
                runs.append([])
            runs[-1].append(event)
            last = event[0].time
        return [event for same in runs for event in sorted(same, key=lambda event: event[0].cpu)]

    def test_all_traces(self):
        for name in TRACES:
            with self.subTest(name):
                self.check(name)


class Reports(Case):
    def test_totals_equal_those_of_perf_script(self):
        for name in TRACES:
            with self.subTest(name):
                path = self.original(name)
                want = kmem_oracle.Report([event for event, _ in script(path)], PAGE)
                found = kmem_oracle.differences(want, report(path))
                self.assertFalse(found, f'{len(found)} differences:\n' + '\n'.join(found[:20]))

    def test_expected_totals(self):
        """The totals must equal those written when the traces were recorded."""
        for name in TRACES:
            with self.subTest(name), open(data(name) + '.expected.json', encoding='ascii') as file:
                want, got = json.load(file), report(self.original(name))
                self.assertEqual(want['events'], got['events'])
                self.assertEqual(want['slab'], {key: got['slab'][key] for key in want['slab']})
                self.assertEqual(want['duration_ns'], got['trace']['duration_ns'])
                for key, value in want['anomalies'].items():
                    self.assertEqual(value, got['anomalies'].get(key, 0), key)

    def test_losses(self):
        """perf writes LOST records. Totals at the end of the file include these losses."""
        for name in ('amd64/perf.lost.data', 's390x/perf.lost.data'):
            with self.subTest(name):
                path = self.original(name)
                per_cpu = collections.Counter()
                dump = perf('script', '-D', '-i', path)
                for cpu, lost in re.findall(r'^(\d+) \d+ 0x\w+ \[0x\w+\]: PERF_RECORD_LOST: id:\d+: lost:(\d+)$', dump,
                                            re.M):
                    per_cpu[int(cpu)] += int(lost)
                sums = sum(map(int, re.findall(r'PERF_RECORD_LOST_SAMPLES: id:\d+: lost samples :(\d+)', dump)))
                trace = report(path)['trace']
                self.assertGreater(min(per_cpu.values()), 0)
                self.assertGreater(sums, 0)
                self.assertGreaterEqual(trace['lost_events'], max(sum(per_cpu.values()), sums))
                self.assertLess(trace['lost_events'], sum(per_cpu.values()) + sums)

    def test_facts_about_the_machine(self):
        for kernel, facts in (
                ('amd64', {'arch': 'x86_64', 'byte_order': 'little', 'word_bits': 64, 'kernel': '6.1.0-56-cloud-amd64'}),
                ('i386', {'arch': 'i686', 'byte_order': 'little', 'word_bits': 32}),
                ('s390x', {'arch': 's390x', 'byte_order': 'big', 'word_bits': 64})):
            trace = report(self.original(f'{kernel}/perf.data'))['trace']
            facts.update(page_size=PAGE, cpus=2, clock='perf', lost_events=0)
            self.assertEqual(facts, {key: trace[key] for key in facts})
            self.assertIn('perf record -a -e kmem:*', trace['recorder_arguments'])


class PerfKmem(Case):
    """Results must agree with `perf kmem stat` if the definitions are the same (docs/perf-kmem.md)."""
    ROW = re.compile(r' 0x(\w+) +\| +(\d+)/\d+ +\| +(\d+)/\d+ +\| +(\d+) \|')

    def test_call_sites(self):
        for kernel in set(KERNELS) - {'arm64'}:  # perf cannot parse a print format of arm64 and gives up
            with self.subTest(kernel):
                path = self.original(f'{kernel}/perf.data')
                text = perf('kmem', '-i', path, '--caller', '--raw-ip', '-l', '100000', 'stat')
                got = report(path)
                sites = {int(site['address'], 16): (site['bytes_allocated'], site['bytes_requested'], site['allocations'])
                         for site in got['call_sites'] if site['allocations']}
                want = {int(site, 16): tuple(map(int, numbers)) for site, *numbers in self.ROW.findall(text)}
                self.assertGreater(len(want), 20)
                self.assertEqual(want, sites)
                total = {line.split(':')[0]: line.split(':')[1].strip() for line in text.splitlines()
                         if line.startswith(('Total', 'Internal'))}
                self.assertEqual(int(total['Total bytes requested']), got['slab']['bytes_requested'])
                self.assertEqual(int(total['Total bytes allocated']), got['slab']['bytes_allocated'])
                self.assertEqual(int(total['Total bytes wasted on internal fragmentation']),
                                 got['slab']['bytes_allocated'] - got['slab']['bytes_requested'])


class PerfKmemStyle(Case):
    """Compares `report --style perf-kmem` line by line, except for the differences listed in docs/perf-kmem.md."""
    SLAB = tuple(f'{kernel}/perf.data' for kernel in KERNELS if kernel != 'arm64') + tuple(
        name for name in TRACES if '.g.' in name or '.z.' in name)  # perf cannot parse a print format of arm64
    PAGES = 'amd64/perf.data', 'amd64-5.10/perf.data', 'i386/perf.data', 's390x/perf.data'
    PING_PONG = 4
    SWAPPED = {'RECLAIM': 'MOVABLE', 'MOVABLE': 'RECLAIM'}  # perf uses the names of kernels before 4.4

    def ours(self, path, *options):
        done = run('report', path, '--style', 'perf-kmem', *options)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    @staticmethod
    def tables(text):
        """Returns the tables as [(header, [row])], and all other lines. A row is a list of cells. A line of dashes ends
        a table."""
        tables, others, inside = [], [], 0
        for line in text.splitlines():
            if set(line) == {'-'} and len(line) == 105:
                inside = (inside + 1) % 3
                if inside == 1:
                    tables.append([None, []])
            elif inside == 1:
                tables[-1][0] = line.rstrip()
            elif inside == 2:
                tables[-1][1].append([cell if cell.strip() == '...' else cell for cell in line.split(' | ')])
            else:
                others.append(line)
        return tables, others

    def compare_slab(self, path, *options):
        want, want_others = self.tables(perf('kmem', '-i', path, '--raw-ip', *options, 'stat'))
        got, got_others = self.tables(self.ours(path, '--raw-ip', *options))
        self.assertEqual(len(want), len(got))
        for (header, rows), (our_header, our_rows) in zip(want, got):
            self.assertEqual(header, our_header)
            self.assertEqual(len(rows), len(our_rows))
            self.assertGreater(len(rows), 1)
            order = [[row[i] for i in (5, 3)] for row in rows]  # fragmentation, hits
            self.assertEqual(order, [[row[i] for i in (5, 3)] for row in our_rows])
            for row in rows + our_rows:
                row[self.PING_PONG] = f'{len(row[self.PING_PONG])} columns wide'
            if '-l' not in options:  # perf does not define the order of equal rows
                self.assertEqual(sorted(rows), sorted(our_rows))
        return want_others, got_others

    def test_slab(self):
        for name in self.SLAB:
            with self.subTest(name):
                path = self.original(name)
                want, got = self.compare_slab(path, '--caller', '--alloc')
                self.compare_slab(path, '--caller', '-l', '7', '--alloc', '-l', '3')
                self.compare_slab(path, '--alloc', '--caller', '-l', '5')
                self.compare_slab(path, '-l', '2', '--alloc')
                self.compare_slab(path, '-l', '2', '--caller', '--alloc')
                self.assertEqual([line.split(':')[0] for line in want], [line.split(':')[0] for line in got])
                for ours, line in zip(got, want):
                    if line.startswith('Cross CPU'):
                        self.assertEqual(line.split('/')[1], ours.split('/')[1])
                    elif not line.startswith(('Total bytes freed', 'Net total')):
                        self.assertEqual(line, ours)
                self.assertEqual([line for line in got if line], [line for line in self.ours(path).splitlines() if line])

    def test_ping_pong_and_freed(self):
        for name in self.SLAB:
            with self.subTest(name):
                path = self.original(name)
                text, reported = self.ours(path, '--caller', '--raw-ip'), report(path)
                got = {int(row[0], 16): int(row[self.PING_PONG]) for row in self.tables(text)[0][0][1]}
                self.assertEqual({int(site['address'], 16): site['cross_cpu_frees'] for site in reported['call_sites']
                                  if site['allocations']}, got)
                slab = reported['slab']
                self.assertIn(f'Total bytes freed:     {slab["bytes_freed"]}\n', text)
                self.assertIn(f'Net total bytes allocated: {slab["bytes_allocated"] - slab["bytes_freed"]}\n', text)

    def page_rows(self, text):
        """Returns the headers of the page tables, their rows (without call sites, with GFP flags as numbers), and all
        other lines."""
        tables, others = self.tables(text)
        numbers = {match[2]: int(match[1], 16) for match in map(re.compile(r'# (\w{8}): +(\S+): ').match, others) if match}
        rows = []
        for _, of in tables:
            rows.append([[cell.strip() for cell in row[:-2]] + [numbers[row[-2].strip()]] for row in of
                         if row[0].strip() != '...'])
        headers = [re.sub(r'GFP flags +', 'GFP flags ', header) for header, _ in tables]
        return headers, rows, [line for line in others if not line.startswith('#')]

    def test_pages(self):
        for name in self.PAGES:
            for options in ((), ('--caller', '--alloc'), ('--live', '--caller', '--alloc'), ('--caller', '-l', '3')):
                with self.subTest(name, options=options):
                    path = self.original(name)
                    headers, want, others = self.page_rows(perf('kmem', '-i', path, '--page', *options, 'stat'))
                    our_headers, got, our_others = self.page_rows(self.ours(path, '--page', *options))
                    self.assertEqual(headers, our_headers)
                    for rows in want:
                        for row in rows:
                            row[-2] = self.SWAPPED.get(row[-2], row[-2])
                    self.assertEqual([sorted(rows, key=str) for rows in want], [sorted(rows, key=str) for rows in got])
                    self.assertEqual([line if not re.match(r' *\d', line) else self.swapped(line) for line in others],
                                     our_others)

    @staticmethod
    def swapped(line):
        cells = [line[:5]] + [line[i:i + 14] for i in range(5, len(line), 14)]
        return ''.join(cells[:2] + [cells[3], cells[2]] + cells[4:])

    def test_both_slab_and_pages(self):
        path = self.original('amd64/perf.data')
        slab, pages = self.ours(path, '--caller'), self.ours(path, '--page', '--caller')
        self.assertEqual(slab + pages, self.ours(path, '--slab', '--page', '--caller'))


class OtherForms(Case):
    """The same trace in another form must give the same report."""

    def compare(self, want, got, without=()):
        for key, value in want.items():
            if key not in ('trace', 'findings', *without):
                self.assertEqual(value, got[key], key)
        for key in ('first_ns', 'duration_ns', 'cpus', 'kernel', 'arch', 'lost_events', 'clock', 'page_size'):
            self.assertEqual(want['trace'].get(key), got['trace'].get(key), key)

    def test_file_and_pipe_written_again(self):
        for name in TRACES:
            with self.subTest(name):
                model = perfdata.read(self.contents(name))
                want = report(self.original(name))
                again = report(self.written('again', perfdata.to_file(model)))
                pipe = report(self.written('pipe', perfdata.to_pipe(model)))
                self.assertEqual(want['findings'], again['findings'])
                self.compare(want, again)
                self.compare(want, pipe)
                self.assertEqual('perf.data, pipe mode', pipe['trace']['format'])

    def test_converted_traces(self):
        for name in TRACES:
            want = report(self.original(name))
            for extension in ('kmt', 'dat', 'ctf'):
                with self.subTest(name, to=extension):
                    path = os.path.join(self.folder, f'{name.replace("/", "-")}.{extension}')
                    done = run('convert', self.original(name), path)
                    # A trace.dat cannot store memory mappings of processes or task names before an exec. s390x has no
                    # recorded mappings.
                    left_out = '.g.' in name and extension == 'dat' and 's390x' not in name
                    self.assertEqual(1 if extension == 'dat' else 0, done.returncode, done.stderr)
                    self.assertEqual(left_out, 'the code mappings of processes' in done.stderr)
                    self.assertEqual(extension == 'dat', 'earlier names of tasks' in done.stderr)
                    got = report(path)
                    stacks = got['events'].pop('kernel_stack', 0)
                    got['events'].pop('user_stack', 0)
                    self.assertEqual(sum(want['events'].values()) if '.g.' in name else 0, stacks)
                    self.compare(want, got)

    def test_no_unused_event_id_for_stacks(self):
        model = perfdata.read(self.contents('amd64/perf.g.data'))
        tracing = model.features[perfdata.TRACING_DATA]
        at = tracing.index(b'header_event\0') + 13
        at += 8 + int.from_bytes(tracing[at:at + 8], 'little')
        texts = [b'name: e%d\nID: %d\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n'
                 b'print fmt: ""\n' % (number, number) for number in range(65536)]
        count = int.from_bytes(tracing[at:at + 4], 'little') + len(texts)
        made = b''.join(len(text).to_bytes(8, 'little') + text for text in texts)
        model.features[perfdata.TRACING_DATA] = tracing[:at] + count.to_bytes(4, 'little') + made + tracing[at + 4:]
        path, converted = self.written('ids', perfdata.to_file(model)), os.path.join(self.folder, 'converted.kmt')
        done = run('convert', path, converted)
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertIn('stacks: no event id is left', done.stderr)
        self.assertNotIn('kernel_stack', report(converted)['events'])

    def test_conversion_keeps_stacks(self):
        path, converted = self.original('s390x/perf.g.data'), os.path.join(self.folder, 'converted.kmt')
        self.assertEqual(0, run('convert', path, converted).returncode)
        want = [shown[4:] for shown in printed(path)]
        got = [shown[4:] for shown in printed(converted) if shown.name != 'kernel_stack']
        self.assertEqual(want, got)

    def test_conversion_keeps_names_and_processes(self):
        for name in TRACES:
            path, converted = self.original(name), os.path.join(self.folder, 'converted.kmt')
            self.assertEqual(0, run('convert', path, converted).returncode)
            # In traces with losses, an exec has the same timestamp as events before it.
            by_name = [] if '.lost.' in name else [('--by', 'comm')]
            for by in (*by_name, ('--by', 'process'), ('--by', 'process', '--tree')):
                with self.subTest(name, by=by):
                    rows = report(path, *by)['groups']['slab']['rows']
                    self.assertGreater(len(rows), 1)
                    self.assertEqual(rows, report(converted, *by)['groups']['slab']['rows'])


class Symbols(Case):
    """A kallsyms file of another boot has other addresses."""

    def kallsyms(self, path, slide):
        """Writes a kallsyms file that names each call site. Its `_text` is the recorded kernel address plus `slide`."""
        sites = [int(site['address'], 16) for site in report(path)['call_sites']]
        model = perfdata.read(self.contents('amd64/perf.data'))
        text = next(record for record in model.records if b'[kernel.kallsyms]_text' in record)
        start = int.from_bytes(text[32:40], 'little')
        lines = [f'{start + slide:016x} T _text'] + [f'{site + slide:016x} t site_{site:x}' for site in sorted(set(sites))]
        lines += [f'{max(sites) + slide + 4096:016x} t last', f'{max(sites) + slide + 8192:016x} t odd\t[odd]']
        return self.written('kallsyms', '\n'.join(lines).encode() + b'\n')

    def test_named_call_sites(self):
        path = self.original('amd64/perf.data')
        for slide in (0, 0x1200000, -0x3000000):
            got = report(path, '--kallsyms', self.kallsyms(path, slide))
            for site in got['call_sites']:
                self.assertEqual(f'site_{int(site["address"], 16):x}+0x0', site['symbol'].split('/')[0])
            details = [finding['examples'][0]['detail'] for finding in got['findings']
                    if finding['kind'] == 'kernel_symbols_from_elsewhere']
            self.assertEqual(1, len(details))
            self.assertIn('kallsyms', details[0])
            self.assertEqual(slide != 0, 'moved' in details[0])

    def test_refused_kallsyms(self):
        path = self.original('amd64/perf.data')
        for text, words in ((b'ffffffff81000000 T _stext\n', 'another kernel'), (b'0000000000000000 T _text\n', 'no symbols'),
                            (b'', 'no symbols')):
            done = run('report', path, '--kallsyms', self.written('other', text))
            self.assertEqual(2, done.returncode)
            self.assertIn(words, done.stderr)

    def test_symbols_of_another_kernel_are_never_used(self):
        got = report(self.original('amd64/perf.data'))
        kinds = {finding['kind'] for finding in got['findings']}
        self.assertIn('no_kernel_symbols', kinds)
        self.assertNotIn('kernel_symbols_from_elsewhere', kinds)


class Commands(Case):
    def test_all_commands_read_perf_data(self):
        path = self.original('amd64/perf.data')
        for command in (('check', path), ('report', path), ('leaks', path), ('timeline', path), ('pages', path),
                        ('diff', path, path)):
            done = run(*command)
            self.assertIn(done.returncode, (0, 1, 4), done.stderr)
            self.assertIn('6.1.0-56-cloud-amd64', done.stdout, command)


if __name__ == '__main__':
    unittest.main()
