#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the arguments and results of calls that `graph` shows. The BTF is written by this test according to the
kernel's Documentation/bpf/btf.rst."""
import base64
import gzip
import json
import os
import re
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from graph_test import FOLDER, Made, graph  # noqa: E402
from kmemtrace import data, run  # noqa: E402

INT, PTR, STRUCT, ENUM, TYPEDEF, CONST, FUNC, FUNC_PROTO = 1, 2, 4, 6, 8, 10, 12, 13
SIGNED, BOOL = 1, 4
ENTRY = 'unsigned long func; unsigned long depth; unsigned long args[6]'
EXIT = ('unsigned long func; unsigned long retval; unsigned long depth; unsigned long overrun; unsigned long calltime; '
        'unsigned long rettime')


class Types:
    """Builds BTF. Types are numbered from 1 in the order in which they are added."""

    def __init__(self):
        self.types, self.strings, self.count = b'', b'\0', 0

    def string(self, text):
        if not text:
            return 0
        self.strings += text.encode() + b'\0'
        return len(self.strings) - len(text) - 1

    def add(self, kind, name='', size_or_type=0, items=(), more=b''):
        self.types += struct.pack('<III', self.string(name), kind << 24 | len(items), size_or_type)
        self.types += more + b''.join(struct.pack('<Ii', self.string(item), value) for item, value in items)
        self.count += 1
        return self.count

    def integer(self, name, size, encoding=0):
        return self.add(INT, name, size, more=struct.pack('<I', encoding << 24 | 8 * size))

    def function(self, name, result, *parameters):
        self.add(FUNC, name, self.add(FUNC_PROTO, '', result, parameters))

    def bytes(self):
        return struct.pack('<HBBIIIII', 0xeb9f, 1, 0, 24, 0, len(self.types), len(self.types),
                           len(self.strings)) + self.types + self.strings


def types():
    made = Types()
    char, whole, flags = made.integer('char', 1, SIGNED), made.integer('int', 4, SIGNED), made.integer('unsigned int', 4)
    long, unsigned_long = made.integer('long', 8, SIGNED), made.integer('unsigned long', 8)
    boolean = made.add(TYPEDEF, 'bool', made.integer('_Bool', 1, BOOL))
    size = made.add(TYPEDEF, 'size_t', unsigned_long)
    file = made.add(PTR, '', made.add(STRUCT, 'file', 64))
    text = made.add(PTR, '', made.add(CONST, '', char))
    mode = made.add(ENUM, 'mode', 4, [('READ', 0), ('WRITE', 1)])
    made.function('a', long, ('name', text), ('count', size), ('flags', flags), ('file', file), ('offset', long),
                  ('on', boolean), ('more', whole))
    made.function('b', 0, ('mode', mode), ('level', whole))
    made.function('c', file)
    made.function('d', whole, ('', unsigned_long))
    return made.bytes()


ERROR = (1 << 64) - 22
BIG = (1 << 60) + 1
CALLS = (('a', (0x1000, 4096, 0xdead00000255, 0xffff888000001000, (1 << 64) - 5, 0xff01), ERROR),
         ('a', (0, BIG, 5, 0, 7, 0), 4096),
         ('b', (1, 0xffffffff), ERROR),  # the register may contain any value
         ('b', (9, 3), 0),
         ('c', (1,), (1 << 64) - 2),
         ('c', (), 0xffff888000001000),
         ('d', (BIG,), 0xabcdfffffff4))
TEXTS = ('a(name=0x1000, count=4096, flags=0x255, file=0xffff888000001000, offset=-5, on=true, more=(on the stack, not recorded)) = -22 (EINVAL);',
         f'a(name=NULL, count={BIG}, flags=5, file=NULL, offset=7, on=false, more=(on the stack, not recorded)) = 4096;',
         'b(mode=WRITE, level=-1);', 'b(mode=9, level=3);', 'c() = -2 (ENOENT);', 'c() = 0xffff888000001000;',
         f'd({BIG:#x}) = -12 (ENOMEM);')


class GraphTypes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        made = Made(fields={'funcgraph_entry': ENTRY, 'funcgraph_exit': EXIT})
        for place, (function, arguments, value) in enumerate(CALLS):
            made.recorder.add(1000 + 100 * place, 0, 'funcgraph_entry', 11, 0, func=0xffffffff81000000 + ord(function) * 256,
                              depth=0, args=struct.pack('<6Q', *arguments, *[0] * (6 - len(arguments))))
            made.end(1050 + 100 * place, 0, 11, function, 0, 50, retval=value)
        cls.path = made.write()
        cls.btf = os.path.join(FOLDER.name, 'types.btf')
        with open(cls.btf, 'wb') as file:
            file.write(types())

    def calls(self, *options):
        done = run('graph', '--btf', self.btf, '--args', '--ret', *options, self.path)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stderr, r'\Anote: it is unknown whether the types in .*\n\Z')
        return re.findall(r'0\.050 us    \|  (.*)', done.stdout)

    def test_text_of_the_calls(self):
        self.assertEqual(list(TEXTS), self.calls())
        kmt = os.path.join(FOLDER.name, 'typed.kmt')
        self.assertEqual(0, run('convert', self.path, kmt).returncode)
        self.assertEqual(list(TEXTS), re.findall(r'0\.050 us    \|  (.*)',
                                                 run('graph', '--btf', self.btf, '--args', '--ret', kmt).stdout))

    def test_conditions(self):
        for condition, wanted in (('flags==0x255', [0]), ('flags!=0x255', [1]), ('offset<0', [0]), ('count>4096', [1]),
                                  ('on==true', [0]), ('mode==WRITE', [2]), ('level==-1', [2]), ('file==NULL', [1])):
            self.assertEqual([TEXTS[place] for place in wanted], self.calls('--where', condition), condition)
        self.assertEqual([TEXTS[0]], self.calls('--where', 'count>=4096', '--where', 'on==1'))
        self.assertEqual([TEXTS[0], TEXTS[4], TEXTS[6]], self.calls('--errors-only'))
        self.assertEqual([], self.calls('--where', 'count==1'))
        done = run('graph', '--btf', self.btf, '--where', 'cuont==1', self.path)
        self.assertEqual(2, done.returncode)
        self.assertIn('count, file, flags', done.stderr)

    def test_functions_that_return_nothing(self):
        """The value of the return register must be shown unless the function is known to return nothing."""
        for options, wanted in (['--btf', self.btf], [False]), ([], [True]):
            events = json.loads(run('export', self.path, '--to', 'chrome', *options).stdout)['traceEvents']
            self.assertEqual(wanted * 2, ['return value' in event['args'] for event in events
                                          if event['ph'] == 'B' and event['name'] == 'b'])
        page = os.path.join(FOLDER.name, 'nothing.html')
        self.assertEqual(0, run('graph', '--btf', self.btf, '--html', page, self.path).returncode)
        with open(page, encoding='utf-8') as file:
            packed, = re.findall(r'<script id="kmemtrace-data"[^>]*>([^<]*)</script>', file.read())
        trace, = json.loads(gzip.decompress(base64.b64decode(packed)))['traces']
        calls = trace['calls']['graph']['calls']
        self.assertEqual([['', '0xffffffffffffffea'], ['', '0x0']],
                         [[call['result_text'], call['return_value']] for call in calls if call['function'] == 'b'])

    def test_json(self):
        result = graph(self.path, '--btf', self.btf, '--args', '--ret')
        self.assertEqual((True, True), (result['arguments'], result['types']))
        shown = [(call['arguments'], call['result'], call['error']) for call in result['calls']]
        self.assertEqual(({'name': '0x1000', 'count': 4096, 'flags': 0x255, 'file': '0xffff888000001000', 'offset': -5, 'on': True,
                           'more': None}, -22, -22), shown[0])
        self.assertEqual(['more'], result['calls'][0]['left_out'])
        self.assertEqual((hex(BIG), 4096, None), (shown[1][0]['count'], *shown[1][1:]))
        self.assertEqual(({'mode': 'WRITE', 'level': -1}, None, None), shown[2])
        self.assertEqual(({'mode': 9, 'level': 3}, None, None), shown[3])
        self.assertEqual(({}, '0xfffffffffffffffe', -2), shown[4])
        self.assertEqual(({'#1': hex(BIG)}, -12, -12), shown[6])

    def test_the_source_of_types_is_reported(self):
        out = os.path.join(FOLDER.name, 'typed')
        for command in (['report', '--html', out], ['graph', '--html', out],
                        ['export', '--to', 'perfetto', '-o', out + '.perfetto']):
            with self.subTest(command[0]):
                done = run(*command, '--btf', self.btf, self.path)
                self.assertEqual(0, done.returncode, done.stderr)
                self.assertIn(f'note: it is unknown whether the types in {self.btf} are', done.stderr)
                self.assertNotIn('types in', run(*command, self.path).stderr)

    def test_without_types(self):
        done = run('graph', '--args', '--ret', self.path)
        self.assertEqual(0, done.returncode)
        self.assertIn('a(); /* = -22 (EINVAL) */', done.stdout)
        self.assertIn('does not have the types', done.stdout)
        self.assertEqual([None] * len(CALLS), [call['arguments'] for call in graph(self.path, '--args')['calls']])
        done = run('graph', '--where', 'count==1', self.path)
        self.assertEqual(2, done.returncode)
        self.assertIn('does not have their types', done.stderr)
        self.assertIn('--btf', done.stderr)

    def test_anonymous_results(self):
        anonymous = os.path.join(FOLDER.name, 'anonymous.kmt')
        self.assertEqual(0, run('convert', '--anonymise', self.path, anonymous).returncode)
        result = graph(anonymous, '--args', '--ret', '--btf', self.btf)
        self.assertEqual([(None, None)] * len(CALLS),
                         [(call['arguments'], call['return_value']) for call in result['calls']])
        self.assertIn('were removed when the trace was made anonymous', run('graph', '--ret', anonymous).stdout)
        done = run('graph', '--errors-only', anonymous)
        self.assertEqual(2, done.returncode)
        self.assertIn('when the trace was anonymised', done.stderr)


class RealArguments(unittest.TestCase):
    """Calls of Linux 7.2 recorded with funcgraph-args, compared with the kernel's own text. The needed types are
    from the kernel's BTF."""

    def same(self, kernel, own):
        """Compares two values. The kernel prints whole registers, and `1 [NAME]` for enumerations."""
        number, _, name = kernel.partition(' [')
        number = int(number, 0)
        own = '0' if own == 'NULL' else own
        if re.fullmatch('0[0-7]+', own):  # a file mode
            own = f'0o{own}'
        if name:
            return own == name.rstrip(']')
        if own in ('true', 'false'):
            return (number & 0xff != 0) == (own == 'true')
        difference = number - int(own, 0)
        return difference % 2**64 == 0 or (abs(int(own, 0)) < 2**32 and difference % 2**32 == 0)

    def test_values_equal_those_of_the_kernel(self):
        text = subprocess.run(['zstdcat', data('graph/args.7.2.trace.zst')], stdout=subprocess.PIPE, check=True,
                              encoding='utf-8').stdout
        kernel = re.findall(r'\| +([\w.]+)\((.*)\)', text)
        shown = run('graph', '--args', '--limit', '0', '--btf', data('graph/args.7.2.btf'), data('graph/args.7.2.dat')).stdout
        # The kernel prints "..." for arguments that are not in a register.
        shown = re.sub(r'\w+=\(on the stack, not recorded\)(, \w+=\(on the stack, not recorded\))*', '...', shown)
        # The names of flags are not compared.
        own = re.findall(r'\|  +([\w.]+)\((.*?)\)', re.sub(r' \([A-Z_|]+(\|0x[0-9a-f]+)?\)', '', shown))
        self.assertEqual(1491, len(kernel))
        self.assertEqual([name for name, _ in kernel], [name for name, _ in own])
        values = 0
        for (name, wanted), (_, shown) in zip(kernel, own):
            wanted, shown = wanted.split(', '), shown.split(', ')
            self.assertEqual([one.partition('=')[0] for one in wanted], [one.partition('=')[0] for one in shown], name)
            for one, other in zip(wanted, shown):
                if '=' not in one:
                    self.assertEqual(one, other)
                    continue
                self.assertTrue(self.same(one.partition('=')[2], other.partition('=')[2]), (name, one, other))
                values += 1
        self.assertGreater(values, 3000)


if __name__ == '__main__':
    unittest.main()
