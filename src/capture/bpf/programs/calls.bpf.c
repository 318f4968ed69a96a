// SPDX-License-Identifier: GPL-2.0-or-later
// Writes calls of kernel functions into rings. The record of an entry has the arguments, and the values read from
// memory to which they point. The record of an exit has the result. All functions have the same programs, which
// identify a function by its cookie (KMT_CALL_COOKIE).
#include "capture/bpf/programs/calls.h"

#include "capture/bpf/programs/rings.bpf.h"

char LICENSE[] SEC("license") = "GPL";

// While this variable is 0, the programs ignore calls. Setting it starts or ends recording for all functions at the
// same time.
__u32 recording = 0;

// Number of calls that are missing because all rings of the CPU were in use.
__u64 calls_without_ring = 0;

// Counters for probes, which find the call of an exit by the stack pointer. The first two count exits of functions that
// have an open call. exits_that_fit counts those whose stack pointer fits the call, and exits_that_do_not counts the
// others. exits_without_call counts the exits that were dropped because they fit no open call.
#define KMT_ENOUGH_EXITS 64
__u32 exits_that_fit = 0;
__u32 exits_that_do_not = 0;
__u64 exits_without_call = 0;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct kmt_function);
} functions SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct kmt_value);
} values SEC(".maps");

#define KMT_MOST_OVERHEAD_NS 5000
#define KMT_MOST_OVER 8  // a new call drops at most 8 calls whose exit was missed

struct open_call {
  u64 began_ns;
  u32 frame;  // address where the call's stack frame starts; unique among open calls, except for tail calls
  u32 function;
  u32 level;
  u32 late;  // number of the first string that was unreadable at the entry, counted from 1; 0: no string was unreadable
  u32 late_room;
  u32 given;  // hash of the arguments; trampolines know the arguments at the exit too, so the hash identifies the call
  u64 late_at;
};

// The recorded open calls of a task, including calls in interrupts that occurred while the task ran. An interrupt may
// occur at any point. Calls of an interrupt are removed when they end, except for calls whose exit was missed.
struct task_calls {
  u32 depth;
  u32 unused;
  struct open_call calls[KMT_MOST_OPEN];
};

// The keys are addresses of task_struct, because these also distinguish the idle tasks of CPUs.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, KMT_MOST_TASKS);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, u64);
  __type(value, struct task_calls);
} tasks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct task_calls);
} no_calls SEC(".maps");

SEC("raw_tp/sched_process_free")
int forget_task(u64* context) {
  const u64 task = context[0];
  bpf_map_delete_elem(&tasks, &task);
  return 0;
}

static __always_inline struct task_calls* calls_of(u64 task) {
  struct task_calls* known = bpf_map_lookup_elem(&tasks, &task);
  if (known) return known;
  const u32 key = 0;
  const struct task_calls* none = bpf_map_lookup_elem(&no_calls, &key);
  if (!none) return 0;
  bpf_map_update_elem(&tasks, &task, none, BPF_NOEXIST);
  return bpf_map_lookup_elem(&tasks, &task);
}

// Returns the interrupt level. An open call with a higher level than the current one has ended. The code has no
// branches, because each branch would double the number of paths that the verifier checks.
static __always_inline u32 level_of(u8 flags) { return (flags >> 2 & KMT_LEVEL_HARDIRQ) | (flags >> 4 & 1); }

// Some functions change the kernel's count of hardirqs themselves, such as irq_enter(). They start before the count
// changes, or end after the count has changed back. level_at() returns the level of such a function, and level_around()
// returns the lower level of its caller.
static __always_inline u32 level_at(u64 cookie, u8 flags) { return level_of(flags) | (u32)(cookie >> 32); }
static __always_inline u32 level_around(u64 cookie, u8 flags) { return level_of(flags) & ~(u32)(cookie >> 32); }

// Returns a hash of the arguments, which is never 0.
static __always_inline u32 sum_of(const u64* arguments) {
  u64 sum = 0;
#pragma unroll
  for (u32 i = 0; i < KMT_CALL_ARGUMENTS; ++i) sum = (sum ^ arguments[i]) * 0x9e3779b97f4a7c15ull;
  return (u32)(sum >> 32) | 1;
}

// 16 KiB is the smallest size and alignment of task and interrupt stacks on 64-bit machines.
static __always_inline bool on_one_stack(u32 a, u32 b) { return (a ^ b) >> 14 == 0; }

// True if `call` must have ended before the call of `function` began, so the exit of `call` was missed.
static __always_inline bool is_over(const struct open_call* call, u32 function, u32 frame, u32 level) {
  if (level != call->level) return level < call->level;
  if (!on_one_stack(frame, call->frame)) return false;
  return frame > call->frame || (frame == call->frame && function == call->function);
}

static __always_inline struct open_call* call_at(struct task_calls* of, u32 depth) {
  return &of->calls[depth & (KMT_MOST_OPEN - 1)];
}

// Returns the depth of the new call, or a negative number if there is no room. Increments the depth before it writes to
// the slot, so that an interrupt uses the next slot. Writes the level first. If the slot still had the level of an
// earlier call, the interrupt would treat the new call as ended. (pop() has cleared the levels in between.)
static __always_inline s32 push(struct task_calls* of, u32 function, u32 frame, u32 level, u32 given) {
  u32 depth = of->depth;
  for (u32 i = 0; i < KMT_MOST_OVER && depth > 0; ++i) {
    if (!is_over(call_at(of, depth - 1), function, frame, level)) break;
    --depth;
  }
  if (depth >= KMT_MOST_OPEN) return -1;
  struct open_call* call = call_at(of, depth);
  KMT_ONCE(call->level) = level;
  KMT_ONCE(of->depth) = depth + 1;
  KMT_ONCE(call->frame) = frame;
  KMT_ONCE(call->function) = function;
  KMT_ONCE(call->late) = 0;
  KMT_ONCE(call->given) = given;
  KMT_ONCE(call->level) = level;
  return (s32)depth;
}

// Removes the call at this depth and all deeper calls.
static __always_inline void pop(struct task_calls* of, u32 depth) {
  KMT_ONCE(call_at(of, depth)->level) = 0;
  KMT_ONCE(of->depth) = depth;
}

#define KMT_LEVELS 3ull

// Claims a free ring of this CPU. If this program itself calls traced functions, these calls get no ring and are not
// counted as missed. They are recognised because they have the task and the stack of the ring's owner, and no higher
// level. At the start of an interrupt, the kernel may not have counted the interrupt yet. Calls are then distinguished
// by their stack, except in an interrupt of another interrupt.
static __always_inline struct kmt_ring* claim_ring(u32 cpu, u64 task, u32 level, u32 stack) {
  const u64 who = (task | level) ^ (u64)(stack >> 14) << 46;
  for (u32 i = 0; i < KMT_CALL_RINGS; ++i) {
    const u32 key = cpu * KMT_CALL_RINGS + i;
    struct kmt_ring* ring = bpf_map_lookup_elem(&rings, &key);
    if (!ring) return 0;
    const u64 owner = __sync_val_compare_and_swap(&ring->claim, 0, who);
    if (owner == 0) return ring;
    if (((owner ^ who) & ~KMT_LEVELS) == 0 && (owner & KMT_LEVELS) >= level) return 0;
  }
  __sync_fetch_and_add(&calls_without_ring, 1);
  return 0;
}

static __always_inline void release_ring(struct kmt_ring* ring) { KMT_ONCE(ring->claim) = 0; }

// On machines where kernel and user memory share one address space, kernel addresses are negative as signed numbers.
static __always_inline long read_memory(void* to, u32 bytes, u64 from) {
  if ((s64)from < 0) return bpf_probe_read_kernel(to, bytes, (const void*)from);
  return bpf_probe_read_user(to, bytes, (const void*)from);
}

static __always_inline long read_string(void* to, u32 bytes, u64 from, bool is_user) {
  if (!is_user && (s64)from < 0) return bpf_probe_read_kernel_str(to, bytes, (const void*)from);
  return bpf_probe_read_user_str(to, bytes, (const void*)from);
}

// Reads the variable from memory at each use, so that the verifier does not know its value. With known values, the
// verifier would check more paths.
#define KMT_AGAIN(what) (*(const volatile __typeof__(what)*)&(what))

// Reads a string into `to`. Returns the length of the string, or KMT_NOT_READ if it is unreadable. `room` includes the
// NUL.
static __always_inline u32 read_bounded(u8* to, u32 room, u64 at, bool is_user) {
  asm volatile("" : "+r"(room));  // makes the verifier use the bound of the next line
  if (room > KMT_STRING_BYTES + 1) room = KMT_STRING_BYTES + 1;
  const long read = read_string(to, room, at, is_user);
  if (read == 0) return 0;  // An empty string. Before Linux 6.13, strncpy_from_user_nofault() does not count its NUL.
  return read > 0 && read <= KMT_STRING_BYTES + 1 ? (u32)read - 1 : KMT_NOT_READ;
}

static __always_inline u32 room_of(const struct kmt_value* value, const u64* words) {
  u32 counter = KMT_AGAIN(value->counted_by) - 1;
  // Makes clang use one register for the comparison and for the index. Otherwise, the verifier of Linux 6.1 does not
  // notice the bound.
  asm volatile("" : "+r"(counter));
  if (counter < KMT_CALL_ARGUMENTS) {
    const u32 unused = KMT_AGAIN(value->counter_unused_bits) & 63;
    const u64 count = KMT_ONCE(words[1 + counter]) << unused >> unused;
    return count < KMT_STRING_BYTES ? (u32)count + 1 : KMT_STRING_BYTES + 1;
  }
  return value->bytes != 0 ? value->bytes + 1 : KMT_STRING_BYTES + 1;
}

// Returns the size of the value (at most KMT_STRING_BYTES), or KMT_NOT_READ. `to` has room for the NUL. A string in
// user memory may be on a page that is not present yet; `call` keeps the address of the first such string.
static __always_inline u32 read_value(const struct kmt_value* value, u32 number, const u64* words, u64 at, u8* to,
                                      struct open_call* call) {
  u32 bytes = value->bytes;
  if (value->steps == 0) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    at <<= 8 * (8 - bytes) & 63;
#endif
    __builtin_memcpy(to, &at, sizeof at);
    return bytes & 15;
  }
  // The loop is unrolled because Linux 6.1's verifier refuses the loop that clang generates. An unreadable pointer
  // becomes NULL, so that all later reads fail. This way the verifier has fewer paths to check.
#pragma unroll
  for (u32 i = 0; i + 1 < KMT_MOST_STEPS; ++i)
    if (i + 1 < KMT_AGAIN(value->steps) && read_memory(&at, sizeof at, at + value->offsets[i]) != 0) at = 0;
  const u32 last = (u32)KMT_AGAIN(value->steps) - 1;
  if (last >= KMT_MOST_STEPS) return KMT_NOT_READ;
  at += value->offsets[last];
  if (!value->is_string) {
    bytes &= 15;
    return read_memory(to, bytes, at) == 0 ? bytes : KMT_NOT_READ;
  }
  const u32 room = room_of(value, words);
  bytes = read_bounded(to, room, at, KMT_AGAIN(value->is_user));
  if (bytes == KMT_NOT_READ && (s64)at > 0 && KMT_ONCE(call->late) == 0) {
    KMT_ONCE(call->late_at) = at;
    KMT_ONCE(call->late_room) = room;
    KMT_ONCE(call->late) = number + 1;
  }
  return bytes;
}

// Writes all values of a function after its arguments and returns the size of the values in bytes. `stack_pointer` is 0
// if unknown.
static __always_inline u32 read_values(const struct kmt_function* function, u64* words, struct open_call* call,
                                       u64 stack_pointer) {
  u8* to = (u8*)(words + KMT_CALL_WORDS);
  // number of bytes written so far; kept in memory, because the verifier does not track values in memory
  KMT_ONCE(words[0]) = 0;
  for (u32 i = 0; i < KMT_MOST_VALUES && i < function->values; ++i) {
    const u32 key = function->first_value + i;
    const struct kmt_value* value = bpf_map_lookup_elem(&values, &key);
    const u64 at = KMT_ONCE(words[0]);
    if (!value || at > KMT_VALUES_BYTES) break;
    const u32 argument = value->argument;
    const u64 from = argument < KMT_CALL_ARGUMENTS ? words[1 + argument] : stack_pointer;
    u32 bytes = KMT_NOT_READ;
    if (argument < KMT_CALL_ARGUMENTS || stack_pointer) bytes = read_value(value, i, words, from, to + at + 2, call);
    to[at + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)] = (u8)bytes;
    to[at + (__BYTE_ORDER__ != __ORDER_BIG_ENDIAN__)] = (u8)(bytes >> 8);
    KMT_ONCE(words[0]) = at + 2 + (bytes == KMT_NOT_READ ? 0 : bytes);
  }
  return (u32)KMT_ONCE(words[0]);
}

// Depths and times of a task's calls must be consistent, even if an interrupt occurs meanwhile. Therefore the call is
// pushed before the time is read, and popped after its end is recorded.
static __always_inline void record_call(struct kmt_ring* ring, u64 cookie, u32 frame, const u64* arguments,
                                        u64 stack_pointer, bool with_values, u64 task, u8 flags) {
  const u32 number = (u32)cookie;
  const struct kmt_function* function = with_values ? bpf_map_lookup_elem(&functions, &number) : 0;
  struct place place;
  if (with_values && !function) return;
  struct task_calls* calls = calls_of(task);
  const s32 depth =
      calls ? push(calls, number, frame, level_around(cookie, flags), stack_pointer ? 0 : sum_of(arguments)) : -1;
  if (!begin_in(&place, ring, KMT_CALL_WORDS * sizeof(u64) + (with_values ? KMT_MOST_VALUES_BYTES : 0))) {
    if (depth >= 0) pop(calls, (u32)depth);
    return;
  }
  if (depth < 0) {
    lose(&place);
    return;
  }
  struct kmt_entry* entry = entry_at(&place);
  u64* words = (u64*)(entry + 1);
#pragma unroll
  for (u32 i = 0; i < KMT_CALL_ARGUMENTS; ++i) words[1 + i] = arguments[i];
  const u32 bytes = with_values ? read_values(function, words, call_at(calls, (u32)depth), stack_pointer) : 0;
  words[0] = KMT_CALL_WHAT(number, depth, bytes);
  const u32 all_words = (KMT_CALL_WORDS + (bytes + 7) / 8) & 0xff;
  end(&place, entry, KMT_ENTRY_CALL, all_words, (s32)bpf_get_current_pid_tgid(), flags, false);
  // The start time is read after the entry was recorded, so that it excludes the time for recording. After an
  // interruption, the start may be much later than the entry. In that case, the time of the entry is used, because
  // readers would assign such a late start to another call.
  const u64 now = bpf_ktime_get_ns();
  KMT_ONCE(call_at(calls, (u32)depth)->began_ns) = now - place.time_ns < KMT_MOST_OVERHEAD_NS ? now : place.time_ns;
}

// `stack` is any address in the current stack.
static __always_inline int call_begins(u64 cookie, u32 frame, u32 stack, const u64* arguments, u64 stack_pointer,
                                       bool with_values) {
  if (!KMT_ONCE(recording)) return 0;
  const u32 cpu = bpf_get_smp_processor_id();
  const u8 flags = current_flags();
  if (!is_wanted(bpf_get_current_pid_tgid() >> 32, flags, false)) return 0;
  const u64 task = bpf_get_current_task();
  struct kmt_ring* ring = claim_ring(cpu, task, level_at(cookie, flags), stack);
  if (!ring) return 0;
  record_call(ring, cookie, frame, arguments, stack_pointer, with_values, task, flags);
  release_ring(ring);
  return 0;
}

// True if this kernel's probes have no stack pointer, or a wrong one, at exits. This is the case if probes are based on
// the function graph tracer (x86 since Linux 6.14, arm64). The first 64 counted exits decide which is the case.
static __always_inline bool frames_are_wrong(bool fits) {
  const u32 right = KMT_ONCE(exits_that_fit);
  const u32 wrong = KMT_ONCE(exits_that_do_not);
  if (right < KMT_ENOUGH_EXITS && wrong < KMT_ENOUGH_EXITS)
    __sync_fetch_and_add(fits ? &exits_that_fit : &exits_that_do_not, 1);
  return !fits && wrong >= right;
}

// Returns the depth of the function's innermost call at this interrupt level; negative if there is none.
static __always_inline s32 depth_of_innermost(struct task_calls* calls, u32 number, u32 level) {
  u32 depth = calls->depth;
  for (u32 i = 0; i < KMT_MOST_OPEN && depth > 0; ++i) {
    --depth;
    const struct open_call* call = call_at(calls, depth);
    if (call->function == number && call->level == level) return (s32)depth;
  }
  return -1;
}

// At the exit, reads a string that could not be read at the entry. Writes the value's number and size (16 bits each)
// and the string. Returns the total size; 0 if reading fails again.
static __always_inline u32 read_late(const struct open_call* call, u8* to) {
  const u32 late = KMT_ONCE(call->late);
  if (late == 0) return 0;
  const u32 bytes = read_bounded(to + 4, KMT_ONCE(call->late_room), KMT_ONCE(call->late_at), true);
  if (bytes == KMT_NOT_READ) return 0;
  u16* const head = (u16*)to;
  head[0] = (u16)(late - 1);
  head[1] = (u16)bytes;
  return 4 + bytes;
}

// Matches an exit to a recorded call, if there is one. If other calls are still open inside that call, their exits were
// missed. `slack` is how many bytes the exit's frame may be above the entry's frame. It is 0 for trampolines, whose
// frames are exact. For trampolines, `given` must be equal as well. Without this, the exit of a call with a missed
// entry might match a call with a missed exit. If frames are wrong, only the function identifies the call. If the inner
// entry of a recursion was missed, the inner exit is then recorded as the exit of the outer call, but never as an
// exit of another function.
static __always_inline int call_ends(u64 cookie, u32 frame, u32 stack, u32 slack, u32 given, u64 result) {
  const u32 number = (u32)cookie;
  if (!KMT_ONCE(recording)) return 0;
  const u64 task = bpf_get_current_task();
  struct task_calls* calls = bpf_map_lookup_elem(&tasks, &task);
  if (!calls) return 0;
  const u32 cpu = bpf_get_smp_processor_id();
  const u8 flags = current_flags();
  const struct open_call* call = 0;
  u32 depth = calls->depth;
  for (u32 i = 0; i < KMT_MOST_OPEN && depth > 0; ++i) {
    --depth;
    call = call_at(calls, depth);
    if (call->function == number && frame - call->frame <= slack && call->given == given) break;
    call = 0;
  }
  if (slack && call) frames_are_wrong(true);
  if (slack && !call) {
    const s32 innermost = depth_of_innermost(calls, number, level_around(cookie, flags));
    if (innermost < 0) return 0;
    if (!frames_are_wrong(false)) {
      __sync_fetch_and_add(&exits_without_call, 1);
      return 0;
    }
    depth = (u32)innermost;
    call = call_at(calls, depth);
  }
  if (!call) return 0;
  const u64 began_ns = call->began_ns;
  struct kmt_ring* ring = claim_ring(cpu, task, level_at(cookie, flags), stack);
  struct place place;
  if (ring && begin_in(&place, ring, KMT_RETURN_WORDS * sizeof(u64) + KMT_LATE_BYTES + 8)) {
    struct kmt_entry* entry = entry_at(&place);
    u64* words = (u64*)(entry + 1);
    const u32 bytes = read_late(call, (u8*)(words + KMT_RETURN_WORDS));
    words[0] = KMT_CALL_WHAT(number, depth, bytes);
    words[1] = began_ns;
    words[2] = result;
    const u32 all_words = (KMT_RETURN_WORDS + (bytes + 7) / 8) & 0xff;
    end(&place, entry, KMT_ENTRY_RETURN, all_words, (s32)bpf_get_current_pid_tgid(), flags, false);
  }
  pop(calls, depth);
  if (ring) release_ring(ring);
  return 0;
}

// Returns the lower half of a stack address. The assembly makes the verifier treat the address as a number.
static __always_inline u32 frame_of(const void* context) {
  u64 low;
  asm volatile("r0 = %1; w0 = w0; %0 = r0" : "=r"(low) : "r"(context) : "r0");
  return (u32)low;
}

// With trampolines, the programs at the entry and the exit of a call receive the same context, which is on the stack.
static __always_inline void arguments_of(u64* context, u64* arguments) {
#pragma unroll
  for (u32 i = 0; i < KMT_CALL_ARGUMENTS; ++i) bpf_get_func_arg(context, i, &arguments[i]);
}

static __always_inline int trampoline_entered(u64* context, bool with_values) {
  u64 arguments[KMT_CALL_ARGUMENTS] = {};
  arguments_of(context, arguments);
  const u32 frame = frame_of(context);
  return call_begins(bpf_get_attach_cookie(context), frame, frame, arguments, 0, with_values);
}

// Functions without values have separate programs, because the verifier checks programs without values ten times
// faster.
SEC("fentry")
int enter_by_trampoline(u64* context) { return trampoline_entered(context, false); }

SEC("fentry")
int enter_by_trampoline_with_values(u64* context) { return trampoline_entered(context, true); }

SEC("fexit")
int leave_by_trampoline(u64* context) {
  u64 result = 0;
  u64 arguments[KMT_CALL_ARGUMENTS] = {};
  bpf_get_func_ret(context, &result);
  arguments_of(context, arguments);
  const u32 frame = frame_of(context);
  return call_ends(bpf_get_attach_cookie(context), frame, frame, 0, sum_of(arguments), result);
}

// Indices of the registers in struct pt_regs, in words.
#if defined(__TARGET_ARCH_x86)
#define KMT_REGISTERS \
  { 14, 13, 12, 11, 9, 8 }
#define KMT_RESULT 10
#define KMT_STACK_POINTER 19
#elif defined(__TARGET_ARCH_arm64)
#define KMT_REGISTERS \
  { 0, 1, 2, 3, 4, 5 }
#define KMT_RESULT 0
#define KMT_STACK_POINTER 31
#endif

#ifdef KMT_REGISTERS
// On x86, the stack pointer at the exit may be above the return address.
#define KMT_SLACK 16

static __always_inline int probe_entered(u64* registers, bool with_values) {
  const u32 places[KMT_CALL_ARGUMENTS] = KMT_REGISTERS;
  u64 arguments[KMT_CALL_ARGUMENTS];
#pragma unroll
  for (u32 i = 0; i < KMT_CALL_ARGUMENTS; ++i) arguments[i] = registers[places[i]];
  const u64 stack_pointer = registers[KMT_STACK_POINTER];
  return call_begins(bpf_get_attach_cookie(registers), (u32)stack_pointer, frame_of(registers), arguments,
                     stack_pointer, with_values);
}

SEC("kprobe.multi")
int enter_by_probe(u64* registers) { return probe_entered(registers, false); }

SEC("kprobe.multi")
int enter_by_probe_with_values(u64* registers) { return probe_entered(registers, true); }

SEC("kretprobe.multi")
int leave_by_probe(u64* registers) {
  return call_ends(bpf_get_attach_cookie(registers), (u32)registers[KMT_STACK_POINTER], frame_of(registers), KMT_SLACK,
                   0, registers[KMT_RESULT]);
}
#endif
