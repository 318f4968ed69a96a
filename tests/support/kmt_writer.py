# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a tracedat.Trace as a small .kmt file, according to docs/formats/kmt.md and independently of the project's
writer. The file is uncompressed."""
import ctypes
import struct

import tracedat

FACTS, FORMATS, STREAM, EVENTS, INDEX, USER_MEMORY = 1, 2, 3, 4, 5, 10
SLAB, PAGE = 1, 2

_xxhash = ctypes.CDLL('libxxhash.so.0')
_xxhash.XXH3_64bits.restype = ctypes.c_uint64
_xxhash.XXH3_64bits.argtypes = ctypes.c_char_p, ctypes.c_size_t


def checksum(data):
    return struct.pack('<Q', _xxhash.XXH3_64bits(data, len(data)))


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def svarint(value):
    return varint(value << 1 if value >= 0 else -2 * value - 1)


def text(data):
    return varint(len(data)) + data


def chunk(kind, stream, payload):
    head = b'KMTc' + struct.pack('<BBHII', kind, 0, stream, len(payload), len(payload)) + checksum(payload)
    return head + checksum(head) + payload


def times_in_ticks(differences):
    """Returns the head of the times and their two columns. A step is a tick."""
    codes, low_bits, used = b'', 0, 0
    for number in differences:
        count = max(number.bit_length() - 3, 0)
        codes += bytes([(count << 2) + (number >> count)])
        low_bits |= (number & (1 << count) - 1) << used
        used += count
    return varint(1 << 32) + text(codes) + text(low_bits.to_bytes(used + 7 >> 3, 'little'))


def block(trace, count, in_steps=False):
    """Returns the payload of a block: the first records of the first CPU that has any, and a loss. Slab and page events
    are stored as shapes. The times are in steps of the clock or, as older versions wrote them, varints."""
    addresses = {}  # event id: (kind, Field)
    for number, fields in tracedat.formats(trace).values():
        for name, kind in (('ptr', SLAB), ('pfn', PAGE)):
            if name in fields:
                addresses[number] = kind, fields[name]
    pages = next(pages for pages in trace.buffers[0].pages.values() if pages)
    page = pages[:trace.page_size]
    times, shapes = [], b''
    dictionary = tasks = recency = far = literals = b''
    known, recent, last, before, tid_before = {}, {SLAB: [0] * 64, PAGE: [0] * 64}, {}, None, 0
    records = list(tracedat.records(trace, page))[:count]
    for record in records:
        data = bytearray(page[record.offset:record.offset + record.size])
        times.append(record.time - before if before is not None else 0)
        before = record.time
        tid, = struct.unpack_from(trace.order + 'i', data, 4)
        tasks += varint(1) + svarint(tid - tid_before)
        tid_before, data[4:8] = tid, bytes(4)
        number, = struct.unpack_from(trace.order + 'H', data)
        if number not in addresses:
            shapes, literals = shapes + varint(0), literals + text(bytes(data))
            continue
        kind, field = addresses[number]
        place = slice(field.offset, field.offset + field.size)
        address = int.from_bytes(data[place], 'big' if trace.order == '>' else 'little')
        data[place] = bytes(field.size)
        shape = bytes([kind]) + varint(field.offset) + bytes([field.size]) + text(bytes(data))
        if shape not in known:
            known[shape] = len(known) + 1
            dictionary += shape
        shapes += varint(known[shape])
        if address in recent[kind]:
            at = recent[kind].index(address)
            recency += bytes([at + 1])
            del recent[kind][at]
        else:
            recency += b'\0'
            far += svarint(address - last.get(shape, 0) - (1 << 64 if address >> 63 and shape not in last else 0))
            del recent[kind][-1]
        recent[kind].insert(0, address)
        last[shape] = address
    losses = varint(1) + varint(3)
    times = times_in_ticks(times) if in_steps else text(b''.join(map(varint, times)))
    columns = (shapes, dictionary, tasks, recency, far, literals, losses)
    shifts = bytes([0x80 if in_steps else 0, 0])
    return varint(len(records)) + varint(records[0].time) + varint(4) + shifts + times + b''.join(map(text, columns))


def literals(records, tid_at=4, tid=0):
    """Returns the payload of a block with literal records (not stored as shapes), one tick apart."""
    count = len(records)
    times, shapes, tasks = varint(1) * count, varint(0) * count, varint(count) + svarint(tid)
    columns = times, shapes, b'', tasks, b'', b'', b''.join(text(record) for record in records), b''
    return varint(count) + varint(1000) + varint(tid_at) + bytes(2) + b''.join(text(column) for column in columns)


def user_memory(objects, changes):
    """Returns the payload of a chunk that describes code of processes. Each object has three texts. Each change has a
    time, a process, a kind, and the numbers of that kind."""
    out, before = varint(len(objects)) + b''.join(text(part) for one in objects for part in one), 0
    for time_ns, process, kind, *numbers in changes:
        out += varint(time_ns - before) + varint(process) + bytes([kind]) + b''.join(map(varint, numbers))
        before = time_ns
    return out


def file(trace, events, more_chunks=(), **more_facts):
    """Returns a file with two streams, each with the same block of events. `more_chunks` (type, stream, payload) are
    written before the blocks."""
    facts = {'uname': 'Linux host 6.1.0 machine', 'byte_order': 'big' if trace.order == '>' else 'little',
             'long_bytes': str(trace.long_bytes), 'page_size': str(trace.page_size), 'cpus': '2', 'clock': 'local',
             'clock_mult': '3', 'clock_shift': '1', 'clock_offset_ns': '-5', 'header_page': trace.header_page.decode(),
             'saved_cmdlines': trace.cmdlines.decode(), 'kallsyms': trace.kallsyms.decode(),
             'cpu_stats': 'CPU: 0\nentries: 0\noverrun: 1\n'}
    facts.update(more_facts)
    formats = [(b'ftrace', body) for body in trace.ftrace_formats]
    formats += [(system.encode(), body) for system, bodies in trace.event_formats.items() for body in bodies]
    parts = [(FACTS, 0, b''.join(text(name.encode()) + text(value.encode()) for name, value in facts.items())),
             (FORMATS, 0, b''.join(text(system) + text(body) for system, body in formats)),
             (STREAM, 0, varint(0) + varint(trace.page_size) + text(b'')),
             (STREAM, 1, varint(1) + varint(trace.page_size) + text(b'')), *more_chunks, (EVENTS, 0, events), (EVENTS, 1, events)]
    out = b'\x89KMT\r\n\x1a\n' + struct.pack('<HHI', 1, 0, 0)
    index, before = b'', 0
    for kind, stream, payload in parts:
        index += varint(len(out) - before) + bytes([kind]) + varint(stream)
        if kind == EVENTS:
            index += varint(0) * 3
        before = len(out)
        out += chunk(kind, stream, payload)
    place = len(out)
    return out + chunk(INDEX, 0, index) + struct.pack('<Q', place) + b'KMTindex'
