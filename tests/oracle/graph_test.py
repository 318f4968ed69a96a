#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the results of `graph`. They are compared with trace-cmd's text of real function_graph traces of Linux 6.1,
and with intervals computed from its raw records. Generated traces have tasks that migrate, are interrupted, and lose
events."""
import collections
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import ring_writer  # noqa: E402
import tracedat  # noqa: E402
from kmemtrace import data, run  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()
HARDIRQ, SOFTIRQ = 0x08, 0x10
INTERRUPT = HARDIRQ | SOFTIRQ | 0x40
# "  work.sh-113     1d.h3.    28.813134123: funcgraph_entry:      + 10.162 us  |    irq_enter_rcu();"
GRAPH_LINE = re.compile(r'.*-(\d+)\s+(\d+)\S+\s+(\d+)\.(\d{9}): funcgraph_(entry|exit): [\s+!#*@$]+?(?:([\d.]+) us)?\s*\|  ( *)(.*)')
RAW_LINE = re.compile(r'.*-(\d+)\s+(\d+)-0x([0-9a-f]+)\s+(\d+)\.(\d{9}): (\w+):\s+(.*)')


def graph(path, *options):
    done = run('graph', '--json', *([] if '--limit' in options else ['--limit', '0']), *options, path)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def stored(trace, kind):
    return subprocess.run(['zstdcat', data(f'graph/{trace}.dat.report-{kind}.zst')], stdout=subprocess.PIPE, check=True,
                          encoding='utf-8').stdout.splitlines()


def task(tid, cpu):
    return tid or -1 - cpu


class RealTrace:
    @classmethod
    def setUpClass(cls):
        cls.path = data(f'graph/{cls.trace}.dat')
        cls.result = graph(cls.path)
        cls.calls = cls.result['calls']

    def test_lines_equal_those_of_trace_cmd(self):
        """Compares the time, CPU and task of each start and end, the durations to the digits that trace-cmd shows,
        and the nesting."""
        begins, ends = {}, {}
        for call in self.calls:
            if call['began_ns'] is not None:
                begins.setdefault((call['began_ns'], call['cpu'], call['tid'], call['function']), []).append(call)
            if call['ended_ns'] is not None:
                ends.setdefault((call['ended_ns'], call['end_cpu'], call['tid']), []).append(call)
        lines = collections.Counter()
        depths, steps = {}, collections.Counter()
        for line in stored(self.trace, 'l'):
            match = GRAPH_LINE.match(line)
            if not match:
                self.assertNotIn('funcgraph', line)
                continue
            tid, cpu, time = int(match[1]), int(match[2]), int(match[3]) * 10**9 + int(match[4])
            kind, duration, indent, text = match[5], match[6], len(match[7]) // 2, match[8]
            if kind == 'entry':
                name = re.match(r'[\w.]+', text)[0]
                call = begins[time, cpu, tid, name].pop(0)
                depths[id(call)] = indent
                kind = 'leaf' if text.endswith('();') else 'begin'
            else:
                # several nested calls may end at the same time
                ending = ends[time, cpu, tid]
                call = next(call for call in ending if depths.get(id(call), indent) == indent)
                ending.remove(call)
            lines[kind] += 1
            if duration:
                digits = len(duration.partition('.')[2])
                self.assertEqual(duration, str_of(call['duration_ns'], digits), line)
            if kind == 'leaf':
                ends[call['ended_ns'], call['end_cpu'], call['tid']].remove(call)
            parent = call['parent']
            if parent is not None and id(self.calls[parent]) in depths:
                steps[indent - depths[id(self.calls[parent])]] += 1
        self.assertEqual([], [key for known in (begins, ends) for key, left in known.items() if left])
        # a call without a start in the trace cannot be a parent
        self.assertTrue(min(steps) == 1 and steps[1] > 0.97 * steps.total(), steps)
        self.assertTrue(all(lines[kind] > 50 for kind in ('leaf', 'begin', 'exit')), lines)

    def test_memory_of_a_call_is_allocated_by_its_task_meanwhile(self):
        """A call in task context must have the allocations of its task between start and end, but not those of
        interrupts."""
        history = History(stored(self.trace, 'R'))
        checked = collections.Counter()
        for call in self.calls:
            if call['interrupt'] or call['began_ns'] is None or call['ended_ns'] is None:
                continue
            first, last = history.places_of(call)
            expected = {'slab': [0, 0, 0, 0], 'pages': [0, 0, 0, 0]}
            for item in history.allocations[task(call['tid'], call['cpu'])]:
                if first < item.place < last and not item.flags & INTERRUPT:
                    sums = expected[item.allocator]
                    sums[0] += 1
                    sums[1] += item.bytes
                    if item.freed > last:
                        sums[2] += 1
                        sums[3] += item.bytes
            for allocator, sums in expected.items():
                shown = call['inside'].get(allocator, {})
                self.assertEqual(sums, [shown.get(key, 0) for key in ('allocations', 'bytes', 'live_allocations', 'live_bytes')],
                                 (allocator, call))
                checked[allocator, sums[0] > 0, sums[2] > 0] += 1
        for allocator in 'slab', 'pages':
            self.assertTrue(checked[allocator, True, True] > 5 and checked[allocator, False, False] > 100, checked)

    def test_all_allocations_are_inside_or_outside_calls(self):
        """The outermost calls of tasks and interrupts, and the allocations outside calls, must together have all
        allocations."""
        report = json.loads(run('report', '--json', self.path).stdout)
        for allocator in 'slab', 'pages':
            sums = collections.Counter()
            tops = [call for call in self.calls if call['parent'] is None or call['on_top']]
            for inside in [call['inside'] for call in tops] + [self.result['outside']]:
                sums.update({key: inside.get(allocator, {}).get(key, 0) for key in ('allocations', 'bytes')})
            self.assertEqual(report[allocator]['allocations'], sums['allocations'])
            self.assertEqual(report[allocator]['bytes_allocated'], sums['bytes'])

    def test_functions_are_sums_of_calls(self):
        for row in self.result['functions']:
            calls = [call for call in self.calls if call['function'] == row['function']]
            self.assertEqual(row['calls'], sum(call['began_ns'] is not None for call in calls))
            whole = [call for call in calls if call['began_ns'] is not None and call['ended_ns'] is not None]
            outer = [call for call in whole if not any(other['function'] == call['function'] for other in self.around(call))]
            self.assertEqual(row['total_ns'], sum(call['duration_ns'] for call in outer) if whole else None, row['function'])
            self.assertEqual(row['longest_ns'], max((call['duration_ns'] for call in whole), default=None))
        self.assertEqual(len({call['function'] for call in self.calls}), len(self.result['functions']))

    def around(self, call):
        while call['parent'] is not None:
            call = self.calls[call['parent']]
            yield call

    def test_kmt_keeps_calls(self):
        path = os.path.join(FOLDER.name, 'trace.kmt')
        self.assertEqual(0, run('convert', self.path, path).returncode)
        again = graph(path)
        for key in 'calls', 'functions', 'outside':
            self.assertEqual(self.result[key], again[key])

    def test_call_sites_are_innermost_calls(self):
        """If the tracer has replaced the return address, the call site must be the innermost open call that is not
        in an allocator."""
        done = run('export', self.path, '--to', 'jsonl')
        reported = {(row['event'], row['time_ns'], row['cpu'], row['address']): row.get('symbol')
                for row in map(json.loads, done.stdout.splitlines()) if 'address' in row}
        checked = collections.Counter()
        for event, calls in with_open_calls(stored(self.trace, 'R')):
            if event.site is None or event.fields['ptr'] == '(nil)':
                continue
            symbol = reported[event.name, event.time, event.cpu, event.fields['ptr']]
            if event.site != 'return_to_handler':
                self.assertEqual(event.fields['call_site'], symbol)
            elif event.in_task:
                callers = [name for name in reversed(calls) if not hides(name)]
                self.assertEqual(callers[0] + '+0x1' if callers else None, symbol)
                checked[bool(callers)] += 1
        self.assertGreater(checked[True], 10)
        self.assertNotIn('return_to_handler', run('report', self.path, '--by', 'call-site', '--limit', '0').stdout)

    def test_call_paths_are_stacks(self):
        """The bytes of each stack must equal the bytes that tasks allocated in the calls of this stack."""
        paths = collections.Counter()
        for event, calls in with_open_calls(stored(self.trace, 'R')):
            size = event.allocated()
            if size is None or not event.in_task:
                continue
            calls = list(calls)
            while calls and hides(calls[-1]):
                calls.pop()
            if event.site not in (None, 'return_to_handler') and not hides(event.site) and calls[-1:] != [event.site]:
                calls.append(event.site)
            if calls:
                paths[f'[{event.allocator}];' + ';'.join(name.partition('.')[0] for name in calls)] += size
        lines = run('export', self.path, '--to', 'collapsed', '--call-paths', '--context', 'task').stdout.splitlines()
        reported = dict(line.rsplit(' ', 1) for line in lines)
        self.assertEqual({path: str(size) for path, size in paths.items()},
                         {path: size for path, size in reported.items() if path in paths or path.count(';') > 1})
        self.assertGreater(sum(path.count(';') > 2 for path in paths), 10)
        plain = run('export', self.path, '--to', 'collapsed', '--context', 'task').stdout.splitlines()
        self.assertEqual(sum(int(line.rsplit(' ', 1)[1]) for line in plain), sum(map(int, reported.values())))
        self.assertLess(len(plain), len(lines))

    def test_selection(self):
        name = collections.Counter(call['function'] for call in self.calls if call['parent'] is None
                                   and not call['interrupt']).most_common(1)[0][0]
        tid = collections.Counter(call['tid'] for call in self.calls if call['function'] == name).most_common(1)[0][0]
        chosen = graph(self.path, '-F', name, '-p', str(tid), '--depth', '2', '--duration-above', '20us')['calls']
        wanted = [call for call in self.calls
                  if call['tid'] == tid and (call['function'] == name and not call['interrupt'] or call['parent'] is not None
                      and self.calls[call['parent']]['function'] == name and not self.calls[call['parent']]['interrupt'])
                  and (call['duration_ns'] is None or call['duration_ns'] >= 20_000)]
        self.assertGreater(len(chosen), 0)
        self.assertEqual([(call['began_ns'], call['function']) for call in wanted],
                         [(call['began_ns'], call['function']) for call in chosen])
        few = json.loads(run('graph', '--json', '--limit', '7', self.path).stdout)
        self.assertEqual([call['began_ns'] for call in self.calls[:7]], [call['began_ns'] for call in few['calls']])
        self.assertEqual(len(self.calls), few['calls_selected'])
        self.assertEqual(self.result['functions'], few['functions'])


def wrappers():
    """Returns globs of the allocating functions that are skipped to find the caller."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'src', 'trace', 'code', 'wrappers.txt')
    with open(path, encoding='ascii') as file:
        return [line.split()[0] for line in file if line.strip() and not line.startswith('#')]


WRAPPERS = wrappers()


def hides(function):
    return any(fnmatch.fnmatchcase(function.partition('.')[0], glob) for glob in WRAPPERS)


class MemoryEvent:
    def __init__(self, match, fields):
        self.cpu, self.name, self.fields = int(match[2]), match[6], fields
        self.time = int(match[4]) * 10**9 + int(match[5])
        self.in_task = not int(match[3], 16) & INTERRUPT
        self.site = fields['call_site'].partition('+')[0] if 'call_site' in fields else None
        self.allocator = 'pages' if self.name == 'mm_page_alloc' else 'slab'

    def allocated(self):
        if self.name == 'mm_page_alloc':
            return 4096 << int(self.fields['order'])
        return int(self.fields['bytes_alloc']) if 'bytes_alloc' in self.fields and int(self.fields['ptr'], 16) else None


def with_open_calls(lines):
    """Yields each memory event with the names of the open calls of its task, innermost last, from raw records."""
    stacks = collections.defaultdict(list)  # (depth, name)
    for match in filter(None, map(RAW_LINE.match, lines)):
        fields = dict(pair.split('=', 1) for pair in match[7].split() if '=' in pair)
        stack = stacks[task(int(match[1]), int(match[2]))]
        if match[6].startswith('funcgraph'):
            depth = int(fields['depth'])
            while stack and stack[-1][0] >= depth:
                stack.pop()
            if match[6] == 'funcgraph_entry':
                stack.append((depth, fields['func'].partition('+')[0]))
        else:
            yield MemoryEvent(match, fields), [name for _, name in stack]


class Amd64(RealTrace, unittest.TestCase):
    trace = 'amd64'


class S390x(RealTrace, unittest.TestCase):
    trace = 's390x'  # big-endian


def str_of(nanoseconds, digits):
    """Formats microseconds with the digits that trace-cmd shows, without rounding."""
    whole, rest = divmod(nanoseconds, 1000)
    return f'{whole}.{rest:03}'[:len(str(whole)) + 1 + digits] if digits else str(whole)


class Allocation:
    def __init__(self, place, allocator, size, flags):
        self.place, self.allocator, self.bytes, self.flags, self.freed = place, allocator, size, flags, 1 << 62


class History:
    """The allocations of each task, each with the position of its free, computed from raw records in order."""

    def __init__(self, lines):
        self.allocations, self.places, live = collections.defaultdict(list), {}, {}
        for place, line in enumerate(lines):
            match = RAW_LINE.match(line)
            if not match:
                continue
            tid, cpu, flags, time = int(match[1]), int(match[2]), int(match[3], 16), int(match[4]) * 10**9 + int(match[5])
            name, fields = match[6], dict(pair.split('=', 1) for pair in match[7].split() if '=' in pair)
            if name.startswith('funcgraph'):
                self.places.setdefault((name, time, task(tid, cpu), fields['func'].partition('+')[0]), []).append(place)
                continue
            if name in ('kmalloc', 'kmalloc_node', 'kmem_cache_alloc', 'kmem_cache_alloc_node'):
                item, key = Allocation(place, 'slab', int(fields['bytes_alloc']), flags), fields['ptr']
            elif name == 'mm_page_alloc':
                item, key = Allocation(place, 'pages', 4096 << int(fields['order']), flags), fields['pfn']
            else:
                if name in ('kfree', 'kmem_cache_free', 'mm_page_free'):
                    gone = live.pop(fields['pfn' if name == 'mm_page_free' else 'ptr'], None)
                    if gone:
                        gone.freed = place
                continue
            if int(key, 16) == 0 or key == '0xffffffffffffffff':
                continue
            if key in live:
                live[key].freed = place
            live[key] = item
            self.allocations[task(tid, cpu)].append(item)

    def places_of(self, call):
        who = task(call['tid'], call['cpu'])
        return (self.places['funcgraph_entry', call['began_ns'], who, call['function']].pop(0),
                self.places['funcgraph_exit', call['ended_ns'], who, call['function']].pop(0))


def address_of(function):
    return 0xffffffff81000000 + ord(function) * 256


class Made:
    """Builds a trace from generated events; functions are identified by their addresses."""

    def __init__(self, cpus=2, fields=None):
        """`fields` overrides the declarations of call events."""
        self.recorder = ring_writer.Recorder(data('graph/amd64.dat'), cpus)
        formats = self.recorder.trace.ftrace_formats
        for place, text in enumerate(formats):
            name = re.search(rb'name: (\S+)', text)[1].decode()
            if name in (fields or {}):
                text = formats[place] = ring_writer.format_text(self.recorder.trace, name, tracedat.parse_format(text)[0],
                                                                fields[name])
            if name.startswith('funcgraph'):
                self.recorder.encoders[name] = ring_writer._Encoder(self.recorder.trace.order, text)
        names = {name: name for name in 'abcdef'} | {'p': 'kmem_cache_alloc', 'q': 'return_to_handler'}
        self.recorder.trace.kallsyms = ''.join(f'{address_of(name):x} T {names[name]}\n' for name in names).encode()

    def begin(self, time, cpu, tid, function, depth, context=0):
        self.recorder.add(time, cpu, 'funcgraph_entry', tid, context, func=address_of(function), depth=depth)

    def end(self, time, cpu, tid, function, depth, took, context=0, **more):
        self.recorder.add(time, cpu, 'funcgraph_exit', tid, context, func=address_of(function),
                          depth=depth, calltime=10**6, rettime=10**6 + took, **more)

    def allocate(self, time, cpu, tid, pointer, size=64, context=0, site=0):
        self.recorder.add(time, cpu, 'kmem_cache_alloc', tid, context, ptr=pointer, bytes_req=size, bytes_alloc=size, call_site=site)

    def free(self, time, cpu, tid, pointer):
        self.recorder.add(time, cpu, 'kmem_cache_free', tid, 0, ptr=pointer, name='')

    def graph(self, *options):
        return graph(self.write(), *options)

    def write(self):
        path = os.path.join(FOLDER.name, 'made.dat')
        with open(path, 'wb') as file:
            file.write(tracedat.to_v7(self.recorder.finished())[0])
        return path


def slab(call):
    """Returns (allocations, bytes, live bytes) of the slab objects allocated inside the call."""
    inside = call['inside'].get('slab', {})
    return tuple(inside.get(key, 0) for key in ('allocations', 'bytes', 'live_bytes'))


class MadeTraces(unittest.TestCase):
    def test_migration_and_preemption(self):
        """Two tasks are in the same functions and swap their CPUs meanwhile."""
        made = Made()
        for tid, cpu, shift in (11, 0, 0), (12, 1, 5):
            at = 1000 + shift
            made.begin(at, cpu, tid, 'a', 0)
            made.begin(at + 10, cpu, tid, 'b', 1)
            made.allocate(at + 20, cpu, tid, 0x1000 * tid, 100 * tid)
            made.allocate(at + 40, 1 - cpu, tid, 0x1000 * tid + 512, tid)
            made.free(at + 42, cpu, 25 - tid - 2, 0x1000 * tid)  # the other task frees the object
            made.end(at + 50, 1 - cpu, tid, 'b', 1, 40)
            made.end(at + 60, cpu, tid, 'a', 0, 60)
        # a third task runs in between and does not return from its call
        made.begin(1022, 0, 13, 'a', 0)
        made.allocate(1023, 0, 13, 0x99000, 7)
        result = made.graph()
        for tid in 11, 12:
            outer, inner = (call for call in result['calls'] if call['tid'] == tid)
            self.assertEqual(['a', 'b', 60, 40], [outer['function'], inner['function'], outer['duration_ns'], inner['duration_ns']])
            self.assertEqual(outer, result['calls'][inner['parent']])
            self.assertEqual((2, 101 * tid, tid), slab(inner))
            self.assertEqual((2, 101 * tid, tid), slab(outer))
            self.assertEqual(1 - inner['cpu'], inner['end_cpu'])
        other, = (call for call in result['calls'] if call['tid'] == 13)
        self.assertEqual(((1, 7, 7), None), (slab(other), other['ended_ns']))

    def test_each_cpu_has_an_idle_task(self):
        made = Made()
        for cpu in 0, 1:
            made.begin(1000 + cpu, cpu, 0, 'a', 0)
            made.allocate(1010, cpu, 0, 0x5000 + 64 * cpu)
        for cpu in 0, 1:
            made.end(1020 + cpu, cpu, 0, 'a', 0, 20)
        self.assertEqual([(20, (1, 64, 64))] * 2, [(call['duration_ns'], slab(call)) for call in made.graph()['calls']])

    def test_interrupts_on_top(self):
        """A hard interrupt occurs during a softirq, which interrupted a task. Each context must keep its own allocations.
        The time of an interrupt is part of the total time of the interrupted call, but not of its self time."""
        made = Made()
        made.begin(1000, 0, 11, 'a', 0)
        made.allocate(1010, 0, 11, 0x1000, 1)
        made.begin(1020, 0, 11, 'b', 1, SOFTIRQ)
        made.allocate(1030, 0, 11, 0x1040, 2, SOFTIRQ)
        made.begin(1040, 0, 11, 'c', 2, HARDIRQ)
        made.allocate(1050, 0, 11, 0x1080, 4, HARDIRQ)
        made.end(1060, 0, 11, 'c', 2, 20, HARDIRQ)
        made.allocate(1065, 0, 11, 0x10c0, 32, HARDIRQ)  # made by no traced call
        made.end(1070, 0, 11, 'b', 1, 50, SOFTIRQ)
        made.allocate(1080, 0, 11, 0x1100, 8, SOFTIRQ)  # also made by no traced call
        made.allocate(1085, 0, 11, 0x1140, 16)
        made.end(1100, 0, 11, 'a', 0, 100)
        result = made.graph()
        self.assertEqual([('a', None, False, 17), ('b', 'softirq', True, 2), ('c', 'hardirq', True, 4)],
                         [(call['function'], call['interrupt'], call['on_top'], slab(call)[1]) for call in result['calls']])
        self.assertEqual(40, result['outside']['slab']['bytes'])
        self.assertEqual({'a': (100, 50), 'b': (50, 30), 'c': (20, 20)},
                         {row['function']: (row['total_ns'], row['self_ns']) for row in result['functions']})
        # selecting a task also selects the interrupts on top of its calls, but no other interrupts
        self.assertEqual(3, len(made.graph('-p', '11')['calls']))
        self.assertEqual(['b', 'c'], [call['function'] for call in made.graph('-F', 'b')['calls']])
        self.assertEqual([], made.graph('-F', 'b', '-p', '11')['calls'])

    def test_interrupts_during_softirqs_of_interrupts(self):
        """A hard interrupt runs softirqs at its end, and another interrupt occurs during these. The softirqs must be
        inside the first interrupt."""
        made = Made()
        made.begin(1000, 0, 11, 'a', 0, HARDIRQ)
        made.allocate(1010, 0, 11, 0x1000, 1, HARDIRQ)
        made.begin(1020, 0, 11, 'b', 1, SOFTIRQ)
        made.allocate(1030, 0, 11, 0x1040, 2, SOFTIRQ)
        made.end(1040, 0, 11, 'b', 1, 20, SOFTIRQ)
        made.allocate(1045, 0, 11, 0x1080, 16, HARDIRQ | SOFTIRQ)  # made by no traced call
        made.begin(1050, 0, 11, 'c', 1, HARDIRQ | SOFTIRQ)
        made.allocate(1060, 0, 11, 0x10c0, 4, HARDIRQ | SOFTIRQ)
        made.begin(1065, 0, 11, 'b', 2, HARDIRQ | SOFTIRQ)
        made.end(1067, 0, 11, 'b', 2, 2, HARDIRQ | SOFTIRQ)
        made.end(1070, 0, 11, 'c', 1, 20, HARDIRQ | SOFTIRQ)
        made.end(1100, 0, 11, 'a', 0, 100)
        result = made.graph()
        self.assertEqual([('a', None, True, 3), ('b', 0, False, 2), ('c', 0, True, 4), ('b', 2, False, 0)],
                         [(call['function'], call['parent'], call['on_top'], slab(call)[1]) for call in result['calls']])
        self.assertEqual(16, result['outside']['slab']['bytes'])

    def test_lost_events(self):
        """An end and a start are lost. The remaining end belongs to no call, and calls of other tasks must not be
        affected."""
        made = Made()
        for cpu, tid in (0, 11), (1, 12):
            made.begin(1_000_000, cpu, tid, 'a', 0)
            made.begin(1_010_000, cpu, tid, 'b', 1)
            made.end(1_100_000, cpu, tid, 'b', 1, 90_000)
            made.begin(1_200_000, cpu, tid, 'b', 1)
            made.allocate(1_250_000, cpu, tid, 0x1000 + 64 * cpu)
            made.end(1_300_000, cpu, tid, 'b', 1, 100_000)
            made.end(1_400_000, cpu, tid, 'a', 0, 400_000)
        made.recorder.lose(0, 1_050_000, 1_240_000, True)
        result = made.graph()
        untouched = [call for call in result['calls'] if call['tid'] == 12]
        self.assertEqual([(400_000, False), (90_000, False), (100_000, False)],
                         [(call['duration_ns'], call['lost_events']) for call in untouched])
        outer, first, second = (call for call in result['calls'] if call['tid'] == 11)
        self.assertEqual((True, 1_400_000, 400_000), (outer['lost_events'], outer['ended_ns'], outer['duration_ns']))
        self.assertEqual((True, None), (first['lost_events'], first['ended_ns']))
        self.assertEqual((None, 1_300_000, 100_000), (second['began_ns'], second['ended_ns'], second['duration_ns']))
        # After the loss, the call of the allocation is unknown.
        self.assertEqual([(0, 0, 0)] * 3, [slab(call) for call in (outer, first, second)])
        self.assertEqual(1, result['outside']['slab']['allocations'])
        row, = (row for row in result['functions'] if row['function'] == 'b')
        self.assertEqual((3, 2, 1, 190_000), (row['calls'], row['cut_off'], row['lost_events'], row['total_ns']))

    def test_ends_without_starts(self):
        made = Made()
        made.allocate(1000, 0, 11, 0x1000)
        made.end(1010, 0, 11, 'b', 1, 500)
        made.end(1020, 0, 11, 'a', 0, 600)
        made.begin(1030, 0, 11, 'c', 0)
        made.begin(1040, 0, 11, 'd', 1)
        made.end(1050, 0, 11, 'e', 1, 9)  # d is still open, so this end has no start
        made.end(1060, 0, 11, 'c', 0, 30)
        calls = made.graph()['calls']
        self.assertEqual([('b', None, 1010), ('a', None, 1020), ('c', 1030, 1060), ('d', 1040, None), ('e', None, 1050)],
                         [(call['function'], call['began_ns'], call['ended_ns']) for call in calls])
        self.assertEqual([(0, 0, 0)] * 5, [slab(call) for call in calls])

    def test_return_values(self):
        """Uses the event layout of Linux 6.15: a long depth followed by arguments, and the result."""
        made = Made(fields={'funcgraph_entry': 'unsigned long func; unsigned long depth',
                            'funcgraph_exit': 'unsigned long func; unsigned long retval; unsigned long depth; '
                                              'unsigned long overrun; unsigned long calltime; unsigned long rettime'})
        values = {'a': (0, None), 'b': ((1 << 64) - 22, -22), 'c': ((1 << 32) - 12, -12), 'd': ((1 << 64) - 5000, None)}
        for place, (function, (value, _)) in enumerate(values.items()):
            made.begin(1000 + 100 * place, 0, 11, function, 0)
            made.end(1050 + 100 * place, 0, 11, function, 0, 50, retval=value)
        result = made.graph('--ret')
        self.assertTrue(result['return_values'])
        self.assertEqual([(50, hex(value), error) for value, error in values.values()],
                         [(call['duration_ns'], call['return_value'], call['error']) for call in result['calls']])
        text = run('graph', '--ret', made.write()).stdout
        for line in 'a(); /* = 0x0 */', 'b(); /* = -22 (EINVAL) */', 'c(); /* = -12 (ENOMEM) */', 'd(); /* = 0xffffffff':
            self.assertIn('0.050 us    |  ' + line, text)

    def test_duplicate_allocation_event(self):
        """Linux 6.18 reports a large kmalloc in kvmalloc twice. The allocation must be counted once, in the calls that
        are open at the first event."""
        made = Made()
        made.begin(1000, 0, 11, 'a', 0)
        made.begin(1010, 0, 11, 'b', 1)
        for at in 1020, 1040:
            made.recorder.add(at, 0, 'kmalloc', 11, 0, ptr=0x10000, bytes_req=65536, bytes_alloc=65536)
            if at == 1020:
                made.end(1030, 0, 11, 'b', 1, 20)
        made.end(1050, 0, 11, 'a', 0, 50)
        result = made.graph()
        self.assertEqual([(1, 65536, 65536)] * 2, [slab(call) for call in result['calls']])
        rows = {row['function']: row for row in result['functions']}
        self.assertEqual([(1, 65536, 65536)] * 2, [slab(rows[name]) for name in 'ab'])
        self.assertEqual([{}, (1, 65536, 65536)], [rows['a']['inside_self'], slab({'inside': rows['b']['inside_self']})])

    def test_call_paths(self):
        """The call site is the innermost call outside the allocators. A call path of an interrupt starts with the
        interrupt's own calls."""
        made = Made()
        made.allocate(900, 0, 11, 0x900, 1, site=address_of('q'))  # the call is unknown
        made.begin(1000, 0, 11, 'a', 0)
        made.begin(1010, 0, 11, 'b', 1)
        made.begin(1020, 0, 11, 'p', 2)
        made.allocate(1030, 0, 11, 0x1000, 2, site=address_of('q'))
        made.begin(1031, 0, 11, 'c', 3, SOFTIRQ)
        made.allocate(1032, 0, 11, 0x1100, 4, SOFTIRQ, site=address_of('e') + 8)  # the calling function is not traced
        made.allocate(1033, 0, 11, 0x1200, 8, HARDIRQ, site=address_of('q'))
        made.end(1034, 0, 11, 'c', 3, 3, SOFTIRQ)
        made.end(1040, 0, 11, 'p', 2, 20)
        made.allocate(1050, 0, 11, 0x1300, 16, site=address_of('b') + 8)
        made.allocate(1060, 1, 12, 0x1400, 32, site=address_of('d') + 8)  # another task
        path = made.write()

        def collapsed(*options):
            done = run('export', path, '--to', 'collapsed', *options)
            return {line.rsplit(' ', 1)[0]: int(line.rsplit(' ', 1)[1]) for line in done.stdout.splitlines()}
        self.assertEqual({'[slab];unknown': 1 + 8, '[slab];b': 2 + 16, '[slab];e': 4, '[slab];d': 32}, collapsed())
        self.assertEqual({'[slab];unknown': 1 + 8, '[slab];a;b': 2 + 16, '[slab];c;e': 4, '[slab];d': 32},
                         collapsed('--call-paths'))
        self.assertEqual(collapsed(), collapsed('--no-wrappers'))
        stacks = json.loads(run('report', path, '--json', '--by', 'stack', '--call-paths').stdout)
        self.assertIn([f'{name}+0x{at:x}' for name, at in (('kmem_cache_alloc', 1), ('b', 1), ('a', 1))],
                      [[frame['symbol'] for frame in row['keys']['stack']] for row in stacks['groups']['slab']['rows']])
        done = run('export', data('amd64/trace.dat'), '--to', 'collapsed', '--call-paths')
        self.assertIn('has no calls', done.stderr)

    def test_limit_keeps_the_first_calls(self):
        """The limit must apply only to calls that took long enough. Other open calls must not use up the limit."""
        made = Made()
        for place in range(5):
            at = 1000 + 1000 * place
            made.begin(at, 0, 11, 'a', 0)
            made.begin(at + 10, 0, 11, 'b', 1)
            made.begin(at + 20, 0, 11, 'c', 2)
            made.end(at + 120, 0, 11, 'c', 2, 100)
            made.begin(at + 130, 0, 11, 'd', 2)
            made.end(at + 140, 0, 11, 'd', 2, 10)
            made.end(at + 150, 0, 11, 'b', 1, 140)
            made.end(at + 160, 0, 11, 'a', 0, 160)
        everything = [call for call in made.graph()['calls'] if call['duration_ns'] >= 100]
        for limit in range(1, 9):
            result = made.graph('--duration-above', '100ns', '--limit', str(limit))
            self.assertEqual(15, result['calls_selected'])
            self.assertEqual([(call['began_ns'], call['function']) for call in everything[:limit]],
                             [(call['began_ns'], call['function']) for call in result['calls']])
            for call in result['calls']:
                around = 'cba'.partition(call['function'])[2][:1]
                self.assertEqual(around, result['calls'][call['parent']]['function'] if call['parent'] is not None else '')
            self.assertEqual([call['function'] == 'b' or call['function'] == 'a' and place == limit - 1
                              for place, call in enumerate(result['calls'])], [call['inside_hidden'] for call in result['calls']])

    def test_live_memory_at_the_return(self):
        """A call that has returned must keep the live memory at its return. A call that is still open loses objects
        that are freed."""
        made = Made()
        made.begin(1000, 0, 11, 'a', 0)
        made.begin(1010, 0, 11, 'b', 1)
        made.begin(1020, 0, 11, 'a', 2)
        made.allocate(1030, 0, 11, 0x1000, 100)
        made.allocate(1035, 0, 11, 0x2000, 1)
        made.end(1040, 0, 11, 'a', 2, 20)
        made.free(1050, 1, 77, 0x1000)
        made.end(1060, 0, 11, 'b', 1, 50)
        made.end(1070, 0, 11, 'a', 0, 70)
        made.free(1080, 1, 77, 0x2000)
        result = made.graph()
        self.assertEqual([1, 1, 101], [slab(call)[2] for call in result['calls']])
        rows = {row['function']: row for row in result['functions']}
        # a recursive call of `a` is counted once
        self.assertEqual([(70, 40, (2, 101, 0))], [(rows['a']['total_ns'], rows['a']['self_ns'], slab(rows['a']))])
        self.assertEqual((2, 101, 0), slab(rows['b']))
        self.assertEqual({}, rows['b']['inside_self'])


class NoCalls(unittest.TestCase):
    def test_missing_calls_are_reported_once(self):
        for form in ('csv', 'collapsed', 'perfetto', 'chrome'):
            done = run('export', data('amd64/trace.dat'), '--to', form, '--call-paths')
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual(1, str(done.stderr).count('the trace has no calls'), form)


if __name__ == '__main__':
    unittest.main()
