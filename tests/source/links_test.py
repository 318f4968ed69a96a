#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that the links in README, the documents and the manual pages resolve: files, headings, and paths in the text.
Only the form of web addresses is checked."""
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


def manual_pages():
    return glob.glob('docs/man/*.scd', root_dir=ROOT)


def without_code(text):
    return re.sub(r'^```.*?^```', '', text, flags=re.DOTALL | re.MULTILINE)


def missing_paths(text):
    """Returns the paths of this tree that a text names and that do not exist. In scdoc, \\ may precede a character."""
    paths = PATH.findall(text.replace('\\', ''))
    return {path for path in paths if not ELSEWHERE.search(path) and not is_there(path)}


def missing_modules(text):
    paths = {module: 'src/' + module for module in MODULE.findall(text)}
    return {module for module, path in paths.items() if not ELSEWHERE.search(path) and not is_there(path)}


def links_in(text):
    """Returns the targets of [text](target "title"), ![text](target), [text]: target and <https://target>."""
    prose = without_code(text)
    spans = re.sub(r'`[^`]*`', '', prose)
    return [*re.findall(r'\]\(\s*([^)\s]+)(?:\s+"[^"]*")?\s*\)', prose),
            *re.findall(r'^\[[^\]]+\]:\s*(\S+)', prose, re.MULTILINE), *re.findall(r'<(\w+://[^>]*)>', spans)]


def undefined_references(text):
    """Returns the references of links [text][reference] and [reference][] that the text does not define."""
    prose = re.sub(r'^ {4}.*', '', re.sub(r'`[^`]*`', '`', without_code(text)), flags=re.MULTILINE)
    defined = {name.lower() for name in re.findall(r'^\[([^\]]+)\]:', prose, re.MULTILINE)}
    return {(name or shown).lower() for shown, name in re.findall(r'\[([^\[\]]+)\]\[([^\[\]]*)\]', prose)} - defined


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
        for name in [*documents(), *manual_pages()]:
            seen += len(PATH.findall(read(name)))
            self.assertEqual(set(), missing_paths(read(name)), name)
        self.assertGreater(seen, 100)

    def test_modules_exist(self):
        seen = 0
        for name in documents():
            seen += len(MODULE.findall(read(name)))
            self.assertEqual(set(), missing_modules(read(name)), name)
        self.assertGreater(seen, 100)

    def test_links(self):
        seen = 0
        for name in documents():
            text = read(name)
            self.assertEqual(set(), undefined_references(text), name)
            for target in links_in(text):
                seen += 1
                with self.subTest(name, target=target):
                    self.assertIsNone(problem_of(name, target))
        self.assertGreater(seen, 100)

    def test_headings_become_anchors(self):
        self.assertEqual(['what-it-costs', 'does-a_b-grow', 'a-1', 'twice', 'twice-1'],
                         anchors_in('# What it costs\n\n## Does `a_b` grow?\n```\n# no heading\n```\n### A: 1!\n# Twice\n# Twice\n'))

    def test_forms_of_links(self):
        text = ('[a](b.md) ![c](d.png) [e](f.md#g "title") [`h`](\ni.md)\n[j]: k.md\n<https://l.org/m>, `<https://code>`\n'
                '```\n[x](y.md)\n```\n')
        self.assertEqual(['b.md', 'd.png', 'f.md#g', 'i.md', 'k.md', 'https://l.org/m'], links_in(text))

    def test_problems_of_links(self):
        for target, problem in (('faq.md', None), ('faq.md#daily-work', None), ('https://a.org/b', None),
                                ('no.md', 'docs/no.md does not exist'), ('faq.md#no', 'docs/faq.md has no heading #no'),
                                ('https://a b', 'not the form of an address'), ('https://a', 'not the form of an address')):
            self.assertEqual(problem, problem_of('docs/concepts.md', target), target)

    def test_references(self):
        text = 'A [link][one], [Two][] and [three\nlines][3].\n\n[one]: a.md\n[two]: b.md\n\n    a[1][2]\n\n`b[3][4]`\n'
        self.assertEqual({'3'}, undefined_references(text))
        self.assertEqual({'one', 'two', '3'}, undefined_references(text.replace(']:', ']')))

    def test_paths_and_modules(self):
        self.assertEqual({'docs/formats/no.md', 'src/no'},
                         missing_paths('see docs/formats/kmt.md, docs/formats/no.md, src/trace and src/no'))
        self.assertEqual({'docs/no_file.md'}, missing_paths('docs/no\\_file.md, docs/perf-kmem.md'))
        self.assertEqual({'views/no'}, missing_modules('`views/text/report`, `views/no`, views/never'))


if __name__ == '__main__':
    unittest.main()
