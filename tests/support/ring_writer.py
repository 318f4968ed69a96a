# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of one's own in a trace.dat: a real trace gives the machine, the formats, the symbols and the task names; its
events are replaced. Pages are written from the layout that libtraceevent's kbuffer reads."""
import re
import struct

import tracedat

CPU_STATISTICS, UNAME, CPU_COUNT = 2, 5, 8  # options of trace.dat
CODES = {1: 'b', 2: 'h', 4: 'i', 8: 'q'}

# Events that a donor may lack: (system, name, declarations), as in Linux 6.1 and 6.12.
MORE_EVENTS = (
    ('percpu', 'percpu_alloc_percpu', 'unsigned long call_site; bool reserved; bool is_atomic; size_t size; size_t align; '
     'void * base_addr; int off; void * ptr; size_t bytes_alloc; unsigned long gfp_flags'),
    ('percpu', 'percpu_alloc_percpu_fail', 'bool reserved; bool is_atomic; size_t size; size_t align'),
    ('percpu', 'percpu_free_percpu', 'void * base_addr; int off; void * ptr'),
    ('vmalloc', 'alloc_vmap_area', 'unsigned long addr; unsigned long size; unsigned long align; unsigned long vstart; '
     'unsigned long vend; int failed'),
    ('vmalloc', 'free_vmap_area_noflush', 'unsigned long va_start; unsigned long nr_lazy; unsigned long nr_lazy_max'),
)
# What a raw field of these names is printed by: it is what tells trace-cmd that it is an address.
PRINTED = {'call_site': '%pS', 'addr': '0x%lx', 'va_start': '0x%lx'}


def format_text(trace, name, number, declarations):
    """A format description, laid out as the kernel's compiler does."""
    text = f'name: {name}\nID: {number}\nformat:\n'
    at = 0
    fields = ['unsigned short common_type', 'unsigned char common_flags', 'unsigned char common_preempt_count', 'int common_pid']
    for declaration in fields + declarations.split('; '):
        kind, _ = declaration.rsplit(' ', 1)
        size = {'unsigned short': 2, 'unsigned char': 1, 'bool': 1, 'int': 4}.get(kind, trace.long_bytes)
        at += -at % size
        text += f'\tfield:{declaration};\toffset:{at};\tsize:{size};\tsigned:{int(kind == "int")};\n'
        at += size
        if declaration.endswith('common_pid'):
            text += '\n'
    names = [declaration.rsplit(' ', 1)[1] for declaration in declarations.split('; ')]
    shown = ' '.join(f'{name}={PRINTED.get(name, "%ld")}' for name in names)
    arguments = ', '.join(('(void *)' if name == 'call_site' else '') + f'REC->{name}' for name in names)
    return f'{text}\nprint fmt: "{shown}", {arguments}\n'.encode()


class _Encoder:
    """Payloads of one event."""

    def __init__(self, order, text):
        self.number, fields = tracedat.parse_format(text)
        self.text_field = next((name for name in fields if f'__data_loc char[] {name};' in text.decode()), None)
        self.names, code, at = [], order, 0
        for name, field in sorted(fields.items(), key=lambda item: item[1].offset):
            if field.size in CODES and field.offset >= at:
                kind = CODES[field.size] if field.signed else CODES[field.size].upper()
                code += f'{field.offset - at}x{kind}'
                self.names.append(name)
                at = field.offset + field.size
        self.struct = struct.Struct(code)

    def __call__(self, values):
        values['common_type'] = self.number
        tail = b''
        if self.text_field:
            tail = values[self.text_field].encode() + b'\0'
            values[self.text_field] = len(tail) << 16 | self.struct.size
        return self.struct.pack(*[values.get(name, 0) for name in self.names]) + tail


class Recorder:
    """Takes events in any order of time; within a CPU, events of equal time keep the order in which they came."""

    def __init__(self, donor, cpus=4, kernel=None, nodes=None):
        """`donor`: path of a trace.dat; `kernel`: the release to pretend; `nodes`: the NUMA node of each CPU."""
        self.trace = trace = tracedat.read(donor)
        have = {re.search(rb'name: (\S+)', text)[1].decode() for texts in trace.event_formats.values() for text in texts}
        number = 3000
        for system, name, declarations in MORE_EVENTS:
            number += 1
            if name not in have:
                trace.event_formats.setdefault(system, []).append(format_text(trace, name, number, declarations))
        texts = [text for of_system in trace.event_formats.values() for text in of_system] + trace.ftrace_formats
        self.encoders = {re.search(rb'name: (\S+)', text)[1].decode(): _Encoder(trace.order, text) for text in texts
                         if trace.long_bytes == 8 or b'size:16' not in text}
        self.cpus, self.nodes, self.kernel = cpus, nodes, kernel
        self.events = {cpu: [] for cpu in range(cpus)}  # (time, place, payload)
        self.wanted_losses = []  # (cpu, from, to, whether their number is told)
        self.losses = []  # when finished: (cpu, from, to, their number or None)
        self.places = 0

    def add(self, time, cpu, event, /, tid=0, context=0, **fields):
        fields['common_pid'], fields['common_flags'] = tid, context
        self._put(time, cpu, self.encoders[event](fields))

    def add_stack(self, time, cpu, tid, context, addresses):
        """The record that follows the event whose stack it is."""
        order, long = self.trace.order, 'Q' if self.trace.long_bytes == 8 else 'I'
        encoder = self.encoders['kernel_stack']
        head = encoder({'common_pid': tid, 'common_flags': context, 'size': len(addresses)})[:12]
        self._put(time, cpu, head + bytes(-len(head) % self.trace.long_bytes) +
                  struct.pack(f'{order}{len(addresses)}{long}', *addresses))

    def _put(self, time, cpu, payload):
        self.places += 1
        self.events[cpu].append((time, self.places, payload))

    def lose(self, cpu, start, end, counted):
        """Events of the CPU in this stretch of time do not reach the file."""
        self.wanted_losses.append((cpu, start, end, counted))

    def finished(self):
        """The Trace."""
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
        """A new page; `missed`: events were lost before it, so many, 0 for unknown."""
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
