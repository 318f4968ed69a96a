// SPDX-License-Identifier: GPL-2.0-or-later
// Finds and reads the files /sys/devices/system/node/nodeN/meminfo. A snapshot only contains them if the machine has
// more than one node, because the file of a single node repeats /proc/meminfo.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

struct NodeFile {
  std::string root;  // "" or a path that ends with "/", such as "sosreport-host/"
  unsigned node = 0;
};
// Parses a path such as "sosreport-host/sys/devices/system/node/node0/meminfo". Empty for other paths.
std::optional<NodeFile> node_file_of(std::string_view path);

// Returns the paths of the files below `root`, sorted by node. `root` is "" for the running system.
std::vector<std::string> node_files_in(const std::string& root);

// Joins the texts of all nodes to the text `node_meminfo` of a snapshot. Empty if there are fewer than two.
std::string node_meminfo_of(const std::vector<std::string>& texts);

// Parses lines "Node 0 MemTotal:       16300336 kB".
void parse_node_meminfo(std::string_view text, KernelMemory& memory);

}  // namespace kmt
