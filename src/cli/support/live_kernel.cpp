// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/live_kernel.hpp"

#include <ctime>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/features/kernel_symbols.hpp"
#include "cli/support/say.hpp"

namespace kmt {

namespace {

constexpr const char* kKallsyms = "/proc/kallsyms";

// /proc/modules without the numbers of users, which change all the time.
std::string loaded_modules() {
  const std::string text = try_read_file("/proc/modules").value_or("");
  std::string modules;
  for (const std::string_view line : split(text, '\n')) {
    std::vector<std::string_view> fields = split(line, ' ');
    if (fields.size() < 6) continue;
    fields[2] = "0";
    fields[3] = "-";
    modules += fmt::format("{}\n", fmt::join(fields, " "));
  }
  return modules;
}

}  // namespace

LiveKernel::LiveKernel()
    : kallsyms_(try_read_file(kKallsyms).value_or("")), modules_(loaded_modules()), symbols_(kallsyms_, modules_) {
  if (!has_addresses(kallsyms_)) say_lack_of_symbols();
}

bool LiveKernel::refresh() {
  std::string modules = loaded_modules();
  if (modules == modules_) return false;
  modules_ = std::move(modules);
  kallsyms_ = try_read_file(kKallsyms).value_or("");
  symbols_ = Kallsyms(kallsyms_, modules_);
  return true;
}

std::string LiveKernel::release() {
  utsname name{};
  return ::uname(&name) == 0 ? name.release : "unknown";
}

std::uint64_t own_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace kmt
