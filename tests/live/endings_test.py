#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that a recording restores the state of the machine and keeps the recorded data, however the recording ends."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from recording import INSTANCES, PIPE_LOOP, PROGRAM, LiveTest, events_of, instances_of, read_file, wait_until

LOOPS = 3


class Endings(LiveTest):
    def test_signals_end_a_recording_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for _ in range(LOOPS):
                process = self.start()
                process.send_signal(number)
                self.finish(process)
                events_of(self.trace)

    def test_signals_at_any_moment(self):
        for step in range(16):
            process = self.launch('--duration', '20s')
            time.sleep(step * 0.02)
            process.send_signal(signal.SIGINT if step % 2 else signal.SIGKILL)
            process.communicate(timeout=30)
            self.assert_nothing_left(process.pid, seconds=10)

    def test_signal_before_the_command_starts(self):
        for step in range(14):
            process = self.launch('--', 'sleep', '20')
            time.sleep(step * 0.012)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
            # Before the program installs its signal handlers, SIGINT kills the program.
            self.assertIn(process.returncode, (0, -signal.SIGINT), err)
            self.assertNotIn('still running', err)
            self.assert_nothing_left(process.pid, seconds=10)

    def record_with_fault(self, fault, *arguments):
        """Runs a recording of one second under strace, which makes system calls fail."""
        if not shutil.which('strace'):
            self.skipTest('no strace')
        return subprocess.run(['strace', '-f', '-o', '/dev/null', '-e', f'inject={fault}', PROGRAM, 'record',
                               '-o', self.trace, '-d', '1s', *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding='utf-8', timeout=60, check=False)

    def test_the_watcher_ends_without_close_range(self):
        done = self.record_with_fault('close_range:error=ENOSYS')
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_thread_that_cannot_be_started(self):
        for which in ('', ':when=2'):
            done = self.record_with_fault('clone3:error=EAGAIN' + which, '--', 'true')
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertRegex(done.stdout, r'^error: Cannot start .*thread.*: Resource temporarily unavailable\n  hint: ')

    def test_kill_leaves_no_instance(self):
        for turn in range(LOOPS):
            process = self.start('--', 'sleep', '60') if turn % 2 else self.start()
            children = self.children_of(process.pid)
            process.send_signal(signal.SIGKILL)
            process.wait()
            for child in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            begin = time.monotonic()
            process.stderr.read()  # the watcher process must not keep stderr open
            self.assertLess(time.monotonic() - begin, 5)
            self.assert_nothing_left(process.pid, seconds=10)
            if self.FILE.endswith('.dat'):
                self.assertFalse(os.path.exists(self.trace))

    @staticmethod
    def children_of(pid):
        """Returns the IDs of a recorder's child processes that run the recorded command, sleep. The recorder's watcher
        is not included."""
        done = subprocess.run(['ps', '-o', 'pid=,comm=', '--ppid', str(pid)], stdout=subprocess.PIPE, encoding='ascii',
                              check=False)
        return [int(line.split()[0]) for line in done.stdout.splitlines() if 'sleep' in line]

    def test_killed_while_another_program_uses_the_instance(self):
        process = self.start()
        path = f'{INSTANCES}/{instances_of(process.pid)[0]}'
        with open(f'{path}/trace_pipe', 'rb'):
            process.send_signal(signal.SIGKILL)
            process.wait()
            off = f'{path}/events/kmem/kmalloc/enable'
            self.assertTrue(wait_until(lambda: self.reads(off) == '0', 5), 'events stay enabled')
            time.sleep(3)
        self.assertTrue(wait_until(lambda: not os.path.exists(path)), 'instance stays when it is free')

    @staticmethod
    def reads(path):
        with open(path, encoding='ascii') as file:
            return file.read().strip().rstrip('*')

    def test_command_that_cannot_run(self):
        for command in ('/nonexistent/program', '/etc/passwd'):
            messages = self.record('--', command, exit_code=2)
            self.assertIn(command, messages)
            self.assertFalse(os.path.exists(self.trace))

    def test_exit_status_of_the_command_is_returned(self):
        self.assertIn('exited with 42', self.record('--', 'sh', '-c', 'exit 42', exit_code=42))
        self.assertIn('signal 9', self.record('--', 'sh', '-c', 'kill -9 $$', exit_code=137))
        # The recorder ends the command after the duration.
        self.record('--duration', '200ms', '--', 'sleep', '20')

    def test_the_command_may_use_huge_pages(self):
        setting = re.search('^THP_enabled:.*$', read_file('/proc/self/status'), re.MULTILINE)
        if not setting:
            self.skipTest('the kernel does not show the setting')
        output = self.path('status')
        self.record('--', 'cp', '/proc/self/status', output)
        self.assertIn(setting[0], read_file(output))

    def test_command_that_ignores_signals(self):
        process = self.start('--', 'sh', '-c', 'trap "" INT TERM; sleep 4')
        process.send_signal(signal.SIGINT)
        self.finish(process)
        events_of(self.trace)

    def test_repeated_signals_keep_the_trace(self):
        process = self.start()
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            time.sleep(0.005)
        self.finish(process)
        events_of(self.trace)

    def test_nohup(self):
        process = self.start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        self.assertIsNone(process.poll(), 'ended by a SIGHUP that was to be ignored')
        process.send_signal(signal.SIGINT)
        self.finish(process)

    def test_closed_stderr(self):
        read_end, write_end = os.pipe()
        process = self.start(stderr=write_end)
        os.close(write_end)
        os.close(read_end)
        process.send_signal(signal.SIGINT)
        process.wait(30)
        self.assertEqual(process.returncode, 0)
        self.assert_nothing_left(process.pid)
        events_of(self.trace)

    def test_duration_ends_the_recording(self):
        self.load(pause=0.02)
        begin = time.monotonic()
        self.record('--duration', '700ms', '-e', 'kmem:kmalloc')
        self.assertGreater(time.monotonic() - begin, 0.7)
        times = [e.time_ns for e in events_of(self.trace)]
        self.assertTrue(0.5 < (max(times) - min(times)) / 1e9 < 2.7)

    def test_wrong_usage(self):
        for arguments in (['-e', 'kmem:kmaloc'], ['--clock', 'sundial'], ['-b', '12q'], ['--duration', 'soon'],
                          ['-p', '999999999'], ['-F'], ['--file-version', '5'], ['-o', '/dev/null'],
                          ['-o', '/nonexistent/directory/t.kmt'],
                          ['--keep', '3'], ['--rotate', '1M', '--flight', '1M'], ['--rotate', '0'], ['--flight', '5q'],
                          ['--rotate', '1M', '-o', self.path('trace.dat')], ['--file-version', '6'],
                          ['--flight', '1M', '-o', self.path('trace.dat')], ['--flight', '5'],
                          ['--flight', '3s', '--clock', 'counter'], ['--max-memory', '4M', '-b', '16M'],
                          ['--trigger', 'MemTotal>0'], ['--trigger', 'failure', '-o', self.path('trace.dat')],
                          ['--filter', 'kmem:kfree:ptr==0', '-e', 'kmem:kmalloc']):
            messages = self.record(*arguments, exit_code=2)
            self.assertIn('error:', messages)
        self.assertIn('kmem:kmalloc', self.record('-e', 'kmem:kmaloc', exit_code=2))
        self.assertFalse(os.path.exists(self.trace))

    def test_two_recordings_into_one_file(self):
        process = self.start()
        self.assertTrue(wait_until(lambda: os.path.exists(self.trace)))
        self.assertIn('Another kmemtrace', self.record('--duration', '100ms', exit_code=2))
        process.send_signal(signal.SIGINT)
        self.finish(process)
        self.assertEqual(self.check(self.trace)['verdict'], 'sound')

    def test_sigint_works_in_a_background_job(self):
        process = self.start(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        process.send_signal(signal.SIGINT)
        self.finish(process)

    def test_only_the_owner_can_read_a_trace(self):
        self.record('--duration', '100ms')
        self.assertEqual(os.stat(self.trace).st_mode & 0o777, 0o600)

    def test_existing_trace_survives_a_failure(self):
        with open(self.trace, 'w', encoding='ascii') as file:
            file.write('precious')
        self.record('-F', '--', '/nonexistent/program', exit_code=2)  # -F: so few events that no block is written
        with open(self.trace, encoding='ascii') as file:
            self.assertEqual(file.read(), 'precious')

    def test_leftovers_are_found_and_removed(self):
        path = f'{INSTANCES}/kmemtrace-{2 ** 22 - 1}-1'  # no process has this ID
        os.mkdir(path)
        self.addCleanup(lambda: os.path.exists(path) and os.rmdir(path))
        self.assertIn(f'rmdir {path}', self.record('--duration', '100ms'))
        self.assertTrue(os.path.exists(path), 'removed without being asked to')
        self.record('--duration', '100ms', '--remove-stale')
        self.assertFalse(os.path.exists(path))

    def test_running_recordings_are_not_treated_as_leftovers(self):
        other = self.start()
        first, self.trace = self.trace, self.path('trace.second.kmt')
        process = self.launch('--duration', '100ms', '--remove-stale')
        _, messages = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, messages)
        self.assertTrue(instances_of(other.pid))
        other.send_signal(signal.SIGINT)
        other.communicate(timeout=30)
        self.assertEqual(other.returncode, 0)
        events_of(first)

    def test_not_permitted(self):
        program = shutil.copy(PROGRAM, self.directory)
        os.chmod(self.directory, 0o777)
        os.chmod(program, 0o755)
        unprivileged = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
        for command in ([program, 'record', '-o', self.trace, '--duration', '1s'], [program, 'list']):
            done = subprocess.run([*unprivileged, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8',
                                  check=False)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertRegex(done.stdout + done.stderr, '(?i)permi.*|root')
        self.assertFalse(os.path.exists(self.trace))

    def test_tracefs_is_mounted_when_needed(self):
        script = ('umount -l /sys/kernel/debug 2>/dev/null; umount /sys/kernel/tracing || exit 90; '
                  '"$1" list >/dev/null || exit 91; ! grep -q tracefs /proc/self/mounts || exit 92; '
                  '"$1" record -o "$2" --duration 200ms || exit 93; grep -q tracefs /proc/self/mounts || exit 94')
        done = subprocess.run(['unshare', '-m', 'sh', '-c', script, 'sh', PROGRAM, self.trace], stderr=subprocess.PIPE,
                              encoding='utf-8', check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(len(events_of(self.trace)), 0)


class EndingsOfTraceDat(LiveTest):
    """A trace.dat is written at the end of the recording, and needs disk space then."""
    FILE = 'trace.dat'
    test_signals_end_a_recording_cleanly = Endings.test_signals_end_a_recording_cleanly
    test_kill_leaves_no_instance = Endings.test_kill_leaves_no_instance
    children_of = staticmethod(Endings.children_of)
    test_repeated_signals_keep_the_trace = Endings.test_repeated_signals_keep_the_trace
    test_duration_ends_the_recording = Endings.test_duration_ends_the_recording
    test_existing_trace_survives_a_failure = Endings.test_existing_trace_survives_a_failure

    def test_full_disk(self):
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', self.directory], check=True)
        self.addCleanup(subprocess.run, ['umount', self.directory], check=True)
        process = self.launch('-e', 'kmem:*', '--', PIPE_LOOP, '100000000')
        _, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2, messages)
        self.assertRegex(messages.lower(), 'no space|disk is full')
        self.assert_nothing_left(process.pid)
        self.assertGreater(len(events_of(self.trace)), 10000)
        checked = subprocess.run([PROGRAM, 'check', self.trace], stdout=subprocess.PIPE, encoding='utf-8', check=False)
        self.assertNotIn('damaged', checked.stdout)


if __name__ == '__main__':
    unittest.main()
