#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests a dynamic loader like those of distributions: it is stripped, and its symbols are in a separate file that is
found by build ID. The names in a stack must be those that nm printed before stripping."""
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import kmt_writer  # noqa: E402
import tracedat  # noqa: E402
from kmemtrace import data, report, run  # noqa: E402

SOURCE = r'''
static int hidden_one(int x);
__attribute__((noinline, visibility("default"))) int known_to_all(int x) { return hidden_one(x) + 1; }
__attribute__((noinline)) static int hidden_two(int x) { __asm__ volatile("nop; nop; nop; nop"); return x * 3; }
__attribute__((noinline)) static int hidden_one(int x) { int y = hidden_two(x); __asm__ volatile(""); return y + 2; }
'''
TASK, START = 5, 0x7f0000000000
LOADER = '/lib64/ld-small.so.2'


def call(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, encoding='utf-8').stdout


class SeparateDebugFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        source, built = self.path('loader.c'), self.path('built.so')
        with open(source, 'w', encoding='ascii') as file:
            file.write(SOURCE)
        call('cc', '-O1', '-fPIC', '-shared', '-nostdlib', '-Wl,--build-id=sha1', '-o', built, source)
        self.id = re.search(r'Build ID: (\w{40})', call('readelf', '-n', built))[1]
        self.functions = {name: (int(address, 16), int(size, 16)) for address, size, name in
                          re.findall(r'^(\w+) (\w+) [tT] (\w+)$', call('nm', '-S', built), re.M)}
        self.segment = next(tuple(int(number, 16) for number in match.groups()) for match in re.finditer(
            r'^ +LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) +\S+ R E', call('readelf', '-lW', built), re.M))
        call('objcopy', '--only-keep-debug', built, self.path('parted.debug'))
        self.root = self.path('root')
        os.makedirs(self.root + os.path.dirname(LOADER))
        call('objcopy', '--strip-all', built, self.root + LOADER)
        self.trace = self.path('trace.kmt')
        with open(self.trace, 'wb') as file:
            file.write(self.recorded())

    def path(self, name):
        return os.path.join(self.folder, name)

    def recorded(self, **facts):
        """Records an allocation in hidden_two, which is called by hidden_one, which is called by known_to_all."""
        trace = tracedat.read(data('amd64/trace.dat'))
        number, fields = next((number, fields) for number, fields in map(tracedat.parse_format, trace.ftrace_formats)
                              if 'caller' in fields and 'tgid' in fields)
        stack = bytearray(fields['caller'].offset + fields['caller'].size)
        struct.pack_into('<H', stack, 0, number)
        struct.pack_into('<I', stack, fields['tgid'].offset, TASK)
        offset, address, size = self.segment
        for place, name in enumerate(('hidden_two', 'hidden_one', 'known_to_all')):
            begin, bytes_of_it = self.functions[name]
            struct.pack_into('<Q', stack, fields['caller'].offset + 8 * place, START + begin - address + bytes_of_it - 1)
        page = next(pages for pages in trace.buffers[0].pages.values() if pages)[:trace.page_size]
        allocates = {kind for kind, known in tracedat.formats(trace).values() if 'bytes_alloc' in known}
        event = next(record for record in (page[one.offset:one.offset + one.size] for one in tracedat.records(trace, page))
                     if struct.unpack_from('<H', record)[0] in allocates)
        code = kmt_writer.user_memory([(LOADER.encode(), self.id.encode(), b'')],
                                      [(0, TASK, 0, 0, START, size + 0x1000, offset)])
        return kmt_writer.file(trace, kmt_writer.literals([event, bytes(stack)], tid=TASK),
                               [(kmt_writer.USER_MEMORY, 0, code)], **facts)

    def names(self, *options):
        """Returns the symbols of the program's frames. All stacks must have the same frames."""
        found = report(self.trace, '--by', 'stack', '--symfs', self.root, *options, exit_codes=(0, 1))
        stacks = [row['keys']['stack'] for row in found['groups']['slab']['rows']]
        frames = {tuple(frame['symbol'] for frame in stack if 'object' in frame) for stack in stacks}
        self.assertEqual(1, len(frames), stacks)
        return frames.pop()

    def put_debug_file(self, below):
        to = os.path.join(below, '.build-id', self.id[:2], f'{self.id[2:]}.debug')
        os.makedirs(os.path.dirname(to))
        os.link(self.path('parted.debug'), to)

    def test_by_build_id(self):
        all_of_them = ('hidden_two', 'hidden_one', 'known_to_all')
        without = self.names()
        self.assertEqual('known_to_all', without[-1], 'it is exported')
        self.assertFalse({'hidden_one', 'hidden_two'} & set(without), without)
        self.put_debug_file(self.path('debug'))
        self.assertEqual(without, self.names(), 'in a folder that no option names')
        self.assertEqual(all_of_them, self.names('--debug-dir', self.path('debug')))
        self.put_debug_file(self.root + '/usr/lib/debug')  # the folder used by distributions
        self.assertEqual(all_of_them, self.names())
        os.remove(self.root + LOADER)
        self.assertEqual(all_of_them, self.names(), 'without the loader itself')

    def test_comparisons_use_separate_debug_files(self):
        self.put_debug_file(self.path('debug'))
        for options, expected in ((), False), (('--symfs', self.root, '--debug-dir', self.path('debug')), True):
            done = run('diff', self.trace, self.trace, '--by', 'user-symbol', '--json', *options)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual(expected, 'hidden_two' in done.stdout, done.stdout)

    def test_another_build_is_not_used(self):
        source = self.path('loader.c')
        with open(source, 'a', encoding='ascii') as file:
            file.write('int more(void) { return 1; }\n')
        call('cc', '-O1', '-fPIC', '-shared', '-nostdlib', '-Wl,--build-id=sha1', '-o', self.path('other.so'), source)
        call('objcopy', '--only-keep-debug', self.path('other.so'), self.path('parted.debug'))
        self.put_debug_file(self.root + '/usr/lib/debug')
        self.assertFalse({'hidden_one', 'hidden_two'} & set(self.names()))

    def test_blocked_devices_are_reported(self):
        with open(self.trace, 'wb') as file:
            file.write(self.recorded(**{'note:unanswered_build_ids': '12 mappings: their build IDs are unknown'}))
        for path in (self.trace, self.path('again.kmt')):
            if path != self.trace:
                self.assertEqual(0, run('convert', self.trace, path).returncode)
            found = {one['kind']: one['examples'][0]['detail'] for one in report(path, exit_codes=(0, 1))['findings']}
            self.assertEqual('12 mappings: their build IDs are unknown', found.get('no_user_build_ids'), found)


if __name__ == '__main__':
    unittest.main()
