// SPDX-License-Identifier: GPL-2.0-or-later
// The data that kmemtrace writes into the page: the documents of docs/formats, and sums for each time bucket. All text
// in it comes from traces, so it may be hostile.

export type AllocatorName = 'slab' | 'percpu' | 'vmalloc' | 'pages';

export interface Address {
  address: string;
  symbol: string;
}

export interface Lifetime {
  count: number;
  mean_ns: number;
  p50_ns: number;
  p90_ns: number;
  p99_ns: number;
  under_1ms: number;
}

export interface Totals {
  allocations: number;
  frees: number;
  failed_allocations: number;
  bytes_requested?: number;
  bytes_allocated: number | null;
  bytes_freed: number | null;
  live_allocations?: number;
  live_bytes: number | null;
  peak_bytes: number | null;
  peak_ns: number | null;
  matched_frees?: number; // pages lack it: use lifetime.count instead
  unmatched_frees?: number;
  cross_cpu_frees?: number;
  cross_node_frees?: number | null;
  lifetime: Lifetime;
}

export type KeyValue = string | number | null | Address | Record<string, unknown> | Address[];

export interface GroupRow {
  keys: Record<string, KeyValue>;
  allocations: number;
  failed_allocations: number;
  frees: number;
  bytes_requested: number;
  bytes_allocated: number | null;
  bytes_wasted: number | null;
  bytes_freed: number | null;
  live_allocations: number;
  live_bytes: number | null;
  peak_bytes: number | null;
  peak_ns: number | null;
  first_ns: number | null;
  last_ns: number | null;
  cross_cpu_frees: number;
  cross_node_frees: number | null;
  lifetime: Lifetime;
}

export type Groups = Partial<Record<AllocatorName, { total: number; rows: GroupRow[] }>>;

export interface Finding {
  kind: string;
  severity: string;
  sentence: string;
  count: number;
  examples: { cpu: number | null; offset: number | null; time_ns: number | null; detail: string | null }[];
}

export interface TraceDescription {
  path: string;
  format: string;
  kernel: string | null;
  arch: string | null;
  byte_order: string;
  word_bits: number;
  page_size: number;
  cpus: number;
  clock: string | null;
  recorded_at: string | null;
  recorder_arguments: string | null;
  first_ns: number;
  duration_ns: number;
  recorded_ns: number;
  events: number;
  stacks: number;
  lost_events: number;
  lost_per_cpu: number[];
  loss_known: boolean;
}

export interface PageOrder {
  order: number;
  allocations: number;
  frees: number;
  failed_allocations: number;
  bytes_allocated: number;
  live_bytes: number;
}

export interface AnomalySite {
  kind: string;
  allocator: AllocatorName;
  first: Address | null;
  second: Address | null;
  cache: string | null;
  count: number;
  first_ns: number;
  last_ns: number;
  explained: boolean; // the cause is known
}

export interface ExplainedAnomalies {
  older_frees: number;
  untraced_frees: number;
  untraced_allocations: number;
  recorder_frees: number;
  of_events: number;
}

export interface Report extends Record<AllocatorName, Totals> {
  complete: boolean;
  trace: TraceDescription;
  events: Record<string, number>;
  page_orders: PageOrder[];
  memory: {
    samples: number;
    meminfo: Record<string, { first_bytes: number; last_bytes: number; most_bytes: number }>;
  } | null;
  groups: Groups;
  anomalies: Record<string, number>;
  anomaly_sites: AnomalySite[];
  explained_anomalies: ExplainedAnomalies;
  findings: Finding[];
}

export interface LeakTrend {
  bytes_per_s: number;
  low: number;
  high: number;
  late_bytes_per_s: number;
  confidence: number;
  evenness: number;
}

export interface LeakRow {
  keys: Record<string, KeyValue> | null; // null if the row is the sum of an allocator
  verdict: string;
  growth: LeakTrend | null;
  certain_growth: LeakTrend | null; // growth without objects that may have been freed
  allocations: number;
  live_allocations: number;
  live_bytes: number | null;
  certain_bytes: number | null;
  uncertain_bytes: number | null;
  uncertain: { reason: string; allocations: number; bytes: number }[];
  untraced_path: string | null;
  processes?: { process: KeyValue; live_allocations: number; live_bytes: number }[]; // the largest; others are omitted
  processes_in_all?: number;
  age: { oldest_ns: number; median_ns: number };
  series: (number | null)[] | null;
}

export interface Leaks {
  threshold_bytes_per_s: number;
  confidence_needed: number;
  judged: number;
  found: boolean;
  unclear: string | null; // why the trace cannot exclude growth
  cut_at_ns: number | null; // the end of the file is missing: growth is judged until this time
  start_ns: number;
  bucket_ns: number;
  verdicts: Record<string, string>; // meaning of each verdict, the most certain first
  groups: Partial<Record<AllocatorName, { total: number; older_frees: number; rows: LeakRow[] }>>;
}

export interface WaitSums {
  waits: number;
  total_ns: number;
  own_ns: Record<string, number>; // by kind of stall; the times add up to total_ns
}

export interface Wait extends WaitSums {
  began_ns: number;
  task: string;
  order: number | null;
  memory: {
    allocator: string;
    cache: string | null;
    call_site: string | null;
    bytes_requested: number;
    failed: boolean;
  } | null;
}

export interface Timeline {
  start_ns: number;
  bucket_ns: number;
  buckets: number;
  allocators: {
    allocator: AllocatorName;
    live_bytes: (number | null)[] | null;
    bytes_allocated: (number | null)[] | null;
    allocations: number[];
  }[];
  samples: { source: string; name: string; points: [number, number][] }[];
  // null if the trace cannot contain events of stalls
  waits: {
    total: WaitSums;
    over_time: { start_ns: number; bucket_ns: number; waiting_ns: number[] };
    longest: Wait[];
  } | null;
  balances: {
    source: string;
    name: string;
    first_bytes: number;
    last_bytes: number;
    explained_bytes: number;
    explained: string;
  }[];
}

export interface Explore {
  start_ns: number;
  bucket_ns: number;
  buckets: number;
  strings: string[];
  frames: number[];
  stacks: number[][];
  has_stacks: boolean;
  groups: {
    allocator: number[];
    stack: number[];
    site: number[];
    module: number[];
    subsystem: number[];
    directory: number[];
    cache: number[];
    task: number[];
    order: number[];
  };
  left_out: { groups: number; bytes_allocated: number; live_bytes: number };
  changes: {
    group: number[];
    bucket: number[];
    allocations: number[];
    requested: number[];
    allocated: number[];
    frees: number[];
    freed: number[]; // includes replaced allocations
    replacements?: number[]; // allocations that ended without a free, because their address was allocated again
    replaced?: number[]; // bytes of replaced allocations
  };
  sizes: { site: number[]; requested: number[]; allocated: number[]; bucket: number[]; allocations: number[] };
  sizes_left_out: { bucket: number[]; allocations: number[]; requested: number[]; allocated: number[] };
  lifetimes: {
    allocator: number[];
    octave: number[];
    bucket: number[];
    site: number[];
    frees: number[];
    bytes: number[];
  };
  // A negative number is a CPU that is merged into "others". If `from` and `to` are both −1, they are the same CPU; if
  // one is −1 and the other −2, they are different CPUs.
  cpus: { allocator: number[]; from: number[]; to: number[]; bucket: number[]; frees: number[]; bytes: number[] };
  // Entries are sorted by group. `group` is stored as the difference from the previous entry.
  lives: { group: number[]; began: number[]; ended: number[]; bytes: number[] };
  lives_coarse: number;
  coarse: number;
  cpu_nodes: number[] | null;
}

export interface InsideSum {
  allocations: number;
  bytes: number;
  live_allocations: number;
  live_bytes: number;
  failed: number;
}
export type Inside = Partial<Record<AllocatorName, InsideSum>>;

export type CallValue = string | number | boolean | null;

export interface TracedCall {
  function: string;
  parent: number | null; // index of the call that contains this call
  tid: number;
  task: string;
  cpu: number;
  end_cpu: number;
  interrupt: string | null;
  on_top: boolean;
  began_ns: number | null;
  ended_ns: number | null;
  duration_ns: number | null;
  lost_events: boolean;
  only_missed?: boolean;
  inside_hidden: boolean;
  arguments: Record<string, CallValue> | null;
  argument_texts?: Record<string, string> | null;
  result_text?: string | null;
  return_value: string | null;
  result: CallValue;
  error: number | null;
  failed?: boolean;
  inside: Inside;
}

export interface CalledFunction {
  function: string;
  address: string;
  calls: number;
  cut_off: number;
  lost_events: number;
  total_ns: number | null; // null if no call's time is known
  self_ns: number | null;
  longest_ns: number | null;
  inside: Inside;
}

export interface Calls {
  first: number; // maximum number of first calls in the file
  slowest: number; // maximum number of slowest calls in the file
  unfiltered?: boolean; // true: options select events, but not calls
  graph: {
    calls_traced: number;
    calls_selected: number;
    arguments: boolean;
    types: boolean;
    calls: TracedCall[];
    functions: CalledFunction[];
    functions_total: number;
    not_called: string[]; // functions that were recorded but not called
    refused: { function: string; reason: string }[]; // functions that could not be recorded
    missed: unknown[]; // times of missed events whose CPU is unknown
    outside: Inside;
  };
}

export interface TraceDocument {
  report: Report;
  tables: { caches: Groups; tasks: Groups };
  leaks: Leaks | null;
  timeline: Timeline | null;
  explore: Explore;
  calls: Calls | null;
}

export interface DiffColumn {
  a: number | null;
  b: number | null;
  difference: number | null;
  percent: number | null;
  verdict: string;
}

export interface DiffRow {
  keys: Record<string, KeyValue>;
  in_a: boolean;
  in_b: boolean;
  verdict: string;
  columns: Record<string, DiffColumn>;
}

export type DiffUnit = 'count' | 'bytes' | 'percent' | 'ns';

export interface Diff {
  a: TraceDescription;
  b: TraceDescription;
  basis: { per: string; event: string | null; a: number; b: number; why: string };
  sort: string;
  columns: Record<string, { title: string; unit: DiffUnit; meaning: string }>;
  totals: Partial<Record<AllocatorName, { in_a: boolean; in_b: boolean; columns: Record<string, DiffColumn> }>>;
  groups: Partial<
    Record<AllocatorName, { total: number; changed: number; unchanged: number; unknown: number; rows: DiffRow[] }>
  >;
}

export interface PageDocument {
  schema: string;
  version: string;
  traces: TraceDocument[];
  diff: Diff | null;
  front?: 'calls' | 'findings' | null; // page to show first
  investigation: Investigation | null;
}

// The parts of docs/formats/investigate-json.md that the page shows.
export interface InvestigationTrend {
  bytes_per_s: number;
  low: number;
  high: number;
}

export interface FindingSite {
  call_site: string;
  cache: string | null;
  objects: number;
  bytes: number;
  estimated: boolean;
  stack: string[];
}

export interface FindingProcess {
  task: string;
  process: number | null;
  cgroup: string | null;
  objects: number;
  bytes: number;
}

export interface FindingCache {
  name: string;
  account: string | null; // the name in `states`
  bytes_per_s: number;
  kernel_bytes_per_s: number | null;
  no_account: string | null;
  kind: string | null; // for a kmalloc size, the cache of this size that grows, such as "kmalloc-cg-1k"
  merged_with: string[]; // caches that share their slabs with this cache
}

export interface GrowthFinding {
  certainty: 'sure' | 'likely' | 'weak';
  function: string;
  call_site: string;
  entry: string;
  task: string;
  source: 'recording' | 'samples';
  growth: InvestigationTrend | null;
  since_s: number | null; // if set, `growth` is that of the kernel's counter since this time
  unrecorded_bytes_per_s: number; // estimate, in addition to `growth`
  seconds: number;
  bytes: number;
  objects: number;
  reasons: string[];
  grounds: ('recording' | 'samples' | 'account' | 'call_sites')[];
  call_sites: FindingSite[];
  processes: FindingProcess[];
  caches: FindingCache[];
  step_seconds: number;
  series: number[];
}

export interface StateGrowth {
  name: string;
  source: string;
  first: number;
  last: number;
  growth: InvestigationTrend | null;
  sure: boolean;
  rises_since_s: number | null; // start of the growth, if the value does not grow all the time
  kind: string | null;
  merged_with: string[];
  of_the_recording: boolean; // caused by `investigate` itself
  slab_accounting: boolean; // may be accounting data of other caches' slabs
  may_be_in_sheaves: boolean; // the whole rise may be free objects that CPUs keep in sheaves
  mean_bytes_per_s: number; // average from the first to the last value
  reclaimable: boolean;
  explained_bytes_per_s: number;
  step_seconds: number;
  series: number[];
}

export interface BalanceChange {
  id: string;
  label: string;
  depth: number;
  counted: boolean;
  before: number | null; // value in the first snapshot; null if the snapshot lacks it
  after: number | null;
}

export interface HealthCheck {
  id: string;
  health: 'ok' | 'warn' | 'bad' | 'unknown';
  unit: 'share' | 'count' | 'bytes';
  value: number | null;
  bytes: number | null;
  subject: string | null;
  reason: string;
}

export interface ObjectKind {
  kind: string;
  share: number;
  bytes: number;
  module: string | null;
  structure: string | null;
  structure_confidence: string | null;
  examples: { address: string; drgn: string; crash: string }[];
}

// A slab cache that is unusually large, or grows without a known call site.
export interface LargeCache {
  cache: string;
  words: string;
  objects: { kinds: ObjectKind[]; notes: string[] } | null; // null: the objects were not sampled
}

interface PagesBeforeAndAfter {
  before: number; // bytes
  after: number;
}

// Kernel pages that are neither slab nor page tables, at the start and at the end.
export interface KernelPages extends PagesBeforeAndAfter {
  orders: (PagesBeforeAndAfter & { order: number })[];
  flags: (PagesBeforeAndAfter & { flags: string })[];
  cgroups: (PagesBeforeAndAfter & { cgroup: string | null })[];
}

// Removed cgroups that still hold memory. The amounts are upper bounds.
export interface DyingCgroups {
  below: string;
  count: number;
  kernel_bytes: number | null;
  slab_bytes: number | null;
  percpu_bytes: number | null;
  file_bytes: number | null;
}

export interface Investigation {
  kernel: string | null;
  machine: string | null;
  host: string | null;
  seconds: number;
  complete: boolean;
  cut_short: string | null;
  words: string; // the verdict
  found: boolean;
  findings: GrowthFinding[];
  states: StateGrowth[];
  judged: number;
  left_out_bytes: number;
  balance: BalanceChange[] | null;
  health: HealthCheck[];
  large_caches: LargeCache[];
  kernel_pages: KernelPages | null;
  dying_cgroups: DyingCgroups[];
  unseen: { what: string; why: string; how: string | null }[];
  cost: {
    cpu_seconds: number;
    kernel_cpu_seconds: number;
    most_cpu_seconds: number; // CPU time budget
    asked_share: number;
    cpus: number;
    share: number | null;
  } | null;
  folder: string | null;
  files: { name: string; what: string }[];
  next: string[];
}
