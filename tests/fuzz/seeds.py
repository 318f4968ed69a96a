# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes fuzzer inputs that are created by hand or by a compiler, and provides the function that writes any seed."""
import base64
import os
import struct
import subprocess
import tempfile
import zlib

import ctf2_writer
import kmt_writer
import lttng_writer

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data')
STATE, TYPES, STATE_DELTA = 6, 8, 11  # chunk types of a .kmt file


def write(folder, name, contents):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), 'wb') as file:
        file.write(contents)


# A program whose functions are inlined into each other.
PROGRAM = b"""
static inline int inner(int value) { return value * value + 7; }
static inline int middle(int value) { int sum = 0; for (int i = 0; i < value; ++i) sum += inner(i); return sum; }
int outer(int value) { return middle(value) + middle(value + 1); }
int taken_twice(int value) { return outer(value) - inner(value); }
"""


def write_elf_seeds(folder):
    """Writes objects and libraries with debug info in several formats, and one library without debug info."""
    os.makedirs(folder, exist_ok=True)
    forms = {'dwarf5.o': ('-gdwarf-5', '-c'), 'dwarf4.o': ('-gdwarf-4', '-c'), 'packed.o': ('-g', '-gz', '-c'),
             'dwarf5.so': ('-gdwarf-5', '-shared', '-fPIC', '-nostdlib', '-Wl,--build-id'),
             'none.so': ('-shared', '-fPIC', '-nostdlib', '-Wl,--build-id')}
    for name, options in forms.items():
        subprocess.run(['cc', '-O2', *options, '-x', 'c', '-', '-o', os.path.join(folder, name)], input=PROGRAM, check=True)


def write_btf_seeds(folder):
    """Writes the types of some kernel functions, and a handwritten structure that points to itself and has a bit
    field."""
    with open(os.path.join(DATA, 'graph', 'args.7.2.btf'), 'rb') as file:
        write(folder, 'args', file.read())
    names = b'\0int\0node\0next\0bits\0take\0'
    kind = {'int': 1, 'ptr': 2, 'array': 3, 'struct': 4, 'func': 12, 'proto': 13}

    def info(what, count=0, flag=0):
        return flag << 31 | kind[what] << 24 | count
    # The comments state the number of each type. Type 5 is the prototype of the function.
    types = struct.pack('<IIII', 1, info('int'), 4, 1 << 24 | 32)  # 1: int
    types += struct.pack('<III', 0, info('ptr'), 3)  # 2: pointer to type 3
    types += struct.pack('<III', 5, info('struct', 3, 1), 16)  # 3: struct node; its members follow
    types += struct.pack('<III', 10, 2, 0) + struct.pack('<III', 15, 1, 3 << 24 | 64) + struct.pack('<III', 1, 4, 96)
    types += struct.pack('<III', 0, info('array'), 0) + struct.pack('<III', 1, 1, 1)  # 4: array
    types += struct.pack('<III', 0, info('proto', 2), 1) + struct.pack('<II', 5, 2) + struct.pack('<II', 15, 1)  # 5
    types += struct.pack('<III', 20, info('func', 1), 5)  # 6: function
    write(folder, 'small', struct.pack('<HBBIIIII', 0xEB9F, 1, 0, 24, 0, len(types), len(types), len(names)) + types + names)


def integer(bits, signed=0):
    return f'integer {{ size = {bits}; align = 8; signed = {signed}; }}'


CTF_EVENTS = {  # LTTng-like declarations, with values
    'kmem_kmalloc': [(integer(64) + ' _call_site', 'Q', 0xffffffff81000010),
                     (integer(64) + ' _ptr', 'Q', 0xffff888000001000),
                     (integer(64) + ' _bytes_req', 'Q', 100), (integer(64) + ' _bytes_alloc', 'Q', 128),
                     (integer(32) + ' _gfp_flags', 'I', 0xcc0)],
    'kmem_kfree': [(integer(64) + ' _call_site', 'Q', 0xffffffff81000020), (integer(64) + ' _ptr', 'Q', 0xffff888000001000)],
    'kmem_mm_page_alloc': [(integer(64) + ' _page', 'Q', 0), (integer(64) + ' _pfn', 'Q', 77), ('uint32_t _order', 'I', 1),
                           ('uint32_t _gfp_flags', 'I', 0xcc0), ('uint32_t _migratetype', 'I', 0)],
    'sched_switch': [('integer { size = 8; align = 8; signed = 0; encoding = UTF8; } _prev_comm[16]', '16s', b'task'),
                     (integer(32, 1) + ' _prev_tid', 'i', 5), ('uint8_t _prev_prio', 'B', 3),
                     (integer(32, 1) + ' _next_tid', 'i', 6)],
    'odd': [('string _name', '5s', b'text'), ('uint16_t _n', 'H', 2), ('uint32_t _s[ _n ]', '8s', b'12345678'),
            ('enum : uint8_t { A = 0, B = 1 ... 7 } _e', 'B', 1), ('struct { uint8_t a; uint16_t b; } _of', '3s', b'123')]}


# On this input, the plugin of libbabeltrace2 leaves an error after a successful call and leaks a message. The library
# aborts at its next call unless the error is cleared.
CTF_ERROR_LEFT = base64.b64decode('''
ZXZlbnQgeyBuYW1lID0gImRtZW1fa21hbGxvYyI7IGkgPSAwOyBmaWVsZHMgOj0gc3RydWN0IHsgc3RyaW5nIF9uYW1lOyB1aW50MTZfdCBfbj
sgdWludDMyX3QgX3NbIF9uIF07IGVudW0gOiB1aW50OF90IHsgQSA9IDAsIEIgPSAxIC4uLiA3IH0gX2U7IHN0cnVjdCB7IHVpbnQ4X3QgYTsg
dWludDE2X3QgYjsgfSBfb2Y7IH07IH07CgDMAAAAZAAAAAAAAAAFAAAAAAAQAACB/////wAQAACAiP//ZAAAAAAAAACAAAAAAAAAAMAMAAABAG
UAAAAAAAAABQAAAAAAIAAAgf////8AEAAAgIj//wIAZgAAAAAAAAAFAAAAAAAAAAAAAAAAZDEY7gAAAAAAAAAAID0gMP8AOyB9IF9jYWxsX3MA
AAAAAAAAAAAAaQA=''')


def write_ctf_seeds(folder):
    """Writes inputs in the format of ctf_fuzzer.cpp: declarations, then packets of events with increasing times."""
    declared, events = '', b''
    for number, (name, fields) in enumerate(CTF_EVENTS.items()):
        members = ' '.join(f'{field};' for field, _, _ in fields)
        declared += f'event {{ name = "{name}"; id = {number}; stream_id = 0; fields := struct {{ {members} }}; }};\n'
        events += struct.pack('<HQiBB', number, 100 + number, 5, 0, 0)
        events += b''.join(struct.pack('<' + code, value) for _, code, value in fields)
    for name, packets in (('one', 1), ('several', 6)):
        write(folder, name, declared.encode() + b'\0' + (struct.pack('<H', len(events)) + events) * packets)
    write(folder, 'error-left', CTF_ERROR_LEFT)
    for trace in ('lttng', 'lttng.lost'):
        kernel = os.path.join(DATA, 'amd64', trace, 'kernel')
        with open(os.path.join(kernel, 'index', 'c_0.idx'), 'rb') as file:
            write(folder, trace + '.index', file.read(1000))
        with open(os.path.join(kernel, 'metadata'), 'rb') as file:
            write(folder, trace + '.metadata', file.read(4096))
    write_json_ctf_seeds(folder)


def write_json_ctf_seeds(folder):
    """Writes metadata of CTF 2, a NUL, and a stream."""
    fields = [(f'{lttng_writer.integer(64, base=16)} _{name}', 'Q') for name in ('call_site', 'ptr', 'bytes_req', 'bytes_alloc')]
    for big in (False, True):
        with tempfile.TemporaryDirectory() as made:
            writer = ctf2_writer.Ctf2Writer(made, {'kmem_kmalloc': (1, fields), 'kmem_kfree': (40, fields[:2])}, big=big)
            writer.packet(0, [(10, 'kmem_kmalloc', (5, 4096, 100, 128)), (20, 'kmem_kfree', (6, 4096))])
            writer.packet(0, [(30, 'kmem_kmalloc', (5, 4096, 100, 128))], lost=3)
            with open(os.path.join(made, 'metadata'), 'rb') as metadata, open(os.path.join(made, 'channel0_0'), 'rb') as stream:
                write(folder, f'ctf2.{"big" if big else "little"}', metadata.read() + b'\0' + stream.read())


def write_wrapped_text_seeds(folder, text):
    write(folder, 'atrace', b'TRACE:\n' + zlib.compress(text))
    literal = text.replace(b'\\', b'\\\\').replace(b'"', b'\\"').replace(b'\n', b'\\n\\\n')
    write(folder, 'systrace', b'<!DOCTYPE html><script>var linuxPerfData = "' + literal + b'";</script>')
    write(folder, 'page', b'<html><script class="trace-data">' + text + b'</script><pre>&lt;' + text + b'</pre>')


# 16 bytes that choose how each cell is read, followed by the server's answer.
FLEET_ANSWER = bytes((6, 0, 2, 3, 4, 5, 1)) + bytes(9) + b'''{"meta": [{"name": "allocator", "type": "String"}], "data":
[["slab", "alloc_pipe_info", 12, -3, 1795263194, 0.25, ["6.1.0", "5.10.0"]], ["pages", "", 1, 2, 3, null, []]], "rows": 2}'''

EVIDENCE = {
    'schema': 'kmemtrace.investigate-evidence/1', 'kernel': '6.1.0', 'machine': 'x86_64', 'start_unix_ns': 17, 'cut_short': '',
    'recorded_seconds': 8.5, 'unseen': [['a', 'b', 'c']], 'seconds': 32.0, 'threshold_bytes_per_s': 1000.0,
    'recording_after_seconds': 16.0,
    'recorded': {'caches': ['kmalloc-1k'], 'sizes': [1024], 'object_sizes': [1000], 'orders': [1], 'pages': True},
    'states': [{'source': 'slabinfo-objects', 'name': 'kmalloc-1k', 'times_ns': [500000000 * i for i in range(20)],
                'values': [1e6 + 1e5 * i for i in range(20)]}],
    'samples': {'step_seconds': 0.5, 'steps': 64, 'mean_bytes': 4096, 'pages': False, 'groups': [
        {'stack': ['take+0x1', '__x64_sys_take'], 'cache': 'kmalloc-1k', 'task': 'held', 'process': 5, 'cgroup': '/',
         'left_out': False, 'seen': 100, 'objects': 100.0, 'bytes': 1e6, 'live': [[step, 1e5 * step + 1] for step in range(64)]}]}}


# The payload of a sample as its difference to one with the texts meminfo and vmstat. In meminfo, one line is copied, one
# is changed, one is skipped and one is copied. In vmstat, the only line is changed. A third text is new.
COPY, CHANGE, INSERT, SKIP = range(4)
NEW_TEXT = b'TCP: inuse 31\n'
OPERATIONS = bytes((1, 1 << 2 | COPY, 1 << 2 | CHANGE, 1 << 2 | SKIP, 1 << 2 | COPY, 0, 2, 1 << 2 | CHANGE, 0, 0))
OPERATIONS += kmt_writer.text(b'sockstat') + bytes((len(NEW_TEXT) << 2 | INSERT, 0))
PLACES = bytes((1, 0)) * 2  # one changed number in each changed line, and none before it
CHANGES = bytes((2 * 4, 2 * 3 - 1))  # 4 and -3
STATE_CHANGES = bytes((2 * 10, 2 * 7, 3, len(OPERATIONS), len(PLACES), len(CHANGES))) + OPERATIONS + PLACES + CHANGES + NEW_TEXT


def write_chunk_seeds(folder, kernel, contents, meminfo):
    """Writes the payload of the first chunk of each type in a file, and payloads for types that the file lacks."""
    with open(os.path.join(DATA, 'graph', 'args.7.2.btf'), 'rb') as file:
        types = kmt_writer.text(file.read()) + kmt_writer.text(b'vfs_read') + b'\2'
    types += kmt_writer.text(b'file') + bytes(4) + kmt_writer.text(b'count') + bytes([1, 3, 0, 0])
    texts = b'meminfo', meminfo.removeprefix(b'@meminfo\n'), b'vmstat', b'nr_free_pages 5\n'
    state = b'\5\7' + b''.join(map(kmt_writer.text, texts))
    seen = {STATE: state, TYPES: types, STATE_DELTA: kmt_writer.text(state) + STATE_CHANGES}
    at = contents.find(b'KMTc')
    while at >= 0:
        kind, size = contents[at + 4], struct.unpack_from('<I', contents, at + 8)[0]
        seen.setdefault(kind, contents[at + 32:at + 32 + size])
        at = contents.find(b'KMTc', at + 32 + size)
    for kind, payload in seen.items():
        write(folder, f'{kernel}.{kind}', bytes([kind]) + payload)
