# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the commands shown in documents, and compares shown output with printed output."""
import os
import re
import subprocess
from typing import NamedTuple

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
DOCUMENTS = ('README.md', 'docs/tutorial.md', 'docs/faq.md')
ELISION = '[…]'


class Step(NamedTuple):
    place: str     # file:line
    command: str
    shown: list    # lines of output; empty if the document shows none

    def needs_only_files(self):
        """True if the command reads only files of the repository, so that its output is always the same."""
        return bool(re.search(r'\b(?:docs|tests)/', self.command)) and self.command.startswith('kmemtrace ')


# A code span is a command if it starts with the program, a build tool or the path of a script, followed by a blank.
COMMAND = re.compile(r'(?:kmemtrace [a-z]|(?:cmake|pkg-config) |(?:\./|tools/|tests/|packaging/)[\w./-]+ |\./(?:run|test)$)')


def commands_in(paragraph):
    """Yields the commands in the code spans of a paragraph, as (number of lines before the command, command)."""
    for span in re.finditer(r'`([^`]+)`', paragraph):
        command = ' '.join(span.group(1).split())
        if COMMAND.match(command):
            yield paragraph[:span.start()].count('\n'), command


def steps_of(document):
    """Returns the commands of a document in their order, with their output. Commands are in code spans, which may
    continue on the next line, and in indented blocks, where "$ " precedes a command with output."""
    with open(os.path.join(ROOT, document), encoding='utf-8') as file:
        return steps_in(file.read(), document)


def steps_in(source, document):
    steps, session, previous, paragraph, first = [], False, '', [], 0

    def end_paragraph():
        for line, command in commands_in('\n'.join(paragraph)):
            steps.append(Step(f'{document}:{first + line}', command, []))
        paragraph.clear()

    for number, line in enumerate([*source.split('\n'), ''], 1):
        place = f'{document}:{number}'
        in_block = line.startswith('    ') and (session or not previous.strip() or previous.startswith('    '))
        if in_block or not line.strip() or line.startswith('|'):
            end_paragraph()
        if in_block:
            text = line[4:]
            if text.startswith('$ '):
                steps.append(Step(place, text[2:], []))
                session = True
            elif session:
                steps[-1].shown.append(text)
            else:
                steps.append(Step(place, re.sub(r'\s{2,}#\s.*', '', text), []))
        elif line.strip():
            session = False
            first = first if paragraph else number
            paragraph.append(line)
        elif session:
            steps[-1].shown.append('')
        previous = line
    for step in steps:
        while step.shown and not step.shown[-1]:
            step.shown.pop()
    return steps


def run(command, folder, program, **options):
    """Runs a shell command in which `kmemtrace` is the program under test. Returns (exit status, stdout and stderr)."""
    environment = {**os.environ, 'PATH': f'{os.path.dirname(os.path.abspath(program))}:{os.environ["PATH"]}',
                   'COLUMNS': '100', 'LC_ALL': 'C.UTF-8', 'NO_COLOR': '1'}
    done = subprocess.run(['bash', '-c', command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', errors='replace',
                          check=False, **options)
    return done.returncode, done.stdout


def parts_of(shown):
    """Splits the lines at elisions."""
    parts = [[]]
    for line in shown:
        if line.strip() == ELISION:
            parts.append([])
        else:
            parts[-1].append(line.rstrip())
    return parts


def find(part, lines, begin):
    for at in range(begin, len(lines) - len(part) + 1):
        if lines[at:at + len(part)] == part:
            return at
    return None


def differences(shown, printed):
    """Returns the part of `shown` that `printed` lacks, as text, or None. Every line must occur, in order; only
    elisions may skip lines."""
    lines = [line.rstrip() for line in printed.rstrip('\n').split('\n')]
    parts = parts_of(shown)
    at = 0
    for number, part in enumerate(parts):
        found = find(part, lines, at) if part else at
        first_moved = number == 0 and found != 0
        if found is None or first_moved:
            return '\n'.join(part)
        at = found + len(part)
    return '\n'.join(lines[at:at + 3]) + '\nis printed at the end' if parts[-1] and at != len(lines) else None


NUMBER = r'[+-]?\d[\d,.]*'
MASKS = (
    (r'[▁▂▃▄▅▆▇█]+', ' '),
    (r'0x[0-9a-f]+', '#'),
    (r'\bcgroup \S+', 'cgroup #'),
    (r'\bclock [\w-]+', 'clock #'),
    (rf'-\d+\b|{NUMBER}(?: ?(?:[KMGT]i)?B(?:/s)?\b| ?[mun]?s\b|%|/s)?', '#'),
    (r'(?<= )-(?= |$)', '#'),
    (r' [!+*](?= #)', ''),
    (r'[\s#/]+', ' # '),
)


def masked(line):
    """Replaces numbers, units, column widths and other details of a single run."""
    for pattern, text in MASKS:
        line = re.sub(pattern, text, line)
    return line.strip()


def masked_differences(shown, printed):
    """Returns the first line of `shown` that `printed` lacks in this order, or None. Numbers are treated as equal.
    An elision at the end of a line matches any rest of the line."""
    lines = iter([masked(line) for line in printed.split('\n')])
    for line in shown:
        begin, elided, _ = line.partition(ELISION)
        wanted = masked(begin.rstrip())
        if wanted and not any(line.startswith(wanted) if elided else line == wanted for line in lines):
            return f'{line}\n  as: {wanted}'
    return None
