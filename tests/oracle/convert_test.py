#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests `kmemtrace convert` on real traces. The test suite's own decoder reads the .kmt, and its fields are compared
with `trace-cmd report -t -R` of the original. After converting back, trace-cmd and `report` must show the same as
for the original."""
import bisect
import collections
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import kmem_oracle  # noqa: E402
import kmt_decoder  # noqa: E402
import tracedat  # noqa: E402
from kmemtrace import data, report, run  # noqa: E402

TRACES = ('amd64/trace.dat', 'amd64-5.10/trace.dat', 'arm64/trace.dat', 'i386/trace.dat', 'i386/trace.mono.dat',
          's390x/trace.dat', 's390x/trace.lost.dat', 's390x/trace.stack.dat', 's390x/trace.v6.dat')
COMMON = {'common_type', 'common_flags', 'common_preempt_count', 'common_pid'}
PAIR = re.compile(r'(\w+)=(ARRAY\[[^]]*\]|\S*)(?= |$)')
DROPPED = re.compile(r'CPU ?:?(\d+) .*?\[?(\d+) EVENTS DROPPED')


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def original(self, name):
        """Returns the path of a fixture. Unpacks a compressed fixture first."""
        if os.path.exists(data(name)):
            return data(name)
        with open(self.path('original.dat'), 'wb') as file:
            subprocess.run(['zstd', '-q', '-d', '-c', data(name) + '.zst'], stdout=file, check=True)
        return self.path('original.dat')

    def convert(self, source, target, *options):
        done = run('convert', source, self.path(target), *options)
        self.assertEqual(0, done.returncode, done.stderr)
        return self.path(target)


Field = collections.namedtuple('Field', 'offset size dynamic')


def parse_format(text):
    """Returns the ID, name and {field: Field} of a format description."""
    text = text.decode()
    fields = {re.sub(r'\[\d*\]$', '', declaration).split()[-1]:
              Field(int(offset), int(size), declaration.startswith('__data_loc'))
              for declaration, offset, size in re.findall(r'field:([^;]*);\s*offset:(\d+);\s*size:(\d+);', text)}
    return int(re.search(r'^ID: (\d+)', text, re.M)[1]), re.search(r'name: (\S+)', text)[1], fields


class Symbols:
    def __init__(self, kallsyms):
        names = collections.defaultdict(list)
        for line in kallsyms.decode().splitlines():
            address, _, name = line.split()[:3]
            names[int(address, 16)].append(name)
        self.names, self.addresses = names, sorted(names)

    def names_of(self, address):
        """Returns all names of an address, because several symbols may have the same address."""
        place = bisect.bisect_right(self.addresses, address) - 1
        base = self.addresses[place] if place >= 0 else address
        return {f'{name}+0x{address - base:x}' for name in self.names.get(base, ())} | {f'0x{address:x}'}


def text_of(value, size):
    return kmem_oracle.number(value) % (1 << 8 * size)


class Decoded(Case):
    """Compares every event, field, time, task and loss."""

    def events_of_text(self, text):
        """Returns the events as {cpu: [(ns, comm, tid, name, {field: text})]}, and the losses as {cpu: [(number of
        earlier events, number of lost events)]}."""
        events, losses = collections.defaultdict(list), collections.defaultdict(list)
        for line in text.splitlines():
            if match := kmem_oracle.LINE.match(line):
                events[int(match['cpu'])].append((int(match['s']) * 10**9 + int(match['ns']), match['comm'].strip(),
                                                  int(match['tid']), match['name'], dict(PAIR.findall(match['rest']))))
            elif match := DROPPED.search(line):
                losses[int(match[1])].append((len(events[int(match[1])]), int(match[2])))
        return events, losses

    def check_field(self, name, field, shown, record, order, symbols):
        raw = record[field.offset:field.offset + field.size]
        value = int.from_bytes(raw, order)
        if name == 'call_site':
            self.assertIn(shown, symbols.names_of(value))
        elif shown.startswith('ARRAY'):
            # trace-cmd prints an array of unspecified size with the length in the format, even beyond the end of the
            # record.
            want = bytes(int(byte, 16) for byte in re.findall(r'[0-9a-f]{2}', shown[5:]))
            got = record[field.offset:field.offset + len(want)]
            self.assertGreaterEqual(len(got), 8)
            self.assertEqual(want[:len(got)], got)
        elif field.dynamic:
            start, length = value & 0xffff, value >> 16
            self.assertEqual(shown, record[start:start + length].split(b'\0')[0].decode())
        else:
            self.assertEqual(value, text_of(shown, field.size), name)

    def check(self, name):
        path = self.original(name)
        file = kmt_decoder.read(self.convert(path, 'x.kmt'))
        order = file.facts['byte_order'].decode()
        formats = {}
        for _, text in file.formats:
            number, name_of_event, fields = parse_format(text)
            formats[number] = name_of_event, fields
        comms = dict(line.split(' ', 1) for line in file.facts['saved_cmdlines'].decode().splitlines() if ' ' in line)
        symbols = Symbols(file.facts['kallsyms'])
        want, want_losses = self.events_of_text(kmem_oracle.report_text(data(name) + '.report-R.zst'))
        self.assertGreater(sum(map(len, want.values())), 900)
        for stream in file.streams.values():
            records = [record for block in stream.blocks for record in block.records]
            expected = want.pop(stream.cpu, [])
            self.assertEqual(len(expected), len(records), f'cpu {stream.cpu}')
            for (ns, comm, tid, event, shown), record in zip(expected, records):
                self.assertEqual(ns, file.to_ns(record.ticks))
                kind, fields = formats[int.from_bytes(record.bytes[:2], order)]
                self.assertEqual(event, kind)
                pid = fields['common_pid']
                self.assertEqual(tid, int.from_bytes(record.bytes[pid.offset:pid.offset + 4], order, signed=True))
                if tid:
                    self.assertEqual(comm, comms.get(str(tid), '<...>'))
                self.assertEqual(set(fields) - COMMON, set(shown), event)
                for key, value in shown.items():
                    self.check_field(key, fields[key], value, record.bytes, order, symbols)
            before, losses = 0, []
            for block in stream.blocks:
                losses += [(before + place, count) for place, count in block.losses]
                before += len(block.records)
            self.assertEqual(want_losses[stream.cpu], losses)
        self.assertFalse(want, 'CPUs that the .kmt does not have')
        return file

    def test_amd64(self):
        self.check('amd64/trace.dat')

    def test_amd64_with_node_events(self):
        self.check('amd64-5.10/trace.dat')

    def test_arm64(self):
        self.check('arm64/trace.dat')

    def test_32_bit(self):
        self.check('i386/trace.dat')

    def test_32_bit_clock_mono(self):
        self.check('i386/trace.mono.dat')

    def test_big_endian(self):
        self.check('s390x/trace.dat')

    def test_losses(self):
        file = self.check('s390x/trace.lost.dat')
        self.assertTrue(any(block.losses for stream in file.streams.values() for block in stream.blocks))

    def test_stacks(self):
        self.check('s390x/trace.stack.dat')

    def test_version_6(self):
        self.check('s390x/trace.v6.dat')


class Index(Case):
    """The entries of the index must match the chunks."""

    def test_entries_match_the_chunks(self):
        for name in TRACES:
            with self.subTest(name):
                file = kmt_decoder.read(self.convert(self.original(name), 'x.kmt'))
                blocks = {number: iter(stream.blocks) for number, stream in file.streams.items()}
                want = []
                for chunk in file.chunks[:-1]:
                    entry = kmt_decoder.IndexEntry(chunk.offset, chunk.type, chunk.stream)
                    if chunk.type == kmt_decoder.EVENTS:
                        records = next(blocks[chunk.stream]).records
                        entry = entry._replace(events=len(records), first=records[0].ticks, last=records[-1].ticks)
                    want.append(entry)
                self.assertEqual(want, file.index)
                self.assertEqual([1, 2], [chunk.type for chunk in file.chunks[:2]])

    def test_several_blocks(self):
        """A trace longer than one block: the events of one CPU, repeated."""
        trace = tracedat.read(data('s390x/trace.dat'))
        cpu, pages = max(trace.buffers[0].pages.items(), key=lambda item: len(item[1]))
        trace.buffers = [trace.buffers[0]._replace(pages={cpu: pages * 5})]
        with open(self.path('long.dat'), 'wb') as out:
            out.write(tracedat.to_v6(trace)[0])
        file = kmt_decoder.read(self.convert(self.path('long.dat'), 'x.kmt'))
        stream, = [stream for stream in file.streams.values() if stream.blocks]
        self.assertGreater(len(stream.blocks), 1)
        records = [record for block in stream.blocks for record in block.records]
        round_of = len(records) // 5
        self.assertEqual(records[:round_of] * 5, records)


def comparable_report(path, *options):
    """Returns a report without the name, the format and the offsets of the file."""
    def of_trace(value):
        if isinstance(value, dict):
            return {key: of_trace(item) for key, item in value.items() if key not in ('path', 'format', 'offset')}
        return [of_trace(item) for item in value] if isinstance(value, list) else value
    return of_trace(report(path, *options, exit_codes=(0, 1)))


class AndBack(Case):
    """Converts trace.dat → .kmt → trace.dat of either version → .kmt."""

    def check(self, version):
        for name in TRACES:
            with self.subTest(name):
                path = self.original(name)
                small = self.convert(path, 'small.kmt')
                back = self.convert(small, 'back.dat', '--file-version', str(version))
                with open(back, 'rb') as file:
                    self.assertEqual(tracedat.MAGIC + b'%d' % version, file.read(11))
                self.assertEqual(kmem_oracle.report_text(path), kmem_oracle.report_text(back))
                want = comparable_report(path)
                self.assertGreater(want['trace']['events'], 900)
                self.assertEqual(want, comparable_report(small))
                self.assertEqual(want, comparable_report(back))
                with open(small, 'rb') as first, open(self.convert(back, 'again.kmt'), 'rb') as second:
                    one, other = kmt_decoder.File(first.read()), kmt_decoder.File(second.read())
                self.assertEqual(self.events(one), self.events(other))
                self.assertEqual(sorted(one.formats), sorted(other.formats))
                for fact in ('kallsyms', 'saved_cmdlines', 'printk_formats', 'header_page', 'header_event', 'clock',
                             'uname', 'byte_order', 'long_bytes'):
                    self.assertEqual(one.facts[fact], other.facts[fact], fact)

    @staticmethod
    def events(file):
        return {stream.cpu: [(block.records, block.losses) for block in stream.blocks]
                for stream in file.streams.values() if stream.blocks}

    def test_version_6(self):
        self.check(6)

    def test_version_7(self):
        self.check(7)


class Instances(Case):
    """Several ring buffers in one file."""

    def split(self):
        trace = tracedat.read(data('s390x/trace.dat'))
        whole = trace.buffers[0]
        half = {cpu: len(pages) // whole.page_size // 2 * whole.page_size for cpu, pages in whole.pages.items()}
        trace.buffers = [whole._replace(pages={cpu: pages[:half[cpu]] for cpu, pages in whole.pages.items()}),
                         whole._replace(name='second', pages={cpu: pages[half[cpu]:] for cpu, pages in whole.pages.items()})]
        with open(self.path('split.dat'), 'wb') as out:
            out.write(tracedat.to_v7(trace)[0])
        return self.path('split.dat')

    def test_kept_ring_buffers_have_the_same_report(self):
        path = self.split()
        small = self.convert(path, 'x.kmt')
        self.assertEqual(['', '', 'second', 'second'],
                         sorted(stream.buffer for stream in kmt_decoder.read(small).streams.values()))
        for options in ((), ('--buffer', 'second')):
            want = comparable_report(path, *options)
            self.assertGreater(want['trace']['events'], 900)
            self.assertEqual(want, comparable_report(small, *options))

    def test_several_buffers_cannot_become_one(self):
        done = run('convert', self.split(), self.path('y.dat'))
        self.assertEqual(2, done.returncode)
        self.assertIn('second', done.stderr)
        self.assertFalse(os.path.exists(self.path('y.dat')))


if __name__ == '__main__':
    unittest.main()
