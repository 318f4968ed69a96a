#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks `snapshot` of the running kernel: the lines add up and agree with the kernel's files. Memory allocated
directly from the page allocator appears in the correct line, and disappears when freed."""
import ctypes
import fcntl
import json
import mmap
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from memory_counters import beside_other_processes, refresh

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import kmt_series  # noqa: E402

PROGRAM = os.environ.get('KMEMTRACE', '')
MIB = 1 << 20


def why_not_live():
    return None if os.geteuid() == 0 else 'not root'


def snapshot(*arguments):
    done = subprocess.run([PROGRAM, 'snapshot', '--json', '--limit', '0', *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding='utf-8')
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def line(result, name):
    return next(one['bytes'] for one in result['balance'] if one['id'] == name)


def unaccounted():
    """Returns the median of three values, because memory of other processes may briefly be in no counter."""
    found = []
    for _ in range(3):
        refresh()
        found.append(line(snapshot(), 'unaccounted'))
    return sorted(found)[1]


def copy_slab_folder(to):
    """Copies /sys/kernel/slab like cp -r, without the files that cannot be read."""
    for folder in os.scandir('/sys/kernel/slab'):
        if folder.is_symlink():
            os.makedirs(to, exist_ok=True)
            os.symlink(os.readlink(folder.path), os.path.join(to, folder.name))
            continue
        os.makedirs(os.path.join(to, folder.name))
        for name in os.listdir(folder.path):
            try:
                with open(os.path.join(folder.path, name), 'rb') as file:
                    contents = file.read()
            except OSError:
                continue
            with open(os.path.join(to, folder.name, name), 'wb') as copy:
                copy.write(contents)


@unittest.skipIf(why_not_live() and not os.environ.get('KMEMTRACE_REQUIRE_LIVE'), why_not_live())
class Snapshot(unittest.TestCase):
    SLACK = 4 * MIB  # bytes that other activity may allocate

    @beside_other_processes(3)
    def assert_taken(self, take, size):
        """Checks that the objects returned by `take` occupy `size` bytes of the page allocator until they are
        closed."""
        before = unaccounted()
        held = take()
        during = unaccounted()
        for one in held:
            one.close()
        after = unaccounted()
        deadline = time.monotonic() + 5  # the kernel frees part of the memory after an RCU grace period
        while abs(before - after) > self.SLACK and time.monotonic() < deadline:
            time.sleep(0.2)
            after = unaccounted()
        self.assertAlmostEqual(size, during - before, delta=self.SLACK)
        self.assertAlmostEqual(before, after, delta=self.SLACK)

    def test_adds_up(self):
        result = snapshot()
        self.assertEqual(result['total_bytes'],
                         sum(one['bytes'] for one in result['balance'] if one['counted'] and one['depth'] == 0))
        with open('/proc/meminfo', encoding='ascii') as file:
            self.assertEqual(result['total_bytes'], int(file.readline().split()[1]) * 1024)

    def test_is_fast(self):
        times = []
        for _ in range(3):
            start = time.monotonic()
            subprocess.run([PROGRAM, 'snapshot'], stdout=subprocess.DEVNULL, check=True)
            times.append(time.monotonic() - start)
        self.assertLess(min(times), 1)

    def test_says_what_is_missing(self):
        result = snapshot()
        missing = {one['source'] for one in result['missing']}
        for name in ('meminfo', 'vmstat', 'slabinfo', 'zoneinfo', 'vmallocinfo', 'buddyinfo', 'pagetypeinfo', 'allocinfo'):
            self.assertEqual(os.path.exists(f'/proc/{name}'), name in result['sources'], name)
            self.assertNotEqual(name in result['sources'], name in missing, name)
        self.assertTrue(all(one['how'] for one in result['missing']))
        self.assertEqual(0, result['unknown_lines_total'], result['unknown_lines'])

    @unittest.skipUnless(shutil.which('strace'), 'no strace')
    def test_needs_meminfo(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'out.kmt')
            done = subprocess.run(['strace', '-qq', '-o', '/dev/null', '-P', '/proc/meminfo', '-e', 'inject=read:error=EIO',
                                   PROGRAM, 'snapshot', '-o', path], stderr=subprocess.PIPE, check=False, encoding='utf-8')
            self.assertEqual(2, done.returncode)
            self.assertIn('Input/output error\n  at: /proc/meminfo', done.stderr)
            self.assertFalse(os.path.exists(path))

    def test_names_files_that_cannot_be_read(self):
        done = subprocess.run(['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', PROGRAM, 'snapshot',
                               '--json'], stdout=subprocess.PIPE, check=True)
        result = json.loads(done.stdout)
        missing = {one['source']: one['how'] for one in result['missing']}
        for name, path in (('slab', '/sys/kernel/slab/kmalloc-64/slabs'), ('slabinfo', '/proc/slabinfo')):
            if not os.path.exists(path) or os.stat(path).st_mode & 0o004:
                continue
            self.assertNotIn(name, result['sources'])
            self.assertEqual('run as root, or with CAP_DAC_READ_SEARCH', missing[name])
        with_capability = subprocess.run(['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups',
                                          '--inh-caps', '+dac_read_search', '--ambient-caps', '+dac_read_search',
                                          PROGRAM, 'snapshot', '--json'], stdout=subprocess.PIPE, check=True)
        for name in ('slab', 'slabinfo'):
            self.assertEqual(name in snapshot()['sources'], name in json.loads(with_capability.stdout)['sources'], name)

    def test_agrees_with_the_files(self):
        result = snapshot()
        with open('/proc/slabinfo', encoding='ascii') as file:
            names = {row.split()[0] for row in file.readlines()[2:]}
        self.assertEqual(names, {cache['name'] for cache in result['slab_caches']})
        folders = {entry.name for entry in os.scandir('/sys/kernel/slab') if not entry.is_symlink()}
        links = {entry.name: os.path.basename(os.readlink(entry.path)) for entry in os.scandir('/sys/kernel/slab')
                 if entry.is_symlink()}
        merged = {}
        for name, folder in links.items():
            merged.setdefault(folder, set()).add(name)
        for cache in result['slab_caches']:
            folder = links.get(cache['name'], cache['name'])
            if folder in folders:
                self.assertEqual(merged.get(folder, set()) - {cache['name']}, set(cache['merged']), cache['name'])
                with open(f'/sys/kernel/slab/{folder}/object_size', encoding='ascii') as file:
                    self.assertEqual(int(file.read()), cache['asked_object_bytes'])

    def test_copies_give_the_same_result_as_the_kernel(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ('meminfo', 'vmstat', 'zoneinfo', 'slabinfo', 'vmallocinfo', 'buddyinfo', 'pagetypeinfo'):
                with open(f'/proc/{name}', 'rb') as file, open(f'{folder}/{name}', 'wb') as copy:
                    copy.write(file.read())
            copy_slab_folder(f'{folder}/slab')
            result = snapshot('--from', folder)
            self.assertEqual(mmap.PAGESIZE, result['page_size'])
            self.assertEqual(0, result['unknown_lines_total'], result['unknown_lines'])
            live = snapshot()
            self.assertEqual([one['id'] for one in live['balance'] if one['counted']],
                             [one['id'] for one in result['balance'] if one['counted']])
            self.assertLess(abs(line(live, 'unaccounted') - line(result, 'unaccounted')), 4 * self.SLACK)

    def test_packet_ring(self):
        def take():
            ring = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            # struct tpacket_req: blocks of 64 KiB
            ring.setsockopt(263, 5, struct.pack('IIII', 1 << 16, 1024, 2048, 1024 * 32))
            return [ring]
        self.assert_taken(take, 64 * MIB)

    def test_pipes_are_found(self):
        def take():
            ends = []
            for _ in range(32):
                ends += (open(end, mode, buffering=0) for end, mode in zip(os.pipe(), ('rb', 'wb')))
                self.assertEqual(MIB, fcntl.fcntl(ends[-1], 1031, MIB))  # F_SETPIPE_SZ
                self.assertEqual(MIB, ends[-1].write(bytes(MIB)))
            return ends
        self.assert_taken(take, 32 * MIB)

    def test_perf_ring(self):
        def take():
            libc = ctypes.CDLL(None, use_errno=True)
            # struct perf_event_attr: PERF_TYPE_SOFTWARE, its size, PERF_COUNT_SW_DUMMY; disabled
            attr = ctypes.create_string_buffer(struct.pack('IIQQQQQ', 1, 112, 9, 0, 0, 0, 1).ljust(112, b'\0'))
            fd = libc.syscall(298, attr, 0, -1, -1, 0)
            if fd < 0:
                self.skipTest(f'no perf events: {os.strerror(ctypes.get_errno())}')
            ring = mmap.mmap(fd, 16 * MIB + mmap.PAGESIZE)
            os.close(fd)
            return [ring]
        self.assert_taken(take, 16 * MIB)

    def test_io_uring(self):
        """Rings with 16384 entries: each entry has a request of 64 bytes, two results of 16 bytes, and 4 bytes for
        ordering."""
        def take():
            libc = ctypes.CDLL(None, use_errno=True)
            rings = []
            for _ in range(8):
                fd = libc.syscall(425, 16384, ctypes.create_string_buffer(120))
                if fd < 0:
                    self.skipTest(f'no io_uring: {os.strerror(ctypes.get_errno())}')
                rings.append(open(fd, 'rb', buffering=0))
            return rings
        self.assert_taken(take, 8 * (16384 * 64 + 32768 * 16 + 16384 * 4))

    @beside_other_processes(3)
    def test_counted_memory_is_not_unaccounted(self):
        """Anonymous memory, tmpfs and page tables have separate lines, so they must not appear as unaccounted."""
        before, before_left = snapshot(), unaccounted()
        memory = mmap.mmap(-1, 64 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        shared = mmap.mmap(-1, 32 * MIB)
        for one in (memory, shared):
            for at in range(0, len(one), mmap.PAGESIZE):
                one[at] = 1
        refresh()
        after, after_left = snapshot(), unaccounted()
        memory.close()
        shared.close()
        self.assertGreater(line(after, 'user.anonymous') - line(before, 'user.anonymous'), 32 * MIB)
        self.assertAlmostEqual(32 * MIB, line(after, 'user.shmem') - line(before, 'user.shmem'), delta=self.SLACK)
        self.assertAlmostEqual(before_left, after_left, delta=self.SLACK)

    @beside_other_processes(3)
    def test_buffers_of_a_recording_have_a_separate_line(self):
        """The ring buffers must have their own line when compared with a snapshot without a recorder."""
        with tempfile.TemporaryDirectory() as folder:
            trace, alone = os.path.join(folder, 'trace.kmt'), os.path.join(folder, 'alone.kmt')
            subprocess.run([PROGRAM, 'snapshot', '-o', alone], check=True)
            subprocess.run([PROGRAM, 'record', '--backend', 'tracefs', '--buffer', '24M', '-d', '1s', '-o', trace],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            size = 24 * MIB * os.cpu_count()
            self.assertAlmostEqual(size, line(snapshot(trace), 'recorder'), delta=self.SLACK)
            done = subprocess.run([PROGRAM, 'diff', alone, trace, '--json'], stdout=subprocess.PIPE, check=True)
            changed = {one['id']: one['b'] - one['a'] for one in json.loads(done.stdout)['balance']
                   if None not in (one['a'], one['b'])}
            self.assertAlmostEqual(size, changed['recorder'], delta=self.SLACK)
            self.assertLess(abs(changed['unaccounted']), size / 2)

    @staticmethod
    def wait_until_larger(path):
        def size():
            return os.path.getsize(path) if os.path.exists(path) else 0
        before, end = size(), time.monotonic() + 60
        while size() == before:
            if time.monotonic() > end:
                raise AssertionError(f'{path} does not grow')
            time.sleep(0.01)

    def test_series_shows_what_grows(self):
        """A process keeps eight more pipes open for each snapshot. Their pages must appear as unaccounted memory."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'series.kmt')
            ends = []
            with subprocess.Popen([PROGRAM, 'snapshot', '--every', '200ms', '-o', path], stderr=subprocess.PIPE,
                                  encoding='utf-8') as series:
                for _ in range(24):
                    for _ in range(8):
                        ends += (open(one, mode, buffering=0) for one, mode in zip(os.pipe(), ('rb', 'wb')))
                        fcntl.fcntl(ends[-1], 1031, MIB)  # F_SETPIPE_SZ
                        ends[-1].write(bytes(MIB))
                    self.wait_until_larger(path)
                series.send_signal(signal.SIGINT)
                messages = series.communicate()[1]
            for one in ends:
                one.close()
            self.assertEqual(0, series.returncode, messages)
            done = subprocess.run([PROGRAM, 'leaks', path, '--json', '--limit', '0'], stdout=subprocess.PIPE,
                                  encoding='utf-8')
            result = json.loads(done.stdout)
            self.assertGreater(result['snapshots'], 16)
            self.assertTrue(result['finished'])
            self.assertEqual(0, result['damaged'])
            left_over = next(row for row in result['balance'] if row['name'] == 'unaccounted')
            self.assertIn(left_over['verdict'], ('certain', 'uneven'))  # other activity may make the growth uneven
            self.assertGreater(left_over['growth']['low'], result['threshold_bytes_per_s'])
            self.assertEqual(result['growth_found'], done.returncode == 1)
            rate = 8 * MIB * (result['snapshots'] - 1) / (result['elapsed_ns'][-1] / 1e9)
            self.assertAlmostEqual(rate, left_over['growth']['bytes_per_s'], delta=rate / 2)
            # A second decoder must read the same numbers.
            with open(path, 'rb') as file:
                samples = [sample for sample, _ in kmt_series.read(file.read())]
            free = [int(re.search(rb'MemFree: +([0-9]+)', sample.texts['meminfo'])[1]) * 1024 for sample in samples]
            done = subprocess.run([PROGRAM, 'report', path, '--json', '--limit', '0'], stdout=subprocess.PIPE, check=True)
            shown = json.loads(done.stdout)
            self.assertEqual(free, next(row['bytes'] for row in shown['balance'] if row['name'] == 'free.buddy'))
            self.assertEqual([sample.ticks for sample in samples], shown['elapsed_ns'])
            # Each further snapshot adds little to the file.
            alone = os.path.join(folder, 'alone.kmt')
            subprocess.run([PROGRAM, 'snapshot', '-o', alone], check=True)
            self.assertLess(os.path.getsize(path), os.path.getsize(alone) * result['snapshots'] / 4)
            for command in ('report', 'timeline', 'diff', 'snapshot'):
                self.assertEqual(0, subprocess.run([PROGRAM, command, path], stdout=subprocess.DEVNULL).returncode)


if __name__ == '__main__':
    unittest.main()
