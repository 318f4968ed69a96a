// SPDX-License-Identifier: GPL-2.0-or-later
// Parses files of /proc that several parts of the program read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

struct ProcValue {
  std::uint64_t value = 0;
  bool in_bytes = false;  // true if the text has the unit kB; `value` is then converted to bytes
};
struct ProcLine : ProcValue {
  std::string_view name;
};

// Parses a line of meminfo, vmstat or PID/status, such as "Slab:   96564 kB" or "pgfault 17".
std::optional<ProcLine> parse_proc_line(std::string_view line);
std::optional<ProcValue> find_proc_value(std::string_view text, std::string_view name);

struct Mount {
  std::string place;
  std::string type;
  std::string options;  // "rw,relatime"
};
std::vector<Mount> parse_mounts(std::string_view text);
std::vector<Mount> own_mounts();

struct LoadedModule {
  std::string name;
  std::uint64_t bytes = 0;  // total size of the module's parts, which need not be adjacent since Linux 6.4
  std::uint64_t begin = 0;  // start address; 0 if hidden from this user
  bool is_loading = false;  // true while the module's initialisation function is running

  std::uint64_t end() const { return begin + bytes; }
  bool operator==(const LoadedModule&) const = default;
};
// Parses the text of /proc/modules.
std::vector<LoadedModule> parse_modules(std::string_view text);
std::vector<LoadedModule> loaded_modules();

}  // namespace kmt
