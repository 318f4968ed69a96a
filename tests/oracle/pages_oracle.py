# SPDX-License-Identifier: GPL-2.0-or-later
"""Computes the expected result of `pages` for a trace from the text of trace-cmd, slowly and simply.

docs/formats/pages-json.md has the definitions. No decoding code of the project is used."""
import collections
import re
import subprocess

import kmem_oracle
from kmem_oracle import number

BOTH = ('allocated failed zone_locked refilled freed freed_batched drained fallbacks fragmenting severe moderate '
        'ownership_changed').split()
KEYS = BOTH + ['pcpu_refills', 'pcpu_drains', 'live_pages']
NO_PAGE = (2**64 - 1, 2**32 - 1)
# "  sh-151     1d..s1     7.768815283: mm_page_free: …": the third character after the CPU shows interrupts. Some
# versions of trace-cmd do not show NMIs.
LATENCY = re.compile(r'-\d+\s+\d+([^\s\d]\S*)\s+(\d+\.\d{9}):\s+(mm_page\S+):')
INTERRUPTS = {'H': '[hardirq]', 'h': '[hardirq]', 's': '[softirq]'}


def text_of(path, *options):
    return subprocess.run(['trace-cmd', 'report', '-t', *options, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True, encoding='utf-8', errors='replace').stdout


def page_events(path):
    """Returns the page allocator's events in order of time. The context is the name of the interrupt, or '' for a
    task."""
    raw = [line for line in text_of(path, '-R').splitlines() if re.search(r'\d: mm_page', line)]
    latency = [match for match in map(LATENCY.search, text_of(path, '-l').splitlines()) if match]
    assert len(raw) == len(latency), (len(raw), len(latency))
    lines = []
    for line, match in zip(raw, latency):
        assert f' {match[2]}: {match[3]}:' in line, (line, match[0])
        lines.append(f'{line} context={match[1][2]}')
    return [event._replace(context=INTERRUPTS.get(event.fields['context'], ''))
            for event in kmem_oracle.parse('\n'.join(lines))]


def gfp_names(path):
    """Returns {GFP flags as a number: names of the flags} for the page allocations."""
    flags = re.compile(r' mm_page_alloc:.* gfp_flags=(\S+)')
    raw, words = (flags.findall(text_of(path, *options)) for options in (('-R',), ()))
    assert len(raw) == len(words)
    return {f'{number(value):#x}': name for value, name in zip(raw, words)}


class Both:
    def __init__(self):
        self.events = self.pages = 0

    def add(self, order, pages=True):
        self.events += 1
        self.pages += (1 << order) if pages else 0

    def json(self):
        return {'events': self.events, 'pages': self.pages}


class Task:
    def __init__(self):
        for key in BOTH:
            setattr(self, key, Both())
        self.pcpu_refills = self.pcpu_drains = self.live_pages = 0

    def json(self):
        return {key: getattr(self, key).json() if key in BOTH else getattr(self, key) for key in KEYS}


class Pages:
    """Computes the result. `selects(event)` is the filter on CPU and task, `window` the filter on time."""

    def __init__(self, events, page_size, pageblock_order, selects=lambda event: True, window=(0, 1 << 64)):
        self.page_size, self.pageblock_order = page_size, pageblock_order
        self.tasks = collections.defaultdict(Task)
        self.types = collections.defaultdict(collections.Counter)  # (order, type): Counter
        self.fallbacks = collections.defaultdict(Task)  # (requested type, type that the pages were taken from)
        self.failures = collections.Counter()  # (task, order, gfp, type): count
        self.frames = {}  # key: live frame; value: (task, order, type), or None if not selected
        self.runs = {}  # key: task or interrupt; value: its name at its last page event
        self.events = 0
        for event in events:
            if window[0] <= event.time < window[1]:
                self.add(event, selects(event))
        for owner in self.frames.values():
            if owner:
                self.tasks[owner[0]].live_pages += 1
                self.types[owner[1:]]['live_bytes'] += page_size

    def add(self, event, selected):
        order = number(event.fields.get('order', '0'))
        kind = number(event.fields.get('migratetype', '0'))
        has_page = number(event.fields['pfn']) not in NO_PAGE
        name = event.context or f'{event.comm}-{event.tid}'
        frames = range(number(event.fields['pfn']), number(event.fields['pfn']) + (1 << order))
        if selected:
            self.count(event, order, has_page, name)
        if event.name == 'mm_page_alloc' and has_page:
            self.frames.update(dict.fromkeys(frames, (name, order, kind) if selected else None))
            if selected:
                self.types[order, kind].update(allocations=1, bytes_allocated=self.page_size << order)
        elif event.name == 'mm_page_alloc' and selected:
            self.types[order, kind].update(failed_allocations=1)
            self.failures[name, order, number(event.fields['gfp_flags']), kind] += 1
        elif event.name == 'mm_page_free':
            for frame in frames:
                self.frames.pop(frame, None)

    def count(self, event, order, has_page, name):
        self.events += 1
        task = self.tasks[name]
        sequence = (name, event.cpu) if event.context or event.tid == 0 else event.tid
        begins = self.runs.get(sequence) != event.name
        self.runs[sequence] = event.name
        if event.name == 'mm_page_alloc':
            (task.allocated if has_page else task.failed).add(order)
        elif event.name == 'mm_page_alloc_zone_locked':
            task.zone_locked.add(order, has_page)
            task.pcpu_refills += begins
            if has_page and number(event.fields.get('percpu_refill', str(int(order == 0)))):
                task.refilled.add(order)
        elif event.name == 'mm_page_free':
            task.freed.add(order)
        elif event.name == 'mm_page_free_batched':
            task.freed_batched.add(order)
        elif event.name == 'mm_page_pcpu_drain':
            task.drained.add(order)
            task.pcpu_drains += begins
        elif event.name == 'mm_page_alloc_extfrag':
            fallback = number(event.fields['fallback_order'])
            types = number(event.fields['alloc_migratetype']), number(event.fields['fallback_migratetype'])
            for counts in (task, self.fallbacks[types]):
                counts.fallbacks.add(fallback)
                if fallback < self.pageblock_order:
                    counts.fragmenting.add(fallback)
                    (counts.severe if fallback <= 3 else counts.moderate).add(fallback)
                if number(event.fields['change_ownership']):
                    counts.ownership_changed.add(fallback)


def differences(want, got):
    """Returns the differences from `pages --json`, as sentences."""
    found = []

    def compare(what, expected, actual):
        if expected != actual:
            found.append(f'{what} is {actual}, expected {expected}')

    compare('trace.events', want.events, got['trace']['events'])
    compare('pageblock_order', (want.pageblock_order, 'trace'),
            (got['fragmentation']['pageblock_order'], got['fragmentation']['pageblock_order_from']))
    rows = {row['task']: row for row in got['tasks']}
    compare('number of tasks', len(got['tasks']), len(rows))
    compare('tasks', sorted(want.tasks), sorted(rows))
    total = Task().json()
    for name, task in want.tasks.items():
        for key, value in task.json().items():
            compare(f'{name} {key}', value, rows.get(name, {}).get(key))
            if key in BOTH:
                total[key] = {unit: total[key][unit] + value[unit] for unit in value}
            else:
                total[key] += value
    compare('total', total, got['total'])
    keys = ('allocations', 'failed_allocations', 'bytes_allocated', 'live_bytes')
    compare('types', {place: [counts[key] for key in keys] for place, counts in want.types.items()},
            {(row['order'], row['migrate_type']): [row[key] for key in keys] for row in got['types']})
    keys = ('fallbacks', 'fragmenting', 'severe', 'moderate', 'ownership_changed')
    compare('fallback_types', {types: {key: getattr(counts, key).json() for key in keys} for types, counts in want.fallbacks.items()},
            {(row['migrate_type'], row['from_migrate_type']): {key: row[key] for key in keys}
             for row in got['fallback_types']})
    compare('failures', dict(want.failures),
            {(row['task'], row['order'], int(row['gfp_flags'], 0), row['migrate_type']): row['count']
             for row in got['failures']})
    return found
