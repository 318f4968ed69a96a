// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/snapshot.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/sample_delta.hpp"

namespace kmt::kmt_format {

namespace {

// The unpacked size of all samples is limited to these multiples of the file's size. On idle machines, a delta has a
// thousandth of the size of its sample.
constexpr std::uint64_t kMostSeriesRatio = 320;
constexpr std::uint64_t kMostDeltaRatio = 8192;
constexpr std::uint64_t kAnySeries = 64u << 20;
// Maximum size of a sample, compared with the complete sample of its group.
constexpr std::uint64_t kMostGrowth = 2;

}  // namespace

SnapshotWriter::SnapshotWriter(const std::string& path, const KernelDescription& kernel) : file_(path) {
  TraceDescription description;
  description.kernel = kernel;
  description.uname = uname_of(kernel);
  file_.append(pack(kFacts, 0, encode_facts(description)));
}

void SnapshotWriter::add(const StateSample& sample) {
  if (!add_delta(sample)) add_full(sample);
}

// Returns false if the sample must be stored as a complete one.
bool SnapshotWriter::add_delta(const StateSample& sample) {
  const auto number = static_cast<std::uint16_t>(last_number_ + 1);
  if (full_bytes_ == 0 || number == kGroupSamples) return false;
  if (text_bytes(sample) > kMostGrowth * full_bytes_) return false;
  if (deltas_bytes_ + full_bytes_ > kAnySeries + kMostDeltaRatio * file_.bytes()) return false;  // readers would stop
  const std::shared_ptr<const SeriesMember> base = bases_.find(base_of(number));
  const Payload delta = encode_delta(base->sample, sample);
  const auto stream = static_cast<std::uint16_t>(full_number_ + number);
  const PackedChunk chunk{kStateDelta, stream, make_patch(kStateDelta, stream, base->history, delta)};
  if (chunk.bytes.empty() || chunk.bytes.size() >= full_stored_ / 2) return false;
  file_.append(chunk);
  deltas_bytes_ += full_bytes_;
  last_number_ = number;
  bases_.add(std::make_shared<const SeriesMember>(SeriesMember{number, sample, longer_history(base->history, delta)}));
  return true;
}

void SnapshotWriter::add_full(const StateSample& sample) {
  const Payload plain = encode_sample(sample);
  const auto stream = static_cast<std::uint16_t>(full_number_ + kGroupSamples);
  const PackedChunk full = pack(kState, stream, plain);
  file_.append(full);
  full_number_ = stream;
  full_bytes_ = plain.size();
  full_stored_ = full.bytes.size();
  last_number_ = 0;
  bases_.clear();
  bases_.add(std::make_shared<const SeriesMember>(SeriesMember{0, sample, {}}));
}

void SnapshotWriter::finish() { file_.finish(); }

void write_snapshot(const std::string& path, const StateSample& sample, const KernelDescription& kernel) {
  SnapshotWriter file(path, kernel);
  file.add(sample);
  file.finish();
}

SnapshotReader::SnapshotReader(const TraceFile& file) : path_(file.path) {
  Error none("The file has no snapshot of the kernel's memory");
  none.at({path_, {}, {}})
      .hint("Snapshots are written by `kmemtrace snapshot -o FILE.kmt`, and `record` stores them in a .kmt");
  if (!is_kmt(file.bytes)) throw none;
  try {
    check_header(file.bytes);
    TraceDescription description;
    description.kernel.page_size = 0;  // unknown, until a fact in the file states it
    std::uint64_t offset = kFileHeaderBytes;
    std::uint64_t unpacked_left = kAnySeries + kMostSeriesRatio * file.bytes.size();
    std::uint64_t deltas_left = kAnySeries + kMostDeltaRatio * file.bytes.size();
    ReadableSamples readable;
    while (const std::optional<Chunk> chunk = find_chunk(file.bytes, offset)) {
      if (chunk->offset != offset) add_damage(offset, fmt::format("{} bytes are not a chunk", chunk->offset - offset));
      offset = chunk->end();
      if (chunk->type == kFacts) read_facts(*chunk, description);
      if (!is_sample(chunk->type)) continue;
      const bool is_readable = readable.take(*chunk);
      if (chunk->type == kState) bases_.push_back(*chunk);
      // A delta counts with the size of the complete sample, because its sample is at most kMostGrowth times as large.
      const bool is_delta = chunk->type == kStateDelta;
      const std::uint64_t plain = is_delta && is_readable ? bases_.back().plain_bytes : chunk->plain_bytes;
      std::uint64_t& left = is_delta ? deltas_left : unpacked_left;
      if (plain > left) {
        add_damage(chunk->offset, "more snapshots than a file of this size can have: the rest is dropped");
        break;
      }
      left -= plain;
      if (is_readable)
        entries_.push_back({*chunk, bases_.size() - 1});
      else
        ++without_base_;
    }
    if (entries_.empty()) throw none;
    for (const std::string_view line : split(description.repaired, '\n'))
      if (!line.empty()) damage_.push_back(fmt::format("repaired: {}", line));
    kernel_ = std::move(description.kernel);
    name_machine(description.uname, kernel_);
    finished_ = has_trailer(file.bytes);
    unpacked_ = bases_.size();
  } catch (Error& error) {
    throw error.at({path_, {}, {}});
  }
}

void SnapshotReader::add_damage(std::uint64_t offset, std::string_view what) {
  damage_.push_back(fmt::format("offset {:#x}: {}", offset, what));
}

// Reads the facts. Reports damage of facts, but does not throw, because snapshots are readable without them.
void SnapshotReader::read_facts(const Chunk& chunk, TraceDescription& description) {
  try {
    decode_facts(unpack(chunk), description);
  } catch (const Error& error) {
    add_damage(chunk.offset, fmt::format("the description of the machine: {}", error.what()));
  }
}

StateSample SnapshotReader::at(std::size_t index) {
  const Entry& entry = entries_[index];
  try {
    if (unpacked_ != entry.base) {
      unpacked_ = bases_.size();
      members_.clear();
      base_ = unpack(bases_[entry.base]);
      unpacked_ = entry.base;
    }
    if (entry.chunk.type == kStateDelta) return member(entry)->sample;
    return decode_sample(entry.chunk.type == kState ? base_ : unpack_patch(entry.chunk, base_));
  } catch (Error& error) {
    throw error.at({path_, {}, entry.chunk.offset});
  }
}

// Decodes a delta, and before it the samples on which it is based.
std::shared_ptr<const SeriesMember> SnapshotReader::member(const Entry& entry) {
  const auto number_of = [this](const Entry& other) {
    return static_cast<std::uint16_t>(other.chunk.stream - bases_[other.base].stream);
  };
  std::vector<const Entry*> path;  // samples to decode, the last one first
  std::uint16_t number = number_of(entry);
  for (; number != 0 && !members_.find(number); number = base_of(number)) {
    const auto same_number = [&](const Entry& other) {
      return other.base == entry.base && number_of(other) == number && other.chunk.type != kStatePatch;
    };
    // The numbers rise, so the sample is at most `distance` entries before this one.
    const std::ptrdiff_t index = &entry - entries_.data();
    const std::ptrdiff_t distance = number_of(entry) - number;
    const auto found = std::find_if(entries_.begin() + index - std::min(index, distance), entries_.end(), same_number);
    if (found == entries_.end()) throw Error("The snapshot on which this one is based is missing");
    path.push_back(&*found);
  }
  std::shared_ptr<const SeriesMember> member = members_.find(number);
  if (!member) member = std::make_shared<const SeriesMember>(SeriesMember{0, decode_sample(base_), {}});
  members_.add(member);
  for (std::size_t i = path.size(); i-- > 0;) {
    const Payload delta = unpack_patch(path[i]->chunk, member->history);
    member = std::make_shared<const SeriesMember>(
        SeriesMember{number_of(*path[i]), apply_delta(member->sample, delta, kMostGrowth * base_.size()),
                     longer_history(member->history, delta)});
    members_.add(member);
  }
  return member;
}

}  // namespace kmt::kmt_format
