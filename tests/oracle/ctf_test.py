#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests CTF. The output of convert is read by babeltrace2 and compared field by field with trace-cmd's text. The
same trace is written again by babeltrace2 and read by kmemtrace. Further traces are generated in the format of
LTTng's kernel tracer."""
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import kmem_oracle  # noqa: E402
from ctf2_writer import Ctf2Writer  # noqa: E402
from kmemtrace import data, report, run  # noqa: E402
from lttng_writer import UUID, Writer, integer  # noqa: E402

TRACES = ('amd64/trace.dat', 'amd64-5.10/trace.dat', 'arm64/trace.dat', 'i386/trace.dat', 's390x/trace.dat',
          's390x/trace.lost.dat', 's390x/trace.stack.dat')
SHOWN = re.compile(r'\[(\d+)\.(\d{9})\] (?:\S+ )?(\S+): \{ cpu_id = (\d+) \}, \{ tid = (-?\d+), '
                   r'common_flags = (\d+), common_preempt_count = \d+ \}(?:, \{ (.*) \})?$')
FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|\[[^]]*\]|[^,]+)(?:, |$)')
PAIR = re.compile(r'(\w+)=(ARRAY\[[^]]*\]|\S*)(?= |$)')
DISCARDED = re.compile(r'WARNING: Tracer discarded (\d+) events')
SLAB = ('allocations', 'frees', 'bytes_requested', 'bytes_allocated', 'bytes_freed', 'live_allocations', 'live_bytes')


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def convert(self, source, name, exit_code=0):
        path = self.path(name)
        done = run('convert', source, path)
        self.assertEqual(exit_code, done.returncode, done.stderr)
        return path

    def babeltrace(self, *arguments):
        done = subprocess.run(['babeltrace2', *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding='utf-8', errors='replace')
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout, done.stderr


def lttng_name(name):
    """Returns the name that LTTng gives to an event in tests/data."""
    kmem = name.startswith(('kmalloc', 'kfree', 'mm_', 'rss_'))
    return 'kmem_' + name if kmem else 'ftrace_' + name if name == 'kernel_stack' else name


class Written(Case):
    """Compares every event, number, time, task and loss with the output of babeltrace2."""

    def events_of_babeltrace(self, path):
        events = collections.defaultdict(list)
        text, warnings = self.babeltrace('--clock-seconds', '--no-delta', path)
        for line in text.splitlines():
            match = SHOWN.match(line)
            self.assertTrue(match, line)
            seconds, ns, name, cpu, tid, _, fields = match.groups()
            events[int(cpu)].append((int(seconds) * 10**9 + int(ns), int(tid), name, dict(FIELD.findall(fields or ''))))
        return events, sum(map(int, DISCARDED.findall(warnings)))

    def check(self, name):
        text = kmem_oracle.report_text(data(name) + '.report-R.zst')
        want = collections.defaultdict(list)
        for line in text.splitlines():
            if match := kmem_oracle.LINE.match(line):
                want[int(match['cpu'])].append((int(match['s']) * 10**9 + int(match['ns']), int(match['tid']),
                                                match['name'], dict(PAIR.findall(match['rest']))))
        got, discarded = self.events_of_babeltrace(self.convert(data(name), 'x.ctf'))
        self.assertEqual(set(want), set(got))
        compared = 0
        for cpu, events in want.items():
            self.assertEqual(len(events), len(got[cpu]))
            for (time, tid, event, fields), shown in zip(events, got[cpu]):
                self.assertEqual((time, tid, lttng_name(event)), shown[:3])
                for key, value in fields.items():
                    value = '0' if value == '(nil)' else value
                    if key == 'call_site' or not re.fullmatch(r'-?(0x)?[0-9a-f]+', value):
                        continue  # symbols and arrays are not compared
                    self.assertEqual(int(value, 0) % 2**64, int(shown[3][key], 0) % 2**64, (event, key))
                    compared += 1
        self.assertGreater(compared, 900)
        lost = sum(int(count) for count in re.findall(r'\[(\d+) EVENTS DROPPED\]', text))
        self.assertEqual(lost, discarded)

    def test_amd64(self):
        self.check('amd64/trace.dat')

    def test_amd64_with_node_events(self):
        self.check('amd64-5.10/trace.dat')

    def test_32_bit(self):
        self.check('i386/trace.dat')

    def test_big_endian(self):
        self.check('s390x/trace.dat')

    def test_losses(self):
        self.check('s390x/trace.lost.dat')


class Streams(Case):
    """Each CPU has a separate stream file, which may be missing or cut off."""

    def found(self, path):
        findings = json.loads(run('check', '--json', path).stdout)['files'][0]['findings']
        return {finding['kind']: [example['cpu'] for example in finding['examples']] for finding in findings}

    def test_a_missing_stream_is_reported(self):
        path = self.convert(data('s390x/trace.dat'), 'x.ctf')
        streams = sorted(name for name in os.listdir(path + '/kernel') if name.startswith('channel0_'))
        self.assertGreater(len(streams), 1)
        self.assertNotIn('missing_cpu', self.found(path))
        os.remove(f'{path}/kernel/{streams[-1]}')
        cpu = int(streams[-1].split('_')[1])
        self.assertEqual([cpu], self.found(path)['missing_cpu'])
        self.assertIn(f'lacks the events of CPU {cpu}', run('report', path).stdout.splitlines()[1])
        self.assertEqual([cpu], self.found(self.convert(path, 'x.kmt'))['missing_cpu'])

    def test_a_truncated_stream_is_reported(self):
        path = self.convert(data('s390x/trace.dat'), 'x.ctf')
        stream = path + '/kernel/channel0_0'
        os.truncate(stream, 0)
        self.assertEqual([0], self.found(path)['cut_off_cpu'])


def comparable_report(path, *options):
    """Returns a report without the properties of the file and without offsets."""
    def of_trace(value):
        if isinstance(value, dict):
            return {key: of_trace(item) for key, item in value.items() if key not in ('path', 'format', 'offset')}
        return [of_trace(item) for item in value] if isinstance(value, list) else value
    return of_trace(report(path, *options, exit_codes=(0, 1)))


class AndBack(Case):
    """Converts trace.dat → CTF → .kmt. The reports must be the same."""

    def test_reports(self):
        for name in TRACES:
            with self.subTest(name):
                want = comparable_report(data(name))
                self.assertGreater(want['trace']['events'], 900)
                path = self.convert(data(name), name.replace('/', '-') + '.ctf')
                got = comparable_report(path)
                for key in want:
                    if key not in ('trace', 'findings'):
                        self.assertEqual(want[key], got[key], key)
                for key in ('events', 'lost_events', 'duration_ns', 'kernel', 'arch', 'byte_order', 'word_bits',
                            'page_size', 'cpus', 'clock'):
                    self.assertEqual(want['trace'][key], got['trace'][key], key)
                back = comparable_report(self.convert(path, name.replace('/', '-') + '.kmt'))
                for key in want:
                    if key not in ('trace', 'findings'):
                        self.assertEqual(want[key], back[key], key)


class RealWriter(Case):
    """The sink.ctf.fs of babeltrace2 writes the trace again, with different compact headers, native byte order and
    no extra data."""

    def test_totals_stay_equal(self):
        for name in ('amd64/trace.dat', 'i386/trace.dat', 's390x/trace.dat', 's390x/trace.lost.dat'):
            with self.subTest(name):
                path = self.convert(data(name), name.replace('/', '-') + '.ctf')
                again = self.path(name.replace('/', '-') + '.again')
                self.babeltrace(os.path.join(path, 'kernel'), '-o', 'ctf', '-w', again)
                want, got = report(data(name), exit_codes=(0, 1)), report(again, exit_codes=(0, 1))
                self.assertGreater(want['slab']['allocations'], 100)
                self.assertEqual(want['slab'], got['slab'])
                self.assertEqual(want['pages'], got['pages'])
                self.assertEqual(want['trace']['lost_events'], got['trace']['lost_events'])
                self.assertEqual(want['events'], got['events'])


class RealLttng(Case):
    """Recordings of lttng-modules 2.13.9 on Linux 6.1, compared with babeltrace2's text. One was recorded with
    buffers that were too small."""

    LINE = re.compile(r'\[(\d+)\.(\d{9})\] \S+ (\w+): \{ cpu_id = (\d+) \}, \{ tid = (\d+), procname = "([^"]*)" \}, '
                      r'\{ (.*) \}$')

    DISCARDED_BETWEEN = re.compile(r'discarded (\d+) events between \[(\d+)\.(\d{9})\] and \[(\d+)\.(\d{9})\] '
                                   r'.*?c\w*_(\d+)"')

    def shown(self, path):
        """Returns the events and the number of discarded events."""
        text, warnings = self.babeltrace('--clock-seconds', '--no-delta', path)
        per_cpu = collections.defaultdict(list)
        for line in text.splitlines():
            match = self.LINE.match(line)
            self.assertTrue(match, line)
            seconds, ns, name, cpu, tid, comm, fields = match.groups()
            name = re.sub('^kmem_(?=kmalloc|kfree|mm_)', '', name)
            fields = {key: value.lower() for key, value in FIELD.findall(fields)}
            per_cpu[int(cpu)].append(kmem_oracle.Event(int(seconds) * 10**9 + int(ns), int(cpu), int(tid), comm, name,
                                                       fields))
        return kmem_oracle.in_time_order(per_cpu), sum(map(int, DISCARDED.findall(warnings)))

    def check(self, name, least_events):
        events, discarded = self.shown(data(name))
        self.assertGreater(len(events), least_events)
        got = report(data(name), exit_codes=(0, 1))
        self.assertEqual([], kmem_oracle.differences(kmem_oracle.Report(events, 4096), got))
        self.assertEqual(['CTF of lttng-modules 2.13.9', '6.1.0-56-cloud-amd64', 2, discarded],
                         [got['trace'][key] for key in ('format', 'kernel', 'cpus', 'lost_events')])
        comm, _ = collections.Counter(event.comm for event in events).most_common(1)[0]
        self.assertEqual([], kmem_oracle.differences(
            kmem_oracle.Report(events, 4096, lambda event: event.comm == comm),
            report(data(name), '--comm', comm, exit_codes=(0, 1))))
        self.assertEqual(comparable_report(data(name))['slab'], comparable_report(self.convert(data(name), 'x.kmt'))['slab'])
        return discarded

    def test_complete_recording(self):
        self.assertEqual(0, self.check('amd64/lttng', 7000))

    def test_discarded_events(self):
        self.assertEqual(6718, self.check('amd64/lttng.lost', 800))

    def test_conversion_keeps_the_findings(self):
        """The converted file must have the same findings as the trace, and no others. The missing kernel counters
        must not be reported."""
        for name, verdict in (('amd64/lttng', 'sound'), ('amd64/lttng.lost', 'unsound')):
            with self.subTest(name):
                found, rows = [], []
                for path in (data(name), self.convert(data(name), f'{os.path.basename(name)}.kmt')):
                    rows.append(report(path, '--by', 'comm', exit_codes=(0, 1))['groups']['slab']['rows'])
                    file, = json.loads(run('check', '--json', path).stdout)['files']
                    found.append((file['verdict'], {one['kind']: one['count'] for one in file['findings']}))
                self.assertEqual(*found)
                self.assertEqual(*rows)
                self.assertEqual(found[0][0], verdict)
                self.assertIn('assumed_page_size', found[0][1])

    def discarded(self, path):
        """Returns the losses of each CPU in order: number of lost events, start and end."""
        _, warnings = self.babeltrace('--clock-seconds', '--no-delta', path)
        found = collections.defaultdict(list)
        for count, since, since_ns, until, until_ns, cpu in self.DISCARDED_BETWEEN.findall(warnings):
            found[int(cpu)].append((int(count), int(since + since_ns), int(until + until_ns)))
        return found

    def test_discarded_events_stay_in_their_packet(self):
        """A packet counts the events that were discarded when the packet was full. After conversion, they must be
        between its last event and the next event."""
        source = data('amd64/lttng.lost')
        times = collections.defaultdict(list)
        for event in self.shown(source)[0]:
            times[event.cpu].append(event.time)
        want = {}
        for cpu, losses in self.discarded(source).items():
            want[cpu] = []
            for count, since, until in losses:
                before = max(time for time in times[cpu] if time < until)
                self.assertGreater(before, since)  # the packet must have events
                want[cpu].append((count, before, min((time for time in times[cpu] if time >= until),
                                                     default=before)))
        self.assertEqual([2, 2], [len(losses) for losses in want.values()])
        self.assertEqual(want, self.discarded(self.convert(source, 'x.ctf')))

        got = collections.defaultdict(list)
        last, dropped = {}, {}
        for line in kmem_oracle.report_text(self.convert(source, 'x.dat', exit_code=1)).splitlines():
            if match := re.match(r'CPU:(\d+) \[(\d+) EVENTS DROPPED\]', line):
                dropped[int(match[1])] = int(match[2])
            elif match := kmem_oracle.LINE.match(line):
                cpu, time = int(match['cpu']), int(match['s']) * 10**9 + int(match['ns'])
                if cpu in dropped:
                    got[cpu].append((dropped.pop(cpu), last[cpu], time))
                last[cpu] = time
        # trace-cmd's text does not show losses after the last event.
        self.assertEqual({cpu: [loss for loss in losses if loss[2] > loss[1]] for cpu, losses in want.items()}, got)

    def test_cut_off_at_a_packet(self):
        """To babeltrace2 the cut stream looks complete. Only the index file shows that it is cut."""
        source, cut = data('amd64/lttng.lost'), self.path('cut')
        shutil.copytree(source, cut)
        stream = os.path.join(cut, 'kernel', 'c_0')

        def cut_off():
            found = [one for one in report(cut, exit_codes=(0, 1))['findings'] if one['kind'] == 'cut_off_cpu']
            return [(one['cpu'], one['detail']) for finding in found for one in finding['examples']]
        self.assertEqual([], cut_off())
        os.truncate(stream, os.path.getsize(stream) - 4096)
        _, whole = self.shown(source)
        _, left = self.shown(cut)
        (cpu, detail), = cut_off()
        self.assertEqual(0, cpu)
        self.assertIn('1 of the 5 packets in its index are', detail)
        self.assertIn(f'offset {os.path.getsize(stream):#x} on, with {whole - left} discarded', detail)
        self.assertEqual(1, run('check', cut).returncode)

        with open(os.path.join(cut, 'kernel/index/c_0.idx'), 'r+b') as file:
            file.write(b'no index')
        found, = [one for one in report(cut, exit_codes=(0, 1))['findings'] if one['kind'] == 'damaged_section']
        self.assertIn('its index cannot be read', found['examples'][0]['detail'])


ALLOCATION = [(f'{integer(64, base=16)} _call_site', 'Q'), (f'{integer(64, base=16)} _ptr', 'Q'),
              (f'{integer(64)} _bytes_req', 'Q'), (f'{integer(64)} _bytes_alloc', 'Q'),
              (f'{integer(32)} _gfp_flags', 'I')]
ALLOCATION_32 = [(f'{integer(32, base=16)} _call_site', 'I'), (f'{integer(32, base=16)} _ptr', 'I'),
                 (f'{integer(32)} _bytes_req', 'I'), (f'{integer(32)} _bytes_alloc', 'I'),
                 (f'{integer(32)} _gfp_flags', 'I')]
COMM = 'integer { size = 8; align = 8; signed = 0; encoding = UTF8; base = 10; }'
INT = integer(32, signed=True)
SWITCH = [(f'{COMM} _prev_comm[16]', None), (f'{INT} _prev_tid', 'i'), (f'{INT} _prev_prio', 'i'),
          (f'{integer(64, signed=True)} _prev_state', 'q'), (f'{COMM} _next_comm[16]', None), (f'{INT} _next_tid', 'i'),
          (f'{INT} _next_prio', 'i')]


def kernel_events(allocation):
    return {'kmem_kmalloc': (1, allocation), 'kmem_kfree': (2, allocation[:2]), 'sched_switch': (1295, SWITCH),
            'kmem_cache_alloc': (40, allocation),
            'kmem_mm_page_alloc': (30, [(f'{integer(64, base=16)} _page', 'Q'), (f'{integer(64)} _pfn', 'Q'),
                                        (f'{integer(32)} _order', 'I'), (f'{integer(32)} _gfp_flags', 'I'),
                                        (f'{INT} _migratetype', 'i')])}


def comm(name):
    return name.encode().ljust(16, b'\0')


def switch(previous, prev_comm, following, next_comm):
    return (comm(prev_comm), previous, 20, 0, comm(next_comm), following, 20)


class Lttng(Case):
    """Traces in the format of LTTng's kernel tracer."""
    writer = Writer

    def write(self, **options):
        """Writes 200 objects of 100 bytes in slots of 128 bytes; every second object is freed on the other CPU. Some
        times fit into 27 bits, others do not, and IDs are below and above 31."""
        narrow = options.get('long_bits') == 32
        writer = self.writer(self.path('session/kernel'), kernel_events(ALLOCATION_32 if narrow else ALLOCATION),
                             **options)
        base, site = (0xc0001000, 0xc0200000) if narrow else (0xffff888000001000, 0xffffffff81200000)
        second = 10**9
        first = [(5 * second, 'sched_switch', switch(0, 'swapper/0', 77, 'worker'))]
        for i in range(200):
            time = 5 * second + (i + 1) * (3_000_000 if i % 10 else 1)
            time = max(time, first[-1][0] + (200_000_000 if i % 50 == 49 else 10))
            first.append((time, 'kmem_kmalloc' if i % 4 else 'kmem_cache_alloc',
                          (site + 16 * (i % 5), base + 128 * i, 100, 128, 0xcc0)))
        first.append((first[-1][0] + 5, 'sched_switch', switch(77, 'worker', 0, 'swapper/0')))
        after = first[-1][0]
        other = [(after + 10 * i, 'kmem_kfree', (site + 0x1000, base + 128 * i)) for i in range(0, 200, 2)]
        other.append((other[-1][0] + 1, 'kmem_mm_page_alloc', (0xea0000000, 4711, 3, 0xcc0, 0)))
        return writer, first, other

    def check(self, **options):
        writer, first, other = self.write(**options)
        writer.packet(0, first[:90])
        writer.packet(0, first[90:])
        writer.packet(1, other)
        got = report(self.path('session'), '--by', 'task', exit_codes=(0, 1))
        self.assertEqual({'sched_switch': 2, 'kmalloc': 150, 'kmem_cache_alloc': 50, 'kfree': 100, 'mm_page_alloc': 1},
                         got['events'])
        self.assertEqual([200, 100, 20000, 25600, 12800, 100, 12800], [got['slab'][key] for key in SLAB])
        self.assertEqual(100, got['slab']['cross_cpu_frees'])
        self.assertEqual([1, 8 * 4096], [got['pages'][key] for key in ('allocations', 'bytes_allocated')])
        trace = got['trace']
        self.assertEqual(['4.19.0', 2, options.get('long_bits', 64), 'monotonic', 4096, 0],
                         [trace[key] for key in ('kernel', 'cpus', 'word_bits', 'clock', 'page_size', 'lost_events')])
        self.assertEqual('big' if options.get('big') else 'little', trace['byte_order'])
        self.assertEqual(other[-1][0] - first[0][0], trace['duration_ns'])
        self.assertIn('worker', str(got))
        return got

    def test_little_endian(self):
        self.check()

    def test_big_endian(self):
        self.check(big=True)

    def test_32_bit(self):
        self.check(long_bits=32)

    def test_big_endian_32_bit(self):
        self.check(big=True, long_bits=32)

    def test_metadata_in_packets(self):
        self.check(packed=True)
        shutil.rmtree(self.path('session'))
        self.check(packed=True, big=True)

    def test_metadata_cut_off(self):
        """libbabeltrace2 never returns on some of these files, so kmemtrace must reject them before it calls the
        library."""
        for big in (False, True):
            self.check(packed=True, big=big)
            path = self.path('session/kernel/metadata')
            with open(path, 'rb') as file:
                whole = file.read()
            packet = 37 + 1024
            for size in (20, 36, 37, 1000, packet + 1, packet + 36, packet + 37, 2 * packet - 1, len(whole) - 1):
                with open(path, 'wb') as file:
                    file.write(whole[:size])
                done = run('report', self.path('session'), seconds=20)
                self.assertEqual(2, done.returncode, size)
                self.assertIn('metadata is cut off', done.stderr)
                self.assertIn(f'session/kernel/metadata, offset {size // packet * packet:#x}', done.stderr)
            # If the file is cut at the end of a packet, the text of the metadata ends within a word. libbabeltrace2
            # reports this error.
            with open(path, 'wb') as file:
                file.write(whole[:packet])
            done = run('report', self.path('session'), seconds=20)
            self.assertEqual(2, done.returncode)
            shutil.rmtree(self.path('session'))

    def test_metadata_of_impossible_packets(self):
        for big in (False, True):
            self.check(packed=True, big=big)
            path = self.path('session/kernel/metadata')
            with open(path, 'rb') as file:
                whole = file.read()
            packet, order = 37 + 1024, 'big' if big else 'little'
            for at, number, offset in ((28, 0, 0), (28, 1, 0), (28, 36 * 8, 0), (24, 36 * 8, 0), (24, 8 * packet + 8, 0),
                                       (packet, 0, packet), (packet + 4, 0, packet), (packet + 28, 0, packet),
                                       (28, 8 * packet + 8, packet + 1)):
                with open(path, 'wb') as file:
                    file.write(whole[:at] + number.to_bytes(4, order) + whole[at + 4:])
                done = run('report', self.path('session'), seconds=20)
                self.assertEqual(2, done.returncode, (at, number))
                self.assertIn('metadata is damaged', done.stderr)
                self.assertIn(f'offset {offset:#x}', done.stderr)
            shutil.rmtree(self.path('session'))

    def test_metadata_missing(self):
        self.check(packed=True)
        path = self.path('session/kernel/metadata')
        for size, text in ((3, 'metadata is cut off: 3 bytes are there'), (0, 'metadata is empty')):
            os.truncate(path, size)
            for named in ('session', 'session/kernel'):
                done = run('report', self.path(named))
                self.assertEqual(2, done.returncode)
                self.assertIn(text, done.stderr)
                self.assertIn(path, done.stderr)

    def test_clock_and_machine_are_kept(self):
        want = self.check()['trace']
        self.assertEqual(['monotonic', None], [want['clock'], want['arch']])
        in_dat = self.convert(self.path('session'), 'x.dat')
        for path in (self.convert(self.path('session'), 'x.kmt'), in_dat, self.convert(in_dat, 'x.ctf')):
            got = report(path, exit_codes=(0, 1))['trace']
            self.assertEqual([want['clock'], want['arch']], [got['clock'], got['arch']], path)

    def test_the_index_shows_missing_cpus(self):
        writer, first, _ = self.write()
        writer.packet(2, first)
        os.makedirs(self.path('session/kernel/index'))
        for name, cpus in (('channel0_2', 3), ('channel0_7_9', 3), ('channel', 3), ('channel0_99999', 3),
                           ('channel0_3', 4)):
            with open(self.path(f'session/kernel/index/{name}.idx'), 'wb'):
                pass
            self.assertEqual(cpus, report(self.path('session'), exit_codes=(0, 1))['trace']['cpus'], name)

    def test_clock_offset(self):
        self.check(offset=1_499_450_703_143_835_608)

    def test_to_kmt(self):
        want = self.check()
        small = self.convert(self.path('session'), 'x.kmt')
        got = report(small, '--by', 'task', exit_codes=(0, 1))
        for key in ('events', 'slab', 'pages', 'anomalies'):
            self.assertEqual(want[key], got[key])
        self.assertIn('worker', str(got))
        self.assertEqual(want['trace']['duration_ns'], got['trace']['duration_ns'])
        events = kmem_oracle.report_text(self.convert(small, 'x.dat'))
        self.assertEqual(150, events.count('kmalloc:'))
        self.assertIn('bytes_alloc=128', events)
        self.assertRegex(events, r' worker-77 .*kmalloc:')
        self.assertRegex(events, r'-0 .*sched_switch:')

    def test_discarded(self):
        """Discarded events must be reported with CPU, number and time. Discarded packets have an unknown number of
        events."""
        writer, first, other = self.write()
        writer.packet(0, first[:50])
        writer.packet(0, first[50:100], lost=7)
        writer.packet(0, first[100:], lost=5)
        writer.packet(1, other[:20])
        writer.packet(1, other[20:], lost_packets=2)
        got = report(self.path('session'), exit_codes=(0, 1))
        self.assertEqual(7 + 5 + 1, got['trace']['lost_events'])
        check = run('check', self.path('session'))
        self.assertEqual(1, check.returncode)
        self.assertIn('cpu 0', check.stdout)
        self.assertIn('7 events', check.stdout)
        self.assertIn('2 packets with an unknown number of events', check.stdout)
        self.assertFalse(got['trace']['loss_known'])

    def test_first_packets_are_missing(self):
        """A tracer in overwrite mode overwrites the first packets."""
        writer, first, other = self.write()
        writer.packet(0, first)
        writer.packet(1, other, lost_packets=3)
        finding, = [one for one in report(self.path('session'), exit_codes=(0, 1))['findings']
                    if one['kind'] == 'lost_events']
        example, = finding['examples']
        self.assertEqual(1, example['cpu'])
        self.assertIn('3 packets', example['detail'])

    def test_several_recordings(self):
        """The events of several machines or sessions must not be matched with each other."""
        other = uuid.UUID(int=5)
        for name, identity in (('a', UUID), ('b', other)):
            with unittest.mock.patch('lttng_writer.UUID', identity), unittest.mock.patch('ctf2_writer.UUID', identity):
                writer = self.writer(self.path(f'session/{name}/kernel'), kernel_events(ALLOCATION))
                writer.packet(0, [(1000, 'kmem_kmalloc', (0xffffffff81200100, 0xffff888000001000, 50, 64, 0xcc0))])
        done = run('report', self.path('session'))
        self.assertEqual(2, done.returncode)
        self.assertIn('2 recordings of the kernel', done.stderr)
        self.assertEqual(1, report(self.path('session/b'), exit_codes=(0, 1))['slab']['allocations'])

    def test_a_field_is_missing(self):
        """Without its size, an allocation must not be read as one of 0 bytes."""
        writer = self.writer(self.path('session/kernel'), kernel_events(ALLOCATION[:2] + ALLOCATION[3:]))
        writer.packet(0, [(1000, 'kmem_kmalloc', (0xffffffff81200100, 0xffff888000001000, 64, 0xcc0))])
        check = run('check', self.path('session')).stdout
        self.assertIn('kmem:kmalloc has no field bytes_req', check)

    def test_a_stream_is_missing(self):
        writer, first, other = self.write()
        writer.packet(0, first)
        writer.packet(1, other)
        self.assertNotIn('missing', run('check', self.path('session')).stdout)
        for name, message in (('channel0_3', 'channel0_2 is missing'), ('channel1_2', '2 streams from'),
                           ('channel1_0', 'channel1_1 is missing')):
            path = self.path(f'session/kernel/{name}')
            shutil.copy(self.path('session/kernel/channel0_1'), path)
            self.assertIn(message, run('check', self.path('session')).stdout)
            os.remove(path)

    def test_contexts(self):
        """Task, process, name and stack are contexts of each event."""
        context = [(f'{INT} _tid', 'i'), (f'{INT} _pid', 'i'), (f'{COMM} _procname[16]', None),
                   (f'{integer(32)} __callstack_kernel_length; '
                    f'{integer(64, base=16)} _callstack_kernel[__callstack_kernel_length]', None)]
        writer = self.writer(self.path('session/kernel'), kernel_events(ALLOCATION), context=context)

        def stack(*addresses):
            return writer.pack('I', len(addresses)) + writer.pack(f'{len(addresses)}Q', *addresses)
        outer = 0xffffffff81abc000
        writer.packet(0, [(1000 + i, 'kmem_kmalloc', (outer + 0x10, 0xffff888000001000 + 64 * i, 50, 64, 0xcc0),
                           (501 + i % 2, 501, comm('helper' if i % 2 else 'main'), stack(outer + 0x10, outer + 0x5000)))
                          for i in range(10)])
        tasks = report(self.path('session'), '--by', 'task', exit_codes=(0, 1))
        self.assertIn('main', str(tasks))
        self.assertIn('helper', str(tasks))
        self.assertIn(f'{outer + 0x5000:#x}', str(report(self.path('session'), '--by', 'stack', exit_codes=(0, 1))))
        processes = str(report(self.path('session'), '--by', 'process', exit_codes=(0, 1)))
        self.assertIn('main', processes)
        self.assertNotIn('helper', processes)

    def test_impossible_length(self):
        """libbabeltrace2 2.0 crashes on a sequence of this length."""
        context = [(f'{integer(32)} __callstack_kernel_length; '
                    f'{integer(64, base=16)} _callstack_kernel[__callstack_kernel_length]', None)]
        writer = self.writer(self.path('session/kernel'), kernel_events(ALLOCATION), context=context)
        for time, length in ((1000, 0xf0000005), (2000, 1)):
            stack = writer.pack('I', length) + writer.pack('Q', 0xffffffff81abc000)
            writer.packet(0, [(time, 'kmem_kmalloc', (0xffffffff81abc000, 0xffff888000001000, 50, 64, 0xcc0), (stack,))])
        done = run('check', self.path('session'))
        self.assertIn(done.returncode, (1, 2), done.stderr)
        if done.returncode == 2:
            self.assertIn('error: A library aborted on this input', done.stderr)

    def test_contexts_in_a_container(self):
        """Events have only the IDs in the task's namespace, and the stack of the program."""
        context = [(f'{INT} _vtid', 'i'), (f'{INT} _vpid', 'i'), (f'{COMM} _procname[16]', None),
                   (f'{integer(32)} __callstack_user_length; '
                    f'{integer(64, base=16)} _callstack_user[__callstack_user_length]', None)]
        writer = self.writer(self.path('session/kernel'), kernel_events(ALLOCATION), context=context)

        def stack(*addresses):
            return writer.pack('I', len(addresses)) + writer.pack(f'{len(addresses)}Q', *addresses)
        # Kernels up to 5.1 write -1 after the last address.
        writer.packet(0, [(1000 + i, 'kmem_kmalloc', (0xffffffff81abc000, 0xffff888000001000 + 64 * i, 50, 64, 0xcc0),
                           (501 + i % 2, 501, comm('helper' if i % 2 else 'main'),
                            stack(0x55550000 + i % 2, 0x66660000, (1 << 64) - 1)))
                          for i in range(10)])
        rows = report(self.path('session'), '--by', 'task,stack', exit_codes=(0, 1))['groups']['slab']['rows']
        found = {(row['keys']['task']['comm'], row['keys']['task']['tid']):
                 ([frame['symbol'] for frame in row['keys']['stack']], row['allocations']) for row in rows}
        self.assertEqual(found, {('main', 501): (['0x55550000', '0x66660000'], 5),
                                 ('helper', 502): (['0x55550001', '0x66660000'], 5)})

    def test_kallsyms_next_to_the_trace(self):
        writer, first, _ = self.write()
        writer.packet(0, first)
        with open(self.path('session/kallsyms'), 'w', encoding='utf-8') as file:
            file.write('ffffffff81200000 T the_allocator\nffffffff81210000 T end\n')
        self.assertIn('the_allocator', str(report(self.path('session'), exit_codes=(0, 1))))

    def cut_off(self):
        """Writes a trace in which the second packet of CPU 0 is cut off. Returns the offset of the packet."""
        writer, first, other = self.write()
        writer.packet(0, first[:90])
        start = os.path.getsize(self.path('session/kernel/channel0_0'))
        writer.packet(0, first[90:])
        writer.packet(1, other)
        os.truncate(self.path('session/kernel/channel0_0'), start + 1000)
        return start

    def test_cut_off(self):
        """The events before the cut and those of the other CPU must be counted. No temporary file may remain."""
        start = self.cut_off()
        os.mkdir(self.path('tmp'))
        os.environ['TMPDIR'] = self.path('tmp')
        self.addCleanup(os.environ.pop, 'TMPDIR')
        got = report(self.path('session'), exit_codes=(0, 1))
        self.assertEqual(89, got['slab']['allocations'])
        self.assertEqual(100, got['slab']['frees'])
        finding, = [finding for finding in got['findings'] if finding['kind'] == 'damaged_stream']
        self.assertIn(f'offset {start:#x}', finding['examples'][0]['detail'])
        self.assertEqual([], os.listdir(self.path('tmp')))
        os.truncate(self.path('session/kernel/channel0_0'), 100)
        self.assertEqual(0, report(self.path('session'), exit_codes=(0, 1))['slab']['allocations'])
        os.truncate(self.path('session/kernel/channel0_1'), 100)
        done = run('report', self.path('session'))
        self.assertEqual(2, done.returncode)
        self.assertIn('Cannot read the CTF trace', done.stderr)

    def test_damaged_packet(self):
        """The second packet starts with an event of an undefined class. libbabeltrace2 passes on messages in batches
        of 15, so up to 14 events before the damage may be missing. The other CPU must be complete."""
        writer, first, other = self.write()
        writer.packet(0, first[:90])
        start = os.path.getsize(self.path('session/kernel/channel0_0'))
        writer.packet(0, first[90:])
        writer.packet(1, other)
        with open(self.path('session/kernel/channel0_0'), 'r+b') as file:
            file.seek(start + 4 + 16 + 4 + 8 + 5 * 8 + 8 + 4)
            file.write(b'\x1f' + b'\xee' * 12)
        got = report(self.path('session'), exit_codes=(0, 1))
        self.assertLessEqual(got['slab']['allocations'], 89)
        self.assertGreaterEqual(got['slab']['allocations'], 89 - 14)
        self.assertEqual(100, got['slab']['frees'])
        self.assertIn('damaged_stream', [finding['kind'] for finding in got['findings']])

    def test_impossible_packets(self):
        """On some of these packets libbabeltrace2 aborts the process; kmemtrace must report that as a normal error."""
        writer, first, _ = self.write()
        writer.packet(0, first[:90])
        start = os.path.getsize(self.path('session/kernel/channel0_0'))
        writer.packet(0, first[90:])
        with open(self.path('session/kernel/channel0_0'), 'rb') as file:
            whole = file.read()
        statuses = collections.Counter()
        for at in range(start + 20, start + 90, 2):
            for number in (0, 7, 0xece7f5e5e5e5a5f8):
                with open(self.path('session/kernel/channel0_0'), 'wb') as file:
                    file.write(whole[:at] + number.to_bytes(8, 'little') + whole[at + 8:])
                done = run('report', self.path('session'))
                self.assertIn(done.returncode, (0, 1, 2), (at - start, number))
                self.assertIn('error:' if done.returncode == 2 else '', done.stderr)
                statuses[done.returncode] += 1
        self.assertGreater(statuses[2], 0)
        self.assertGreater(statuses[0], 0)

    def test_not_a_trace(self):
        os.mkdir(self.path('empty'))
        done = run('report', self.path('empty'))
        self.assertEqual(2, done.returncode)
        self.assertIn('The folder has no trace', done.stderr)

    def test_bad_metadata(self):
        writer, first, _ = self.write()
        writer.packet(0, first)
        with open(self.path('session/kernel/metadata'), 'a', encoding='utf-8') as file:
            file.write('event { name = ; };\n')
        # libbabeltrace2 leaks some bytes on text that it cannot parse. Its plugin is already unloaded when the
        # sanitizer checks for leaks, so a suppression by name does not work.
        with unittest.mock.patch.dict(os.environ, ASAN_OPTIONS='detect_leaks=0'):
            done = run('report', self.path('session'))
        self.assertEqual(2, done.returncode)
        self.assertIn('Cannot read the CTF trace', done.stderr)


class LttngCtf2(Lttng):
    """The same traces as CTF 2. kmemtrace reads their metadata and streams itself."""
    writer = Ctf2Writer

    def test_equals_ctf_1_8(self):
        for options in ({}, {'big': True, 'packed': True}, {'long_bits': 32, 'offset': 1_499_450_703_143_835_608}):
            reports = []
            for writer in (Writer, Ctf2Writer):
                self.writer = writer
                trace, first, other = self.write(**options)
                trace.packet(0, first[:50], lost=3)
                trace.packet(0, first[50:100], lost=7)
                trace.packet(0, first[100:], lost_packets=2)
                trace.packet(1, other)
                got = report(self.path('session'), '--by', 'task,call-site', exit_codes=(0, 1))
                checked = json.loads(run('check', '--json', self.path('session')).stdout)
                self.assertEqual(1 + 7 + 1, got['trace']['lost_events'])  # an unknown number counts as 1
                reports.append((got, checked))
                shutil.rmtree(self.path('session'))
            self.assertEqual(*reports)

    def test_rotation(self):
        """A rotated recording: each folder has metadata of its own and a part of each stream."""
        writer, first, other = self.write()
        writer.packet(0, first[:90])
        writer.packet(1, other[:40])
        writer.folder = self.path('session/a-second')
        shutil.copytree(self.path('session/kernel'), writer.folder, ignore=shutil.ignore_patterns('channel*'))
        writer.packet(0, first[90:])
        writer.packet(1, other[40:])
        got = report(self.path('session'), exit_codes=(0, 1))
        self.assertEqual([200, 100, 0], [got['slab']['allocations'], got['slab']['frees'], got['trace']['lost_events']])
        self.assertEqual(0, got['slab']['unmatched_frees'])

    def test_cut_off(self):
        """The events before the cut and those of the other CPU must be counted."""
        start = self.cut_off()
        got = report(self.path('session'), exit_codes=(0, 1))
        self.assertGreater(got['slab']['allocations'], 89)
        self.assertLess(got['slab']['allocations'], 200)
        self.assertEqual(100, got['slab']['frees'])
        finding, = [finding for finding in got['findings'] if finding['kind'] == 'damaged_stream']
        self.assertIn('the file ends', finding['examples'][0]['detail'])
        for cpu in (0, 1):
            os.truncate(self.path(f'session/kernel/channel0_{cpu}'), 100 if cpu else start + 20)
        got = report(self.path('session'), exit_codes=(0, 1))
        self.assertEqual([89, 0], [got['slab']['allocations'], got['slab']['frees']])
        self.assertFalse(got['trace']['loss_known'])

    def test_impossible_packets(self):
        writer, first, _ = self.write()
        writer.packet(0, first[:90])
        start = os.path.getsize(self.path('session/kernel/channel0_0'))
        writer.packet(0, first[90:])
        with open(self.path('session/kernel/channel0_0'), 'rb') as file:
            whole = file.read()
        for at in range(start, start + 90, 15):
            for number in (0, 0xece7f5e5e5e5a5f8):
                with open(self.path('session/kernel/channel0_0'), 'wb') as file:
                    file.write(whole[:at] + number.to_bytes(8, 'little') + whole[at + 8:])
                got = report(self.path('session'), exit_codes=(0, 1))
                self.assertGreaterEqual(got['slab']['allocations'], 89, (at - start, number))

    def test_bad_metadata(self):
        writer, first, _ = self.write()
        writer.packet(0, first)
        with open(self.path('session/kernel/metadata'), 'ab') as file:
            file.write(b'\x1e{"type": "event-record-class"')
        done = run('report', self.path('session'))
        self.assertEqual(2, done.returncode)
        self.assertRegex(done.stderr, 'fragment 11: the text is not valid JSON at byte ')
        self.assertIn('session/kernel/metadata, offset 0x', done.stderr)


class OddTypes(Case):
    """Unexpected types of fields in memory events must not cause a crash."""

    TYPES = {'float': ('floating_point { exp_dig = 8; mant_dig = 24; byte_order = le; align = 8; }', b'\0\0\x80\x3f'),
             'double': ('floating_point { exp_dig = 11; mant_dig = 53; byte_order = le; align = 8; }',
                        b'\0' * 6 + b'\xf0\x3f'),
             'string': ('string', b'many\0'), 'empty': ('string', b'\0'), 'long text': ('string', b'x' * 9000 + b'\0'),
             'byte': (integer(8, signed=True), b'\xff'), 'odd': (integer(24), b'\1\2\3'),
             'struct': ('struct { uint8_t a; uint32_t b; }', b'\1' * 5),
             'enum': ('enum : uint32_t { A = 0, B = 5 }', b'\5\0\0\0')}

    def test_types(self):
        for name, (declaration, value) in self.TYPES.items():
            for field in ('call_site', 'ptr', 'bytes_req', 'bytes_alloc', 'gfp_flags', 'node', 'tid'):
                with self.subTest(f'{field} as {name}'):
                    folder = self.path(f'{name} {field}')
                    allocation = [(f'{declaration} _{field}', None) if f' _{field}' in plain[0] else plain
                                  for plain in ALLOCATION]
                    if field not in ('call_site', 'ptr', 'bytes_req', 'bytes_alloc', 'gfp_flags'):
                        allocation.append((f'{declaration} _{field}', None))
                    values = [value if code is None else 64 for _, code in allocation]
                    writer = Writer(folder, {'kmem_kmalloc': (1, allocation)})
                    writer.packet(0, [(10 + i, 'kmem_kmalloc', values) for i in range(3)])
                    self.assertEqual(3, report(folder, exit_codes=(0, 1))['events']['kmalloc'])
                    # An address or size that is no number is a missing field.
                    is_unread = (name in ('string', 'empty', 'long text', 'struct') and
                                 field in ('ptr', 'bytes_req', 'bytes_alloc'))
                    small = self.convert(folder, f'{name} {field}.kmt', exit_code=int(is_unread))
                    self.assertEqual(3, report(small, exit_codes=(0, 1))['events']['kmalloc'])

    def test_too_long_values_are_reported(self):
        allocation = [*ALLOCATION, ('string _name', None)]
        values = (0xffffffff81200000, 0xffff888000001000, 100, 128, 0xcc0)
        for length in (3800, 9000):
            folder = self.path(str(length))
            writer = Writer(folder, {'kmem_kmalloc': (1, allocation)})
            writer.packet(0, [(10, 'kmem_kmalloc', (*values, b'x' * length + b'\0')),
                              (20, 'kmem_kmalloc', (*values, b'short\0'))])
            found = [one for one in report(folder, exit_codes=(0, 1))['findings'] if one['kind'] == 'cut_off_field']
            self.assertEqual([one['count'] for one in found], [1] if length > 4000 else [])

    def test_no_fields(self):
        events = {'kmem_kmalloc': (1, []), 'kmem_kfree': (2, ALLOCATION[:1]), 'an event!\\n': (3, [])}
        writer = Writer(self.path('x'), events)
        writer.packet(0, [(1, 'kmem_kmalloc', ()), (2, 'kmem_kfree', (5,)), (3, 'an event!\\n', ())])
        self.assertEqual(3, sum(report(self.path('x'), exit_codes=(0, 1))['events'].values()))


if __name__ == '__main__':
    unittest.main()
