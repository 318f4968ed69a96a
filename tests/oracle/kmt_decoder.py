#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A second decoder of .kmt files, written only from docs/formats/kmt.md. It is simple and slow, and checks everything.

Run as a program, it prints the records of a file:
  kmt_decoder.py FILE.kmt"""
import collections
import ctypes
import functools
import struct
import subprocess
import sys

MAGIC, VERSION = b'\x89KMT\r\n\x1a\n', 1
CHUNK_MAGIC, TRAILER_MAGIC = b'KMTc', b'KMTindex'
CHUNK_HEADER, TRAILER = 32, 16
FACTS, FORMATS, STREAM, EVENTS, INDEX, STATE, PROFILE, USER_MEMORY, SYMBOLS = 1, 2, 3, 4, 5, 6, 7, 10, 12
COMPRESSED = 1
TIMES_IN_STEPS = 1  # feature of a file
NO_ADDRESS, SLAB, PAGE = 0, 1, 2
U64 = (1 << 64) - 1

Chunk = collections.namedtuple('Chunk', 'offset type flags stream plain')  # plain: the unpacked payload
Stream = collections.namedtuple('Stream', 'cpu page_bytes buffer blocks')
# `losses`: (number of earlier events, number of lost events or None)
Block = collections.namedtuple('Block', 'first_ticks records losses')
Sample = collections.namedtuple('Sample', 'ticks unix_ns texts')
Record = collections.namedtuple('Record', 'ticks bytes')
Mapped = collections.namedtuple('Mapped', 'time_ns process object start size file_offset')  # object: (path, build-id)
Forked = collections.namedtuple('Forked', 'time_ns process parent')
Executed = collections.namedtuple('Executed', 'time_ns process')
Shape = collections.namedtuple('Shape', 'kind offset size record')
ProfileGroup = collections.namedtuple('ProfileGroup',
                                      'context pages process cgroup call_site comm cache stack sizes')
IndexEntry = collections.namedtuple('IndexEntry', 'offset type stream events first last', defaults=(None, None, None))

_xxhash = ctypes.CDLL('libxxhash.so.0')
_xxhash.XXH3_64bits.restype = ctypes.c_uint64
_xxhash.XXH3_64bits.argtypes = ctypes.c_char_p, ctypes.c_size_t


class Damaged(Exception):
    """Raised if the file breaks a rule of the format."""


def require(condition, what):
    if not condition:
        raise Damaged(what)


def checksum(data):
    return _xxhash.XXH3_64bits(bytes(data), len(data))


def unpack_frame(frame):
    return subprocess.run(['zstd', '-q', '-d', '-c'], input=frame, stdout=subprocess.PIPE, check=True).stdout


class Input:
    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def byte(self):
        require(self.more(), 'ends too early')
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        if self.at < len(self.data) and self.data[self.at] < 0x80:  # most numbers have one byte
            self.at += 1
            return self.data[self.at - 1]
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                require(value <= U64, 'a varint of more than 64 bits')
                return value
        raise Damaged('a varint of more than ten bytes')

    def svarint(self):
        value = self.varint()
        return -(value + 1 >> 1) if value & 1 else value >> 1

    def text(self):
        size = self.varint()
        require(size <= len(self.data) - self.at, 'a text ends too early')
        self.at += size
        return self.data[self.at - size:self.at]


class File:
    """`facts` {name: value}, `cpu_stats`, `formats` [(system, text)], `streams` {number: Stream}, `samples` [Sample],
    `index` [IndexEntry], `profile_facts` {name: text}, `profile_groups` [ProfileGroup],
    `code` {(path, build-id): symbols}, `space_changes` [Mapped, Forked or Executed]."""

    def __init__(self, data):
        require(data[:8] == MAGIC, 'no .kmt file')
        version, _, features = struct.unpack_from('<HHI', data, 8)
        require(version == VERSION and features & ~TIMES_IN_STEPS == 0, 'a version or feature that is not known')
        self.facts, self.cpu_stats, self.formats, self.streams, self.samples, self.index = {}, [], [], {}, [], None
        self.profile_facts, self.profile_groups = {}, []
        self.code, self.space_changes = {}, []
        require(data[-8:] == TRAILER_MAGIC, 'no trailer')
        index_place, = struct.unpack_from('<Q', data, len(data) - TRAILER)
        self.chunks = list(self._chunks(data, len(data) - TRAILER))
        for chunk in self.chunks:
            self._read(chunk)
        require(self.chunks[-1].type == INDEX and self.chunks[-1].offset == index_place, 'the trailer names no index')

    @staticmethod
    def _chunks(data, end):
        at = 16
        while at < end:
            require(end - at >= CHUNK_HEADER and data[at:at + 4] == CHUNK_MAGIC, f'no chunk at {at}')
            kind, flags, stream, stored, plain_bytes, payload_sum, header_sum = struct.unpack_from('<BBHIIQQ', data, at + 4)
            require(checksum(data[at:at + 24]) == header_sum, f'header checksum of the chunk at {at}')
            require(stored <= end - at - CHUNK_HEADER, f'the chunk at {at} is cut off')
            payload = data[at + CHUNK_HEADER:at + CHUNK_HEADER + stored]
            require(checksum(payload) == payload_sum, f'checksum of the chunk at {at}')
            require(flags in (0, COMPRESSED), f'flags of the chunk at {at}')
            require(plain_bytes <= 64 << 20 and plain_bytes <= 256 * stored, f'sizes of the chunk at {at}')
            plain = unpack_frame(payload) if flags & COMPRESSED else payload
            require(len(plain) == plain_bytes, f'unpacked size of the chunk at {at}')
            yield Chunk(at, kind, flags, stream, plain)
            at += CHUNK_HEADER + stored

    def _read(self, chunk):
        data = Input(chunk.plain)
        if chunk.type == FACTS:
            while data.more():
                name, value = data.text().decode(), data.text()
                if name == 'cpu_stats':
                    self.cpu_stats.append(value)
                else:
                    self.facts[name] = value
        elif chunk.type == FORMATS:
            while data.more():
                system = data.text().decode()
                self.formats.append((system, data.text()))
        elif chunk.type == STREAM:
            require(chunk.stream not in self.streams, 'a stream is described twice')
            cpu, page_bytes = data.varint(), data.varint()
            self.streams[chunk.stream] = Stream(cpu, page_bytes, data.text().decode(), [])
        elif chunk.type == EVENTS:
            order = {b'little': '<', b'big': '>'}[self.facts['byte_order']]
            self.streams[chunk.stream].blocks.append(read_block(data, order))
        elif chunk.type == STATE:
            sample = Sample(data.varint(), data.varint(), {})
            while data.more():
                name = data.text().decode()
                sample.texts[name] = data.text()
            self.samples.append(sample)
        elif chunk.type == PROFILE:
            for _ in range(data.varint()):
                name = data.text().decode()
                self.profile_facts[name] = data.text().decode()
            while data.more():
                self.profile_groups.append(read_profile_group(data))
        elif chunk.type == SYMBOLS:
            self.facts['kallsyms'] = read_symbols(bytes(chunk.plain))
        elif chunk.type == USER_MEMORY:
            self._read_user_memory(data)
        elif chunk.type == INDEX:
            self.index = []
            offset = 0
            while data.more():
                offset += data.varint()
                kind, stream = data.byte(), data.varint()
                if kind == EVENTS:
                    events, first = data.varint(), data.varint()
                    self.index.append(IndexEntry(offset, kind, stream, events, first, first + data.varint() & U64))
                else:
                    self.index.append(IndexEntry(offset, kind, stream))

    def _read_user_memory(self, data):
        objects = []
        for _ in range(data.varint()):
            path, build_id, symbols = data.text(), data.text().decode(), data.text().decode()
            require(set(build_id) <= set('0123456789abcdef'), 'a build-id that is none')
            objects.append((path, build_id))
            self.code[path, build_id] = symbols or self.code.get((path, build_id), '')
        time_ns = 0
        while data.more():
            time_ns = time_ns + data.varint() & U64
            process, kind = data.varint(), data.byte()
            require(kind <= 2, 'a change of no known kind')
            if kind == 0:
                number = data.varint()
                require(number < len(objects), 'a mapping of code that is not there')
                change = Mapped(time_ns, process, objects[number], data.varint(), data.varint(), data.varint())
            else:
                change = Forked(time_ns, process, data.varint()) if kind == 1 else Executed(time_ns, process)
            self.space_changes.append(change)

    def thread_groups(self):
        """Returns {tid: tgid} from the recorder's notes about tasks."""
        return {int(tid): int(group) for tid, group in map(bytes.split, self.facts['thread_groups'].splitlines())}

    def to_ns(self, ticks):
        mult = int(self.facts['clock_mult'])
        if mult:
            ticks = ticks * mult >> int(self.facts['clock_shift']) & U64
        return ticks + int(self.facts['clock_offset_ns']) & U64


def read_profile_group(data):
    kind, process, cgroup, call_site = data.varint(), data.varint(), data.varint(), data.varint()
    comm, cache = data.text().decode(), data.text().decode()
    stack = [data.varint() for _ in range(data.varint())]
    sizes = [tuple(data.varint() for _ in range(4)) for _ in range(data.varint())]
    return ProfileGroup(kind >> 1, bool(kind & 1), process, cgroup, call_site, comm, cache, stack, sizes)


@functools.lru_cache(maxsize=4)  # files of one kernel have the same symbols
def read_symbols(plain):
    data = Input(plain)
    digits, types, addresses, names = data.varint(), data.text(), Input(data.text()), data.text()
    require(1 <= digits <= 16 and not data.more() and (not names or names.endswith(b'\n')), 'columns of symbols')
    names = iter(names.split(b'\n')[:-1])
    lines, address = [], 0
    for kind in types:
        address = address + addresses.svarint() & U64
        require(address < 16 ** digits, 'the address of a symbol')
        lines.append((address, kind & 0x7f, None if kind & 0x80 else next(names, None)))
        require(kind & 0x80 or lines[-1][2] is not None, 'too few names of symbols')
    require(not addresses.more() and next(names, None) is None, 'the columns of symbols differ in length')
    parts = []
    for number, (address, kind, name) in enumerate(lines):
        if name is None:
            require(number + 1 < len(lines) and lines[number + 1][2] is not None, 'padding has no name')
            name = b'__pfx_' + lines[number + 1][2]
        parts.append(b'%0*x %c %s\n' % (digits, address, kind, name))
    return b''.join(parts)


def read_dictionary(data, events, tid_offset):
    shapes = []
    while data.more():
        shape = Shape(data.byte(), data.varint(), data.byte(), data.text())
        require(shape.kind == NO_ADDRESS and shape.size == 0 or shape.kind in (SLAB, PAGE) and shape.size in (4, 8),
                'a shape\'s address is of no known kind')
        require(shape.offset + shape.size <= len(shape.record) <= 0xffff and tid_offset + 4 <= len(shape.record),
                'a shape\'s address or task lies outside')
        shapes.append(shape)
    require(len(shapes) <= events, 'more shapes than events')
    return shapes


def read_losses(data, events):
    losses = []
    while data.more():
        before, count = data.varint(), data.varint()
        require(before <= events and (not losses or before > losses[-1][0]), 'losses are not in order')
        losses.append((before, count - 1 if count else None))
    return losses


def times_in_ticks(ticks, times):
    while True:
        ticks = ticks + times.varint() & U64
        yield ticks


def times_in_steps(ticks, step, codes, low_bits):
    taken, fraction = 0, 1 << 31

    def number(code):
        nonlocal taken
        require(code <= 251, 'no code of a number')
        if code < 8:
            return code
        count = code // 4 - 1
        begin, taken = taken, taken + count
        require(taken <= 8 * len(low_bits.data), 'the low bits end too early')
        word = int.from_bytes(low_bits.data[begin // 8:taken // 8 + 1], 'little')
        bits = word >> begin % 8 & (1 << count) - 1
        return (4 + code % 4 << count) + bits

    while True:
        code = codes.byte()
        if code == 254:
            ticks, fraction = ticks + number(codes.byte()) & U64, 1 << 31
        else:
            later = {252: 1, 253: -1}.get(code, 0)
            position = fraction + number(codes.byte() if later else code) * step & U64
            ticks = ticks + (position >> 32) + later & U64
            fraction = {0: position & 0xffffffff, 1: 0, -1: 0xffffffff}[later]
        yield ticks


def read_block(data, order):
    events, ticks, tid_offset = data.varint(), data.varint(), data.varint()
    slab_shift, page_shift = data.byte(), data.byte()
    in_steps, shifts = slab_shift >> 7, {SLAB: slab_shift & 0x7f, PAGE: page_shift}
    require(events <= 1 << 20 and max(shifts.values()) <= 63, 'a block\'s head')
    step = data.varint() if in_steps else 0
    require(not in_steps or step >= 1 << 32, 'a step of less than a tick')
    times = Input(data.text())
    times = times_in_steps(ticks, step, times, Input(data.text())) if in_steps else times_in_ticks(ticks, times)
    shape_numbers, dictionary, tasks, recency, far, literals, losses = (Input(data.text()) for _ in range(7))
    shapes = read_dictionary(dictionary, events, tid_offset)
    recent = {SLAB: [0] * 64, PAGE: [0] * 64}
    last = [0] * len(shapes)
    first_ticks, run, tid, records = ticks, 0, 0, []
    for _ in range(events):
        ticks = next(times)
        if run == 0:
            run = tasks.varint()
            require(run > 0, 'an empty run of tasks')
            tid = tid + tasks.svarint() & 0xffffffff
        run -= 1
        number = shape_numbers.varint()
        if number == 0:
            record = bytearray(literals.text())
            if len(record) >= tid_offset + 4:
                struct.pack_into(order + 'I', record, tid_offset, tid)
        else:
            require(number <= len(shapes), 'a shape that is not there')
            shape = shapes[number - 1]
            record = bytearray(shape.record)
            struct.pack_into(order + 'I', record, tid_offset, tid)
            if shape.kind == NO_ADDRESS:
                records.append(Record(ticks, bytes(record)))
                continue
            place = recency.byte()
            require(place <= 64, 'a place in the list that is not there')
            if place:
                address = recent[shape.kind].pop(place - 1)
            else:
                address = last[number - 1] + (far.svarint() << shifts[shape.kind]) & U64
                recent[shape.kind].pop()
            recent[shape.kind].insert(0, address)
            last[number - 1] = address
            record[shape.offset:shape.offset + shape.size] = struct.pack(
                order + ('Q' if shape.size == 8 else 'I'), address & (U64 if shape.size == 8 else 0xffffffff))
        records.append(Record(ticks, bytes(record)))
    return Block(first_ticks, records, read_losses(losses, events))


def read(path):
    with open(path, 'rb') as file:
        return File(file.read())


def main():
    file = read(sys.argv[1])
    for name, value in file.facts.items():
        print(f'{name}: {value.decode(errors="replace") if len(value) < 200 else f"{len(value)} bytes"}')
    for number, stream in sorted(file.streams.items()):
        print(f'stream {number}: cpu {stream.cpu}, buffer "{stream.buffer}", {len(stream.blocks)} blocks')
        for block in stream.blocks:
            losses = dict(block.losses)
            for place, record in enumerate(block.records):
                if place in losses:
                    print(f'lost: {losses[place]}')
                print(file.to_ns(record.ticks), record.bytes.hex())
            if len(block.records) in losses:
                print(f'lost: {losses[len(block.records)]}')


if __name__ == '__main__':
    main()
