#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests damaged traces: `check` reports each problem and its location, and `report` reads the intact part. No
command may crash, hang or use excessive memory. Each file is an intact trace of a real kernel with one defect at a
known location."""
import json
import os
import random
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import tracedat  # noqa: E402
from kmemtrace import data, report, run  # noqa: E402

PAGE = 4096
LIMITS = {'seconds': 20, 'megabytes': 512}
LITTLE, BIG = 'i386', 's390x'  # an architecture of each byte order; the tests count the events of these traces


class UndamagedTrace:
    """A real trace. Most of its kernel symbols are removed, because they would slow the tests down."""

    def __init__(self, kernel=LITTLE):
        self.trace = tracedat.read(data(f'{kernel}/trace.dat'))
        self.trace.kallsyms = self.trace.kallsyms[:20000]
        self.order = self.trace.order

    def page(self, cpu, number):
        pages = self.trace.buffers[0].pages[cpu]
        return pages[number * PAGE:(number + 1) * PAGE]

    def records(self, cpu, number):
        """Returns the records of one page."""
        return list(tracedat.records(self.trace, self.page(cpu, number)))

    def count(self, cpu, first=0, last=None):
        """Returns the number of events on a CPU's pages from `first` up to, but not including, `last`."""
        last = len(self.trace.buffers[0].pages[cpu]) // PAGE if last is None else last
        return sum(len(self.records(cpu, number)) for number in range(first, last))

    def total(self):
        return sum(self.count(cpu) for cpu in self.trace.buffers[0].pages)


class Damaged(unittest.TestCase):
    def setUp(self):
        self.sound = UndamagedTrace()

    def use(self, kernel):
        self.sound = UndamagedTrace(kernel)

    def file(self, contents):
        file = tempfile.NamedTemporaryFile(suffix='.dat')
        self.addCleanup(file.close)
        file.write(contents)
        file.flush()
        return file.name

    def check(self, contents):
        """Returns the exit status of `check --json` and its result for the file."""
        done = run('check', '--json', self.file(contents), **LIMITS)
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        return done.returncode, json.loads(done.stdout)['files'][0]

    def assert_unreadable(self, contents, *words):
        for command in ('check', 'report'):
            path = self.file(contents)
            done = run(command, path, **LIMITS)
            self.assertEqual(2, done.returncode, done.stderr)
            self.assertIn(path, done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)

    def assert_finding(self, contents, kind, cpu=None, offset=None):
        """Checks that `check` exits with 1 and names the location, in JSON and in text."""
        code, file = self.check(contents)
        self.assertEqual(1, code, file)
        findings = {finding['kind']: finding for finding in file['findings']}
        self.assertIn(kind, findings)
        places = [(example['cpu'], example['offset']) for example in findings[kind]['examples']]
        if cpu is not None:
            self.assertIn((cpu, offset), places)
            words = run('check', self.file(contents), **LIMITS).stdout
            self.assertIn(f'cpu {cpu}', words)
            self.assertIn(f'{offset:#x}', words)
        return findings[kind]

    def events(self, contents):
        return report(self.file(contents), **LIMITS)['trace']['events']


class Files(Damaged):
    """Damage to the file as a whole."""

    def test_intact_files_are_sound(self):
        """The files must be intact before the other tests damage them."""
        for kernel in (LITTLE, BIG):
            self.use(kernel)
            for contents, _ in (tracedat.to_v6(self.sound.trace), tracedat.to_v7(self.sound.trace),
                                tracedat.to_v7(self.sound.trace, 'zlib')):
                code, file = self.check(contents)
                serious = [finding['kind'] for finding in file['findings'] if finding['severity'] in ('error', 'loss')]
                self.assertEqual([], serious)
                self.assertIn(code, (0, 1))
                self.assertEqual(self.sound.total(), self.events(contents))

    def test_empty(self):
        self.assert_unreadable(b'')

    def test_garbage(self):
        self.assert_unreadable(b'garbage' * 1000)

    def test_magic_only(self):
        self.assert_unreadable(tracedat.MAGIC)

    def test_unknown_version(self):
        self.assert_unreadable(tracedat.MAGIC + b'99\0' + bytes(100), '99')

    def test_ends_in_the_header(self):
        contents, marks = tracedat.to_v6(self.sound.trace)
        self.assert_unreadable(contents[:marks['formats'] + 100])

    def test_unknown_compression(self):
        contents, _ = tracedat.to_v7(self.sound.trace)
        self.assert_unreadable(contents.replace(b'none\x001\0', b'rot13\x001\0', 1), 'rot13')

    def test_no_such_file(self):
        done = run('report', '/nonexistent/trace.dat')
        self.assertEqual(2, done.returncode)
        self.assertIn('/nonexistent/trace.dat', done.stderr)


class Truncated(Damaged):
    """All events before the end of a truncated file must be read."""

    def cut(self, kernel, cpu, page, more):
        self.use(kernel)
        contents, marks = tracedat.to_v6(self.sound.trace)
        end = marks[f'cpu{cpu}'] + page * PAGE + more
        whole = sum(self.sound.count(other) for other in range(cpu)) + self.sound.count(cpu, 0, page)
        part = sum(record.offset + record.size <= more for record in self.sound.records(cpu, page))
        return contents[:end], end, whole, part

    def test_between_pages(self):
        contents, end, whole, _ = self.cut(LITTLE, 0, 7, 0)
        self.assert_finding(contents, 'truncated_file', 0, end)
        self.assertEqual(whole, self.events(contents))

    def test_within_a_page(self):
        for kernel in (LITTLE, BIG):
            contents, end, whole, part = self.cut(kernel, 1, 3, 2000)
            self.assertGreater(part, 3)
            self.assert_finding(contents, 'truncated_file', 1, end)
            self.assertEqual(whole + part, self.events(contents))

    def test_compressed_before_its_list_of_buffers(self):
        """Version 7 has its list of buffers at the end of the file. Without the list, the data before it must still
        be read."""
        contents, marks = tracedat.to_v7(self.sound.trace, 'zlib')
        cut = contents[:marks['options'] - 1]
        code, _ = self.check(cut)
        self.assertIn(code, (1, 2))


class Pages(Damaged):
    """Damage in a ring-buffer page loses only the rest of that page."""

    def edit(self, kernel, cpu, page, at, value, code='I'):
        """Writes the trace in version 6, with one number changed. Returns the bytes of the file and the offset of the
        page with the change."""
        self.use(kernel)
        contents, marks = tracedat.to_v6(self.sound.trace)
        start = marks[f'cpu{cpu}'] + page * PAGE
        out = bytearray(contents)
        struct.pack_into(self.sound.order + code, out, start + at, value)
        return bytes(out), start

    def record(self, kernel, cpu, page, index):
        self.use(kernel)
        return self.sound.records(cpu, page)[index]

    def test_length_of_a_page_exceeds_the_page(self):
        for kernel in (LITTLE, BIG):
            commit_bytes = UndamagedTrace(kernel).trace.page_data_offset()[1]
            contents, start = self.edit(kernel, 0, 3, 8, 0x70000, 'Q' if commit_bytes == 8 else 'I')
            self.assert_finding(contents, 'damaged_page', 0, start + 8)
            self.assertGreaterEqual(self.events(contents), self.sound.total() - self.sound.count(0, 3, 4))

    def test_length_of_a_record_exceeds_the_page(self):
        for kernel in (LITTLE, BIG):
            record = self.record(kernel, 0, 2, 5)
            contents, start = self.edit(kernel, 0, 2, record.offset - 4, 0)  # type_len 0: a length word follows
            out = bytearray(contents)
            struct.pack_into(self.sound.order + 'I', out, start + record.offset, 0x7ffffff0)
            self.assert_finding(bytes(out), 'damaged_page', 0, start + record.offset - 4)
            self.assertEqual(self.sound.total() - self.sound.count(0, 2, 3) + 5, self.events(bytes(out)))

    def test_unknown_event_id(self):
        for kernel in (LITTLE, BIG):
            record = self.record(kernel, 1, 0, 4)
            contents, start = self.edit(kernel, 1, 0, record.offset, 0xfff0, 'H')
            self.assert_finding(contents, 'unknown_event', 1, start + record.offset)
            got = report(self.file(contents))['events']
            known = sum(got.get(name, 0) for name in tracedat.formats(self.sound.trace))
            self.assertEqual(self.sound.total() - 1, known)

    def test_record_shorter_than_its_fields(self):
        for kernel in (LITTLE, BIG):
            record = self.record(kernel, 0, 1, 6)
            little = self.sound.order == '<'
            header = 1 if little else 1 << 27  # a payload of one word, and a time difference of zero
            padding = 29 | 1 << 5 if little else 29 << 27 | 1
            contents, start = self.edit(kernel, 0, 1, record.offset - 4, header)
            out = bytearray(contents)
            struct.pack_into(self.sound.order + 'II', out, start + record.offset + 4, padding, record.size - 8)
            self.assert_finding(bytes(out), 'short_record', 0, start + record.offset)
            self.assertEqual(self.sound.total() - 1, self.events(bytes(out)))

    def test_time_goes_backwards(self):
        for kernel in (LITTLE, BIG):
            first = self.record(kernel, 0, 4, 0)
            contents, start = self.edit(kernel, 0, 4, 0, first.time - 10**9, 'Q')
            self.assert_finding(contents, 'time_goes_backward', 0, start + first.offset)
            self.assertEqual(self.sound.total(), self.events(contents))


class Sections(Damaged):
    """Damage to the file's structure."""

    def test_damaged_chunk(self):
        for compression in ('zlib', 'zstd'):
            contents, marks = tracedat.to_v7(self.sound.trace, compression, chunk_pages=10)
            at = marks['cpu0'] + 4
            for _ in range(3):  # the first chunks stay intact
                at += 8 + struct.unpack_from(self.sound.order + 'I', contents, at)[0]
            out = bytearray(contents)
            for place in range(at + 8, at + 40):
                out[place] ^= 0xff
            self.assert_finding(bytes(out), 'damaged_page', 0, at)
            self.assertEqual(self.sound.count(0, 0, 30) + self.sound.count(1), self.events(bytes(out)))

    def test_wrong_section_size(self):
        contents, marks = tracedat.to_v7(self.sound.trace)
        out = bytearray(contents)
        struct.pack_into(self.sound.order + 'Q', out, marks['kallsyms'] + 8, 1 << 40)
        self.assert_finding(bytes(out), 'damaged_section')
        self.assertEqual(self.sound.total(), self.events(bytes(out)))

    def test_circular_options(self):
        contents, marks = tracedat.to_v7(self.sound.trace)
        out = bytearray(contents)
        struct.pack_into(self.sound.order + 'Q', out, len(out) - 8, marks['options'])
        code, _ = self.check(bytes(out))
        self.assertEqual(1, code)
        self.assertEqual(self.sound.total(), self.events(bytes(out)))


class HugeNumbers(Damaged):
    """A size stated in the file must not make the reader allocate memory for bytes that the file lacks. All tests run
    with 512 MB and 20 s."""

    def bounded(self, contents):
        code, _ = self.check(contents)
        self.assertIn(code, (1, 2))
        path = self.file(contents)
        self.assertIn(run('report', path, **LIMITS).returncode, (0, 2))

    def patched(self, contents, at, code, *values):
        out = bytearray(contents)
        struct.pack_into(self.sound.order + code, out, at, *values)
        self.bounded(bytes(out))

    def test_header_and_formats(self):
        contents, marks = tracedat.to_v6(self.sound.trace)
        self.patched(contents, marks['header'] + len('header_page\0'), 'Q', (1 << 63) + 1)
        self.patched(contents, marks['formats'], 'I', 0xffffffff)
        self.patched(contents, marks['kallsyms'], 'I', 0xffffffff)
        self.patched(contents, marks['cpus'], 'I', 0xffffffff)
        self.patched(contents, marks['cpus'], 'I', 0xffff)

    def test_offset_of_a_cpu(self):
        contents, marks = tracedat.to_v6(self.sound.trace)
        self.patched(contents, marks['table'], 'QQ', 1 << 62, 1 << 62)
        self.patched(contents, marks['table'], 'QQ', 0xffffffffffffffff, 0xffffffffffffffff)
        self.patched(contents, marks['table'] + 8, 'Q', 1 << 63)

    def test_chunks_of_version_7(self):
        contents, marks = tracedat.to_v7(self.sound.trace, 'zlib')
        self.patched(contents, marks['cpu0'], 'I', 0xffffffff)
        self.patched(contents, marks['cpu0'] + 4, 'I', 0xffffffff)
        self.patched(contents, marks['cpu0'] + 8, 'I', 0xffffffff)
        self.patched(contents, marks['kallsyms'] + 20, 'I', 0xffffffff)

    def test_page_size(self):
        for size in (0, 1, 0x80000000, 0xffffffff):
            contents, _ = tracedat.to_v6(self.sound.trace)
            self.patched(contents, len(tracedat.MAGIC) + 4, 'I', size)

    def amplified(self, options):
        """Returns a version 7 file with these additional options before its DONE option."""
        trace = self.sound.trace
        trace.options += options
        contents, _ = tracedat.to_v7(trace)
        self.assertLess(len(contents), 8 << 20)
        self.bounded(contents)

    def test_many_cpus_share_the_same_data(self):
        """Twenty thousand CPUs refer to the same pages. Reading the pages for each CPU would be as much work as reading a
        file of gigabytes."""
        _, marks = tracedat.to_v7(self.sound.trace)
        size = len(self.sound.trace.buffers[0].pages[0])
        option = struct.pack(self.sound.order + 'Q', marks['header']) + b'\0local\0'
        option += struct.pack(self.sound.order + 'II', PAGE, 20000)
        option += b''.join(struct.pack(self.sound.order + 'IQQ', cpu, marks['cpu0'], size) for cpu in range(20000))
        self.amplified([(tracedat.BUFFER, option)])

    def test_a_section_is_referenced_many_times(self):
        _, marks = tracedat.to_v7(self.sound.trace)
        for kind, part in ((tracedat.EVENT_FORMATS, 'formats'), (tracedat.KALLSYMS, 'kallsyms')):
            self.amplified([(kind, struct.pack(self.sound.order + 'Q', marks[part]))] * 100000)


class Random(Damaged):
    """A small variant of the fuzzers that is part of each test run."""

    def test_flipped_and_cut(self):
        random.seed(20081)
        self.sound.trace.kallsyms = b''
        self.sound.trace.buffers = [buffer._replace(pages={cpu: pages[:8 * PAGE] for cpu, pages in buffer.pages.items()})
                                    for buffer in self.sound.trace.buffers]
        seeds = [tracedat.to_v6(self.sound.trace)[0], tracedat.to_v7(self.sound.trace, 'zlib')[0]]
        for round_number in range(120):
            out = bytearray(seeds[round_number % 2])
            for _ in range(random.choice((1, 3, 30))):
                out[random.randrange(len(out))] = random.choice((0, 1, 0x7f, 0x80, 0xff, random.randrange(256)))
            if round_number % 3 == 0:
                del out[random.randrange(len(out)):]
            for command in ('check', 'report'):
                done = run(command, self.file(bytes(out)), **LIMITS)
                self.assertIn(done.returncode, (0, 1, 2), f'{command}, round {round_number}: {done.stderr}')


if __name__ == '__main__':
    unittest.main()
