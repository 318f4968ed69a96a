// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel types that the BPF programs use, reduced to the fields in use. When a program is loaded, libbpf finds the
// offsets in the running kernel's BTF (CO-RE), so building needs no kernel.
#pragma once

#include <stdbool.h>

typedef signed char s8;
typedef unsigned char u8;
typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef long long s64;
typedef unsigned long long u64;

// <bpf/bpf_helper_defs.h> requires these types, which are usually from vmlinux.h.
typedef u8 __u8;
typedef u16 __u16;
typedef s32 __s32;
typedef u32 __u32;
typedef s64 __s64;
typedef u64 __u64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;

enum bpf_map_type {
  BPF_MAP_TYPE_HASH = 1,
  BPF_MAP_TYPE_ARRAY = 2,
  BPF_MAP_TYPE_CGROUP_ARRAY = 8,
  BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
  BPF_ANY = 0,
  BPF_NOEXIST = 1,
  BPF_F_NO_PREALLOC = 1,
  BPF_F_MMAPABLE = 1024,
  BPF_RB_NO_WAKEUP = 1,
};

enum bpf_func_id {
  BPF_FUNC_get_current_task_btf = 158,  // since Linux 5.11
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kmem_cache {  // mm/slab.h
  unsigned int size;
  unsigned int object_size;
  unsigned int flags;  // slab_flags_t
  const char* name;
};

struct kernfs_node {  // include/linux/kernfs.h
  u64 id;
};

struct cgroup {  // include/linux/cgroup-defs.h
  struct kernfs_node* kn;
};

struct css_set {  // include/linux/cgroup-defs.h
  struct cgroup* dfl_cgrp;
};

struct rq;  // kernel/sched/sched.h

struct cfs_rq {  // kernel/sched/sched.h; in kernels with CONFIG_FAIR_GROUP_SCHED
  struct rq* rq;
};

struct sched_entity {  // include/linux/sched.h; in kernels with CONFIG_FAIR_GROUP_SCHED
  struct cfs_rq* cfs_rq;
};

struct thread_info {  // arch/*/include/asm/thread_info.h
  int preempt_count;
};

struct thread_info___arm64 {
  struct {
    u32 count;
  } preempt;
};

struct task_struct {  // include/linux/sched.h
  struct thread_info thread_info;
  struct sched_entity se;
  int pid;
  int tgid;
  u64 start_time;
  struct task_struct* group_leader;
  char comm[16];
  int softirq_disable_cnt;  // in kernels with CONFIG_PREEMPT_RT
  struct css_set* cgroups;
};

struct task_struct___arm64 {
  struct thread_info___arm64 thread_info;
};

struct lowcore {  // arch/s390/include/asm/lowcore.h
  u32 preempt_count;
};

struct refcount_struct {  // include/linux/refcount_types.h; stands for any structure that starts with an int
  struct {
    int counter;
  } refs;
};

#pragma clang attribute pop
