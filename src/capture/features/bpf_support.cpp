// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/bpf_support.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kmt {

namespace {

constexpr const char* kKernelBtf = "/sys/kernel/btf/vmlinux";

// CAP_SYS_ADMIN, or CAP_BPF with CAP_PERFMON (Linux 5.8).
bool may_load() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return ::geteuid() == 0;
  const auto has = [&](unsigned capability) { return (data[capability / 32].effective >> capability % 32 & 1) != 0; };
  return has(CAP_SYS_ADMIN) || (has(CAP_BPF) && has(CAP_PERFMON));
}

}  // namespace

BpfSupport bpf_support() {
  if (!may_load()) return {"loading BPF programs is not permitted", "run it as root, or with CAP_BPF and CAP_PERFMON"};
  if (::access(kKernelBtf, R_OK) != 0)
    return {fmt::format("this kernel does not describe its types: no {}", kKernelBtf),
            "it takes a kernel with CONFIG_DEBUG_INFO_BTF=y, as distributions build it since 2020; `kmemtrace record` "
            "needs neither BPF nor BTF"};
  return {};
}

}  // namespace kmt
