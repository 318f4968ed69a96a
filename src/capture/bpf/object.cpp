// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/object.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstring>

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

constexpr const char* kKernelBtf = "/sys/kernel/btf/vmlinux";
constexpr std::size_t kMostMessages = 4096;  // bytes: the end of what libbpf and the verifier said

std::string messages;

int keep_message(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  char* line = nullptr;
  const int length = ::vasprintf(&line, format, arguments);
  if (length < 0) return 0;
  messages.append(line, static_cast<std::size_t>(length));
  ::free(line);
  if (messages.size() > kMostMessages) messages.erase(0, messages.size() - kMostMessages);
  return 0;
}

// CAP_SYS_ADMIN, or CAP_BPF with CAP_PERFMON (Linux 5.8).
bool may_load() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return ::geteuid() == 0;
  const auto has = [&](unsigned capability) { return (data[capability / 32].effective >> capability % 32 & 1) != 0; };
  return has(CAP_SYS_ADMIN) || (has(CAP_BPF) && has(CAP_PERFMON));
}

}  // namespace

void require_bpf() {
  if (!may_load()) {
    Error error("Loading BPF programs is not permitted", ExitCode::unsupported);
    error.hint("Run it as root, or with CAP_BPF and CAP_PERFMON");
    throw error;
  }
  if (::access(kKernelBtf, R_OK) != 0) {
    Error error("This kernel does not describe its types (BTF), which BPF programs need", ExitCode::unsupported);
    error.at({kKernelBtf, {}, {}});
    error.hint(
        "It takes a kernel with CONFIG_DEBUG_INFO_BTF=y, as distributions build it since 2020; `kmemtrace record` "
        "needs neither BPF nor BTF");
    throw error;
  }
}

void throw_bpf_error(const std::string& action, int code) {
  const bool not_permitted = code == EPERM || code == EACCES;
  Error error(fmt::format("{}: {}", action, std::strerror(code)), ExitCode::unsupported);
  if (not_permitted && messages.find("RLIMIT_MEMLOCK") != std::string::npos)
    error.hint("This kernel counts BPF maps as locked memory: raise its limit, `ulimit -l unlimited`");
  else if (!messages.empty())
    error.hint(fmt::format("libbpf says: {}", printable(trim(messages))));
  throw error;
}

void keep_libbpf_messages() {
  messages.clear();
  libbpf_set_print(keep_message);
}

std::uint64_t missed_runs(const bpf_program* program) {
  bpf_prog_info info{};
  unsigned bytes = sizeof info;
  if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes) != 0)
    throw_bpf_error("Cannot read the state of a BPF program", errno);
  return info.recursion_misses;
}

std::uint64_t memory_of_maps(const bpf_object* object) {
  std::uint64_t bytes = 0;
  const bpf_map* map = nullptr;
  while ((map = bpf_object__next_map(object, map))) {
    const std::uint64_t entries = bpf_map__max_entries(map);
    if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF)
      bytes += entries;
    else
      bytes += entries * (std::uint64_t{bpf_map__key_size(map)} + bpf_map__value_size(map));
  }
  return bytes;
}

}  // namespace kmt
