# SPDX-License-Identifier: GPL-2.0-or-later
"""The hosts of the test fleet, functions to load and query them, and the local results for the trace of a host."""
import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import planted_trace  # noqa: E402
import ring_writer  # noqa: E402
import schemas  # noqa: E402
import tracedat  # noqa: E402
from export_traces import data, place, report, run  # noqa: E402

ALLOCATORS = 'slab', 'pages', 'percpu', 'vmalloc'
MEASURES = ('allocations', 'failed_allocations', 'bytes_requested', 'bytes_allocated', 'matched_frees', 'bytes_freed',
            'live_allocations', 'live_bytes', 'cross_cpu_frees')
GHOST, KEPT = 0xffffffff81000001, 0xffffffff81000101


def write_long_trace(path, pairs, seconds=10):
    """Writes a text trace of `seconds` with `pairs` allocations, nine of ten with a free."""
    with open(path, 'w', encoding='ascii') as file:
        for i in range(pairs):
            at = f'{100 + i * seconds / pairs:.6f}'
            file.write(f'          make-{100 + i % 7}     [00{i % 2}] ..... {at}: kmalloc: call_site=f{i % 50}+0x1/0x20 '
                       f'ptr={0xffff888000000000 + i * 64:x} bytes_req=60 bytes_alloc=64 gfp_flags=GFP_KERNEL\n')
            if i % 10:
                file.write(f'          make-{100 + i % 7}     [00{i % 2}] ..... {at}: kfree: call_site=g+0x1/0x20 '
                           f'ptr={0xffff888000000000 + i * 64:x}\n')
    return path


def write_reused_trace(path):
    """Writes ten seconds of events. Some objects of GHOST are freed, and some addresses are reused without a free.
    KEPT never frees its objects."""
    recorder = ring_writer.Recorder(data('amd64/trace.dat'), cpus=1)
    recorder.trace.kallsyms = b''.join(f'{site & ~0xf:x} t {name}\n'.encode() for site, name in
                                       ((GHOST, 'ghost'), (KEPT, 'kept'), (GHOST + 0x1000, 'other')))
    for i in range(2_000):
        time, kept = 20 * 10**9 + i * 5_000_000, i % 10 == 0
        pointer = 0xffff888100000000 + 64 * (2 * i + 1 if kept else 2 * (i if i % 4 else i - 1 - i % 3))
        recorder.add(time, 0, 'kmalloc', 100, call_site=KEPT if kept else GHOST, ptr=pointer, bytes_req=64, bytes_alloc=64,
                     gfp_flags=planted_trace.GFP_KERNEL, node=-1)
        if not kept and i % 3 == 0:
            recorder.add(time + 1000, 0, 'kfree', 100, call_site=GHOST + 0x1001, ptr=pointer)
    with open(path, 'wb') as file:
        file.write(tracedat.to_v7(recorder.finished())[0])
    return path


def write_reclaimable_trace(path):
    """Writes ten seconds of objects. Only one object is freed. Every second object is in kmalloc-rcl-64."""
    recorder = ring_writer.Recorder(data('amd64/trace.dat'), cpus=1)
    recorder.trace.kallsyms = f'{KEPT & ~0xf:x} t kept\n{KEPT + 0x1000:x} t other\n'.encode()
    for i in range(1_000):
        recorder.add(20 * 10**9 + i * 10_000_000, 0, 'kmalloc', 100, call_site=KEPT, ptr=0xffff888100000000 + 64 * i, bytes_req=64,
                     bytes_alloc=64, gfp_flags=planted_trace.GFP_KERNEL | (0x10 if i % 2 else 0), node=-1)
    recorder.add(30 * 10**9, 0, 'kfree', 100, call_site=KEPT + 0x1000, ptr=0xffff888100000000)
    with open(path, 'wb') as file:
        file.write(tracedat.to_v7(recorder.finished())[0])
    return path


def write_kept_trace(path, migrate_types=(0,), lacking=(), function='kept', allocation='kmalloc', free='kfree'):
    """Writes three seconds with 300 objects of the site KEPT, whose function has the name `function`, and 300 pages
    with alternating migrate types. The first object and the first page are freed, unless that event is in `lacking`."""
    recorder = ring_writer.Recorder(data('amd64/trace.dat'), cpus=1)
    recorder.trace.kallsyms = f'{KEPT & ~0xf:x} t {function}\n{KEPT + 0x1000:x} t other\n'.encode()
    for i in range(300):
        time, pointer = 20 * 10**9 + i * 10_000_000, 0xffff888100000000 + 64 * i
        recorder.add(time, 0, allocation, 100, call_site=KEPT, ptr=pointer, bytes_req=64, bytes_alloc=64,
                     gfp_flags=planted_trace.GFP_KERNEL, node=-1)
        recorder.add(time + 1000, 0, 'mm_page_alloc', 100, pfn=i + 1, order=0, gfp_flags=planted_trace.GFP_KERNEL,
                     migratetype=migrate_types[i % len(migrate_types)])
        if i == 0 and free not in lacking:
            recorder.add(time + 2000, 0, free, 100, call_site=KEPT + 1, ptr=pointer,
                         **({'name': 'skbuff_head_cache'} if free == 'kmem_cache_free' else {}))
        if i == 0 and 'mm_page_free' not in lacking:
            recorder.add(time + 3000, 0, 'mm_page_free', 100, pfn=i + 1, order=0)
    with open(path, 'wb') as file:
        file.write(tracedat.to_v7(recorder.finished())[0])
    return path


# The hosts, each with its trace and its start time. One trace passes midnight.
HOSTS = {'web1': (data('amd64/trace.dat'), '2026-11-20T10:00:00Z'), 'web2': (data('amd64-5.10/trace.dat'), '2026-11-20T11:00:00Z'),
         'arm': (data('arm64/trace.dat'), '2026-11-20T12:00:00Z'), 'old': (data('i386/trace.dat'), '2026-11-21T10:00:00Z'),
         'big': (data('s390x/trace.dat'), '2026-11-21T12:00:00Z'), 'deep': (data('amd64-stacks/trace.dat'), '2026-11-22T00:00:00Z'),
         'late': (write_long_trace(place('late.txt'), 3_000), '2026-11-20T23:59:55Z'),
         'reused': (write_reused_trace(place('reused.dat')), '2026-11-22T10:00:00Z'),
         'rcl': (write_reclaimable_trace(place('rcl.dat')), '2026-11-22T11:00:00Z')}


def load(url, path, host, began, *options, level='events'):
    done = run('export', path, '--to', 'clickhouse', url, '--host', host, '--recorded-at', began, '--level', level,
               *options, seconds=600)
    assert done.returncode == 0, done.stderr
    return done.stderr


def schema(url, *options):
    done = run('fleet', 'schema', '--server', url, *options, seconds=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def fleet(url, what, *options, exit_code=0):
    done = run('fleet', what, '--server', url, '--json', '--limit', '0', '--retry', '10s', *options, seconds=600)
    assert done.returncode == exit_code, f'fleet {what} {options}: {done.returncode}: {done.stderr}'
    if exit_code != 0:
        return done.stderr
    answer = json.loads(done.stdout)
    assert not schemas.problems(answer), schemas.problems(answer)
    return answer


def function_of(symbol):
    return re.sub(r'\.(isra|constprop|part|cold|llvm)\b.*', '', re.sub(r'(\+0x.*| \[.*)$', '', symbol))


def text_of_key(key, value):
    """Converts a key of `report --json` to the text in the rows of a fleet."""
    if value is None:
        return None
    if key in ('call-site', 'caller'):
        return value['symbol'] if value['address'] != '0x0' else None
    if key == 'migrate-type':
        return value['name']
    if key in ('subsystem', 'directory'):
        return value['name'] + (' (guess)' if value['is_guess'] else '')
    return str(value)


def groups(reported, key):
    """Converts the result of `report --by KEY --json` or of `fleet report --by KEY --json` to {(allocator, value of the
    key): {measure: sum}}."""
    of_fleet = reported['schema'].startswith('kmemtrace.fleet')
    found = collections.defaultdict(collections.Counter)
    for allocator, table in reported['groups'].items():
        for row in table['rows']:
            value = row['keys'][key]
            value = value if of_fleet else text_of_key(key, value)
            for measure in MEASURES:
                name = 'frees' if measure == 'matched_frees' and not of_fleet else measure
                found[allocator, value][measure] += row[name] or 0
    return {name: sums for name, sums in found.items() if any(sums.values())}


def local_groups(path, key, *options):
    """Returns the groups of all allocators, as the fleet forms them. An allocator to which the key does not apply has
    one group. If the key is the call site, groups of such an allocator are the callers found in its stacks."""
    found = groups(report(path, '--by', key, *options), key)
    missing = [name for name in ALLOCATORS if not any(allocator == name for allocator, _ in found)]
    instead = 'caller' if key == 'call-site' else 'comm'
    for (allocator, value), sums in groups(report(path, '--by', instead, *options), instead).items():
        if allocator in missing:
            found.setdefault((allocator, value if instead == 'caller' else None), collections.Counter()).update(sums)
    return found


def doubted(path, key, reason, allocator='slab'):
    """Returns {key: bytes that `leaks` reports as uncertain for this reason}, without zeros."""
    done = run('leaks', path, '--by', key, '--json', '--limit', '0', seconds=300)
    doubts = {text_of_key(key, row['keys'][key]): sum(doubt['bytes'] for doubt in row['uncertain'] if doubt['reason'] == reason)
              for row in json.loads(done.stdout)['groups'].get(allocator, {'rows': []})['rows']}
    return {name: bytes for name, bytes in doubts.items() if bytes}
