#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a series of snapshots of a made-up machine, every 10 s for a week, with planted events. Does not use
the project's writer: every sample is complete.

  week_series.py FILE.kmt [SAMPLES [KERNEL [leak|none]]]
Prints what was planted, as JSON: the memory that leaks, and the numbers of the samples with events."""
import json
import random
import struct
import sys

from kmt_writer import INDEX, FACTS, chunk, text, varint

STATE = 6
INTERVAL_NS = 10_000_000_000
START_NS = 1_790_000_000_000_000_000
WEEK = 60_480
PAGE = 4096
LEAK = 'kmalloc-192'
SLABS = {'kmalloc-192': (192, 21), 'kmalloc-512': (512, 8), 'task_struct': (6400, 5)}  # object size, objects per slab


def meminfo(slab, available, anonymous, wobble):
    total = 16 << 30
    numbers = {'MemTotal': total, 'MemFree': total - (2 << 30) - slab - anonymous - wobble, 'MemAvailable': available,
               'Buffers': 64 << 20, 'Cached': 1 << 30, 'SwapCached': 0, 'Active': 1 << 30, 'Inactive': 1 << 29,
               'Active(anon)': anonymous, 'Inactive(anon)': 0, 'AnonPages': anonymous, 'Mapped': 1 << 27, 'Shmem': 1 << 24,
               'KReclaimable': 1 << 27, 'Slab': slab + (1 << 27), 'SReclaimable': 1 << 27, 'SUnreclaim': slab,
               'KernelStack': 16 << 20, 'PageTables': 32 << 20, 'VmallocTotal': 1 << 45, 'VmallocUsed': 48 << 20,
               'VmallocChunk': 0, 'Percpu': 8 << 20}
    return ''.join(f'{name + ":":<16}{size // 1024:>8} kB\n' for name, size in numbers.items())


def slabinfo(objects):
    lines = ['slabinfo - version: 2.1\n',
             '# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> <batchcount> '
             '<sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n']
    for name, count in objects.items():
        size, per_slab = SLABS[name]
        slabs = -(-count // per_slab)
        pages = max(1, size * per_slab // PAGE)
        lines.append(f'{name:<17} {count:>6} {slabs * per_slab:>6} {size:>6} {per_slab:>4} {pages:>4} : tunables    0    0    0 : '
                     f'slabdata {slabs:>6} {slabs:>6}      0\n')
    return ''.join(lines)


def sample(number, texts):
    payload = varint(number * INTERVAL_NS) + varint(START_NS + number * INTERVAL_NS)
    for name, content in texts.items():
        payload += text(name.encode()) + text(content.encode())
    return chunk(STATE, number % 65536, payload)


def main():
    path, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else WEEK
    kernel = sys.argv[3] if len(sys.argv) > 3 else '6.12.0'
    rate = 0 if sys.argv[4:] == ['none'] else 100  # objects that leak between two samples
    planted = {'leak': LEAK, 'samples': count, 'boot': count // 3, 'oom': count // 2, 'alert': [count * 3 // 4, count * 3 // 4 + 60],
               'spike': count // 5, 'start_unix_ns': START_NS, 'interval_ns': INTERVAL_NS}
    rng = random.Random(1)
    faults = pages = kills = 0
    facts = b''.join(text(name) + text(value) for name, value in
                     {b'uname': f'Linux made {kernel} x86_64'.encode(), b'page_size': b'4096', b'byte_order': b'little',
                      b'long_bytes': b'8', b'cpus': b'2'}.items())
    offsets = [(16, FACTS, 0)]
    with open(path, 'wb') as file:
        file.write(b'\x89KMT\r\n\x1a\n' + struct.pack('<HHI', 1, 0, 0))
        file.write(chunk(FACTS, 0, facts))
        for number in range(count):
            faults += rng.randrange(1000, 90_000)
            pages += rng.randrange(1000, 9_000)
            if number == planted['boot']:
                faults = pages = kills = 0
            if number == planted['oom']:
                kills += 2
            is_low = planted['alert'][0] <= number < planted['alert'][1]
            spike = 3 << 30 if number == planted['spike'] else 0
            objects = {LEAK: 40_000 + number * rate, 'kmalloc-512': 9_000 + rng.randrange(200), 'task_struct': 400 + rng.randrange(40)}
            slab = sum(SLABS[name][0] * each for name, each in objects.items())
            texts = {'meminfo': meminfo(slab, (200 << 20) if is_low else 9 << 30, (1 << 30) + spike, rng.randrange(1 << 28)),
                     'vmstat': f'nr_free_pages {rng.randrange(1 << 20)}\npgalloc_normal {pages}\npgfault {faults}\noom_kill {kills}\n',
                     'slabinfo': slabinfo(objects)}
            offsets.append((file.tell(), STATE, number % 65536))
            file.write(sample(number, texts))
        index, before = b'', 0
        for offset, kind, stream in offsets:
            index += varint(offset - before) + bytes([kind]) + varint(stream)
            before = offset
        place = file.tell()
        file.write(chunk(INDEX, 0, index) + struct.pack('<Q', place) + b'KMTindex')
    print(json.dumps(planted))


if __name__ == '__main__':
    main()
