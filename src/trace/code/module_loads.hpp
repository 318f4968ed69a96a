// SPDX-License-Identifier: GPL-2.0-or-later
// Modules that were loaded or removed during a recording: the note "module_changes" in docs/formats/kmt.md.
//
// Several modules may be loaded at the same address one after the other. Each module that is loaded during the
// recording gets stand-in addresses. No kernel uses these addresses, so two modules never share an address.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/clock_scale.hpp"

namespace kmt {

struct ModuleChange {
  bool loaded = false;           // false: removed
  std::uint64_t noticed_ns = 0;  // time on the trace's clock at which the recorder noticed the change
  std::uint64_t before_ns = 0;   // time of the recorder's last check before it noticed the change
  std::string name;
  // The members below are only set for loads.
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint64_t init = 0;  // address of the initialisation code, which runs only once; 0: unknown
  std::string build_id;    // in hex; "-": unknown
  std::string symbols;     // symbols of the module, in the format of /proc/kallsyms
};

// Parses the note "module_changes". Skips invalid lines, and all changes after the 4096th.
std::vector<ModuleChange> parse_module_changes(std::string_view text, const ClockScale& scale);

// Events about modules, by module and time: true for a load, false for a removal.
using ModuleEvents = std::map<std::string, std::map<std::uint64_t, bool>>;

class ModuleLoads {
 public:
  // `modules` is the text of /proc/modules at the start of the recording. If `changes` is empty, no address is
  // replaced.
  ModuleLoads(std::span<const ModuleChange> changes, std::string_view modules, const ModuleEvents& events);

  bool empty() const { return loads_.empty(); }
  // True if different code may have been at this address at different times.
  bool covers(std::uint64_t address) const;
  // Returns the stand-in address of the code that was at this address at this time.
  std::uint64_t address_at(std::uint64_t address, std::uint64_t time_ns) const;
  // Returns a number for a time. If two times have the same number, each address refers to the same code at both times.
  std::uint32_t epoch(std::uint64_t time_ns) const;

  std::uint64_t real_address(std::uint64_t address) const;
  // Returns the stand-in address that the same code had in the first load of its build. Differs from `address` only if
  // the module was loaded several times.
  std::uint64_t first_address(std::uint64_t address) const;
  // Returns symbols for the stand-in addresses. They are the same whether or not the trace has module events.
  std::string symbols() const;

 private:
  // The time from the load of a module until its removal. For a module that was loaded before the recording, this time
  // starts with the trace.
  struct Load {
    const ModuleChange* change = nullptr;  // null: loaded before the recording started
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = ~std::uint64_t{0};
    std::size_t first = 0;  // index of the first load with the same build of the module
  };
  enum class Part : std::uint8_t { code, init, gone };

  static std::uint64_t stand_in(std::size_t load, Part part, std::uint64_t offset);

  std::vector<Load> loads_;
  std::vector<std::uint64_t> times_;  // times at which the loaded code may change, sorted
  std::uint64_t lowest_ = ~std::uint64_t{0};
  std::uint64_t highest_ = 0;
};

}  // namespace kmt
