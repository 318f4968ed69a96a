# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads libkmemtrace and declares its C interface (kmemtrace/kmemtrace.h)."""
import contextlib
import ctypes
import ctypes.util
import glob
import os
import re
from typing import Iterator, List, NoReturn, Optional, Union

ABI_VERSION = 1


class KmemtraceError(Exception):
    """A file cannot be read, or an argument is invalid."""

    def __init__(self, message: str, file: Optional[str] = None, offset: Optional[int] = None,
                 hint: Optional[str] = None) -> None:
        super().__init__(message)
        self.message = message
        self.file = file  # None if the error is not about a file
        self.offset = offset  # in bytes, from the start of the file
        self.hint = hint  # advice

    def __str__(self) -> str:
        parts = [self.message, f'at {self.file}' if self.file else '', f'offset {self.offset}' if self.offset is not None else '',
                 self.hint or '']
        return '; '.join(part for part in parts if part)


class Options(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('by', ctypes.c_char_p), ('sort', ctypes.c_char_p), ('limit', ctypes.c_uint64),
                ('kallsyms', ctypes.c_char_p), ('threshold_bytes_per_s', ctypes.c_double)]


class MachineStructure(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('format', ctypes.c_char_p), ('kernel', ctypes.c_char_p), ('arch', ctypes.c_char_p),
                ('clock', ctypes.c_char_p), ('page_size', ctypes.c_uint64), ('cpus', ctypes.c_uint32),
                ('word_bits', ctypes.c_uint32), ('little_endian', ctypes.c_uint32), ('clock_in_ns', ctypes.c_uint32)]


# The columns of events, with the type of their values: the letter that the module array uses.
COLUMN_TYPES = {
    'time_ns': 'Q', 'address': 'Q', 'bytes_requested': 'Q', 'bytes_allocated': 'Q', 'call_site': 'Q', 'gfp_flags': 'I',
    'tid': 'i', 'cpu': 'I', 'name': 'I', 'cache': 'I', 'stack': 'I', 'node': 'h', 'migrate_type': 'b', 'order': 'B',
    'kind': 'B', 'context': 'B'}
_TYPES = {'Q': ctypes.c_uint64, 'I': ctypes.c_uint32, 'i': ctypes.c_int32, 'h': ctypes.c_int16, 'b': ctypes.c_int8,
          'B': ctypes.c_uint8}


class ColumnsStructure(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('events', ctypes.c_size_t),
                *((name, ctypes.POINTER(_TYPES[letter])) for name, letter in COLUMN_TYPES.items())]


def _file_version(path: str) -> List[int]:
    """Returns the version in the name of a library, such as [0, 1, 0] for libkmemtrace.so.0.1.0."""
    return [int(number) for number in re.findall(r'\d+', path.rpartition('.so.')[2])]


def _candidates() -> Iterator[str]:
    """Yields the libraries of the same installation, newest first, and then the library of the system."""
    # This file is in PREFIX/lib/python3/dist-packages/kmemtrace.
    folder = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..'))
    if os.path.basename(folder).startswith('lib'):
        yield from sorted(glob.glob(f'{folder}/libkmemtrace.so.*') + glob.glob(f'{folder}/*/libkmemtrace.so.*'),
                          key=_file_version, reverse=True)
    found = ctypes.util.find_library('kmemtrace')
    if found:
        yield found


def _open() -> ctypes.CDLL:
    """Loads the library: $KMEMTRACE_LIBRARY, or the first candidate with the right version of the C interface."""
    if os.environ.get('KMEMTRACE_LIBRARY'):
        return ctypes.CDLL(os.environ['KMEMTRACE_LIBRARY'])
    unsuitable = None
    for path in _candidates():
        with contextlib.suppress(OSError, AttributeError):  # another architecture, or no C interface
            library = ctypes.CDLL(path)
            if library.kmt_abi_version() == ABI_VERSION:
                return library
            unsuitable = unsuitable or library
    if unsuitable is None:
        raise ImportError('libkmemtrace is not installed; install it, or set KMEMTRACE_LIBRARY to its path')
    return unsuitable  # _load() reports its version


def _load() -> ctypes.CDLL:
    library = _open()
    error = ctypes.POINTER(ctypes.c_void_p)
    text, pointer, u32, u64 = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
    declarations = {
        'kmt_abi_version': (ctypes.c_int, []),
        'kmt_version': (text, []),
        'kmt_free': (None, [pointer]),
        'kmt_error_message': (text, [pointer]),
        'kmt_error_file': (text, [pointer]),
        'kmt_error_offset': (ctypes.c_int64, [pointer]),
        'kmt_error_hint': (text, [pointer]),
        'kmt_error_free': (None, [pointer]),
        'kmt_report_json': (pointer, [text, ctypes.POINTER(Options), error]),
        'kmt_leaks_json': (pointer, [text, ctypes.POINTER(Options), error]),
        'kmt_snapshot_json': (pointer, [text, ctypes.POINTER(Options), error]),
        'kmt_open': (pointer, [text, error]),
        'kmt_close': (None, [pointer]),
        'kmt_get_machine': (None, [pointer, ctypes.POINTER(MachineStructure)]),
        'kmt_read': (ctypes.c_int, [pointer, ctypes.POINTER(ColumnsStructure), error]),
        'kmt_lost_events': (u64, [pointer]),
        'kmt_kind_name': (text, [ctypes.c_uint8]),
        'kmt_event_name': (text, [pointer, u32]),
        'kmt_cache_name': (text, [pointer, u32]),
        'kmt_stack': (ctypes.c_size_t, [pointer, u32, ctypes.POINTER(ctypes.POINTER(u64))]),
        'kmt_symbol': (pointer, [pointer, u64, error]),
        'kmt_task_name': (pointer, [pointer, ctypes.c_int32, u64, error]),
    }
    for name, (result, arguments) in declarations.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f'{library._name} is too old: it has no {name}()') from None
        function.restype, function.argtypes = result, arguments
    if library.kmt_abi_version() != ABI_VERSION:
        raise ImportError(f'{library._name} has version {library.kmt_abi_version()} of the C interface; this package '
                          f'needs version {ABI_VERSION}')
    return library


library = _load()


def encoded_path(path: Union[str, 'os.PathLike[str]']) -> bytes:
    encoded = os.fsencode(path)
    if b'\0' in encoded:
        raise ValueError(f'the path {os.fspath(path)!r} contains a NUL character')
    return encoded


def decoded(text: Optional[bytes]) -> Optional[str]:
    return None if text is None else text.decode('utf-8', 'backslashreplace')


def raise_error(error: ctypes.c_void_p) -> NoReturn:
    """Raises the error as an exception, and frees it."""
    if not error:
        raise MemoryError
    offset = library.kmt_error_offset(error)
    problem = KmemtraceError(decoded(library.kmt_error_message(error)) or '', decoded(library.kmt_error_file(error)),
                             None if offset < 0 else offset, decoded(library.kmt_error_hint(error)))
    library.kmt_error_free(error)
    raise problem


def taken(text: Optional[int], error: ctypes.c_void_p) -> str:
    """Returns a text from the library as a string, and frees the text. Raises the error if there is no text."""
    if text is None:
        raise_error(error)
    result = ctypes.string_at(text)
    library.kmt_free(text)
    return decoded(result) or ''
