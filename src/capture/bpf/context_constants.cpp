// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/context_constants.hpp"

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"

namespace kmt {

namespace {

#if defined(__x86_64__) || defined(__i386__)
// Returns a symbol's value. Values of per-CPU symbols are offsets (until Linux 6.14) or addresses of the first CPU's
// copy. In both cases, the difference between two symbols is the same.
std::optional<std::uint64_t> symbol(std::string_view kallsyms, const char* name) {
  const std::size_t found = kallsyms.find(fmt::format(" {}\n", name));
  if (found == std::string_view::npos) return {};
  const std::size_t line = kallsyms.rfind('\n', found) + 1;  // if rfind() returns npos, npos + 1 is 0
  const auto value = parse_leading<std::uint64_t>(kallsyms.substr(line, found - line), 16);
  return value == 0u ? std::nullopt : value;
}

std::int64_t from_run_queue_to_count(const KernelTypes& types) {
  const char* const kQueue = "runqueues";
  // The run queue and the preempt count are per-CPU variables. In Linux 6.2 to 6.14, the preempt count is in the
  // per-CPU variable pcpu_hot, after a pointer to the task (arch/x86/include/asm/current.h). If the BTF lacks per-CPU
  // variables, as in Debian's 5.10, kallsyms is used.
  const bool is_in_hot = types.bytes_of_structure("pcpu_hot").has_value();
  const char* const of_count = is_in_hot ? "pcpu_hot" : "__preempt_count";
  const std::uint64_t inside = is_in_hot ? sizeof(void*) : 0;
  auto queue = types.offset_of_cpu_variable(kQueue);
  auto count = types.offset_of_cpu_variable(of_count);
  if (!queue || !count) {
    const std::string kallsyms = try_read_file("/proc/kallsyms").value_or("");
    queue = symbol(kallsyms, kQueue);
    count = symbol(kallsyms, of_count);
  }
  if (queue && count && types.has_member("cfs_rq", "rq")) return static_cast<std::int64_t>(*count + inside - *queue);
  throw Error(
      "BPF programs cannot distinguish interrupts from tasks: the place of the kernel's interrupt count is unknown",
      ExitCode::unsupported)
      .hint(
          "This requires CONFIG_FAIR_GROUP_SCHED=y and types (BTF) or symbols of per-CPU variables. Root can read "
          "these unless kernel.kptr_restrict is 2. `kmemtrace record` does not need them");
}
#endif

}  // namespace

ContextConstants context_constants(const KernelTypes& types) {
  ContextConstants constants;
  constants.can_cast = types.offers_function("bpf_rdonly_cast");
  // The bits of the hardirq count (include/linux/preempt.h). In kernels that also count disabled interrupts, these bits
  // are higher.
  constants.hardirq_mask = types.offset_of_cpu_variable("local_interrupt_disable_state") ? 0x0f000000 : 0x000f0000;
#if defined(__x86_64__) || defined(__i386__)
  constants.from_run_queue = from_run_queue_to_count(types);
#endif
  return constants;
}

}  // namespace kmt
