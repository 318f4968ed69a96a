// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/live_kernel.hpp"

#include <ctime>

#include <sys/utsname.h>

#include "base/file.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "cli/record_messages.hpp"

namespace kmt {

LiveKernel::LiveKernel() : kallsyms_(try_read_file("/proc/kallsyms").value_or("")), symbols_(kallsyms_) {
  if (!has_addresses(kallsyms_))
    say("note: /proc/kallsyms shows no addresses, so call sites will have no names: as root, sysctl "
        "kernel.kptr_restrict=1\n");
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
