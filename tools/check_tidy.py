#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs clang-tidy on all source files of src/, with the options of build/.

clang-tidy spends most of its time in headers, which it processes again for each file. Therefore this script checks
several files of a layer together (tools/source_groups.py). If files do not compile together, it checks them again in
two parts.
    tools/check_tidy.py [--changed] [REGEX ON PATHS]
With --changed, checks only files that changed since the branch left origin/main, and for each changed header one file
that includes it. clang-tidy shows what it finds in headers too. If there is no such branch, uses the files of the
commits of the last three days.
"""
import concurrent.futures
import itertools
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
# Number of files checked by one run of clang-tidy. With larger numbers, some CPUs would be idle at the end.
AT_ONCE = 32


def compiler_options():
    """Returns all options that the preprocessor needs for any of the files."""
    options = {}
    for entry in json.loads((TOP / 'build/compile_commands.json').read_text()):
        words = iter(shlex.split(entry['command']))
        for word in words:
            if word.startswith(('-D', '-I', '-std=')):
                options[word,] = None
            elif word == '-isystem':
                options[word, next(words)] = None
    return [word for option in options for word in option]


def groups(paths):
    """Groups the files by layer, because files of two layers often do not compile together: their file-local names need
    not differ. Small groups of all layers are joined, because each group costs the time of its headers."""
    found, rest = [], []
    for _, layer in itertools.groupby(paths, lambda path: Path(path).relative_to(TOP / 'src').parts[0]):
        for files in source_groups.groups(list(layer), AT_ONCE):
            if len(files) >= AT_ONCE / 3:
                found.append(files)
            else:
                rest += files
    return found + source_groups.groups(rest, AT_ONCE)


def including(paths, folder):
    file = tempfile.NamedTemporaryFile('w', suffix='.cpp', dir=folder, delete=False)
    with file:
        file.writelines(f'#include "{path}"\n' for path in paths)
    return file.name


def look_at(options, paths, folder):
    """True if clang-tidy reports nothing for these files; otherwise prints its output."""
    # Ignore compiler warnings. Builds report them, and for several files in one unit they may be wrong.
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


def git(*words):
    return subprocess.run(['git', '-C', TOP, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout.split('\n')


def changed_files():
    """Returns the changed files of src/ as paths below src/, or None if they cannot be determined. Prints the
    commit or time from which changes count."""
    head = git('rev-parse', 'HEAD')[0]
    base = git('merge-base', 'HEAD', 'origin/main')[0]
    if base and base != head:
        print(f'files changed since {base[:10]}', flush=True)
        names = git('diff', '--name-only', base)
    else:
        if not head:
            return None
        day = int(git('log', '-1', '--format=%ct')[0]) - 3 * 24 * 3600
        print('files that the last three days\' commits changed', flush=True)
        names = git('log', f'--since={day}', '--name-only', '--format=')
    names += git('ls-files', '--others', '--modified', '--exclude-standard')
    if '.clang-tidy' in names:
        return None
    return {name.removeprefix('src/') for name in names if name.startswith('src/')}


def with_users(names):
    """Returns the files, and for each header one source file that includes it directly or indirectly."""
    includes = {}
    for path in (TOP / 'src').rglob('*.[ch]pp'):
        for header in re.findall(r'^#include "(.*)"', path.read_text(), re.MULTILINE):
            includes.setdefault(header, set()).add(str(path.relative_to(TOP / 'src')))

    def users(header):
        """Yields the files that include the header, direct users first."""
        found = [header]
        for name in found:
            yield name
            found += sorted(includes.get(name, set()) - set(found))

    chosen = set(names)
    for header in sorted(name for name in names if name.endswith('.hpp')):
        sources = [name for name in users(header) if name.endswith('.cpp')]
        if not chosen.intersection(sources):
            chosen.update(sources[:1])
    return chosen


def main():
    words = sys.argv[1:]
    changed = changed_files() if '--changed' in words else None
    changed = changed and with_users(changed)
    regex = next((word for word in words if word != '--changed'), '')
    paths = [str(path) for path in sorted(TOP.glob('src/**/*.cpp'))
             if re.search(regex, str(path)) and (changed is None or str(path.relative_to(TOP / 'src')) in changed)]
    if not paths:
        if regex:
            sys.exit('no such file')
        return 0
    options = compiler_options()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = [pool.submit(look_at, options, files, folder) for files in groups(paths)]
        return not all([each.result() for each in work])


if __name__ == '__main__':
    sys.exit(main())
