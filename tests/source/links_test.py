#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that the links in README and the documents resolve: files, headings, and paths in the text. Only the form
of web addresses is checked."""
import glob
import os
import re
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
FOLDERS = 'bench|debian|docs|packaging|sql|src|tests|tools|web'
# A path in the tree: folders, then a file with an extension or the name of a script.
PATH = re.compile(rf'(?<![\w./~-])((?:{FOLDERS})/[\w./-]*\w)')
ADDRESS = re.compile(r'https?://[a-z0-9.-]+\.[a-z]{2,}(?:/[\w./~+%#?=&-]*)?')
# Paths that do not exist in this tree: files of examples, of builds and of the kernel tree.
ELSEWHERE = re.compile(r'^docs/man/kmemtrace-sizes|^src/\w+/(tiny/|\w+/sizes)|^web/node_modules|^tools/perf/')
# A path in src as ARCHITECTURE.md writes it, without "src/": `analysis/series/trend`.
MODULE = re.compile(rf'`((?:{"|".join(sorted(os.listdir(os.path.join(ROOT, "src"))))})/[\w./-]+)`')
ABOUT_THE_CODE = ['docs/ARCHITECTURE.md', *glob.glob('docs/internals/*.md', root_dir=ROOT),
                  *glob.glob('docs/decisions/*.md', root_dir=ROOT)]


def documents():
    names = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', *glob.glob('docs/**/*.md', root_dir=ROOT, recursive=True)]
    return [name for name in names if os.path.exists(os.path.join(ROOT, name))]


def is_there(path):
    """True if the path exists. The name of a module may lack the file extension."""
    full = os.path.join(ROOT, path)
    return os.path.exists(full) or bool(glob.glob(glob.escape(full) + '.*'))


def read(name):
    with open(os.path.join(ROOT, name), encoding='utf-8') as file:
        return file.read()


def without_code(text):
    return re.sub(r'^```.*?^```', '', text, flags=re.DOTALL | re.MULTILINE)


def links_of(name):
    """Returns the targets of [text](target), ![text](target) and [text]: target."""
    prose = without_code(read(name))
    return re.findall(r'\]\(([^)\s]+)\)', prose) + re.findall(r'^\[[^\]]+\]:\s*(\S+)', prose, re.MULTILINE)


def anchors_in(text):
    """Returns the anchors that GitHub generates for headings: lower case, dashes for spaces, no punctuation, numbered
    if repeated."""
    anchors = []
    for heading in re.findall(r'^#{1,6}\s+(.*?)\s*#*$', without_code(text), re.MULTILINE):
        plain = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading).replace('`', '').lower()
        anchor = re.sub(r'[^\w\- ]', '', plain).replace(' ', '-')
        repeated = sum(1 for other in anchors if re.fullmatch(re.escape(anchor) + r'(-\d+)?', other))
        anchors.append(f'{anchor}-{repeated}' if repeated else anchor)
    return anchors


def problem_of(name, target):
    """Returns why a link of a document does not resolve, or None."""
    if '://' in target:
        return None if ADDRESS.fullmatch(target) else 'not the form of an address'
    path, _, anchor = target.partition('#')
    file = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
    if not os.path.exists(os.path.join(ROOT, file)):
        return f'{file} does not exist'
    if anchor and file.endswith('.md') and anchor not in anchors_in(read(file)):
        return f'{file} has no heading #{anchor}'
    return None


class Links(unittest.TestCase):
    def test_paths_exist(self):
        seen = 0
        for name in documents():
            paths = PATH.findall(read(name))
            seen += len(paths)
            missing = {path for path in paths if not ELSEWHERE.search(path) and not is_there(path)}
            self.assertEqual(set(), missing, name)
        self.assertGreater(seen, 100)

    def test_modules_exist(self):
        seen = 0
        for name in ABOUT_THE_CODE:
            modules = MODULE.findall(read(name))
            seen += len(modules)
            self.assertEqual(set(), {module for module in modules if not is_there('src/' + module)}, name)
        self.assertGreater(seen, 100)

    def test_links(self):
        seen = 0
        for name in documents():
            for target in links_of(name):
                seen += 1
                with self.subTest(name, target=target):
                    self.assertIsNone(problem_of(name, target))
        self.assertGreater(seen, 100)

    def test_headings_become_anchors(self):
        self.assertEqual(['what-it-costs', 'does-a_b-grow', 'a-1', 'twice', 'twice-1'],
                         anchors_in('# What it costs\n\n## Does `a_b` grow?\n```\n# no heading\n```\n### A: 1!\n# Twice\n# Twice\n'))


if __name__ == '__main__':
    unittest.main()
