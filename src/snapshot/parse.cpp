// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/parse.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/parsers.hpp"
#include "trace/state/slabinfo.hpp"

namespace kmt {

namespace {

constexpr std::uint32_t kUsualPage = 4096;

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

std::uint64_t sum_of(const std::vector<MemoryZone>& zones, const char* name) {
  std::uint64_t sum = 0;
  for (const MemoryZone& zone : zones) sum += number_or_0(zone.values, name);
  return sum;
}

std::uint64_t free_pages_of(const std::vector<MemoryZone>& zones) {
  std::uint64_t sum = 0;
  for (const MemoryZone& zone : zones)
    for (std::size_t order = 0; order < std::min<std::size_t>(zone.free.size(), 32); ++order)
      sum += std::min<std::uint64_t>(zone.free[order], 1 << 30) * (std::uint64_t{1} << order);
  return sum;
}

// Returns a lower bound of the page size in bytes: the objects of each slab must fit into the pages of the slab.
std::uint64_t page_size_of_slabs(const std::vector<SlabInfo>& slabs) {
  std::uint64_t most = 0;
  for (const SlabInfo& slab : slabs)
    if (slab.pages_per_slab != 0 &&
        slab.object_bytes <= kMostNumber / std::max<std::uint64_t>(slab.objects_per_slab, 1))
      most = std::max(most, slab.objects_per_slab * slab.object_bytes / slab.pages_per_slab);
  return most;
}

// Returns `bytes` / `pages` if this quotient is close to a page size that kernels use. Returns nothing otherwise, as in
// copies that lack zones.
std::optional<std::uint32_t> page_size_of(std::uint64_t bytes, std::uint64_t pages) {
  const std::uint64_t ratio = pages == 0 ? 0 : bytes / pages;
  for (const std::uint32_t size : {4096u, 8192u, 16384u, 32768u, 65536u})
    if (std::max<std::uint64_t>(ratio, size) - std::min<std::uint64_t>(ratio, size) <= size / 8) return size;
  return std::nullopt;
}

// Derives the page size from zones, vmalloc areas and slabs, for a snapshot without vmstat.
std::uint32_t page_size_of_other_files(const StateSample& sample, const KernelMemory& memory) {
  std::size_t lines = kMostLines;
  const auto text = [&](std::string_view name) { return first_lines(text_of(sample, name), lines); };
  KernelMemory others;
  parse_zoneinfo(text("zoneinfo"), others);
  parse_buddyinfo(text("buddyinfo"), others);
  parse_vmallocinfo(text("vmallocinfo"), others);
  std::uint64_t bytes = 0;
  std::uint64_t pages = 0;
  for (const VmallocCaller& caller : others.vmalloc)
    if (caller.mapped_bytes == 0) bytes += caller.virtual_bytes, pages += caller.pages + caller.areas;
  const std::uint64_t free = number_or_0(memory.meminfo, "MemFree");
  for (const auto size : {page_size_of(number_or_0(memory.meminfo, "MemTotal"), sum_of(others.zones, "managed")),
                          page_size_of(free, sum_of(others.zones, "free")), page_size_of(bytes, pages),
                          page_size_of(free, free_pages_of(others.zones))})
    if (size) return *size;
  constexpr std::uint64_t kMostPage = 1 << 16;
  const std::uint64_t least = page_size_of_slabs(parse_slabinfo(text("slabinfo")).caches);
  return least > kMostPage ? kUsualPage : std::max(static_cast<std::uint32_t>(std::bit_ceil(least)), kUsualPage);
}

// Returns the page size. meminfo shows some amounts in bytes that vmstat shows in pages, so each quotient is the page
// size. The amounts may change between reading the two files, so quotients are inexact. Rounds each quotient to a power
// of two, and returns the median.
std::uint32_t guessed_page_size(const StateSample& sample, const KernelMemory& memory) {
  constexpr std::pair<std::string_view, std::string_view> kBoth[] = {{"MemFree", "nr_free_pages"},
                                                                     {"AnonPages", "nr_anon_pages"},
                                                                     {"Mapped", "nr_mapped"},
                                                                     {"Shmem", "nr_shmem"},
                                                                     {"PageTables", "nr_page_table_pages"}};
  constexpr std::uint64_t kMostPage = 1 << 20;
  std::vector<std::uint32_t> sizes;
  const auto add = [&](std::uint64_t bytes, std::uint64_t count) {
    const std::uint64_t ratio = count == 0 ? 0 : bytes / count;
    if (ratio < kUsualPage / 2 || ratio > kMostPage) return;
    const auto below = static_cast<std::uint32_t>(std::bit_floor(ratio));
    sizes.push_back(ratio > below + below / 2 ? below * 2 : below);
  };
  for (const auto& [bytes, pages] : kBoth) add(number_or_0(memory.meminfo, bytes), number_or_0(memory.vmstat, pages));
  if (sizes.empty()) return page_size_of_other_files(sample, memory);
  std::ranges::sort(sizes);
  return sizes[sizes.size() / 2];
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

// Returns why the text is not a complete slabinfo, or nullptr if it is complete. Users may have removed lines or
// columns with grep, head, tail or awk. A complete slabinfo has a header, and its last line is the kernel's oldest
// cache.
const char* why_slabinfo_is_incomplete(std::string_view text, const Slabinfo& found) {
  constexpr std::array<std::string_view, 3> kOldest = {"kmem_cache", "kmem_cache_node", "cache_cache"};
  if (text.empty()) return nullptr;
  if (found.caches.empty()) return found.unknown.empty() ? nullptr : "slabinfo lacks columns";
  if (text.find("slabinfo - version") == text.npos && text.find("# name") == text.npos)
    return "slabinfo has no header line, so it may lack caches";
  const bool has_oldest = std::ranges::any_of(found.caches, [&](const SlabInfo& slab) {
    return std::ranges::find(kOldest, std::string_view(slab.name)) != kOldest.end();
  });
  return has_oldest ? nullptr : "slabinfo is cut off: it lacks the kernel's oldest cache, kmem_cache";
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
  parse_vmstat(first_lines(text_of(sample, "vmstat"), few), memory);
  memory.page_size = page_size != 0 ? page_size : guessed_page_size(sample, memory);
  std::size_t lines = kMostLines;
  for (const Step& step : kSteps) {
    const std::string_view text = text_of(sample, step.name);
    const std::string_view begin = first_lines(text, lines);
    step.parse(begin, memory);
    if (begin.size() < text.size())
      memory.missing.push_back(
          {std::string(step.name), "it has more lines than on any kernel: the rest is dropped", ""});
  }
  for (const auto& [name, text] : sample.texts)
    if (name != "missing") memory.has.push_back(name);
  return memory;
}

}  // namespace kmt
