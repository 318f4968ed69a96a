// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/bpf_support.hpp"

#include <cstdint>
#include <string_view>

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/confinement/privileges.hpp"
#include "capture/features/types_file.hpp"
#include "trace/kernel_release.hpp"

namespace kmt {

namespace {

constexpr KernelVersion kFirstExact{6, 1};
constexpr const char* kKernelBtf = "/sys/kernel/btf/vmlinux";

// True if the process has CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON (since Linux 5.8).
bool may_load() { return has_capability(CAP_SYS_ADMIN) || (has_capability(CAP_BPF) && has_capability(CAP_PERFMON)); }

// True for a `uname -m` such as "x86_64", "aarch64" or "s390x", on which 32-bit programs may run.
bool is_64_bit(std::string_view machine) { return machine.find("64") != machine.npos || machine == "s390x"; }

}  // namespace

BpfSupport bpf_support() {
  if (is_in_user_namespace())
    return {"loading BPF programs is not permitted in a user namespace", "run kmemtrace on the host"};
  if (!may_load())
    return {"loading BPF programs is not permitted",
            ::geteuid() == 0
                ? "root lacks CAP_BPF and CAP_PERFMON here: give them to the container, or run kmemtrace on the host"
                : "run kmemtrace as root, or with CAP_BPF and CAP_PERFMON"};
  if (types_file().empty() && ::access(kKernelBtf, R_OK) != 0)
    return {fmt::format("this kernel does not describe its types: no {}", kKernelBtf),
            "this requires a kernel with CONFIG_DEBUG_INFO_BTF=y, which distributions enable since 2020, or a file "
            "with this kernel's types (--btf FILE); `kmemtrace record` needs neither BPF nor BTF"};
  utsname name{};
  const bool has_name = ::uname(&name) == 0;
  // The programs share tables with the kernel, whose layout depends on the size of a pointer.
  if (has_name && sizeof(long) == 4 && is_64_bit(name.machine))
    return {"a 32-bit program cannot use the tables of a 64-bit kernel",
            fmt::format("use kmemtrace for {}", name.machine)};
  // Before kFirstExact, a program on a raw tracepoint may interrupt itself and miscount (kernel/trace/bpf_trace.c).
  if (has_name && version_of(name.release).value_or(kFirstExact) < kFirstExact)
    return {{},
            {},
            "before Linux 6.1, counts are not exact, because an event may interrupt the counting of an event of the "
            "same kind"};
  return {};
}

}  // namespace kmt
