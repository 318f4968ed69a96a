# SPDX-License-Identifier: GPL-2.0-or-later
"""Caches the events that an oracle parsed from a trace, for other tests that read the same bytes."""
import contextlib
import functools
import hashlib
import os
import pathlib
import pickle
import tempfile

FOLDER = os.environ.get('KMEMTRACE_ORACLE_CACHE')  # a folder of the build tree


@functools.lru_cache(None)
def _parsers():
    """Returns the source code of the parsers. A change to it invalidates all cached results."""
    tests = pathlib.Path(__file__).resolve().parent.parent
    sources = sorted([*tests.glob('oracle/*.py'), *tests.glob('support/*.py')])
    return hashlib.sha256(b''.join(source.read_bytes() for source in sources)).digest()


def by_content(load):
    """Decorator for functions that take the path of a file, and whose result depends only on the bytes of the file."""
    if not FOLDER:
        return load

    def kept(path):
        with open(path, 'rb') as file:
            key = hashlib.sha256(load.__name__.encode() + _parsers() + file.read()).hexdigest()
        place = os.path.join(FOLDER, key)
        with contextlib.suppress(FileNotFoundError), open(place, 'rb') as file:
            return pickle.load(file)
        result = load(path)
        os.makedirs(FOLDER, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=FOLDER, delete=False) as file:
            pickle.dump(result, file, pickle.HIGHEST_PROTOCOL)
        os.replace(file.name, place)
        return result

    return kept
