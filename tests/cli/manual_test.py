#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that every command has a manual page, and that the page names exactly the options listed by --help."""
import os
import re
import subprocess
import unittest

PROGRAM = os.environ['KMEMTRACE']
PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'man')
# Options of every command; kmemtrace(1) describes them.
COMMON = {'--help', '--version'}


def help_of(*command):
    done = subprocess.run([PROGRAM, *command, '--help'], stdout=subprocess.PIPE, encoding='utf-8', check=True)
    return done.stdout


def page_of(command):
    with open(f'{PAGES}/kmemtrace-{command}.1.scd', encoding='utf-8') as file:
        return file.read().replace('\\', '')


def commands():
    text = help_of()
    begin = text.index('\nCommands:\n')
    return re.findall(r'^  ([a-z]+)(?:  |$)', text[begin:text.index('\n\n', begin)], re.MULTILINE)


def summaries():
    """Returns {command: the sentence that describes the command in `kmemtrace --help`}."""
    text = help_of()
    begin = text.index('\nCommands:\n') + len('\nCommands:\n')
    found, name = {}, None
    for line in text[begin:text.index('\n\n', begin)].split('\n'):
        if not line.startswith('   '):
            name, _, line = line.strip().partition(' ')
        found[name] = f'{found.get(name, "")} {line.strip()}'.strip()
    return {name: sentence.rstrip('.') for name, sentence in found.items()}


def options_of(command):
    """Returns the options that start a line of --help, including those of subcommands. Options within sentences do not
    count."""
    text = help_of(command)
    names = set(re.findall(r'^ {2,6}(?:-\w, )?(--[a-z][\w-]*)', text, re.MULTILINE))
    for line in re.findall(r'^ {2,6}(?:-\w, )?(--\S+(?:, --\S+)+)', text, re.MULTILINE):
        names |= set(line.split(', '))
    return names - COMMON


class Manual(unittest.TestCase):
    def test_all_commands(self):
        self.assertGreater(len(commands()), 20)
        for command in commands():
            with self.subTest(command):
                missing = {name for name in options_of(command) if not re.search(rf'{name}(?![\w-])', page_of(command))}
                self.assertEqual(set(), missing)

    def test_each_example_has_a_line(self):
        for command in commands():
            with self.subTest(command):
                headings = re.findall(r'^Examples:.*', help_of(command), re.MULTILINE)
                self.assertIn(headings, ([], ['Examples:']))

    def test_commands_have_the_same_description_everywhere(self):
        with open(f'{PAGES}/kmemtrace.1.scd', encoding='utf-8') as file:
            page = file.read()
        for command, sentence in summaries().items():
            if command != 'completion':  # kmemtrace(1) describes this command
                self.assertIn(f'\n*{command}*\n\t{sentence}. See *kmemtrace-{command}*(1).', page)

    def test_headings_name_existing_options(self):
        for command in commands():
            with self.subTest(command):
                page = page_of(command)
                text = help_of(command)
                headings = '\n'.join(re.findall(r'^\*-.*$', page, re.MULTILINE))
                headed = set(re.findall(r'--[a-z][\w-]*', headings)) - COMMON
                self.assertEqual(set(), {name for name in headed if not re.search(rf'{name}(?![\w-])', text)})


if __name__ == '__main__':
    unittest.main()
