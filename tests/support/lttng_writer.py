# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes CTF 1.8 in the format of LTTng's kernel tracer. Packets have sizes, times, a sequence number and the number
of discarded events. Event headers have 5 bits for the ID and 27 for the time, or a longer form marked by ID 31. The
code follows the CTF specification (4.1, 6.1) and the metadata of lttng-modules, and uses no code of the project."""
import os
import struct
import uuid

UUID = uuid.UUID('2a6422d0-6cee-11e0-8c08-cb07d7b3a564')
MAGIC, METADATA_MAGIC = 0xC1FC1FC1, 0x75D11D57

TEXT = '''/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
typealias integer {{ size = {long}; align = 8; signed = false; }} := unsigned long;
typealias integer {{ size = 5; align = 1; signed = false; }} := uint5_t;
typealias integer {{ size = 27; align = 1; signed = false; }} := uint27_t;
trace {{
	major = 1; minor = 8; uuid = "{uuid}"; byte_order = {order};
	packet.header := struct {{ uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id; }};
}};
env {{
	hostname = "box"; domain = "kernel"; sysname = "Linux"; kernel_release = "4.19.0"; kernel_version = "#1 SMP";
	tracer_name = "lttng-modules"; tracer_major = 2; tracer_minor = 10; tracer_patchlevel = 3;
}};
clock {{ name = "monotonic"; freq = 1000000000; offset = {offset}; }};
typealias integer {{ size = 27; align = 1; signed = false; map = clock.monotonic.value; }} := uint27_clock_monotonic_t;
typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }} := uint64_clock_monotonic_t;
struct packet_context {{
	uint64_clock_monotonic_t timestamp_begin; uint64_clock_monotonic_t timestamp_end; uint64_t content_size;
	uint64_t packet_size; uint64_t packet_seq_num; unsigned long events_discarded; uint32_t cpu_id;
}};
struct event_header_compact {{
	enum : uint5_t {{ compact = 0 ... 30, extended = 31 }} id;
	variant <id> {{
		struct {{ uint27_clock_monotonic_t timestamp; }} compact;
		struct {{ uint32_t id; uint64_clock_monotonic_t timestamp; }} extended;
	}} v;
}} align(8);
stream {{
	id = 0; event.header := struct event_header_compact; packet.context := struct packet_context;
	event.context := struct {{ {context} }};
}};
'''


def integer(bits, signed=False, base=10):
    return f'integer {{ size = {bits}; align = 8; signed = {int(signed)}; encoding = none; base = {base}; }}'


class Writer:
    """Writes a trace. `events` is {name: (id, [(declaration, struct code or None for text)])}; the code `L` is the
    kernel's long."""
    version = 1, 8  # version of CTF

    def __init__(self, folder, events, big=False, long_bits=64, offset=0, context=(), packed=False):
        self.folder, self.events, self.context = folder, events, context
        self.mark, self.long_bits, self.offset = '>' if big else '<', long_bits, offset
        self.streams = {}  # CPU: [bytes of a packet]
        self.discarded, self.sequence = {}, {}
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, 'metadata'), 'wb') as file:
            file.write(self.in_packets(self.metadata()) if packed else self.metadata())

    def metadata(self):
        text = TEXT.format(long=self.long_bits, uuid=UUID, order='be' if self.mark == '>' else 'le', offset=self.offset,
                           context=' '.join(f'{declaration};' for declaration, _ in self.context))
        for name, (number, fields) in self.events.items():
            declared = ' '.join(f'{declaration};' for declaration, _ in fields)
            text += f'event {{ name = "{name}"; id = {number}; stream_id = 0; fields := struct {{ {declared} }}; }};\n'
        return text.encode()

    def pack(self, code, *values):
        code = code.replace('L', 'Q' if self.long_bits == 64 else 'I').replace('l', 'q' if self.long_bits == 64 else 'i')
        return struct.pack(self.mark + code, *values)

    def in_packets(self, text, most=1024):
        """Splits metadata into packets like LTTng: a header of 37 bytes, and zeros up to the end of the packet."""
        out = b''
        for at in range(0, len(text), most):
            part = text[at:at + most]
            out += self.pack('I', METADATA_MAGIC) + UUID.bytes + self.pack(
                'IIIBBBBB', 0, (37 + len(part)) * 8, (37 + most) * 8, 0, 0, 0, *self.version) + part.ljust(most, b'\0')
        return out

    def values(self, fields, values):
        out = b''
        for (_, code), value in zip(fields, values, strict=True):
            out += value if isinstance(value, bytes) else self.pack(code, value)
        return out

    def event(self, time, name, values, context=(), last=None):
        """Returns the bytes of an event. `last` is the time of the previous event in the packet, or None. The long
        header is used if 27 bits cannot express the time."""
        number, fields = self.events[name]
        if number < 31 and last is not None and time - last < 1 << 27:
            low = time & (1 << 27) - 1
            header = self.pack('I', number << 27 | low if self.mark == '>' else low << 5 | number)
        else:  # the ID has five bits; the rest of the byte is padding
            header = self.pack('B', 31 << 3 if self.mark == '>' else 31) + self.pack('IQ', number, time)
        return header + self.values(self.context, context) + self.values(fields, values)

    def packet(self, cpu, events, lost=0, lost_packets=0, begin=None, end=None):
        """Writes a packet. `events` are (time, name, values, context), sorted by time."""
        begin = events[0][0] if begin is None else begin
        last, body = begin, b''
        for time, name, values, *context in events:
            body += self.event(time, name, values, *context, last=last)
            last = time
        self.discarded[cpu] = self.discarded.get(cpu, 0) + lost
        self.sequence[cpu] = self.sequence.get(cpu, -1) + 1 + lost_packets
        used = 4 + 16 + 4 + 8 + 5 * 8 + self.long_bits // 8 + 4 + len(body)
        size = -(-used // 64) * 64
        head = self.pack('I', MAGIC) + UUID.bytes + self.pack('IQ', 0, cpu)
        head += self.pack('QQQQQLI', begin, last if end is None else end, used * 8, size * 8, self.sequence[cpu],
                          self.discarded[cpu], cpu)
        with open(os.path.join(self.folder, f'channel0_{cpu}'), 'ab') as file:
            file.write((head + body).ljust(size, b'\0'))
