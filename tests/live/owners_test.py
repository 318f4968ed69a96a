#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that `snapshot` names the owners of unaccounted memory on the running kernel, with the right bytes. Also checks
that a census of page frames is stored in a snapshot."""
import ctypes
import fcntl
import json
import mmap
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

from memory_counters import beside_other_processes, refresh

PROGRAM = os.environ.get('KMEMTRACE', '')
MIB = 1 << 20
PAGE = mmap.PAGESIZE
LIBC = ctypes.CDLL(None, use_errno=True)
SYS_BPF, SYS_PERF_EVENT_OPEN, SYS_IO_URING_SETUP = 321, 298, 425
# A packet socket with a ring of 4 MiB, which waits until its input ends.
RING = '''
import socket, struct, sys
ring = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
ring.setsockopt(263, 5, struct.pack('IIII', 1 << 16, 64, 2048, 64 * 32))
print('ready', flush=True)
sys.stdin.read()
'''


def why_not_live():
    return None if os.geteuid() == 0 else 'not root'


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments, '--json', '--limit', '0'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding='utf-8', check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def snapshot(*arguments):
    return run('snapshot', *arguments)


def line(result, name):
    return next(one['bytes'] for one in result['balance'] if one['id'] == name)


def owners(result, kind, part):
    return [one for one in result['owners'] if one['kind'] == kind and part in one['name']]


def own():
    return f'(pid {os.getpid()})'


def system_call(number, *arguments):
    fd = LIBC.syscall(number, *arguments)
    if fd < 0:
        raise unittest.SkipTest(f'not permitted here: {os.strerror(ctypes.get_errno())}')
    return fd


def bpf_map(kind, key, value, entries, name):
    attributes = ctypes.create_string_buffer(struct.pack('IIIIIII16s', kind, key, value, entries, 0, 0, 0, name), 72)
    return os.fdopen(system_call(SYS_BPF, 0, attributes, 72), 'rb', buffering=0)


@unittest.skipIf(why_not_live() and not os.environ.get('KMEMTRACE_REQUIRE_LIVE'), why_not_live())
class Owners(unittest.TestCase):
    def only(self, kind, part=None):
        found = owners(snapshot(), kind, own() if part is None else part)
        self.assertEqual(1, len(found), found)
        return found[0]

    @beside_other_processes(3)
    def assert_owned(self, take, kind, part, size):
        """Checks that `take` lets the owner and unaccounted memory grow by `size`, and the rest not at all."""
        def measure():
            results = []
            for _ in range(3):
                refresh()
                results.append(snapshot())
            middle = sorted(results, key=lambda one: line(one, 'unaccounted'))[1]
            return (line(middle, 'unaccounted'), line(middle, 'unaccounted.rest'),
                    sum(one['bytes'] for one in owners(middle, kind, part)))
        before = measure()
        held = take()
        during = measure()
        for one in held:
            one.close()
        unaccounted, rest, owned = (b - a for a, b in zip(before, during))
        self.assertAlmostEqual(size, owned, delta=0.01 * size)
        self.assertAlmostEqual(size, unaccounted, delta=2 * MIB)
        self.assertAlmostEqual(0, rest, delta=2 * MIB)

    def test_remarks_divide_the_line(self):
        result = snapshot()
        owned = sum(one['bytes'] for one in result['owners'] if one['place'] == 'unaccounted')
        self.assertEqual(owned, next((one['bytes'] for one in result['balance'] if one['id'] == 'unaccounted.owned'), 0))
        self.assertEqual(line(result, 'unaccounted') - owned, line(result, 'unaccounted.rest'))
        self.assertEqual(len(result['owners']), len({(one['kind'], one['name']) for one in result['owners']}))

    def test_packet_ring(self):
        def take():
            ring = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            ring.setsockopt(263, 5, struct.pack('IIII', 1 << 16, 512, 2048, 512 * 32))
            return [ring]
        self.assert_owned(take, 'packet_ring', own(), 32 * MIB)

    def test_packet_ring_in_another_network_namespace(self):
        with subprocess.Popen(['unshare', '-n', sys.executable, '-c', RING], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            self.assertEqual('ready\n', process.stdout.readline())
            found = self.only('packet_ring', f'(pid {process.pid})')
            process.stdin.close()
        self.assertEqual((4 * MIB, 'exact', 'unaccounted'), (found['bytes'], found['exactness'], found['place']))

    def test_perf_ring(self):
        # struct perf_event_attr: PERF_TYPE_SOFTWARE, its size, PERF_COUNT_SW_DUMMY; disabled
        attr = ctypes.create_string_buffer(struct.pack('IIQQQQQ', 1, 112, 9, 0, 0, 0, 1).ljust(112, b'\0'))

        def take():
            file = os.fdopen(system_call(SYS_PERF_EVENT_OPEN, attr, 0, -1, -1, 0), 'rb', buffering=0)
            return [mmap.mmap(file.fileno(), 16 * MIB + PAGE), file]
        self.assert_owned(take, 'perf', own(), 16 * MIB)

    def test_pipes(self):
        def take():
            ends = []
            for _ in range(16):
                ends += (open(end, mode, buffering=0) for end, mode in zip(os.pipe(), ('rb', 'wb')))
                self.assertEqual(MIB, fcntl.fcntl(ends[-1], 1031, MIB))  # F_SETPIPE_SZ
                self.assertEqual(MIB, ends[-1].write(bytes(MIB)))
            return ends
        self.assert_owned(take, 'pipe', own(), 16 * MIB)

    def test_named_pipes(self):
        def take():
            folder = self.enterContext(tempfile.TemporaryDirectory())
            ends = []
            for number in range(8):
                path = os.path.join(folder, str(number))
                os.mkfifo(path)
                end = open(path, 'r+b', buffering=0)
                self.assertEqual(MIB, fcntl.fcntl(end, 1031, MIB))  # F_SETPIPE_SZ
                self.assertEqual(MIB, end.write(bytes(MIB)))
                ends += [end, open(path, 'rb', buffering=0)]  # a pipe with several descriptors counts once
            return ends
        self.assert_owned(take, 'pipe', own(), 8 * MIB)

    def test_a_pipe_has_no_more_readers_than_before(self):
        """A program that writes to a pipe must still get SIGPIPE if its reader closes the pipe."""
        reader, writer = os.pipe()
        os.write(writer, b'x')
        self.assertEqual(PAGE, self.only('pipe')['bytes'])
        os.close(reader)
        with self.assertRaises(BrokenPipeError):
            os.write(writer, b'x')
        os.close(writer)

    def test_io_uring(self):
        parameters = ctypes.create_string_buffer(120)  # struct io_uring_params
        with os.fdopen(system_call(SYS_IO_URING_SETUP, 128, parameters), 'rb', buffering=0):
            submissions, completions = struct.unpack_from('II', parameters)
            array, entries = (struct.unpack_from('I', parameters, at)[0] for at in (40 + 24, 80 + 20))  # sq_off, cq_off
            rings = max(array + 4 * submissions, entries + 16 * completions)
            expected = sum(-(-size // PAGE) * PAGE for size in (rings, 64 * submissions))
            self.assertEqual(expected, self.only('io_uring')['bytes'])

    def test_tracing_instance(self):
        folder = next((path for path in ('/sys/kernel/tracing', '/sys/kernel/debug/tracing')
                       if os.path.isdir(f'{path}/instances')), None)
        if not folder:
            self.skipTest('no tracefs')
        instance = f'{folder}/instances/kmemtrace-owners-test'
        cpus = len(os.listdir(f'{folder}/per_cpu'))

        class Instance:
            def close(self):
                os.rmdir(instance)

        def take():
            os.mkdir(instance)
            with open(f'{instance}/buffer_size_kb', 'w', encoding='ascii') as file:
                file.write('16384')
            return [Instance()]
        self.assert_owned(take, 'ftrace', 'kmemtrace-owners-test', 16 * MIB * cpus)

    def test_bpf_maps(self):
        with bpf_map(27, 0, 0, 8 * MIB, b'owners_ring'), bpf_map(2, 4, 4096, 1024, b'owners_array'):
            result = snapshot()
            [ring], [array] = owners(result, 'bpf_map', 'owners_ring'), owners(result, 'bpf_map', 'owners_array')
            self.assertIn(own(), ring['name'])
            self.assertEqual(('exact', 'unaccounted'), (ring['exactness'], ring['place']))
            self.assertAlmostEqual(8 * MIB, ring['bytes'], delta=64 << 10)
            self.assertEqual('counted_kernel', array['place'])
            self.assertAlmostEqual(4 * MIB, array['bytes'], delta=64 << 10)
            if shutil.which('bpftool'):
                peer = {one['name']: one['bytes_memlock']
                        for one in json.loads(subprocess.check_output(['bpftool', '-j', 'map', 'list'])) if 'name' in one}
                self.assertEqual(peer['owners_ring'] // PAGE * PAGE, ring['bytes'])
                self.assertEqual(peer['owners_array'], array['bytes'])

    def test_bpf_ring_is_unaccounted(self):
        self.assert_owned(lambda: [bpf_map(27, 0, 0, 16 * MIB, b'owners_big')], 'bpf_map', 'owners_big', 16 * MIB)

    @unittest.skipUnless(shutil.which('ss'), 'no ss')
    def test_sockets_agree_with_ss(self):
        first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with first, second:
            first.send(bytes(100_000))
            inodes = {str(os.fstat(one.fileno()).st_ino) for one in (first, second)}
            expected = 0
            for text in subprocess.check_output(['ss', '-xmaH', '-O'], encoding='utf-8').splitlines():
                if text.split()[5] in inodes:
                    expected += sum(int(number) for number in re.findall(r'(?:\(r|,t)(\d+)', text))
            found = self.only('socket')
            self.assertGreaterEqual(expected, 100_000)
            self.assertEqual((expected, 'partly_unaccounted'), (found['bytes'], found['place']))

    def test_other_users_see_what_is_missing(self):
        done = subprocess.run(['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', PROGRAM, 'snapshot',
                               '--json'], stdout=subprocess.PIPE, check=True)
        missing = [one['why'] for one in json.loads(done.stdout)['missing'] if one['source'] == 'owners']
        self.assertTrue([why for why in missing if 'no permission to read the descriptors of' in why], missing)
        self.assertEqual([], [one for one in snapshot()['missing'] if one['source'] == 'owners'])

    @beside_other_processes(3)
    def test_census_is_stored(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [f'{folder}/{name}.kmt' for name in 'ab']
            taken = snapshot('--pages', '-o', files[0])
            self.assertEqual(taken['pages'], snapshot(files[0])['pages'])
            # Memory of known size, in blocks of order 4.
            with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as ring:
                ring.setsockopt(263, 5, struct.pack('IIII', 1 << 16, 1024, 2048, 1024 * 32))
                subprocess.run([PROGRAM, 'snapshot', '--pages', '-o', files[1]], check=True)
            changes = run('diff', *files)
            [block] = [one for one in changes['page_blocks'] if one['name'] == 'other kernel pages, order 4']
            self.assertAlmostEqual(64 * MIB, block['b'] - block['a'], delta=MIB)
            kernel = [one for one in changes['page_blocks'] if one['name'].startswith(('other kernel', 'kernel or CPUs'))]
            self.assertEqual(*(sum(one['b'] - one['a'] for one in rows) for rows in (kernel, changes['page_flags'])))
            [ring] = [one for one in changes['owners'] if one['name'].startswith('packet rings') and own() in one['name']]
            self.assertEqual((0, 64 * MIB), (ring['a'], ring['b']))


if __name__ == '__main__':
    unittest.main(verbosity=2)
