#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads of a healthy machine: no load leaks kernel memory.

loads.py NAME FOLDER
runs the load NAME until it is killed. FOLDER must be empty, and only this load uses it. The program prints "running"
after the preparation, when the load starts."""
import collections
import concurrent.futures
import ctypes
import mmap
import os
import queue
import random
import resource
import select
import socket
import subprocess
import sys
import tempfile
import time

BUILD = ('for i in 1 2 3; do printf "#include <stdio.h>\\n#include <stdlib.h>\\nint f%d(int a){return a*%d;}\\n" '
         '$i $i > f$i.c; cc -O2 -c f$i.c -o f$i.o 2>/dev/null || cat f$i.c > f$i.o; done; cat f*.o > all.o; '
         'find /usr/include -name "*.h" | head -200 | xargs cat | sort | tail -1 > out.txt; rm -f f*.o')
FRESH_EXT4 = ('truncate -s 512M ext4.img && mkfs.ext4 -q -N 60000 ext4.img && mkdir -p mnt && mount -o loop ext4.img mnt && '
              'cp -r /usr/include /usr/share/perl /usr/lib/python3 mnt/ 2>/dev/null; umount mnt && mount -o loop ext4.img mnt')

# Shell commands: (preparation, commands that are repeated).
SHELL = {
    'idle': ('', 'sleep 1'),
    'build': ('', BUILD),
    'ls_fresh_ext4': (FRESH_EXT4, 'ls -lR mnt > out.txt; sleep 1'),
    'find_root': ('', 'find / -xdev -ls > /dev/null 2>&1'),
    'git': ('git init -q r && cd r && for i in $(seq 300); do echo $i > f$i; done && git add . && '
            'git -c user.name=a -c user.email=a@b commit -qm 1 && cd ..',
            'rm -rf c && git clone -q --no-local r c && cd c && echo $RANDOM >> f1 && '
            'git -c user.name=a -c user.email=a@b commit -qam 2 && git status > /dev/null && cd ..'),
    'tar': ('', 'tar cf a.tar /usr/include 2>/dev/null; tar xf a.tar; rm -rf usr a.tar'),
    'fork_storm': ('', 'for i in $(seq 50); do (exec /bin/true) & done; wait'),
    'dd_write': ('', 'dd if=/dev/zero of=a bs=1M count=200 2>/dev/null; sync; dd if=/dev/zero of=b bs=1M count=200 2>/dev/null; '
                 'rm a b'),
    'page_cache': ('dd if=/dev/urandom of=big bs=1M count=600 2>/dev/null; sync; echo 1 > /proc/sys/vm/drop_caches',
                   'dd if=big of=/dev/null bs=64k 2>/dev/null; sleep 1'),
    'mount_loop': ('mkdir m', 'mount -t tmpfs none m && touch m/a && umount m'),
    'loop_mounts': (FRESH_EXT4 + '; umount mnt', 'mount -o loop ext4.img mnt && ls mnt > /dev/null && umount mnt'),
    'cgroup_loop': ('', 'mkdir /sys/fs/cgroup/kmemtrace-$$ && rmdir /sys/fs/cgroup/kmemtrace-$$'),
    'namespace_loop': ('', 'unshare -n -u -i -m true'),
    'gzip': ('', 'cat /usr/bin/* 2>/dev/null | head -c 20000000 | gzip -1 | gunzip | sha256sum > sum'),
    'sort': ('', 'seq 400000 | sort -R | sort -n | tail -1 > out'),
    'database': ('', 'sqlite3 a.db "create table if not exists t(a, b); insert into t select value, hex(randomblob(100)) from '
                 'generate_series(1, 2000); delete from t where rowid % 2 = 0;" 2>/dev/null || '
                 'for i in $(seq 100); do echo $i > d$i; done; sync'),
    'copy_tree': ('', 'cp -r /usr/include copy; rm -rf copy'),
    'install_files': ('', 'cp -r /usr/share/perl new; sync; rm -rf old; mv inst old 2>/dev/null; mv new inst'),
    'python_imports': ('', 'python3 -c "import asyncio, json, email.message, http.server, sqlite3, unittest"'),
    'containers': ('', 'unshare -n -u -i -m -p -f sh -c "mount -t tmpfs none /mnt && ip link add v type veth peer p; '
                   'ip link set lo up; echo a > /mnt/a; sleep 0.2"'),
    'job_bursts': ('', 'for i in $(seq 40); do (sleep 0.$i; date > d$i) & done; wait; sleep 1.5'),
    'log_rotation': ('', 'for i in $(seq 2000); do echo "a line of the log, number $i" >> log; done; mv log.1 log.2 2>/dev/null; '
                     'gzip -c log > log.1; rm -f log log.2'),
    'packages': ('', 'apt-cache dumpavail > a 2>/dev/null; dpkg -l > b; dpkg -S /bin/ls > c'),
    'ext4_copies': ('truncate -s 512M e.img && mkfs.ext4 -q e.img && mkdir mnt && mount -o loop e.img mnt',
                    'cp -r /usr/share/doc mnt/ 2>/dev/null; rm -rf mnt/doc; sync'),
    'ext4_new_files': ('truncate -s 1G e.img && mkfs.ext4 -q -N 400000 e.img && mkdir mnt && mount -o loop e.img mnt',
                       'd=mnt/$(date +%N); mkdir $d; for i in $(seq 400); do : > $d/$i; done'),
    'overlay': ('mkdir l u w m', 'mount -t overlay o -o lowerdir=/usr/share,upperdir=u,workdir=w m 2>/dev/null && '
                'find m > /dev/null; umount m'),
    'long_pipes': ('', 'seq 3000000 | cat | cat | cat | wc -l > n'),
    'read_proc': ('', 'sysctl -a > s 2>/dev/null; find /proc /sys -maxdepth 3 > f 2>/dev/null; '
                  'cat /proc/[0-9]*/status /proc/slabinfo /proc/vmallocinfo > p 2>/dev/null'),
    'direct_writes': ('', 'dd if=/dev/zero of=a bs=1M count=300 oflag=direct 2>/dev/null; cat a > /dev/null; rm a'),
    'xz': ('', 'head -c 30000000 /dev/urandom | xz -0 -T2 > x'),
    'veth_loop': ('', 'unshare -n sh -c "for i in 1 2 3; do ip link add v type veth peer q; ip link set v up; ip link del v; done"'),
}


# Each function below prepares its load, yields once, and then runs the load in an endless loop.

def negative_dentries(folder):
    number = 0
    yield
    while True:
        for _ in range(200):
            number += 1
            os.path.exists(f'{folder}/none-{number}')
        time.sleep(0.02)


def steady_churn(_):
    """Frees as many pipes as it allocates. Each pipe lives for about 40 s, which is longer than a recording."""
    pipes = collections.deque(os.pipe() for _ in range(2000))
    yield
    while True:
        for end in pipes.popleft():
            os.close(end)
        pipes.append(os.pipe())
        time.sleep(0.02)


def steady_children(_):
    """Keeps 300 processes and replaces the oldest about 20 times a second. Each one lives for more than 12 s."""
    children = collections.deque(subprocess.Popen(['sleep', '3600']) for _ in range(300))
    yield
    while True:
        replace_oldest(children)


def starting_children(_):
    """Starts many processes within two seconds, after a pause. From then on, each new process replaces the oldest, so
    processes live for about two seconds."""
    yield
    time.sleep(3)
    children = collections.deque(subprocess.Popen(['sleep', '3600']) for _ in range(5))
    end = time.monotonic() + 2
    while time.monotonic() < end:
        children.append(subprocess.Popen(['sleep', '3600']))
        subprocess.run(['true'], check=False)
        time.sleep(0.04)
    while True:
        replace_oldest(children)


def replace_oldest(children):
    children[0].kill()
    children.popleft().wait()
    children.append(subprocess.Popen(['sleep', '3600']))
    subprocess.run(['true'], check=False)
    time.sleep(0.04)


def sawtooth(_):
    yield
    while True:
        pipes = [end for _ in range(300) for end in os.pipe() if not time.sleep(0.004)]
        for end in pipes:
            os.close(end)


def startup_burst(_):
    """A service that allocates memory when it starts, and then only uses this memory."""
    sockets = []
    yield
    for _ in range(400):
        sockets.append(socket.socket())
        time.sleep(0.004)
    while True:
        for one in sockets:
            one.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)
        time.sleep(0.1)


def connections(_):
    server = socket.create_server(('127.0.0.1', 0), backlog=64)
    yield
    while True:
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        client.sendall(bytes(4000))
        accepted.recv(4096)
        client.close()
        accepted.close()
        time.sleep(0.002)


def user_memory(_):
    """A mapping that grows and shrinks, and its page tables with it."""
    yield
    while True:
        blocks = []
        for _ in range(40):
            blocks.append(bytearray(4 << 20))
            time.sleep(0.03)


def sqlite_inserts(folder):
    import sqlite3
    database = sqlite3.connect(f'{folder}/a.db')
    database.execute('create table t(a, b)')
    yield
    while True:
        database.executemany('insert into t values(?, ?)', [(number, 'x' * 100) for number in range(200)])
        database.commit()
        time.sleep(0.01)


def open_connections(_):
    """A server with 200 clients at any time. Each client stays for a few seconds."""
    server = socket.create_server(('127.0.0.1', 0), backlog=64)

    def connect():
        client = socket.create_connection(server.getsockname())
        return client, server.accept()[0]
    pairs = collections.deque(connect() for _ in range(200))
    yield
    while True:
        for end in pairs.popleft():
            end.close()
        pairs.append(connect())
        pairs[-1][0].sendall(bytes(20000))
        pairs[-1][1].recv(4096)
        time.sleep(0.02)


def tmpfs_files(_):
    folder = tempfile.mkdtemp(prefix='kmemtrace-truth-', dir='/dev/shm')
    with open(os.path.join(folder, 'a'), 'wb') as file:
        os.unlink(file.name)
        os.rmdir(folder)
        yield
        while True:
            for _ in range(50):
                file.write(bytes(100000))
                time.sleep(0.01)
            file.seek(0)
            file.truncate()


def mmap_churn(_):
    yield
    maps = collections.deque()
    while True:
        maps.append(mmap.mmap(-1, 1 << 20))
        maps[-1][0] = 1
        if len(maps) > 100:
            maps.popleft().close()
        time.sleep(0.002)


def inotify_churn(folder):
    """Watches of files that are created and removed."""
    libc = ctypes.CDLL(None)
    watcher = libc.inotify_init1(0)
    yield
    number = 0
    while True:
        name = f'{folder}/{number % 50}'.encode()
        with open(name, 'wb'):
            watch = libc.inotify_add_watch(watcher, name, 0xFFF)
        libc.inotify_rm_watch(watcher, watch)
        os.unlink(name)
        if number % 50 == 0:
            os.read(watcher, 1 << 16)
        number += 1
        time.sleep(0.004)


def steady_descriptors(_):
    """Event descriptors that live for some seconds, in a steady state from before the recording."""
    libc = ctypes.CDLL(None)
    held = collections.deque(libc.eventfd(0, 0) for _ in range(1500))
    yield
    while True:
        os.close(held.popleft())
        held.append(libc.eventfd(0, 0))
        time.sleep(0.003)


def restarted_service(_):
    """A service that opens many sockets, and is started again every three seconds."""
    yield
    while True:
        if (child := os.fork()) == 0:
            sockets = [socket.socket() for _ in range(500)]
            time.sleep(3)
            os._exit(len(sockets) % 2)
        os.waitpid(child, 0)


def thread_pool(_):
    """Threads that are started on demand, up to a limit."""
    work = queue.SimpleQueue()
    yield
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        while True:
            work.put(pool.submit(time.sleep, 0.05))
            if work.qsize() > 64:
                work.get().result()


def udp_flood(_):
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(('127.0.0.1', 0))
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    yield
    while True:
        for _ in range(50):
            sender.sendto(bytes(1000), receiver.getsockname())
        for _ in range(50):
            receiver.recv(2000)


def tcp_stream(_):
    server = socket.create_server(('127.0.0.1', 0))
    client = socket.create_connection(server.getsockname())
    receiver, _ = server.accept()
    yield
    if os.fork() == 0:
        while True:
            client.sendall(bytes(1 << 16))
    while True:
        receiver.recv(1 << 16)
        time.sleep(0.0005)


def growing_heap(_):
    """The memory of the program itself grows."""
    yield
    blocks = []
    while True:
        blocks.append(bytearray(1 << 20))
        time.sleep(0.03)
        if len(blocks) > 1500:
            blocks.clear()


def queue_length(_):
    """A queue whose length varies at random."""
    sender, receiver = socket.socketpair()
    yield
    length = 0
    while True:
        if length == 0 or (length < 100 and random.random() < 0.5):
            sender.send(bytes(1000))
            length += 1
        else:
            receiver.recv(1000)
            length -= 1
        time.sleep(0.001)


def epoll_churn(_):
    yield
    while True:
        pipes = [os.pipe() for _ in range(30)]
        with select.epoll() as poll:
            for read_end, _ in pipes:
                poll.register(read_end)
            time.sleep(0.01)
        for ends in pipes:
            for end in ends:
                os.close(end)


def growing_file(folder):
    yield
    with open(f'{folder}/log', 'wb') as file:
        while True:
            file.write(bytes(500000))
            time.sleep(0.01)
            if file.tell() > 2 << 30:
                file.truncate(0)
                file.seek(0)


PYTHON = {one.__name__: one for one in
          (negative_dentries, steady_churn, steady_children, starting_children, sawtooth, startup_burst, connections, user_memory,
           sqlite_inserts, open_connections, tmpfs_files, mmap_churn, inotify_churn, steady_descriptors, restarted_service,
           thread_pool, udp_flood, tcp_stream, growing_heap, queue_length, epoll_churn, growing_file)}
NAMES = (*SHELL, *PYTHON)


def main():
    name, folder = sys.argv[1:3]
    os.chdir(folder)
    if name in SHELL:
        prepare, repeated = SHELL[name]
        if prepare:
            subprocess.run(['sh', '-c', prepare], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print('running', flush=True)
        os.execlp('sh', 'sh', '-c', f'while :; do {repeated}; done')
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65536), most))
    load = PYTHON[name](folder)
    next(load)
    print('running', flush=True)
    next(load)


if __name__ == '__main__':
    main()
