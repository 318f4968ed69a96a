#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that code running inside a reader can create, change or read only the files named on the command line."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))

from kmemtrace import PROGRAM, SANITIZED, data, run  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
LANDLOCK = 444  # landlock_create_ruleset()


def has_landlock():
    import ctypes
    return ctypes.CDLL(None).syscall(LANDLOCK, None, 0, 1) >= 1


@unittest.skipIf(SANITIZED, 'a sanitizer has to be the first library')
@unittest.skipUnless(has_landlock(), 'this kernel has no Landlock')
class Confined(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.library = os.path.join(cls.place.name, 'attack.so')
        subprocess.run(['cc', '-shared', '-fPIC', '-o', cls.library, os.path.join(HERE, 'attack.c'), '-ldl'], check=True)
        cls.trace = os.path.join(cls.place.name, 'trace.kmt')
        assert run('convert', data('amd64-stacks/trace.dat'), cls.trace).returncode == 0

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.place.name)
        self.addCleanup(shutil.rmtree, self.folder)
        self.victim = os.path.join(self.folder, 'victim')
        with open(self.victim, 'w', encoding='ascii') as file:
            file.write('mine')
        shutil.copy(self.trace, os.path.join(self.folder, 'trace.kmt'))
        os.mkdir(os.path.join(self.folder, 'tmp'))

    def attacked(self, *arguments):
        """Runs the program with attack code, which tries to access files. Returns the finished process."""
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding='utf-8', errors='replace', check=False,
                              env=dict(os.environ, LD_PRELOAD=self.library, VICTIM=self.victim, FOLDER=self.folder,
                                       TMPDIR=os.path.join(self.folder, 'tmp')))
        attempts = dict(re.findall(r'^attack (\w+) (\d+)$', done.stderr, re.MULTILINE))
        self.assertEqual('1', attempts.pop('done', None), done.stderr)
        self.assertEqual([], [name for name, number in attempts.items() if number == '0'], arguments)
        self.assertGreater(len(attempts), 20)
        self.assertIn(done.returncode, (0, 1, 4), done.stderr)
        with open(self.victim, encoding='ascii') as file:
            self.assertEqual('mine', file.read())
        return done

    def names(self):
        return sorted(os.listdir(self.folder))

    def test_reading(self):
        for command in ('check', 'report', 'pages', 'leaks', 'timeline', 'graph'):
            self.attacked(command, 'trace.kmt')
            self.assertEqual(['tmp', 'trace.kmt', 'victim'], self.names())
            self.assertEqual([], os.listdir(os.path.join(self.folder, 'tmp')))

    def test_writing(self):
        for arguments in (('report', 'trace.kmt', '--html', 'out'), ('flamegraph', 'trace.kmt', '-o', 'out'),
                          ('export', 'trace.kmt', '--to', 'sqlite', '-o', 'out'),
                          ('export', 'trace.kmt', '--to', 'perfetto', '-o', 'out'),
                          ('convert', 'trace.kmt', 'out.kmt'), ('convert', 'trace.kmt', 'out.dat'),
                          ('convert', 'trace.kmt', 'out.ctf'), ('convert', '--anonymise', 'trace.kmt', 'out.kmt')):
            output = next(word for word in arguments if word.startswith('out'))
            self.attacked(*arguments)
            self.assertEqual(sorted([output, 'tmp', 'trace.kmt', 'victim']), self.names())
            self.assertEqual([], os.listdir(os.path.join(self.folder, 'tmp')))
            shutil.rmtree(os.path.join(self.folder, output)) if output.endswith('.ctf') \
                else os.remove(os.path.join(self.folder, output))

    def test_repairing(self):
        path = os.path.join(self.folder, 'trace.kmt')
        os.truncate(path, os.path.getsize(path) - 300)
        self.attacked('repair', 'trace.kmt', '-o', 'out.kmt')
        self.assertEqual(['out.kmt', 'tmp', 'trace.kmt', 'victim'], self.names())
        self.attacked('repair', 'trace.kmt')


if __name__ == '__main__':
    unittest.main()
