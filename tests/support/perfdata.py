# SPDX-License-Identifier: GPL-2.0-or-later
"""A small model of perf.data for tests: reads file mode, writes file and pipe mode.

Written from tools/perf/Documentation/perf.data-file-format.txt, independently of the project's reader. Only for
intact files: lengths in the file are not checked."""
import dataclasses
import struct

MAGIC = {'<': b'PERFILE2', '>': b'2ELIFREP'}
HEADER_BYTES, PIPE_HEADER_BYTES = 104, 16
TRACING_DATA, BUILD_ID = 1, 2
LOST, SAMPLE, LOST_SAMPLES = 2, 9, 13
HEADER_ATTR, HEADER_TRACING_DATA, HEADER_BUILD_ID, FINISHED_ROUND, HEADER_FEATURE = 64, 66, 67, 68, 80
COMPRESSED = 81


@dataclasses.dataclass
class PerfData:
    order: str = '<'  # byte order, '<' or '>', as in module struct
    attributes: list = dataclasses.field(default_factory=list)  # (attributes, [ids of the attributes])
    features: dict = dataclasses.field(default_factory=dict)  # number: bytes
    records: list = dataclasses.field(default_factory=list)  # bytes of each record, including its header

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def type_of(self, record):
        return struct.unpack_from(self.order + 'I', record)[0]


def read(data):
    """Parses the bytes of a file in file mode."""
    order = '<' if data.startswith(MAGIC['<']) else '>'
    perf = PerfData(order)
    at = struct.unpack_from(order + '6Q', data, 8)
    _, entry_bytes, attributes_at, attributes_bytes, data_at, data_bytes = at
    for entry in range(attributes_at, attributes_at + attributes_bytes, entry_bytes):
        ids_at, ids_bytes = struct.unpack_from(order + 'QQ', data, entry + entry_bytes - 16)
        ids = struct.unpack_from(order + f'{ids_bytes // 8}Q', data, ids_at)
        perf.attributes.append((data[entry:entry + entry_bytes - 16], list(ids)))
    end = data_at + data_bytes
    at = data_at
    while at < end:
        size = struct.unpack_from(order + 'H', data, at + 6)[0]
        perf.records.append(data[at:at + size])
        at += size
    words = struct.unpack_from(order + '4Q', data, 72)
    section = end
    for number in range(256):
        if words[number // 64] >> number % 64 & 1:
            offset, size = struct.unpack_from(order + 'QQ', data, section)
            perf.features[number] = data[offset:offset + size]
            section += 16
    return perf


def to_file(perf):
    entry_bytes = len(perf.attributes[0][0]) + 16
    ids_at = HEADER_BYTES + entry_bytes * len(perf.attributes)
    attributes, ids = b'', b''
    for attribute, of_event in perf.attributes:
        attributes += attribute + perf.pack('QQ', ids_at + len(ids), 8 * len(of_event))
        ids += perf.pack(f'{len(of_event)}Q', *of_event)
    records = b''.join(perf.records)
    words = [0] * 4
    for number in perf.features:
        words[number // 64] |= 1 << number % 64
    data_at = ids_at + len(ids)
    header = MAGIC[perf.order] + perf.pack('QQQQQQQQ4Q', HEADER_BYTES, entry_bytes, HEADER_BYTES, len(attributes), data_at,
                                           len(records), 0, 0, *words)
    sections, contents = b'', b''
    at = data_at + len(records) + 16 * len(perf.features)
    for _, content in sorted(perf.features.items()):
        sections += perf.pack('QQ', at + len(contents), len(content))
        contents += content
    return header + attributes + ids + records + sections + contents


def to_pipe(perf):
    """Returns the bytes that `perf record -o -` would write."""
    def record(kind, payload, suffix=b''):
        return perf.pack('IHH', kind, 0, 8 + len(payload)) + payload + suffix

    out = MAGIC[perf.order] + perf.pack('Q', PIPE_HEADER_BYTES)
    for attribute, ids in perf.attributes:
        out += record(HEADER_ATTR, attribute + perf.pack(f'{len(ids)}Q', *ids))
    for number, content in sorted(perf.features.items()):
        if number not in (TRACING_DATA, BUILD_ID) and len(content) < 60000:
            out += record(HEADER_FEATURE, perf.pack('Q', number) + content + bytes(-len(content) % 8))
    tracing = perf.features.get(TRACING_DATA)
    if tracing is not None:
        out += record(HEADER_TRACING_DATA, perf.pack('II', len(tracing), 0), tracing + bytes(-len(tracing) % 8))
    # Entries of the build-ID section have the form of records, but a different type.
    ids, at = perf.features.get(BUILD_ID, b''), 0
    out += b''.join(perf.records)
    while at < len(ids):
        misc, size = struct.unpack_from(perf.order + 'HH', ids, at + 4)
        out += perf.pack('IHH', HEADER_BUILD_ID, misc, size) + ids[at + 8:at + size]
        at += size
    return out


def shortened(perf, samples):
    """Shortens the trace to its first records, with at most `samples` samples, and some records of losses."""
    kept, seen = [], 0
    for record in perf.records:
        kind = perf.type_of(record)
        seen += kind == SAMPLE
        if (seen <= samples and len(kept) < 3 * samples) or (kind in (LOST, LOST_SAMPLES) and len(kept) < 4 * samples):
            kept.append(record)
    return dataclasses.replace(perf, records=kept)
