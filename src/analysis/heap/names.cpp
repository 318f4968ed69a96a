// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/heap/names.hpp"

#include <fmt/format.h>

#include "base/units.hpp"
#include "trace/code/code_owner.hpp"

namespace kmt {

std::string task_text(AllocationContext context, std::string_view comm) {
  switch (context) {
    case AllocationContext::hardirq: return "[hardirq]";
    case AllocationContext::softirq: return "[softirq]";
    case AllocationContext::task: break;
  }
  return std::string(comm);
}

std::string process_text(AllocationContext context, std::string_view comm, std::uint32_t process) {
  const std::string task = task_text(context, comm);
  return context == AllocationContext::task ? fmt::format("{}-{}", task, process) : task;
}

std::string cache_text(std::string_view cache, bool pages, std::uint64_t bytes) {
  if (pages) return fmt::format("pages of {}", humane_bytes(bytes));
  return cache.empty() ? fmt::format("kmalloc, {}", humane_bytes(bytes)) : std::string(cache);
}

std::string module_name(std::string_view symbol) {
  const std::string_view module = module_of(symbol);
  return std::string(module.empty() ? kUnknownCode : module);
}

}  // namespace kmt
