// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/block_store.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace kmt::kmt_format {

namespace {

void begin_file(FileWriter& file, const std::vector<PackedChunk>& begin, const std::vector<RecordStream>& streams) {
  for (const PackedChunk& chunk : begin) file.append(chunk);
  for (const RecordStream& stream : streams) file.append_stream(stream);
}

}  // namespace

FileStore::FileStore(std::vector<PackedChunk> begin, std::vector<RecordStream> streams)
    : begin_(std::move(begin)), streams_(std::move(streams)) {}

// Opens the new file. The new file replaces an older one only after its first chunks are written. If the recorder is
// killed earlier, the older file stays intact.
void FileStore::open() {
  if (file_) return;
  auto file = std::make_unique<FileWriter>(path_, Replaced::kept, kFeatureSteps);
  begin_file(*file, begin_, streams_);
  file->publish();
  begin_bytes_ = file->bytes();
  file_ = std::move(file);
}

void FileStore::write_waiting() {
  open();
  while (!samples_.empty()) {
    file_->append_sample(samples_.front());
    samples_.erase(samples_.begin());
  }
  if (!user_memory_.empty()) {
    UserMemory memory = user_memory_.take();
    try {
      file_->append_user_memory(memory);
    } catch (const Error&) {
      user_memory_.add(std::move(memory));
      throw;
    }
  }
  std::size_t written = 0;
  try {
    for (; written < waiting_.size(); ++written) file_->append(waiting_[written]);
  } catch (const Error&) {
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(written));
    throw;
  }
  waiting_.clear();
}

void FileStore::add(PackedBlock block) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(block));
  write_waiting();
}

// Queues the sample. It is written together with the next block.
void FileStore::add(const StateSample& sample) {
  const std::lock_guard lock(mutex_);
  samples_.push_back(sample);
}

void FileStore::add(UserMemory memory) {
  const std::lock_guard lock(mutex_);
  user_memory_.add(std::move(memory));
}

void FileStore::complete(const TraceDescription& end) {
  write_waiting();
  file_->append_end(end);
  file_->finish();
}

void FileStore::next_file(const std::string& path, const TraceDescription& end) {
  const std::lock_guard lock(mutex_);
  if (!path_.empty()) {
    complete(end);
    completed_bytes_ += file_->bytes();
    file_.reset();
  }
  path_ = path;
}

void FileStore::finish(const TraceDescription& end) {
  const std::lock_guard lock(mutex_);
  complete(end);
}

std::uint64_t FileStore::bytes() const {
  const std::lock_guard lock(mutex_);
  return file_ ? file_->bytes() - begin_bytes_ : 0;
}

std::uint64_t FileStore::all_bytes() const {
  const std::lock_guard lock(mutex_);
  return completed_bytes_ + (file_ ? file_->bytes() : 0);
}

FlightStore::FlightStore(std::vector<PackedChunk> begin, std::vector<RecordStream> streams, std::uint64_t most_bytes,
                         std::optional<std::uint64_t> most_ticks)
    : begin_(std::move(begin)), streams_(std::move(streams)), most_bytes_(most_bytes), most_ticks_(most_ticks) {}

void FlightStore::add(PackedBlock block) {
  const std::lock_guard lock(mutex_);
  bytes_ += block.chunk.bytes.size();
  newest_ticks_ = std::max(newest_ticks_, block.last_ticks);
  blocks_.push_back(std::make_shared<const PackedBlock>(std::move(block)));
  drop_old();
}

void FlightStore::drop_old() {
  while (blocks_.size() > 1) {
    const std::uint64_t last = blocks_.front()->last_ticks;
    const bool is_old = most_ticks_ && newest_ticks_ > last && newest_ticks_ - last > *most_ticks_;
    const bool too_much = bytes_ > most_bytes_;
    if (!is_old && !too_much) return;
    if (!is_old) was_short_of_memory_ = true;
    bytes_ -= blocks_.front()->chunk.bytes.size();
    blocks_.pop_front();
  }
}

void FlightStore::add(const StateSample& sample) {
  PackedChunk chunk = pack(kState, 0, encode_sample(sample));
  const std::lock_guard lock(mutex_);
  bytes_ += chunk.bytes.size();
  samples_.push_back(std::move(chunk));
  // All samples together may use only a part of the memory. If they use more, drop the oldest ones, but keep the very
  // first, because it shows the state at the start.
  constexpr std::size_t kFewest = 16;
  constexpr std::uint64_t kPart = 8;
  while (samples_.size() > kFewest && samples_.size() * samples_.back().bytes.size() > most_bytes_ / kPart) {
    bytes_ -= samples_[1].bytes.size();
    samples_.erase(samples_.begin() + 1);
  }
  drop_old();
}

FlightStore::Written FlightStore::write(const std::string& path, const TraceDescription& end) const {
  Blocks blocks;
  std::deque<PackedChunk> samples;
  {
    const std::lock_guard lock(mutex_);
    blocks = blocks_;
    samples = samples_;
  }
  Written written;
  for (;;) {
    try {
      FileWriter file(path, Replaced::kept, kFeatureSteps);
      write_to(file, end, blocks, samples);
      break;
    } catch (const Error&) {
      if (blocks.empty()) throw;
      for (std::size_t half = (blocks.size() + 1) / 2; half > 0; --half) {
        written.omitted += blocks.front()->events;
        blocks.pop_front();
      }
    }
  }
  for (const auto& block : blocks) written.events += block->events;
  return written;
}

void FlightStore::write_to(FileWriter& file, const TraceDescription& end, const Blocks& blocks,
                           const std::deque<PackedChunk>& samples) const {
  begin_file(file, begin_, streams_);
  for (const auto& block : blocks) file.append(*block);
  for (const PackedChunk& sample : samples) file.append(sample);
  file.append_end(end);
  file.finish();
}

bool FlightStore::was_short_of_memory() const {
  const std::lock_guard lock(mutex_);
  return was_short_of_memory_;
}

std::uint64_t FlightStore::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace kmt::kmt_format
