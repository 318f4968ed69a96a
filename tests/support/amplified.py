# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of at most 1 MiB that make a reader do far more work or use far more memory than their size suggests: {name:
bytes}."""
import dataclasses
import os
import random
import struct
import subprocess
import sys
import tempfile

import kmt_writer
import tracedat
from kmemtrace import data

MIB = 1 << 20
CPU_COUNT, CPU_STATISTICS = 8, 2


def donor():
    return tracedat.read(data('amd64-stacks/trace.dat'))


def bare(**changes):
    """Returns a trace that has only the description of the machine."""
    trace = donor()
    return dataclasses.replace(trace, event_formats={'kmem': trace.event_formats['kmem']}, kallsyms=b'', printk=b'',
                               cmdlines=b'', buffers=[], options=[], **changes)


def cpu_count(trace, cpus):
    return CPU_COUNT, struct.pack(trace.order + 'I', cpus)


def buffers(count, cpus, pages):
    trace = bare(page_size=1)
    trace.options.append(cpu_count(trace, cpus))
    trace.buffers = [tracedat.Buffer(str(number) if number else '', 'local', 64, {number % 4: pages})
                     for number in range(count)]
    return tracedat.to_v7(trace)[0]


def instances_of_one_table(count, cpus):
    """Returns a version 6 trace in which every instance refers to the CPU list of the top buffer."""
    trace = bare(cpus=cpus, page_size=1)
    trace.buffers = [tracedat.Buffer('', 'local', 4096, {})]
    place = 0
    for _ in range(2):
        trace.options = [(tracedat.BUFFER, struct.pack('<Q', place) + b'%05d\0' % number) for number in range(count)]
        file, marks = tracedat.to_v6(trace)
        place = marks['table'] - len('flyrecord\0')
    return file


def format_text(number, fields=1):
    lines = ''.join(f'\tfield:int f{i};\toffset:{8 + 4 * i};\tsize:4;\tsigned:1;\n' for i in range(fields))
    return f'name: e{number}\nID: {number}\nformat:\n{lines}\nprint fmt: ""\n'.encode()


def many_formats(count, compression='none'):
    trace = bare()
    trace.event_formats = {'kmem': trace.event_formats['kmem'], 'x': [format_text(number % 60000 + 2000) for number in range(count)]}
    return tracedat.to_v7(trace, compression)[0]


def one_format(text):
    trace = bare()
    trace.event_formats = {'kmem': trace.event_formats['kmem'], 'x': [text]}
    return tracedat.to_v7(trace)[0]


def with_text(compression='none', **texts):
    return tracedat.to_v7(dataclasses.replace(bare(), **texts), compression)[0]


def compressed_pages(megabytes, page):
    """Returns a trace with chunks of equal pages, which compress to almost nothing."""
    trace = bare()
    trace.buffers = [tracedat.Buffer('', 'local', 4096, {0: page * (megabytes * MIB // len(page))})]
    return tracedat.to_v7(trace, 'zstd', chunk_pages=256)[0]


def full_page():
    trace = donor()
    return next(pages for pages in trace.buffers[0].pages.values() if pages)[:4096]


def kmt(more=(), **facts):
    trace = donor()
    return kmt_writer.file(trace, kmt_writer.block(trace, 12), more, **facts)


def empty_kmt_streams(count):
    return kmt([(kmt_writer.STREAM, 2 + number, kmt_writer.varint(number % 65536) + kmt_writer.varint(4096) +
                 kmt_writer.text(b'b%d' % number)) for number in range(count)])


def zstd(content, prefix=None):
    """Returns one Zstandard frame that states its size. `prefix` is the data that the decompressor knows before the
    frame."""
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ('content', 'prefix')]
        for name, bytes_of in zip(names, (content, prefix or b'')):
            with open(name, 'wb') as file:
                file.write(bytes_of)
        options = [f'--patch-from={names[1]}'] if prefix else []
        return subprocess.run(['zstd', '-q', '-c', *options, names[0]], stdout=subprocess.PIPE, check=True).stdout


def kmt_chunks(chunks):
    """Returns a .kmt without an index, built from chunks (type, flags, stream, stored bytes, unpacked size)."""
    out = b'\x89KMT\r\n\x1a\n' + struct.pack('<HHI', 1, 0, 0)
    for kind, flags, stream, stored, plain in chunks:
        head = b'KMTc' + struct.pack('<BBHII', kind, flags, stream, len(stored), plain) + kmt_writer.checksum(stored)
        out += head + kmt_writer.checksum(head) + stored
    return out


def series(count, bytes_of_each):
    text = b''.join(b'slab_name_%d 1 2 3 4 5 : tunables 0 0 0 : slabdata 1 1 0\n' % number
                    for number in range(bytes_of_each // 60))
    with open(data('snapshot/amd64/before/meminfo'), 'rb') as file:
        meminfo = file.read()
    sample = kmt_writer.varint(1000) + kmt_writer.varint(1)
    sample += kmt_writer.text(b'meminfo') + kmt_writer.text(meminfo) + kmt_writer.text(b'slabinfo') + kmt_writer.text(text)
    patch = zstd(sample, sample)
    return kmt_chunks([(6, 1, 0, zstd(sample), len(sample))] + [(9, 2, 0, patch, len(sample))] * count)


def compressed_blocks(count):
    """Returns a .kmt with blocks of equal records, which compress very well."""
    trace = donor()
    whole = kmt_writer.file(trace, kmt_writer.block(trace, 1))
    noise = random.Random(1)  # the noise keeps the compression within the ratio that the format allows
    block = kmt_writer.literals([b'\x01\x00\x00\x00' + (noise.randbytes(4) if number % 100 == 0 else bytes(4))
                                 for number in range(400000)])
    stored = zstd(block)
    block_chunk = kmt_chunks([(kmt_writer.EVENTS, 1, 0, stored, len(block))])[16:]
    return whole + block_chunk * count


def compressed_samples(count):
    """Returns a perf.data with compressed records of one type."""
    record = struct.pack('<IHH', 9, 0, 64) + bytes(56)
    packed = zstd(record * 500)
    size = 8 + len(packed) + -len(packed) % 8
    return pipe_perf((struct.pack('<IHH', 81, 0, size) + packed.ljust(size - 8, b'\0')) * count)


def text_trace(line, count):
    return b'# tracer: nop\n' + b''.join(line(number) for number in range(count))


def kmem_line(number):
    return (b'  task-%d    [%03d] d..1. %d.%06d: kmalloc: call_site=f%d+0x1/0x2 ptr=%016x bytes_req=8 bytes_alloc=8 '
            b'gfp_flags=GFP_KERNEL\n' % (number, number % 8192, number, number % 1000000, number, number * 64))


def pipe_perf(records):
    return b'PERFILE2' + struct.pack('<Q', 16) + records


def cases():
    made = {
        'many_buffers.dat': buffers(14000, 65535, b''),
        'many_buffers_with_pages.dat': buffers(7000, 65535, bytes(64)),
        'findings.dat': buffers(200, 65535, bytes(64)),
        'instances_of_one_table.dat': instances_of_one_table(20000, 30000),
        'many_formats.dat': many_formats(8000),
        'many_formats_zlib.dat': many_formats(150000, 'zlib'),
        'many_formats_zstd.dat': many_formats(400000, 'zstd'),
        'many_fields.dat': one_format(format_text(2000, 15000)),
        'long_print_format.dat': one_format(format_text(2000) + b'print fmt: "%d", ' + b'REC->f0 + ' * 60000 + b'1\n'),
        'deep_print_format.dat': one_format(format_text(2000) + b'print fmt: "%d", ' + b'(' * 300000 + b')' * 300000 + b'\n'),
        'symbols.dat': with_text(kallsyms=b'1 t a\n' * 160000),
        'symbols_zlib.dat': with_text('zlib', kallsyms=b'1 t a\n' * 20000000),
        'tasks.dat': with_text(cmdlines=b''.join(b'%d a\n' % number for number in range(90000))),
        'printk.dat': with_text(printk=b'0x1 : "a"\n' * 90000),
        'statistics.dat': tracedat.to_v7(dataclasses.replace(bare(), options=[
            (CPU_STATISTICS, b'CPU: %d\nentries: 0\n\0' % number) for number in range(30000)]))[0],
        'empty_pages.dat': compressed_pages(512, bytes(4096)),
        'full_pages.dat': compressed_pages(256, full_page()),
        'facts.kmt': kmt(saved_cmdlines='1 a\n' * 200000),
        'notes.kmt': kmt(**{f'note:{number}': '' for number in range(60000)}),
        'streams.kmt': empty_kmt_streams(15000),
        'tasks.kmt': kmt(**{'note:tasks': ''.join(f'{number} {number} 1 a\n' for number in range(50000))}),
        'cpu_changes.kmt': kmt(**{'note:cpu_changes': ''.join(f'{number} {number} online\n' for number in range(50000))}),
        'lines.txt': text_trace(kmem_line, 7000),
        'short_lines.txt': text_trace(lambda number: b'a\n', 400000),
        'one_line.txt': text_trace(lambda number: b'  t-1    [000] d..1. 1.000001: kmalloc: ' + b'a=1 ' * 250000 + b'\n', 1),
        'attributes.perf': pipe_perf(struct.pack('<IHHII', 64, 0, 64 + 8, 2, 64) .ljust(72, b'\0') * 14000),
        'rounds.perf': pipe_perf(struct.pack('<IHH', 68, 0, 8) * 120000),
        'series.kmt': series(14000, 150000),
        'compressed_blocks.kmt': compressed_blocks(40),
        'compressed_samples.perf': compressed_samples(8000),
    }
    return made


def write(folder):
    os.makedirs(folder, exist_ok=True)
    for name, content in cases().items():
        assert len(content) <= MIB, (name, len(content))
        with open(os.path.join(folder, name), 'wb') as file:
            file.write(content)


if __name__ == '__main__':
    write(sys.argv[1])
