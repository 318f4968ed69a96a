# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders of at most 1 MiB that make a reader do far more work or use far more memory than their size suggests. Each
folder has a function that fills an empty folder."""
import os
import struct

import lttng_writer
import relay_files
from kmemtrace import data


def put(folder, name, content):
    with open(os.path.join(folder, name), 'wb') as file:
        file.write(content)


def relay(abi, change, count=16000):
    """Writes relay records that `change` makes different from each other."""
    def write(folder):
        events = relay_files.events(count, cpus=1, long_bytes=8)
        put(folder, 'cpu0.out', b''.join(relay_files.record(abi, event._replace(**change(number)))
                                         for number, event in enumerate(events)))
    return write


KMALLOC = ('kmem_kmalloc', [('unsigned long call_site', 'L'), ('unsigned long ptr', 'L'), ('unsigned long bytes_req', 'L'),
                            ('unsigned long bytes_alloc', 'L'), ('uint32_t gfp_flags', 'I')])
PER_CPU = {KMALLOC[0]: (1, KMALLOC[1])}


def ctf_packets(cpus, packets, lost):
    """Writes packets with one event each, and with lost events before the packet."""
    def write(folder):
        writer = lttng_writer.Writer(folder, PER_CPU)
        for cpu in range(cpus):
            for number in range(packets):
                writer.packet(cpu, [(1000 * (number + 1), KMALLOC[0], (1, 64 * number, 8, 8, 0))], lost, lost)
    return write


def ctf_events(count, fields):
    """Writes declarations of many events, of which only one occurs."""
    def write(folder):
        unused = [(f'unsigned long f{number}', 'L') for number in range(fields)]
        events = dict(PER_CPU, **{f'e{number}': (number + 2, unused) for number in range(count)})
        lttng_writer.Writer(folder, events).packet(0, [(1000, KMALLOC[0], (1, 64, 8, 8, 0))])
    return write


def ctf_nested(depth):
    def write(folder):
        ctf_packets(1, 1, 0)(folder)
        with open(os.path.join(folder, 'metadata'), 'a', encoding='ascii') as file:
            file.write('typealias ' + 'struct { ' * depth + 'uint8_t a;' + ' } b;' * (depth - 1) + ' } := deep;\n')
    return write


def copies(**texts):
    """Writes copies of /proc files; `texts` replaces the content of some."""
    def write(folder):
        for name in ('meminfo', 'slabinfo', 'buddyinfo', 'vmstat'):
            with open(data(f'snapshot/amd64/before/{name}'), 'rb') as file:
                put(folder, name, file.read())
        for name, text in texts.items():
            put(folder, name, text)
    return write


def lines(text, count):
    return b''.join(text % {b'n': number} for number in range(count))


with open(data('snapshot/amd64/before/meminfo'), 'rb') as whole:
    MEMINFO = whole.read()
SLAB_LINE = b'c%(n)d 1 2 3 4 5 : tunables 0 0 0 : slabdata 1 1 0\n'
TRACES = {
    'relay_cpus': relay('v3-64-le', lambda number: {'cpu': number % 8192}),
    'relay_numbers': relay('v2-le', lambda number: {'number': number * 7919 % 2**31}),
    'relay_call_sites': relay('v2-le', lambda number: {'call_site': number << 12}),
    'relay_times': relay('v3-64-le', lambda number: {'time': number * 7919 % 16000 << 40}),
    'ctf_packets': ctf_packets(1, 6000, 3),
    'ctf_cpus': ctf_packets(2000, 2, 1000),
    'ctf_events': ctf_events(8000, 1),
    'ctf_fields': ctf_events(1, 25000),
    'ctf_most_fields': ctf_events(16, 2000),
    'ctf_too_many_fields': ctf_events(40, 1000),
    'ctf_nested': ctf_nested(40000),
}
COPIES = {
    'caches': copies(slabinfo=b'slabinfo - version: 2.1\n# name\n' + lines(SLAB_LINE, 16000)),
    'memory_lines': copies(meminfo=MEMINFO + lines(b'M%(n)d: 1 kB\n', 60000)),
    'zones': copies(buddyinfo=lines(b'Node %(n)d, zone Normal 1 1 1\n', 30000)),
    'orders': copies(buddyinfo=b'Node 0, zone Normal' + b' 1' * 500000 + b'\n'),
    'allocation_places': copies(allocinfo=b'allocinfo - version: 1.0\n# <size> <calls> <tag info>\n' +
                                lines(b'8 1 a.c:%(n)d func:f\n', 40000)),
    'areas': copies(vmallocinfo=lines(b'0x%(n)016x-0x%(n)016x 4096 f+0x1/0x2 pages=1\n', 16000)),
    'migrate_types': copies(pagetypeinfo=lines(b'Number of blocks type ' + b'A%(n)d B%(n)d C%(n)d D%(n)d\n', 15000)),
    'uname': copies(uname=struct.pack('1000000s', b'Linux')),
}
