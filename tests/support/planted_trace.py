# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces with planted leaks, mistakes, losses and coincidences, and a list of these (the plan). Tests compare reports
with the plan. The same seed gives the same trace.

Every planted case has separate call sites and addresses, so a report must show exactly what was planted for them.
Random noise around the cases allocates and frees like a kernel."""
import collections
import random
import re

import ring_writer
import tracedat

HARDIRQ, SOFTIRQ, NMI = 0x08, 0x10, 0x40
GFP_KERNEL, GFP_ATOMIC, GFP_KERNEL_ZERO = 0xcc0, 0xa20, 0xdc0
SIZES = 8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096

# An anomaly between two call sites (None if there is none), as in docs/formats/report-json.md.
Anomaly = collections.namedtuple('Anomaly', 'kind allocator first second count first_ns last_ns')
# The result of a call site. `growth`: 'linear', 'saturating' (grows at first, then stays constant), 'bursts' or 'none'.
# `uncertain`: number of live objects that were freed while events were lost.
Site = collections.namedtuple('Site', 'site allocations frees live live_bytes cross_cpu growth uncertain')

class Plan:
    """The contents of `trace`, a tracedat.Trace: the planted `anomalies` and `sites` ({name: Site}). `losses` are the
    intervals in which events were lost: (cpu, from, to, number of events in the trace or None). `allocators` is
    {name: (allocations, bytes, live)} for the planted percpu memory and vmap areas. `nodes` are the NUMA nodes of the
    CPUs."""

    def __init__(self, trace, anomalies, sites, losses, allocators, nodes):
        self.trace, self.anomalies, self.sites = trace, anomalies, sites
        self.losses, self.allocators, self.nodes = losses, allocators, nodes


def plant(donor, seed=1, noise=10_000, kernel=None, cpus=4, stacks=False, names_caches=False, renames=False):
    """Returns a Plan for a trace of the donor's machine. `noise`: number of additional events. `kernel`: the
    simulated release, which determines which frees are legal. `stacks`: slab events have a kernel stack; if it is a
    number, only from that time (ns) on. `names_caches`: kmem_cache_alloc names the cache, as in Linux 7 and later.
    `renames`: an event renames a task."""
    return _Planter(donor, seed, kernel, cpus, stacks, names_caches).plant(noise, renames)


# Arguments `noise` and `stacks` for a trace with 100,000 events before the first stack.
MANY, LATE = 110_000, 29_900_000_000


class _Planter:
    START, END = 20 * 10**9, 30 * 10**9  # start and end of the trace
    LOST = 24 * 10**9, 25 * 10**9  # the interval in which the last CPU loses events

    def __init__(self, donor, seed, kernel, cpus, stacks, names_caches):
        self.random = random.Random(seed)
        self.recorder = ring_writer.Recorder(donor, cpus, kernel, [cpu * 2 // cpus for cpu in range(cpus)],
                                             names_caches)
        self.cpus, self.stacks, self.names_caches = cpus, stacks, names_caches
        release = kernel or next(value for kind, value in self.recorder.trace.options
                                 if kind == ring_writer.UNAME).split()[2].decode()
        self.kfree_takes_all = tuple(map(int, re.match(r'(\d+)\.(\d+)', release).groups())) >= (6, 4)
        self.tasks = [int(line.split()[0]) for line in self.recorder.trace.cmdlines.splitlines()] or [100, 101]
        self.functions = self._functions()
        self.wide = self.recorder.trace.long_bytes == 8
        self.pointer = 0xffff888100000000 if self.wide else 0xc8000000
        self.frame = 0x100000
        self.anomalies = {}
        self.sites = {}
        self.allocators = {}

    def _functions(self):
        """Returns addresses of functions large enough for a call site, in random order."""
        found = []
        for line in self.recorder.trace.kallsyms.splitlines():
            address, kind, name = line.split(None, 2)
            if kind in b'tT' and not re.search(rb'[\t$.]', name):
                found.append(int(address, 16))
        found.sort()
        functions = [low for low, high in zip(found, found[1:]) if high - low > 64]
        self.random.shuffle(functions)
        return functions

    def site(self):
        return self.functions.pop() + 4 * self.random.randrange(1, 15)

    def address(self, size=4096):
        self.pointer += -(-size // 64) * 64
        return self.pointer

    def frames(self, order):
        self.frame += 1 << order
        self.frame += -self.frame % (1 << order)
        return self.frame

    def times(self, count, start=None, end=None):
        """Returns different times in order. They are from the whole trace, including the interval in which the last
        CPU loses events."""
        return sorted(self.random.sample(range(start or self.START, end or self.END), count))

    def cpu(self):
        """Returns any CPU except the last, which loses events."""
        return self.random.randrange(self.cpus - 1)

    def add(self, time, cpu, event, /, tid=None, context=0, stack_after=0, **fields):
        """Adds an event. `stack_after`: ns between the event and its stack."""
        tid = self.random.choice(self.tasks) if tid is None else tid
        self.recorder.add(time, cpu, event, tid, context, **fields)
        if self.stacks and time >= self.stacks and 'call_site' in fields and event != 'percpu_alloc_percpu':
            site = fields['call_site']
            self.recorder.add_stack(time + stack_after, cpu, tid, context, [site, *self.callers[site % len(self.callers)]])

    def kmalloc(self, time, cpu, site, pointer, requested, given=None, **more):
        self.add(time, cpu, 'kmalloc', call_site=site, ptr=pointer, bytes_req=requested,
                 bytes_alloc=self.slot(requested) if given is None else given, **{'gfp_flags': GFP_KERNEL, 'node': -1} | more)

    def cache_alloc(self, time, cpu, site, pointer, size, cache, **more):
        if self.names_caches:
            more['name'] = cache
        self.add(time, cpu, 'kmem_cache_alloc', call_site=site, ptr=pointer, bytes_req=size, bytes_alloc=size,
                 **{'gfp_flags': GFP_KERNEL, 'node': -1} | more)

    def kfree(self, time, cpu, site, pointer, **more):
        self.add(time, cpu, 'kfree', call_site=site, ptr=pointer, **more)

    def cache_free(self, time, cpu, site, pointer, cache, **more):
        self.add(time, cpu, 'kmem_cache_free', call_site=site, ptr=pointer, name=cache, **more)

    @staticmethod
    def slot(size):
        return next(slot for slot in SIZES if slot >= size)

    def strange(self, kind, first, second, time, allocator='slab'):
        known = self.anomalies.get((kind, allocator, first, second), (0, time, time))
        self.anomalies[kind, allocator, first, second] = known[0] + 1, min(known[1], time), max(known[2], time)

    def left(self, name, site, allocations, frees, size, cross_cpu, growth='none', uncertain=0):
        live = allocations - frees
        self.sites[name] = Site(site, allocations, frees, live, live * size, cross_cpu, growth, uncertain)

    def plant(self, noise, renames):
        self.callers = [[self.site() for _ in range(self.random.randrange(2, 20))] for _ in range(20)]
        self.linear_leak()
        self.saturating()
        self.bursts()
        self.double_frees()
        self.older_than_the_trace()
        self.live_pointers()
        self.families()
        self.other_caches()
        self.too_small()
        self.failures()
        self.reuse()
        self.nested_interrupts()
        self.equal_times()
        self.frees_in_a_loss()
        self.partial_page_frees()
        self.percpu_and_areas()
        if renames:
            self.renamed_task()
        self.noise(noise)
        trace = self.recorder.finished()
        anomalies = [Anomaly(*key, *value) for key, value in self.anomalies.items()]
        return Plan(trace, anomalies, self.sites, self.recorder.losses, self.allocators, self.recorder.nodes)

    # -- growth -------------------------------------------------------------------------------------------------------

    def objects(self, name, times_and_lives, size, growth):
        """Adds objects of one call site. Each item is (time, lifetime or None)."""
        site, free_site = self.site(), self.site()
        frees = cross = 0
        for time, life in times_and_lives:
            cpu, pointer = self.cpu(), self.address(size)
            self.kmalloc(time, cpu, site, pointer, size)
            if life is not None and time + life < self.END:
                free_cpu = self.cpu()
                self.kfree(time + life, free_cpu, free_site, pointer)
                frees += 1
                cross += free_cpu != cpu
        self.left(name, site, len(times_and_lives), frees, self.slot(size), cross, growth)

    def life(self, mean):
        return max(1, int(self.random.expovariate(1 / mean)))

    def linear_leak(self):
        """Three of ten objects are never freed."""
        times = self.times(600)
        self.objects('linear leak', [(time, None if i % 10 < 3 else self.life(10**6)) for i, time in enumerate(times)], 200,
                     'linear')

    def saturating(self):
        """A cache that fills in the first fifth of the trace and then stays constant."""
        warm = self.START + (self.END - self.START) // 5
        filled = [(time, None) for time in self.times(200, self.START, warm)]
        steady = [(time, self.life(10**6)) for time in self.times(400, warm)]
        self.objects('saturating', filled + steady, 120, 'saturating')

    def bursts(self):
        """Many objects are allocated at a time, and freed together a second later."""
        objects = []
        for begin in self.times(4, self.START, self.END - 3 * 10**9):
            objects += [(time, 10**9 + self.random.randrange(10**6)) for time in self.times(100, begin, begin + 10**6)]
        self.objects('bursts', objects, 500, 'bursts')

    # -- mistakes -----------------------------------------------------------------------------------------------------

    def double_frees(self):
        """Half of the objects are from kmalloc. The frees are on random CPUs, and one object per kind is freed three
        times."""
        for of_cache in (False, True):
            site, first, second = self.site(), self.site(), self.site()
            cross = 0
            for i in range(7):
                pointer, times, cpus = self.address(), self.times(4), [self.cpu() for _ in range(4)]
                free = (lambda *a: self.cache_free(*a, 'dentry')) if of_cache else self.kfree
                if of_cache:
                    self.cache_alloc(times[0], cpus[0], site, pointer, 192, 'dentry')
                else:
                    self.kmalloc(times[0], cpus[0], site, pointer, 192)
                free(times[1], cpus[1], first, pointer)
                free(times[2], cpus[2], second, pointer)
                cross += cpus[0] != cpus[1]
                self.strange('double_free_or_untraced_allocation', first, second, times[2])
                if i == 0:
                    free(times[3], cpus[3], second, pointer)
                    self.strange('double_free_or_untraced_allocation', second, second, times[3])
            self.left(f'double free, {"cache" if of_cache else "kmalloc"}', site, 7, 7, 192, cross)

    def older_than_the_trace(self):
        site = self.site()
        for time in self.times(9):
            self.kfree(time, self.cpu(), site, self.address())
            self.strange('allocated_before_trace', None, site, time)

    def live_pointers(self):
        """Adds pairs of allocations at the same address. The free of the first is missing; the free of the second is
        present."""
        first, second, free = self.site(), self.site(), self.site()
        for _ in range(6):
            pointer, times, cpu = self.address(), self.times(3), self.cpu()
            self.kmalloc(times[0], cpu, first, pointer, 60)
            self.kmalloc(times[1], cpu, second, pointer, 60)
            self.kfree(times[2], cpu, free, pointer)
            self.strange('allocation_on_live_pointer', first, second, times[1])
        self.sites['replaced'] = Site(first, 6, 0, 0, 0, 0, 'none', 0)
        self.left('replacing', second, 6, 6, 64, 0)

    def families(self):
        site, cache_site, free, cache_free = (self.site() for _ in range(4))
        for i in range(5):
            pointer, times, cpu = self.address(), self.times(2), self.cpu()
            self.kmalloc(times[0], cpu, site, pointer, 500)
            self.cache_free(times[1], cpu, cache_free, pointer, 'filp')
            self.strange('freed_by_another_family', site, cache_free, times[1])
            pointer, times = self.address(), self.times(2)
            self.cache_alloc(times[0], cpu, cache_site, pointer, 256, 'filp')
            self.kfree(times[1], cpu, free, pointer)
            if not self.kfree_takes_all:
                self.strange('freed_by_another_family', cache_site, free, times[1])
        self.left('kmalloc to a cache', site, 5, 5, 512, 0)
        self.left('cache to kfree', cache_site, 5, 5, 256, 0)

    def other_caches(self):
        """Objects of one call site; two of them are freed to another cache. This is visible if allocations name the
        cache."""
        site, free, wrong = self.site(), self.site(), self.site()
        for i in range(30):
            pointer, times, cpu = self.address(), self.times(2), self.cpu()
            self.cache_alloc(times[0], cpu, site, pointer, 320, 'sock')
            if i % 15 != 7:
                self.cache_free(times[1], cpu, free, pointer, 'sock')
                continue
            self.cache_free(times[1], cpu, wrong, pointer, 'inode')
            if self.names_caches:
                self.strange('freed_by_another_cache', site, wrong, times[1])
        self.left('another cache', site, 30, 30, 320, 0)

    def too_small(self):
        site, free = self.site(), self.site()
        for _ in range(3):
            pointer, times, cpu = self.address(), self.times(2), self.cpu()
            self.kmalloc(times[0], cpu, site, pointer, 100, 96)
            self.kfree(times[1], cpu, free, pointer)
            self.strange('allocated_less_than_requested', None, site, times[0])
        self.left('too small', site, 3, 3, 96, 0)

    def failures(self):
        site = self.site()
        for time in self.times(8):
            self.kmalloc(time, self.cpu(), site, 0, 4096, gfp_flags=GFP_ATOMIC)
            self.strange('failed_allocation', None, site, time)
            self.add(time + 1, self.cpu(), 'mm_page_alloc', pfn=2**64 - 1 if self.wide else 2**32 - 1, order=3,
                     gfp_flags=GFP_ATOMIC)
            self.strange('failed_allocation', None, None, time + 1, 'pages')
        for time in self.times(5):  # legal, but frees no memory
            self.kfree(time, self.cpu(), site, 0)
            self.kfree(time + 1, self.cpu(), site, 16)
        self.sites['failures'] = Site(site, 0, 0, 0, 0, 0, 'none', 0)

    # -- coincidences -------------------------------------------------------------------------------------------------

    def reuse(self):
        """Allocates one address a nanosecond after its free, alternately on the same CPU and on another CPU."""
        site, free = self.site(), self.site()
        pointer, time, cross = self.address(), self.START + 5 * 10**8, 0
        for i in range(200):
            cpu = i // 2 % (self.cpus - 1)
            free_cpu = (i + 1) // 2 % (self.cpus - 1)
            self.kmalloc(time, cpu, site, pointer, 30)
            time += self.random.choice((1, 2, 900, 10**6))
            self.kfree(time, free_cpu, free, pointer)
            cross += cpu != free_cpu
            time += 1
        self.left('reuse', site, 200, 200, 32, cross)

    def nested_interrupts(self):
        """A softirq interrupts a task, a hardirq interrupts the softirq, and an NMI interrupts the hardirq. Each
        context has separate objects; all have the same call site. Each interrupt occurs between the preceding event
        and its stack."""
        site, free = self.site(), self.site()
        contexts = 0, SOFTIRQ, SOFTIRQ | HARDIRQ, SOFTIRQ | HARDIRQ | NMI
        for time in self.times(40):
            cpu, tid = self.cpu(), self.random.choice(self.tasks)
            pointers = [self.address() for _ in contexts]
            for depth, context in enumerate(contexts):
                self.kmalloc(time + 10 * depth, cpu, site, pointers[depth], 1000, tid=tid, context=context,
                             gfp_flags=GFP_ATOMIC, stack_after=60 - 20 * depth)
            for depth, context in reversed(list(enumerate(contexts))):
                self.kfree(time + 100 - 10 * depth, cpu, free, pointers[depth], tid=tid, context=context)
        self.left('nested', site, 160, 160, 1024, 0)

    def equal_times(self):
        """A free and the next allocation of the same address at the same time, on two CPUs. The lower CPU is sorted
        first."""
        site, free = self.site(), self.site()
        for freeing, allocating in ((0, 1), (1, 0)):
            for time in self.times(10, end=self.END - 10**6):
                pointer = self.address()
                self.kmalloc(time, freeing, site, pointer, 16)
                self.kfree(time + 5, freeing, free, pointer)
                self.kmalloc(time + 5, allocating, site, pointer, 16)
                if allocating < freeing:  # the free is sorted after the new allocation and frees the new object
                    self.strange('allocation_on_live_pointer', site, site, time + 5)
                else:
                    self.kfree(time + 9, allocating, free, pointer)
        self.sites['equal times'] = Site(site, 40, 30, 0, 0, 10, 'none', 0)

    def frees_in_a_loss(self):
        """The last CPU loses events in two intervals. Objects freed during these intervals appear live."""
        site, free, cpu = self.site(), self.site(), self.cpus - 1
        start, end = self.LOST
        for i, (low, high) in enumerate(((start, start + (end - start) // 3), (end - (end - start) // 3, end))):
            for time in self.times(20, low, high):
                pointer = self.address()
                self.kmalloc(self.random.randrange(self.START, start - 10), cpu, site, pointer, 250)
                self.kfree(time, cpu, free, pointer)
            self.recorder.lose(cpu, low, high, counted=i == 0)
        self.add(start + (end - start) // 2, cpu, 'kfree', call_site=free)  # events between the two intervals
        self.add(end + 1, cpu, 'kfree', call_site=free)
        self.left('freed in a loss', site, 40, 0, 256, 0, uncertain=40)

    def partial_page_frees(self):
        """Blocks are freed page by page in random order, or only partially. Single pages are freed together as one
        block."""
        for time in self.times(12, end=self.END - 10**6):
            order, cpu = self.random.randrange(1, 5), self.cpu()
            pages = list(range(1 << order))
            self.random.shuffle(pages)
            first, kind = self.frames(order), self.random.randrange(3)
            gfp = {'gfp_flags': self.random.choice((GFP_KERNEL, 0x1100cca)), 'migratetype': self.random.randrange(3)}
            if kind < 2:
                self.add(time, cpu, 'mm_page_alloc', pfn=first, order=order, **gfp)
                for i, page in enumerate(pages[kind * len(pages) // 3:]):
                    self.add(time + 10 + i, self.cpu(), 'mm_page_free', pfn=first + page, order=0)
            else:
                for page in pages:
                    self.add(time + page, cpu, 'mm_page_alloc', pfn=first + page, order=0, **gfp)
                self.add(time + 100, self.cpu(), 'mm_page_free', pfn=first, order=order)
        first, times = self.frames(3), self.times(3)  # reallocates part of a live block, then frees the block
        self.add(times[0], 0, 'mm_page_alloc', pfn=first, order=3, gfp_flags=GFP_KERNEL)
        self.add(times[1], 0, 'mm_page_alloc', pfn=first, order=1, gfp_flags=GFP_KERNEL)
        self.add(times[2], 1, 'mm_page_free', pfn=first, order=3)

    def percpu_and_areas(self):
        site, live = self.site(), 0
        for i, time in enumerate(self.times(15, end=self.END - 10**6)):
            pointer = self.address() & 0xffffffff
            self.add(time, self.cpu(), 'percpu_alloc_percpu', call_site=site, ptr=pointer, size=24, bytes_alloc=24 * self.cpus,
                     gfp_flags=GFP_KERNEL)
            if i % 3:
                self.add(time + 500, self.cpu(), 'percpu_free_percpu', ptr=pointer)
            live += i % 3 == 0
        self.allocators['percpu'] = 15, 15 * 24 * self.cpus, live
        time, = self.times(1)
        self.add(time, 0, 'percpu_alloc_percpu_fail', size=8)
        self.strange('failed_allocation', None, None, time, 'percpu')
        for time in self.times(11, end=self.END - 10**6):
            area = self.address(20480)
            self.add(time, self.cpu(), 'alloc_vmap_area', addr=area, size=20480)
            self.add(time + 10**5, self.cpu(), 'free_vmap_area_noflush', va_start=area)
        time, = self.times(1)
        self.add(time, 0, 'alloc_vmap_area', size=4096, failed=1)
        self.strange('failed_allocation', None, None, time, 'vmalloc')
        self.allocators['vmalloc'] = 11, 11 * 20480, 0

    def renamed_task(self):
        """A task with three successive names; each name has ten allocations."""
        site, tid, names = self.site(), self.tasks[0], ('first', 'second', 'third')
        times = self.times(32)
        for i, time in enumerate(times):
            if i in (10, 21):
                old, new = names[i // 11], names[i // 11 + 1] if i == 10 else names[2]
                self.add(time, self.cpu(), 'task_rename', tid=tid, pid=tid, oldcomm=old.encode(), newcomm=new.encode())
            else:
                self.kmalloc(time, self.cpu(), site, self.address(), 20, tid=tid)
        self.left('renamed', site, 30, 0, 32, 0, 'linear')

    # -- the rest -----------------------------------------------------------------------------------------------------

    def noise(self, count):
        """Objects and pages from many call sites. The object freed last is reused first."""
        choice, chance = self.random.choice, self.random.random
        caches = [(self.site(), name, size) for name, size in (('dentry', 192), ('filp', 256), ('inode', 600), ('inode', 600))]
        sites, free_sites = [self.site() for _ in range(60)], [self.site() for _ in range(20)]
        pool, live = [], []
        for time in sorted(self.random.choices(range(self.START, self.END), k=count)):
            cpu = self.random.randrange(self.cpus)
            context = choice((0,) * 20 + (SOFTIRQ, HARDIRQ, HARDIRQ | SOFTIRQ, NMI))
            more = {'tid': choice((0, choice(self.tasks))), 'context': context}
            if live and chance() < 0.49:
                pointer, cache = live.pop(-1 if chance() < 0.8 else self.random.randrange(len(live)))
                if cache == 'pages':
                    self.add(time, cpu, 'mm_page_free', pfn=pointer[0], order=pointer[1], **more)
                    continue
                if cache:
                    self.cache_free(time, cpu, choice(free_sites), pointer, cache, **more)
                else:
                    self.kfree(time, cpu, choice(free_sites), pointer, **more)
                pool.append(pointer)
                continue
            if chance() < 0.1:
                order = choice((0, 0, 0, 1, 2, 3))
                live.append(((self.frames(order), order), 'pages'))
                self.add(time, cpu, 'mm_page_alloc', pfn=live[-1][0][0], order=order, gfp_flags=GFP_KERNEL,
                         migratetype=choice((0, 1, 2)), **more)
                continue
            pointer = pool.pop() if pool else self.address()
            more |= {'gfp_flags': choice((GFP_KERNEL, GFP_ATOMIC, GFP_KERNEL_ZERO)), 'node': choice((-1, -1, -1, 0, 1))}
            if chance() < 0.4:
                site, cache, size = choice(caches)
                self.cache_alloc(time, cpu, site, pointer, size, cache, **more)
                live.append((pointer, cache))
            else:
                self.kmalloc(time, cpu, choice(sites), pointer, self.random.randrange(1, 4097), **more)
                live.append((pointer, None))


def write(plan, path):
    with open(path, 'wb') as file:
        file.write(tracedat.to_v7(plan.trace)[0])
