// SPDX-License-Identifier: GPL-2.0-or-later
// Builds a balance sheet line by line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/snapshot/snapshot.hpp"

namespace kmt {

// Unsigned, so that sums of absurdly large numbers in a hostile snapshot wrap around without undefined behaviour.
using ByteCount = std::uint64_t;

class Sheet {
 public:
  explicit Sheet(const KernelMemory& memory) : memory_(memory) {}

  ByteCount meminfo(std::string_view name) const { return number_or_0(memory_.meminfo, name); }
  ByteCount vmstat_bytes(std::string_view name) const { return number_or_0(memory_.vmstat, name) * memory_.page_size; }

  // Adds a line with parts. The caller adds the parts next, and the amount of the line is their sum.
  void group(std::string id, std::string label, std::string source) {
    group_ = lines_.size();
    lines_.push_back({.id = std::move(id), .label = std::move(label), .source = std::move(source)});
  }
  // The amount of a part may be unknown. It then counts as 0, so its memory becomes a part of the sheet's last line.
  // The line with this part is then a lower limit, or unknown if its known parts have no bytes.
  void part(std::string id, std::string label, std::optional<ByteCount> bytes, std::string source) {
    lines_.push_back(part_of_group(std::move(id), std::move(label), bytes.value_or(0), std::move(source)));
    lines_.back().known = bytes.has_value();
    BalanceLine& group = lines_[group_];
    group.bytes = as_signed(as_bytes(group.bytes) + bytes.value_or(0));
    const auto parts = lines_.begin() + static_cast<std::ptrdiff_t>(group_) + 1;
    const bool has_all =
        std::all_of(parts, lines_.end(), [](const BalanceLine& one) { return one.known || !one.counted; });
    group.known = has_all || group.bytes != 0;
    group.at_least = group.known && !has_all;
  }
  // Adds a part for the rest of the line: `whole` minus the parts added so far.
  void last_part(std::string id, std::string label, ByteCount whole, std::string source) {
    part(std::move(id), std::move(label), whole - as_bytes(lines_[group_].bytes), std::move(source));
  }
  void remark(std::string id, std::string label, std::optional<ByteCount> bytes, std::string source) {
    if (bytes == ByteCount{0}) return;
    lines_.push_back(part_of_group(std::move(id), std::move(label), bytes.value_or(0), std::move(source)));
    lines_.back().counted = false;
    lines_.back().known = bytes.has_value();
  }
  void line(std::string id, std::string label, ByteCount bytes, std::string source) {
    group_ = lines_.size();
    lines_.push_back(
        {.id = std::move(id), .label = std::move(label), .bytes = as_signed(bytes), .source = std::move(source)});
  }
  // Adds a line whose amount no file contains. The line counts as 0, so its memory becomes a part of the sheet's last
  // line.
  void unknown_line(std::string id, std::string label, std::string source) {
    line(std::move(id), std::move(label), 0, std::move(source));
    lines_.back().known = false;
  }
  void known_line(std::string id, std::string label, std::optional<ByteCount> bytes, std::string source) {
    line(std::move(id), std::move(label), bytes.value_or(0), std::move(source));
    lines_.back().known = bytes.has_value();
  }
  // Adds a line for the rest: `total` minus the lines added so far.
  void last_line(std::string id, std::string label, ByteCount total, std::string source) {
    ByteCount sum = 0;
    std::string unknown;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const BalanceLine& one = lines_[i];
      const bool has_parts = i + 1 < lines_.size() && one.depth == 0 && lines_[i + 1].depth != 0;
      if (one.depth == 0) sum += as_bytes(one.bytes);
      if (!one.known && one.counted && !has_parts) unknown += (unknown.empty() ? "; includes " : ", ") + one.label;
    }
    source += unknown;
    line(std::move(id), std::move(label), total - sum, std::move(source));
  }
  // True if the amount of a line, or of one of its parts, is unknown.
  bool lacks(std::string_view id) const {
    return std::ranges::any_of(
        lines_, [id](const BalanceLine& line) { return line.counted && !line.known && line.id.starts_with(id); });
  }
  // Returns the bytes of the last line of depth 0.
  ByteCount last_bytes() const { return as_bytes(lines_[group_].bytes); }
  std::vector<BalanceLine> take() { return std::move(lines_); }

 private:
  BalanceLine part_of_group(std::string id, std::string label, ByteCount bytes, std::string source) const {
    return {.id = lines_[group_].id + '.' + std::move(id),
            .label = std::move(label),
            .bytes = as_signed(bytes),
            .depth = 1,
            .source = std::move(source)};
  }
  static std::int64_t as_signed(ByteCount bytes) { return static_cast<std::int64_t>(bytes); }
  static ByteCount as_bytes(std::int64_t bytes) { return static_cast<ByteCount>(bytes); }

  const KernelMemory& memory_;
  std::vector<BalanceLine> lines_;
  std::size_t group_ = 0;
};

// Returns the free pages in CMA areas. Kernels without CMA areas have no such counter.
inline std::optional<ByteCount> free_cma(const Sheet& sheet, const KernelMemory& memory) {
  const auto free = find_number(memory.meminfo, "CmaFree");
  return free || sheet.meminfo("CmaTotal") != 0 ? free : 0;
}

// Some kernels count more free pages in CMA areas than the areas have.
inline std::optional<ByteCount> used_cma(const Sheet& sheet, const KernelMemory& memory) {
  const ByteCount total = sheet.meminfo("CmaTotal");
  const auto free = free_cma(sheet, memory);
  return free ? std::optional(total - std::min(total, *free)) : std::nullopt;
}

}  // namespace kmt
