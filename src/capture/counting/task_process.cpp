// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/counting/task_process.hpp"

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"

namespace kmt {

TaskProcess TaskProcesses::of(pid_t task, std::string_view comm) {
  if (const auto found = known_.find(task); found != known_.end()) return found->second;
  TaskProcess process{static_cast<std::uint32_t>(task), std::string(comm)};
  const std::string status = try_read_file(fmt::format("/proc/{}/status", task)).value_or("");
  if (const auto group = find_proc_value(status, "Tgid")) {
    process.id = static_cast<std::uint32_t>(group->value);
    if (const auto name = try_read_file(fmt::format("/proc/{}/comm", process.id))) process.comm = trim(*name);
  }
  return known_[task] = process;
}

std::string unnamed_cache(std::uint64_t object_bytes) { return fmt::format("[unnamed cache, {} B]", object_bytes); }

}  // namespace kmt
