#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares file, line and inlined functions of call sites with `addr2line` of binutils. The code is a small "kernel"
and a relocatable "module" compiled here. Both are loaded at other addresses than they are linked at."""
import collections
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import kmt_writer  # noqa: E402
import tracedat  # noqa: E402
from kmemtrace import SANITIZED, data, report, run  # noqa: E402

RELEASE = '6.1.0'  # the release written by kmt_writer
LINKED, LOADED = 0xffffffff81000000, 0xffffffff9f400000
MODULE = {'.text': 0xffffffffc0100000, '.text.unlikely': 0xffffffffc0204000}

SOURCES = {
    'kernel/head.c': '''
asm(".text\\n.globl _text, _stext\\n_text:\\n_stext:\\nnop");
void _start(void) {}
''',
    'include/alloc.h': '''
#define noinline __attribute__((noinline))
#define always_inline inline __attribute__((always_inline))
void *__kmalloc(unsigned long size);
static always_inline void *kzalloc(unsigned long size)
{
	void *object = __kmalloc(size);

	asm volatile("" : : "r"(object) : "memory");
	return object;
}
''',
    'mm/slab.c': '''
#include "../include/alloc.h"
noinline void *__kmalloc(unsigned long size)
{
	asm volatile("" : : : "memory");
	return (void *)size;
}
''',
    'fs/node.c': '''
#include "../include/alloc.h"
static always_inline void *make_node(int n)
{
	if (n > 3)
		return kzalloc(16 * n);
	return kzalloc(64);
}

noinline void *direct(int n)
{
	void *object = __kmalloc(n);

	asm volatile("" : : "r"(object) : "memory");
	return object;
}

noinline void *through_wrapper(int n)
{
	return kzalloc(n);
}

noinline void *nested(int n)
{
	void *one = make_node(n), *two = make_node(n + 1);

	return one < two ? one : two;
}
''',
    'drivers/odd.c': '''
#include "../include/alloc.h"
static always_inline void *make_queue(int n)
{
	return kzalloc(32 * n);
}

noinline void *odd_probe(int n)
{
	return make_queue(n);
}

noinline __attribute__((section(".text.unlikely"))) void *odd_fail(int n)
{
	return kzalloc(n);
}

noinline void *odd_open(int n)
{
	return make_queue(n + 1);
}
''',
}


def call(*words, cwd=None):
    done = subprocess.run(words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', check=False)
    if done.returncode:
        raise AssertionError(f'{" ".join(words)}: {done.stdout}')
    return done.stdout


def compile_all(folder):
    """Compiles vmlinux and odd.ko into the folder."""
    for name, source in SOURCES.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write(source)
    model = ['-mcmodel=kernel'] if platform.machine() == 'x86_64' else []
    compiler = ['cc', '-g', '-O2', '-ffreestanding', '-fno-pic', '-fno-asynchronous-unwind-tables', '-fcf-protection=none'
                if model else '-O2', *model]
    for name in SOURCES:
        if name.endswith('.c'):
            call(*compiler, '-c', name, '-o', name[:-2] + '.o', cwd=folder)
    call('ld', '--build-id=sha1', f'-Ttext={LINKED:#x}', '-e', '_start', '-o', 'vmlinux', 'kernel/head.o', 'mm/slab.o',
         'fs/node.o', cwd=folder)
    call('ld', '-r', '--build-id=sha1', '-o', 'odd.ko', 'drivers/odd.o', cwd=folder)


def build_id(path):
    return re.search(r'Build ID: ([0-9a-f]+)', call('readelf', '-n', path)).group(1)


def symbols(path):
    """Returns the section, offset and name of each function."""
    for line in call('objdump', '-t', path).splitlines():
        found = re.match(r'([0-9a-f]+) .{7} (\.text\S*)\s+[0-9a-f]+\s+(\w+)$', line)
        if found:
            yield found.group(2), int(found.group(1), 16), found.group(3)


Site = collections.namedtuple('Site', 'section link')


def call_sites(path):
    """Returns the return addresses of all calls of __kmalloc."""
    section, calling, sites = None, False, []
    for line in call('objdump', '-dr', path).splitlines():
        if line.startswith('Disassembly of section '):
            section = line.split()[-1].rstrip(':')
        instruction = re.match(r' *([0-9a-f]+):\t([0-9a-f ]+\t|[0-9a-f]{8} \t)(.*)', line)
        if instruction:
            if calling:
                sites.append(Site(section, int(instruction.group(1), 16)))
            calling = re.match(r'(call|bl)\S* .*<__kmalloc>', instruction.group(3)) is not None
        elif '__kmalloc' in line and re.search(r'R_\w+', line):
            calling = True
    return sites


def addr2line(path, site, folder):
    """Returns the frames at the call instruction, which ends just before the return address `site`."""
    section = ['-j', site.section] if path.endswith('.ko') else []  # relocatable files have addresses in a section
    lines = call('addr2line', '-i', '-f', *section, '-e', path, hex(site.link - 1)).splitlines()
    frames = []
    for function, place in zip(lines[::2], lines[1::2]):
        file, line = place.split(' ')[0].rsplit(':', 1)
        frames.append({'function': function, 'file': os.path.relpath(os.path.normpath(file), folder), 'line': int(line)})
    return frames


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = os.path.join(os.path.realpath(folder.name), 'linux')
        compile_all(cls.folder)
        cls.vmlinux, cls.module = (os.path.join(cls.folder, name) for name in ('vmlinux', 'odd.ko'))
        slide = LOADED - LINKED
        cls.kernel_sites = {site.link + slide: site for site in call_sites(cls.vmlinux)}
        cls.module_sites = {MODULE[site.section] + site.link: site for site in call_sites(cls.module)}
        lines = [f'{address + slide:016x} T {name}' for _, address, name in symbols(cls.vmlinux)]
        lines += [f'{LOADED + 0x100000:016x} T _etext']
        lines += [f'{MODULE[section] + offset:016x} t {name}\t[odd]' for section, offset, name in symbols(cls.module)
                  if name.startswith('odd_')]
        lines += [f'{max(MODULE.values()) + 0x1000:016x} t odd_end\t[odd]']
        cls.kallsyms = '\n'.join(lines) + '\n'

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, 'x.kmt')
        self.debug_dir = os.path.join(folder.name, 'debug')
        os.mkdir(self.debug_dir)

    def write_trace(self, sites, **notes):
        """Writes a trace with one kmalloc at each site."""
        trace = tracedat.read(data('amd64/trace.dat'))
        number, fields = tracedat.formats(trace)['kmalloc']
        size = max(field.offset + field.size for field in fields.values())
        records = []
        for count, site in enumerate(sites, 1):
            record = bytearray(size)
            record[:2] = number.to_bytes(2, 'little')
            for name, value in (('call_site', site), ('ptr', 0xffff888000000000 + 64 * count), ('bytes_req', 64),
                                ('bytes_alloc', 64)):
                place = slice(fields[name].offset, fields[name].offset + fields[name].size)
                record[place] = value.to_bytes(fields[name].size, 'little')
            records.append(bytes(record[:size]))
        facts = {'note:' + name: value for name, value in notes.items()}
        facts.setdefault('kallsyms', self.kallsyms)
        with open(self.path, 'wb') as file:
            file.write(kmt_writer.file(trace, kmt_writer.literals(records), **facts))

    def place(self, source, name):
        path = os.path.join(self.debug_dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(source, path)

    def sources(self, *options):
        """Returns the frames of every call site, and the kinds of problems with debug info."""
        reported = report(self.path, *options)
        sites = {int(site['address'], 16): site.get('source', []) for site in reported['call_sites']}
        kinds = {found['kind'] for found in reported['findings']} & {'no_debug_info', 'unchecked_debug_info'}
        return sites, kinds

    def expected(self, path, sites):
        return {address: addr2line(path, site, self.folder) for address, site in sites.items()}


class Kernel(Case):
    def setUp(self):
        super().setUp()
        self.assertGreaterEqual(len(self.kernel_sites), 4)
        self.right = self.expected(self.vmlinux, self.kernel_sites)
        # Three frames prove that the compiler inlined functions.
        self.assertIn(3, {len(frames) for frames in self.right.values()})
        self.id = build_id(self.vmlinux)

    def test_agrees_with_addr2line(self):
        self.write_trace(self.kernel_sites, kernel_build_id=self.id)
        self.assertEqual((self.right, set()), self.sources('--vmlinux', self.vmlinux))

    def test_found_in_the_folders_of_packages(self):
        self.write_trace(self.kernel_sites, kernel_build_id=self.id)
        for name in (f'.build-id/{self.id[:2]}/{self.id[2:]}.debug', f'vmlinux-{RELEASE}', f'boot/vmlinux-{RELEASE}',
                     f'lib/modules/{RELEASE}/vmlinux', f'usr/lib/debug/boot/vmlinux-{RELEASE}', 'vmlinux'):
            with self.subTest(name):
                self.place(self.vmlinux, name)
                self.assertEqual((self.right, set()), self.sources('--debug-dir', self.debug_dir))
                os.remove(os.path.join(self.debug_dir, name))

    def test_no_debug_info(self):
        self.write_trace(self.kernel_sites, kernel_build_id=self.id)
        none = {address: [] for address in self.kernel_sites}
        self.assertEqual((none, {'no_debug_info'}), self.sources('--debug-dir', self.debug_dir))
        self.assertEqual((none, {'no_debug_info'}), self.sources('--lines'))
        self.assertEqual((none, set()), self.sources())

    def test_wrong_build_id(self):
        other = '0123456789abcdef0123456789abcdef01234567'
        self.write_trace(self.kernel_sites, kernel_build_id=other)
        done = run('report', self.path, '--vmlinux', self.vmlinux)
        self.assertEqual(2, done.returncode)
        self.assertIn(other, done.stderr)
        self.assertIn(self.id, done.stderr)
        self.place(self.vmlinux, 'vmlinux')
        sites, kinds = self.sources('--debug-dir', self.debug_dir)
        self.assertEqual((set(), {'no_debug_info'}), (set(map(tuple, sites.values())) - {()}, kinds))

    def test_unknown_build_id(self):
        self.write_trace(self.kernel_sites)
        self.assertEqual((self.right, {'unchecked_debug_info'}), self.sources('--vmlinux', self.vmlinux))

    def test_other_kernel_without_build_id(self):
        self.kallsyms = re.sub(r'(?m)^(\w+)([0-9a-f]{4})( T (?!_))', lambda m: f'{m[1]}{int(m[2], 16) + 8:04x}{m[3]}',
                               self.kallsyms)
        self.write_trace(self.kernel_sites)
        done = run('report', self.path, '--vmlinux', self.vmlinux)
        self.assertEqual(2, done.returncode)
        self.assertIn('from another build', done.stderr)

    def test_without_symbols(self):
        self.kallsyms = ''
        self.write_trace(self.kernel_sites, kernel_build_id=self.id)
        done = run('report', self.path, '--vmlinux', self.vmlinux)
        self.assertEqual(2, done.returncode)
        self.assertIn('_stext', done.stderr)


class Module(Case):
    def setUp(self):
        super().setUp()
        self.assertEqual({'.text', '.text.unlikely'}, {site.section for site in self.module_sites.values()})
        self.right = self.expected(self.module, self.module_sites)
        self.kernel = {'kernel_build_id': build_id(self.vmlinux)}
        self.place(self.vmlinux, 'vmlinux')

    def test_agrees_with_addr2line(self):
        for name in (f'lib/modules/{RELEASE}/kernel/drivers/odd.ko', f'usr/lib/debug/lib/modules/{RELEASE}/extra/odd.ko.debug'):
            with self.subTest(name):
                self.place(self.module, name)
                self.write_trace(self.module_sites, module_build_ids=f'even 00\nodd {build_id(self.module)}\n', **self.kernel)
                self.assertEqual((self.right, set()), self.sources('--debug-dir', self.debug_dir))
                self.write_trace(self.module_sites, **self.kernel)
                self.assertEqual((self.right, {'unchecked_debug_info'}), self.sources('--debug-dir', self.debug_dir))
                os.remove(os.path.join(self.debug_dir, name))

    def test_sections_recorded_in_the_trace(self):
        self.place(self.module, f'lib/modules/{RELEASE}/odd.ko')
        sections = ''.join(f'odd {name} {address:x}\n' for name, address in MODULE.items())
        # Kallsyms has only one symbol of the module, and the file does not have this symbol.
        self.kallsyms = re.sub(r'(?m)^.* odd_(?!end|probe).*\n', '', self.kallsyms).replace('odd_probe', 'odd_thing')
        self.write_trace(self.module_sites, module_build_ids=f'odd {build_id(self.module)}\n', module_sections=sections,
                         **self.kernel)
        self.assertEqual((self.right, set()), self.sources('--debug-dir', self.debug_dir))

    def test_other_build(self):
        self.place(self.module, f'lib/modules/{RELEASE}/odd.ko')
        self.write_trace(self.module_sites, module_build_ids='odd 0123456789abcdef\n', **self.kernel)
        sites, kinds = self.sources('--debug-dir', self.debug_dir)
        self.assertEqual({'no_debug_info'}, kinds)
        self.assertFalse(any(sites.values()))


class Chosen(Case):
    """Tests which frame of a call site a table shows."""

    def text(self, *options):
        self.write_trace(self.kernel_sites, kernel_build_id=build_id(self.vmlinux))
        done = run('report', self.path, '--raw', '--vmlinux', self.vmlinux, *options)
        self.assertEqual(0, done.returncode, done.stderr)
        return set(re.findall(r'(nested|through_wrapper|direct)\+0x\w+ \((\S+:)\d+(?:, inlined (\w+))?\)', done.stdout))

    def test_wrappers_are_skipped(self):
        self.assertEqual({('direct', 'fs/node.c:', ''), ('through_wrapper', 'fs/node.c:', ''),
                          ('nested', 'fs/node.c:', 'make_node')}, self.text())

    def test_without_wrappers(self):
        self.assertEqual({('direct', 'fs/node.c:', ''), ('through_wrapper', 'include/alloc.h:', 'kzalloc'),
                          ('nested', 'include/alloc.h:', 'kzalloc')}, self.text('--no-wrappers'))

    def test_own_list(self):
        own = os.path.join(self.debug_dir, 'own')
        with open(own, 'w', encoding='utf-8') as file:
            file.write('# ours\nmake_*  only a wrapper\n!kz*\nkzalloc\n')
        self.assertIn(('nested', 'fs/node.c:', ''), self.text('--wrappers', own))
        with open(own, 'w', encoding='utf-8') as file:
            file.write('fine\n! \n')
        done = run('report', self.path, '--wrappers', own)
        self.assertEqual(2, done.returncode)
        self.assertIn('Line 2', done.stderr)


class Hostile(Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(1)
        self.file = os.path.join(self.debug_dir, 'vmlinux')

    def ends_well(self, content, path, *options):
        with open(path, 'wb') as file:
            file.write(content)
        done = run('report', self.path, '--json', *options, seconds=20)
        self.assertIn(done.returncode, (0, 2), done.stderr)
        if done.returncode == 2:
            self.assertIn('error:', done.stderr)
            self.assertIn(path, done.stderr)

    def damaged(self, path, rounds):
        with open(path, 'rb') as file:
            whole = file.read()
        for size in [0, 3, 4, 16, 63, 64, 65, *(self.random.randrange(len(whole)) for _ in range(rounds))]:
            yield whole[:size]
        for _ in range(rounds):
            content = bytearray(whole)
            for _ in range(self.random.choice((1, 8, 64, 1000))):
                content[self.random.randrange(len(content))] = self.random.choice((0, 1, 0x7f, 0xff, self.random.randrange(256)))
            yield bytes(content)
        yield b'\x7fELF' + self.random.randbytes(5000)
        yield self.random.randbytes(5000)
        yield b'!<arch>\n' + whole

    def test_kernel_debug_info_is_damaged(self):
        self.write_trace(self.kernel_sites)
        for content in self.damaged(self.vmlinux, 40 if SANITIZED else 80):
            self.ends_well(content, self.file, '--vmlinux', self.file)

    def test_module_debug_info_is_damaged(self):
        self.write_trace(self.module_sites)
        folder = os.path.join(self.debug_dir, 'lib/modules', RELEASE)
        os.makedirs(folder)
        for content in self.damaged(self.module, 40 if SANITIZED else 80):
            self.ends_well(content, os.path.join(folder, 'odd.ko'), '--debug-dir', self.debug_dir)

    def test_stripped_kernel_is_refused(self):
        self.write_trace(self.kernel_sites)
        call('strip', '-g', '-o', self.file, self.vmlinux)
        done = run('report', self.path, '--vmlinux', self.file)
        self.assertEqual(2, done.returncode)
        self.assertIn('.debug_info', done.stderr)

    def test_release_with_a_path(self):
        self.write_trace(self.kernel_sites)
        with open(self.path, 'rb') as file:
            content = file.read()
        self.assertNotIn(b'../', content)
        trace = tracedat.read(data('amd64/trace.dat'))
        with open(self.path, 'wb') as file:
            file.write(kmt_writer.file(trace, kmt_writer.literals([]), uname='Linux host ../../x machine',
                                       kallsyms=self.kallsyms))
        self.place(self.vmlinux, 'x/vmlinux')
        os.makedirs(os.path.join(self.debug_dir, 'lib/modules'), exist_ok=True)
        _, kinds = self.sources('--debug-dir', self.debug_dir)
        self.assertEqual({'no_debug_info'}, kinds)


if __name__ == '__main__':
    unittest.main()
