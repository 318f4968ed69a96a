#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A second decoder of series of snapshots, written only from docs/formats/kmt.md. It is simple and slow.

Run as a program, it prints the size of each text of the samples, and the stored bytes:
  kmt_series.py FILE.kmt"""
import ctypes
import re
import struct
import sys

from kmt_decoder import CHUNK_HEADER, CHUNK_MAGIC, STATE, Input, Sample, checksum, require

STATE_DELTA = 11
PATCH = 2
HISTORY = 65536

_zstd = ctypes.CDLL('libzstd.so.1')
for name in ('ZSTD_DCtx_refPrefix', 'ZSTD_decompressDCtx', 'ZSTD_freeDCtx'):
    getattr(_zstd, name).restype = ctypes.c_size_t
_zstd.ZSTD_createDCtx.restype = ctypes.c_void_p


def unpack(frame, size, prefix):
    context = ctypes.c_void_p(_zstd.ZSTD_createDCtx())
    _zstd.ZSTD_DCtx_refPrefix(context, prefix, ctypes.c_size_t(len(prefix)))
    plain = ctypes.create_string_buffer(max(size, 1))
    written = _zstd.ZSTD_decompressDCtx(context, plain, ctypes.c_size_t(size), frame, ctypes.c_size_t(len(frame)))
    _zstd.ZSTD_freeDCtx(context)
    require(written == size, 'a frame that cannot be unpacked')
    return plain.raw[:size]


def base_of(number):
    digits = list(f'{number:o}')
    last = max(i for i, digit in enumerate(digits) if digit != '0')
    digits[last] = str(int(digits[last]) - 1)
    return int(''.join(digits), 8)


def render(spaces, digits, value):
    text = str(value)
    if len(text) < len(digits) and digits.startswith(b'0'):
        text = text.zfill(len(digits))
    elif len(spaces) >= 2:
        spaces = b' ' * max(1, len(spaces) + len(digits) - len(text))
    return spaces + text.encode()


def changed(line, places, changes):
    plan = []  # for each number of the line: the change
    for _ in range(places.varint()):
        plan += [0] * places.varint() + [changes.svarint()]
    plan.reverse()

    def replace(match):
        change = plan.pop() if plan else 0
        return render(match[1], match[2], (int(match[2]) + change) % 2**64) if change else match[0]
    line = re.sub(rb'( *)([0-9]+)', replace, line)
    require(not plan, 'more changes than numbers')
    return line


def apply(base, delta):
    head = Input(delta)
    ticks, unix_ns, texts = base.ticks + head.svarint(), base.unix_ns + head.svarint(), head.varint()
    sizes = [head.varint() for _ in range(3)]
    columns, at = [], head.at
    for size in sizes:
        columns.append(Input(delta[at:at + size]))
        at += size
    operations, places, changes = columns
    inserted = delta[at:]
    sample = Sample(ticks, unix_ns, {})
    for _ in range(texts):
        number = operations.varint()
        name = list(base.texts)[number - 1] if number else operations.text().decode()
        lines = []
        if number:
            lines = re.findall(rb'[^\n]*\n|[^\n]+$', base.texts[name])
        text = b''
        while True:
            operand, operation = divmod(operations.varint(), 4)
            if operation == 0 and operand == 0:
                break
            if operation == 2:
                text, inserted = text + inserted[:operand], inserted[operand:]
                continue
            require(operand <= len(lines), 'more lines than the text has')
            taken, lines = lines[:operand], lines[operand:]
            if operation < 2:
                text += b''.join(changed(line, places, changes) if operation else line for line in taken)
        sample.texts[name] = text
    require(not inserted, 'unused bytes')
    return sample


def full_sample(plain):
    data = Input(plain)
    sample = Sample(data.varint(), data.varint(), {})
    while data.more():
        name = data.text().decode()
        sample.texts[name] = data.text()
    return sample


def read(data):
    """Yields the samples, and the number of bytes that each takes in the file."""
    at, group, start = 16, {}, None  # `group`: number → (sample, plain deltas)
    while at + CHUNK_HEADER <= len(data) and data[at:at + 4] == CHUNK_MAGIC:
        kind, flags, stream, stored, plain_bytes, payload_sum, _ = struct.unpack_from('<BBHIIQQ', data, at + 4)
        payload = bytes(data[at + CHUNK_HEADER:at + CHUNK_HEADER + stored])
        require(checksum(payload) == payload_sum, f'checksum of the chunk at {at}')
        at += CHUNK_HEADER + stored
        if kind == STATE:
            sample = full_sample(unpack(payload, plain_bytes, b'') if flags else payload)
            group, start = {0: (sample, b'')}, stream
        elif kind == STATE_DELTA:
            require(flags == PATCH, 'flags of a delta')
            number = (stream - start) % 65536
            base, history = group[base_of(number)]
            delta = unpack(payload, plain_bytes, history[-HISTORY:])
            sample = apply(base, delta)
            group[number] = sample, history + delta
        else:
            continue
        yield sample, CHUNK_HEADER + stored


def main():
    with open(sys.argv[1], 'rb') as file:
        for sample, stored in read(file.read()):
            print(sample.ticks, stored, *(f'{name}={len(text)}' for name, text in sample.texts.items()))


if __name__ == '__main__':
    main()
