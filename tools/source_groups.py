#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds groups of source files that can be compiled together, by one file that includes them. Files of a group must not
define the same file-local name twice. Compilers spend most of their time in headers and templates. In a group, each
header is parsed only once.
    tools/source_groups.py MOST FILE...       prints lines NUMBER=FILE; a group has at most MOST files
"""
import re
import sys
from pathlib import Path

# A declaration in an unnamed namespace starts in the first column. The declared name is the last word before a bracket,
# `=`, `;` or `:`.
UNNAMED = re.compile(r'^namespace \{$(.*?)^\}  // namespace$', re.MULTILINE | re.DOTALL)
NAME = re.compile(r'^(?!namespace)[A-Za-z].*?\b(\w+)(?=[\[{]| *(?:[(=;{]|:(?!:)))', re.MULTILINE)
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
# Functions with one overload for each type. Equal names of these do not conflict.
OVERLOADED = {'to_json'}


def own_names(path):
    text = RAW_STRING.sub('""', Path(path).read_text())
    return {name for part in UNNAMED.findall(text) for name in NAME.findall(part)} - OVERLOADED


def groups(paths, most):
    """Splits the files into groups so that no two files of a group define the same name."""
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
