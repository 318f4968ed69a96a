# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of commands as dictionaries."""
import ctypes
import json
import os
from typing import Any, Callable, Dict, Iterable, Optional, Union

from ._library import Options, encoded_path, library, taken

Path = Union[str, 'os.PathLike[str]']


def result(function: Callable[..., Optional[int]], path: Path, by: Union[None, str, Iterable[str]] = None,
           sort: Optional[str] = None, limit: Optional[int] = None, kallsyms: Optional[Path] = None,
           threshold: float = 0) -> Dict[str, Any]:
    """Returns the JSON document that a function of the library writes for a file. `limit` None means all rows."""
    if limit is not None and limit < 1:
        raise ValueError(f'the limit is {limit}; it must be positive, or None for all rows')
    if isinstance(by, str):
        by = by.split(',')
    keys = None if by is None else ','.join(key.replace('_', '-') for key in by).encode()
    options = Options(ctypes.sizeof(Options), keys, sort.replace('_', '-').encode() if sort else None, limit or 0,
                      encoded_path(kallsyms) if kallsyms is not None else None, threshold)
    error = ctypes.c_void_p()
    text = taken(function(encoded_path(path), ctypes.byref(options), ctypes.byref(error)), error)
    document: Dict[str, Any] = json.loads(text)
    return document


def snapshot(path: Path, limit: Optional[int] = None) -> Dict[str, Any]:
    """Returns the output of `kmemtrace snapshot PATH --json`: the memory of a machine. PATH is a file that `kmemtrace
    snapshot` wrote, a folder or an archive with copies of kernel files, or a kernel log with the report of an OOM kill.
    Each table has at most `limit` rows, or all rows if it is None."""
    return result(library.kmt_snapshot_json, path, limit=limit)
