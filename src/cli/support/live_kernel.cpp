// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/live_kernel.hpp"

#include <ctime>
#include <utility>

#include <sys/utsname.h>

#include "base/file.hpp"
#include "capture/features/kernel_symbols.hpp"
#include "cli/support/say.hpp"
#include "trace/code/kallsyms_text.hpp"

namespace kmt {

namespace {

constexpr const char* kKallsyms = "/proc/kallsyms";

}  // namespace

LiveKernel::LiveKernel()
    : kallsyms_(try_read_file(kKallsyms).value_or("")),
      modules_(loaded_modules()),
      symbols_(kallsyms_, modules_, running_module_directories()) {
  if (!has_addresses(kallsyms_)) say_lack_of_symbols();
}

bool LiveKernel::refresh() {
  std::vector<LoadedModule> modules = loaded_modules();
  if (modules == modules_) return false;
  modules_ = std::move(modules);
  kallsyms_ = try_read_file(kKallsyms).value_or("");
  symbols_ = Kallsyms(kallsyms_, modules_, running_module_directories());
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
