#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that each source file names its licence, and that files of src/ and web/src/ stay below the size limits.
  tools/check_files.py [PROJECT FOLDER]"""
import os
import sys

LICENCE = 'SPDX-License-Identifier: GPL-2.0-or-later'
MOST_LINES = 600
MADE_LISTS = ('src/trace/code/directories.txt',)  # made by a tool, so their length does not matter
SUFFIXES = ('.cpp', '.hpp', '.c', '.h', '.def', '.py', '.sh', '.txt', '.cmake', '.yml', '.supp', '.ts', '.mjs', '.css', '.html')
# Files by other authors, which need no licence line, and files that cannot have comments.
SKIPPED_FOLDERS = ('build', '.git', 'data', 'node_modules', 'out', '__pycache__')


def is_script(path):
    with open(path, 'rb') as file:
        return file.read(2) == b'#!'


# Tools for licences read the rest of the line as part of the licence's name. Only the end of a comment may follow.
def names_licence(line):
    return LICENCE in line and line.split(LICENCE)[1].strip() in ('', '*/', '-->')


def check_tree(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS and not f.startswith('build-'))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not os.path.isfile(path) or not (name.endswith(SUFFIXES) or is_script(path)):
                continue
            with open(path, encoding='utf-8') as file:
                lines = file.read().splitlines()
            shown = os.path.relpath(path, root)
            if not any(names_licence(line) for line in lines[:3]):
                yield f'{shown}: the first lines lack "{LICENCE}"'
            if shown.startswith(('src/', 'web/src/')) and shown not in MADE_LISTS and len(lines) > MOST_LINES:
                yield f'{shown}: {len(lines)} lines, at most {MOST_LINES}: does it serve more than one purpose?'


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
    problems = list(check_tree(root))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
