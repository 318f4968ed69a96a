# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace: its reports, and its events as tuples and as columns."""
import array
import ctypes
import os
import weakref
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._library import COLUMN_TYPES, ColumnsStructure, MachineStructure, decoded, encoded_path, library, raise_error, taken
from ._results import Path, result

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]


def _kinds() -> Tuple[str, ...]:
    names: List[str] = []
    while library.kmt_kind_name(len(names)):
        names.append(library.kmt_kind_name(len(names)).decode())
    return tuple(names)


KINDS = _kinds()  # names of the numbers in the column `kind`
CONTEXTS = ('task', 'softirq', 'hardirq', 'nmi')  # names of the numbers in the column `context`


class Event(NamedTuple):
    """An event. A value that does not exist for its kind is 0 or empty. Sizes are in bytes."""
    time_ns: int  # time on the clock of the trace
    address: int  # start of the memory; for pages, the first page frame number. 0 if the allocation failed (pages: 2**64 - 1)
    bytes_requested: int
    bytes_allocated: int
    call_site: int  # address of the code that requested or freed the memory
    gfp_flags: int
    tid: int  # thread ID of the running or interrupted task
    cpu: int
    name: str  # name of the event, such as "mm_page_alloc"
    cache: str  # name of the slab cache; empty if the event does not contain it
    stack: Tuple[int, ...]  # return addresses in the kernel, innermost first
    node: int  # requested NUMA node; -1: none
    migrate_type: int  # migrate type of pages; -1: unknown
    order: int  # an allocation of pages has 2**order pages
    kind: str  # an element of KINDS
    context: str  # an element of CONTEXTS


class Machine(NamedTuple):
    """The traced machine. A text is empty if the trace does not contain it."""
    format: str  # format of the file: "trace.dat version 7"
    kernel: str  # kernel release
    arch: str  # as printed by `uname -m`
    clock: str
    page_size: int  # in bytes; 0: unknown
    cpus: int
    word_bits: int  # 32 or 64
    little_endian: bool
    clock_in_ns: bool  # False: times are ticks of another length


class Columns(Dict[str, Any]):
    """Columns of events by name: numpy arrays if numpy is installed, otherwise arrays of the module array. The names of
    the columns are the fields of Event. The columns `name`, `cache`, `stack`, `kind` and `context` contain indexes into
    the lists below."""
    names: List[str]  # names of events
    caches: List[str]  # names of slab caches; element 0 is empty
    stacks: List[Tuple[int, ...]]  # return addresses, innermost first; element 0 is empty
    kinds: Sequence[str] = KINDS
    contexts: Sequence[str] = CONTEXTS


class _Reader:
    """A trace that is open in the library. It is closed by close(), or when the object is deleted."""

    def __init__(self, path: Path) -> None:
        error = ctypes.c_void_p()
        self.handle = library.kmt_open(encoded_path(path), ctypes.byref(error))
        if not self.handle:
            raise_error(error)
        self.close = weakref.finalize(self, library.kmt_close, self.handle)

    def __enter__(self) -> '_Reader':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def batches(self) -> Iterator[ColumnsStructure]:
        """Yields consecutive events. Their arrays are valid until the next step."""
        columns = ColumnsStructure(ctypes.sizeof(ColumnsStructure))
        error = ctypes.c_void_p()
        while True:
            more = library.kmt_read(self.handle, ctypes.byref(columns), ctypes.byref(error))
            if more < 0:
                raise_error(error)
            if more == 0:
                return
            yield columns

    def name(self, number: int) -> str:
        return decoded(library.kmt_event_name(self.handle, number)) or ''

    def cache(self, number: int) -> str:
        return decoded(library.kmt_cache_name(self.handle, number)) or ''

    def stack(self, number: int) -> Tuple[int, ...]:
        frames = ctypes.POINTER(ctypes.c_uint64)()
        size = library.kmt_stack(self.handle, number, ctypes.byref(frames))
        return tuple(frames[:size]) if size else ()


class _Names(Dict[int, Any]):
    """Remembers the names that a function returns for numbers."""

    def __init__(self, name_of: Any) -> None:
        super().__init__()
        self._name_of = name_of

    def __missing__(self, number: int) -> Any:
        self[number] = name = self._name_of(number)
        return name


class Trace:
    """A trace. Each method reads the trace from its start, so methods may be called in any order. Only one thread at a time may
    use an object."""

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        self._reader = _Reader(path)  # for names; never reads events

    def __enter__(self) -> 'Trace':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f'kmemtrace.open({self.path!r})'

    def close(self) -> None:
        """Closes the file. `symbol` and `machine` need the open file; the other methods open it again."""
        self._reader.close()

    def report(self, by: Union[None, str, Iterable[str]] = None, sort: Optional[str] = None, limit: Optional[int] = None,
               kallsyms: Optional[Path] = None) -> Dict[str, Any]:
        """Returns the output of `kmemtrace report --json`. `by` has grouping keys, by default the call site. `sort` is the
        key of a column. Each table has at most `limit` groups, or all groups if it is None. `kallsyms` is a file with
        kernel symbols, for a trace that has none."""
        return result(library.kmt_report_json, self.path, by, sort, limit, kallsyms)

    def leaks(self, by: Union[None, str, Iterable[str]] = None, sort: Optional[str] = None, limit: Optional[int] = None,
              kallsyms: Optional[Path] = None, threshold: float = 0) -> Dict[str, Any]:
        """Returns the output of `kmemtrace leaks --json`: the memory that is live at the end, and whether it grows by more
        than `threshold` bytes per second (0: the default of the command). The other arguments are those of report()."""
        return result(library.kmt_leaks_json, self.path, by, sort, limit, kallsyms, threshold)

    def events(self) -> Iterator[Event]:
        """Yields the events in order of time."""
        with _Reader(self.path) as reader:
            # Each column that contains numbers of names is replaced by the names.
            names: Dict[str, Any] = {
                'name': _Names(reader.name), 'cache': _Names(reader.cache), 'stack': _Names(reader.stack), 'kind': KINDS,
                'context': CONTEXTS}
            for batch in reader.batches():
                columns = [getattr(batch, column)[:batch.events] for column in COLUMN_TYPES]
                for index, column in enumerate(COLUMN_TYPES):
                    if column in names:
                        columns[index] = list(map(names[column].__getitem__, columns[index]))
                yield from map(Event._make, zip(*columns))

    def columns(self, names: Optional[Iterable[str]] = None) -> Columns:
        """Returns all events as columns, or only the columns with these names. An event takes 70 bytes."""
        chosen = list(COLUMN_TYPES) if names is None else list(names)
        unknown = [name for name in chosen if name not in COLUMN_TYPES]
        if unknown:
            raise ValueError(f'there is no column {unknown[0]!r}; the columns are {", ".join(COLUMN_TYPES)}')
        bytes_of = {name: bytearray() for name in chosen}
        with _Reader(self.path) as reader:
            numbers = {'name': 0, 'cache': 0, 'stack': 0}  # number of different values
            for batch in reader.batches():
                for name, collected in bytes_of.items():
                    collected += ctypes.string_at(getattr(batch, name), batch.events * array.array(COLUMN_TYPES[name]).itemsize)
                    if name in numbers:
                        numbers[name] = max(numbers[name], 1 + max(getattr(batch, name)[:batch.events]))
            columns = Columns()
            for name, collected in bytes_of.items():
                columns[name] = _array(COLUMN_TYPES[name], collected)
            columns.names = list(map(reader.name, range(numbers['name'])))
            columns.caches = list(map(reader.cache, range(numbers['cache'])))
            columns.stacks = list(map(reader.stack, range(numbers['stack'])))
        return columns

    def arrow(self, names: Optional[Iterable[str]] = None) -> Any:
        """Returns all events as a pyarrow.Table. Names are dictionaries, and a stack is a list of addresses."""
        import pyarrow
        columns = self.columns(names)
        types = {'Q': pyarrow.uint64(), 'I': pyarrow.uint32(), 'i': pyarrow.int32(), 'h': pyarrow.int16(), 'b': pyarrow.int8(),
                 'B': pyarrow.uint8()}
        texts = {'name': columns.names, 'cache': columns.caches, 'kind': columns.kinds, 'context': columns.contexts}
        table = {}
        for name, values in columns.items():
            numbers = pyarrow.array(values, type=types[COLUMN_TYPES[name]])
            if name in texts:
                table[name] = pyarrow.DictionaryArray.from_arrays(numbers.cast('int32'), pyarrow.array(texts[name], 'string'))
            elif name == 'stack':
                table[name] = pyarrow.array(columns.stacks, pyarrow.list_(pyarrow.uint64())).take(numbers)
            else:
                table[name] = numbers
        return pyarrow.table(table)

    @property
    def machine(self) -> Machine:
        """The traced machine."""
        self._check_open()
        of = MachineStructure(ctypes.sizeof(MachineStructure))
        library.kmt_get_machine(self._reader.handle, ctypes.byref(of))
        return Machine(decoded(of.format) or '', decoded(of.kernel) or '', decoded(of.arch) or '', decoded(of.clock) or '',
                       of.page_size, of.cpus, of.word_bits, bool(of.little_endian), bool(of.clock_in_ns))

    def symbol(self, address: int) -> str:
        """Returns the name of a code address, such as "__d_alloc+0x29", or the address in hex if no symbol is known."""
        self._check_open()
        error = ctypes.c_void_p()
        return taken(library.kmt_symbol(self._reader.handle, address, ctypes.byref(error)), error)

    def _check_open(self) -> None:
        if not self._reader.close.alive:
            raise ValueError('the trace is closed')


def _array(letter: str, content: bytearray) -> Any:
    if numpy is not None:
        return numpy.frombuffer(content, numpy.dtype(letter))
    values = array.array(letter)
    values.frombytes(bytes(content))
    return values
