#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the pictures of the documents: each is small and in use, and each reference to one describes it in words."""
import glob
import os
import re
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
MOST_BYTES = 300 * 1024
LEAST_WORDS = 3


def documents():
    return ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', *glob.glob('docs/**/*.md', root_dir=ROOT, recursive=True)]


def read(name):
    with open(os.path.join(ROOT, name), encoding='utf-8') as file:
        return file.read()


def too_large(sizes):
    """Returns the names of the files, given as {name: bytes}, that are larger than the limit."""
    return {name for name, size in sizes.items() if size > MOST_BYTES}


def without_words(text):
    """Returns the pictures that a document shows without a description."""
    shown = re.findall(r'!\[([^\]]*)\]\(\s*([^)\s]+)', text)
    shown += [(re.sub(r'.*\balt="([^"]*)".*|.*', r'\1', tag, flags=re.DOTALL), tag)
              for tag in re.findall(r'<img\b[^>]*>', text)]
    return {target for words, target in shown if len(words.split()) < LEAST_WORDS}


class Images(unittest.TestCase):
    def test_sizes(self):
        names = glob.glob('docs/images/*', root_dir=ROOT)
        self.assertGreater(len(names), 5)
        self.assertEqual(set(), too_large({name: os.path.getsize(os.path.join(ROOT, name)) for name in names}))

    def test_each_picture_is_described(self):
        for name in documents():
            self.assertEqual(set(), without_words(read(name)), name)

    def test_each_picture_is_used(self):
        text = ''.join(read(name) for name in documents())
        self.assertEqual([], [name for name in glob.glob('*', root_dir=os.path.join(ROOT, 'docs/images'))
                              if f'images/{name})' not in text])

    def test_problems_are_found(self):
        self.assertEqual({'b.png'}, too_large({'a.png': MOST_BYTES, 'b.png': MOST_BYTES + 1}))
        self.assertEqual({'b.png', 'c.png', '<img src="d.png">', '<img alt="e" src="e.png">'},
                         without_words('![a report of leaks](a.png) ![](b.png) ![c](c.png) <img src="d.png">\n'
                                       '<img alt="e" src="e.png"> <img\nalt="a report of leaks" src="f.png"> [](g.png)'))


class Packages(unittest.TestCase):
    def test_programs_that_make_pictures_are_installed(self):
        needed = re.search(r'needs build/kmemtrace, ([^:\n]*)', read('tools/make_images')).group(1)
        packages = re.search(r'^images=\((.*?)\)', read('tools/install-packages.sh'), re.MULTILINE | re.DOTALL).group(1)
        self.assertEqual(set(), set(re.findall(r'\w+', needed)) - {'and'} - set(packages.split()))


if __name__ == '__main__':
    unittest.main()
