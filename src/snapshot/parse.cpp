// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/parse.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/page_size.hpp"
#include "snapshot/parsers.hpp"
#include "trace/state/slabinfo.hpp"

namespace kmt {

namespace {

// Maximum number of lines of all texts together. The limits protect against malicious files. A parsed line may need
// twenty times the memory of its text, and a small compressed file may have very many lines.
constexpr std::size_t kMostLines = 1 << 20;
constexpr std::size_t kMostNumbers = 1 << 14;  // maximum number of lines of meminfo and vmstat together

// Returns the first lines of the text, at most `left` lines. Subtracts the number of returned lines from `left`.
std::string_view first_lines(std::string_view text, std::size_t& left) {
  std::size_t end = 0;
  while (left > 0 && end < text.size()) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
    --left;
  }
  return text.substr(0, end);
}

void take_uname(std::string_view text, KernelMemory& memory) {
  Words words(text.substr(0, text.find('\n')));
  words.next();
  memory.host = words.next();
  memory.release = words.next();
  if (memory.host == "version") return memory.host.clear();  // /proc/version: "Linux version 6.1.0 (…"
  std::string_view last;
  std::string_view before;
  while (!words.empty()) {
    before = last;
    last = words.next();
  }
  memory.machine = last == "GNU/Linux" ? before : last;  // the output of `uname -a` ends with "GNU/Linux"
}

// True if a line starts with "# name". Programs such as `column` may have changed the blanks.
bool has_header(std::string_view text) {
  for (std::size_t at = text.find('#'); at != text.npos; at = text.find('#', at + 1))
    if (trim(text.substr(at + 1, text.find('\n', at) - at)).starts_with("name")) return true;
  return false;
}

// Returns why the text is not a complete slabinfo, or nullptr if it is complete. Users may have removed lines or
// columns with grep, head, tail or awk. A complete slabinfo has a header, and its last line is the kernel's oldest
// cache.
const char* why_slabinfo_is_incomplete(std::string_view text, const Slabinfo& found) {
  constexpr std::array<std::string_view, 3> kOldest = {"kmem_cache", "kmem_cache_node", "cache_cache"};
  if (text.empty()) return nullptr;
  if (found.caches.empty()) return found.unknown.empty() ? nullptr : "slabinfo lacks columns";
  if (text.find("slabinfo - version") == text.npos && !has_header(text))
    return "slabinfo has no header line, so it may lack caches";
  // A title, "..." or "[snip]" in place of caches. parse_slabinfo() skips empty lines.
  const auto is_gap = [](std::string_view line) { return line.find(" : ") == line.npos; };
  if (std::ranges::any_of(found.unknown, is_gap)) return "slabinfo has lines that are no caches, so it may lack caches";
  const bool has_oldest = std::ranges::any_of(found.caches, [&](const SlabInfo& slab) {
    return std::ranges::find(kOldest, std::string_view(slab.name)) != kOldest.end();
  });
  return has_oldest ? nullptr : "slabinfo is cut off: it lacks the kernel's oldest cache, kmem_cache";
}

// Forgets the free blocks of all zones if buddyinfo has few orders, and much less free memory than meminfo. Its lines
// were then cut at the width of a terminal. Nearly all kernels have at least 10 orders.
void forget_cut_blocks(KernelMemory& memory) {
  constexpr std::size_t kFewOrders = 10;
  std::uint64_t pages = 0;
  std::size_t orders = 0;
  for (const MemoryZone& zone : memory.zones) {
    orders = std::max(orders, zone.free.size());
    for (std::size_t order = 0; order < std::min<std::size_t>(zone.free.size(), kFewOrders); ++order)
      pages += std::min<std::uint64_t>(zone.free[order], 1 << 30) << order;
  }
  const auto free = find_number(memory.meminfo, "MemFree");
  if (orders == 0 || orders >= kFewOrders || !free || pages * memory.page_size >= *free - *free / 8) return;
  for (MemoryZone& zone : memory.zones) zone.free.clear();
  memory.missing.push_back(
      {"buddyinfo", "its lines are cut before the last order, so it is not used", "copy /proc/buddyinfo as a whole"});
}

void parse_slabs(std::string_view text, KernelMemory& memory) {
  Slabinfo found = parse_slabinfo(text);
  if (const char* const why = why_slabinfo_is_incomplete(text, found))
    memory.missing.push_back({"partial", why, "copy /proc/slabinfo as a whole"});
  memory.slabs = std::move(found.caches);
  for (const std::string_view line : found.unknown) keep_unknown("slabinfo", line, memory);
}

using Parser = void (*)(std::string_view, KernelMemory&);
struct Step {
  std::string_view name;
  Parser parse;
};

constexpr Step kSteps[] = {
    {"sockstat", parse_sockstat},
    {"recorder", parse_recorder},
    {"percpu_stats", parse_percpu_stats},
    {"dmesg", parse_boot_messages},
    {"slabinfo", parse_slabs},
    {"slab", parse_slab_attributes},
    {"zoneinfo", parse_zoneinfo},
    {"buddyinfo", parse_buddyinfo},
    {"pagetypeinfo", parse_pagetypeinfo},
    {"vmallocinfo", parse_vmallocinfo},
    {"allocinfo", parse_allocinfo},
    {"cgroups", parse_cgroups},
    {"alloc_traces",
     [](std::string_view text, KernelMemory& memory) {
       parse_slab_traces(text, "alloc_traces", memory.slab_allocations, memory);
     }},
    {"free_traces", [](std::string_view text,
                       KernelMemory& memory) { parse_slab_traces(text, "free_traces", memory.slab_frees, memory); }},
    {"page_owner", parse_page_owner},
    {"page_owner_stacks", parse_page_owner_stacks},
    {"kmemleak", parse_kmemleak},
    {"missing", parse_missing},
    {"uname", take_uname},
    {"oom", parse_oom},
};

constexpr Step kRefused[] = {{"meminfo", parse_meminfo}, {"vmstat", parse_vmstat}, {"slabinfo", parse_slabs}};

// Returns the text without its last line if this line has no line break, because its last number may lack digits.
// Editors may remove the last line break, so a line that certainly has its end is kept.
std::string_view whole_lines(std::string_view name, std::string_view text, KernelMemory& memory) {
  constexpr std::array<std::string_view, 6> kEndWithNumbers = {"vmstat",       "zoneinfo",    "buddyinfo",
                                                               "pagetypeinfo", "vmallocinfo", "sockstat"};
  if (text.empty() || text.ends_with('\n') || std::ranges::find(kEndWithNumbers, name) == kEndWithNumbers.end())
    return text;
  const std::string_view before = text.substr(0, text.rfind('\n') + 1);  // if nothing is found, npos + 1 is 0
  const std::string_view last = text.substr(before.size());
  if (name == "buddyinfo" || name == "pagetypeinfo") {  // the kernel aligns the numbers and writes a blank after each
    const std::string_view others = before.substr(0, before.size() - std::min<std::size_t>(before.size(), 1));
    const std::string_view previous = trim(others.substr(others.rfind('\n') + 1));
    if (last.ends_with(' ') || (!previous.empty() && trim(last).size() >= previous.size())) return text;
  }
  // The kind of the area follows the number of pages.
  constexpr std::array<std::string_view, 4> kKinds = {" vmalloc", " ioremap", " vmap", " user"};
  const auto has_kind = [last](std::string_view kind) { return last.find(kind) != last.npos; };
  if (name == "vmallocinfo" && std::ranges::any_of(kKinds, has_kind)) return text;
  memory.missing.push_back(
      {std::string(name), "its last line may be cut off, and is not used", fmt::format("copy {} as a whole", name)});
  return before;
}

// True if the line has the usual form, but has another word in place of a number. A line of another form, or with a
// number larger than any memory, counts as unknown and not as damaged.
bool is_damaged(std::string_view source, std::string_view line) {
  const auto is_number = [](std::string_view word) {
    return word.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (source == "slabinfo") {
    constexpr std::size_t kNumbers = 5;
    std::vector<std::string_view> words;
    for (Words left(line.substr(0, line.find(" : "))); !left.empty();) words.push_back(left.next());
    return words.size() > kNumbers && !std::all_of(words.end() - kNumbers, words.end(), is_number);
  }
  Words words(line);
  const std::string_view name = words.next();
  if (words.empty() || (source == "meminfo" && !name.ends_with(':'))) return false;
  const bool has_number = is_number(words.next());
  return !has_number && (words.empty() || words.rest() == "kB");
}

}  // namespace

void parse_missing(std::string_view text, KernelMemory& memory) {
  each_line(text, [&](std::string_view line) {
    const std::vector<std::string_view> parts = split(line, '\t');
    if (parts.size() == 3)
      memory.missing.push_back({std::string(parts[0]), std::string(parts[1]), std::string(parts[2])});
  });
}

void refuse_damage(std::string_view source, std::string_view text, const std::string& path) {
  KernelMemory memory;
  const auto* const step = std::ranges::find(kRefused, source, &Step::name);
  if (step == std::end(kRefused)) return;
  step->parse(text, memory);
  for (const UnknownLine& unknown : memory.unknown) {
    if (!is_damaged(source, unknown.line)) continue;
    const auto before = text.substr(0, text.find(unknown.line));
    throw Error(fmt::format("Line {} of {} is damaged: \"{}\"", std::ranges::count(before, '\n') + 1, source,
                            printable(unknown.line)))
        .hint("Copy the file again")
        .at({path, {}, {}});
  }
}

KernelMemory parse_snapshot(const StateSample& sample, std::uint32_t page_size) {
  KernelMemory memory;
  memory.unix_ns = sample.unix_ns;
  std::size_t few = kMostNumbers;
  parse_meminfo(first_lines(text_of(sample, "meminfo"), few), memory);
  parse_vmstat(whole_lines("vmstat", first_lines(text_of(sample, "vmstat"), few), memory), memory);
  memory.page_size = page_size != 0 ? page_size : page_size_of_copies(sample, memory);
  std::size_t lines = kMostLines;
  for (const Step& step : kSteps) {
    const std::string_view text = text_of(sample, step.name);
    const std::string_view begin = first_lines(text, lines);
    step.parse(whole_lines(step.name, begin, memory), memory);
    if (begin.size() < text.size())
      memory.missing.push_back(
          {std::string(step.name), "it has more lines than on any kernel: the rest is dropped", ""});
  }
  // A running kernel may have memory outside of all zones, but has no missing zones.
  if (page_size == 0 && text_of(sample, "oom").empty()) {
    compare_zones_with_total(memory);
    forget_cut_blocks(memory);
  }
  for (const auto& [name, text] : sample.texts)
    if (name != "missing") memory.has.push_back(name);
  return memory;
}

}  // namespace kmt
