# SPDX-License-Identifier: GPL-2.0-or-later
"""A slow SLUB model, written from docs/formats/simulate-json.md. Slabs are sets of objects, lists are Python lists,
and sums over time are added up step by step."""
import collections
import math


def order_of(size, page):
    order = 0
    while page << order < size:
        order += 1
    return order


def geometry(size, cpus, version, page=4096):
    """Returns (number of objects in a slab, bytes of a slab)."""
    objects = min(4 * (len(bin(cpus)) - 2 + 1), max((page << 3) // size, 1))
    tries = ([(objects, part) for part in (16, 8, 4, 2)] if version >= (6, 8) else
             [(count, part) for count in range(objects, 1, -1) for part in (16, 8, 4)])
    for count, part in tries:
        for order in range(order_of(count * size, page), 4):
            slab = page << order
            if slab % size <= slab // part:
                return slab // size, slab
    slab = page << order_of(size, page)
    return slab // size, slab


class Slab:
    def __init__(self, node):
        self.node, self.objects, self.where = node, set(), 'full'


class Cache:
    def __init__(self, size, cpus, version, page=4096):
        self.size, self.page, self.version = size, page, version
        self.capacity, self.slab_bytes = geometry(size, cpus, version, page)
        self.min_partial = min(10, max(5, int(math.log2(size)) // 2))
        kind = 0 if size >= page else 1 if size >= 1024 else 2 if size >= 256 else 3
        if version >= (5, 16):
            self.limit = math.ceil((6, 24, 52, 120)[kind] * 2 / self.capacity)
        else:
            self.limit = (2, 6, 13, 30)[kind]
        # By CPU: the active slab, and the list of partial slabs. The last slab of a list is taken first.
        self.active, self.lists = {}, collections.defaultdict(list)
        self.nodes = collections.defaultdict(list)
        self.slabs = set()
        self.slab_of = {}

    def room(self, slab):
        return self.capacity - len(slab.objects)

    def drain(self, cpu):
        for slab, _ in reversed(self.lists[cpu]):
            if slab.objects or len(self.nodes[slab.node]) < self.min_partial:
                self.to_node(slab, -1)
            else:
                self.slabs.remove(slab)
        self.lists[cpu] = []

    def to_node(self, slab, at):
        slab.where = 'node'
        self.nodes[slab.node].insert(len(self.nodes[slab.node]) if at else 0, slab)

    def to_list(self, slab, cpu, may_drain):
        on = self.lists[cpu]
        full = sum(room for _, room in on) > self.limit if self.version < (5, 16) else len(on) >= self.limit
        if on and may_drain and full:
            self.drain(cpu)
        slab.where = 'list'
        self.lists[cpu].append((slab, self.room(slab)))

    def leave(self, cpu):
        slab = self.active.pop(cpu)
        slab.where = 'full'
        if self.room(slab):
            if not slab.objects and len(self.nodes[slab.node]) >= self.min_partial:
                self.slabs.remove(slab)
            else:
                self.to_node(slab, 0)

    def from_node(self, node, cpu):
        partial = self.nodes[node]
        if not partial:
            return None
        first = partial.pop(0)
        counts = self.version < (5, 16)
        taken = self.room(first) if counts else 0
        while partial and not (counts and taken > self.limit // 2):
            slab = partial.pop(0)
            taken += self.room(slab) if counts else 1
            self.to_list(slab, cpu, False)
            if taken > self.limit // 2:
                break
        return first

    def allocate(self, key, cpu, node):
        fits = lambda slab: node < 0 or slab.node == node
        if cpu in self.active and (not self.room(self.active[cpu]) or not fits(self.active[cpu])):
            self.leave(cpu)
        while cpu not in self.active and self.lists[cpu]:
            self.active[cpu] = self.lists[cpu].pop()[0]
            if not fits(self.active[cpu]):
                self.leave(cpu)
        if cpu not in self.active:
            wanted = max(node, 0)  # these traces do not have the node of each CPU
            slab = self.from_node(wanted, cpu)
            if slab is None and node < 0:
                for other in sorted(self.nodes):
                    if other != wanted and len(self.nodes[other]) > self.min_partial and slab is None:
                        slab = self.from_node(other, cpu)
            if slab is None:
                slab = Slab(wanted)
                self.slabs.add(slab)
            self.active[cpu] = slab
        slab = self.active[cpu]
        slab.where = 'active'
        slab.objects.add(key)
        self.slab_of[key] = slab

    def release(self, key, cpu):
        slab = self.slab_of.pop(key)
        slab.objects.remove(key)
        if slab.where == 'full':
            self.to_list(slab, cpu, True)
        elif slab.where == 'node' and not slab.objects and len(self.nodes[slab.node]) >= self.min_partial:
            self.nodes[slab.node].remove(slab)
            self.slabs.remove(slab)

    def held(self):
        return len(self.slabs) * self.slab_bytes


class Pages:
    """The cache of large kmallocs."""

    def __init__(self):
        self.objects = {}
        self.bytes = 0

    def allocate(self, key, size):
        self.objects[key] = size
        self.bytes += size

    def release(self, key, _):
        self.bytes -= self.objects.pop(key)

    def held(self):
        return self.bytes
