# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads traces of the kernel's memory events, in every format that kmemtrace reads.

    import kmemtrace
    trace = kmemtrace.open('trace.kmt')
    for row in trace.report(by=['call-site'])['groups']['slab']['rows']:
        print(row['keys']['call-site']['symbol'], row['live_bytes'])

Results are the JSON documents of the commands, as dictionaries: docs/formats/*-json.md explains their keys."""
import os
from typing import Union

from ._library import KmemtraceError, library
from ._results import snapshot
from ._trace import CONTEXTS, KINDS, Columns, Event, Machine, Trace

__all__ = ['CONTEXTS', 'KINDS', 'Columns', 'Event', 'KmemtraceError', 'Machine', 'Trace', 'open', 'snapshot', 'version']


def open(path: Union[str, 'os.PathLike[str]']) -> Trace:  # noqa: A001
    """Opens a trace: a file, or a folder of relay files or CTF. Its content determines the format."""
    return Trace(path)


def version() -> str:
    """Returns the version of libkmemtrace, such as "0.1.0"."""
    return str(library.kmt_version().decode())
