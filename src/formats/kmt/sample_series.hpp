// SPDX-License-Identifier: GPL-2.0-or-later
// Defines to which earlier sample each sample of a series refers: docs/formats/kmt.md, "A series of snapshots".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "formats/kmt/chunk.hpp"
#include "formats/kmt/payload.hpp"
#include "trace/state/sample.hpp"

namespace kmt::kmt_format {

constexpr unsigned kSeriesLevels = 4;
// Number of samples in a group. The first sample of a group is complete, and the others are deltas.
constexpr std::uint16_t kGroupSamples = 1u << 3 * kSeriesLevels;

// Returns the level of a sample: how many octal digits at the end of its number are 0. `number` is the number in the
// group, from 1 to kGroupSamples - 1.
unsigned level_of(std::uint16_t number);
// Returns the number of the sample to which the delta refers. In this number, the last octal digit that is not 0 is
// smaller by 1. So at most 28 deltas are needed to read any sample.
inline std::uint16_t base_of(std::uint16_t number) {
  return static_cast<std::uint16_t>(number - (1u << 3 * level_of(number)));
}

// Decides which samples of a file are readable. Call take() for all chunks of samples, in the order of the file.
class ReadableSamples {
 public:
  // True if the chunk is a complete sample, or if all samples that it needs precede it. False for a patch in a group
  // with deltas, and for a delta in a group with patches, because no version writes such groups.
  bool take(const Chunk& chunk);

 private:
  std::optional<std::uint16_t> full_;  // stream number of the last complete sample
  std::vector<bool> known_;            // by number in the group
  std::uint16_t last_ = 0;             // number of the last readable sample of the group
  bool has_patches_ = false;           // true: the samples of the group are patches, not deltas
};

// A sample, and the deltas on which it is based.
struct SeriesMember {
  std::uint16_t number = 0;  // in the group
  StateSample sample;
  Payload history;  // last bytes of the deltas on which this sample is based; prefix for compression
};

// Appends a delta to a history, and limits the size of the history.
Payload longer_history(const Payload& history, const Payload& delta);

// The samples to which the following samples of a group may refer.
class SeriesBases {
 public:
  void clear() { levels_ = {}; }
  void add(std::shared_ptr<const SeriesMember> member);
  // Returns null if the sample is not kept.
  std::shared_ptr<const SeriesMember> find(std::uint16_t number) const;

 private:
  std::array<std::shared_ptr<const SeriesMember>, kSeriesLevels>
      levels_;  // index: level; the last sample of this or a higher level
};

}  // namespace kmt::kmt_format
