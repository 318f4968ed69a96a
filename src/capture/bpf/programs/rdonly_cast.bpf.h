// SPDX-License-Identifier: GPL-2.0-or-later
// Casts an address to a typed pointer. Programs can read its target without a helper.
#pragma once

#include "capture/bpf/programs/kernel_types.bpf.h"

#include <bpf/bpf_core_read.h>  // libbpf 1.5 declares bpf_rdonly_cast() here
#include <bpf/bpf_helpers.h>

#ifdef KMT_WITHOUT_KERNEL_BTF
#define bpf_rdonly_cast(pointer, type) ((void*)(pointer))  // never runs
#else
extern void* bpf_rdonly_cast(const void* pointer, __u32 type) __ksym __weak;  // since Linux 6.2
#endif
// true if the running kernel has bpf_rdonly_cast()
const volatile __u8 can_cast = 0;
