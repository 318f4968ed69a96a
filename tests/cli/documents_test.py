#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks commands that README, tutorial and FAQ show for files of the repository. Each command must print the output
that the document shows."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import documents  # noqa: E402

PROGRAM = os.environ['KMEMTRACE']


class Documents(unittest.TestCase):
    def test_commands_on_files_of_the_repository(self):
        shown = 0
        with tempfile.TemporaryDirectory() as folder:
            for name in ('docs', 'tests'):
                os.symlink(os.path.join(documents.ROOT, name), os.path.join(folder, name))
            for document in documents.DOCUMENTS:
                for step in filter(documents.Step.needs_only_files, documents.steps_of(document)):
                    with self.subTest(step.place, command=step.command):
                        status, printed = documents.run(step.command, folder, PROGRAM, timeout=120)
                        self.assertIn(status, (0, 1), printed)
                        if step.shown:
                            shown += 1
                            # The size of a page depends on the code in it.
                            compare = documents.masked_differences if '--html' in step.command else documents.differences
                            self.assertIsNone(compare(step.shown, printed), f'not in:\n{printed}')
        self.assertGreater(shown, 10)


class Steps(unittest.TestCase):
    def test_commands_of_a_document(self):
        source = ('Run `kmemtrace\nleaks --by stack` or\n`kmemtrace --help`, then `kmemtrace top`.\n\n'
                  '| `./run --build-only` | `./run` | `./FILE` | `run it` |\n| `tools/build.sh release` |\n\n'
                  '    make    # a comment\n    $ kmemtrace list\n    shown\n\n      more\n\nEnd.\n')
        self.assertEqual([('d:1', 'kmemtrace leaks --by stack', []), ('d:3', 'kmemtrace top', []),
                          ('d:5', './run --build-only', []), ('d:5', './run', []), ('d:6', 'tools/build.sh release', []),
                          ('d:8', 'make', []), ('d:9', 'kmemtrace list', ['shown', '', '  more'])],
                         [tuple(step) for step in documents.steps_in(source, 'd')])


class Comparison(unittest.TestCase):
    def test_differences(self):
        for shown, same in ((['a', 'b', 'c'], True), (['a', '[…]', 'c'], True), (['[…]', 'b', '[…]'], True),
                            (['b', 'c'], False), (['a', 'c'], False), (['a', 'b'], False), (['[…]', 'c', '[…]', 'a'], False)):
            self.assertEqual(same, documents.differences(shown, 'a\nb\nc\n') is None, shown)

    def test_masked_differences(self):
        printed = 'Took 3.5 s, 12 B\n  Site        Bytes\n  other+0x1    3 B\n  f+0x7   1.2 KiB  -\n'
        for shown, same in ((['Took 9 s, 1.0 MiB', '  Site  Bytes', '  f+0xc2     8 B  5'], True),
                            (['Took 9 s, […]'], True), (['Took 9 s, 1.0 MiB of'], False), (['  f+0x7  1 B  2', '  Site  Bytes'], False)):
            self.assertEqual(same, documents.masked_differences(shown, printed) is None, shown)


if __name__ == '__main__':
    unittest.main()
