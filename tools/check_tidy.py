#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs clang-tidy over every source file of src/ with the options of build/.

Most of its time goes into headers, which it walks anew for each file it is given. So files are looked at several
together (tools/source_groups.py). Those that do not compile beside the others all the same are looked at after them.
    tools/check_tidy.py [REGEX ON PATHS]
"""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import source_groups

TOP = Path(__file__).resolve().parent.parent
AT_ONCE = 24  # with more of them, one processor waits for the other at the end


def compiler_options():
    """What the preprocessor needs for any file."""
    options = {}
    for entry in json.loads((TOP / 'build/compile_commands.json').read_text()):
        words = iter(shlex.split(entry['command']))
        for word in words:
            if word.startswith(('-D', '-I', '-std=')):
                options[word,] = None
            elif word == '-isystem':
                options[word, next(words)] = None
    return [word for option in options for word in option]


def including(paths, folder):
    file = tempfile.NamedTemporaryFile('w', suffix='.cpp', dir=folder, delete=False)
    with file:
        file.writelines(f'#include "{path}"\n' for path in paths)
    return file.name


def look_at(options, paths, folder):
    """Whether clang-tidy is content with the files; what it finds is printed."""
    # The warnings of compilers are the builds' affair; names of one file may hide those of another here.
    looked = subprocess.run(['clang-tidy', '-quiet', f'--config-file={TOP}/.clang-tidy', including(paths, folder),
                             '--', '-w', '-ferror-limit=0', *options],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if not looked.returncode:
        return True
    errors = [line for line in looked.stdout.splitlines() if '[clang-diagnostic-error]' in line]
    if not errors or len(paths) == 1:
        print(looked.stdout, flush=True)
        return False
    later = [path for path in paths[1:] if any(f'{path}:' in line for line in errors)] or paths[1:]
    parts = [path for path in paths if path not in later], later
    return all([look_at(options, part, folder) for part in parts])


def main():
    regex = sys.argv[1] if len(sys.argv) > 1 else ''
    paths = [str(path) for path in sorted(TOP.glob('src/**/*.cpp')) if re.search(regex, str(path))]
    if not paths:
        sys.exit('no such file')
    options = compiler_options()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = [pool.submit(look_at, options, files, folder) for files in source_groups.groups(paths, AT_ONCE)]
        return not all([each.result() for each in work])


if __name__ == '__main__':
    sys.exit(main())
