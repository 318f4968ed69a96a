# SPDX-License-Identifier: GPL-2.0-or-later
"""Computes from a .kmt how long tasks waited for memory, with the test suite's own decoder."""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'live'))
import kmt_events  # noqa: E402

KINDS = {'mm_vmscan_direct_reclaim': 'direct_reclaim', 'mm_vmscan_memcg_reclaim': 'cgroup_reclaim',
         'mm_compaction': 'compaction'}


def stalls_of(path):
    """Returns {(task, kind): [number of stalls, time in ns, reclaimed pages]}. Skips stalls that do not end."""
    began, sums = {}, collections.defaultdict(lambda: [0, 0, 0])
    # A task may begin a stall on one CPU and end it on another one.
    for event in sorted(kmt_events.events_of(kmt_events.File(path)), key=lambda event: event.time_ns):
        prefix, _, edge = event.name.rpartition('_')
        if prefix not in KINDS:
            continue
        key = event.pid, KINDS[prefix]
        if edge == 'begin':
            began[key] = event.time_ns
        elif edge == 'end' and key in began:
            row = sums[key]
            row[0] += 1
            row[1] += event.time_ns - began.pop(key)
            row[2] += event.fields.get('nr_reclaimed', 0)
    return sums
