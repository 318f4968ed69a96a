#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes small, valid inputs for the fuzzers, cut from the real traces: the closer to the format a fuzzer starts, the
deeper it gets.
  make_seeds.py FOLDER"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
sys.dont_write_bytecode = True
import kmt_writer  # noqa: E402
import perfdata  # noqa: E402
import relay_files  # noqa: E402
import text_traces  # noqa: E402
import tracedat  # noqa: E402

PAGES = 2  # of each CPU
RECORDS = 12  # of a .kmt block
SYMBOLS = 500  # bytes
SAMPLES = 40  # of a perf.data


def write(folder, name, contents):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), 'wb') as file:
        file.write(contents)


def perf_data(name):
    """What a fixture holds, unpacked where it is stored compressed."""
    path = os.path.join(HERE, '..', 'data', name)
    if os.path.exists(path):
        with open(path, 'rb') as file:
            return file.read()
    return subprocess.run(['zstd', '-q', '-d', '-c', path + '.zst'], stdout=subprocess.PIPE, check=True).stdout


def write_perf_seeds(folder):
    for name in ('amd64/perf.g.data', 'i386/perf.g.data', 's390x/perf.g.data', 'amd64/perf.lost.data', 's390x/perf.lost.data',
                 'amd64/perf.z.data', 's390x/perf.z.data'):
        perf = perfdata.read(perf_data(name))
        if '.z.' in name:
            perf.records = [record for record in perf.records if perf.type_of(record) == perfdata.COMPRESSED][:3]
        else:
            perf = perfdata.shortened(perf, SAMPLES)
        write(folder, name.replace('/', '.'), perfdata.to_file(perf))
        write(folder, name.replace('/', '.') + '.pipe', perfdata.to_pipe(perf))


def main():
    write_perf_seeds(os.path.join(sys.argv[1], 'perf_data_fuzzer'))
    for kernel in ('amd64', 'i386', 's390x', 'amd64-5.10', 'amd64-stacks'):
        trace = tracedat.read(os.path.join(HERE, '..', 'data', kernel, 'trace.dat'))
        trace.kallsyms = trace.kallsyms[:SYMBOLS]
        trace.ftrace_formats = [text for text in trace.ftrace_formats if b'kernel_stack' in text]
        trace.event_formats = {'kmem': trace.event_formats['kmem']}
        whole = trace.buffers[0]
        size = PAGES * whole.page_size
        trace.buffers = [whole._replace(pages={cpu: pages[:size] for cpu, pages in whole.pages.items()})]
        forms = {'v6': tracedat.to_v6(trace), 'v7': tracedat.to_v7(trace), 'zlib': tracedat.to_v7(trace, 'zlib'),
                 'zstd': tracedat.to_v7(trace, 'zstd', chunk_pages=1)}
        trace.buffers.append(trace.buffers[0]._replace(name='second'))
        forms['instances'] = tracedat.to_v7(trace, 'zlib')
        for form, (contents, _) in forms.items():
            write(os.path.join(sys.argv[1], 'trace_dat_fuzzer'), f'{kernel}.{form}', contents)
        trace.buffers = trace.buffers[:1]
        block = kmt_writer.block(trace, RECORDS)
        write(os.path.join(sys.argv[1], 'trace_dat_fuzzer'), f'{kernel}.kmt', kmt_writer.file(trace, block))
        write(os.path.join(sys.argv[1], 'kmt_block_fuzzer'), kernel, bytes([trace.order == '>']) + block)
        layout = (trace.order == '>') + 2 * (trace.page_data_offset()[1] == 4)
        for cpu, pages in whole.pages.items():
            write(os.path.join(sys.argv[1], 'page_fuzzer'), f'{kernel}.{cpu}',
                  bytes([layout]) + pages[:whole.page_size])
    for number, abi in enumerate(relay_files.ABIS):
        events = relay_files.events(RECORDS)
        for form, first in (('told', number), ('found', 0xFF)):
            write(os.path.join(sys.argv[1], 'relay_fuzzer'), f'{abi}.{form}',
                  bytes([first]) + b''.join(relay_files.record(abi, event) for event in events))
    for name, text in text_traces.SAMPLES.items():
        write(os.path.join(sys.argv[1], 'text_fuzzer'), name, text.encode())


if __name__ == '__main__':
    main()
