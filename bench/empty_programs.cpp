// SPDX-License-Identifier: GPL-2.0-or-later
// Attaches an empty BPF program to each of the given raw tracepoints until this program is ended. The result is the
// minimum cost of any BPF program.
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <unistd.h>

int main(int count, char** names) {
  std::array<bpf_insn, 2> nothing{};
  nothing[0].code = BPF_ALU64 | BPF_MOV | BPF_K;  // r0 = 0, the result of the program
  nothing[1].code = BPF_JMP | BPF_EXIT;
  for (int i = 1; i < count; ++i) {
    const int program =
        bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "empty", "GPL", nothing.data(), nothing.size(), nullptr);
    if (program < 0 || bpf_raw_tracepoint_open(names[i], program) < 0) {
      std::fprintf(stderr, "%s: %s\n", names[i], std::strerror(errno));
      return 1;
    }
  }
  ::pause();
}
