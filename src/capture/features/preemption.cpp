// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/preemption.hpp"

#include <algorithm>

#include <sys/utsname.h>

#include "base/file.hpp"
#include "base/text.hpp"

namespace kmt {

// kernel/sched/core.c and init/Makefile: what can be chosen at boot has "PREEMPT_DYNAMIC" in its version, and
// distributions let it begin as voluntary.
bool preempts_itself(std::string_view model, std::string_view arguments, std::string_view version) {
  if (!model.empty()) return model.find("(full)") != std::string_view::npos;
  const auto has = [](std::string_view text, std::string_view word) {
    const auto words = split(trim(text), ' ');
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (has(version, "PREEMPT_DYNAMIC")) return has(arguments, "preempt=full");
  return has(version, "PREEMPT") || has(version, "PREEMPT_RT");
}

bool kernel_preempts_itself() {
  utsname names{};
  ::uname(&names);
  return preempts_itself(try_read_file("/sys/kernel/debug/sched/preempt").value_or(""),
                         try_read_file("/proc/cmdline").value_or(""), names.version);
}

}  // namespace kmt
