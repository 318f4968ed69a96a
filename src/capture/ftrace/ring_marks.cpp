// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/ring_marks.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/proc_text.hpp"

namespace kmt {

namespace {

constexpr std::string_view kMagic = "kmemtrace-mark ";
constexpr std::size_t kPieceBytes = 900;
constexpr std::size_t kMostPieces = 1 << 14;
constexpr std::size_t kMostMarks = 1 << 10;
constexpr std::string_view kFormat = "format ";
constexpr std::size_t kMostFormats = 1 << 16;  // IDs of events have 16 bits

// Names of the notes about a boot. Other notes are about the kernel or the machine, and are the same after a reboot.
constexpr std::array kNotes = {"boot_id",
                               "cpus_online",
                               "kernel_arguments",
                               "kernel_build_id",
                               "kernel_version",
                               "modules",
                               "pods",
                               "recorded_at",
                               "tasks",
                               "tasks_32_bit",
                               "tasks_later",
                               "direct_map",
                               "memory_nodes",
                               "unprobed_functions"};
constexpr std::string_view kNote = "note ";

std::string serialised(const RingMark& mark) {
  std::string text;
  for (const auto& [name, value] : mark) text += fmt::format("{} {}\n{}\n", value.size(), name, value);
  return text;
}

std::optional<RingMark> parsed(std::string_view text) {
  RingMark mark;
  while (!text.empty()) {
    const auto size = take_number<std::size_t>(text);
    const std::size_t end = text.find('\n');
    if (!size || end == text.npos || end == 0 || text.size() - end - 1 < *size) return std::nullopt;
    mark.insert_or_assign(std::string(text.substr(1, end - 1)), std::string(text.substr(end + 1, *size)));
    text.remove_prefix(std::min(end + 1 + *size + 1, text.size()));
  }
  return mark;
}

void set_if_there(const RingMark& mark, const char* name, std::string& text) {
  if (const auto found = mark.find(name); found != mark.end()) text = found->second;
}

}  // namespace

RingMark mark_of(const KernelDescription& kernel, std::optional<std::uint64_t> text) {
  RingMark mark;
  mark["release"] = kernel.release;
  mark["clock"] = kernel.clock;
  mark["saved_cmdlines"] = kernel.saved_cmdlines;
  mark["thread_groups"] = kernel.thread_groups;
  if (text) mark["text"] = fmt::format("{:x}", *text);
  for (std::size_t i = 0; i < kernel.formats.size(); ++i)
    if (const FormatText& format = kernel.formats[i]; format.system != "ftrace")
      mark[fmt::format("{}{:03} {}", kFormat, i, format.system)] = format.text;
  for (const char* const name : kNotes)
    if (const auto note = kernel.notes.find(name); note != kernel.notes.end())
      mark[fmt::format("{}{}", kNote, name)] = note->second;
  return mark;
}

std::size_t bytes_of(const RingMark& mark) {
  std::size_t bytes = 0;
  for (const auto& [name, text] : mark) bytes += name.size() + text.size();
  return bytes;
}

void remove_tasks(RingMark& mark) {
  for (const char* const name :
       {"saved_cmdlines", "thread_groups", "note tasks", "note tasks_32_bit", "note tasks_later"})
    mark.erase(name);
}

void forget_this_boot(KernelDescription& kernel) {
  for (const char* const name : kNotes) kernel.notes.erase(name);
  kernel.notes.erase("module_sections");  // its addresses are those of the running boot
  kernel.saved_cmdlines.clear();
  kernel.thread_groups.clear();
}

void apply_mark(const RingMark& mark, KernelDescription& kernel) {
  set_if_there(mark, "release", kernel.release);
  set_if_there(mark, "clock", kernel.clock);
  set_if_there(mark, "saved_cmdlines", kernel.saved_cmdlines);
  set_if_there(mark, "thread_groups", kernel.thread_groups);
  set_if_there(mark, "note kernel_version", kernel.version);
  std::erase_if(kernel.formats, [](const FormatText& format) { return format.system != "ftrace"; });
  for (const char* const name : kNotes)
    if (const auto note = mark.find(fmt::format("{}{}", kNote, name)); note != mark.end())
      kernel.notes[name] = note->second;
  for (const auto& [name, text] : mark)
    if (name.starts_with(kFormat) && kernel.formats.size() < kMostFormats)
      kernel.formats.push_back({name.substr(name.rfind(' ') + 1), text});
}

std::map<std::string, std::uint64_t> modules_of(const RingMark& mark) {
  std::map<std::string, std::uint64_t> found;
  const auto modules = mark.find("note modules");
  if (modules == mark.end()) return found;
  for (const LoadedModule& module : parse_modules(modules->second))
    if (module.begin != 0) found[module.name] = module.begin;
  return found;
}

std::vector<std::string> split_mark(const RingMark& mark, std::uint64_t serial) {
  const std::string text = serialised(mark);
  const std::size_t count = (text.size() + kPieceBytes - 1) / kPieceBytes;
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view part = std::string_view(text).substr(i * kPieceBytes, kPieceBytes);
    pieces.push_back(fmt::format("{}{} {} {} {}\n{}", kMagic, serial, i, count, part.size(), part));
  }
  return pieces;
}

MarkerEvent marker_event(const std::vector<FormatText>& formats) {
  const auto number_after = [](std::string_view text, std::string_view name) -> std::optional<std::uint16_t> {
    const std::size_t at = text.find(name);
    if (at == text.npos) return std::nullopt;
    text.remove_prefix(at + name.size());
    return take_number<std::uint16_t>(text);
  };
  for (const FormatText& format : formats) {
    if (format.system != "ftrace" || !format.text.starts_with("name: print\n")) continue;
    const auto id = number_after(format.text, "\nID: ");
    const auto offset = number_after(format.text, "field:char buf[];\toffset:");
    if (id && offset) return {*id, *offset};
  }
  throw Error("The format of the event ftrace:print is unknown", ExitCode::unsupported);
}

void MarkFinder::look(Bytes page) {
  walk_page(page, layout_, [this](std::uint64_t, Bytes event, std::uint64_t) {
    // an event starts with its ID
    if (event.size() < std::max<std::size_t>(event_.text_offset, 2)) return;
    if (load<std::uint16_t>(event.data(), layout_.order) != event_.id) return;
    add(as_text(event.subspan(event_.text_offset)));
  });
}

void MarkFinder::add(std::string_view text) {
  if (!text.starts_with(kMagic)) return;
  text.remove_prefix(kMagic.size());
  const auto serial = take_number<std::uint64_t>(text);
  if (!serial) return;
  std::array<std::size_t, 3> numbers{};  // index, count, size
  for (std::size_t& number : numbers) {
    if (!text.starts_with(' ')) return;
    text.remove_prefix(1);
    const auto found = take_number<std::size_t>(text);
    if (!found) return;
    number = *found;
  }
  if (!text.starts_with('\n')) return;
  text.remove_prefix(1);
  const auto [index, count, size] = numbers;
  if (count > kMostPieces || index >= count || size > kPieceBytes || size > text.size()) return;
  if (marks_.size() >= kMostMarks && !marks_.contains(*serial)) marks_.erase(marks_.begin());
  Pieces& pieces = marks_[*serial];
  pieces.count = count;
  pieces.found.insert_or_assign(index, std::string(text.substr(0, size)));
}

std::optional<RingMark> MarkFinder::latest() const {
  for (auto mark = marks_.rbegin(); mark != marks_.rend(); ++mark) {
    const Pieces& pieces = mark->second;
    if (pieces.found.size() != pieces.count || pieces.found.rbegin()->first + 1 != pieces.count) continue;
    std::string text;
    for (const auto& [index, piece] : pieces.found) text += piece;
    if (auto whole = parsed(text)) return whole;
  }
  return std::nullopt;
}

}  // namespace kmt
