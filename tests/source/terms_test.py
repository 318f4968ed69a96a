#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that the help dialog of the HTML report explains the same terms as docs/concepts.md."""
import os
import re
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))


def read(name):
    with open(os.path.join(ROOT, name), encoding='utf-8') as file:
        return file.read()


def terms_of_page(text):
    """Returns the terms in bold type."""
    return {term.lower() for term in re.findall(r'\*\*([^*]+)\*\*', text)}


def terms_of_dialog(source):
    """Returns the first text of each entry of kTerms."""
    entries = re.search(r'kTerms: .*? = \[\n(.*?)\n\];', source, re.DOTALL).group(1)
    return set(re.findall(r"^  \[(?:\n    )?'([^']+)',", entries, re.MULTILINE))


class Terms(unittest.TestCase):
    def test_the_dialog_explains_the_terms_of_the_page(self):
        terms = terms_of_page(read('docs/concepts.md'))
        self.assertGreater(len(terms), 10)
        self.assertEqual(terms, terms_of_dialog(read('web/src/help.ts')))

    def test_terms_are_found(self):
        self.assertEqual({'waste', 'call site'}, terms_of_page('**Waste** is a **call site**, *not* this.'))
        source = "const kKeys = [\n  ['f', 'x'],\n];\nconst kTerms: [a, b][] = [\n  ['a', 'b'],\n  [\n    'c d',\n    'e',\n  ],\n];\n"
        self.assertEqual({'a', 'c d'}, terms_of_dialog(source))


if __name__ == '__main__':
    unittest.main()
