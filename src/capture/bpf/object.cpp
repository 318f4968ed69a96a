// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/object.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "capture/features/bpf_support.hpp"

namespace kmt {

namespace {

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

}  // namespace

void require_bpf() {
  const BpfSupport support = bpf_support();
  if (support.missing.empty()) return;
  Error error(fmt::format("Nothing can be counted inside the kernel: {}", support.missing), ExitCode::unsupported);
  error.hint(support.way_out);
  throw error;
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
