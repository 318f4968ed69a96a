#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that every command shown in README, tutorial and FAQ runs on this machine and prints the shown output,
except for numbers."""
import os
import re
import signal
import subprocess
import sys
import time

from recording import PROGRAM, LiveTest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import documents  # noqa: E402

# Patterns of commands that are not run here, with the reason.
ELSEWHERE = (
    (r'^\./run|^\./test$', 'install packages, build all, and run the tests that run this one'),
    (r'^packaging/|dpkg-buildpackage|^pkg-config ', 'tests/package builds and tries packages'),
    (r'^cmake ', 'builds everything again'),
    (r'^tests/vm/run |-static ', 'tests/vm boots the machine'),
    (r'^kmemtrace snapshot --objects', 'needs /proc/kcore, which kernels of tests/vm have'),
    (r'^kmemtrace record .*--(?:persistent|previous)', 'needs kernel parameters, as tests/vm/crash_test.py has'),
    (r'^kmemtrace fleet$', 'needs an option and a ClickHouse server, as tests/oracle/fleet_test.py has'),
    (r'^kmemtrace completion$', 'needs the name of a shell'),
    (r'--cgroup system\.slice', 'needs systemd; tests/live/cgroup_test.py makes a cgroup'),
)
# These commands need a kernel that allows function tracing.
TRACES_FUNCTIONS = r'^kmemtrace graph '
# Replacements in commands that would run for minutes or that need a kernel source tree.
SHORTER = (
    (r'-d (?:\d+m|10s)\b', '-d 2s'),
    (r'--for \d\dm\b', '--for 10s'),
    (r'--for 1m\b', '--for 20s'),
    (r'--duration 30s\b', '--duration 5s'),
    (r'^kmemtrace investigate$', 'kmemtrace investigate --for 10s'),
    (r'--every 1m', '--every 1s --for 3s'),
    (r'make -j8', 'ls'),
)
# These commands run each time that a document shows them, because they start or end a process.
PROCESSES = r' &$|^kill '
# These commands estimate live bytes from samples. One time in 50, the samples have no pipe. A second run has some.
SAMPLED = r'^kmemtrace top .*--sort live'
BUSY = "sh -c 'ls; sleep 2; ls'"  # starts processes, because an idle machine may start none
# These commands run until Ctrl+C.
SCREEN = r'kmemtrace top'  # needs a terminal
ENDLESS = r'^kmemtrace (?:top(?! .*-n )|stat|serve|record(?! .*(?:-d |--duration |-- )))'


class Documents(LiveTest):
    def setUp(self):
        super().setUp()
        for name in ('docs', 'tests'):
            os.symlink(os.path.join(documents.ROOT, name), self.path(name))
        for command in (f'kmemtrace record -- {BUSY}', 'cp trace.kmt a.kmt',
                        f'kmemtrace record -o b.kmt -- {BUSY}', 'cp b.kmt leak.kmt',
                        'kmemtrace snapshot -o before.kmt', 'kmemtrace snapshot -o after.kmt',
                        'cp tests/data/oom/3.10-syslog.txt dmesg.txt',
                        'mkdir -p sosreport-web1/proc && cp /proc/meminfo /proc/slabinfo /proc/vmstat sosreport-web1/proc',
                        'tar -cJf sosreport-web1.tar.xz sosreport-web1'):
            self.assertEqual(0, documents.run(command, self.directory, PROGRAM, timeout=60)[0], command)
        listed = documents.run('kmemtrace list', self.directory, PROGRAM, timeout=60)[1]
        self.traces_functions = re.search(r'^\s*yes\s+function calls', listed, re.MULTILINE) is not None
        self.used = set()

    def left_out(self, command):
        for pattern, _ in ELSEWHERE:
            if re.search(pattern, command):
                self.used.add(pattern)
                return True
        return re.search(TRACES_FUNCTIONS, command) is not None and not self.traces_functions

    def shortened(self, command):
        for pattern, text in SHORTER:
            if re.search(pattern, command):
                self.used.add(pattern)
                command = re.sub(pattern, text, command)
        return command

    def run_step(self, command):
        if command.endswith(' &'):
            process = subprocess.Popen(command[:-2].split(), cwd=self.directory)
            self.addCleanup(self.end, process)
            time.sleep(1)
            return 0, ''
        if re.search(ENDLESS, command):
            command = f'timeout --foreground --preserve-status --signal=INT 4 {command}'
            if re.search(SCREEN, command):
                command = f'TERM=xterm script --quiet --return --command "{command}" /dev/null'
            return documents.run(command, self.directory, PROGRAM, timeout=60)
        return documents.run(command, self.directory, PROGRAM, timeout=240)

    def expect(self, step, status, printed):
        good = {0}
        if re.search(r'kmemtrace (?:leaks|investigate|check)', step.command):
            good = {0, 1, 4}
        if re.search(ENDLESS, step.command):
            good = {0, 128 + signal.SIGINT}
        self.assertIn(status, good, printed)
        if step.shown:
            self.assertIsNone(documents.masked_differences(step.shown, printed), f'not in:\n{printed}')

    def test_every_command(self):
        ran = set()
        for document in documents.DOCUMENTS:
            for step in documents.steps_of(document):
                if step.needs_only_files() or self.left_out(step.command):
                    continue
                command = self.shortened(step.command)
                if command in ran and not step.shown and not re.search(PROCESSES, command):
                    continue
                with self.subTest(step.place, command=step.command):
                    status, printed = self.run_step(command)
                    if step.shown and re.search(SAMPLED, command) and documents.masked_differences(step.shown, printed):
                        status, printed = self.run_step(command)
                    self.expect(step, status, printed)
                    ran.add(command)
        self.assertGreater(len(ran), 50)
        self.assertEqual({pattern for pattern, _ in ELSEWHERE + SHORTER} - self.used, set(), 'no document has these')


if __name__ == '__main__':
    import unittest
    unittest.main()
