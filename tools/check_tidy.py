#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs clang-tidy over every source file of src/ as build/ compiles it.

Most of its time goes into headers, which it walks anew for each file it is given. So files that are compiled alike are
looked at together, as one that includes them; those that do not compile beside the others (two have a `struct Options` of
their own) are looked at after them.
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

TOP = Path(__file__).resolve().parent.parent
AT_ONCE = 24  # with more of them, one processor waits for the other at the end


def options_of(entry):
    """What the file is compiled with, without the compiler, the file and the output."""
    words = shlex.split(entry['command'])
    words = words[next(at for at, word in enumerate(words) if word.startswith('-')):]
    output = words.index('-o')
    return [word for word in words[:output] + words[output + 2:] if word not in ('-c', entry['file'])]


def batches(regex):
    """Yields options and files that are compiled with them."""
    alike = {}
    for entry in json.loads((TOP / 'build/compile_commands.json').read_text()):
        path = entry['file']
        if path.startswith(f'{TOP}/src/') and path.endswith('.cpp') and re.search(regex, path):
            alike.setdefault(tuple(options_of(entry)), []).append(path)
    for options, paths in alike.items():
        count = -(-len(paths) // AT_ONCE)
        for first in range(count):
            yield options, paths[first::count]


def including(paths, folder):
    file = tempfile.NamedTemporaryFile('w', suffix='.cpp', dir=folder, delete=False)
    with file:
        file.writelines(f'#include "{path}"\n' for path in paths)
    return file.name


def apart(options, paths, folder):
    """Those of the files, of which there are several, that do not compile beside the others."""
    compiled = subprocess.run(['clang++', '-fsyntax-only', '-ferror-limit=0', '-w', *options, including(paths, folder)],
                              capture_output=True, text=True)
    if not compiled.returncode:
        return []
    return [path for path in paths[1:] if f'{path}:' in compiled.stderr] or paths[1:]


def look_at(options, paths, folder):
    """Whether clang-tidy is content with the files; what it finds is printed."""
    content = True
    while paths:
        later = []
        while len(paths) > 1 and (wrong := apart(options, paths, folder)):
            later = wrong + later
            paths = [path for path in paths if path not in wrong]
        # The warnings of compilers are the builds' affair; names of one file may hide those of another here.
        looked = subprocess.run(['clang-tidy', '-quiet', f'--config-file={TOP}/.clang-tidy', including(paths, folder),
                                 '--', '-w', *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if looked.returncode:
            print(looked.stdout, flush=True)
            content = False
        paths = later
    return content


def main():
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = [pool.submit(look_at, options, paths, folder)
                for options, paths in batches(sys.argv[1] if len(sys.argv) > 1 else '')]
        if not work:
            sys.exit('no such file is compiled in build/')
        return not all([each.result() for each in work])


if __name__ == '__main__':
    sys.exit(main())
