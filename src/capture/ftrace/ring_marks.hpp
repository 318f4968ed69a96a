// SPDX-License-Identifier: GPL-2.0-or-later
// Marks: descriptions of a boot inside the ring buffer of its recording. After a crash, only the events in a persistent
// ring buffer remain of that boot. So the recorder repeatedly writes a mark into the buffer, through the file
// trace_marker. After the reboot, the latest complete mark is used.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/kernel_description.hpp"
#include "trace/ring_page.hpp"

namespace kmt {

// One mark, by name of each part: "release", "clock", "text" (address of _text), "saved_cmdlines", "thread_groups",
// "note NAME" for a note about the boot, and "format NUMBER SYSTEM" for the format of an event.
using RingMark = std::map<std::string, std::string>;

// Returns the mark of a boot: formats of the recorded events, names of tasks, and addresses of the kernel and of
// modules. Leaves out data that the same kernel has again after the reboot. `text` is the address of _text.
RingMark mark_of(const KernelDescription& kernel, std::optional<std::uint64_t> text);
// Returns the size of the texts of a mark in bytes.
std::size_t bytes_of(const RingMark& mark);
// Removes the names of tasks, which are the largest part of the mark on a machine with many tasks.
void remove_tasks(RingMark& mark);
// Removes data that is only valid for the running boot: tasks, modules, the boot ID.
void forget_this_boot(KernelDescription& kernel);
// Adds the data of a mark to the description of the running kernel. Replaces the formats of events. Ignores notes that
// mark_of() does not write, and formats beyond the number of event IDs.
void apply_mark(const RingMark& mark, KernelDescription& kernel);
// Returns the addresses of modules in the boot of the mark.
std::map<std::string, std::uint64_t> modules_of(const RingMark& mark);

// Splits a mark into texts for trace_marker, each shorter than 1 KiB, the limit of old kernels. Later marks must have
// larger values of `serial`.
std::vector<std::string> split_mark(const RingMark& mark, std::uint64_t serial);

// The event of a text that was written into trace_marker (ftrace:print).
struct MarkerEvent {
  std::uint16_t id = 0;
  std::size_t text_offset = 0;  // offset of the text in the event, in bytes
};
// Finds the event in the formats of a kernel. Throws Error if the formats do not have it.
MarkerEvent marker_event(const std::vector<FormatText>& formats);

// Collects the texts of split_mark() from ring buffer pages. Reads only events of trace_marker, because users without
// privileges choose texts in other events, such as the paths of programs.
class MarkFinder {
 public:
  MarkFinder(const PageLayout& layout, const MarkerEvent& event) : layout_(layout), event_(event) {}
  // Searches a page for texts of marks.
  void look(Bytes page);
  // Returns the latest mark whose texts were all found.
  std::optional<RingMark> latest() const;

 private:
  struct Pieces {
    std::size_t count = 0;
    std::map<std::size_t, std::string> found;
  };
  void add(std::string_view text);

  PageLayout layout_;
  MarkerEvent event_;
  std::map<std::uint64_t, Pieces> marks_;  // key: serial
};

}  // namespace kmt
