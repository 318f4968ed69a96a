// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/log/memory_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include "base/words.hpp"

namespace kmt {

namespace {

// Names of the counters that reports contain. A word with a colon that is not in this list belongs to another message.
constexpr std::array<std::string_view, 51> kCounters = {"active_anon",
                                                        "inactive_anon",
                                                        "isolated_anon",
                                                        "active_file",
                                                        "inactive_file",
                                                        "isolated_file",
                                                        "unevictable",
                                                        "dirty",
                                                        "writeback",
                                                        "unstable",
                                                        "buffer",
                                                        "slab_reclaimable",
                                                        "slab_unreclaimable",
                                                        "mapped",
                                                        "shmem",
                                                        "pagetables",
                                                        "sec_pagetables",
                                                        "bounce",
                                                        "kernel_misc_reclaimable",
                                                        "free",
                                                        "free_pcp",
                                                        "free_cma",
                                                        "isolated(anon)",
                                                        "isolated(file)",
                                                        "shmem_thp",
                                                        "shmem_pmdmapped",
                                                        "anon_thp",
                                                        "file_thp",
                                                        "writeback_tmp",
                                                        "kernel_stack",
                                                        "shadow_call_stack",
                                                        "min",
                                                        "low",
                                                        "high",
                                                        "boost",
                                                        "reserved_highatomic",
                                                        "free_highatomic",
                                                        "writepending",
                                                        "present",
                                                        "managed",
                                                        "mlocked",
                                                        "local_pcp",
                                                        "pages_scanned",
                                                        "zspages",
                                                        "balloon",
                                                        "gpu_active",
                                                        "gpu_reclaim",
                                                        "active",
                                                        "inactive",
                                                        "slab",
                                                        "mapped-anon"};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// True for "12", "12kB" and "12KB".
bool is_amount(std::string_view word) {
  if (word.ends_with("kB") || word.ends_with("KB")) word.remove_suffix(2);
  return whole_number(word).has_value();
}

enum class WordKind : std::uint8_t { counter, other, foreign };

// True for words that lines about memory have in addition to counters.
bool is_usual_word(std::string_view word) {
  constexpr std::array<std::string_view, 21> kWords = {"Node",
                                                       "CPU",
                                                       "cpu",
                                                       "=",
                                                       "yes",
                                                       "no",
                                                       "Hot:",
                                                       "Cold:",
                                                       "hot:",
                                                       "cold:",
                                                       "per-cpu:",
                                                       "all_unreclaimable?",
                                                       "lowmem_reserve[]:",
                                                       "protections[]:",
                                                       "hi:",
                                                       "btch:",
                                                       "usd:",
                                                       "low",
                                                       "high",
                                                       "batch",
                                                       "used"};
  constexpr std::array<std::string_view, 6> kZones = {"DMA", "DMA32", "Normal", "HighMem", "Movable", "Device"};
  if (std::ranges::find(kWords, word) != kWords.end() || is_amount(word)) return true;
  if (word.starts_with('(') && word.ends_with(')'))  // migrate types: "(UME)"
    return std::ranges::all_of(word.substr(1, word.size() - 2), is_upper);
  if (word.ends_with(':')) word.remove_suffix(1);
  return whole_number(word) || std::ranges::find(kZones, word) != kZones.end();
}

WordKind kind_of(std::string_view word) {
  if (has_title(word)) return WordKind::counter;
  if (word.ends_with(',')) word.remove_suffix(1);
  if (is_usual_word(word)) return WordKind::other;
  const std::size_t star = word.find('*');
  if (star != word.npos)
    return whole_number(word.substr(0, star)) && is_amount(word.substr(star + 1)) ? WordKind::counter
                                                                                  : WordKind::foreign;
  if (word.starts_with("hugepages_")) return WordKind::counter;
  const std::size_t colon = word.find(':');
  if (colon == word.npos) return WordKind::foreign;
  const std::string_view value = word.substr(colon + 1);
  if (!counter_name(word.substr(0, colon)).empty())
    return value.empty() || leading_number(value) ? WordKind::counter : WordKind::foreign;
  return is_amount(value) ? WordKind::other : WordKind::foreign;  // a counter of a later kernel
}

// True for the first words of lines about memory.
bool begins_memory_line(std::string_view word) {
  return word == "Node" || (is_usual_word(word) && is_upper(word.front())) ||
         (word.find(':') != word.npos && kind_of(word) == WordKind::counter);
}

}  // namespace

std::string counter_name(std::string_view name) {
  std::string small(name);
  if (!small.empty()) small.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(small.front())));
  return std::ranges::find(kCounters, small) == kCounters.end() ? std::string() : small;
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  return at == text.npos ? std::nullopt : leading_number(text.substr(at + words.size()));
}

bool has_title(std::string_view text) {
  return text.find("Mem-Info:") != text.npos || text.find("Mem-info:") != text.npos;
}

std::optional<std::uint64_t> lost_messages(std::string_view text) {
  constexpr std::string_view kMissed = "Missed ";
  if (const std::size_t at = text.find(" printk messages dropped"); at != text.npos)
    return whole_number(text.substr(0, at).substr(text.substr(0, at).find_last_of(" *") + 1));
  const std::size_t at = text.find(kMissed);
  if (at == text.npos || text.find(" kernel messages", at) == text.npos) return std::nullopt;
  return leading_number(text.substr(at + kMissed.size()));
}

bool is_line_of_report(std::string_view line) {
  constexpr std::size_t kEnoughCounters = 2;
  constexpr std::array<std::string_view, 7> kSigns = {
      "_anon:", "_file:", "slab_", "pagetables:", "free:", "free_pcp", "hugepages_total="};
  const bool has_blocks = line.find('*') != line.npos && line.ends_with("kB");
  if (!has_blocks && std::ranges::none_of(kSigns, [line](auto sign) { return line.find(sign) != line.npos; }))
    return false;
  std::size_t counters = 0;
  for (Words words(line); !words.empty();) {
    const WordKind kind = kind_of(words.next());
    if (kind == WordKind::foreign) return false;
    counters += kind == WordKind::counter ? 1 : 0;
  }
  return counters >= kEnoughCounters;
}

std::string with_joined_units(std::string_view line) {
  constexpr std::string_view kUnit = " kB";
  std::string joined;
  std::size_t copied = 0;
  for (std::size_t at = line.find(kUnit); at != line.npos; at = line.find(kUnit, at + 1)) {
    if (at == 0 || !is_digit(line[at - 1])) continue;
    joined += line.substr(copied, at - copied);
    copied = at + 1;
  }
  return joined += line.substr(copied);
}

std::string_view memory_part(std::string_view line) {
  constexpr std::size_t kEnoughCounters = 2;
  constexpr std::size_t kEnough = 3;
  std::size_t counters = 0;
  std::size_t others = 0;
  Words words(line);
  const std::string_view first = Words(line).next();
  while (!words.empty()) {
    const auto begin = static_cast<std::size_t>(words.rest().data() - line.data());
    const WordKind kind = kind_of(words.next());
    if (kind == WordKind::foreign)
      return (counters >= kEnoughCounters || (counters > 0 && counters + others >= kEnough)) &&
                     begins_memory_line(first)
                 ? line.substr(0, begin)
                 : std::string_view();
    ++(kind == WordKind::counter ? counters : others);
  }
  return line;
}

}  // namespace kmt
