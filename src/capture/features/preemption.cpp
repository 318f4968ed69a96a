// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/preemption.hpp"

#include <algorithm>

#include <sys/utsname.h>

#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

// Returns the preemption model. If the version contains "PREEMPT_DYNAMIC", the preemption model can be chosen at boot
// and later. Otherwise, the model is fixed when the kernel is built. Sources: kernel/sched/core.c and init/Makefile.
Preemption preemption_of(std::string_view model, std::string_view arguments, std::string_view version) {
  const auto known = [](bool in_kernel) { return in_kernel ? Preemption::in_kernel : Preemption::other; };
  const auto is = [&model](std::string_view name) { return model.find(name) != std::string_view::npos; };
  if (!model.empty()) return known(is("(full)") || is("(lazy)"));
  const auto has = [](std::string_view text, std::string_view word) {
    const auto words = split(trim(text), ' ');
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (!has(version, "PREEMPT_DYNAMIC")) return known(has(version, "PREEMPT") || has(version, "PREEMPT_RT"));
  if (has(arguments, "preempt=full") || has(arguments, "preempt=lazy")) return Preemption::in_kernel;
  for (const char* const asked : {"preempt=none", "preempt=voluntary"})
    if (has(arguments, asked)) return Preemption::other;
  return Preemption::unknown;
}

Preemption kernel_preemption() {
  utsname names{};
  ::uname(&names);
  return preemption_of(try_read_file("/sys/kernel/debug/sched/preempt").value_or(""),
                       try_read_file("/proc/cmdline").value_or(""), names.version);
}

}  // namespace kmt
