#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that the checks of the source tree find mistakes."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tools'))
sys.dont_write_bytecode = True
import check_files  # noqa: E402
import check_layers  # noqa: E402


def problems(check, files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                file.write(text)
        return list(check(root))


class Layers(unittest.TestCase):
    def check(self, path, line):
        return problems(check_layers.check_tree, {path: f'#pragma once\n{line}\n'})

    def test_downward_includes_pass(self):
        self.assertEqual([], self.check('analysis/a.hpp', '#include "results/report/report.hpp"'))
        self.assertEqual([], self.check('cli/command_line.cpp', '#include <CLI/CLI.hpp>'))
        self.assertEqual([], self.check('formats/ftrace/a.cpp', '#include <traceevent/event-parse.h>'))
        self.assertEqual([], self.check('capture/a.cpp', '#include <sys/mman.h>'))
        self.assertEqual([], self.check('views/a.cpp', '// #include "formats/registry.hpp"'))

    def test_upward_and_sideward_includes_fail(self):
        for path, header in (('base/a.hpp', 'trace/event.hpp'), ('trace/a.hpp', 'results/report/report.hpp'),
                             ('analysis/a.cpp', 'formats/registry.hpp'), ('views/a.cpp', 'analysis/report/report.hpp'),
                             ('formats/x/a.cpp', 'symbols/kallsyms.hpp'), ('capture/a.cpp', 'formats/registry.hpp'),
                             ('symbols/a.cpp', 'cli/main.hpp')):
            found = self.check(path, f'  #  include "{header}"')
            self.assertEqual(1, len(found), path)
            self.assertIn(f'{path}:2', found[0])

    def test_groups_of_a_layer(self):
        self.assertEqual([], self.check('analysis/report/a.hpp', '#include "analysis/matching/matching.hpp"'))
        self.assertEqual([], self.check('cli/main.cpp', '#include "cli/report/html.hpp"'))
        for path, header in (('analysis/matching/a.cpp', 'analysis/report/report.hpp'),
                             ('cli/support/a.cpp', 'cli/record/messages.hpp'),
                             ('capture/bpf/calls/a.hpp', 'capture/bpf/record/recorder.hpp'),
                             ('views/unheard_of/a.cpp', 'views/text/table.hpp')):
            self.assertEqual(1, len(self.check(path, f'#include "{header}"')), path)

    def test_folders_with_too_many_files_fail(self):
        for units, found in ((25, 0), (26, 1)):
            files = {f'base/unit{number}.{end}': '' for number in range(units) for end in ('hpp', 'cpp')}
            self.assertEqual(found, len(problems(check_layers.check_tree, files)), units)

    def test_third_party_headers_are_allowed_only_in_their_folders(self):
        for path, header in (('views/a.cpp', 'CLI/CLI.hpp'), ('cli/main.cpp', 'CLI/CLI.hpp'), ('analysis/a.cpp', 'nlohmann/json.hpp'),
                             ('formats/tracedat/a.cpp', 'traceevent/event-parse.h'), ('capture/a.cpp', 'zstd.h'),
                             ('cli/a.cpp', 'boost/any.hpp')):
            self.assertEqual(1, len(self.check(path, f'#include <{header}>')), header)

    def test_a_file_that_uses_fmt_includes_it(self):
        self.assertEqual(1, len(self.check('cli/a.cpp', 'auto a = fmt::format("a");')))
        self.assertEqual([], self.check('cli/a.cpp', '#include <fmt/format.h>\nauto a = fmt::format("a");'))
        self.assertEqual([], self.check('cli/a.cpp', '// fmt::format is not used'))
        self.assertEqual(1, len(self.check('cli/a.cpp', '#include <fmt/format.h>\nauto a = fmt::join(b, "");')))
        self.assertEqual([], self.check('cli/a.cpp', '#include <fmt/ranges.h>\nauto a = fmt::join(b, "");'))

    def test_unknown_folders_and_relative_names_fail(self):
        self.assertEqual(1, len(self.check('misc/a.cpp', '')))
        self.assertEqual(1, len(self.check('base/a.cpp', '#include "misc/b.hpp"')))
        self.assertEqual(1, len(self.check('base/a.cpp', '#include "b.hpp"')))
        self.assertEqual(1, len(self.check('base/a.cpp', '#include "base/../cli/b.hpp"')))

    def test_links(self):
        good = {'analysis/CMakeLists.txt': 'kmt_library(analysis LINKS kmt_results kmt_trace) # not kmt_formats\n'}
        bad = {'views/CMakeLists.txt': 'kmt_library(views SOURCES a.cpp\n  LINKS kmt_analysis)\n'}
        self.assertEqual([], problems(check_layers.check_tree, good))
        self.assertEqual(['views/CMakeLists.txt:2: views must not link analysis'],
                         problems(check_layers.check_tree, bad))


class Files(unittest.TestCase):
    HEADER = '// SPDX-License-Identifier: GPL-2.0-or-later\n'

    def test_licence(self):
        self.assertEqual([], problems(check_files.check_tree, {'src/a.cpp': self.HEADER}))
        self.assertEqual([], problems(check_files.check_tree, {'tests/data/a.txt': 'data\n', 'docs/a.md': 'text\n'}))
        for path, text in (('src/a.cpp', 'int a;\n'), ('tools/a', '#!/bin/sh\n'), ('CMakeLists/CMakeLists.txt', '\n'),
                           ('src/late.hpp', '\n' * 3 + self.HEADER),
                           ('src/joined.cpp', self.HEADER.strip() + ' Adds numbers.\n')):
            self.assertEqual(1, len(problems(check_files.check_tree, {path: text})), path)

    def test_length_of_files(self):
        self.assertEqual([], problems(check_files.check_tree, {'src/a.cpp': self.HEADER + '\n' * 599}))
        self.assertEqual(1, len(problems(check_files.check_tree, {'src/a.cpp': self.HEADER + '\n' * 600})))


if __name__ == '__main__':
    unittest.main()
