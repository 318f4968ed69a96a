// SPDX-License-Identifier: GPL-2.0-or-later
// Copies bytes of the kernel's memory into a map. User space sets the address and the size, and runs the program with
// BPF_PROG_TEST_RUN. The program is attached to nothing.
#include "capture/bpf/programs/memory.h"
#include "capture/bpf/programs/kernel_types.bpf.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

__u64 address = 0;
__u32 size = 0;
__s32 error = 0;
unsigned char memory[KMT_MEMORY_BYTES] = {};

SEC("raw_tp")
int read_memory(void) {
  u32 bytes = size;
  if (bytes > KMT_MEMORY_BYTES) bytes = KMT_MEMORY_BYTES;
  error = bpf_probe_read_kernel(memory, bytes, (const void*)address);
  return 0;
}
