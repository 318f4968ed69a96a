// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/object.hpp"

#include <bit>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"
#include "capture/features/bpf_support.hpp"
#include "trace/kernel_release.hpp"

namespace kmt {

namespace {

// maximum number of bytes of messages of libbpf and the verifier to keep; the latest messages are kept
constexpr std::size_t kMostMessages = 4096;

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

// True if a seccomp filter restricts the process, as in most containers.
bool has_seccomp_filter() {
  return try_read_file("/proc/self/status").value_or("").find("\nSeccomp:\t2\n") != std::string::npos;
}

}  // namespace

void require_bpf() {
  const BpfSupport support = bpf_support();
  if (support.missing.empty()) return;
  throw Error(fmt::format("BPF programs cannot be used here: {}", support.missing), ExitCode::unsupported)
      .hint(support.way_out);
}

std::string bpf_error_text(int error) {
  constexpr int kNotSupported = 524;  // ENOTSUPP in include/linux/errno.h
  if (error < __LIBBPF_ERRNO__START) return std::strerror(error == kNotSupported ? EOPNOTSUPP : error);
  char text[128] = {};
  libbpf_strerror(error, text, sizeof text);
  return text;
}

void throw_bpf_error(const std::string& action, int code) {
  const bool not_permitted = code == EPERM || code == EACCES;
  Error error(fmt::format("{}: {}", action, bpf_error_text(code)), ExitCode::unsupported);
  if (code == EMFILE || code == ENFILE)
    error.hint("Allow more open files: ulimit -n");
  else if (code == EPERM && has_seccomp_filter())
    // libbpf would advise to raise the limit of locked memory, which has had no effect since Linux 5.11.
    error.hint(
        "This process has a seccomp filter, which may block bpf(2). In a container, use a runtime whose filter allows "
        "bpf(2) with CAP_BPF (Docker 23, containerd 1.7), or set the seccomp profile to unconfined. Before Linux 5.11, "
        "also raise the limit of locked memory");
  else if (not_permitted && messages.find("RLIMIT_MEMLOCK") != std::string::npos)
    error.hint("This kernel counts BPF maps as locked memory. Raise the limit: `ulimit -l unlimited`");
  else if (messages.find("failed to iterate BTF objects") != std::string::npos)
    // The programs call a kernel function that exists since Linux 6.2. On earlier kernels, libbpf searches for this
    // function in the BTF of all modules, which requires CAP_SYS_ADMIN.
    error.hint("Before Linux 6.2, this requires CAP_SYS_ADMIN as well");
  else if (try_read_file("/proc/sys/net/core/bpf_jit_enable").value_or("1").starts_with('0'))
    // On Linux 6.2 and later, the programs call a kernel function. The kernel allows that only in compiled programs
    // (JIT).
    error.hint("The kernel must compile BPF programs: sysctl net.core.bpf_jit_enable=1");
  else if (!messages.empty())
    error.hint(
        fmt::format("libbpf says: {}", printable(fmt::format("{}", fmt::join(split(trim(messages), '\n'), "; ")))));
  throw error;
}

void keep_libbpf_messages() {
  messages.clear();
  libbpf_set_print(keep_message);
}

std::uint64_t missed_runs(int program) {
  bpf_prog_info info{};
  unsigned bytes = sizeof info;
  if (bpf_obj_get_info_by_fd(program, &info, &bytes) != 0)
    throw_bpf_error("Cannot read the state of a BPF program", errno);
  return info.recursion_misses;
}

std::uint64_t missed_runs(const bpf_program* program) { return missed_runs(bpf_program__fd(program)); }

namespace {

bool is_older_than(KernelVersion version) {
  utsname name{};
  return ::uname(&name) == 0 && version_of(name.release).value_or(version) < version;
}

}  // namespace

bool allocate_before_where_needed(bpf_map* map) {
  if (!is_older_than({6, 1})) return false;
  bpf_map__set_map_flags(map, bpf_map__map_flags(map) & ~static_cast<unsigned>(BPF_F_NO_PREALLOC));
  return true;
}

namespace {

// Returns the memory of a map in bytes, as the kernel reports it. Empty before Linux 6.4, because the reported value is
// inexact there.
std::optional<std::uint64_t> memlock_of(int map) {
  if (is_older_than({6, 4})) return {};
  const auto text = try_read_file(fmt::format("/proc/self/fdinfo/{}", map));
  if (!text) return {};
  const auto memory = find_proc_value(*text, "memlock");
  return memory && memory->value > 0 ? std::optional(memory->value) : std::nullopt;
}

// Estimates the memory of a map in bytes. A hash table consists of buckets and of all its elements, which have headers
// (struct bucket and struct htab_elem in kernel/bpf/hashtab.c).
std::uint64_t estimated_memory(const bpf_map* map) {
  constexpr std::uint64_t kElementHead = 48;
  constexpr std::uint64_t kBucket = 16;
  const std::uint64_t entries = bpf_map__max_entries(map);
  if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF) return entries;
  const std::uint64_t each = std::uint64_t{bpf_map__key_size(map)} + bpf_map__value_size(map);
  if (bpf_map__type(map) != BPF_MAP_TYPE_HASH) return entries * each;
  return entries * (kElementHead + each) + std::bit_ceil(entries) * kBucket;
}

}  // namespace

std::uint64_t memory_of_maps(const bpf_object* object) {
  std::uint64_t bytes = 0;
  const bpf_map* map = nullptr;
  while ((map = bpf_object__next_map(object, map)))
    bytes += memlock_of(bpf_map__fd(map)).value_or(estimated_memory(map));
  return bytes;
}

}  // namespace kmt
