#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Which source files can be compiled together, as one that includes them: those that define no file-local name twice.
Most of a compiler's time goes into headers and templates, which are then parsed once for all of them.
    tools/source_groups.py MOST FILE...       prints NUMBER=FILE a line; at most MOST files have one number
"""
import re
import sys
from pathlib import Path

# A declaration of an unnamed namespace begins in the first column; its name stands before what follows it.
UNNAMED = re.compile(r'^namespace \{$(.*?)^\}  // namespace$', re.MULTILINE | re.DOTALL)
NAME = re.compile(r'^(?!namespace)[A-Za-z].*?\b(\w+)(?=[\[{]| *(?:[(=;{]|:(?!:)))', re.MULTILINE)
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
# Overloads, each of a type of its own.
OVERLOADED = {'to_json'}


def own_names(path):
    text = RAW_STRING.sub('""', Path(path).read_text())
    return {name for part in UNNAMED.findall(text) for name in NAME.findall(part)} - OVERLOADED


def groups(paths, most):
    """The files, parted so that none of a part gives a name that another one gives."""
    parts = []
    for names, path in sorted(((own_names(path), path) for path in paths), key=lambda each: (-len(each[0]), each[1])):
        part = next((part for part in parts if len(part[1]) < most and not part[0] & names), None)
        if part is None:
            parts.append(part := (set(), []))
        part[0].update(names)
        part[1].append(path)
    return [files for names, files in parts]


if __name__ == '__main__':
    for number, group in enumerate(groups(sys.argv[2:], int(sys.argv[1]))):
        for name in group:
            print(f'{number}={name}')
