# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the events of a trace.dat with all details that `trace-cmd report` can print.

No single text of trace-cmd has all details, so several are combined line by line. The raw text has function names
and complete task names. The raw text in the latency format has the context flags, but cuts task names; without
symbols in the trace, it has addresses. The text that is not raw has complete stacks, and GFP flags by name."""
import collections
import re
import subprocess
import tempfile

import cached
import kmem_oracle
import tracedat

HARDIRQ, SOFTIRQ, NMI = 0x08, 0x10, 0x40

# "trace-cm-142     1-0x10     4.043234933: kmem_cache_alloc:      call_site=0xffffffff8a8daa39 …" in the raw text;
# "      sh-208     1.....    14.342887915: kernel_stack:         <stack trace >" in the other text.
LATENCY_LINE = re.compile(r'.*-(?P<tid>\d+)\s+(?P<cpu>\d+)(?:-0x(?P<flags>[0-9a-f]+)|\S+)\s+(?P<s>\d+)\.(?P<ns>\d{9}):\s+'
                          r'(?P<name>[^:\s]+):\s*(?P<rest>.*)')
CALLER = re.compile(r'=> (?:.* \()?([0-9a-f]+)\)?$')
LOST = re.compile(r'CPU ?:?(\d+) .*DROPPED')


class Event:
    """An event. `fields` are those of the raw text, with addresses as hexadecimal numbers. `site` is the address of
    the call site and `symbol` its name in trace-cmd. `stack` has the addresses, innermost first, and `gfp` the flags
    by name."""
    __slots__ = 'time cpu tid comm name fields context site symbol stack gfp after_loss'.split()

    def interrupt(self):
        """Returns the interrupt context 'nmi', 'hardirq' or 'softirq', or None for a task."""
        for flag, name in ((NMI, 'nmi'), (HARDIRQ, 'hardirq'), (SOFTIRQ, 'softirq')):
            if self.context & flag:
                return name
        return None


def _texts(trace, *options_of_each):
    """Returns the lines that trace-cmd prints for a Trace, once for each set of options."""
    with tempfile.NamedTemporaryFile(suffix='.dat') as file:
        file.write(tracedat.to_v7(trace)[0])
        file.flush()
        return [subprocess.run(['trace-cmd', 'report', '-t', *options, file.name], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, check=True, encoding='utf-8', errors='replace').stdout.splitlines()
                for options in options_of_each]


def _fields(text):
    return dict(pair.split('=', 1) for pair in text.split() if '=' in pair)


@cached.by_content
def load(path):
    """Returns the events of a trace.dat of version 7, in the order that docs/formats/report-json.md defines. Kernel
    stacks are part of their events; separate stack records are left out."""
    trace = tracedat.read(path)
    # In the raw text of a stack, trace-cmd prints the number of callers that the format states, even if it must read
    # beyond the record or the page. The callers are not needed here, so the format is shortened.
    trace.ftrace_formats = [re.sub(rb'caller\[8\];(\toffset:\d+;\tsize:)\d+', rb'caller[1];\g<1>%d' % trace.long_bytes, text)
                            for text in trace.ftrace_formats]
    named, = _texts(trace, ['-R'])
    trace.kallsyms = b''
    bare, spoken = _texts(trace, ['-R', '-l'], ['-l'])
    events = _merge(bare, spoken, named)
    for of_cpu in events.values():
        _give_stacks(of_cpu)
    ordered = kmem_oracle.in_time_order({cpu: [event for event in of_cpu if event.name != 'kernel_stack']
                                         for cpu, of_cpu in events.items()})
    _rename(ordered)
    return ordered


def _identity(match):
    return (match['name'], *(int(match[part]) for part in ('tid', 'cpu', 's', 'ns')))


def _merge(bare, spoken, named):
    """Combines the three texts to {cpu: [Event]}."""
    events = collections.defaultdict(list)
    spoken, named = iter(spoken), (match for match in map(kmem_oracle.LINE.match, named) if match)
    lost, said = set(), next(spoken)
    for line in bare:
        match = LATENCY_LINE.match(line)
        if not match:
            if loss := LOST.match(line):
                lost.add(int(loss[1]))
            elif not kmem_oracle.IGNORED.match(line):
                raise ValueError(f'not understood: {line!r}')
            continue
        name = next(named)
        while not (words := LATENCY_LINE.match(said)):
            said = next(spoken)
        assert _identity(match) == _identity(name) == _identity(words), line
        event = Event()
        event.time, event.cpu = int(match['s']) * 10**9 + int(match['ns']), int(match['cpu'])
        event.tid, event.comm, event.name = int(match['tid']), name['comm'].strip(), match['name']
        event.context, event.fields = int(match['flags'], 16), _fields(match['rest'])
        event.site = int(event.fields.get('call_site', '0'), 0)
        event.symbol = _fields(name['rest']).get('call_site')
        event.gfp = _fields(words['rest']).get('gfp_flags')
        event.after_loss = event.cpu in lost
        lost.discard(event.cpu)
        event.stack = ()
        said = next(spoken, '')
        while caller := CALLER.match(said):
            event.stack += (int(caller[1], 16),)
            said = next(spoken, '')
        events[event.cpu].append(event)
    return events


def _give_stacks(events):
    """Assigns each stack to the last event of its task and context without a stack, but never across a loss."""
    bare = collections.defaultdict(list)
    for event in events:
        if event.after_loss:
            bare.clear()
        waiting = bare[event.tid, event.context]
        if event.name != 'kernel_stack':
            waiting.append(event)
        elif waiting:
            waiting.pop().stack = event.stack


def _rename(events):
    """Gives each event the name that the task had at that time, if the trace has it. trace-cmd knows only one name
    per task."""
    names = {}
    for event in events:
        if event.name == 'task_rename':
            names.setdefault(int(event.fields['pid']), []).append((event.time, event.fields))
    for event in events:
        if renames := names.get(event.tid):
            before = [fields for time, fields in renames if time <= event.time]
            event.comm = before[-1]['newcomm'] if before else renames[0][1]['oldcomm']
