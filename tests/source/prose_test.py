#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that each rule of tools/check_prose.py refuses its constructions and accepts good English."""
import os
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tools'))
sys.path.insert(0, TOOLS)
sys.dont_write_bytecode = True
import check_prose  # noqa: E402

# For each rule, a sentence that the rule refuses, and a sentence that passes all rules.
EXAMPLES = {
    'told': ('Nothing did where all of it was told twice.', 'The two events cannot be distinguished.'),
    'tells': ('A name tells its format.', 'The option tells the kernel to sample.'),
    'is said': ('Damage is said.', 'Damage is reported.'),
    'but for': ('All but for the names is the same.', 'All is the same except the names.'),
    'but that of': ('Each row has a rate, but that of pages.', 'Each row has a rate, except pages.'),
    'all but': ('They drop all but frees.', 'They drop all but the last event.'),
    'the begin': ('Time counts from the begin.', 'Rates begin at zero.'),
    'nobody': ('This memory is accounted by nobody.', 'No one accounts for this memory.'),
    'whoever': ('They stop whoever records.', 'They stop the recorder.'),
    'for ever': ('The texts live for ever.', 'Texts are never freed.'),
    'behind': ('A stack follows behind the record.', 'Files left behind are removed.'),
    'what is known of': ('No such list is known of.', 'The list is known.'),
    'at hand': ('Symbols are at hand.', 'Symbols are available.'),
    'speaks against': ('Nothing speaks against these bytes.', 'They speak for themselves.'),
    'bear out': ('A second source must bear it out.', 'A second source confirms it.'),
    'no news': ('Such a free is no news.', 'Such a free is expected.'),
    'came no further': ('Sampling came no further.', 'Sampling stopped.'),
    'at any rate': ('At any rate the file is kept.', 'At least the file is kept.'),
    'in any case': ('It is closed in any case.', 'It is always closed.'),
    'how seldom': ('It shows how seldom this happens.', 'It shows how rarely this happens.'),
    'that often': ('Read the files that often.', 'Read the files every second.'),
    'as is': ('The order is kept, as is the name.', 'The text is copied as is.'),
    'it is of': ('If it is of an older boot, stop.', 'If it belongs to an older boot, stop.'),
    'of which': ('A group of which no object lives ends.', 'It takes 9 ns, most of which is the write.'),
    'for what': ('It stops for what it costs.', 'It stops because of its cost.'),
    'there can be': ('Not every node that there can be is there.', 'There can be no second name.'),
    'may be got': ('It shows how memory may be got.', 'It shows how memory is allocated.'),
    'has itself': ('The recorder counts what it has itself.', 'The recorder counts its own memory.'),
    'surely': ('The cache surely grows.', 'Growth of the cache is confirmed.'),
    'candidate for reuse': ('It is a candidate for reuse.', 'It could be reused.'),
    'left by options': ('Too many filters; leave some out.', 'Too many filters; drop some.'),
    'both tellings': ('Count both tellings once.', 'Count duplicate events once.'),
    'as when': ('It fails as when there is no file.', 'It fails if there is no file.'),
    'Of …': ('Of a cache its name is kept.', 'Of course the name is kept.'),
    'What …': ('What is written is kept.', 'What is written?'),
    'Where …, …': ('Where files are missing, it stops.', 'Where the file lies.'),
    'Who …': ('Who records pays.', 'Who records?'),
    'By which …': ('By which records are found.', 'By default records are found.'),
    'of a …': ('of a call: its start', 'the start of a call'),
}


def rules_of(path, source):
    """Returns (line, rule) of each problem in a file with that name and content."""
    with tempfile.TemporaryDirectory() as root:
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, 'w', encoding='utf-8') as file:
            file.write(source)
        return [(line, rule) for line, rule, _ in check_prose.check_file(root, path)]


class Rules(unittest.TestCase):
    def test_each_rule(self):
        self.assertEqual([rule.name for rule in check_prose.RULES], list(EXAMPLES))
        for rule, (refused, good) in EXAMPLES.items():
            self.assertIn((1, rule), rules_of('src/a.cpp', f'// {refused}\n'), rule)
            self.assertIn((1, rule), rules_of('docs/a.md', f'{refused}\n'), rule)
            self.assertEqual([], rules_of('src/a.cpp', f'// {good}\n'), rule)

    def test_rules_for_starts_apply_to_comments_and_sentences(self):
        self.assertEqual([(2, 'Who …')], rules_of('a.py', '# The recorder stops.\n# Who reads waits.\n'))
        self.assertEqual([(1, 'What …')], rules_of('a.hpp', 'int a;  // what is kept\n'))
        self.assertEqual([], rules_of('a.hpp', 'int a;  // of the header\n// Read what is there, where it lies, to whom.\n'))

    def test_where_without_a_comma_and_questions_pass(self):
        self.assertEqual([], rules_of('a.py', '# Where does it lie, and why?\n# Where it lies.\n'))

    def test_headings_and_cells_may_be_questions(self):
        self.assertEqual([], rules_of('docs/a.md', '# What it costs\n\n| What it is | Who uses it |\n|---|---|\n'))
        self.assertEqual([(1, 'nobody'), (3, 'told')], rules_of('docs/a.md', '# What nobody knows\n\n| told | a |\n'))


class Texts(unittest.TestCase):
    def test_comments_of_each_language(self):
        for path, source in (('a.cpp', 'int a;  // nobody\n'), ('a.hpp', '/* x\n * nobody */'), ('a.py', 'a = 1  # nobody\n'),
                             ('a.sh', '#!/bin/sh\necho  # nobody\n'), ('a.sql', "select '--'; -- nobody\n"),
                             ('CMakeLists.txt', 'a(b)  # nobody\n'), ('a.ts', 'const a = /"/; // nobody\n'),
                             ('a.html', '<p><!-- nobody -->'), ('a.py', 'def f():\n    """As nobody."""\n'),
                             ('run', '#!/bin/sh\n# nobody\n'), ('a.scd', '*a*\n\tnobody\n')):
            self.assertEqual(['nobody'], [rule for _, rule in rules_of(path, source)], path)

    def test_a_comment_continues_at_a_line_that_starts_with_a_bracket(self):
        self.assertEqual([(2, 'but for')], rules_of('a.cpp', '// All names\n// (but\n// for one) stay.\n'))
        self.assertEqual([(2, 'nobody')], rules_of('a.py', 'def f():\n    """(time, name) of nobody."""\n'))

    def test_code_is_not_checked(self):
        for path, source in (('a.cpp', 'nobody(told); auto a = "// nobody"; auto b = R"(// nobody)"; int c = 1\'000;\n'),
                             ('a.py', "a = 'x # nobody'\nb = \"\"\"nobody\"\"\"\nnobody = told\n"),
                             ('a.ts', 'const nobody = `// nobody`, a = "// told";\n'),
                             ('a.sh', '#!/bin/sh\necho "# nobody"; a=${b#nobody}\n')):
            self.assertEqual([], rules_of(path, source), path)

    def test_identifiers_and_quotations_pass(self):
        for text in ('Sets told_again and is_told().', 'The key `told` stays.', 'perf prints "nobody" here.',
                     'See [told](told.md) and src/told.cpp; --told is an option.'.replace('[told]', '[it]')):
            self.assertEqual([], rules_of('docs/a.md', text + '\n'), text)
            self.assertEqual([], rules_of('a.py', f'# {text}\n'), text)

    def test_messages_of_the_program(self):
        self.assertEqual([(1, 'told')], rules_of('src/cli/a.cpp', 'say("It was told");\n'))
        self.assertEqual([(2, 'but for')], rules_of('src/views/a.cpp', 'say("Kept,\\n"\n    "but for names");\n'))
        self.assertEqual([], rules_of('src/views/a.cpp', 'json["told"] = 1;\n'))
        self.assertEqual([], rules_of('tests/a.cpp', 'say("It was told");\n'))
        help_text = 'auto help = R"(Examples:\n  kmemtrace nobody told\n\nFollow what is\ntold.)";\n'
        self.assertEqual([(5, 'told')], rules_of('src/cli/a.cpp', help_text))

    def test_messages_of_the_page(self):
        for source in ("note('It was told');", 'note("It was told");', 'note(`It was told by ${name}.`);',
                       "note(`It ${is ? 'was told' : ''} here`);", "note('It was ' +\n  'told');",
                       "note(`A ${{a: 1}.a} and ${b ? `was told` : ''} here`);"):
            self.assertEqual(['told'], [rule for _, rule in rules_of('web/src/views/a.ts', source)], source)
            self.assertEqual([], rules_of('web/tests/a.ts', source), source)
        self.assertEqual([(2, 'Who …')], rules_of('web/src/a.ts', "title(`${a}`,\n  'Who frees memory');"))
        for source in ("key('told');", 'const a = /was told/;', "note('of a task');", '`${a}`; // It was\n`${b}`'):
            self.assertEqual([], rules_of('web/src/a.ts', source), source)

    def test_pictures(self):
        source = '<svg>\n<!-- {} -->\n<g><text x="1">{}</text></g>\n<text>a<tspan>{}</tspan></text></svg>\n'
        self.assertEqual([], rules_of('docs/images/a.svg', source.format('a', 'b', 'c')))
        for words, line in ((('nobody', 'b', 'c'), 2), (('a', 'nobody', 'c'), 3), (('a', 'b', 'nobody'), 4)):
            self.assertEqual([(line, 'nobody')], rules_of('docs/images/a.svg', source.format(*words)))

    def test_systemd_units(self):
        unit = '# {}\n[Unit]\nDescription={}\nExecStart=nobody\n'
        self.assertEqual([], rules_of('packaging/a.service', unit.format('a', 'b')))
        self.assertEqual([(1, 'nobody')], rules_of('packaging/a.service', unit.format('nobody', 'b')))
        self.assertEqual([(3, 'nobody')], rules_of('packaging/a.service', unit.format('a', 'of nobody')))

    def test_debian(self):
        control = 'Package: nobody\nDescription: {}\n A library.\n .\n Used by {}.\n\nPackage: b\nDepends: a,\n told\n'
        self.assertEqual([], rules_of('debian/control', control.format('a', 'b')))
        self.assertEqual([(2, 'nobody')], rules_of('debian/control', control.format('nobody', 'b')))
        self.assertEqual([(5, 'nobody')], rules_of('debian/control', control.format('a', 'nobody')))
        self.assertEqual([(2, 'Who …')], rules_of('debian/README.source', 'A package.\nWho uploads it waits.\n'))

    def test_names(self):
        for name in ('told', 'is_told', 'toldOf', 'isTold', 'AreToldApart', 'nobody', 'as_nobody', 'behind', 'firstBehind',
                     'tells', 'tellsOf', 'kHidesEvents'):
            for path in ('src/a.cpp', 'src/a.hpp', 'tests/a.py', 'web/src/a.ts', 'tests/web/a.mjs'):
                self.assertEqual([(2, 'identifier')], rules_of(path, f'\n{name} = 1;'), (path, name))
        for source in ('threshold = hides + tellsome;', 'json["told"] = 1;', '// `told` and is_told()'):
            self.assertEqual([], rules_of('src/a.cpp', source), source)
        self.assertEqual([], rules_of('docs/a.cpp', 'told = 1;'))

    def test_messages_may_be_fragments(self):
        self.assertEqual([], rules_of('src/a.cpp', 'say("of an unknown type");'))
        self.assertEqual([(1, 'of a …')], rules_of('src/a.hpp', 'int a;  // of a call: its start\n'))

    def test_phrases_across_lines(self):
        self.assertEqual([(2, 'but for')], rules_of('a.cpp', '// All of these\n// names but\n// for one stay.\n')[:1])
        self.assertEqual([], rules_of('a.hpp', 'int a;  // all is as it was but\nint b;  // for each\n'))

    def test_code_of_documents_passes(self):
        source = 'Run this:\n\n    kmemtrace told nobody\n\n```\ntold\n```\n\n- a list\n- item\n'
        self.assertEqual([], rules_of('docs/a.md', source))


class Lengths(unittest.TestCase):
    LONG = 'a ' * 31 + 'b. '
    SHORT = 'A short sentence here. '

    def test_long_sentences(self):
        few = 'Good one here. ' * 30 + self.LONG.capitalize()
        self.assertEqual([], rules_of('docs/a.md', few + '\n'))
        many = 'Good one here.\n' * 10 + self.LONG.capitalize() * 2
        self.assertEqual([(11, 'long')], rules_of('docs/a.md', many + '\n'))

    def test_median_length_of_sentences(self):
        sentence = ('Word ' * 16).strip().capitalize() + '. '
        self.assertEqual([(1, 'median')], rules_of('docs/a.md', sentence * 3 + '\n'))
        self.assertEqual([], rules_of('docs/a.md', sentence * 3 + self.SHORT * 4 + '\n'))

    def test_tables_headings_and_code_do_not_count(self):
        words = 'word ' * 40
        source = f'# {words}\n\n| {words} | a |\n|---|---|\n\n    {words}\n\n```\n{words}\n```\n\n'
        self.assertEqual([], rules_of('docs/a.md', source * 3))

    def test_a_list_item_is_a_sentence(self):
        self.assertEqual([], rules_of('docs/a.md', '- five words are in this\n' * 20))


class Command(unittest.TestCase):
    def run_tool(self, *arguments):
        return subprocess.run([sys.executable, '-B', f'{TOOLS}/check_prose.py', *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding='utf-8', check=False)

    def test_status_and_output(self):
        with tempfile.NamedTemporaryFile('w', suffix='.py', encoding='utf-8') as file:
            file.write('# fine\n# Nobody reads this.\n')
            file.flush()
            done = self.run_tool(file.name)
            self.assertEqual(1, done.returncode)
            self.assertRegex(done.stdout, r'\A\S+:2: nobody: fine Nobody reads this\.\n\Z')
            self.assertEqual(0, self.run_tool('--summary', file.name).returncode)
        with tempfile.NamedTemporaryFile('w', suffix='.py', encoding='utf-8') as file:
            self.assertEqual((0, ''), (self.run_tool(file.name).returncode, self.run_tool(file.name).stdout))

    def test_the_tree(self):
        done = self.run_tool()
        self.assertEqual((0, ''), (done.returncode, done.stdout))

    def test_tables_give_reasons(self):
        for exception in check_prose.EXCEPTIONS:
            self.assertTrue(exception.reason, exception)


if __name__ == '__main__':
    unittest.main()
