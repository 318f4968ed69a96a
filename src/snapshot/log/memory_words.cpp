// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/log/memory_words.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/number.hpp"
#include "base/words.hpp"
#include "snapshot/log/memory_line.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostOrders = 40;

bool is_number(std::string_view word) { return whole_number(word).has_value(); }

// True for "1,234,567".
bool has_thousands_separators(std::string_view word) {
  constexpr std::size_t kGroup = 3;
  const std::size_t first = word.find(',');
  if (first == word.npos || first == 0 || first > kGroup || (word.size() - first) % (kGroup + 1) != 0) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool is_separator = i >= first && (i - first) % (kGroup + 1) == 0;
    if (is_separator ? word[i] != ',' : !is_digit(word[i])) return false;
  }
  return true;
}

}  // namespace

std::optional<std::uint64_t> whole_amount(std::string_view word) {
  if (word.ends_with("kB") || word.ends_with("KB")) word.remove_suffix(2);
  if (!has_thousands_separators(word)) return whole_number(word);
  std::string digits(word);
  std::erase(digits, ',');
  return whole_number(digits);
}

MemoryWords::MemoryWords(OomReport& report, std::function<bool()> has_room)
    : report_(report), has_room_(std::move(has_room)), place_(report.starts_late ? Place::totals : Place::none) {}

bool MemoryWords::take(std::string_view line) {
  is_used_ = false;
  stored_in_ = nullptr;
  for (Words words(memory_part(line)); !words.empty();) take_word(words.next());
  return is_used_;
}

void MemoryWords::take_word(std::string_view word) {
  const std::string before = std::exchange(last_, std::string(word));
  LogNumbers* const stored_in = std::exchange(stored_in_, nullptr);
  if (has_title(word)) {
    place_ = Place::totals;
  } else if (before == "Node" && is_number(word)) {
    node_ = static_cast<unsigned>(std::min<std::uint64_t>(*whole_number(word), 0xFFFF));
    place_ = Place::node;
    last_ = "Node N";
  } else if (word == "per-cpu:") {
    enter_zone(before, Place::cpu_lists);
  } else if (word == "=") {
    place_ = place_ == Place::free_blocks ? Place::sum_of_blocks : Place::none;
  } else if (place_ == Place::sum_of_blocks) {
    take_sum_of_blocks(word);
  } else if (const std::size_t star = word.find('*'); star != std::string_view::npos) {
    take_blocks(word, star, before);
  } else if (const std::size_t equals = word.find('='); word.starts_with("hugepages_")) {
    take_huge_pages(word.substr(0, equals), word.substr(std::min(equals, word.size() - 1) + 1));
  } else if (!pending_.empty()) {  // "anon_thp: 0kB"
    take_counter(std::exchange(pending_, {}), word, before);
  } else if (const std::size_t colon = word.find(':'); colon != std::string_view::npos) {
    take_named(word.substr(0, colon), word.substr(colon + 1), before);
  } else if (stored_in != nullptr && is_number(word)) {
    stored_in->erase(stored_);  // a blank inside the number, as in "pagetables:3 26"
  }
}

void MemoryWords::take_named(std::string_view written, std::string_view value, std::string_view before) {
  const bool is_usd = (written == "usd" || written == "used") && place_ == Place::cpu_lists;
  const std::string name = is_usd ? "usd" : counter_name(written);
  if (name.empty()) return;
  if (value.empty())
    pending_ = name;
  else
    take_counter(name, value, before);
}

void MemoryWords::take_counter(std::string_view name, std::string_view value, std::string_view before) {
  const auto number = whole_amount(value);
  if (!number) return;
  is_used_ = true;
  const bool in_kb = value.ends_with("kB") || value.ends_with("KB");
  if (name == "usd" && zone_ != nullptr) {
    zone_->cpu_list_pages = zone_->cpu_list_pages.value_or(0) + *number;
  } else if (!in_kb) {
    if (name == "active_anon" || name == "active") place_ = Place::totals;
    if (place_ == Place::totals) store(report_.totals, name, *number);
  } else if (name == "free") {
    enter_zone(before, Place::zone);
    if (zone_ != nullptr && !zone_->numbers.try_emplace("free", *number).second) report_.is_mixed = true;
  } else if (place_ == Place::zone && zone_ != nullptr) {
    store(zone_->numbers, name, *number);
  } else if (place_ == Place::node && (report_.nodes.contains(node_) || has_room_())) {
    store(report_.nodes[node_], name, *number);
  }
}

// Parses the number of free blocks of one order, such as "3*64kB" for three blocks of 64 kB. The first of these words
// follows the name of the zone, such as "DMA:", which is in `before`.
void MemoryWords::take_blocks(std::string_view word, std::size_t star, std::string_view before) {
  const auto count = whole_number(word.substr(0, star));
  const std::string_view size = word.substr(star + 1);
  const auto kb = leading_number(size);
  if (!count || !kb || !size.ends_with("kB")) return;
  is_used_ = true;
  if (before.ends_with(':')) {
    enter_zone(before.substr(0, before.size() - 1), Place::free_blocks);
    constexpr std::uint64_t kMostKb = 1 << 10;
    if (*kb <= kMostKb && std::has_single_bit(*kb)) report_.page_size = static_cast<std::uint32_t>(*kb << 10);
    if (zone_ != nullptr && !zone_->free.empty()) report_.is_mixed = true;
  }
  if (place_ != Place::free_blocks || zone_ == nullptr) return;
  // If the line was cut or mixed with other text, then an order is missing.
  const std::size_t order = zone_->free.size();
  const bool is_next = order < kMostOrders && *kb == (std::uint64_t{report_.page_size} >> 10 << order);
  if (is_next)
    zone_->free.push_back(*count);
  else
    place_ = Place::none;
}

void MemoryWords::take_sum_of_blocks(std::string_view word) {
  place_ = Place::none;
  const auto kb = word.ends_with("kB") ? whole_amount(word) : std::nullopt;
  if (!kb || zone_ == nullptr) return;
  std::uint64_t pages = 0;
  for (std::size_t order = 0; order < zone_->free.size(); ++order) pages += zone_->free[order] << order;
  zone_->has_all_free = pages * (report_.page_size >> 10) == *kb;
  if (zone_->has_all_free) return;
  report_.has_wrong_sum = true;
  zone_->free.clear();
}

void MemoryWords::take_huge_pages(std::string_view name, std::string_view value) {
  const auto number = whole_amount(value);
  if (!number) return;
  is_used_ = true;
  if (name == "hugepages_total") huge_pages_ = *number;
  if (name == "hugepages_size") {
    const std::uint64_t most = kMostNumber / std::max<std::uint64_t>(*number, 1);
    report_.hugetlb_kb = report_.hugetlb_kb.value_or(0) + std::min(huge_pages_, most) * *number;
    huge_pages_ = 0;
  }
}

// Makes the parser assign the next counters to this zone. Kernels without NUMA print no node, so `node_` remains 0.
void MemoryWords::enter_zone(std::string_view name, Place place) {
  place_ = place;
  zone_ = nullptr;
  if (name.empty() || name == "Node N" || name.size() > 32) return;
  const std::pair key(node_, std::string(name));
  if (report_.zones.contains(key) || has_room_()) zone_ = &report_.zones[key];
}

void MemoryWords::store(LogNumbers& numbers, std::string_view name, std::uint64_t value) {
  const auto [known, is_new] = numbers.try_emplace(std::string(name), value);
  report_.is_mixed = report_.is_mixed || known->second != value;
  if (!is_new) return;
  stored_in_ = &numbers;
  stored_ = name;
}

}  // namespace kmt
