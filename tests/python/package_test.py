#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the Python package kmemtrace. Its results must equal the output of the commands, for all traces of
tests/data."""
import array
import contextlib
import ctypes
import importlib.util
import io
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
PACKAGE = os.path.join(ROOT, 'python')


def module(name, path):
    """Loads a module from a file. The helper tests/support/kmemtrace.py has the same name as the package."""
    spec = importlib.util.spec_from_file_location(name, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


support = module('support', os.path.join(ROOT, 'tests', 'support', 'kmemtrace.py'))
sys.path.insert(0, PACKAGE)
import kmemtrace  # noqa: E402
from kmemtrace import _library  # noqa: E402

WHOLE, STACKS = support.data('amd64/trace.dat'), support.data('amd64-stacks/trace.dat')


def printed(*arguments):
    done = support.run(*arguments, '--json', '--limit', '0', seconds=300)
    return json.loads(done.stdout)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.traces = support.all_traces(cls.folder.name)


class Results(Case):
    def test_reports_and_leaks(self):
        self.assertGreater(len(self.traces), 25)
        for path in self.traces:
            with self.subTest(path), kmemtrace.open(path) as trace:
                self.assertEqual(printed('report', path), trace.report())
                self.assertEqual(printed('report', path, '--by', 'process,cache', '--sort', 'live-bytes'),
                                 trace.report(by=['process', 'cache'], sort='live_bytes'))
                self.assertEqual(printed('leaks', path), trace.leaks())

    def test_keys(self):
        trace = kmemtrace.open(STACKS)
        for key in _keys():
            with self.subTest(key):
                self.assertEqual(printed('report', STACKS, '--by', key), trace.report(by=[key.replace('-', '_')]))

    def test_options(self):
        trace = kmemtrace.open(WHOLE)
        limited = trace.report(by='cache', limit=2)
        self.assertEqual((['cache'], 2), (limited['by'], len(limited['groups']['slab']['rows'])))
        self.assertEqual(printed('leaks', WHOLE, '--threshold', '1000/s', '--by', 'cache', '--sort', 'live-bytes'),
                         trace.leaks(by=['cache'], sort='live-bytes', threshold=1000))

    def test_snapshots(self):
        for path in (support.data('snapshot/amd64/after'), support.data('snapshot/s390x/before'), support.data('oom/3.10-syslog.txt')):
            with self.subTest(path):
                self.assertEqual(printed('snapshot', path), kmemtrace.snapshot(path))

    def test_series(self):
        """A kernel log with reports of OOM kills is a series of snapshots."""
        log = support.data('oom/5.15-journal.txt')
        for name in ('report', 'leaks'):
            function = getattr(_library.library, f'kmt_{name}_json')
            self.assertEqual(printed(name, log), kmemtrace._results.result(function, log))


def _keys():
    with open(os.path.join(ROOT, 'schemas', 'common-1.json'), encoding='utf-8') as file:
        return json.load(file)['$defs']['group_key']['enum']


class Events(Case):
    def test_events_equal_the_export(self):
        """Compares each event with the line that `kmemtrace export --to jsonl` writes for it."""
        for path in self.traces:
            with self.subTest(path):
                trace = kmemtrace.open(path)
                lines = support.run('export', path, '--to', 'jsonl', seconds=300).stdout.splitlines()
                for event, line in itertools.zip_longest(trace.events(), lines):
                    exported = json.loads(line)
                    self.assertEqual((exported['time_ns'], exported['cpu'], exported['tid'], exported['event'], exported['context']),
                                     (event.time_ns, event.cpu, event.tid, event.name, event.context))
                    for key in ('bytes_requested', 'bytes_allocated'):
                        if key in exported and event.kind in ('kmalloc', 'cache_alloc', 'percpu_alloc'):
                            self.assertEqual(exported[key], getattr(event, key))
                    if 'call_site' in exported and event.call_site:
                        self.assertEqual(int(exported['call_site'], 16), event.call_site)
                    if 'address' in exported and event.kind in ('kmalloc', 'kfree', 'cache_alloc', 'cache_free'):
                        self.assertEqual(int(exported['address'], 16), event.address)

    def test_names(self):
        trace = kmemtrace.open(STACKS)
        lines = support.run('export', STACKS, '--to', 'jsonl').stdout.splitlines()
        for event, exported in zip(trace.events(), map(json.loads, lines)):
            self.assertEqual(exported.get('stack', []), [trace.symbol(address) for address in event.stack])
            if 'symbol' in exported:
                self.assertEqual(exported['symbol'], trace.symbol(event.call_site))
        self.assertEqual(('6.18.44-fc-v669', 'x86_64', 4096, 64, True), (trace.machine.kernel, trace.machine.arch,
                                                                        trace.machine.page_size, trace.machine.word_bits,
                                                                        trace.machine.little_endian))
        self.assertFalse(kmemtrace.open(support.data('s390x/trace.dat')).machine.little_endian)

    def test_sums(self):
        """The events of a complete trace add up to the totals of the report."""
        slab = kmemtrace.open(WHOLE).report()['slab']
        events = [event for event in kmemtrace.open(WHOLE).events() if event.kind in ('kmalloc', 'cache_alloc') and event.address]
        self.assertEqual((slab['allocations'], slab['bytes_requested'], slab['bytes_allocated']),
                         (len(events), sum(event.bytes_requested for event in events), sum(event.bytes_allocated for event in events)))

    def check_columns(self, path):
        trace = kmemtrace.open(path)
        columns = trace.columns()
        self.assertEqual(list(kmemtrace.Event._fields), list(columns))
        names = {'name': columns.names, 'cache': columns.caches, 'stack': columns.stacks, 'kind': columns.kinds,
                 'context': columns.contexts}
        texts = [map(names[name].__getitem__, column) if name in names else column for name, column in columns.items()]
        for event, *values in itertools.zip_longest(trace.events(), *texts):
            self.assertEqual(event, tuple(values))
        self.assertEqual(['time_ns', 'stack'], list(trace.columns(['time_ns', 'stack'])))
        with self.assertRaisesRegex(ValueError, "no column 'nosuch'"):
            trace.columns(['nosuch'])
        return columns

    @unittest.skipUnless(importlib.util.find_spec('numpy'), 'needs numpy')
    def test_columns_of_numpy(self):
        import numpy
        for path in (support.data('graph/s390x.dat'), STACKS, WHOLE):
            columns = self.check_columns(path)
            self.assertEqual(numpy.uint64, columns['bytes_allocated'].dtype)
            self.assertEqual(numpy.int16, columns['node'].dtype)
        is_slab = numpy.isin(columns['kind'], [kmemtrace.KINDS.index('kmalloc'), kmemtrace.KINDS.index('cache_alloc')])
        self.assertEqual(kmemtrace.open(WHOLE).report()['slab']['bytes_allocated'], columns['bytes_allocated'][is_slab].sum())

    def test_columns_without_numpy(self):
        numpy, kmemtrace._trace.numpy = kmemtrace._trace.numpy, None
        try:
            self.assertIsInstance(self.check_columns(STACKS)['tid'], array.array)
        finally:
            kmemtrace._trace.numpy = numpy

    @unittest.skipUnless(importlib.util.find_spec('pyarrow'), 'needs pyarrow')
    def test_arrow(self):
        table = kmemtrace.open(STACKS).arrow()
        for row, event in itertools.zip_longest(table.to_pylist(), kmemtrace.open(STACKS).events()):
            self.assertEqual({**event._asdict(), 'stack': list(event.stack)}, row)


class Errors(Case):
    def test_bad_files(self):
        for read in (kmemtrace.open, kmemtrace.snapshot):
            with self.assertRaises(kmemtrace.KmemtraceError) as caught:
                read('/no/such/file')
            self.assertEqual('/no/such/file', caught.exception.file)
        with self.assertRaises(kmemtrace.KmemtraceError) as caught:
            kmemtrace.open(__file__)
        self.assertEqual(__file__, caught.exception.file)

    def test_bad_arguments(self):
        trace = kmemtrace.open(STACKS)
        for read in (trace.report, trace.leaks):
            for options in ({'by': ['nosuch']}, {'by': []}, {'by': ['cache', 'cache']}, {'sort': 'nosuch'}):
                with self.subTest(read.__name__, **options), self.assertRaises(kmemtrace.KmemtraceError):
                    read(**options)
        with self.assertRaisesRegex(kmemtrace.KmemtraceError, 'call-site'):  # the hint lists the keys
            trace.report(by=['nosuch'])
        with self.assertRaises(kmemtrace.KmemtraceError):
            trace.leaks(by=['lifetime'])
        for read in (trace.report, trace.leaks, lambda limit: kmemtrace.snapshot(WHOLE, limit)):
            for limit in (0, -1):
                with self.assertRaisesRegex(ValueError, f'the limit is {limit}; it must be positive'):
                    read(limit=limit)
        for threshold in (-1, float('nan'), float('inf')):
            with self.subTest(threshold), self.assertRaisesRegex(kmemtrace.KmemtraceError, 'threshold.*Use a positive number, or 0'):
                trace.leaks(threshold=threshold)

    def test_paths_with_nul(self):
        """Without the check, the library would read the file whose name ends at the NUL."""
        path = f'{STACKS}\0.dat'
        for read in (kmemtrace.open, kmemtrace.snapshot, lambda path: kmemtrace.open(STACKS).report(kallsyms=path)):
            with self.assertRaisesRegex(ValueError, 'NUL'):
                read(path)

    def test_damaged_file(self):
        """The events before the damage are read, and the report states the damage."""
        path = os.path.join(self.folder.name, 'damaged.dat')
        with open(WHOLE, 'rb') as whole, open(path, 'wb') as damaged:
            content = bytearray(whole.read())
            content[600_000:640_000] = os.urandom(40_000)
            damaged.write(content)
        trace = kmemtrace.open(path)
        self.assertEqual(trace.report()['trace']['events'], sum(1 for _ in trace.events()))
        self.assertIn('error', [finding['severity'] for finding in trace.report()['findings']])

    def test_closed(self):
        with kmemtrace.open(STACKS) as trace:
            pass
        with self.assertRaisesRegex(ValueError, 'closed'):
            trace.symbol(0)
        self.assertTrue(trace.report())

    def test_files_are_closed(self):
        """No file is open after a trace is gone, even if its events were not read to the end."""
        trace = kmemtrace.open(STACKS)
        events = trace.events()
        next(events)
        events.close()
        del trace, events
        self.assertNotIn(STACKS, [os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd')
                                  if os.path.exists(f'/proc/self/fd/{fd}')])
        with open('/proc/self/maps', encoding='utf-8') as maps:
            self.assertNotIn(STACKS, maps.read())


class Interface(unittest.TestCase):
    """The C interface."""
    HEADER = os.path.join(ROOT, 'src', 'library', 'kmemtrace', 'kmemtrace.h')

    def test_exported_functions(self):
        """The library exports exactly the functions of the header, and the package declares each that it uses."""
        with open(self.HEADER, encoding='utf-8') as file:
            text = file.read()
        declared = set(re.findall(r'^KMT_API [^;]*?\b(kmt_\w+)\(', text, re.M))
        names = subprocess.run(['nm', '-D', '--defined-only', os.environ['KMEMTRACE_LIBRARY']], stdout=subprocess.PIPE,
                               check=True, encoding='ascii').stdout
        self.assertEqual(declared, set(re.findall(r' T (kmt_\w+)$', names, re.M)))
        for name in declared - {'kmt_lost_events', 'kmt_task_name'}:
            self.assertIsNotNone(getattr(_library.library, name).argtypes, name)
        self.assertEqual(_library.ABI_VERSION, int(re.search(r'#define KMT_ABI_VERSION (\d+)', text)[1]))

    def test_structures(self):
        """A C program prints sizes and offsets, which must equal those of the package's structures."""
        structures = {'kmt_options': _library.Options, 'kmt_machine': _library.MachineStructure, 'kmt_columns': _library.ColumnsStructure}
        lines = [f'printf("%zu\\n", sizeof({name}));' for name in structures]
        lines += [f'printf("%zu\\n", offsetof({name}, {field}));' for name, structure in structures.items()
                  for field, _ in structure._fields_]
        with tempfile.TemporaryDirectory() as folder:
            source, program = f'{folder}/sizes.c', f'{folder}/sizes'
            with open(source, 'w', encoding='ascii') as file:
                file.write('#include <stdio.h>\n#include <kmemtrace/kmemtrace.h>\nint main(void) {\n' + '\n'.join(lines) + '\n}\n')
            subprocess.run(['gcc', '-std=c99', '-pedantic', '-Wall', '-Wextra', '-Werror', '-I', os.path.dirname(os.path.dirname(self.HEADER)),
                            source, '-o', program], check=True)
            sizes = list(map(int, subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout.split()))
        expected = [ctypes.sizeof(structure) for structure in structures.values()]
        expected += [getattr(structure, field).offset for structure in structures.values() for field, _ in structure._fields_]
        self.assertEqual(expected, sizes)

    def test_older_callers(self):
        """A caller with an older header has shorter structures. The library must not write past their ends."""
        library = _library.library
        error = ctypes.c_void_p()
        trace = library.kmt_open(WHOLE.encode(), ctypes.byref(error))
        self.addCleanup(library.kmt_close, trace)
        machine = _library.MachineStructure(_library.MachineStructure.kernel.offset)
        library.kmt_get_machine(trace, ctypes.byref(machine))
        self.assertEqual((b'trace.dat version 7', None, 0), (machine.format, machine.kernel, machine.cpus))
        options = _library.Options(_library.Options.sort.offset, b'cache', b'nosuch')
        text = library.kmt_report_json(WHOLE.encode(), ctypes.byref(options), ctypes.byref(error))
        self.assertEqual(['cache'], json.loads(_library.taken(text, error))['by'])
        self.assertIsNone(library.kmt_report_json(b'/no/such/file', None, None))

    def test_too_small_columns(self):
        """A structure without a place for the number of events is an error, and stays as it is."""
        library = _library.library
        error = ctypes.c_void_p()
        trace = library.kmt_open(WHOLE.encode(), ctypes.byref(error))
        self.addCleanup(library.kmt_close, trace)
        size = _library.ColumnsStructure.time_ns.offset - 1
        columns = _library.ColumnsStructure(size)
        self.assertEqual(-1, library.kmt_read(trace, ctypes.byref(columns), ctypes.byref(error)))
        with self.assertRaisesRegex(kmemtrace.KmemtraceError, f'kmt_columns is {size} bytes'):
            _library.raise_error(error)
        self.assertEqual((size, 0), (columns.size, columns.events))
        columns.size += 1
        self.assertEqual(1, library.kmt_read(trace, ctypes.byref(columns), None))
        self.assertEqual((size + 1, False), (columns.size, bool(columns.time_ns)))
        self.assertGreater(columns.events, 0)

    def test_no_error(self):
        """An error of NULL means that there was not enough memory."""
        library = _library.library
        self.assertEqual((b'Out of memory', None, -1, None),
                         (library.kmt_error_message(None), library.kmt_error_file(None), library.kmt_error_offset(None),
                          library.kmt_error_hint(None)))
        library.kmt_error_free(None)

    def test_choice_of_the_library(self):
        """The package loads the newest library of its installation that has its version of the C interface."""
        with tempfile.TemporaryDirectory() as folder:
            prefix = f'{folder}/lib/python3/dist-packages'
            shutil.copytree(os.path.join(PACKAGE, 'kmemtrace'), f'{prefix}/kmemtrace')
            for version in ('0.9.0', '0.10.0'):
                os.symlink(os.path.abspath(os.environ['KMEMTRACE_LIBRARY']), f'{folder}/lib/libkmemtrace.so.{version}')
            for version, content in (('0.11.0', ''), ('0.12.0', 'int kmt_abi_version(void) { return 99; }')):
                subprocess.run(['gcc', '-shared', '-fPIC', '-x', 'c', '-', '-o', f'{folder}/lib/libkmemtrace.so.{version}'],
                               input=content, check=True, encoding='ascii')
            with open(f'{folder}/lib/libkmemtrace.so.0.13.0', 'w', encoding='ascii') as file:
                file.write('not a library\n')
            environment = {**os.environ, 'PYTHONPATH': prefix, 'PYTHONDONTWRITEBYTECODE': '1'}
            del environment['KMEMTRACE_LIBRARY']
            loaded = subprocess.run([sys.executable, '-c', 'from kmemtrace import _library; print(_library.library._name)'],
                                    stdout=subprocess.PIPE, check=True, env=environment, encoding='utf-8')
            self.assertEqual(f'{folder}/lib/libkmemtrace.so.0.10.0\n', loaded.stdout)

    def test_names_of_the_trace(self):
        library = _library.library
        error = ctypes.c_void_p()
        trace = library.kmt_open(support.data('s390x/trace.lost.dat').encode(), ctypes.byref(error))
        self.addCleanup(library.kmt_close, trace)
        columns = _library.ColumnsStructure(ctypes.sizeof(_library.ColumnsStructure))
        tasks = set()
        while library.kmt_read(trace, ctypes.byref(columns), ctypes.byref(error)) == 1:
            tasks.update(zip(columns.tid[:columns.events], columns.time_ns[:columns.events]))
        lost = printed('report', support.data('s390x/trace.lost.dat'))['trace']['lost_events']
        self.assertEqual(lost, library.kmt_lost_events(trace))
        tid, time = max(tasks)
        named = _library.taken(library.kmt_task_name(trace, tid, time, ctypes.byref(error)), error)
        self.assertIn(f'"tid":{tid},"task":"{named}"', support.run('export', support.data('s390x/trace.lost.dat'), '--to', 'jsonl').stdout)

    def test_types(self):
        checked = subprocess.run([sys.executable, '-m', 'mypy', '--strict', '--ignore-missing-imports', '--cache-dir', os.devnull,
                                  os.path.join(PACKAGE, 'kmemtrace')], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8')
        if 'No module named mypy' in checked.stdout:
            self.skipTest('needs mypy')
        self.assertEqual(0, checked.returncode, checked.stdout)

    def test_version(self):
        with open(os.path.join(PACKAGE, 'pyproject.toml'), encoding='utf-8') as file:
            self.assertIn(f'\nversion = "{kmemtrace.version()}"\n', file.read())

    def test_example(self):
        """The example of docs/python.md must run."""
        with open(os.path.join(ROOT, 'docs', 'python.md'), encoding='utf-8') as file:
            examples = re.findall(r'^```python\n(.*?)^```', file.read(), re.M | re.S)
        self.assertGreater(len(examples), 1)
        for example in examples:
            if '.columns(' in example and not importlib.util.find_spec('numpy'):
                continue
            with self.subTest(example), contextlib.redirect_stdout(io.StringIO()) as output:
                exec(example.replace("'trace.kmt'", repr(WHOLE)), {})  # noqa: S102
                self.assertNotEqual('', output.getvalue())


if __name__ == '__main__':
    unittest.main()
