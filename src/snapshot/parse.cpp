// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/parse.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/completeness.hpp"
#include "snapshot/nodes.hpp"
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

void parse_slabs(std::string_view text, KernelMemory& memory) {
  Slabinfo found = parse_slabinfo(text);
  if (const char* const why = why_slabinfo_is_incomplete(text, found))
    memory.missing.push_back({"partial", why, "copy /proc/slabinfo as a whole"});
  memory.slabs = std::move(found.caches);
  drop_repeated_caches(memory);
  for (const std::string_view line : found.unknown) keep_unknown("slabinfo", line, memory);
}

using Parser = void (*)(std::string_view, KernelMemory&);
struct Step {
  std::string_view name;
  Parser parse;
};

constexpr Step kSteps[] = {
    {"uname", take_uname},  // first, because the meaning of other files depends on the release
    {"sockstat", parse_sockstat},
    {"pressure", parse_pressure},
    {"recorder", parse_recorder},
    {"percpu_stats", parse_percpu_stats},
    {"dmesg", parse_boot_messages},
    {"slabinfo", parse_slabs},
    {"slab", parse_slab_attributes},
    {"node_meminfo", parse_node_meminfo},
    {"zoneinfo", parse_zoneinfo},
    {"buddyinfo", parse_buddyinfo},
    {"pagetypeinfo", parse_pagetypeinfo},
    {"vmallocinfo", parse_vmallocinfo},
    {"allocinfo", parse_allocinfo},
    {"cgroups", parse_cgroups},
    {"pods", [](std::string_view text, KernelMemory& memory) { read_pod_names(text, memory.pods); }},
    {"alloc_traces",
     [](std::string_view text, KernelMemory& memory) {
       parse_slab_traces(text, "alloc_traces", memory.slab_allocations, memory);
     }},
    {"free_traces", [](std::string_view text,
                       KernelMemory& memory) { parse_slab_traces(text, "free_traces", memory.slab_frees, memory); }},
    {"page_owner", parse_page_owner},
    {"page_owner_stacks", parse_page_owner_stacks},
    {"kmemleak", parse_kmemleak},
    {"owners", parse_owners},
    {"missing", parse_missing},
    {"older", parse_older},
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

// Parses lines "NAME\tSECONDS". Adds a note with the names and the largest age.
void parse_older(std::string_view text, KernelMemory& memory) {
  std::string names;
  std::uint64_t oldest = 0;
  each_line(text, [&](std::string_view line) {
    const std::vector<std::string_view> parts = split(line, '\t');
    if (parts.size() != 2) return;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", parts[0]);
    oldest = std::max(oldest, parse_leading<std::uint64_t>(parts[1]).value_or(0));
  });
  if (!names.empty())
    memory.missing.push_back(
        {"older",
         fmt::format("{}: read up to {} s before the other sources, to limit the cost of the series. An amount that is "
                     "computed from these and other sources contains the changes of this time",
                     names, oldest),
         ""});
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
  if (page_size == 0 && text_of(sample, "oom").empty()) compare_copies(memory);
  for (const auto& [name, text] : sample.texts)
    if (name != "missing" && name != "older" && (name != "slabinfo" || !memory.slabs.empty()))
      memory.has.push_back(name);
  return memory;
}

}  // namespace kmt
