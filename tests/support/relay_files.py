# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes relay files of kmemtrace in each layout, according to docs/formats/relay.md and independently of the
project's writer."""
import collections
import random
import struct

Event = collections.namedtuple('Event', 'allocates cache cpu time number call_site ptr requested allocated gfp node')

ORDERS = {'le': '<', 'be': '>'}
ABIS = [f'{layout}-{order}' for layout in ('v0', 'v1', 'v2', 'v3-64', 'v3-32') for order in ('le', 'be')]


def record(abi, event):
    layout, order = abi.rsplit('-', 1)
    pack = lambda form, *values: struct.pack(ORDERS[order] + form, *values)  # noqa: E731
    free, cache = not event.allocates, int(event.cache)
    if layout in ('v0', 'v1'):
        head = pack('HH', 1 + free, cache) if layout == 'v0' else pack('BBH', 1 + free, cache, 56)
        # The record of a free also has these bytes; their content is arbitrary data from the stack.
        node, rest = (-2 ** 31, (2 ** 64 - 1, 3, 2 ** 63)) if free else (event.node, (event.requested, event.allocated,
                                                                                     event.gfp))
        return head + pack('iQQQQQq', node, event.call_site, event.ptr, *rest, event.time)
    if layout == 'v2':
        number = (event.number + 2 ** 31) % 2 ** 32 - 2 ** 31
        head = pack('BBHiQQ', int(free), cache, 24 if free else 48, number, event.call_site, event.ptr)
        return head if free else head + pack('QQIi', event.requested, event.allocated, event.gfp, event.node)
    word = 'Q' if layout == 'v3-64' else 'I'
    size = 16 + 2 * struct.calcsize('=' + word)
    if not free:
        size += 2 * struct.calcsize('=' + word) + 8
    head = pack('BBHIQ' + 2 * word, int(free), cache, size, event.cpu, event.time, event.call_site, event.ptr)
    return head if free else head + pack(2 * word + 'Ii', event.requested, event.allocated, event.gfp, event.node)


def events(count, cpus=2, seed=1, long_bytes=4):
    """Returns random allocations and their frees, sorted by time."""
    chance = random.Random(seed)
    base = 0xC0000000 if long_bytes == 4 else 0xFFFF888000000000
    code = 0xC0100000 if long_bytes == 4 else 0xFFFFFFFF81000000
    time, live, free = 10 ** 9, [], [base + 0x1000000 + 256 * slot for slot in range(count)]
    made = []
    while len(made) < count:
        time += chance.randrange(100, 5000)
        common = {'cpu': chance.randrange(cpus), 'time': time, 'number': len(made) + 1}
        if chance.random() < 0.6 or not live:
            requested = chance.randrange(1, 250)
            event = Event(True, chance.random() < 0.5, call_site=code + 0x100 * chance.randrange(8) + 0x10,
                          ptr=free.pop(0), requested=requested, allocated=-(-requested // 32) * 32, gfp=0xD0, node=-1,
                          **common)
            live.append(event)
        else:
            old = live.pop(chance.randrange(len(live)))
            event = Event(False, old.cache, call_site=code + 0x10000, ptr=old.ptr, requested=0, allocated=0, gfp=0,
                          node=-1, **common)
            free.append(old.ptr)
        made.append(event)
    return made


def write(folder, abi, made, cpus=2):
    """Writes cpuN.out for each CPU, kallsyms and total_overruns."""
    for cpu in range(cpus):
        with open(f'{folder}/cpu{cpu}.out', 'wb') as file:
            file.write(b''.join(record(abi, event) for event in made if event.cpu == cpu))
    with open(f'{folder}/total_overruns', 'w', encoding='ascii') as file:
        file.write('0\n')
