# SPDX-License-Identifier: GPL-2.0-or-later
"""Computes the expected report of a trace from the text of `trace-cmd report -t -R`, slowly and simply.

docs/formats/report-json.md has the definitions. No decoding code of the project is used."""
import collections
import re
import subprocess

Event = collections.namedtuple('Event', 'time cpu tid comm name fields context', defaults=('',))

# "            sh-155   [001]     3.843226969: kmalloc:       call_site=alloc_bprm+0x32 ptr=0xff1f bytes_req=416 …";
# an instance's lines start with its name and a colon.
LINE = re.compile(r'\s*(?:(?P<buffer>\S+):\s+)?(?P<comm>.*)-(?P<tid>\d+)\s+\[(?P<cpu>\d+)\]\s+(?P<s>\d+)\.(?P<ns>\d{9}):\s+'
                  r'(?P<name>[^:\s]+):\s*(?P<rest>.*)')
# Lines that are not events.
IGNORED = re.compile(r'(cpus=|CPU ?:?\d+ .*(DROPPED|is empty)|\s*$|version = )')
# The allocator, and the names of the fields for the address, the requested bytes and the allocated bytes.
SLAB_ALLOCATION = ('slab', 'ptr', 'bytes_req', 'bytes_alloc')
ALLOCATIONS = {'kmalloc': SLAB_ALLOCATION, 'kmalloc_node': SLAB_ALLOCATION, 'kmem_cache_alloc': SLAB_ALLOCATION,
               'kmem_cache_alloc_node': SLAB_ALLOCATION,
               'percpu_alloc_percpu': ('percpu', 'ptr', 'size', 'bytes_alloc'),
               'percpu_alloc_percpu_fail': ('percpu', None, None, None),
               'alloc_vmap_area': ('vmalloc', 'addr', 'size', 'size')}
FREES = {'kfree': ('slab', 'ptr'), 'kmem_cache_free': ('slab', 'ptr'), 'percpu_free_percpu': ('percpu', 'ptr'),
         'free_vmap_area_noflush': ('vmalloc', 'va_start')}
ALLOCATORS = ('slab', 'percpu', 'vmalloc')
ZERO_SIZE_PTR = 16
TOTALS = ('allocations frees failed_allocations bytes_requested bytes_allocated bytes_freed live_allocations live_bytes '
          'matched_frees unmatched_frees null_frees cross_cpu_frees').split()
PAGES = 'allocations frees failed_allocations bytes_allocated bytes_freed live_bytes'.split()
SITE = 'allocations frees bytes_requested bytes_allocated live_allocations live_bytes cross_cpu_frees'.split()


def report_text(path):
    """Returns the reference text of a trace: a compressed file stored with the fixture, or the output of trace-cmd."""
    if path.endswith('.zst'):
        command = ['zstd', '-q', '-d', '-c', path]
    else:
        command = ['trace-cmd', 'report', '-t', '-R', path]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          encoding='utf-8', errors='replace').stdout


def came_early(free, allocation):
    """True if an unmatched free belongs to an allocation that follows immediately on another CPU, whose clock
    differs."""
    return free is not None and free.cpu != allocation.cpu and 0 <= allocation.time - free.time < 10_000


def is_duplicate(first, event, size, page_size):
    """True for a duplicate event: Linux 6.18 reports a large kmalloc in kvmalloc for kvmalloc and immediately again
    for its caller. The event of the caller counts."""
    return (event.name.startswith('kmalloc') and first.name.startswith('kmalloc') and size > 2 * page_size and
            not first.twice and not first.early and first.cpu == event.cpu and event.time - first.time < 100_000 and
            not (first.times > 1 and first.first == event.fields.get('call_site')))


def number(text):
    return 0 if text == '(nil)' else int(text, 0)


def parse(text, buffer=None):
    """Returns the events in time order. Within a CPU the order is that of the buffer; at equal times, events are
    sorted by CPU. `buffer` selects the events of one instance ('' is the top one); None selects all."""
    per_cpu = collections.defaultdict(list)
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            if IGNORED.match(line):
                continue
            raise ValueError(f'not understood: {line!r}')
        if buffer is not None and (match['buffer'] or '') != buffer:
            continue
        fields = dict(pair.split('=', 1) for pair in match['rest'].split() if '=' in pair)
        per_cpu[int(match['cpu'])].append(Event(int(match['s']) * 10**9 + int(match['ns']), int(match['cpu']),
                                                int(match['tid']), match['comm'].strip(), match['name'], fields))
    return in_time_order(per_cpu)


def in_time_order(per_cpu):
    """Sorts the events of {cpu: [event]} into the order that parse() describes."""
    keyed = []
    for cpu, events in per_cpu.items():
        latest = 0
        for place, event in enumerate(events):
            latest = max(latest, event.time)  # an event whose time goes backwards keeps its position in the buffer
            keyed.append((latest, cpu, place, event))
    keyed.sort(key=lambda key: key[:3])
    return [key[3] for key in keyed]


# `times`: number of allocation events since the address was last freed, including duplicate events. `first`: call site
# of the first of these events.
Object = collections.namedtuple('Object', 'site requested bytes cpu selected early time name twice times first')


class Allocator:
    """The state of one of ALLOCATORS, each with separate addresses."""

    def __init__(self):
        self.totals = dict.fromkeys(TOTALS, 0)
        self.sites = collections.defaultdict(lambda: dict.fromkeys(SITE, 0))
        self.live = {}  # address: Object
        self.unmatched = {}  # address: its last event, an unmatched free
        self.freed = set()  # addresses that were freed or allocated before

    def both(self, site):
        return self.totals, self.sites[site]


class Report:
    """Counts events as `report` must. `selects(event)` is the filter on CPU and task, `window` the filter on time."""

    def __init__(self, events, page_size, selects=lambda event: True, window=(0, 1 << 64)):
        self.page_size, self.selects = page_size, selects
        self.events = collections.Counter()
        self.allocators = {name: Allocator() for name in ALLOCATORS}
        self.slab = self.allocators['slab'].totals
        self.pages = dict.fromkeys(PAGES, 0)
        self.anomalies = collections.Counter()
        self.frames = {}  # key: live page frame; value: True if its allocation was selected
        self.freed_frames = set()  # page frames that were freed and not allocated since
        for event in events:
            if window[0] <= event.time < window[1]:
                self.add(event)
        for allocator in self.allocators.values():
            for thing in allocator.live.values():
                if thing.selected:
                    for totals in allocator.both(thing.site):
                        totals['live_allocations'] += 1
                        totals['live_bytes'] += thing.bytes
        self.pages['live_bytes'] = sum(self.frames.values()) * page_size

    def add(self, event):
        selected = self.selects(event)
        if selected:
            self.events[event.name] += 1
        if event.name in ALLOCATIONS:
            self.allocate(event, selected)
        elif event.name in FREES:
            self.free(event, selected)
        elif event.name == 'mm_page_alloc':
            self.allocate_pages(event, selected)
        elif event.name == 'mm_page_free':
            self.free_pages(event, selected)

    def allocate(self, event, selected):
        name, address, requested, given = ALLOCATIONS[event.name]
        allocator = self.allocators[name]
        pointer = number(event.fields[address]) if address else 0
        if pointer == 0 or number(event.fields.get('failed', '0')):
            allocator.totals['failed_allocations'] += selected
            return
        old = allocator.live.get(pointer)
        site, size = event.fields.get('call_site'), number(event.fields[given])
        twice = old is not None and is_duplicate(old, event, size, self.page_size)
        if old and old.selected:
            if twice:
                self.count(allocator, old, -1)
            else:
                self.anomalies['free_before_allocation' if old.early else 'allocation_on_live_pointer'] += 1
        early = came_early(allocator.unmatched.pop(pointer, None), event)
        new = Object(site, number(event.fields[requested]), size, event.cpu, selected, early, event.time, event.name, twice,
                     old.times + 1 if old else 1, old.first if old else site)
        allocator.live[pointer] = new
        if selected:
            self.count(allocator, new, 1)

    @staticmethod
    def count(allocator, thing, times):
        for totals in allocator.both(thing.site):
            totals['allocations'] += times
            totals['bytes_requested'] += times * thing.requested
            totals['bytes_allocated'] += times * thing.bytes

    def free(self, event, selected):
        name, address = FREES[event.name]
        allocator = self.allocators[name]
        pointer = number(event.fields[address])
        if pointer == 0:
            allocator.totals['null_frees'] += selected
        elif name != 'slab' or pointer != ZERO_SIZE_PTR:
            thing = allocator.live.pop(pointer, None)
            if thing is None:
                allocator.unmatched[pointer] = event
                if selected:
                    allocator.totals['frees'] += 1
                    allocator.totals['unmatched_frees'] += 1
                    known = pointer in allocator.freed
                    self.anomalies['double_free_or_untraced_allocation' if known else 'allocated_before_trace'] += 1
            elif thing.selected:
                allocator.totals['matched_frees'] += 1
                allocator.totals['bytes_freed'] += thing.bytes
                for totals in allocator.both(thing.site):
                    totals['frees'] += 1
                    totals['cross_cpu_frees'] += thing.cpu != event.cpu
            allocator.freed.add(pointer)

    def frames_of(self, event):
        first = number(event.fields['pfn'])
        return range(first, first + (1 << number(event.fields['order'])))

    def allocate_pages(self, event, selected):
        if event.fields['pfn'] in ('0xffffffffffffffff', '0xffffffff', '-1', str(2**64 - 1), str(2**32 - 1)):
            self.pages['failed_allocations'] += selected
            return
        self.frames.update(dict.fromkeys(self.frames_of(event), selected))
        self.freed_frames.difference_update(self.frames_of(event))
        if selected:
            self.pages['allocations'] += 1
            self.pages['bytes_allocated'] += self.page_size << number(event.fields['order'])

    def free_pages(self, event, selected):
        """A free of live frames belongs to the task that allocated them; otherwise, to the task that frees."""
        owners = [self.frames.pop(frame) for frame in self.frames_of(event) if frame in self.frames]
        self.pages['frees'] += any(owners) if owners else selected
        self.pages['bytes_freed'] += sum(owners) * self.page_size
        if selected and not self.freed_frames.isdisjoint(self.frames_of(event)):
            self.anomalies['pages_freed_twice'] += 1
        self.freed_frames.update(self.frames_of(event))


def allow_own_frees(want, got):
    """`report` does not count second frees by the recorder's own tasks. The text does not identify these tasks, so the
    report's number may be smaller."""
    for kind in ('double_free_or_untraced_allocation', 'pages_freed_twice'):
        want.anomalies[kind] = min(want.anomalies[kind], got['anomalies'].get(kind, 0))


def differences(want, got):
    """Returns the differences between a report in JSON and the Report `want`, as sentences."""
    found = []

    def compare(what, expected, actual):
        if expected != actual:
            found.append(f'{what} is {actual}, expected {expected}')

    compare('events', dict(want.events), got['events'])
    compare('trace.events', sum(want.events.values()), got['trace']['events'])
    for name, allocator in want.allocators.items():
        for key in TOTALS:
            compare(f'{name}.{key}', allocator.totals[key], got[name][key])
    for key in PAGES:
        compare(f'pages.{key}', want.pages[key], got['pages'][key])
    for kind in ('allocated_before_trace', 'double_free_or_untraced_allocation', 'allocation_on_live_pointer',
                 'free_before_allocation', 'pages_freed_twice'):
        compare(f'anomalies.{kind}', want.anomalies[kind], got['anomalies'].get(kind, 0))

    for name, rows in (('slab', got['call_sites']), ('percpu', got['percpu_call_sites'])):
        sites = collections.defaultdict(lambda: dict.fromkeys(SITE, 0))
        for row in rows:
            # trace-cmd names a site "function+0x1f"; kmemtrace may add the size of the function and its module.
            totals = sites[re.sub(r'/0x[0-9a-f]+| \[[^\]]*\]$', '', row['symbol'])]
            if any(row[key] for key in SITE):
                for key in SITE:
                    totals[key] += row[key]
        wanted = want.allocators[name].sites
        for site in sorted(wanted.keys() | sites.keys()):
            compare(f'{name} call site {site}', wanted[site], sites[site])
    return found
