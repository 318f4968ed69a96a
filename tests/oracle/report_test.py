#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares `report --json` with totals computed from trace-cmd's text. The traces are of five kernels: big- and
little-endian, 32- and 64-bit, with and without losses, in every version and compression of the format."""
import collections
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import kmem_oracle  # noqa: E402
import tracedat  # noqa: E402
from kmemtrace import data, report  # noqa: E402

PAGE = 4096  # page size of all fixtures
KERNELS = ('amd64', 'amd64-5.10', 'arm64', 'i386', 's390x')


def reference(name):
    return kmem_oracle.parse(kmem_oracle.report_text(data(name) + '.report-R.zst'))


class Case(unittest.TestCase):
    maxDiff = None

    def assert_same(self, want, got):
        found = kmem_oracle.differences(want, got)
        self.assertFalse(found, f'{len(found)} differences:\n' + '\n'.join(found[:20]))

    def written(self, contents):
        """Writes a temporary file that exists until the end of the test. Returns its path."""
        file = tempfile.NamedTemporaryFile(suffix='.dat')
        self.addCleanup(file.close)
        file.write(contents)
        file.flush()
        return file.name


class RealTraces(Case):
    """Traces recorded by trace-cmd on each kernel."""

    def check(self, name):
        self.assert_same(kmem_oracle.Report(reference(name), PAGE), report(data(name)))

    def test_amd64(self):
        self.check('amd64/trace.dat')

    def test_amd64_with_node_events(self):
        self.check('amd64-5.10/trace.dat')

    def test_arm64(self):
        self.check('arm64/trace.dat')

    def test_32_bit(self):
        self.check('i386/trace.dat')

    def test_big_endian(self):
        self.check('s390x/trace.dat')

    def test_lost_events(self):
        self.check('s390x/trace.lost.dat')

    def test_monotonic_clock(self):
        self.check('i386/trace.mono.dat')

    def test_with_stacks(self):
        self.check('s390x/trace.stack.dat')

    def test_version_6(self):
        packed = subprocess.run(['zstd', '-q', '-d', '-c', data('s390x/trace.v6.dat.zst')], stdout=subprocess.PIPE, check=True)
        self.assert_same(kmem_oracle.Report(reference('s390x/trace.v6.dat'), PAGE), report(self.written(packed.stdout)))


class Facts(Case):
    """The report's description of machine and trace must match known facts."""

    def check(self, folder, **facts):
        got = report(data(f'{folder}/trace.dat'))['trace']
        self.assertEqual(facts, {key: got[key] for key in facts})
        times = [event.time for event in reference(f'{folder}/trace.dat')]
        self.assertEqual(max(times) - min(times), got['duration_ns'])

    def test_amd64(self):
        self.check('amd64', arch='x86_64', byte_order='little', word_bits=64, page_size=4096, cpus=2, lost_events=0,
                   kernel='6.1.0-56-cloud-amd64', clock='global')

    def test_arm64(self):
        self.check('arm64', arch='aarch64', byte_order='little', word_bits=64, page_size=4096, cpus=2, lost_events=0)

    def test_i386(self):
        self.check('i386', arch='i686', byte_order='little', word_bits=32, page_size=4096, cpus=2, lost_events=0)

    def test_s390x(self):
        self.check('s390x', arch='s390x', byte_order='big', word_bits=64, page_size=4096, cpus=2, lost_events=0)

    def test_lost_events_are_counted(self):
        text = kmem_oracle.report_text(data('s390x/trace.lost.dat.report-R.zst'))
        dropped = sum(int(count) for count in re.findall(r'\[(\d+) EVENTS DROPPED\]', text))
        self.assertGreater(dropped, 0)
        self.assertEqual(dropped, report(data('s390x/trace.lost.dat'))['trace']['lost_events'])


class Containers(Case):
    """The same events in every variant of the format."""

    def check(self, write):
        for kernel in KERNELS:
            with self.subTest(kernel):
                trace = tracedat.read(data(f'{kernel}/trace.dat'))
                contents, _ = write(trace)
                want = kmem_oracle.Report(reference(f'{kernel}/trace.dat'), PAGE)
                self.assert_same(want, report(self.written(contents)))

    def test_version_6(self):
        self.check(tracedat.to_v6)

    def test_version_7_uncompressed(self):
        self.check(tracedat.to_v7)

    def test_version_7_zlib(self):
        self.check(lambda trace: tracedat.to_v7(trace, 'zlib'))

    def test_version_7_zstd_in_small_chunks(self):
        self.check(lambda trace: tracedat.to_v7(trace, 'zstd', chunk_pages=7))


class Instances(Case):
    """Events in two buffers of one file must give the same result as in one buffer."""

    def split(self, kernel, pages_of_second):
        """Moves the last pages of each CPU to a second buffer, from page number pages_of_second(cpu, page count) on."""
        trace = tracedat.read(data(f'{kernel}/trace.dat'))
        whole = trace.buffers[0]
        first, second = {}, {}
        for cpu, pages in whole.pages.items():
            at = pages_of_second(cpu, len(pages) // PAGE) * PAGE
            first[cpu], second[cpu] = pages[:at], pages[at:]
        trace.buffers = [whole._replace(pages=first), whole._replace(name='second', pages=second)]
        return trace

    def check(self, write, kernel, pages_of_second):
        contents, _ = write(self.split(kernel, pages_of_second))
        path = self.written(contents)
        self.assert_same(kmem_oracle.Report(reference(f'{kernel}/trace.dat'), PAGE), report(path))
        return path

    def test_halves_of_each_cpu_in_two_buffers(self):
        for write in (tracedat.to_v6, tracedat.to_v7):
            for kernel in ('amd64', 's390x', 'i386'):
                with self.subTest(kernel=kernel, write=write.__name__):
                    self.check(write, kernel, lambda cpu, count: count // 2)

    def test_a_cpu_each(self):
        self.check(tracedat.to_v6, 'arm64', lambda cpu, count: 0 if cpu else count)
        self.check(tracedat.to_v7, 'arm64', lambda cpu, count: 0 if cpu else count)

    def test_one_of_them(self):
        """--buffer must select the events that trace-cmd shows for that buffer."""
        for write in (tracedat.to_v6, tracedat.to_v7):
            contents, _ = write(self.split('s390x', lambda cpu, count: count // 3))
            path = self.written(contents)
            want = kmem_oracle.Report(kmem_oracle.parse(kmem_oracle.report_text(path), 'second'), PAGE)
            self.assert_same(want, report(path, '--buffer', 'second'))

    def test_trace_cmd_reads_them_too(self):
        """trace-cmd must also read the generated files; otherwise the test would prove little."""
        for write in (tracedat.to_v6, tracedat.to_v7):
            contents, _ = write(self.split('amd64', lambda cpu, count: count // 2))
            text = kmem_oracle.report_text(self.written(contents))
            second = kmem_oracle.parse(text, 'second')
            self.assertGreater(len(second), 0)
            self.assertEqual(reference('amd64/trace.dat'), sorted(kmem_oracle.parse(text, '') + second,
                                                                  key=lambda event: (event.time, event.cpu)))


HARDIRQ, SOFTIRQ, NMI = 0x08, 0x10, 0x40


def in_interrupt(event):
    return event.context & (HARDIRQ | SOFTIRQ | NMI) != 0


def with_contexts(name):
    """Returns the reference events with their common_flags. The text lacks the flags, so they are read from the
    pages."""
    trace = tracedat.read(data(name))
    per_cpu = collections.defaultdict(list)
    for event in reference(name):
        per_cpu[event.cpu].append(event)
    _, fields = next(iter(tracedat.formats(trace).values()))
    flags, pid = fields['common_flags'], fields['common_pid']
    out = []
    for cpu, pages in trace.buffers[0].pages.items():
        place = 0
        for at in range(0, len(pages), PAGE):
            for record in tracedat.records(trace, pages[at:at + PAGE]):
                event, start = per_cpu[cpu][place], at + record.offset
                assert event.tid == struct.unpack_from(trace.order + 'i', pages, start + pid.offset)[0]
                out.append((record.time, cpu, place, event._replace(context=pages[start + flags.offset])))
                place += 1
        assert place == len(per_cpu[cpu])
    return [entry[3] for entry in sorted(out, key=lambda entry: entry[:3])]


class Filters(Case):
    """Compares --cpu, --pid, --comm and --time with totals over the events that the filter must select."""

    KERNELS = ('amd64', 's390x', 'i386')

    def check(self, options_of, selects_of=lambda events: lambda event: True, window_of=lambda events: (0, 1 << 64)):
        for kernel in self.KERNELS:
            with self.subTest(kernel):
                events = with_contexts(f'{kernel}/trace.dat')
                want = kmem_oracle.Report(events, PAGE, selects_of(events), window_of(events))
                self.assertGreater(sum(want.events.values()), 0, 'nothing selected: this test would prove nothing')
                self.assertLess(sum(want.events.values()), len(events), 'all selected')
                got = report(data(f'{kernel}/trace.dat'), *options_of(events))
                self.assert_same(want, got)

    @staticmethod
    def busiest(events, cpu=None):
        """Returns the task with the most events, except the idle task."""
        count = collections.Counter(e.tid for e in events if e.tid and not in_interrupt(e) and cpu in (None, e.cpu))
        return count.most_common(1)[0][0]

    @staticmethod
    def task(tid, cpu=None):
        return lambda event: event.tid == tid and cpu in (None, event.cpu) and not in_interrupt(event)

    def test_cpu(self):
        self.check(lambda events: ('--cpu', '1'), lambda events: lambda event: event.cpu == 1)

    def test_pid(self):
        self.check(lambda events: ('--pid', str(self.busiest(events))),
                   lambda events: self.task(self.busiest(events)))

    def test_comm(self):
        self.check(lambda events: ('--comm', 'trace-c*'),
                   lambda events: lambda event: event.comm.startswith('trace-c') and not in_interrupt(event))

    def test_softirq(self):
        self.check(lambda events: ('--comm', '[softirq]'),
                   lambda events: lambda event: event.context & (HARDIRQ | SOFTIRQ | NMI) == SOFTIRQ)

    def test_cpu_and_pid(self):
        self.check(lambda events: ('--cpu', '0', '--pid', str(self.busiest(events, 0))),
                   lambda events: self.task(self.busiest(events, 0), 0))

    def test_time(self):
        def middle(events):
            return events[len(events) // 3].time, events[2 * len(events) // 3].time

        def seconds(events):
            return ','.join(f'{time // 10**9}.{time % 10**9:09}' for time in middle(events))
        self.check(lambda events: ('--time', seconds(events)), window_of=middle)


if __name__ == '__main__':
    unittest.main()
