// SPDX-License-Identifier: GPL-2.0-or-later
// A trace with four groups and five buckets, small enough to compute sums by hand.
import type { Explore, TraceDocument, Totals } from '../src/data/document';

const kLifetime = { count: 0, mean_ns: 0, p50_ns: 0, p90_ns: 0, p99_ns: 0, under_1ms: 0 };

function totals(allocations: number, bytes_allocated: number): Totals {
  return {
    allocations,
    frees: 0,
    failed_allocations: 0,
    bytes_requested: bytes_allocated,
    bytes_allocated,
    bytes_freed: 0,
    live_bytes: 0,
    peak_bytes: 0,
    peak_ns: 0,
    lifetime: kLifetime,
  };
}

//  group  allocator stack          site  cache task
//  0      slab      main>a>alloc   s1    c1    t1
//  1      slab      main>b>alloc   s2    c1    t2
//  2      pages     main>a         s1    -     t1     (order 1)
//  3      slab      main>a>a       s3    c2    t1     nothing happened
export function smallExplore(): Explore {
  const strings = ['main', 'a', 'b', 'alloc', 's1', 's2', 's3', 'c1', 'c2', 't1', 't2'];
  return {
    start_ns: 1000,
    bucket_ns: 100,
    buckets: 5,
    strings,
    frames: [0, 1, 2, 3],
    stacks: [
      [0, 1, 3],
      [0, 2, 3],
      [0, 1],
      [0, 1, 1],
    ],
    has_stacks: true,
    groups: {
      allocator: [0, 0, 3, 0],
      stack: [0, 1, 2, 3],
      site: [4, 5, 4, 6],
      module: [2, 2, 1, 2],
      subsystem: [2, 1, 1, 2],
      directory: [4, 5, 4, 6],
      cache: [7, 7, 7, 8],
      task: [9, 10, 9, 9],
      order: [-1, -1, 1, -1],
    },
    left_out: { groups: 0, bytes_allocated: 0, live_bytes: 0 },
    changes: {
      group: [0, 0, 0, 1, 0, 1],
      bucket: [0, 2, 1, 1, 3, 2],
      allocations: [2, 1, 0, 5, 0, 1],
      requested: [180, 90, 0, 40, 0, 8192],
      allocated: [200, 100, 0, 50, 0, 8192],
      frees: [0, 0, 3, 0, 5, 0],
      freed: [0, 0, 300, 0, 50, 0],
    },
    sizes: {
      site: [4, 5, 4],
      requested: [90, 8, 90],
      allocated: [100, 10, 100],
      bucket: [0, 0, 1],
      allocations: [2, 5, 1],
    },
    sizes_left_out: { bucket: [2], allocations: [4], requested: [40], allocated: [64] },
    lifetimes: {
      allocator: [0, 0, 3],
      octave: [7, 9, 8],
      bucket: [1, 2, 2],
      site: [4, 5, 4],
      frees: [3, 5, 1],
      bytes: [300, 50, 4096],
    },
    cpus: {
      allocator: [0, 0, 3],
      from: [0, 0, 1],
      to: [0, 1, 2],
      bucket: [1, 2, 2],
      frees: [3, 5, 1],
      bytes: [300, 50, 4096],
    },
    // Group 0 allocated 200 bytes in bucket 0 and 100 in bucket 2; 300 ended in bucket 3. Group 1 allocated 50 in
    // bucket 1, which ended in bucket 4. The 100 bytes ended in the coarse bucket of their allocation.
    lives: { group: [0, 1], began: [0, 0], ended: [1, 2], bytes: [200, 50] },
    lives_coarse: 2,
    coarse: 2,
    cpu_nodes: [0, 0, 1],
  };
}

export function smallTrace(): TraceDocument {
  const row = {
    keys: { 'call-site': { address: '0x1', symbol: 's1' } },
    allocations: 3,
    failed_allocations: 0,
    frees: 3,
    bytes_requested: 270,
    bytes_allocated: 300,
    bytes_wasted: 30,
    bytes_freed: 300,
    live_allocations: 0,
    live_bytes: 0,
    peak_bytes: 310,
    peak_ns: 1,
    first_ns: 1,
    last_ns: 1,
    cross_cpu_frees: 1,
    cross_node_frees: null,
    lifetime: kLifetime,
  };
  return {
    report: {
      complete: true,
      trace: { cpus: 3, recorded_ns: 500 },
      slab: totals(8, 350),
      pages: totals(1, 8192),
      percpu: { ...totals(0, 0), bytes_allocated: null },
      vmalloc: totals(0, 0),
      groups: { slab: { total: 7, rows: [row] } },
      page_orders: [
        { order: 1, allocations: 1, frees: 9, failed_allocations: 0, bytes_allocated: 8192, live_bytes: 8192 },
      ],
    },
    tables: { caches: {}, tasks: {} },
    leaks: null,
    timeline: null,
    explore: smallExplore(),
    calls: null,
  } as unknown as TraceDocument;
}
