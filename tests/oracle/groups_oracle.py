# SPDX-License-Identifier: GPL-2.0-or-later
"""Computes the expected result of `report --by` for a trace, slowly and simply. Every allocation with its end is an
object, and a group is a list of objects. docs/formats/report-json.md has the definitions."""
import collections
import fnmatch
import re

from kmem_oracle import ALLOCATIONS, FREES, ZERO_SIZE_PTR, came_early, number

GFP_ACCOUNT = 0x400000  # ___GFP_ACCOUNT in the kernels of all traces here
NO_PAGE = (2**64 - 1, 2**32 - 1)
CACHE_ALLOCATIONS = 'kmem_cache_alloc', 'kmem_cache_alloc_node'
SLAB_ALLOCATIONS = 'kmalloc', 'kmalloc_node', *CACHE_ALLOCATIONS



def kmalloc_cache(given, flags):
    """Returns the cache name used by the kernel since 4.20 (mm/slab_common.c), for SLUB and pages of 4 KiB."""
    if given > 8192:
        return 'large kmalloc'
    prefix = 'dma-kmalloc-' if flags & 0x01 else 'kmalloc-rcl-' if flags & 0x10 else 'kmalloc-'
    return prefix + (f'{given // 1024}k' if given >= 1024 and given % 1024 == 0 else str(given))


class Allocation:
    """An allocation. `changes` lists (position of the event, time, bytes) for each change of its live bytes."""

    def __init__(self, allocator, event, requested, given, failed):
        self.allocator, self.event, self.failed = allocator, event, failed
        self.requested, self.given = requested, given
        self.changes = []
        self.bytes_freed = 0
        self.parts = []  # (free event, freed bytes): pages may be freed in parts
        self.free = None  # the event that ended the allocation
        self.replaced = False
        self.early = False  # its address was freed just before the allocation
        self.cache = None

    @property
    def lifetime(self):
        return max(0, self.free.time - self.event.time) if self.free else None


# `subject` is the allocation or unmatched free by which filters select the anomaly.
Anomaly = collections.namedtuple('Anomaly', 'kind allocator first second cache time subject')


class History:
    """All allocations and anomalies of the events, in the order of the events. `names` is {(call site, size): {cache
    name: frees}} if known from elsewhere."""

    def __init__(self, events, page_size, kernel='6.4', names=None):
        self.page_size = page_size
        self.kfree_takes_all = tuple(map(int, re.match(r'(\d+)\.(\d+)', kernel).groups())) >= (6, 4)
        self.allocations, self.anomalies = [], []
        self._live = collections.defaultdict(dict)  # {allocator: {address or page frame: Allocation}}
        self._freed = collections.defaultdict(dict)  # {allocator: {address: its last free}}
        self._unmatched = collections.defaultdict(dict)  # {allocator: {address: last event if it is an unmatched free}}
        self.names = collections.defaultdict(collections.Counter)  # cache names from kmem_cache_free events
        for place, event in enumerate(events):
            if event.name in ALLOCATIONS:
                self._allocate(place, event)
            elif event.name in FREES:
                self._free(place, event)
            elif event.name == 'mm_page_alloc':
                self._allocate_pages(place, event)
            elif event.name == 'mm_page_free':
                self._free_pages(place, event)
        self.names = names or self.names
        for allocation in self.allocations:
            allocation.cache = self._cache(allocation)

    def _cache(self, allocation):
        event = allocation.event
        if allocation.allocator != 'slab':
            return None
        if event.name not in CACHE_ALLOCATIONS:
            return kmalloc_cache(allocation.given, number(event.fields.get('gfp_flags', '0')))
        names = self.names.get((event.site, allocation.given), {})
        common = (name for name, frees in names.items() if 10 * frees >= sum(names.values()))
        return event.fields.get('name') or '|'.join(sorted(common)) or None

    def _strange(self, kind, event, first, second, subject):
        of_free = 'pages' if event.name == 'mm_page_free' else FREES.get(event.name, (None,))[0]
        allocator = subject.allocator if isinstance(subject, Allocation) else of_free
        self.anomalies.append(Anomaly(kind, allocator, first, second, None, event.time, subject))

    def _start(self, allocator, event, requested, given, failed):
        allocation = Allocation(allocator, event, requested, given, failed)
        self.allocations.append(allocation)
        if failed:
            self._strange('failed_allocation', event, None, event.site, allocation)
        return allocation

    def _allocate(self, place, event):
        allocator, address, requested, given = ALLOCATIONS[event.name]
        requested = requested or 'size'  # a failed percpu allocation
        pointer = number(event.fields[address]) if address else 0
        failed = pointer == 0 or number(event.fields.get('failed', '0')) != 0
        sizes = (number(event.fields[field]) if field in event.fields else 0 for field in (requested, given))
        allocation = self._start(allocator, event, *sizes, failed)
        if failed:
            return
        if old := self._live[allocator].get(pointer):
            old.replaced = True
            old.changes.append((place, event.time, -old.given))
            kind = 'free_before_allocation' if old.early else 'allocation_on_live_pointer'
            self._strange(kind, event, old.event.site, event.site, old)
        if allocator == 'slab' and allocation.given < allocation.requested:
            self._strange('allocated_less_than_requested', event, None, event.site, allocation)
        allocation.early = came_early(self._unmatched[allocator].pop(pointer, None), event)
        self._live[allocator][pointer] = allocation
        allocation.changes.append((place, event.time, allocation.given))

    def _free(self, place, event):
        allocator, address = FREES[event.name]
        pointer = number(event.fields[address])
        if pointer == 0 or allocator == 'slab' and pointer == ZERO_SIZE_PTR:
            return
        allocation = self._live[allocator].pop(pointer, None)
        if not allocation:
            self._unmatched[allocator][pointer] = event
        if allocation:
            allocation.free = event
            allocation.bytes_freed = allocation.given
            allocation.parts.append((event, allocation.given))
            allocation.changes.append((place, event.time, -allocation.given))
            if allocator == 'slab':
                self._free_of_family(allocation, event)
        elif pointer in self._freed[allocator]:
            before = self._freed[allocator][pointer]
            self._strange('double_free_or_untraced_allocation', event, before.site, event.site, event)
        else:
            self._strange('allocated_before_trace', event, None, event.site, event)
        self._freed[allocator][pointer] = event

    def _free_of_family(self, allocation, event):
        of_cache = allocation.event.name in CACHE_ALLOCATIONS
        to_cache = event.name == 'kmem_cache_free'
        if to_cache and not of_cache or of_cache and not to_cache and not self.kfree_takes_all:
            self._strange('freed_by_another_family', event, allocation.event.site, event.site, allocation)
        elif of_cache and to_cache:
            said, name = allocation.event.fields.get('name'), event.fields.get('name')
            if said and name and said != name:
                self._strange('freed_by_another_cache', event, allocation.event.site, event.site, allocation)
            if name:
                self.names[allocation.event.site, allocation.given][name] += 1

    def _close_frames(self, place, event, freed):
        """Ends the live allocations of the event's frames. An allocation ends when its first frame is freed."""
        first = number(event.fields['pfn'])
        for frame in range(first, first + (1 << number(event.fields['order']))):
            if allocation := self._live['pages'].pop(frame, None):
                allocation.changes.append((place, event.time, -self.page_size))
                allocation.bytes_freed += self.page_size * freed
                if freed:
                    allocation.parts.append((event, self.page_size))
                if frame == number(allocation.event.fields['pfn']):
                    allocation.free, allocation.replaced = (event, False) if freed else (None, True)

    def _allocate_pages(self, place, event):
        first, pages = number(event.fields['pfn']), 1 << number(event.fields['order'])
        failed = first in NO_PAGE
        size = pages * self.page_size
        allocation = self._start('pages', event, size, size, failed)
        if not failed:
            self._close_frames(place, event, freed=False)
            self._live['pages'].update((frame, allocation) for frame in range(first, first + pages))
            for frame in range(first, first + pages):
                self._freed['pages'].pop(frame, None)
            allocation.changes.append((place, event.time, size))

    def _free_pages(self, place, event):
        self._close_frames(place, event, freed=True)
        first, freed = number(event.fields['pfn']), self._freed['pages']
        frames = range(first, first + (1 << number(event.fields['order'])))
        if before := [freed[frame] for frame in frames if frame in freed]:
            self._strange('pages_freed_twice', event, max(before, key=lambda free: free.time).site, event.site, event)
        freed.update(dict.fromkeys(frames, event))


# -- keys -------------------------------------------------------------------------------------------------------------

ALL = 'slab', 'pages', 'percpu', 'vmalloc'


def _task(allocation):
    event = allocation.event
    interrupt = event.interrupt()
    return (None, f'[{interrupt}]') if interrupt else (event.tid, event.comm)


def _process(allocation):
    """Returns the key of a process: only its ID, because a process is one group, whatever names it had."""
    interrupt = allocation.event.interrupt()
    return f'[{interrupt}]' if interrupt else allocation.event.tid


def _node(allocation):
    node = number(allocation.event.fields.get('node', '-1'))
    return None if node == -1 else node


def _accounted(allocation):
    fields = allocation.event.fields
    if 'accounted' in fields:
        return 'yes' if number(fields['accounted']) else 'no'
    if number(fields.get('gfp_flags', '0')) & GFP_ACCOUNT:
        return 'yes'
    shows_all = allocation.event.name.startswith('kmalloc') or allocation.allocator == 'percpu'
    return 'no' if shows_all and 'gfp_flags' in fields else None


def _lifetime(allocation):
    """Returns the power-of-two bucket; the first bucket has lifetimes 0 and 1."""
    if allocation.free is None:
        return None
    low = 1 << max(allocation.lifetime, 1).bit_length() - 1
    return (0 if low == 1 else low), 2 * low


def _begin(allocation):
    if allocation.failed:
        return None
    fields = allocation.event.fields
    return number(fields['pfn' if allocation.allocator == 'pages' else ALLOCATIONS[allocation.event.name][1]])


def _address(said):
    return int(said['address'], 16)


# {key: (allocators to which the key applies, function that returns the key's value of an Allocation, function that
# returns the same value from the value in JSON)}
KEYS = {
    'call-site': (('slab', 'percpu'), lambda a: a.event.site, _address),
    'stack': (ALL, lambda a: a.event.stack, lambda said: tuple(map(_address, said))),
    'task': (ALL, _task, lambda said: (said['tid'], said['comm'])),
    'process': (ALL, _process, lambda said: said['comm'] if said['pid'] is None else said['pid']),
    'comm': (ALL, lambda a: _task(a)[1], str),
    'cache': (('slab',), lambda a: a.cache, lambda said: said),
    'size': (ALL, lambda a: a.given, int),
    'requested-size': (ALL, lambda a: a.requested, int),
    'order': (('pages',), lambda a: number(a.event.fields['order']), int),
    'migrate-type': (('pages',), lambda a: number(a.event.fields['migratetype']), lambda said: said['number']),
    'gfp': (('slab', 'pages', 'percpu'), lambda a: number(a.event.fields.get('gfp_flags', '0')),
            lambda said: int(said['value'], 16)),
    'accounted': (('slab', 'pages', 'percpu'), _accounted, lambda said: said),
    'node': (('slab',), _node, lambda said: said),
    'cpu': (ALL, lambda a: a.event.cpu, int),
    'context': (ALL, lambda a: a.event.interrupt() or 'task', str),
    'address': (ALL, _begin, lambda said: said and int(said, 16)),
    'lifetime': (ALL, _lifetime, lambda said: said and (said['from_ns'], said['to_ns'])),
}


# -- groups -----------------------------------------------------------------------------------------------------------

def bucket(lifetime):
    """Returns the range [from, to) of a lifetime's bucket in the histogram, which has four buckets per octave."""
    if lifetime < 4:
        return lifetime, lifetime + 1
    octave = lifetime.bit_length() - 1
    part = lifetime >> octave - 2 & 3
    return 4 + part << octave - 2, 5 + part << octave - 2


def percentile(lifetimes, percent):
    """Returns the last lifetime in the bucket of this percentile of the sorted lifetimes."""
    rank = -(-percent * len(lifetimes) // 100)
    return bucket(lifetimes[rank - 1])[1] - 1


def _peak(allocations):
    """Returns the largest number of live bytes, and the time of the first event after which it was reached."""
    changes = collections.defaultdict(int)
    for allocation in allocations:
        for place, time, size in allocation.changes:
            changes[place, time] += size
    live = peak = 0
    peak_ns = None
    for (_, time), size in sorted(changes.items()):
        live += size
        if live > peak:
            peak, peak_ns = live, time
    return peak, peak_ns


def row(allocations, cpu_nodes=None):
    """Returns the numbers of a group, with the names used in JSON."""
    given = [a for a in allocations if not a.failed]
    ended = [a for a in given if a.free]
    live = [a for a in given if not a.free and not a.replaced]
    times = [a.event.time for a in allocations]
    lifetimes = sorted(a.lifetime for a in ended)
    peak, peak_ns = _peak(given)
    nodes = cpu_nodes or collections.defaultdict(int)
    return {
        'allocations': len(given), 'failed_allocations': len(allocations) - len(given), 'frees': len(ended),
        'bytes_requested': sum(a.requested for a in given), 'bytes_allocated': sum(a.given for a in given),
        'bytes_wasted': max(0, sum(a.given - a.requested for a in given)), 'bytes_freed': sum(a.bytes_freed for a in given),
        'live_allocations': len(live), 'live_bytes': sum(change[2] for a in given for change in a.changes),
        'peak_bytes': peak, 'peak_ns': peak_ns, 'first_ns': min(times), 'last_ns': max(times),
        'cross_cpu_frees': sum(a.event.cpu != a.free.cpu for a in ended),
        'cross_node_frees': sum(nodes[a.event.cpu] != nodes[a.free.cpu] for a in ended) if cpu_nodes else None,
        'lifetime': _lifetimes(lifetimes),
    }


def _lifetimes(sorted_ones):
    said = {'count': len(sorted_ones), 'under_1ms': sum(t < 10**6 for t in sorted_ones),
            'histogram': dict(collections.Counter(map(bucket, sorted_ones)))}
    if sorted_ones:
        said['mean_ns'] = sum(sorted_ones) // len(sorted_ones)
        said.update((f'p{percent}_ns', percentile(sorted_ones, percent)) for percent in (50, 90, 99))
    return said


def groups(allocations, keys, cpu_nodes=None):
    """Returns {allocator: {(value of each key): row}}. A value is None if the key does not apply to the allocator."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for allocation in allocations:
        if any(allocation.allocator in KEYS[key][0] for key in keys):
            values = (KEYS[key][1](allocation) if allocation.allocator in KEYS[key][0] else None for key in keys)
            found[allocation.allocator][tuple(values)].append(allocation)
    return {name: {values: row(members, cpu_nodes) for values, members in of.items()} for name, of in found.items()}


# {key of frees: (allocators to which the key applies, the corresponding key of allocations)}
FREE_KEYS = {'free-site': (('slab',), 'call-site'), 'free-task': (ALL, 'task'), 'free-process': (ALL, 'process'),
             'free-comm': (ALL, 'comm')}
Free = collections.namedtuple('Free', 'event')


def _value(key, allocation, free):
    if key not in FREE_KEYS:
        return KEYS[key][1](allocation) if allocation.allocator in KEYS[key][0] else None
    allocators, key_of_free = FREE_KEYS[key]
    return KEYS[key_of_free][1](Free(free)) if free and allocation.allocator in allocators else None


FREER_COLUMNS = 'allocations', 'failed_allocations', 'bytes_allocated', 'frees', 'bytes_freed', 'live_bytes'


def by_freer(allocations, keys):
    """Returns {allocator: {value of each key: numbers of FREER_COLUMNS}}. Keys of frees are None for objects that were
    not freed."""
    sums = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    for allocation in allocations:
        if not any(allocation.allocator in (FREE_KEYS.get(key) or KEYS[key])[0] for key in keys):
            continue

        def add(free, **numbers):
            values = tuple(_value(key, allocation, free) for key in keys)
            sums[allocation.allocator][values].update(numbers)

        if allocation.failed:
            add(None, failed_allocations=1)
            continue
        add(allocation.free, allocations=1, bytes_allocated=allocation.given, frees=int(allocation.free is not None))
        for event, size in allocation.parts:
            add(event, bytes_freed=size)
        if live := sum(change[2] for change in allocation.changes):
            add(None, live_bytes=live)
    return {name: {values: tuple(row[column] for column in FREER_COLUMNS) for values, row in of.items()}
            for name, of in sums.items()}


def said_by_freer(report):
    """Returns the same as by_freer(), from the JSON of `report`."""
    def value(key, said):
        return None if said is None else KEYS[FREE_KEYS[key][1] if key in FREE_KEYS else key][2](said)

    return {name: {tuple(value(key, said) for key, said in row['keys'].items()):
                   tuple(row[column] for column in FREER_COLUMNS) for row in of['rows']}
            for name, of in report['groups'].items()}


def anomaly_sites(anomalies):
    """Returns {(kind, first call site, second call site, allocator): (count, first time, last time)}. A call site
    without a name in the trace is None."""
    found = {}
    for anomaly in anomalies:
        key = anomaly.kind, anomaly.first or None, anomaly.second or None, anomaly.allocator
        count, first, _ = found.get(key, (0, anomaly.time, 0))
        found[key] = count + 1, first, anomaly.time
    return found


# -- filters ----------------------------------------------------------------------------------------------------------

def by_call_site(pattern):
    """Selects allocations by the function of the call site, with or without offset."""
    def selects(allocation):
        symbol = allocation.event.symbol
        return symbol is not None and any(fnmatch.fnmatchcase(name, pattern) for name in (symbol, symbol.split('+')[0]))
    return selects


def by_cache(pattern):
    return lambda allocation: allocation.cache is not None and fnmatch.fnmatchcase(allocation.cache, pattern)


def by_size(least, most):
    return lambda allocation: least <= allocation.given <= most


# -- comparing --------------------------------------------------------------------------------------------------------

def _said_row(said):
    """Converts a row of the JSON to the form of row()."""
    numbers = {key: value for key, value in said.items() if key not in ('keys', 'lifetime')}
    lifetime = dict(said['lifetime'])
    lifetime['histogram'] = {(b['from_ns'], b['to_ns']): b['count'] for b in lifetime['histogram']}
    return {**numbers, 'lifetime': lifetime}


def differences(want, said, keys):
    """Returns the differences between the JSON and groups(), as sentences."""
    found = []
    if said.get('by') != list(keys):
        found.append(f'by is {said.get("by")}, expected {list(keys)}')
    for name in sorted(want.keys() | said['groups'].keys()):
        expected = want.get(name, {})
        rows = said['groups'].get(name, {'total': 0, 'rows': []})
        if rows['total'] != len(rows['rows']):
            found.append(f'{name}: total {rows["total"]} of {len(rows["rows"])} rows')
        actual = {}
        for one in rows['rows']:
            values = tuple(KEYS[key][2](one['keys'][key]) if one['keys'].get(key) is not None else None for key in keys)
            if values in actual:
                found.append(f'{name} {values}: two rows')
            actual[values] = _said_row(one)
        for values in expected.keys() | actual.keys():
            if values not in actual or values not in expected:
                found.append(f'{name} {values}: {"not there" if values in expected else "unexpected"}')
                continue
            found += _row_differences(f'{name} {values}', expected[values], actual[values], _may_be_unsaid(name, keys))
    return found


def _may_be_unsaid(allocator, keys):
    """Returns the columns that `report` may leave null although they can be computed. One is the waste of allocators
    that do not round up, or that count requests in another unit. The lifetime of an allocation is known only at its
    end, so in groups by lifetime, the peak and the times of live objects may be null. The freed bytes of pages may also
    be null, since an allocation may be freed in several parts."""
    of_lifetimes = ('peak_bytes', 'peak_ns', 'first_ns', 'last_ns') + ('bytes_freed', 'live_bytes') * (allocator == 'pages')
    return ('bytes_wasted',) * (allocator != 'slab') + of_lifetimes * ('lifetime' in keys)


def _row_differences(what, expected, actual, may_be_unsaid):
    found = []
    for key, value in expected.items():
        if key == 'lifetime':
            found += _row_differences(f'{what} lifetime', value, actual['lifetime'], ())
        elif key == 'peak_ns' and value is None:
            continue  # the group never had live memory
        elif actual.get(key, 'missing') != value and not (key in may_be_unsaid and actual.get(key, '') is None):
            found.append(f'{what}: {key} is {actual.get(key, "missing")}, expected {value}')
    return found
