#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Replaces the BPF object in a skeleton of bpftool by the compressed object, which the skeleton unpacks when it is
opened. The recorder is smaller with such skeletons.
  tools/pack_skeleton.py OBJECT <SKELETON >PACKED"""
import gzip
import re
import sys

BODY = '''{{
	static const unsigned char packed[] = {{{bytes}}};
	static const std::string object = kmt::intact_part_of_gzip({{packed, sizeof packed}}, {size});
	if (object.size() != {size}) throw kmt::Error("The BPF programs in this executable file are damaged").hint("Install kmemtrace again");
	*sz = object.size();
	return object.data();
}}'''


def packed(skeleton, contents):
    data = ','.join(str(byte) for byte in gzip.compress(contents, mtime=0))
    body = BODY.format(bytes=data, size=len(contents))
    result, found = re.subn(r'(?<=_elf_bytes\(size_t \*sz\)\n)\{.*?\n\}', lambda _: body, skeleton, flags=re.DOTALL)
    if found != 1:
        sys.exit('pack_skeleton.py: this skeleton has no function elf_bytes() as bpftool 7.1 writes it')
    return '#include "base/error.hpp"\n#include "base/gzip.hpp"\n' + result


if __name__ == '__main__':
    with open(sys.argv[1], 'rb') as file:
        sys.stdout.write(packed(sys.stdin.read(), file.read()))
