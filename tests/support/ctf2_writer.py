# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the traces of lttng_writer.py as CTF 2, in the way of LTTng 2.14: the same streams, and metadata of JSON
fragments. The code follows CTF2-SPEC-2.0, and uses no code of the project."""
import json
import re

from lttng_writer import UUID, Writer

INTEGER = re.compile(r'integer \{ size = (\d+); align = (\d+); signed = (\d); encoding = (\w+);(?: base = (\d+);)? \} '
                     r'_(\w+)(?:\[(\w+)\])?;?\s*')


def structure(*members):
    return {'type': 'structure', 'minimum-alignment': 8,
            'member-classes': [{'name': name, 'field-class': field} for name, field in members]}


class Ctf2Writer(Writer):
    def number(self, bits, signed=False, align=8, base=10, **more):
        return {'type': f'fixed-length-{"" if signed else "un"}signed-integer', 'length': bits, 'alignment': align,
                'byte-order': 'big-endian' if self.mark == '>' else 'little-endian', 'preferred-display-base': base,
                **more}

    def members(self, declarations):
        """Translates the declarations of lttng_writer.py. A leading underscore is not part of a name."""
        out = []
        text = ' '.join(f'{declaration};' for declaration, _ in declarations)
        while text:
            match = INTEGER.match(text)
            bits, align, signed, encoding, base, name, length = match.groups()
            field = self.number(int(bits), signed == '1', int(align), int(base or 10))
            if length and encoding == 'UTF8':
                field = {'type': 'static-length-string', 'length': int(length)}
            elif length and length.isdigit():
                field = {'type': 'static-length-array', 'length': int(length), 'element-field-class': field}
            elif length:
                field = {'type': 'dynamic-length-array', 'element-field-class': field,
                         'length-field-location': {'path': [length.removeprefix('_')]}}
            out.append((name, field))
            text = text[match.end():]
        return out

    def header(self):
        time = ['default-clock-timestamp']
        compact = structure(('timestamp', self.number(27, align=1, roles=time)))
        compact['minimum-alignment'] = 1
        extended = structure(('id', self.number(32, roles=['event-record-class-id'])),
                             ('timestamp', self.number(64, roles=time)))
        return structure(
            ('id', self.number(5, align=1, roles=['event-record-class-id'],
                               mappings={'compact': [[0, 30]], 'extended': [[31, 31]]})),
            ('v', {'type': 'variant', 'selector-field-location': {'origin': 'event-record-header', 'path': ['id']},
                   'options': [
                       {'name': 'compact', 'selector-field-ranges': [[0, 30]], 'field-class': compact},
                       {'name': 'extended', 'selector-field-ranges': [[31, 31]], 'field-class': extended}]}))

    def fragments(self):
        long = self.long_bits
        yield {'type': 'preamble', 'version': 2, 'uuid': list(UUID.bytes)}
        yield {'type': 'field-class-alias', 'name': 'uint64', 'field-class': self.number(64)}
        yield {'type': 'trace-class', 'namespace': 'lttng.org,2009', 'environment': {
            'hostname': 'box', 'domain': 'kernel', 'sysname': 'Linux', 'kernel_release': '4.19.0',
            'kernel_version': '#1 SMP', 'tracer_name': 'lttng-modules', 'tracer_major': 2, 'tracer_minor': 10,
            'tracer_patchlevel': 3}, 'packet-header-field-class': structure(
                ('magic', self.number(32, roles=['packet-magic-number'])),
                ('uuid', {'type': 'static-length-blob', 'length': 16, 'roles': ['metadata-stream-uuid']}),
                ('stream_id', self.number(32, roles=['data-stream-class-id'])),
                ('stream_instance_id', self.number(64, roles=['data-stream-id'])))}
        yield {'type': 'clock-class', 'id': 'clock', 'name': 'monotonic', 'frequency': 10**9, 'origin': 'unix-epoch',
               'offset-from-origin': {'seconds': self.offset // 10**9, 'cycles': self.offset % 10**9}}
        stream = {'type': 'data-stream-class', 'id': 0, 'namespace': 'lttng.org,2009', 'default-clock-class-id': 'clock',
                  'event-record-header-field-class': self.header(), 'packet-context-field-class': structure(
                      ('timestamp_begin', self.number(64, roles=['default-clock-timestamp'])),
                      ('timestamp_end', self.number(64, roles=['packet-end-default-clock-timestamp'])),
                      ('content_size', self.number(64, roles=['packet-content-length'])),
                      ('packet_size', self.number(64, roles=['packet-total-length'])),
                      ('packet_seq_num', self.number(64, roles=['packet-sequence-number'])),
                      ('events_discarded', self.number(long, roles=['discarded-event-record-counter-snapshot'])),
                      ('cpu_id', self.number(32)))}
        if self.context:
            stream['event-record-common-context-field-class'] = structure(*self.members(self.context))
        yield stream
        for name, (number, fields) in self.events.items():
            yield {'type': 'event-record-class', 'id': number, 'namespace': 'lttng.org,2009', 'name': name,
                   'payload-field-class': structure(*self.members(fields))}

    def metadata(self):
        return b''.join(b'\x1e' + json.dumps(fragment).encode() + b'\n' for fragment in self.fragments())

    version = 2, 0
