#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What README and the documents point to is there: paths of the tree, whether as links or in the text, and commands."""
import glob
import os
import re
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
FOLDERS = 'bench|debian|docs|packaging|sql|src|tests|tools|web'
# A path of the tree: folders, and either a file's ending or the name of a script.
PATH = re.compile(rf'(?<![\w./~-])((?:{FOLDERS})/[\w./-]*\w)')
# Files of examples, of builds and of the kernel's tree.
ELSEWHERE = re.compile(r'^docs/man/kmemtrace-sizes|^src/\w+/(tiny/|\w+/sizes)|^web/node_modules|^tools/perf/')


def documents():
    names = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', *glob.glob('docs/**/*.md', root_dir=ROOT, recursive=True)]
    return [name for name in names if os.path.exists(os.path.join(ROOT, name))]


def is_there(path):
    """A module is named without its ending."""
    full = os.path.join(ROOT, path)
    return os.path.exists(full) or bool(glob.glob(glob.escape(full) + '.*'))


class Links(unittest.TestCase):
    def test_paths(self):
        seen = 0
        for name in documents():
            with open(os.path.join(ROOT, name), encoding='utf-8') as file:
                paths = PATH.findall(file.read())
            seen += len(paths)
            missing = {path for path in paths if not ELSEWHERE.search(path) and not is_there(path)}
            self.assertEqual(set(), missing, name)
        self.assertGreater(seen, 100)

    def test_links(self):
        for name in documents():
            with open(os.path.join(ROOT, name), encoding='utf-8') as file:
                prose = re.sub(r'```.*?```', '', file.read(), flags=re.DOTALL)
                for target in re.findall(r'\]\(([^)#\s]+)', prose):
                    if '://' not in target:
                        path = os.path.join(ROOT, os.path.dirname(name), target)
                        self.assertTrue(os.path.exists(path), f'{name}: {target}')


if __name__ == '__main__':
    unittest.main()
