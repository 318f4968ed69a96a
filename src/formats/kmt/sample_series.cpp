// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/sample_series.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace kmt::kmt_format {

namespace {

constexpr std::size_t kMostHistory = 64u << 10;  // bytes

}  // namespace

unsigned level_of(std::uint16_t number) {
  return std::min(static_cast<unsigned>(std::countr_zero(number)) / 3, kSeriesLevels - 1);
}

bool ReadableSamples::take(const Chunk& chunk) {
  if (chunk.type == kState) {
    full_ = chunk.stream;
    known_.assign(kGroupSamples, false);
    known_[0] = true;
    last_ = 0;
    has_patches_ = false;
    return true;
  }
  if (!full_) return false;
  // A group has either patches or deltas.
  if (chunk.type == kStatePatch) {
    if (chunk.stream != *full_ || last_ != 0) return false;
    has_patches_ = true;
    return true;
  }
  if (has_patches_) return false;
  const auto number = static_cast<std::uint16_t>(chunk.stream - *full_);
  if (number <= last_ || number >= kGroupSamples || !known_[base_of(number)]) return false;
  known_[number] = true;
  last_ = number;
  return true;
}

Payload longer_history(const Payload& history, const Payload& delta) {
  Payload longer = history;
  longer.insert(longer.end(), delta.begin(), delta.end());
  if (longer.size() > kMostHistory)
    longer.erase(longer.begin(), longer.end() - static_cast<std::ptrdiff_t>(kMostHistory));
  return longer;
}

void SeriesBases::add(std::shared_ptr<const SeriesMember> member) {
  const unsigned level = member->number == 0 ? kSeriesLevels - 1 : level_of(member->number);
  for (unsigned i = 0; i <= level; ++i) levels_[i] = member;
}

std::shared_ptr<const SeriesMember> SeriesBases::find(std::uint16_t number) const {
  for (const auto& member : levels_)
    if (member && member->number == number) return member;
  return nullptr;
}

}  // namespace kmt::kmt_format
