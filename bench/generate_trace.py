#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a long trace from a real one. Events are repeated with later times and other addresses. Objects that are live
at the end of a round are freed, as on a machine that runs for a long time under a constant load. The same events are
written as trace.dat (version 6) and as perf.data, so that programs that read different formats can be compared.

With --leak nothing is freed: frees are omitted, and addresses are not reused.

  generate_trace.py --events N [--trace-dat FILE] [--perf-data FILE] [--from TRACE.DAT] [--leak]"""
import argparse
import collections
import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tests', 'support'))
sys.dont_write_bytecode = True
import tracedat  # noqa: E402

# In each round, addresses are moved by a multiple of these steps. After ROUNDS_OF_ADDRESSES rounds, the addresses are
# repeated, because a machine uses a limited set of addresses.
ROUNDS_OF_ADDRESSES = 16
POINTER_STEP = 1 << 32
FRAME_STEP = 1 << 20
NS_BETWEEN_FREES = 150
NS_BETWEEN_ROUNDS = 1000
ZERO_SIZE_PTR = 16

Record = collections.namedtuple('Record', 'time cpu event raw')


class Round:
    """The events of the real trace, followed by frees of the objects that are live at its end. With `leak`, only
    allocations."""

    def __init__(self, trace, leak=False):
        self.trace, self.order, self.leak = trace, trace.order, leak
        self.formats = tracedat.formats(trace)
        self.name_of = {number: name for name, (number, _) in self.formats.items()}
        self.records = sorted(self._real_records(), key=lambda record: record.time)
        if leak:
            self.records = list(self._first_allocations())
        else:
            self.records += self._closing_frees()
        self.first = self.records[0].time
        self.length = self.records[-1].time - self.first + NS_BETWEEN_ROUNDS

    def _real_records(self):
        for cpu, pages in self.trace.buffers[0].pages.items():
            size = self.trace.buffers[0].page_size
            for at in range(0, len(pages), size):
                page = pages[at:at + size]
                for time, offset, length in tracedat.records(self.trace, page):
                    raw = page[offset:offset + length]
                    yield Record(time, cpu, struct.unpack_from(self.order + 'H', raw)[0], raw)

    def _first_allocations(self):
        pointers = set()
        for record in self.records:
            if self.name_of.get(record.event) in ('kmalloc', 'kmem_cache_alloc'):
                pointer = self.value(record, 'ptr')
                if pointer not in pointers and pointer not in (0, ZERO_SIZE_PTR):
                    pointers.add(pointer)
                    yield record

    def value(self, record, field):
        at = self.formats[self.name_of[record.event]][1][field]
        return struct.unpack_from(self.order + {4: 'I', 8: 'Q'}[at.size], record.raw, at.offset)[0]

    def _with(self, raw, name, **values):
        raw = bytearray(raw)
        for field, value in values.items():
            at = self.formats[name][1][field]
            struct.pack_into(self.order + {4: 'I', 8: 'Q'}[at.size], raw, at.offset, value)
        return bytes(raw)

    def _closing_frees(self):
        live, frames, model = {}, {}, {}
        for record in self.records:
            name = self.name_of.get(record.event)
            model[name] = record.raw
            if name in ('kmalloc', 'kmem_cache_alloc'):
                live[self.value(record, 'ptr')] = (record.cpu, 'kfree' if name == 'kmalloc' else 'kmem_cache_free')
            elif name in ('kfree', 'kmem_cache_free'):
                live.pop(self.value(record, 'ptr'), None)
            elif name == 'mm_page_alloc':
                first = self.value(record, 'pfn')
                frames.update((frame, record.cpu) for frame in range(first, first + (1 << self.value(record, 'order'))))
            elif name == 'mm_page_free':
                first = self.value(record, 'pfn')
                for frame in range(first, first + (1 << self.value(record, 'order'))):
                    frames.pop(frame, None)
        time = self.records[-1].time
        for pointer, (cpu, name) in live.items():
            if pointer in (0, ZERO_SIZE_PTR):
                continue
            time += NS_BETWEEN_FREES
            yield Record(time, cpu, self.formats[name][0], self._with(model[name], name, ptr=pointer))
        for frame, cpu in frames.items():
            time += NS_BETWEEN_FREES
            raw = self._with(model['mm_page_free'], 'mm_page_free', pfn=frame, order=0)
            yield Record(time, cpu, self.formats['mm_page_free'][0], raw)

    def address(self, record):
        """Returns (offset in the record, value, step) of the record's address, which changes from round to round. None
        if the record has no address."""
        fields = self.formats.get(self.name_of.get(record.event), (0, {}))[1]
        for name, step in (('ptr', POINTER_STEP), ('pfn', FRAME_STEP)):
            if name in fields:
                value = self.value(record, name)
                if value not in (0, ZERO_SIZE_PTR, (1 << 64) - 1):
                    return fields[name].offset, value, step
        return None


class Template:
    """The bytes of one round, and the positions of times and addresses in it."""

    def __init__(self, order, turns=ROUNDS_OF_ADDRESSES):
        self.data, self.word, self.turns = bytearray(), struct.Struct(order + 'Q'), turns
        self.times, self.addresses = [], []  # (offset, value) of each time, (offset, value, step) of each address

    def round(self, number, length):
        for offset, value in self.times:
            self.word.pack_into(self.data, offset, value + number * length)
        turn = number % self.turns
        for offset, value, step in self.addresses:
            self.word.pack_into(self.data, offset, (value + turn * step) % (1 << 64))
        return self.data


def pages_of(round_, cpu):
    """Makes a Template of ring buffer pages."""
    trace = round_.trace
    template = Template(trace.order, 1 << 32 if round_.leak else ROUNDS_OF_ADDRESSES)
    page_size, start = trace.buffers[0].page_size, trace.page_data_offset()[0]
    page, at, last = None, 0, 0

    def close():
        if page is not None:
            struct.pack_into(trace.order + 'Q', template.data, page + 8, at - page - start)
            template.data.extend(bytes(page + page_size - len(template.data)))

    for record in round_.records:
        if record.cpu != cpu:
            continue
        words = len(record.raw) // 4
        assert words <= 28
        if page is None or at + 12 + len(record.raw) > page + page_size:
            close()
            page, last = len(template.data), record.time
            template.times.append((page, record.time))
            template.data += struct.pack(trace.order + 'QQ', record.time, 0)
            at = page + start
        delta = record.time - last
        if delta >> 27:
            template.data += struct.pack(trace.order + 'II', 30 | (delta & 0x7ffffff) << 5, delta >> 27)
            at, delta = at + 8, 0
        moved = round_.address(record)
        if moved:
            template.addresses.append((at + 4 + moved[0], *moved[1:]))
        template.data += struct.pack(trace.order + 'I', words | delta << 5) + record.raw
        at, last = at + 4 + len(record.raw), record.time
    close()
    return template


def write_trace_dat(round_, rounds, path):
    trace = round_.trace
    templates = [pages_of(round_, cpu) for cpu in range(trace.cpus)]
    trace.buffers = [trace.buffers[0]._replace(pages={})]
    header, marks = tracedat.to_v6(trace)
    header = bytearray(header)
    header += bytes(-len(header) % trace.page_size)
    offset = len(header)
    for cpu, template in enumerate(templates):
        struct.pack_into(trace.order + 'QQ', header, marks['table'] + 16 * cpu, offset, len(template.data) * rounds)
        offset += len(template.data) * rounds
    with open(path, 'wb') as file:
        file.write(header)
        for template in templates:
            for number in range(rounds):
                file.write(template.round(number, round_.length))


# -- perf.data: tools/perf/Documentation/perf.data-file-format.txt, include/uapi/linux/perf_event.h ---------------------

MMAP, SAMPLE, FINISHED_ROUND = 1, 9, 68
TYPE_TRACEPOINT = 2
# IP | TID | TIME | CPU | PERIOD | RAW | IDENTIFIER
SAMPLE_TYPE = 1 | 2 | 4 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 16
SAMPLE_ID_ALL = 1 << 18
EVENTS_OF_A_PERF_ROUND = 4000  # half of a buffer of 512 KiB; perf reads a buffer when it is half full
ATTR_BYTES, HEADER_BYTES, FEATURE_TRACING_DATA = 128, 104, 1
MISC_KERNEL = 1


def samples_of(round_):
    """Makes a Template of PERF_RECORD_SAMPLEs. The ID of an event in the perf.data is the number of its
    tracepoint."""
    order = round_.order
    template = Template(order)
    for index, record in enumerate(round_.records):
        if index % EVENTS_OF_A_PERF_ROUND == 0:
            template.data += struct.pack(order + 'IHH', FINISHED_ROUND, 0, 8)
        raw = record.raw + bytes(-(len(record.raw) + 4) % 8)
        pid = struct.unpack_from(order + 'i', raw, 4)[0]
        at = len(template.data)
        head = struct.pack(order + 'QQiiQIIQI', record.event, 0, pid, pid, record.time, record.cpu, 0, 1, len(raw))
        template.times.append((at + 8 + 24, record.time))
        moved = round_.address(record)
        if moved:
            template.addresses.append((at + 8 + len(head) + moved[0], *moved[1:]))
        template.data += struct.pack(order + 'IHH', SAMPLE, MISC_KERNEL, 8 + len(head) + len(raw)) + head + raw
    return template


def kernel_map(round_):
    """Returns a record with the address of the kernel's text. Without this record, perf finds no symbols."""
    order = round_.order
    text = {name: int(address, 16) for address, _, name in
            re.findall(rb'^([0-9a-f]+) (\S) (_text|_etext)$', round_.trace.kallsyms, re.M)}
    start, end = text[b'_text'], text[b'_etext']
    body = struct.pack(order + 'iIQQQ', -1, 0, start, end - start, start) + b'[kernel.kallsyms]_text\0\0'
    # The fields that sample_id_all adds to the record: tid, time, cpu, id.
    body += struct.pack(order + 'iiQIIQ', -1, 0, 0, 0, 0, 0)
    return struct.pack(order + 'IHH', MMAP, MISC_KERNEL, 8 + len(body)) + body


def tracing_data(trace):
    head = tracedat.MAGIC + b'0.6\0' + struct.pack(trace.order + 'BBI', trace.order == '>', 8, trace.page_size)
    return head + b''.join(content for _, content in tracedat.sections(trace))


def write_perf_data(round_, rounds, path):
    order = round_.order
    template = samples_of(round_)
    events = sorted({record.event for record in round_.records})
    attrs = b''
    ids_at = HEADER_BYTES + len(events) * (ATTR_BYTES + 16)
    for index, event in enumerate(events):
        attr = struct.pack(order + 'IIQQQQQ', TYPE_TRACEPOINT, ATTR_BYTES, event, 1, SAMPLE_TYPE, 0, SAMPLE_ID_ALL)
        attrs += attr.ljust(ATTR_BYTES, b'\0') + struct.pack(order + 'QQ', ids_at + 8 * index, 8)
    ids = b''.join(struct.pack(order + 'Q', event) for event in events)
    mapping = kernel_map(round_)
    data_at, data_bytes = ids_at + len(ids), len(mapping) + len(template.data) * rounds
    features_at = data_at + data_bytes
    tracing = tracing_data(round_.trace)
    header = b'PERFILE2' + struct.pack(order + 'QQ QQ QQ QQ 4Q', HEADER_BYTES, ATTR_BYTES + 16, HEADER_BYTES, len(attrs),
                                       data_at, data_bytes, 0, 0, 1 << FEATURE_TRACING_DATA, 0, 0, 0)
    with open(path, 'wb') as file:
        file.write(header + attrs + ids + mapping)
        for number in range(rounds):
            file.write(template.round(number, round_.length))
        file.write(struct.pack(order + 'QQ', features_at + 16, len(tracing)) + tracing)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--events', type=int, required=True, help='at least so many; whole rounds are written')
    parser.add_argument('--trace-dat')
    parser.add_argument('--perf-data')
    parser.add_argument('--from', dest='source', default=os.path.join(HERE, '..', 'tests', 'data', 'amd64', 'trace.dat'))
    parser.add_argument('--leak', action='store_true', help='leave all frees out')
    options = parser.parse_args()
    round_ = Round(tracedat.read(options.source), options.leak)
    rounds = -(-options.events // len(round_.records))
    if options.perf_data:
        write_perf_data(round_, rounds, options.perf_data)
    if options.trace_dat:
        write_trace_dat(round_, rounds, options.trace_dat)
    print(rounds * len(round_.records))


if __name__ == '__main__':
    main()
