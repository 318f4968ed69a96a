// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/selection.hpp"

#include <cerrno>
#include <cstdint>

#include <fcntl.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "capture/bpf/object.hpp"

namespace kmt {

void fill_selection(const BpfSelection& selection, bpf_map* processes, bpf_map* cgroup) {
  for (const pid_t process : selection.processes) {
    const auto key = static_cast<std::uint32_t>(process);
    const std::uint64_t start = 0;
    if (bpf_map__update_elem(processes, &key, sizeof key, &start, sizeof start, BPF_ANY) != 0)
      throw_bpf_error("Cannot select a process", errno);
  }
  if (selection.cgroup.empty()) return;
  const FileDescriptor folder = open_file(selection.cgroup, O_RDONLY | O_DIRECTORY);
  const std::uint32_t key = 0;
  const int value = folder.get();
  if (bpf_map__update_elem(cgroup, &key, sizeof key, &value, sizeof value, BPF_ANY) == 0) return;
  throw Error("This is not a version 2 cgroup; only these can be selected", ExitCode::unsupported)
      .at({selection.cgroup, {}, {}})
      .hint("Choose a cgroup below the mount point of cgroup2, or select processes with -p");
}

}  // namespace kmt
