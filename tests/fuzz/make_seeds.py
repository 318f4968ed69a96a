#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes small, valid inputs for the fuzzers, cut from real traces. A fuzzer that starts with valid inputs reaches more
code.
  make_seeds.py FOLDER"""
import json
import os
import re
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
sys.dont_write_bytecode = True
import kmt_writer  # noqa: E402
import perfdata  # noqa: E402
import relay_files  # noqa: E402
import seeds  # noqa: E402
import text_traces  # noqa: E402
import tracedat  # noqa: E402

PAGES = 2  # number of pages per CPU
RECORDS = 12  # number of records per .kmt block
SYMBOLS = 500  # bytes of kallsyms per trace
SAMPLES = 40  # number of samples per perf.data
LINES = 60  # number of lines per file of a snapshot


def perf_data(name):
    """Returns the content of a fixture, unpacked if it is stored compressed."""
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
        seeds.write(folder, name.replace('/', '.'), perfdata.to_file(perf))
        seeds.write(folder, name.replace('/', '.') + '.pipe', perfdata.to_pipe(perf))


# Contents of kernel files that are missing for some machines of tests/data/snapshot.
MEMINFO = b"""@meminfo
MemTotal: 1000 kB
MemFree: 500 kB
Buffers: 0 kB
Cached: 20 kB
AnonPages: 30 kB
Shmem: 5 kB
Slab: 80 kB
KernelStack: 4 kB
PageTables: 8 kB
VmallocUsed: 9 kB
"""
OTHER_TEXTS = MEMINFO + b"""@recorder
ring_buffers 4096
bpf_maps 8192
@vmallocinfo
0x00000000ee3ff000-0x00000000c6dcd0e5   20480 dup_task_struct+0xca/0x100 pages=4 vmalloc N0=4
0x0000000000000005-0x0000000000000006    8192 unpurged vm_area
@slab
:0000096/object_size:90
:0000096/slabs_cpu_partial:128(4) C0=64(2)
kmalloc-96 -> :0000096
@sockstat
TCP: inuse 31 orphan 0 tw 0 alloc 31 mem 227
FRAG: inuse 0 memory 0
@dmesg
[    0.1] setup_percpu: NR_CPUS:256 nr_cpumask_bits:2 nr_cpu_ids:2 nr_node_ids:1
[    0.1] percpu: Embedded 53 pages/cpu s185496 r0 d31592 u1048576
@percpu_stats
  unit_size           :      1048576
@pagetypeinfo
Node    0, zone      DMA, type    Unmovable     >100000      7
@allocinfo
allocinfo - version: 1.0
        4096        1 mm/slub.c:2367 [module] func:alloc_slab_page accurate:no
@cgroups
/a/memory.stat:anon 5
/a/memory.stat:slab 7
/a/memory.kmem.usage_in_bytes:9
@alloc_traces
kmalloc-96/alloc_traces:     25 take+0x1/0x2 [mod] waste=400/16 age=1/2/3 pid=1-2 cpus=0
kmalloc-96/alloc_traces:\ttake+0x1/0x2
@page_owner
Page allocated via order 2, mask 0x0(), pid 1, tgid 1 (init), ts 1 ns
 take+0x1/0x2
@page_owner_stacks
 take+0x1/0x2
nr_base_pages: 16
@kmemleak
unreferenced object 0xffff (size 32):
  backtrace:
    [<00000000deadbeef>] lost+0x1/0x2
@missing
kmemleak\tnot there\tboot with it
"""


def first_lines(path, prefix=b''):
    with open(path, 'rb') as file:
        return b''.join(prefix + line for line in file.readlines()[:LINES])


# OOM reports in forms of logs that tests/data/oom lacks.
CARRIED_LOGS = {
    'container': b'{"log":"[  1.5] Mem-Info:\\n","stream":"stderr","time":"2024-03-01T10:00:00Z"}\n'
                 b'{"log":"active_anon:5 inactive_anon:1 isolated_anon:0\\n"}\n{"log":"40 pages RAM\\n"}\n',
    'csv': b'time,message,host\n5000.5,Mem-Info:,h\n5000.6,"active_anon:5 inactive_anon:1",h\n5000.7,"40 pages RAM",h\n',
    'mail': b'Mem-Info:\nactive_anon:5 inac=\ntive_anon:1 isolated_anon:0\nFree swap  =3D 0kB\n40 pages RAM\n',
}


def write_snapshot_seeds(folder):
    """Writes a seed per machine and state: the first lines of each file, in one text. If a folder has only the output
    of debugging features, an invented meminfo is added."""
    data = os.path.join(HERE, '..', 'data', 'snapshot')
    for machine in sorted(entry.name for entry in os.scandir(data) if entry.is_dir()):
        for when in sorted(entry.name for entry in os.scandir(os.path.join(data, machine)) if entry.is_dir()):
            place = os.path.join(data, machine, when)
            seed = b'' if os.path.exists(os.path.join(place, 'meminfo')) else MEMINFO
            for entry in sorted(os.scandir(place), key=lambda entry: entry.name):
                if entry.is_file():
                    seed += f'@{entry.name}\n'.encode() + first_lines(entry.path)
            slab = os.path.join(place, 'sys/kernel/debug/slab')
            for name in ('alloc_traces', 'free_traces') if os.path.exists(slab) else ():
                seed += f'@{name}\n'.encode()
                for cache in sorted(os.listdir(slab)):
                    seed += first_lines(os.path.join(slab, cache, name), f'{cache}/{name}:'.encode())
            seeds.write(folder, f'{machine}.{when}', seed)
    seeds.write(folder, 'others', OTHER_TEXTS)
    logs = os.path.join(HERE, '..', 'data', 'oom')
    for name in sorted(os.listdir(logs)):
        with open(os.path.join(logs, name), 'rb') as file:
            text = file.read()
        seeds.write(folder, 'oom.' + name, text)
        seeds.write(folder, 'oom.no-total.' + name, re.sub(rb'managed:|pages RAM', b'', text))
    for name, text in CARRIED_LOGS.items():
        seeds.write(folder, 'oom.' + name, text)


def user_chunks(trace):
    """Returns chunks about a process that maps a program, the vDSO and generated code, forks, and executes a program.
    Adds allocation events to the trace. Their user stacks have one frame in each of the three mappings."""
    task, program, vdso, made = 5, 0x400000, 0x7fff0000, 0x10000
    formats = {number: fields for number, fields in map(tracedat.parse_format, trace.ftrace_formats) if 'caller' in fields}
    stacks = [(number, fields) for number, fields in formats.items() if 'tgid' in fields]
    if not stacks:
        return []
    number, fields = stacks[0]
    stack = bytearray(fields['caller'].offset + fields['caller'].size)
    struct.pack_into(trace.order + 'H', stack, 0, number)
    struct.pack_into(trace.order + 'I', stack, fields['tgid'].offset, task)
    word = trace.order + ('Q' if trace.long_bytes == 8 else 'I')
    for place, address in enumerate((vdso + 0x10, program + 0x20, made + 0x30)):
        struct.pack_into(word, stack, fields['caller'].offset + place * trace.long_bytes, address)
    page = next(pages for pages in trace.buffers[0].pages.values() if pages)[:trace.page_size]
    records = [page[record.offset:record.offset + record.size] for record in tracedat.records(trace, page)]
    allocates = {kind for kind, known in tracedat.formats(trace).values() if 'bytes_alloc' in known}
    event = next(record for record in records if struct.unpack_from(trace.order + 'H', record)[0] in allocates)
    code = kmt_writer.user_memory(
        [(b'/bin/program', b'0123456789abcdef', b''), (b'[vdso]', b'', b'0 100 gettime\n'),
         (b'/tmp/perf-5.map', b'', b'10000 100 made\n')],
        [(0, task, 0, 0, program, 0x1000, 0), (0, task, 0, 1, vdso, 0x1000, 0), (10, 6, 1, task), (20, 6, 2),
         (30, task, 0, 2, made, 0x1000, made)])
    return [(kmt_writer.USER_MEMORY, 0, code),
            (kmt_writer.EVENTS, 0, kmt_writer.literals([event, bytes(stack)] * 2, tid=task))]


def main():
    write_snapshot_seeds(os.path.join(sys.argv[1], 'snapshot_fuzzer'))
    seeds.write_elf_seeds(os.path.join(sys.argv[1], 'elf_fuzzer'))
    seeds.write_btf_seeds(os.path.join(sys.argv[1], 'btf_fuzzer'))
    seeds.write_ctf_seeds(os.path.join(sys.argv[1], 'ctf_fuzzer'))
    seeds.write(os.path.join(sys.argv[1], 'fleet_answer_fuzzer'), 'rows', seeds.FLEET_ANSWER)
    seeds.write(os.path.join(sys.argv[1], 'evidence_fuzzer'), 'watched', json.dumps(seeds.EVIDENCE).encode())
    write_perf_seeds(os.path.join(sys.argv[1], 'perf_data_fuzzer'))
    for kernel in ('amd64', 'i386', 's390x', 'amd64-5.10', 'amd64-stacks'):
        trace = tracedat.read(os.path.join(HERE, '..', 'data', kernel, 'trace.dat'))
        trace.kallsyms = trace.kallsyms[:SYMBOLS]
        trace.ftrace_formats = [text for text in trace.ftrace_formats if b'_stack\n' in text]
        trace.event_formats = {'kmem': trace.event_formats['kmem']}
        whole = trace.buffers[0]
        size = PAGES * whole.page_size
        trace.buffers = [whole._replace(pages={cpu: pages[:size] for cpu, pages in whole.pages.items()})]
        forms = {'v6': tracedat.to_v6(trace), 'v7': tracedat.to_v7(trace), 'zlib': tracedat.to_v7(trace, 'zlib'),
                 'zstd': tracedat.to_v7(trace, 'zstd', chunk_pages=1)}
        trace.buffers.append(trace.buffers[0]._replace(name='second'))
        forms['instances'] = tracedat.to_v7(trace, 'zlib')
        for form, (contents, _) in forms.items():
            seeds.write(os.path.join(sys.argv[1], 'trace_dat_fuzzer'), f'{kernel}.{form}', contents)
        trace.buffers = trace.buffers[:1]
        block = kmt_writer.block(trace, RECORDS)
        whole_file = kmt_writer.file(trace, block, user_chunks(trace), **{'note:tasks_32_bit': '5'})
        seeds.write(os.path.join(sys.argv[1], 'trace_dat_fuzzer'), f'{kernel}.kmt', whole_file)
        seeds.write_chunk_seeds(os.path.join(sys.argv[1], 'kmt_chunk_fuzzer'), kernel, whole_file, MEMINFO)
        seeds.write(os.path.join(sys.argv[1], 'kmt_block_fuzzer'), kernel, bytes([trace.order == '>']) + block)
        seeds.write(os.path.join(sys.argv[1], 'kmt_block_fuzzer'), f'{kernel}.steps',
              bytes([trace.order == '>']) + kmt_writer.block(trace, RECORDS, in_steps=True))
        layout = (trace.order == '>') + 2 * (trace.page_data_offset()[1] == 4)
        for cpu, pages in whole.pages.items():
            seeds.write(os.path.join(sys.argv[1], 'page_fuzzer'), f'{kernel}.{cpu}',
                  bytes([layout]) + pages[:whole.page_size])
    for number, abi in enumerate(relay_files.ABIS):
        events = relay_files.events(RECORDS)
        for form, first in (('stated', number), ('found', 0xFF)):
            seeds.write(os.path.join(sys.argv[1], 'relay_fuzzer'), f'{abi}.{form}',
                  bytes([first]) + b''.join(relay_files.record(abi, event) for event in events))
    for name, text in {**text_traces.SAMPLES, **text_traces.OTHERS}.items():
        seeds.write(os.path.join(sys.argv[1], 'text_fuzzer'), name, text.encode())
    seeds.write_wrapped_text_seeds(os.path.join(sys.argv[1], 'text_fuzzer'), text.encode())


if __name__ == '__main__':
    main()
