#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that each folder of src/ includes and links only lower folders. Checks that each third-party header is
included only where it is allowed, and in each file that uses it. The tables below have the rules; docs/ARCHITECTURE.md
explains them.
  tools/check_layers.py [SRC FOLDER]"""
import os
import re
import sys

# The folders that each folder may use besides itself. formats, capture, snapshot, symbols, analysis and views must not
# use each other.
LAYERS = {
    'base': '',
    'trace': 'base',
    'results': 'trace base',
    'symbols': 'trace base',
    'formats': 'trace base',
    'capture': 'trace base',
    'snapshot': 'trace base',
    'anonymise': 'formats symbols trace base',
    'analysis': 'results trace base',
    'reading': 'formats snapshot symbols analysis results trace base',
    'views': 'results trace base',
    'fleet': 'views results trace base',
    'library': 'base trace results symbols formats analysis reading views',
    'cli': 'base trace results symbols formats capture snapshot analysis anonymise reading views fleet',
}

# The groups (subfolders) of each layer, and the groups of this layer that each group may use. Every group may use files
# that are in no group.
GROUPS = {
    'analysis': {
        'series': '',
        'matching': 'series',
        'report': 'matching series',
        'stalls': 'report matching series',
        'calls': 'matching',
        'simulation': 'matching',
        'snapshot': 'matching series',
        'heap': 'matching series',
        'growth': 'heap matching series',
    },
    'capture': {
        'tracefs': '',
        'features': 'tracefs',
        'sideband': 'features tracefs',
        'session': 'features sideband tracefs',
        'ftrace': 'features session sideband tracefs',
        'counting': 'features ftrace session sideband tracefs',
        'bpf': 'counting features session sideband tracefs',
    },
    'capture/bpf': {
        'programs': '',
        'calls': 'programs',
        'record': 'calls programs',
        'watch': 'programs',
    },
    'cli': {
        'support': '',
        'input': 'support',
        'snapshot': 'input support',
        'record': 'input support',
        'watch': 'input record support',
        'files': 'input snapshot support',
        'report': 'input record snapshot support',
        'investigate': 'input record report snapshot support watch',
    },
    'formats': {
        'ftrace': '',
        'kmt': 'ftrace',
        'relay': 'ftrace',
        'text': 'ftrace',
        'tracedat': 'ftrace',
        'ctf': 'ftrace kmt',
        'perfdata': 'ftrace tracedat',
    },
    'formats/ctf': {
        'json': '',
    },
    'results': {
        'series': '',
        'report': 'series',
        'calls': 'report',
        'fleet': 'report',
        'heap': 'series',
        'simulation': 'report',
        'snapshot': 'report series',
        'growth': 'series snapshot',
    },
    'snapshot': {
        'frames': '',
        'log': '',
        'objects': 'frames',
    },
    'trace': {
        'calls': '',
        'code': '',
        'info': 'calls code state',
        'state': 'tasks',
        'tasks': '',
    },
    'views': {
        'common': '',
        'json': 'common',
        'text': 'common',
        'html': 'common',
        'export': 'common json',
    },
}

MOST_UNITS = 25  # maximum number of units in a folder; a unit is a .cpp with its .hpp

# Third-party headers by the beginning of their names. The value lists the folders or files that may include them (''
# means all).
THIRD_PARTY = {
    'fmt/': [''],
    'kmemtrace/': ['library'],
    'CLI/': ['cli/command_line.cpp'],
    'nlohmann/': ['views', 'fleet', 'cli', 'formats/ctf'],
    'curl/': ['fleet'],
    'prometheus/': ['views'],
    'httplib.h': ['cli'],
    'protozero/': ['views'],
    'sodium.h': ['anonymise'],
    'sqlite3.h': ['views'],
    'ncurses.h': ['cli'],
    'babeltrace2/': ['formats/ctf'],
    'traceevent/': ['formats/ftrace'],
    'event-parse.h': ['formats/ftrace'],
    'bpf/': ['capture/bpf', 'symbols'],
    'tbb/': ['analysis'],
    'cxxabi.h': ['symbols'],
    'elfutils/': ['symbols'],
    'dwarf.h': ['symbols'],
    'gelf.h': ['symbols'],
    'archive.h': ['snapshot'],
    'archive_entry.h': ['snapshot'],
    'zlib.h': ['base', 'formats/tracedat', 'formats/text'],
    'zstd.h': ['formats'],
    'xxhash.h': ['formats', 'fleet'],
}

# System headers. C++ headers have no suffix. All other third-party headers must be in the table above.
SYSTEM = re.compile(r'(sys|linux|asm|arpa|netinet)/.*|[a-z_]+|(dirent|dlfcn|elf|fcntl|fnmatch|getopt|glob|grp|langinfo|locale|malloc|mntent|netdb|'
                    r'poll|pthread|pwd|sched|signal|spawn|stdbool|stddef|stdint|syscall|termios|time|unistd)\.h')

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
LINK = re.compile(r'\bkmt_(?!library\b)([a-z]+)\b')


def within(path, folders):
    return any(folder in ('', path) or path.startswith(folder + '/') for folder in folders)


def group_of(path, folder):
    """Returns the subfolder of `folder` that contains the file. None if the file is elsewhere or in no group."""
    return path[len(folder) + 1:].split('/')[0] if path.startswith(folder + '/') and '/' in path[len(folder) + 1:] else None


def check_include(path, quote, header):
    """Returns what is wrong with `#include header` in the file `path` (relative to src/), or None."""
    layer = path.split('/')[0]
    if quote == '"':
        if '/' not in header or '..' in header:
            return 'a project header is named by its path from src/'
        target = header.split('/')[0]
        if target in LAYERS and target != layer and target not in LAYERS[layer].split():
            return f'{layer} must not use {target}'
        for folder, groups in GROUPS.items():
            own, used = group_of(path, folder), group_of(header, folder)
            if own and used and own != used and used not in groups.get(own, '').split():
                return f'{folder}/{own} must not use {folder}/{used}'
        return None if target in LAYERS else f'{target} is not a folder of the layer table'
    for start, folders in THIRD_PARTY.items():
        if header.startswith(start):
            return None if within(path, folders) else f'{header} is for {" and ".join(folders)} only'
    return None if SYSTEM.fullmatch(header) else f'{header} is not in the table of third-party headers'


def check_file(root, path):
    layer = path.split('/')[0]
    if layer not in LAYERS:
        yield f'{path}: {layer} is not a folder of the layer table'
        return
    formats = includes_fmt = joins = includes_ranges = 0
    with open(os.path.join(root, path), encoding='utf-8') as lines:
        for number, line in enumerate(lines, 1):
            problem = None
            formats = formats or ('fmt::' in line.split('//')[0] and number)
            includes_fmt = includes_fmt or '#include <fmt/' in line
            joins = joins or ('fmt::join' in line.split('//')[0] and number)
            includes_ranges = includes_ranges or '#include <fmt/ranges.h>' in line
            if path.endswith('CMakeLists.txt'):
                for target in LINK.findall(line.split('#')[0]):
                    if target != layer and target not in LAYERS[layer].split():
                        problem = f'{layer} must not link {target}'
            else:
                include = INCLUDE.match(line)
                problem = include and check_include(path, *include.groups())
            if problem:
                yield f'{path}:{number}: {problem}'
    # Each file must include the headers that it uses. The compiler does not notice a missing include, because
    # precompiled headers and grouped files hide it.
    if formats and not includes_fmt and not path.endswith('CMakeLists.txt'):
        yield f'{path}:{formats}: include <fmt/format.h>'
    if joins and not includes_ranges:  # fmt 9 has join() in format.h, but fmt 10 has not
        yield f'{path}:{joins}: include <fmt/ranges.h>'


def check_tree(root):
    for folder, _, names in sorted(os.walk(root)):
        units = {name.split('.')[0] for name in names if name.endswith(('.hpp', '.cpp', '.h', '.c', '.def'))}
        if len(units) > MOST_UNITS:
            yield f'{os.path.relpath(folder, root)}: {len(units)} units, at most {MOST_UNITS}: group them'
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), root)
            if '/' in path and (name == 'CMakeLists.txt' or name.endswith(('.hpp', '.cpp', '.h', '.c', '.def'))):
                yield from check_file(root, path)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'src')
    problems = list(check_tree(root))
    for problem in problems:
        print(f'src/{problem}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
