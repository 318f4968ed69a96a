#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks `kmemtrace convert --anonymise` on real traces. Reports must stay the same. The written bytes must contain
none of the addresses and names that trace-cmd reads from the original."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from kmemtrace import data, report, run  # noqa: E402

TRACES = ('amd64/trace.dat', 'amd64-5.10/trace.dat', 'arm64/trace.dat', 'i386/trace.dat', 's390x/trace.dat',
          's390x/trace.lost.dat', 's390x/trace.stack.dat', 'amd64-stacks/trace.dat', 'graph/amd64.dat')
ADDRESS = re.compile(r'\b(?:ptr|call_site|caller|func)=(?:0x)?([0-9a-f]{5,16})\b')
TASK = re.compile(r'^ *(\S.*?)-\d+ +\[\d+\]', re.MULTILINE)


class Anonymous(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def converted(self, source, name, *options):
        done = run('convert', *options, source, self.path(name), seconds=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name)

    def anonymous(self, name, *options):
        return self.converted(data(name), 'anonymous.kmt', '--anonymise', *options)

    def test_reports_stay_the_same(self):
        for name in TRACES:
            with self.subTest(name):
                anonymous = self.anonymous(name)
                before, after = sums(data(name)), sums(anonymous)
                self.assertGreater(len(before['call_sites']), 2)
                self.assertEqual(before, after)
                before, after = tasks(data(name)), tasks(anonymous)
                self.assertGreater(len(before), 1)
                self.assertEqual(before, after)

    def test_leaks_stay_the_same(self):
        for name in ('amd64/trace.dat', 's390x/trace.lost.dat'):
            with self.subTest(name):
                results = []
                for path in (data(name), self.anonymous(name)):
                    done = run('leaks', path, '--json', '--limit', '100000')
                    self.assertIn(done.returncode, (0, 1, 4), done.stderr)
                    results.append(re.findall(r'"(?:symbol|live_bytes|live_allocations|count)": .*', done.stdout))
                self.assertGreater(len(results[0]), 100)
                self.assertEqual(*results)

    def test_no_names_and_addresses_remain(self):
        # With 32 bits, a pseudonym can equal another real address by coincidence. A random key would make this test
        # fail sometimes.
        with open(self.path('key'), 'wb') as out:
            out.write(bytes(range(32)))
        for name in ('amd64/trace.dat', 'i386/trace.dat', 's390x/trace.dat', 'graph/amd64.dat', 'amd64-stacks/trace.dat'):
            with self.subTest(name):
                order, long_bytes = ('>' if 's390x' in name else '<'), (4 if 'i386' in name else 8)
                anonymous = self.anonymous(name, '--key', self.path('key'))
                plain = self.converted(anonymous, 'plain.dat', '--file-version', '6')  # uncompressed
                with open(plain, 'rb') as file:
                    written = file.read()
                original = data(name)
                raw = subprocess.run(['trace-cmd', 'report', '-R', original], capture_output=True, encoding='utf-8',
                                     errors='replace', check=True).stdout
                addresses = {int(text, 16) for text in ADDRESS.findall(raw)}
                # A file of this size contains some 31-bit numbers that equal addresses by coincidence.
                addresses = {address for address in addresses if address > 1 << 32 or long_bytes == 4}
                tasks = {task for task in TASK.findall(raw) if len(task) > 4 and task not in ('<idle>', '<...>')}
                if 's390x' not in name:
                    self.assertGreater(len(addresses), 20)
                word = struct.Struct(order + ('I' if long_bytes == 4 else 'Q'))
                words = set()
                for shift in range(word.size):
                    end = (len(written) - shift) // word.size * word.size + shift
                    words.update(number for number, in word.iter_unpack(written[shift:end]))
                found = addresses & words
                self.assertLessEqual(len(found), len(addresses) // 100 if long_bytes == 4 else 0, sorted(found)[:5])
                found = [task for task in tasks
                         if re.search(rb'(?<![\w.])(?<! [a-zA-Z] )' + re.escape(task.encode()) + rb'[\0\n]', written)]
                self.assertEqual(found, [])

    def test_functions_of_a_perf_data(self):
        """A perf.data has no symbols. If an option gives symbols, their addresses are changed like those of the code.
        Without symbols, functions have no names, and a message reports this."""
        perf = subprocess.run(['zstd', '-d', '-c', data('amd64/perf.data.zst')], stdout=subprocess.PIPE, check=True).stdout
        with open(self.path('perf.data'), 'wb') as out:
            out.write(perf)
        text, = struct.unpack_from('<Q', perf, perf.index(b'[kernel.kallsyms]_text') - 8)  # recorded address of _text
        sites = {int(address, 16) for address in re.findall(r'"address": "0x([0-9a-f]{16})"', run(
            'report', self.path('perf.data'), '--json', '--limit', '100000').stdout)}
        self.assertGreater(len(sites), 50)
        with open(self.path('kallsyms'), 'w', encoding='ascii') as out:
            out.write(''.join(f'{site - site % 4096:016x} T place_{site >> 12:x}\n' for site in sorted(sites)))
            out.write(f'{text:016x} T _text\n{max(sites) + 4096:016x} T _end\n')
        symbols = ('--kallsyms', self.path('kallsyms'))
        options = ('--by', 'call-site', '--json', '--limit', '100000')
        names_of_each = []
        for path, more in ((self.path('perf.data'), symbols),
                           (self.converted(self.path('perf.data'), 'named.kmt', '--anonymise', *symbols), ())):
            text = run('report', path, *options, *more).stdout
            names_of_each.append(sorted(re.findall(r'"symbol": "(place_[^"]*)"', text)))
        self.assertGreater(len(names_of_each[0]), 50)
        self.assertEqual(*names_of_each)
        done = run('convert', '--anonymise', self.path('perf.data'), self.path('unnamed.kmt'))
        self.assertIn('call sites are shown as addresses', ' '.join(done.stderr.split()))
        self.assertEqual([], re.findall('place_.*', run('report', self.path('unnamed.kmt'), *options).stdout))

    def test_sums_of_snapshots_stay_the_same(self):
        shutil.copytree(data('snapshot/amd64/after'), self.path('copies'))
        with open(os.path.join(self.path('copies'), 'dmesg'), 'w', encoding='ascii') as out:
            out.write('[0.00] Command line: root=/dev/secret quiet\n'
                      '[0.01] setup_percpu: NR_CPUS:8192 nr_cpumask_bits:2 nr_cpu_ids:2 nr_node_ids:1\n'
                      '[0.01] percpu: Embedded 62 pages/cpu s217088 r8192 d28672 u1048576\n')
        done = run('snapshot', '--from', self.path('copies'), '-o', self.path('mine.kmt'))
        self.assertEqual(done.returncode, 0, done.stderr)
        anonymous = self.converted(self.path('mine.kmt'), 'anonymous.kmt', '--anonymise')
        balances = [json.loads(run('snapshot', path, '--json').stdout)['balance'] for path in (self.path('mine.kmt'), anonymous)]
        self.assertIn('meminfo: Percpu - dmesg: first chunk', [line['source'] for line in balances[0]])
        self.assertEqual(*balances)

    def test_same_key_same_names(self):
        key = self.path('key')
        with open(key, 'wb') as out:
            out.write(bytes(range(32)))
        texts = []
        for options in (('--key', key), ('--key', key), ()):
            path = self.anonymous('s390x/trace.dat', *options)
            texts.append(run('report', path, '--by', 'task', '--limit', '1000').stdout)
        self.assertIn('task-', texts[0])
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def test_missing_data_is_named(self):
        done = run('convert', '--anonymise', data('graph/args.7.2.dat'), self.path('a.kmt'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('ftrace:funcgraph_entry args', done.stderr)

    def test_short_key_is_refused(self):
        with open(self.path('key'), 'wb') as out:
            out.write(b'secret')
        done = run('convert', '--anonymise', '--key', self.path('key'), data('s390x/trace.dat'), self.path('a.kmt'))
        self.assertEqual(done.returncode, 2)
        self.assertIn('could be guessed', done.stderr)
        self.assertFalse(os.path.exists(self.path('a.kmt')))
        done = run('convert', '--anonymise', '--key', '/dev/urandom', data('s390x/trace.dat'), self.path('a.kmt'))
        self.assertEqual(done.returncode, 2)
        self.assertIn('is not a file', done.stderr)


def sums(path):
    """Returns a report without the names that anonymising replaces."""
    document = report(path)
    for site in document['call_sites']:
        del site['address']
    return {key: document[key] for key in ('events', 'slab', 'pages', 'percpu', 'vmalloc', 'page_orders', 'anomalies',
                                           'call_sites')}


def tasks(path):
    """Returns the memory that each task allocated and freed."""
    rows = report(path, '--by', 'task')['groups']['slab']['rows']
    return sorted(json.dumps({key: value for key, value in row.items() if key != 'keys'}) for row in rows)


if __name__ == '__main__':
    unittest.main()
