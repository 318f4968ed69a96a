#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that leak kernel memory: each creates a given number of objects per second and frees none.

plants.py KIND [PER_SECOND [AFTER [OBJECTS]]]
KIND is a key of PLANTS, or `none` for a program that leaks nothing. The program prints "growing", and starts to leak
AFTER seconds later. It stops at OBJECTS objects, prints "held", and keeps them."""
import ctypes
import fcntl
import mmap
import os
import platform
import queue
import resource
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple

LIBC = ctypes.CDLL(None, use_errno=True)
SYSCALLS = {  # system call numbers on x86_64, aarch64, s390x and i686
    'add_key': (248, 217, 278, 286), 'timer_create': (222, 107, 254, 259), 'bpf': (321, 280, 351, 357),
    'io_uring_setup': (425, 425, 425, 425), 'io_setup': (206, 0, 243, 245), 'perf_event_open': (298, 241, 331, 336),
    'fanotify_init': (300, 262, 332, 338), 'userfaultfd': (323, 282, 355, 374),
}
MACHINES = ('x86_64', 'aarch64', 's390x', 'i686')
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000


def checked(result, what):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f'{what}: {os.strerror(error)}')
    return result


def syscall(name, *arguments):
    return checked(LIBC.syscall(SYSCALLS[name][MACHINES.index(platform.machine())], *arguments), name)


def unshare(flags):
    checked(LIBC.unshare(flags), 'unshare')


def own_tmpfs():
    """Mounts a tmpfs in a mount namespace of this process, so that the kernel removes it when the process ends."""
    ms_private, ms_rec = 1 << 18, 1 << 14
    unshare(CLONE_NEWNS)
    checked(LIBC.mount(b'none', b'/', None, ms_private | ms_rec, None), 'mount')
    checked(LIBC.mount(b'tmpfs', b'/mnt', b'tmpfs', 0, None), 'mount')
    return '/mnt'


# -- makers: a maker returns a function that creates one object; its argument is the number of earlier objects ----------

def each(make):
    """Returns a maker for objects that need no preparation."""
    return lambda: make


def of_libc(name, *arguments):
    return each(lambda _: checked(getattr(LIBC, name)(*arguments), name))


def pipe_data(_):
    pipe = os.pipe()
    os.write(pipe[1], bytes(32 << 10))
    return pipe


def packet_ring(_):
    ring = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sol_packet, packet_rx_ring, block, blocks, frame = 263, 5, 8192, 4, 2048
    ring.setsockopt(sol_packet, packet_rx_ring, struct.pack('IIII', block, blocks, frame, block * blocks // frame))
    return ring


def unread_datagrams():
    held = []

    def make(number):
        if number % 8 == 0:
            held.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        return held[-1][0].send(bytes(900))
    return make


def tcp_connections():
    server = socket.create_server(('127.0.0.1', 0), backlog=64)
    return lambda _: (socket.create_connection(server.getsockname()), server.accept())


def keys():
    process_keyring = -2

    def make(number):
        text = f'kmemtrace-plant-{os.getpid()}-{number}'.encode()
        return syscall('add_key', b'user', text, b'x' * 64, ctypes.c_size_t(64), process_keyring)
    return make


def messages():
    """Messages of SysV IPC that are never received, in a namespace that ends with the process."""
    size, in_a_queue, ipc_private = 900, 16, 0
    queues = []
    unshare(CLONE_NEWIPC)
    message = struct.pack('l', 1) + bytes(size)

    def make(number):
        if number % in_a_queue == 0:
            queues.append(checked(LIBC.msgget(ipc_private, 0o600), 'msgget'))
        return checked(LIBC.msgsnd(queues[-1], message, ctypes.c_size_t(size), 0), 'msgsnd')
    return make


def queues_of_children():
    """A new process for each object creates a message queue and ends. The queues stay in the namespace."""
    unshare(CLONE_NEWIPC)
    ipc_private = 0

    def make(_):
        if (child := os.fork()) == 0:
            os._exit(0 if LIBC.msgget(ipc_private, 0o600) >= 0 else 1)
        os.waitpid(child, 0)
    return make


def renamed_threads():
    """Four threads with names of their own send messages in turn."""
    make = messages()
    threads = [(queue.SimpleQueue(), queue.SimpleQueue()) for _ in range(4)]

    def serve(number, asked, answers):
        pr_set_name = 15
        LIBC.prctl(pr_set_name, f'worker-{number}'.encode(), 0, 0, 0)
        while True:
            answers.put(make(asked.get()))
    for number, (asked, answers) in enumerate(threads):
        threading.Thread(target=serve, args=(number, asked, answers), daemon=True).start()

    def ask(number):
        asked, answers = threads[number % len(threads)]
        asked.put(number)
        return answers.get()
    return ask


def semaphores():
    unshare(CLONE_NEWIPC)
    return lambda _: checked(LIBC.semget(0, 16, 0o600), 'semget')


def inotify_watches():
    folder = own_tmpfs()
    watcher = checked(LIBC.inotify_init1(0), 'inotify_init1')

    def make(number):
        name = f'{folder}/{number}'
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
        return checked(LIBC.inotify_add_watch(watcher, name.encode(), 0xFFF), 'inotify_add_watch')
    return make


def posix_timers():
    timers = []

    def make(_):
        timer = ctypes.c_int()
        syscall('timer_create', 1, None, ctypes.byref(timer))
        timers.append(timer)
    return make


def file_locks():
    file = tempfile.TemporaryFile()
    f_ofd_setlk, f_wrlck = 37, 1
    import fcntl

    def make(number):
        fcntl.fcntl(file, f_ofd_setlk, struct.pack('hhqqi', f_wrlck, 0, 10 * number, 1, 0) + bytes(4))
    return make


def xattrs():
    """Extended attributes of files in a tmpfs that ends with the process."""
    folder = own_tmpfs()
    open(f'{folder}/file', 'w').close()
    return lambda number: os.setxattr(f'{folder}/file', f'trusted.{number}', bytes(700))


def threads():
    threading.stack_size(64 << 10)
    ended = threading.Event()

    def make(_):
        thread = threading.Thread(target=ended.wait, daemon=True)
        thread.start()
        return thread
    return make


def zombies(_):
    child = os.fork()
    if child == 0:
        os._exit(0)
    return child


def small_mappings():
    """Mappings that the kernel cannot merge."""
    kinds = (mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE)
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return lambda number: mmap.mmap(-1, 4096, flags=private, prot=kinds[number % 2])


def page_tables():
    """Reads one byte in every 2 MiB of a mapping. Only the page tables grow, because all these pages are the zero page."""
    memory = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, 'MAP_NORESERVE', 0x4000),
                       prot=mmap.PROT_READ)
    return lambda number: memory[number << 21]


def bpf_map(kind, key, value, entries):
    def make(_):
        attributes = struct.pack('=IIIII', kind, key, value, entries, 0).ljust(128, b'\0')
        return syscall('bpf', 0, attributes, len(attributes))
    return each(make)


def bpf_elements():
    """Elements of a BPF hash map without preallocation. The kernel refills its list of free elements in irq_work."""
    create, update, no_prealloc, entries = 0, 2, 1, 1 << 20
    attributes = struct.pack('=IIIII', 1, 8, 512, entries, no_prealloc).ljust(128, b'\0')
    elements = syscall('bpf', create, attributes, len(attributes))
    value = ctypes.create_string_buffer(512)

    def make(number):
        key = ctypes.c_uint64(number)
        pair = struct.pack('=IIQQQ', elements, 0, ctypes.addressof(key), ctypes.addressof(value), 0).ljust(128, b'\0')
        return syscall('bpf', update, pair, len(pair))
    return make


def namespaces(flag, name):
    def make(_):
        unshare(flag)
        return os.open(f'/proc/self/ns/{name}', os.O_RDONLY)
    return each(make)


def mounts():
    folder = own_tmpfs()
    return lambda _: checked(LIBC.mount(b'tmpfs', folder.encode(), b'tmpfs', 0, b'size=4096'), 'mount')


def io_urings(_):
    parameters = ctypes.create_string_buffer(120)
    return syscall('io_uring_setup', 64, parameters)


def perf_events(_):
    attributes = struct.pack('=IIQ', 1, 112, 9).ljust(112, b'\0')  # PERF_TYPE_SOFTWARE, a dummy event
    return syscall('perf_event_open', attributes, 0, -1, -1, 0)


def perf_rings(number):
    event = perf_events(number)
    return event, mmap.mmap(event, 9 * 4096)


def network_devices():
    unshare(CLONE_NEWNET)

    def make(number):
        subprocess.run(['ip', 'link', 'add', f'veth{number}', 'type', 'veth', 'peer', f'peer{number}'], check=True)
    return make


def posix_queues():
    """Message queues without messages, in a namespace that ends with the process."""
    unshare(CLONE_NEWIPC)
    with open('/proc/sys/fs/mqueue/queues_max', 'w', encoding='ascii') as most:
        most.write('100000')
    libc = ctypes.CDLL('librt.so.1', use_errno=True)
    attributes = struct.pack('llll', 0, 1, 8, 0) + bytes(32)
    return lambda number: checked(libc.mq_open(f'/{number}'.encode(), os.O_CREAT | os.O_RDWR, 0o600, attributes), 'mq_open')


def open_files():
    """Files of a tmpfs that are deleted, but stay open."""
    folder = own_tmpfs()

    def make(number):
        file = os.open(f'{folder}/{number}', os.O_CREAT | os.O_RDWR)
        os.unlink(f'{folder}/{number}')
        return file
    return make


def epoll_items():
    poll = select.epoll()

    def make(_):
        event = LIBC.eventfd(0, 0)
        poll.register(event, select.EPOLLIN)
        return event
    return make


def unread_streams():
    held = []

    def make(number):
        if number % 32 == 0:
            held.append(socket.socketpair())
            held[-1][0].setblocking(False)
        return held[-1][0].send(bytes(2000))
    return make


def user_namespaces(_):
    """A child makes the namespace and ends, and this process keeps it open."""
    ready, done = os.pipe(), os.pipe()
    if (child := os.fork()) == 0:
        unshare(CLONE_NEWUSER)
        os.write(ready[1], b'a')
        os.read(done[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    namespace = os.open(f'/proc/{child}/ns/user', os.O_RDONLY)
    os.write(done[1], b'a')
    os.waitpid(child, 0)
    for end in ready + done:
        os.close(end)
    return namespace


def shared_memory():
    """Segments of System V shared memory that no process uses, in a namespace that ends with the process."""
    unshare(CLONE_NEWIPC)
    return lambda _: checked(LIBC.shmget(0, ctypes.c_size_t(4096), 0o600), 'shmget')


def signal_descriptors(_):
    return checked(LIBC.signalfd(-1, bytes(8), 0), 'signalfd')


def aio_contexts(_):
    return syscall('io_setup', 8, ctypes.byref(ctypes.c_ulong(0)))


def unaccepted():
    """Connections that wait in the backlog of a server."""
    server = socket.create_server(('127.0.0.1', 0), backlog=4096)
    return lambda _: socket.create_connection(server.getsockname())


def sent_descriptors():
    """Pipes that exist only in messages waiting to be received."""
    pairs = []

    def make(number):
        if number % 20 == 0:
            pairs.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        pipe = os.pipe()
        socket.send_fds(pairs[-1][0], [b'a'], pipe)
        for end in pipe:
            os.close(end)
    return make


def folders():
    folder = own_tmpfs()
    return lambda number: os.mkdir(f'{folder}/{number}')


def bpf_programs(_):
    code = ctypes.create_string_buffer(struct.pack('=BBhiBBhi', 0xb7, 0, 0, 0, 0x95, 0, 0, 0))  # r0 = 0; exit
    licence = ctypes.create_string_buffer(b'GPL')
    load, socket_filter = 5, 1
    attributes = struct.pack('=IIQQ', socket_filter, 2, ctypes.addressof(code), ctypes.addressof(licence)).ljust(128, b'\0')
    return syscall('bpf', load, attributes, len(attributes))


def file_flocks():
    folder = own_tmpfs()

    def make(_):
        file = os.open(f'{folder}/a', os.O_CREAT | os.O_RDWR)
        fcntl.flock(file, fcntl.LOCK_SH)
        return file
    return make


def big_pipes(_):
    pipe = os.pipe()
    set_pipe_size = 1031
    fcntl.fcntl(pipe[1], set_pipe_size, 256 << 10)
    return pipe


def network_tunnels():
    unshare(CLONE_NEWNET)
    set_interface, tun_without_header = 0x400454ca, 0x1001

    def make(number):
        tunnel = os.open('/dev/net/tun', os.O_RDWR)
        fcntl.ioctl(tunnel, set_interface, struct.pack('16sH22s', f't{number}'.encode(), tun_without_header, b''))
        return tunnel
    return make


def one_of_ten(_):
    """A busy program that opens ten sockets and closes nine of them."""
    for _ in range(9):
        socket.socket().close()
    return socket.socket()


class Plant(NamedTuple):
    maker: object
    names: str  # regular expression; a finding must name a kernel function or cache that matches
    per_second: float = 200
    in_children: bool = False  # true: child processes of the plant allocate the objects


# Each plant with the functions or caches that allocate its objects on Linux 5.10 to 7.x.
PLANTS = {
    'pipes': Plant(each(lambda _: os.pipe()), r'alloc_pipe_info|create_pipe_files|do_pipe2|__do_pipe_flags'),
    'sockets': Plant(each(lambda _: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)),
                     r'sk_prot_alloc|sk_alloc|sock_alloc|__sock_create|__sys_socket|unix_create|inet_create'),
    'epoll': Plant(each(lambda _: select.epoll()), r'ep_alloc|do_epoll_create|epoll_create'),
    'keys': Plant(keys, r'key_alloc|key_create|user_preparse|add_key'),
    'messages': Plant(messages, r'alloc_msg|load_msg|do_msgsnd|msgsnd'),
    # The next two plants allocate directly from the page allocator, with the orders 1 and 0.
    'rings': Plant(each(packet_ring), r'alloc_one_pg_vec_page|alloc_pg_vec|packet_set_ring', 100),
    'pipe_data': Plant(each(pipe_data), r'pipe_get_page|pipe_write'),
    'eventfds': Plant(of_libc('eventfd', 0, 0), r'eventfd'),
    'timerfds': Plant(of_libc('timerfd_create', 1, 0), r'timerfd_create'),
    'unread_datagrams': Plant(unread_datagrams, r'alloc_skb|sock_alloc_send|unix_dgram_sendmsg|kmalloc_reserve|skbuff'),
    'tcp_connections': Plant(tcp_connections, r'sk_prot_alloc|sk_alloc|sk_clone|tcp|sock_alloc|alloc_inode', 50),
    'semaphores': Plant(semaphores, r'newary|sem_alloc|ksys_semget|kvmalloc'),
    'inotify_watches': Plant(inotify_watches, r'inotify|fsnotify'),
    'posix_timers': Plant(posix_timers, r'posix_timer|timer_create|posix_timers_cache|alloc_posix_timer'),
    'file_locks': Plant(file_locks, r'locks_alloc|posix_lock_inode|file_lock_cache|fcntl_setlk'),
    'xattrs': Plant(xattrs, r'simple_xattr'),
    'threads': Plant(threads, r'copy_process|dup_task_struct|alloc_thread_stack|vmalloc|task_struct|create_io|clone', 50),
    'zombies': Plant(each(zombies), r'copy_process|dup_task_struct|alloc_pid|task_struct|copy_signal|copy_sighand', 50),
    'small_mappings': Plant(small_mappings, r'vm_area|mas_|mmap_region'),
    'page_tables': Plant(page_tables, r'pte_alloc|pmd_alloc|__pte_alloc|handle_mm_fault|pagetable', 100),
    'bpf_arrays': Plant(bpf_map(2, 4, 4096, 64), r'array_map_alloc|bpf_map_area|map_create', 20),
    'bpf_hashes': Plant(bpf_map(1, 4, 64, 256), r'htab_map_alloc|bpf_map_area|prealloc_init|map_create', 20),
    'bpf_percpu_arrays': Plant(bpf_map(6, 4, 512, 8), r'array_map_alloc|bpf_array_alloc_percpu|bpf_map_alloc_percpu|map_create|'
                               r'pcpu', 50),
    'bpf_elements': Plant(bpf_elements, r'bpf_mem_refill|alloc_bulk|__alloc|alloc_htab_elem|htab_map_update|bpf_map_'),
    'uts_namespaces': Plant(namespaces(CLONE_NEWUTS, 'uts'), r'copy_utsname|clone_uts_ns|uts_namespace|create_new_namespaces'),
    'ipc_namespaces': Plant(namespaces(CLONE_NEWIPC, 'ipc'), r'copy_ipcs|create_ipc_ns|ipc|mq_|create_new_namespaces', 20),
    'net_namespaces': Plant(namespaces(CLONE_NEWNET, 'net'), r'copy_net_ns|net_alloc|setup_net|ops_init|_net_init|net_namespace|'
                            r'create_new_namespaces', 5),
    'queues_of_children': Plant(queues_of_children, r'newque|ksys_msgget|msgget|ipcget|kvmalloc', 50, True),
    'renamed_threads': Plant(renamed_threads, r'alloc_msg|load_msg|do_msgsnd|msgsnd'),
    'mounts': Plant(mounts, r'alloc_vfsmnt|vfs_create_mount|alloc_super|sget|shmem|mount|pcpu', 20),
    'io_urings': Plant(each(io_urings), r'io_uring|io_ring_ctx|io_create_region|io_allocate|io_pages', 20),
    'perf_rings': Plant(each(perf_rings), r'perf_mmap|rb_alloc|perf_event_alloc|ring_buffer', 20),
    'memory_files': Plant(each(lambda _: os.memfd_create('plant')), r'memfd|shmem|alloc_inode|alloc_file|alloc_empty_file|__d_alloc'),
    'posix_queues': Plant(posix_queues, r'mqueue|mq_open|do_mq_open', 100),
    'open_files': Plant(open_files, r'alloc_empty_file|alloc_file|path_openat|shmem|filp'),
    'epoll_items': Plant(epoll_items, r'ep_insert|eventfd|eventpoll|do_epoll_ctl'),
    'unread_streams': Plant(unread_streams, r'alloc_skb|sock_alloc_send|unix_stream_sendmsg|kmalloc_reserve|skbuff'),
    'user_namespaces': Plant(each(user_namespaces), r'create_user_ns|unshare_userns|user_namespace|ucounts|alloc_ucounts', 20, True),
    'pseudo_terminals': Plant(each(lambda _: os.openpty()), r'alloc_tty_struct|tty_|n_tty|pty_|vmalloc', 20),
    'shared_memory': Plant(shared_memory, r'newseg|shmget|shmem|ipcget'),
    'signal_descriptors': Plant(each(signal_descriptors), r'signalfd|anon_inode|alloc_empty_file|alloc_file', 300),
    'netlink_sockets': Plant(each(lambda _: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)),
                             r'netlink|sk_prot_alloc|sk_alloc|sock_alloc'),
    'aio_contexts': Plant(each(aio_contexts), r'aio|ioctx|io_setup|kioctx', 50),
    'unaccepted': Plant(unaccepted, r'sk_|tcp|sock_alloc|alloc_inode|request_sock', 50),
    'sent_descriptors': Plant(sent_descriptors, r'pipe|scm|unix|skb|alloc_file'),
    'folders': Plant(folders, r'shmem|d_alloc|alloc_inode|dentry|mkdir|simple', 500),
    'bpf_programs': Plant(each(bpf_programs), r'bpf', 100),
    'process_descriptors': Plant(each(lambda _: os.pidfd_open(os.getpid())), r'pidfd|alloc_file|alloc_empty_file|filp', 500),
    'file_flocks': Plant(file_flocks, r'flock|locks_alloc|file_lock|alloc_empty_file|path_openat', 300),
    'big_pipes': Plant(each(big_pipes), r'pipe', 50),
    'network_tunnels': Plant(network_tunnels, r'tun|netdev|alloc', 10),
    'perf_events': Plant(each(perf_events), r'perf_event|anon_inode|alloc_file'),
    'user_faults': Plant(each(lambda _: syscall('userfaultfd', 1 | os.O_NONBLOCK)), r'userfault'),
    'packet_sockets': Plant(each(lambda _: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)), r'packet|sk_|sock_alloc'),
    'one_of_ten': Plant(each(one_of_ten), r'sk_|sock_alloc|alloc_inode|__sock_create|inet_create', 50),
    'network_devices': Plant(network_devices, r'alloc_netdev|rtnl_newlink|veth|register_netdev|neigh|inetdev|addrconf|fib', 5, True),
}


def main():
    kind = sys.argv[1]
    plant = PLANTS[kind] if kind != 'none' else Plant(each(lambda _: os.close(os.dup(1))), '')
    per_second = float(sys.argv[2]) if len(sys.argv) > 2 and float(sys.argv[2]) > 0 else plant.per_second
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    make = plant.maker()
    held = []
    print('growing', flush=True)
    time.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 0)
    begin = time.monotonic()
    objects = int(sys.argv[4]) if len(sys.argv) > 4 else sys.maxsize
    while True:
        if len(held) == objects:
            print('held', flush=True)
            time.sleep(3600)
        # After a delay on a busy machine, do not catch up: the growth would then have steps.
        time.sleep(1 / per_second)
        try:
            held.append(make(len(held)))
        except OSError as error:
            print(f'{len(held)} are held, after {time.monotonic() - begin:.1f} s: {error}', file=sys.stderr)
            time.sleep(3600)


if __name__ == '__main__':
    main()
