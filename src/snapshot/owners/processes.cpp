// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/owners/processes.hpp"

#include <cerrno>
#include <compare>
#include <optional>
#include <set>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confinement/privileges.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostDescriptors = 500'000;
constexpr std::size_t kMostNamespaces = 64;

// Returns the number in a name such as "pipe:[1234]".
std::optional<std::uint64_t> inode_of(std::string_view link, std::string_view before) {
  if (!link.starts_with(before) || !link.ends_with(']')) return std::nullopt;
  return whole_number(link.substr(before.size(), link.size() - before.size() - 1));
}

// Returns the value of a line such as "ino:\t1234", which starts with `name`.
std::string_view value_of(std::string_view text, std::string_view name) {
  std::string_view found;
  each_line(text, [&](std::string_view line) {
    if (found.empty() && line.starts_with(name)) found = trim(line.substr(name.size()));
  });
  return found;
}

class ProcessReader {
 public:
  explicit ProcessReader(OwnerLines& lines) : lines_(lines) {}

  HeldObjects read() {
    held_.namespaces.push_back(0);
    add_namespace("/proc/self");
    for (const std::string& name : names_in("/proc")) {
      const auto pid = whole_number(name);
      if (!pid) continue;
      if (lines_.is_late() || descriptors_ >= kMostDescriptors) {
        ++skipped_;
        continue;
      }
      read_process("/proc/" + name, *pid);
    }
    note_limits();
    return std::move(held_);
  }

 private:
  void read_process(const std::string& path, std::uint64_t pid) {
    DIR* const folder = ::opendir((path + "/fd").c_str());
    if (folder == nullptr) {
      if (errno == EACCES || errno == EPERM) ++refused_;
      return;
    }
    if (add_namespace(path)) {
      if (held_.namespaces.size() < kMostNamespaces)
        held_.namespaces.push_back(pid);
      else
        ++namespaces_left_out_;
    }
    holder_ = {pid, std::string(trim(try_read_file(path + "/comm").value_or("?")))};
    path_ = path;
    has_perf_ = false;
    while (const dirent* const entry = ::readdir(folder)) {
      char link[256];
      const ssize_t length = ::readlinkat(::dirfd(folder), entry->d_name, link, sizeof link);
      if (length <= 0) continue;
      ++descriptors_;
      take(::dirfd(folder), entry->d_name, {link, static_cast<std::size_t>(length)});
    }
    ::closedir(folder);
    if (!has_perf_) return;
    if (const std::uint64_t bytes = perf_bytes(try_read_file(path + "/maps").value_or("")); bytes != 0)
      lines_.add_held("perf", holder_, {{"mapped", bytes}});
  }

  // Returns true if the namespace is new.
  bool add_namespace(const std::string& path) {
    struct stat status {};
    return ::stat((path + "/ns/net").c_str(), &status) == 0 && known_namespaces_.insert(status.st_ino).second;
  }

  void take(int folder, const char* descriptor, std::string_view link) {
    if (const auto inode = inode_of(link, "socket:[")) {
      held_.sockets.try_emplace(*inode, holder_);
    } else if (const auto pipe = inode_of(link, "pipe:[")) {
      if (pipes_.insert(*pipe).second) add_pipe(descriptor, *pipe);
    } else if (link == "anon_inode:[perf_event]") {
      has_perf_ = true;
    } else if (link == "anon_inode:[io_uring]") {
      const std::string text = fdinfo(descriptor);
      // Before Linux 5.12, all rings have the same inode, so a ring of several processes counts for each of them.
      const std::string key = fmt::format("{} {}", value_of(text, "ino:"), value_of(text, "ino:").empty() ? path_ : "");
      if (rings_.insert(key).second) add_io_uring(text, holder_, lines_);
    } else if (link == "anon_inode:bpf-map") {
      const std::string text = fdinfo(descriptor);
      if (const auto id = whole_number(value_of(text, "map_id:"))) held_.bpf_maps.try_emplace(*id, holder_);
    } else if (link.starts_with("/dev/dri/")) {
      const std::string text = fdinfo(descriptor);
      if (const std::string client = gpu_client(text); !client.empty() && gpu_clients_.insert(client).second)
        add_gpu_client(text, holder_, lines_);
    } else if (link.starts_with('/')) {
      if (const auto fifo = named_pipe(folder, descriptor); fifo && named_pipes_.insert(*fifo).second)
        add_pipe(descriptor, fifo->inode);
    }
  }

  struct FileId {
    std::uint32_t major, minor;  // of the device
    std::uint64_t inode;
    auto operator<=>(const FileId&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  // Returns the ID of the named pipe that a descriptor refers to. Empty if it refers to another file.
  static std::optional<FileId> named_pipe(int folder, const char* descriptor) {
    struct statx status {};
    // The type is known without asking the server of a network file system, which may not answer.
    if (::statx(folder, descriptor, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &status) != 0 ||
        !S_ISFIFO(status.stx_mode))
      return std::nullopt;
    return FileId{status.stx_dev_major, status.stx_dev_minor, status.stx_ino};
  }

  std::string fdinfo(const char* descriptor) const {
    return try_read_file(fmt::format("{}/fdinfo/{}", path_, descriptor)).value_or("");
  }

  // Asks through a copy of the descriptor. Opening the pipe instead would count as another reader.
  void add_pipe(const char* descriptor, std::uint64_t inode) {
    constexpr long kPidfdGetfd = 438;
    constexpr long kPidfdOpen = 434;
    const auto number = whole_number(descriptor);
    if (!number) return;
    const FileDescriptor process(static_cast<int>(::syscall(kPidfdOpen, static_cast<pid_t>(holder_.pid), 0)));
    const FileDescriptor pipe(
        process ? static_cast<int>(::syscall(kPidfdGetfd, process.get(), static_cast<int>(*number), 0)) : -1);
    int bytes = 0;
    if (!pipe || ::ioctl(pipe.get(), FIONREAD, &bytes) != 0) {
      if (errno != ESRCH && errno != EBADF) pipe_error_ = errno;
      return;
    }
    const int capacity = ::fcntl(pipe.get(), F_GETPIPE_SZ);
    if (bytes > 0)
      lines_.add_held("pipe", holder_,
                      {{"ino", inode},
                       {"bytes", static_cast<std::uint64_t>(bytes)},
                       {"capacity", static_cast<std::uint64_t>(capacity > 0 ? capacity : 0)}});
  }

  void note_limits() {
    if (refused_ > 0)
      lines_.missing.push_back({"owners",
                                fmt::format("no permission to read the descriptors of {} processes", refused_),
                                advice_for_more_privileges()});
    if (skipped_ > 0)
      lines_.missing.push_back({"owners", fmt::format("{} processes were not read: the limit was reached", skipped_),
                                "take the snapshot again when the machine is less busy"});
    if (namespaces_left_out_ > 0)
      lines_.missing.push_back({"owners",
                                fmt::format("the sockets of {} network namespaces were not read: the limit was reached",
                                            namespaces_left_out_),
                                ""});
    if (pipe_error_ != 0 && refused_ == 0)
      lines_.missing.push_back({"owners", "this kernel does not permit reading how full pipes are",
                                "use Linux 5.6 or later, and run as root with CAP_SYS_PTRACE"});
  }

  OwnerLines& lines_;
  HeldObjects held_;
  std::string path_;  // of the current process: "/proc/12"
  HolderProcess holder_;
  bool has_perf_ = false;  // the current process has descriptors of perf events
  std::set<ino_t> known_namespaces_;
  std::set<std::uint64_t> pipes_;
  std::set<FileId> named_pipes_;
  std::set<std::string> rings_;
  std::set<std::string> gpu_clients_;
  std::size_t descriptors_ = 0;
  std::size_t refused_ = 0;
  std::size_t skipped_ = 0;
  std::size_t namespaces_left_out_ = 0;
  int pipe_error_ = 0;
};

// Parses an amount such as "12 KiB". Amounts without a unit are in bytes.
std::optional<std::uint64_t> amount_in(std::string_view text) {
  Words words(text);
  const auto number = whole_number(words.next());
  const std::string_view unit = words.next();
  const std::uint64_t scale = unit == "KiB" ? 1 << 10 : unit == "MiB" ? 1 << 20 : unit.empty() ? 1 : 0;
  if (!number || scale == 0 || *number > kMostNumber / scale) return std::nullopt;
  return *number * scale;
}

}  // namespace

HeldObjects read_processes(OwnerLines& lines) { return ProcessReader(lines).read(); }

std::uint64_t perf_bytes(std::string_view maps) {
  std::uint64_t bytes = 0;
  each_line(maps, [&](std::string_view line) {
    if (!line.ends_with(" anon_inode:[perf_event]")) return;
    const auto begin = take_number<std::uint64_t>(line, 16);
    if (!begin || !line.starts_with('-')) return;
    line.remove_prefix(1);
    const auto end = take_number<std::uint64_t>(line, 16);
    if (end && *end > *begin && *end - *begin <= kMostNumber - bytes) bytes += *end - *begin;
  });
  return bytes;
}

void add_io_uring(std::string_view fdinfo, const HolderProcess& holder, OwnerLines& lines) {
  constexpr std::uint64_t kMostEntries = 1 << 24;
  const auto submission = parse_hexadecimal(value_of(fdinfo, "SqMask:"));
  const auto completion = parse_hexadecimal(value_of(fdinfo, "CqMask:"));
  if (!submission || !completion || *submission > kMostEntries || *completion > kMostEntries) return;
  std::uint64_t buffers = 0;
  bool is_buffer = false;
  each_line(fdinfo, [&](std::string_view line) {
    if (!line.starts_with(' ')) is_buffer = line.starts_with("UserBufs:");
    if (!is_buffer || !line.starts_with(' ')) return;
    const auto size = whole_number(line.substr(line.rfind('/') + 1));  // "    0: 0x7f0000000000/4096"
    if (size && *size <= kMostNumber - buffers) buffers += *size;
  });
  lines.add_held("io_uring", holder,
                 {{"sq_entries", *submission + 1}, {"cq_entries", *completion + 1}, {"buffers", buffers}});
}

std::string gpu_client(std::string_view fdinfo) {
  const std::string_view client = value_of(fdinfo, "drm-client-id:");
  if (client.empty()) return {};
  return fmt::format("{} {} {}", value_of(fdinfo, "drm-driver:"), value_of(fdinfo, "drm-pdev:"), client);
}

void add_gpu_client(std::string_view fdinfo, const HolderProcess& holder, OwnerLines& lines) {
  // drm-memory is the older name of drm-resident. drm-total includes buffers without memory.
  constexpr std::string_view kKeys[] = {"drm-resident-", "drm-memory-", "drm-total-"};
  std::set<std::string_view> known;
  for (const std::string_view key : kKeys)
    each_line(fdinfo, [&](std::string_view line) {
      const std::size_t colon = line.find(':');
      if (!line.starts_with(key) || colon == std::string_view::npos) return;
      const std::string_view region = line.substr(key.size(), colon - key.size());
      const auto bytes = amount_in(trim(line.substr(colon + 1)));
      if (!bytes || !known.insert(region).second || *bytes == 0) return;
      lines.add_held("gpu", holder,
                     {{"driver", std::string(value_of(fdinfo, "drm-driver:"))},
                      {"device", std::string(value_of(fdinfo, "drm-pdev:"))},
                      {"region", std::string(region)},
                      {"bytes", *bytes}});
    });
}

}  // namespace kmt
