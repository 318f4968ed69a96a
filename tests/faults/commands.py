# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that run while a system call fails. Each writes an output or records."""
import dataclasses
import os
import shutil

from kmemtrace import PROGRAM, data, run


@dataclasses.dataclass(frozen=True)
class Command:
    name: str
    arguments: tuple
    output: str = ''  # in the folder of the run; empty if the command writes no file
    live: bool = False  # true: the command records this machine
    keeps: bool = False  # true: the replaced output stays as NAME.old
    status: int = 0  # the exit status without a fault
    reader: tuple = ('check', '--json')  # the command that reads the output


def prepare(folder):
    """Creates the inputs of the commands. The program under test writes most of them."""
    for arguments in (('convert', data('amd64-stacks/trace.dat'), 'in.kmt'), ('convert', data('graph/amd64.dat'), 'calls.kmt')):

        done = run(*arguments[:-1], os.path.join(folder, arguments[-1]))
        if done.returncode != 0:
            raise AssertionError(f'{arguments}: {done.stderr}')
    with open(os.path.join(folder, 'in.kmt'), 'rb') as whole, open(os.path.join(folder, 'torn.kmt'), 'wb') as torn:
        torn.write(whole.read()[:-400])
    shutil.copy(data('s390x/trace.stack.dat'), os.path.join(folder, 'big.dat'))


EXPORTS = {'csv': 'csv', 'jsonl': 'jsonl', 'chrome': 'json', 'perfetto': 'pftrace', 'pprof': 'pb.gz', 'sqlite': 'db',
           'speedscope': 'json', 'firefox': 'json', 'collapsed': 'txt'}

SNAPSHOT = ('snapshot', '--json')

OFFLINE = (
    Command('report', ('report', '../in.kmt')),
    Command('report-html', ('report', '../in.kmt', '--html', 'out.html'), 'out.html'),
    Command('graph-html', ('graph', '../calls.kmt', '--html', 'out.html'), 'out.html'),
    Command('flamegraph', ('flamegraph', '../in.kmt', '-o', 'out.svg'), 'out.svg'),
    *(Command(f'export-{to}', ('export', '../in.kmt', '--to', to, '-o', f'out.{end}'), f'out.{end}')
      for to, end in EXPORTS.items()),
    Command('convert-kmt', ('convert', '../big.dat', 'out.kmt'), 'out.kmt'),
    Command('convert-dat', ('convert', '../in.kmt', 'out.dat'), 'out.dat'),
    Command('convert-ctf', ('convert', '../in.kmt', 'out.ctf'), 'out.ctf'),
    Command('anonymise', ('convert', '--anonymise', '../in.kmt', 'out.kmt'), 'out.kmt'),
    Command('repair', ('repair', '../torn.kmt', '-o', 'out.kmt'), 'out.kmt'),
    Command('snapshot-from', ('snapshot', '--from', data('snapshot/amd64/before'), '-o', 'out.kmt'), 'out.kmt',
            reader=SNAPSHOT),
)

# The recorded command. It starts no other processes, and faults are not injected into its system calls.
LOAD = ('--', 'sh', '-c', 'i=0; while [ $i -lt 300 ]; do : </proc/self/stat; i=$((i + 1)); done')

LIVE = (
    Command('record', ('record', '-o', 'out.kmt', *LOAD), 'out.kmt', live=True, keeps=True),
    Command('record-dat', ('record', '-o', 'out.dat', *LOAD), 'out.dat', live=True, keeps=True),
    Command('record-bpf', ('record', '--backend', 'bpf', '-o', 'out.kmt', *LOAD), 'out.kmt', live=True, keeps=True),
    Command('record-stacks', ('record', '--stacks=user', '-o', 'out.kmt', *LOAD), 'out.kmt', live=True, keeps=True),
    Command('record-samples', ('record', '--sample-interval', '20ms', '-o', 'out.kmt', *LOAD), 'out.kmt', live=True, keeps=True),
    Command('record-rotate', ('record', '--rotate', '1M', '-o', 'out.kmt', *LOAD), 'out.0001.kmt', live=True, keeps=True),
    Command('record-flight', ('record', '--flight', '1M', '-o', 'out.kmt', *LOAD), 'out.kmt', live=True, keeps=True),
    Command('snapshot', ('snapshot', '-o', 'out.kmt'), 'out.kmt', live=True, reader=SNAPSHOT),
    Command('snapshots', ('snapshot', '--every', '100ms', '--for', '250ms', '-o', 'out.kmt'), 'out.kmt', live=True,
            reader=SNAPSHOT),
    Command('profile', ('profile', '-o', 'out.kmt', *LOAD), 'out.kmt', live=True, reader=('profile', '--show')),
    Command('profile-pprof', ('profile', '-o', 'out.pb.gz', *LOAD), 'out.pb.gz', live=True),
    Command('stat', ('stat', *LOAD), live=True),
)

ALL = OFFLINE + LIVE
assert len({command.name for command in ALL}) == len(ALL)
__all__ = ['ALL', 'LIVE', 'OFFLINE', 'PROGRAM', 'Command', 'prepare']
