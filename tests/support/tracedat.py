# SPDX-License-Identifier: GPL-2.0-or-later
"""A small model of trace.dat files for tests and benchmarks: reads version 7, writes versions 6 and 7.

Written from trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5), independently of the project's reader. Only for intact
files: lengths in the file are not checked."""
import collections
import dataclasses
import re
import struct
import subprocess
import zlib

MAGIC = b'\x17\x08\x44tracing'

# Options of version 7 that contain the offset of a section. All other options are copied unchanged.
DONE, BUFFER, HEADER_INFO, FTRACE_EVENTS, EVENT_FORMATS, KALLSYMS, PRINTK, CMDLINES = 0, 3, 16, 17, 18, 19, 20, 21
STRINGS = 15
OPTIONS_SECTION, BUFFER_SECTION = 0, 3
COUNT_BYTES = 4  # the number of chunks, stored before a CPU's compressed data; trace-cmd does not count it as data

Buffer = collections.namedtuple('Buffer', 'name clock page_size pages')  # pages: {cpu: the bytes of all its pages}


@dataclasses.dataclass
class Trace:
    order: str = '<'  # byte order, '<' or '>', as in module struct
    long_bytes: int = 8
    page_size: int = 4096
    header_page: bytes = b''
    header_event: bytes = b''
    ftrace_formats: list = dataclasses.field(default_factory=list)
    event_formats: dict = dataclasses.field(default_factory=dict)  # system: [format text]
    kallsyms: bytes = b''
    printk: bytes = b''
    cmdlines: bytes = b''
    cpus: int = 0
    options: list = dataclasses.field(default_factory=list)  # (id, data)
    buffers: list = dataclasses.field(default_factory=list)  # list of Buffer; the first is the top buffer

    def page_data_offset(self):
        """Returns the offset of the first event in a page, and the size of the commit field."""
        field = re.search(rb'commit;\s*offset:(\d+);\s*size:(\d+)', self.header_page)
        return int(field[1]) + int(field[2]), int(field[2])


class _Reader:
    def __init__(self, data, order):
        self.data, self.order, self.at = data, order, 0

    def bytes(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, code):
        return struct.unpack(self.order + code, self.bytes(struct.calcsize(code)))[0]

    def string(self):
        end = self.data.index(b'\0', self.at)
        text = self.data[self.at:end]
        self.at = end + 1
        return text


def _zstd(*options):
    return lambda data: subprocess.run(['zstd', '-q', '-c', *options], input=data, stdout=subprocess.PIPE, check=True).stdout


DECOMPRESS = {'zlib': zlib.decompress, 'zstd': _zstd('-d')}
COMPRESS = {'none': None, 'zlib': zlib.compress, 'zstd': _zstd()}


def read(path):
    """Reads a version 7 file and returns its Trace."""
    with open(path, 'rb') as file:
        data = file.read()
    assert data.startswith(MAGIC + b'7\0'), path
    at = len(MAGIC) + 2
    order = '>' if data[at] else '<'
    head = _Reader(data, order)
    head.at = at + 1
    trace = Trace(order=order, long_bytes=head.number('B'), page_size=head.number('I'))
    compression = head.string().decode()
    head.string()
    decompress = DECOMPRESS.get(compression)

    def section(offset):
        reader = _Reader(data, order)
        reader.at = offset
        _, flags, _, size = (reader.number(code) for code in 'HHIQ')
        content = reader.bytes(size)
        if flags & 1:
            packed = _Reader(content, order)
            length, _ = packed.number('I'), packed.number('I')
            content = decompress(packed.bytes(length))
        return _Reader(content, order)

    next_options = head.number('Q')
    while next_options:
        options = section(next_options)
        while True:
            kind, size = options.number('H'), options.number('I')
            value = options.bytes(size)
            if kind == DONE:
                next_options = struct.unpack(order + 'Q', value[:8])[0]
                break
            _read_option(trace, kind, value, section, data, decompress)
    return trace


def _read_option(trace, kind, value, section, data, decompress):
    order = trace.order
    if kind == BUFFER:
        option = _Reader(value, order)
        flags = struct.unpack_from(order + 'H', data, option.number('Q') + 2)[0]
        name, clock = option.string().decode(), option.string().decode()
        page_size, pages = option.number('I'), {}
        for _ in range(option.number('I')):
            cpu, offset, size = option.number('I'), option.number('Q'), option.number('Q')
            content = data[offset:offset + size]
            if flags & 1 and size:
                chunks = _Reader(data[offset:offset + COUNT_BYTES + size], order)
                unpacked = b''
                for _ in range(chunks.number('I')):
                    length, _ = chunks.number('I'), chunks.number('I')
                    unpacked += decompress(chunks.bytes(length))
                content = unpacked
            pages[cpu] = content
        trace.buffers.append(Buffer(name, clock, page_size, pages))
        trace.cpus = max(trace.cpus, len(pages))
    elif kind == HEADER_INFO:
        reader = section(struct.unpack(order + 'Q', value)[0])
        reader.string()
        trace.header_page = reader.bytes(reader.number('Q'))
        reader.string()
        trace.header_event = reader.bytes(reader.number('Q'))
    elif kind == FTRACE_EVENTS:
        reader = section(struct.unpack(order + 'Q', value)[0])
        trace.ftrace_formats = [reader.bytes(reader.number('Q')) for _ in range(reader.number('I'))]
    elif kind == EVENT_FORMATS:
        reader = section(struct.unpack(order + 'Q', value)[0])
        for _ in range(reader.number('I')):
            system = reader.string().decode()
            trace.event_formats[system] = [reader.bytes(reader.number('Q')) for _ in range(reader.number('I'))]
    elif kind in (KALLSYMS, PRINTK, CMDLINES):
        reader = section(struct.unpack(order + 'Q', value)[0])
        text = reader.bytes(reader.number('Q' if kind == CMDLINES else 'I'))
        setattr(trace, {KALLSYMS: 'kallsyms', PRINTK: 'printk', CMDLINES: 'cmdlines'}[kind], text)
    elif kind != STRINGS:
        trace.options.append((kind, value))


# -- writing ----------------------------------------------------------------------------------------------------------

def sections(trace):
    """Yields (option id, content) of the sections that versions 6 and 7 have in common, in the order of version 6."""
    pack = lambda code, *values: struct.pack(trace.order + code, *values)
    formats = lambda texts: pack('I', len(texts)) + b''.join(pack('Q', len(t)) + t for t in texts)
    systems = b''.join(name.encode() + b'\0' + formats(texts) for name, texts in trace.event_formats.items())
    return [
        (HEADER_INFO, b'header_page\0' + pack('Q', len(trace.header_page)) + trace.header_page +
         b'header_event\0' + pack('Q', len(trace.header_event)) + trace.header_event),
        (FTRACE_EVENTS, formats(trace.ftrace_formats)),
        (EVENT_FORMATS, pack('I', len(trace.event_formats)) + systems),
        (KALLSYMS, pack('I', len(trace.kallsyms)) + trace.kallsyms),
        (PRINTK, pack('I', len(trace.printk)) + trace.printk),
        (CMDLINES, pack('Q', len(trace.cmdlines)) + trace.cmdlines),
    ]


class _Writer:
    """The bytes of a file under construction. `marks` records the offset of each part, for tests that damage them."""

    def __init__(self, trace):
        self.order, self.data, self.marks = trace.order, bytearray(), {}

    def put(self, code, *values):
        self.data += struct.pack(self.order + code, *values)

    def patch(self, at, code, *values):
        struct.pack_into(self.order + code, self.data, at, *values)

    def mark(self, name):
        self.marks[name] = len(self.data)

    def align(self, size):
        self.data += bytes(-len(self.data) % size)


def to_v6(trace):
    """Returns the bytes of a version 6 file, and {part: offset}: header, formats, kallsyms, options, cpu0 …"""
    out = _Writer(trace)
    out.data += MAGIC + b'6\0'
    out.put('BBI', trace.order == '>', trace.long_bytes, trace.page_size)
    for kind, content in sections(trace):
        out.mark({HEADER_INFO: 'header', EVENT_FORMATS: 'formats', KALLSYMS: 'kallsyms'}.get(kind, kind))
        out.data += content
    out.mark('cpus')
    out.put('I', trace.cpus)
    out.mark('options')
    out.data += b'options  \0'
    for kind, value in trace.options:
        out.put('HI', kind, len(value))
        out.data += value
    places = []
    for buffer in trace.buffers[1:]:
        out.put('HI', BUFFER, 8 + len(buffer.name) + 1)
        places.append(len(out.data))
        out.put('Q', 0)
        out.data += buffer.name.encode() + b'\0'
    out.put('H', 0)
    for index, buffer in enumerate(trace.buffers):
        prefix = '' if index == 0 else buffer.name + '/'
        if index:
            out.patch(places[index - 1], 'Q', len(out.data))
        out.data += b'flyrecord\0'
        out.mark(prefix + 'table')
        table = len(out.data)
        out.data += bytes(16 * trace.cpus)
        for cpu in range(trace.cpus):
            pages = buffer.pages.get(cpu, b'')
            out.align(trace.page_size)
            out.mark(f'{prefix}cpu{cpu}')
            out.patch(table + 16 * cpu, 'QQ', len(out.data), len(pages))
            out.data += pages
    return bytes(out.data), out.marks


def to_v7(trace, compression='none', chunk_pages=32):
    """Returns the bytes of a version 7 file, and {part: offset}: options, cpu0 …"""
    compress = COMPRESS[compression]
    out = _Writer(trace)
    out.data += MAGIC + b'7\0'
    out.put('BBI', trace.order == '>', trace.long_bytes, trace.page_size)
    out.data += compression.encode() + b'\0' + b'1\0'
    first_options = len(out.data)
    out.put('Q', 0)
    options = list(trace.options)

    for kind, content in sections(trace):
        options.append((kind, struct.pack(trace.order + 'Q', len(out.data))))
        out.mark({HEADER_INFO: 'header', EVENT_FORMATS: 'formats', KALLSYMS: 'kallsyms'}.get(kind, kind))
        if compress:
            packed = compress(content)
            out.put('HHIQII', kind, 1, 0, len(packed) + 8, len(packed), len(content))
            out.data += packed
        else:
            out.put('HHIQ', kind, 0, 0, len(content))
            out.data += content

    for index, buffer in enumerate(trace.buffers):
        prefix = '' if index == 0 else buffer.name + '/'
        start = len(out.data)
        out.put('HHIQ', BUFFER_SECTION, 1 if compress else 0, 0, 0)
        option = _Writer(trace)
        option.put('Q', start)
        option.data += buffer.name.encode() + b'\0' + buffer.clock.encode() + b'\0'
        option.put('II', buffer.page_size, len(buffer.pages))
        for cpu, pages in sorted(buffer.pages.items()):
            out.align(trace.page_size)
            out.mark(f'{prefix}cpu{cpu}')
            at = len(out.data)
            if compress and pages:
                step = chunk_pages * buffer.page_size
                chunks = [pages[i:i + step] for i in range(0, len(pages), step)]
                out.put('I', len(chunks))
                for chunk in chunks:
                    packed = compress(chunk)
                    out.put('II', len(packed), len(chunk))
                    out.data += packed
            else:
                out.data += pages
            option.put('IQQ', cpu, at, max(0, len(out.data) - at - (COUNT_BYTES if compress else 0)))
        out.patch(start + 8, 'Q', len(out.data) - start - 16)
        options.append((BUFFER, bytes(option.data)))

    out.mark('options')
    out.patch(first_options, 'Q', len(out.data))
    content = b''.join(struct.pack(trace.order + 'HI', kind, len(value)) + value for kind, value in options)
    content += struct.pack(trace.order + 'HIQ', DONE, 8, 0)
    out.put('HHIQ', OPTIONS_SECTION, 0, 0, len(content))
    out.data += content
    return bytes(out.data), out.marks


# -- pages ------------------------------------------------------------------------------------------------------------

Record = collections.namedtuple('Record', 'time offset size')  # offset and size of the payload in the page


def records(trace, page):
    """Yields the data records of one page."""
    data_start, commit_bytes = trace.page_data_offset()
    time, = struct.unpack_from(trace.order + 'Q', page)
    commit, = struct.unpack_from(trace.order + ('Q' if commit_bytes == 8 else 'I'), page, 8)
    at, end = data_start, data_start + (commit & 0xfffff)
    while at < end:
        word, = struct.unpack_from(trace.order + 'I', page, at)
        length, delta = (word >> 27, word & 0x7ffffff) if trace.order == '>' else (word & 31, word >> 5)
        if length == 29:  # padding
            if delta == 0:
                return
            at += 4 + struct.unpack_from(trace.order + 'I', page, at + 4)[0]
        elif length in (30, 31):  # a time extension, or an absolute time
            high, = struct.unpack_from(trace.order + 'I', page, at + 4)
            time = (time if length == 30 else time >> 59 << 59) + (high << 27) + delta
            at += 8
        else:
            time += delta
            start = at + 4 if length else at + 8
            size = 4 * length if length else struct.unpack_from(trace.order + 'I', page, at + 4)[0] - 4
            yield Record(time, start, size)
            at = start + (size + 3 & ~3)


def pages_of(trace, records):
    """Returns the bytes of one CPU's pages with these (time, payload) records in this order. Payloads have at most
    112 bytes and consist of whole words; times differ by at most 2^27 ns."""
    start, commit_bytes = trace.page_data_offset()
    pages, page, last = bytearray(), bytearray(), 0

    def close():
        if page:
            struct.pack_into(trace.order + ('Q' if commit_bytes == 8 else 'I'), page, 8, len(page) - start)
            pages.extend(page + bytes(trace.page_size - len(page)))

    for time, payload in records:
        if not page or len(page) + 4 + len(payload) > trace.page_size:
            close()
            page[:] = struct.pack(trace.order + 'Q', time) + bytes(start - 8)
            last = time
        words, delta = len(payload) // 4, time - last
        assert words <= 28 and len(payload) % 4 == 0 and delta < 1 << 27
        page += struct.pack(trace.order + 'I', words << 27 | delta if trace.order == '>' else words | delta << 5) + payload
        last = time
    close()
    return bytes(pages)


Field = collections.namedtuple('Field', 'offset size signed')


def parse_format(text):
    """Returns the ID and {field: Field} of a format description."""
    text = text.decode()
    fields = {}
    for declaration, offset, size, signed in re.findall(r'field:([^;]*);\s*offset:(\d+);\s*size:(\d+);(?:\s*signed:(\d);)?',
                                                        text):
        name = re.sub(r'\[[^\]]*\]', '', declaration).split()[-1]
        fields[name] = Field(int(offset), int(size), signed == '1')
    return int(re.search(r'^ID: (\d+)', text, re.M)[1]), fields


def formats(trace):
    """Returns {event name: (id, fields)} of the kmem events."""
    return {re.search(rb'name: (\S+)', text)[1].decode(): parse_format(text) for text in trace.event_formats['kmem']}
