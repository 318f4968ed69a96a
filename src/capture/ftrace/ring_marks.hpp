// SPDX-License-Identifier: GPL-2.0-or-later
// Descriptions of a recording inside its own ring buffer. After a crash, the events in a persistent ring buffer are all
// that is left of that boot. So the recorder writes what it knows about the boot into the buffer, again and again, as
// texts of trace_marker. The reader takes the latest complete description.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/kernel_description.hpp"

namespace kmt {

// Names and texts: "release", "clock", "text" (address of _text), "saved_cmdlines", "thread_groups", "note NAME" for a
// note about the boot, and "format NUMBER SYSTEM" for the format of an event.
using RingMark = std::map<std::string, std::string>;

// Describes a boot and the recorded events: formats, names of tasks, addresses of the kernel and of modules. Leaves out
// data that the same kernel has again after the crash. `text` is the address of _text.
RingMark mark_of(const KernelDescription& kernel, std::optional<std::uint64_t> text);
// Removes what holds only for the boot that runs now: tasks, modules, the boot ID.
void forget_this_boot(KernelDescription& kernel);
// Sets what a mark has in the description of the kernel that runs now. Replaces the formats of events.
void apply_mark(const RingMark& mark, KernelDescription& kernel);
// Returns the addresses of modules in the boot of the mark.
std::map<std::string, std::uint64_t> modules_of(const RingMark& mark);

// Splits a mark into texts for trace_marker, each shorter than 1 KiB, the limit of old kernels. `serial` grows from
// mark to mark.
std::vector<std::string> split_mark(const RingMark& mark, std::uint64_t serial);

// Collects the texts of split_mark() from ring buffer pages.
class MarkFinder {
 public:
  void look(std::string_view pages);
  // Returns the latest mark whose texts were all found.
  std::optional<RingMark> latest() const;

 private:
  struct Pieces {
    std::size_t count = 0;
    std::map<std::size_t, std::string> found;
  };
  std::map<std::uint64_t, Pieces> marks_;  // key: serial
};

}  // namespace kmt
