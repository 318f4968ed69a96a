// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/snapshot.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/kmt/file.hpp"

namespace kmt::kmt_format {

namespace {

// Maximum number of patches after a full snapshot. The number is limited because damage to the full snapshot makes all
// its patches unreadable. Also, patches get larger with time, because more has changed since the full snapshot.
constexpr std::size_t kMostPatches = 64;
// Limits the unpacked size of all snapshots to this multiple of the file's size. Files of idle machines reach a
// multiple of 300.
constexpr std::uint64_t kMostSeriesRatio = 320;
constexpr std::uint64_t kAnySeries = 64u << 20;

}  // namespace

SnapshotWriter::SnapshotWriter(const std::string& path, const KernelDescription& kernel) : file_(path) {
  TraceDescription description;
  description.kernel = kernel;
  description.uname = uname_of(kernel);
  file_.append(pack(kFacts, 0, encode_facts(description)));
}

void SnapshotWriter::add(const StateSample& sample) {
  std::vector<std::uint8_t> plain = encode_sample(sample);
  if (!base_.empty() && patches_ < kMostPatches) {
    PackedChunk patch{kStatePatch, number_, make_patch(kStatePatch, number_, base_, plain)};
    if (!patch.bytes.empty() && patch.bytes.size() < base_stored_ / 2) {
      file_.append(patch);
      ++patches_;
      return;
    }
  }
  const PackedChunk whole = pack(kState, ++number_, plain);
  file_.append(whole);
  base_ = std::move(plain);
  base_stored_ = whole.bytes.size();
  patches_ = 0;
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
    while (const std::optional<Chunk> chunk = find_chunk(file.bytes, offset)) {
      if (chunk->offset != offset) add_damage(offset, fmt::format("{} bytes are not a chunk", chunk->offset - offset));
      offset = chunk->end();
      if (chunk->type == kFacts) read_facts(*chunk, description);
      if (chunk->type == kState || chunk->type == kStatePatch) {
        if (chunk->plain_bytes > unpacked_left) {
          add_damage(chunk->offset, "more snapshots than a file of this size can have: the rest is dropped");
          break;
        }
        unpacked_left -= chunk->plain_bytes;
      }
      if (chunk->type == kState) bases_.push_back(*chunk);
      const bool has_base = !bases_.empty() && bases_.back().stream == chunk->stream;
      if (chunk->type == kState || (chunk->type == kStatePatch && has_base))
        entries_.push_back({*chunk, bases_.size() - 1});
      else if (chunk->type == kStatePatch)
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
      base_ = unpack(bases_[entry.base]);
      unpacked_ = entry.base;
    }
    return decode_sample(entry.chunk.type == kState ? base_ : unpack_patch(entry.chunk, base_));
  } catch (Error& error) {
    throw error.at({path_, {}, entry.chunk.offset});
  }
}

}  // namespace kmt::kmt_format
