#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs whose kernel memory grows, for the tests of `investigate`. Each opens some objects per second and keeps them
open.

growth_plants.py KIND [PER_SECOND [AFTER]]
KIND is pipes, sockets, epoll, keys, messages, rings, pipe_data or none. The program prints "growing" and starts to
allocate AFTER that number of seconds."""
import ctypes
import os
import platform
import resource
import select
import socket
import struct
import sys
import time

# A correct finding must name one of these kernel functions, which create or allocate such an object.
CALL_SITES = {
    'pipes': r'alloc_pipe_info|create_pipe_files|do_pipe2|__do_pipe_flags',
    'sockets': r'sk_prot_alloc|sk_alloc|sock_alloc|__sock_create|__sys_socket|unix_create|inet_create',
    'epoll': r'ep_alloc|do_epoll_create|epoll_create',
    'keys': r'key_alloc|key_create|user_preparse|add_key',
    'messages': r'alloc_msg|load_msg|do_msgsnd|msgsnd',
    # These are allocated directly from the page allocator, with order 1 and 0.
    'rings': r'alloc_one_pg_vec_page|alloc_pg_vec|packet_set_ring',
    'pipe_data': r'pipe_get_page|pipe_write',
}
ADD_KEY = {'x86_64': 248, 'aarch64': 217, 's390x': 278, 'i686': 286}


def hold_pipe(_):
    return os.pipe()


def hold_socket(_):
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def hold_epoll(_):
    return select.epoll()


def hold_ring(_):
    ring = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    packet_rx_ring = 5
    block, blocks, frame = 8192, 4, 2048
    ring.setsockopt(263, packet_rx_ring, struct.pack('IIII', block, blocks, frame, block * blocks // frame))  # SOL_PACKET
    return ring


def hold_pipe_data(_):
    pipe = os.pipe()
    os.write(pipe[1], bytes(32 << 10))
    return pipe


def make_key_holder():
    libc = ctypes.CDLL(None, use_errno=True)
    process_keyring = -2

    def hold_key(number):
        text = f'kmemtrace-plant-{os.getpid()}-{number}'.encode()
        if libc.syscall(ADD_KEY[platform.machine()], b'user', text, b'x' * 64, ctypes.c_size_t(64), process_keyring) < 0:
            raise OSError(ctypes.get_errno(), 'add_key')
        return number

    return hold_key


def make_message_holder():
    """SysV IPC messages that are never received. Their IPC namespace ends with the process."""
    libc = ctypes.CDLL(None, use_errno=True)
    clone_newipc, ipc_private, size, in_a_queue = 0x08000000, 0, 900, 16
    queues = []

    def check(result, what):
        if result < 0:
            raise OSError(ctypes.get_errno(), what)
        return result

    check(libc.unshare(clone_newipc), 'unshare')
    message = struct.pack('l', 1) + bytes(size)

    def hold_message(number):
        if number % in_a_queue == 0:
            queues.append(check(libc.msgget(ipc_private, 0o600), 'msgget'))
        return check(libc.msgsnd(queues[-1], message, ctypes.c_size_t(size), 0), 'msgsnd')

    return hold_message


def main():
    kind = sys.argv[1]
    per_second = float(sys.argv[2]) if len(sys.argv) > 2 else 200
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    makers = {'keys': make_key_holder, 'messages': make_message_holder}
    hold = makers[kind]() if kind in makers else {
        'pipes': hold_pipe, 'sockets': hold_socket, 'epoll': hold_epoll, 'rings': hold_ring, 'pipe_data': hold_pipe_data,
        'none': lambda _: os.close(os.dup(1))}[kind]
    held = []
    print('growing', flush=True)
    time.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 0)
    begin = time.monotonic()
    while True:
        # Delays on a busy machine are not caught up in bursts: the growth would then look like steps.
        time.sleep(1 / per_second)
        try:
            held.append(hold(len(held)))
        except OSError:
            print(f'{len(held)} are held, after {time.monotonic() - begin:.1f} s', file=sys.stderr)
            time.sleep(3600)


if __name__ == '__main__':
    main()
