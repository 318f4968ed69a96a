// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/code_owner.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/code/directories_text.hpp"
#include "trace/code/function_name.hpp"

namespace kmt {

namespace {

constexpr std::string_view kBuiltIn = "[kernel]";
constexpr std::string_view kOutOfTree = "[out of tree]";
constexpr std::string_view kMark = " built-in";  // end of a note's lines of built-in modules

constexpr std::array kSubsystems = {Subsystem{"arch", "architecture"},
                                    Subsystem{"arch/x86/kvm", "KVM"},
                                    Subsystem{"block", "block devices"},
                                    Subsystem{"crypto", "crypto"},
                                    Subsystem{"drivers", "other drivers"},
                                    Subsystem{"drivers/acpi", "ACPI"},
                                    Subsystem{"drivers/ata", "block devices"},
                                    Subsystem{"drivers/base", "device model"},
                                    Subsystem{"drivers/block", "block devices"},
                                    Subsystem{"drivers/char", "character devices"},
                                    Subsystem{"drivers/crypto", "crypto"},
                                    Subsystem{"drivers/gpu", "graphics"},
                                    Subsystem{"drivers/hid", "input"},
                                    Subsystem{"drivers/infiniband", "RDMA"},
                                    Subsystem{"drivers/input", "input"},
                                    Subsystem{"drivers/md", "block devices"},
                                    Subsystem{"drivers/media", "media"},
                                    Subsystem{"drivers/mmc", "block devices"},
                                    Subsystem{"drivers/net", "network drivers"},
                                    Subsystem{"drivers/nvme", "block devices"},
                                    Subsystem{"drivers/pci", "PCI"},
                                    Subsystem{"drivers/scsi", "block devices"},
                                    Subsystem{"drivers/staging", "staging drivers"},
                                    Subsystem{"drivers/tty", "terminals"},
                                    Subsystem{"drivers/usb", "USB"},
                                    Subsystem{"drivers/vhost", "virtualisation"},
                                    Subsystem{"drivers/video", "graphics"},
                                    Subsystem{"drivers/virtio", "virtualisation"},
                                    Subsystem{"drivers/xen", "virtualisation"},
                                    Subsystem{"fs", "file systems"},
                                    Subsystem{"init", "core"},
                                    Subsystem{"io_uring", "io_uring"},
                                    Subsystem{"ipc", "IPC"},
                                    Subsystem{"kernel", "core"},
                                    Subsystem{"kernel/bpf", "BPF"},
                                    Subsystem{"kernel/cgroup", "cgroups"},
                                    Subsystem{"kernel/events", "perf events"},
                                    Subsystem{"kernel/irq", "interrupts"},
                                    Subsystem{"kernel/module", "modules"},
                                    Subsystem{"kernel/rcu", "RCU"},
                                    Subsystem{"kernel/sched", "scheduler"},
                                    Subsystem{"kernel/time", "timers"},
                                    Subsystem{"kernel/trace", "tracing"},
                                    Subsystem{"lib", "libraries"},
                                    Subsystem{"mm", "memory management"},
                                    Subsystem{"net", "networking"},
                                    Subsystem{"net/bluetooth", "Bluetooth"},
                                    Subsystem{"net/bpf", "BPF"},
                                    Subsystem{"net/mac80211", "Wi-Fi"},
                                    Subsystem{"net/netfilter", "netfilter"},
                                    Subsystem{"net/wireless", "Wi-Fi"},
                                    Subsystem{"rust", "Rust"},
                                    Subsystem{"samples", "samples"},
                                    Subsystem{"security", "security"},
                                    Subsystem{"sound", "sound"},
                                    Subsystem{"virt", "virtualisation"}};

using DirectoryTable = std::unordered_map<std::string_view, std::string_view>;

// Reads the table of directories. It has lines "DIRECTORY: NAME...", and lines that begin with a blank for further
// names.
DirectoryTable read_table() {
  DirectoryTable table;
  std::string_view directory;
  for (std::string_view line : split(kDirectoriesText, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != ' ') {
      directory = line.substr(0, line.find(':'));
      line.remove_prefix(directory.size() + 1);
    }
    for (const std::string_view name : split(line, ' '))
      if (!name.empty()) table.emplace(name, directory);
  }
  return table;
}

// Returns the name of a function as in the table, without the prefixes of system calls, which depend on the
// architecture: "__x64_sys_mmap", "__do_sys_mmap".
std::string name_in_table(std::string_view symbol) {
  std::string_view name = function_of(symbol);
  if (const std::size_t at = name.find("_sys_"); name.starts_with("__") && at != std::string_view::npos)
    name.remove_prefix(at + 1);
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  return std::string(name);
}

constexpr std::size_t kLongestName = 512;  // bytes; KSYM_NAME_LEN; a damaged file may have longer names

std::string_view guess_directory(std::string_view symbol) {
  static const DirectoryTable kTable = read_table();
  std::string name = name_in_table(symbol);
  if (name.size() > kLongestName) return {};
  if (const auto whole = kTable.find(name); whole != kTable.end()) return whole->second;
  for (std::size_t end = name.rfind('_'); end != std::string::npos && end > 0; end = name.rfind('_', end - 1)) {
    name.resize(end + 1);
    if (const auto prefix = kTable.find(name + '*'); prefix != kTable.end()) return prefix->second;
  }
  return {};
}

// True for header files. Functions in header files are inlined everywhere, so the header's directory does not show the
// caller's subsystem.
bool is_header(std::string_view file) { return file.starts_with("include/") || file.find("/include/") != file.npos; }

std::string_view directory_of_file(std::string_view file) {
  return file.starts_with('/') || file.find('/') == std::string_view::npos ? std::string_view()
                                                                           : file.substr(0, file.rfind('/'));
}

// Returns the name of a module with underscores, as the kernel shows it, for "kernel/fs/ext4/ext4.ko.xz".
std::string module_in_path(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  std::string name(file.substr(0, file.find(".ko")));
  std::ranges::replace(name, '-', '_');
  return name;
}

// Returns the source directory of an installed module. Some distributions also install modules of other projects below
// "kernel/", such as "kernel/zfs/zfs.ko".
std::string directory_of_module(std::string_view path) {
  constexpr std::string_view kTop = "kernel/";
  if (path.starts_with(kTop)) {
    std::string directory(path.substr(kTop.size(), std::max(path.rfind('/'), kTop.size()) - kTop.size()));
    if (!subsystem_of({directory, false}).name.empty()) return directory;
  }
  return std::string(kOutOfTree);
}

}  // namespace

std::string_view module_of(std::string_view symbol) {
  if (symbol.empty() || symbol.starts_with("0x")) return {};
  const std::size_t open = symbol.rfind(" [");
  if (open == std::string_view::npos || !symbol.ends_with(']')) return kBuiltIn;
  const std::string_view name = symbol.substr(open + 2, symbol.size() - open - 3);
  const bool is_module = name != "bpf" && !name.starts_with("__builtin__");
  return is_module ? name : symbol.substr(open + 1);
}

SourceDirectories::SourceDirectories(std::string_view note) {
  for (const std::string_view line : split(note, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    std::string_view directory = line.substr(blank + 1);
    const bool is_built_in = directory.ends_with(kMark);
    if (is_built_in) directory.remove_suffix(kMark.size());
    (is_built_in ? of_built_in_modules_ : of_modules_).emplace(line.substr(0, blank), directory);
  }
}

// Functions of a module usually have the module's name as prefix, such as "virtio_net_open".
std::string SourceDirectories::guess(std::string_view symbol) const {
  if (const std::string_view directory = guess_directory(symbol); !directory.empty()) return std::string(directory);
  const std::string name = name_in_table(symbol);
  if (name.size() > kLongestName) return {};
  for (std::size_t end = name.rfind('_'); end != std::string::npos && end > 0; end = name.rfind('_', end - 1))
    if (const auto found = of_built_in_modules_.find(std::string_view(name).substr(0, end));
        found != of_built_in_modules_.end())
      return found->second;
  return {};
}

CodeOwner SourceDirectories::of(std::string_view symbol, std::span<const SourceFrame> source) const {
  const std::string_view module = module_of(symbol);
  const auto known = of_modules_.find(module);
  // The debug info of an out-of-tree module may contain paths relative to the module's own source tree.
  if (known != of_modules_.end() && known->second == kOutOfTree) return {known->second, false};
  for (const SourceFrame& frame : source)
    if (!frame.hides_caller && !is_header(frame.file))
      if (const std::string_view directory = directory_of_file(frame.file); !directory.empty())
        return {std::string(directory), false};
  if (module.empty()) return {};
  if (module.front() == '[' && module != kBuiltIn) return {std::string(module), false};
  if (known != of_modules_.end()) return {known->second, false};
  std::string directory = guess(symbol);
  const bool is_guess = !directory.empty();
  return {std::move(directory), is_guess};
}

std::span<const Subsystem> subsystems() { return kSubsystems; }

CodeOwner subsystem_of(const CodeOwner& directory) {
  if (directory.name.starts_with('[')) return directory;
  const Subsystem* best = nullptr;
  for (const Subsystem& subsystem : kSubsystems) {
    const std::string_view top = subsystem.directory;
    const bool contains =
        directory.name == top || (directory.name.starts_with(top) && directory.name[top.size()] == '/');
    if (contains && (best == nullptr || top.size() > best->directory.size())) best = &subsystem;
  }
  if (best == nullptr) return {};
  return {std::string(best->name), directory.is_guess};
}

std::string module_directories(std::string_view dependencies, std::string_view loaded, std::string_view built_in) {
  std::set<std::string_view> names;
  for (const std::string_view line : split(loaded, '\n')) names.insert(line.substr(0, line.find(' ')));
  std::string lines;
  for (const std::string_view line : split(dependencies, '\n')) {
    const std::string_view path = line.substr(0, line.find(':'));
    const std::string name = module_in_path(path);
    if (name.empty() || !names.contains(name)) continue;
    lines += fmt::format("{} {}\n", name, directory_of_module(path));
  }
  for (const std::string_view path : split(built_in, '\n')) {
    const std::string name = module_in_path(path);
    const std::string directory = name.empty() ? std::string() : directory_of_module(path);
    if (!directory.empty() && directory != kOutOfTree && guess_directory(name + "_function") != directory)
      lines += fmt::format("{} {}{}\n", name, directory, kMark);
  }
  return lines;
}

}  // namespace kmt
