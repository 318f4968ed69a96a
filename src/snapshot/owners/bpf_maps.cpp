// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/owners/bpf_maps.hpp"

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confinement/privileges.hpp"
#include "base/file.hpp"
#include "base/proc_text.hpp"

namespace kmt {

namespace {

// The kernel refuses attributes whose unused bytes are not 0. Braces need not clear all bytes of a union.
bpf_attr cleared() {
  bpf_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  return attributes;
}

long bpf(bpf_cmd command, bpf_attr& attributes) { return ::syscall(SYS_bpf, command, &attributes, sizeof attributes); }

// Adds a line for the map, unless it no longer exists.
void add_map(std::uint32_t id, const HeldObjects& held, OwnerLines& lines) {
  bpf_attr attributes = cleared();
  attributes.map_id = id;
  const FileDescriptor map(static_cast<int>(bpf(BPF_MAP_GET_FD_BY_ID, attributes)));
  if (!map) return;
  bpf_map_info info{};
  attributes = cleared();
  attributes.info.bpf_fd = static_cast<std::uint32_t>(map.get());
  attributes.info.info_len = sizeof info;
  attributes.info.info = reinterpret_cast<std::uintptr_t>(&info);
  if (bpf(BPF_OBJ_GET_INFO_BY_FD, attributes) != 0) return;
  const std::string text = try_read_file(fmt::format("/proc/self/fdinfo/{}", map.get())).value_or("");
  const auto memory = find_proc_value(text, "memlock");
  if (!memory || memory->value == 0) return;
  const auto holder = held.bpf_maps.find(id);
  lines.add_held("bpf_map", holder != held.bpf_maps.end() ? holder->second : HolderProcess(),
                 {{"id", std::uint64_t{id}},
                  {"type", std::uint64_t{info.type}},
                  {"name", std::string(info.name, ::strnlen(info.name, sizeof info.name))},
                  {"memlock", memory->value}});
}

}  // namespace

void read_bpf_maps(const HeldObjects& held, OwnerLines& lines) {
  constexpr std::size_t kMostMaps = 50'000;
  bpf_attr attributes = cleared();
  for (std::size_t maps = 0;; ++maps) {
    if (lines.is_late() || maps >= kMostMaps)
      return lines.missing.push_back({"owners", fmt::format("only the first {} BPF maps were read", maps),
                                      "take the snapshot again when the machine is less busy"});
    if (bpf(BPF_MAP_GET_NEXT_ID, attributes) != 0) break;
    const std::uint32_t id = attributes.next_id;
    add_map(id, held, lines);
    attributes = cleared();
    attributes.start_id = id;
  }
  if (errno == EPERM)
    lines.missing.push_back(
        {"owners", "no permission to list BPF maps", fmt::format("{} (CAP_SYS_ADMIN)", advice_for_more_privileges())});
  else if (errno != ENOENT)
    lines.missing.push_back({"bpf_maps", fmt::format("cannot be listed: {}", std::generic_category().message(errno)),
                             "use a kernel (Linux 4.13 or later) with CONFIG_BPF_SYSCALL"});
}

}  // namespace kmt
