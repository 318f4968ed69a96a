// SPDX-License-Identifier: GPL-2.0-or-later
// Checks that BPF programs distinguish interrupts from tasks, at tracepoints whose context is known. Skipped if the
// user may not load BPF programs.
#include <chrono>
#include <string_view>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/bpf/context_constants.hpp"
#include "capture/bpf/object.hpp"
#include "capture/bpf/programs/context_run.skel.h"
#include "capture/bpf/programs/heap.h"
#include "capture/features/bpf_support.hpp"

namespace kmt {
namespace {

using Object =
    BpfSkeleton<context_run_bpf, context_run_bpf__create_skeleton, context_run_bpf__load, context_run_bpf__destroy>;

// Makes system calls. Some are interrupted, and some disable softirqs.
void work(int milliseconds) {
  using Clock = std::chrono::steady_clock;
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  for (const auto end = Clock::now() + std::chrono::milliseconds(milliseconds); Clock::now() < end;) {
    char byte = 0;
    ASSERT_EQ(::write(ends[0], &byte, 1), 1);
    ASSERT_EQ(::read(ends[1], &byte, 1), 1);
    ::close(::dup(ends[0]));
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(BpfContext, AgreesWithTheKernel) {
  if (const BpfSupport support = bpf_support(); !support.missing.empty()) GTEST_SKIP() << support.missing;
  Object object;
  const KernelTypes types;
  fill_context_constants(*object->rodata, context_constants(types));
  const auto has_tracepoint = [&types](const bpf_program* program) {
    return types.argument_names(bpf_program__name(program) + std::string_view("at_").size()).has_value();
  };
  bpf_program* program = nullptr;
  while ((program = bpf_object__next_program(object->obj, program)))
    bpf_program__set_autoload(program, has_tracepoint(program));
  object.load();
  while ((program = bpf_object__next_program(object->obj, program)))
    if (bpf_program__autoload(program)) object.attach(program);
  work(1000);
  ::usleep(100000);  // sleeps, so that idle tasks run too
  object.detach();
  for (const kmt_context context : {KMT_IN_TASK, KMT_IN_SOFTIRQ, KMT_IN_HARDIRQ}) {
    EXPECT_GT(object->bss->right[context], 10u) << context;
    EXPECT_EQ(object->bss->wrong[context], 0u) << context;
  }
}

}  // namespace
}  // namespace kmt
