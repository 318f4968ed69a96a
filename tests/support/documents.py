# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that documents show, and how to compare shown output with printed output."""
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
        """Whether the command reads files of the repository alone, so that its output is always the same."""
        return bool(re.search(r'\b(?:docs|tests)/', self.command)) and self.command.startswith('kmemtrace ')


def steps_of(document):
    """The commands of indented blocks, with their output where a line starts with "$ ", and those in code spans."""
    steps, session, previous = [], False, ''
    with open(os.path.join(ROOT, document), encoding='utf-8') as file:
        for number, line in enumerate(file.read().split('\n'), 1):
            place = f'{document}:{number}'
            if line.startswith('    ') and (session or not previous.strip() or previous.startswith('    ')):
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
                steps += [Step(place, span, []) for span in re.findall(r'`(kmemtrace [a-z][^`]*)`', line)]
            elif session:
                steps[-1].shown.append('')
            previous = line
    for step in steps:
        while step.shown and not step.shown[-1]:
            step.shown.pop()
    return steps


def run(command, folder, program, **options):
    """(exit status, output and messages) of a shell command for which `kmemtrace` is the program."""
    environment = {**os.environ, 'PATH': f'{os.path.dirname(os.path.abspath(program))}:{os.environ["PATH"]}',
                   'COLUMNS': '100', 'LC_ALL': 'C.UTF-8', 'NO_COLOR': '1'}
    done = subprocess.run(['bash', '-c', command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', errors='replace',
                          check=False, **options)
    return done.returncode, done.stdout


def parts_of(shown):
    """The runs of lines between elisions."""
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
    """The part of `shown` that `printed` lacks, as text, or None: every line must be there, in order, and only elisions
    may leave lines out."""
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
    """A line without numbers, units, sizes of columns and other details of one run."""
    for pattern, text in MASKS:
        line = re.sub(pattern, text, line)
    return line.strip()


def masked_differences(shown, printed):
    """The first line of `shown` that `printed` lacks in that order, or None. Numbers count as equal; an elision at the
    end of a line leaves its rest out."""
    lines = iter([masked(line) for line in printed.split('\n')])
    for line in shown:
        begin, elided, _ = line.partition(ELISION)
        wanted = masked(begin)
        if wanted and not any(line.startswith(wanted) if elided else line == wanted for line in lines):
            return f'{line}\n  as: {wanted}'
    return None
