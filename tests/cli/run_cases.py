#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the cases of a .test file against the program. Each case runs through bash in an empty folder.

  # the purpose of the case       a comment names the case that follows
  RUN report nosuch.dat           the program's arguments; $DATA is tests/data; `| ...`, `> ...` as in a shell
  SHELL echo x > f; kmemtrace …   any commands; `kmemtrace` is the program
  EXIT 2                          the exit status (default 0)
  OUT text                        stdout holds the text;   OUT! text: it does not
  ERR text                        stderr holds the text;   ERR! text: it does not
  NOTHING out                     stdout is empty;         NOTHING err: stderr is
  ENV NAME=VALUE                  in front of RUN: for this case
"""
import os
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get('KMEMTRACE') or sys.exit('KMEMTRACE must name the program under test')
DATA = os.environ.get('KMEMTRACE_DATA') or sys.exit('KMEMTRACE_DATA must name tests/data')


def run(command, environment):
    with tempfile.TemporaryDirectory() as folder:
        clean = {key: value for key, value in os.environ.items() if key not in ('COLUMNS', 'NO_COLOR')}
        script = f'kmemtrace() {{ {PROGRAM} "$@"; }}; {command}'
        done = subprocess.run(['bash', '-c', script], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, encoding='utf-8', errors='replace',
                              env={**clean, 'DATA': DATA, **environment})
    return done.returncode, done.stdout, done.stderr


def problems(case):
    status, out, err = run(case['command'], case['env'])
    if status != case['exit']:
        yield f'exit status is {status}, expected {case["exit"]}'
    for stream, wanted, text in case['texts']:
        if (text in (out if stream == 'OUT' else err)) != wanted:
            yield f'{stream} {"lacks" if wanted else "holds"}: {text}'
    for stream in case['nothing']:
        if (out if stream == 'out' else err):
            yield f'std{stream} is not empty'


def parse(path):
    cases, name, environment = [], '', {}
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        line = line.rstrip('\n')
        word, _, rest = line.partition(' ')
        if not line or line.startswith('# SPDX'):
            continue
        if word == '#':
            name = rest
        elif word == 'ENV':
            environment[rest.partition('=')[0]] = rest.partition('=')[2]
        elif word in ('RUN', 'SHELL'):
            command = f'kmemtrace {rest}' if word == 'RUN' else rest
            cases.append({'name': name, 'line': number, 'command': command, 'env': environment, 'exit': 0, 'texts': [],
                          'nothing': []})
            environment = {}
        elif not cases:
            sys.exit(f'{path}:{number}: {word} without RUN')
        elif word == 'EXIT':
            cases[-1]['exit'] = int(rest)
        elif word in ('OUT', 'ERR', 'OUT!', 'ERR!'):
            cases[-1]['texts'].append((word[:3], not word.endswith('!'), rest))
        elif word == 'NOTHING' and rest in ('out', 'err'):
            cases[-1]['nothing'].append(rest)
        else:
            sys.exit(f'{path}:{number}: unknown directive: {line}')
    return cases


def main():
    failed = 0
    for path in sys.argv[1:]:
        cases = parse(path)
        for case in cases:
            for problem in problems(case):
                failed += 1
                print(f'{path}:{case["line"]}: {case["name"]}: {problem}\n    {case["command"]}')
        print(f'{path}: {len(cases)} cases')
        if not cases:
            failed += 1
    sys.exit(1 if failed else 0)


main()
