# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes generated events into a trace.dat. A real trace provides the machine, the formats, the symbols and the task
names; its events are replaced. Pages have the layout that libtraceevent's kbuffer reads."""
import re
import struct

import tracedat

CPU_STATISTICS, UNAME, CPU_COUNT = 2, 5, 8  # option IDs of trace.dat
CODES = {1: 'b', 2: 'h', 4: 'i', 8: 'q'}

# Events that a donor trace may lack: (system, name, declarations), as in Linux 6.1 and 6.12.
MORE_EVENTS = (
    ('percpu', 'percpu_alloc_percpu', 'unsigned long call_site; bool reserved; bool is_atomic; size_t size; size_t align; '
     'void * base_addr; int off; void * ptr; size_t bytes_alloc; unsigned long gfp_flags'),
    ('percpu', 'percpu_alloc_percpu_fail', 'bool reserved; bool is_atomic; size_t size; size_t align'),
    ('percpu', 'percpu_free_percpu', 'void * base_addr; int off; void * ptr'),
    ('vmalloc', 'alloc_vmap_area', 'unsigned long addr; unsigned long size; unsigned long align; unsigned long vstart; '
     'unsigned long vend; int failed'),
    ('vmalloc', 'free_vmap_area_noflush', 'unsigned long va_start; unsigned long nr_lazy; unsigned long nr_lazy_max'),
    ('task', 'task_rename', 'pid_t pid; char oldcomm[16]; char newcomm[16]; short oom_score_adj'),
)
# Events that can be added.
ALL_EVENTS = {name for _, name, _ in MORE_EVENTS} | {'kmalloc', 'kmalloc_node', 'kfree', 'kmem_cache_alloc', 'kmem_cache_free',
                                                     'kmem_cache_alloc_node', 'mm_page_alloc', 'mm_page_free'}
# The event in Linux 7 and later, which names the cache.
NAMED_CACHE_ALLOC = ('unsigned long call_site; const void * ptr; size_t bytes_req; size_t bytes_alloc; unsigned long gfp_flags; '
                     'int node; bool accounted; __data_loc char[] name')
# The print conversions of fields with these names. trace-cmd also uses them to show raw fields.
PRINTED = {'call_site': '%pS', 'ptr': '%p', 'node': '%d', 'addr': '0x%lx', 'va_start': '0x%lx'}
# (bytes, signed) of each type. All other types have the size of a long.
TYPES = {'unsigned short': (2, 0), 'short': (2, 1), 'unsigned char': (1, 0), 'bool': (1, 0), 'int': (4, 1), 'pid_t': (4, 1),
         '__data_loc char[]': (4, 0), 'char': (1, 0)}


def format_text(trace, name, number, declarations):
    """Returns a format description with the layout that the kernel's compiler would choose."""
    text = f'name: {name}\nID: {number}\nformat:\n'
    at = 0
    common = ['unsigned short common_type', 'unsigned char common_flags', 'unsigned char common_preempt_count', 'int common_pid']
    shown, arguments = [], []
    for declaration in common + declarations.split('; '):
        kind, field = declaration.rsplit(' ', 1)
        size, signed = TYPES.get(kind, (trace.long_bytes, 0))
        at += -at % size
        bare, _, count = field.rstrip(']').partition('[')
        text += f'\tfield:{declaration};\toffset:{at};\tsize:{size * int(count or 1)};\tsigned:{signed};\n'
        at += size * int(count or 1)
        if field == 'common_pid':
            text += '\n'
        elif not field.startswith('common_'):
            shown.append(f'{bare}=' + ('%s' if 'char' in kind else PRINTED.get(bare, '%ld')))
            arguments.append(f'__get_str({bare})' if '__data_loc' in kind else
                             ('(void *)' if bare == 'call_site' else '') + f'REC->{bare}')
    return f'{text}\nprint fmt: "{" ".join(shown)}", {", ".join(arguments)}\n'.encode()


class _Encoder:
    """Encodes the payloads of one event."""

    def __init__(self, order, text):
        self.number, fields = tracedat.parse_format(text)
        self.text_field = next((name for name in fields if f'__data_loc char[] {name};' in text.decode()), None)
        self.defaults, code, at = [], order, 0  # (name, default value)
        for name, field in sorted(fields.items(), key=lambda item: item[1].offset):
            if field.size in CODES:
                kind = CODES[field.size] if field.signed else CODES[field.size].upper()
            else:
                kind = f'{field.size}s'
            code += f'{field.offset - at}x{kind}'
            self.defaults.append((name, 0 if field.size in CODES else b''))
            at = field.offset + field.size
        self.struct = struct.Struct(code)

    def __call__(self, values):
        values['common_type'] = self.number
        tail = b''
        if self.text_field:
            tail = values[self.text_field].encode() + b'\0'
            values[self.text_field] = len(tail) << 16 | self.struct.size
        return self.struct.pack(*[values.get(name, default) for name, default in self.defaults]) + tail


class Recorder:
    """Collects events in any order of time. Events of one CPU with equal times keep the order in which they were
    added."""

    def __init__(self, donor, cpus=4, kernel=None, nodes=None, names_caches=False):
        """`donor`: path of a trace.dat. `kernel`: the simulated release. `nodes`: the NUMA node of each CPU.
        `names_caches`: kmem_cache_alloc names the cache."""
        self.trace = trace = tracedat.read(donor)
        have = {re.search(rb'name: (\S+)', text)[1].decode() for texts in trace.event_formats.values() for text in texts}
        number = 3000
        for system, name, declarations in MORE_EVENTS:
            number += 1
            if name not in have:
                trace.event_formats.setdefault(system, []).append(format_text(trace, name, number, declarations))
        if names_caches:
            kmem = trace.event_formats['kmem']
            kmem[:] = [text for text in kmem if b'name: kmem_cache_alloc\n' not in text]
            kmem.append(format_text(trace, 'kmem_cache_alloc', number + 1, NAMED_CACHE_ALLOC))
        texts = [text for of_system in trace.event_formats.values() for text in of_system] + trace.ftrace_formats
        self.encoders = {}
        for name, text in ((re.search(rb'name: (\S+)', text)[1].decode(), text) for text in texts):
            if name in ('kernel_stack', 'funcgraph_entry', 'funcgraph_exit') or name in ALL_EVENTS:
                self.encoders[name] = _Encoder(trace.order, text)
        self.cpus, self.nodes, self.kernel = cpus, nodes, kernel
        self.events = {cpu: [] for cpu in range(cpus)}  # (time, position, payload)
        self.wanted_losses = []  # (cpu, from, to, True if the trace states the number of lost events)
        self.losses = []  # (cpu, from, to, number or None), set by finished()
        self.places = 0

    def add(self, time, cpu, event, /, tid=0, context=0, **fields):
        fields['common_pid'], fields['common_flags'] = tid, context
        self._put(time, cpu, self.encoders[event](fields))

    def add_stack(self, time, cpu, tid, context, addresses):
        """Adds the record of a stack. It must follow the event to which the stack belongs."""
        order, long = self.trace.order, 'Q' if self.trace.long_bytes == 8 else 'I'
        encoder = self.encoders['kernel_stack']
        head = encoder({'common_pid': tid, 'common_flags': context, 'size': len(addresses)})[:12]
        self._put(time, cpu, head + bytes(-len(head) % self.trace.long_bytes) +
                  struct.pack(f'{order}{len(addresses)}{long}', *addresses))

    def _put(self, time, cpu, payload):
        self.places += 1
        self.events[cpu].append((time, self.places, payload))

    def lose(self, cpu, start, end, counted):
        """Drops the CPU's events in this interval from the file."""
        self.wanted_losses.append((cpu, start, end, counted))

    def finished(self):
        """Returns the Trace with all added events."""
        trace = self.trace
        options = []
        for kind, value in trace.options:
            if kind == UNAME and self.kernel:
                value = re.sub(rb'(\S+ \S+) \S+', rb'\1 ' + self.kernel.encode(), value, count=1)
            if kind not in (CPU_STATISTICS, CPU_COUNT):
                options.append((kind, value))
        options.append((CPU_COUNT, struct.pack(trace.order + 'I', self.cpus)))
        for cpu in range(self.cpus):
            node = f'node: {self.nodes[cpu]}\n' if self.nodes else ''
            options.append((CPU_STATISTICS, f'CPU: {cpu}\nentries: 0\noverrun: 0\ncommit overrun: 0\ndropped events: 0\n'
                            f'read events: 0\n{node}\0'.encode()))
        pages = {cpu: self._pages(cpu, sorted(events)) for cpu, events in self.events.items()}
        trace.options, trace.cpus = options, self.cpus
        trace.buffers = [trace.buffers[0]._replace(pages=pages)]
        return trace

    def _pages(self, cpu, events):
        stretches = sorted((start, end, counted) for of, start, end, counted in self.wanted_losses if of == cpu)
        writer, missed, lost_in = _PageWriter(self.trace), 0, None
        for time, _, payload in events:
            stretch = next((stretch for stretch in stretches if stretch[0] <= time < stretch[1]), None)
            if stretch:
                missed, lost_in = missed + 1, stretch
                continue
            if missed:
                start, end, counted = lost_in
                writer.begin(time, missed if counted else 0)
                self.losses.append((cpu, start, end, missed if counted else None))
                missed = 0
            writer.add(time, payload)
        return writer.finished()


class _PageWriter:
    def __init__(self, trace):
        self.order, self.long = trace.order, 'Q' if trace.long_bytes == 8 else 'I'
        self.size, self.start = trace.page_size, trace.page_data_offset()[0]
        self.done, self.page, self.flags, self.missed = [], None, 0, b''

    def begin(self, time, missed=None):
        """Starts a new page. `missed`: number of events lost before the page; 0 if unknown."""
        self._end()
        self.page, self.first, self.time = bytearray(), time, time
        self.flags = 0 if missed is None else 1 << 31 | (1 << 30 if missed else 0)
        self.missed = struct.pack(self.order + self.long, missed) if missed else b''

    def add(self, time, payload):
        payload += bytes(-len(payload) % 4)
        room = self.size - self.start - len(self.missed)
        if self.page is None or len(self.page) + len(payload) + 16 > room:
            self.begin(time)
        delta = time - self.time
        assert delta >= 0
        if delta >> 27:
            self._head(30, delta & 0x7ffffff)
            self.page += struct.pack(self.order + 'I', delta >> 27)
            delta = 0
        if len(payload) <= 28 * 4:
            self._head(len(payload) // 4, delta)
        else:
            self._head(0, delta)
            self.page += struct.pack(self.order + 'I', len(payload) + 4)
        self.page += payload
        self.time = time

    def _head(self, length, delta):
        word = length << 27 | delta if self.order == '>' else delta << 5 | length
        self.page += struct.pack(self.order + 'I', word)

    def _end(self):
        if self.page is not None:
            head = struct.pack(self.order + 'Q' + self.long, self.first, len(self.page) | self.flags)
            self.done.append((head + self.page + self.missed).ljust(self.size, b'\0'))

    def finished(self):
        self._end()
        return b''.join(self.done)
