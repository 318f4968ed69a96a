# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads .kmt files with the test suite's own decoder: events with numeric fields, samples of the memory state, and
truncated files."""
import collections
import os
import re
import struct
import sys

for folder in ('support', 'oracle'):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', folder))
import kmt_decoder  # noqa: E402
import kmt_writer  # noqa: E402
import tracedat  # noqa: E402

EVENTS = kmt_decoder.EVENTS  # the type of chunks with events

# `fields`: {name: number} for a .kmt, {name: text} for a trace.dat
Event = collections.namedtuple('Event', 'pid cpu flags time_ns name fields')
Sample = collections.namedtuple('Sample', 'time_ns unix_ns texts')


class File(kmt_decoder.File):
    """`cut_off`: reads only the complete chunks of a file without an end. `heads_only`: reads only the number of
    records in each block (as a `range`), which is a hundred times as fast."""

    def __init__(self, path, cut_off=False, heads_only=False):
        self.heads_only = heads_only
        with open(path, 'rb') as file:
            data = file.read()
        if cut_off:
            end = whole_bytes(data)
            data = data[:end] + kmt_writer.chunk(kmt_writer.INDEX, 0, b'') + struct.pack('<Q', end) + b'KMTindex'
        super().__init__(data)

    def _read(self, chunk):
        if not self.heads_only or chunk.type != EVENTS:
            super()._read(chunk)
            return
        data = kmt_decoder.Input(chunk.plain)
        events, ticks, _, slab_shift, _ = data.varint(), data.varint(), data.varint(), data.byte(), data.byte()
        in_steps = slab_shift >> 7  # then the times have two columns
        if in_steps:
            data.varint()
        *_, losses = (kmt_decoder.Input(data.text()) for _ in range(8 + in_steps))
        self.streams[chunk.stream].blocks.append(
            kmt_decoder.Block(ticks, range(events), kmt_decoder.read_losses(losses, events)))


def whole_bytes(data):
    """Returns the offset after the last complete chunk of a truncated file, calculated from the sizes in the chunk
    headers."""
    end = 16
    while len(data) - end >= kmt_decoder.CHUNK_HEADER:
        stored, = struct.unpack_from('<I', data, end + 8)
        if stored > len(data) - end - kmt_decoder.CHUNK_HEADER:
            break
        end += kmt_decoder.CHUNK_HEADER + stored
    return end


class Formats:
    """Decodes records with the event formats in the file."""

    def __init__(self, order, texts):
        self.order = order  # '<' or '>', as in module struct
        self.events = {}  # id: (name, [(field, offset, size, struct code)], by offset)
        self.layouts = {}  # see layout()
        for text in texts:
            number, fields = tracedat.parse_format(text)
            known = [(name, field.offset, field.size, 'bhiq'[field.size.bit_length() - 1])
                     for name, field in fields.items() if field.size in (1, 2, 4, 8)
                     and (name in ('common_flags', 'common_pid') or not name.startswith('common_'))]
            self.events[number] = re.search(rb'name: (\S+)', text)[1].decode(), sorted(
                ((name, offset, size, code if fields[name].signed else code.upper()) for name, offset, size, code in known),
                key=lambda field: field[1])

    def layout(self, number, size):
        """Returns (name of the event, struct with all fields that a record of this size has, names of the fields)."""
        if (number, size) not in self.layouts:
            name, fields = self.events[number]
            codes, names, end = self.order, [], 0
            for field, offset, field_size, code in fields:
                if offset + field_size <= size:
                    codes += f'{offset - end}x{code}'
                    names.append(field)
                    end = offset + field_size
            if names[:2] != ['common_flags', 'common_pid']:
                raise AssertionError(f'unexpected first fields of {name}: {names}')
            self.layouts[number, size] = name, struct.Struct(codes), names[2:]
        return self.layouts[number, size]

    def event(self, cpu, time_ns, record):
        name, layout, names = self.layout(struct.unpack_from(self.order + 'H', record)[0], len(record))
        flags, pid, *values = layout.unpack_from(record)
        return Event(pid, cpu, flags, time_ns, name, dict(zip(names, values)))


def records_of(file):
    """Yields (cpu, the records of all its blocks) for each CPU, in the order of the ring buffer."""
    for stream in file.streams.values():
        yield stream.cpu, [record for block in stream.blocks for record in block.records]


def count_of(file):
    return sum(len(block.records) for stream in file.streams.values() for block in stream.blocks)


def events_of(file):
    formats = Formats({b'little': '<', b'big': '>'}[file.facts['byte_order']], [text for _, text in file.formats])
    return [formats.event(cpu, file.to_ns(record.ticks), record.bytes)
            for cpu, records in records_of(file) for record in records]


def events_of_trace_dat(path):
    """Returns the events of a trace.dat of version 7 with times in nanoseconds. Reads the pages of the ring buffer."""
    trace = tracedat.read(path)
    formats = Formats(trace.order, [text for texts in trace.event_formats.values() for text in texts])
    events = []
    for cpu, pages in trace.buffers[0].pages.items():
        for start in range(0, len(pages), trace.buffers[0].page_size):
            page = pages[start:start + trace.buffers[0].page_size]
            events += [formats.event(cpu, record.time, page[record.offset:record.offset + record.size])
                       for record in tracedat.records(trace, page)]
    return events


def lost_in_blocks(file):
    """Returns the total of the lost events noted in the blocks, and the number of losses of unknown size."""
    counts = [count for stream in file.streams.values() for block in stream.blocks for _, count in block.losses]
    return sum(count or 0 for count in counts), counts.count(None)


def samples_of(file):
    return [Sample(file.to_ns(ticks), unix_ns, {name: text.decode() for name, text in texts.items()})
            for ticks, unix_ns, texts in file.samples]
