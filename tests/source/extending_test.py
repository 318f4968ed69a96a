#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that the source files shown in docs/extending.md compile with the project's compiler options.
  extending_test.py BUILD"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
BUILD = sys.argv.pop(1)


class Extending(unittest.TestCase):
    def test_compiles(self):
        with open(f'{ROOT}/docs/extending.md', encoding='utf-8') as file:
            files = re.findall(r'^```cpp\n// (src/\S+)\n(.*?)^```$', file.read(), re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(files), 8)
        with open(f'{BUILD}/compile_commands.json', encoding='utf-8') as file:
            commands = [entry['command'] for entry in json.load(file)
                        if '/kmt_cli.dir/' in entry['command'] and 'cmake_pch' not in entry['file']]
        words = shlex.split(commands[0].split(' -o ')[0])
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files:
                os.makedirs(os.path.dirname(f'{folder}/{path}'), exist_ok=True)
                with open(f'{folder}/{path}', 'w', encoding='utf-8') as file:
                    file.write(text)
            for path, _ in files:
                if path.endswith('.cpp'):
                    done = subprocess.run([*words, f'-I{folder}/src', '-fsyntax-only', f'{folder}/{path}'], cwd=BUILD,
                                          stderr=subprocess.PIPE, encoding='utf-8', check=False)
                    self.assertEqual(0, done.returncode, f'{path}: {done.stderr}')


if __name__ == '__main__':
    unittest.main()
