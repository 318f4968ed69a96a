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

void FileStore::open() {
  if (file_) return;
  auto file = std::make_unique<FileWriter>(path_);
  begin_file(*file, begin_, streams_);
  for (const StateSample& sample : samples_) file->append_sample(sample);
  file_ = std::move(file);  // one whose begin could not be written is begun anew
  samples_.clear();
}

void FileStore::write_waiting() {
  open();
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

void FileStore::add(const StateSample& sample) {
  const std::lock_guard lock(mutex_);
  if (file_)
    file_->append_sample(sample);
  else
    samples_.push_back(sample);
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
  return file_ ? file_->bytes() : 0;
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
  while (!blocks_.empty()) {
    const bool is_old = most_ticks_ && blocks_.front()->last_ticks + *most_ticks_ < newest_ticks_;
    const bool too_much = bytes_ > most_bytes_;
    if (!is_old && !too_much) return;
    if (!is_old) was_short_of_memory_ = true;
    bytes_ -= blocks_.front()->chunk.bytes.size();
    blocks_.pop_front();
  }
}

void FlightStore::add(const StateSample& sample) {
  constexpr std::size_t kMostSamples = 1000;
  const std::lock_guard lock(mutex_);
  samples_.push_back(sample);
  if (samples_.size() > kMostSamples) samples_.erase(samples_.begin() + 1);  // the first one tells of the start
}

std::uint64_t FlightStore::write(const std::string& path, const TraceDescription& end) const {
  std::deque<std::shared_ptr<const PackedBlock>> blocks;
  std::deque<StateSample> samples;
  {
    const std::lock_guard lock(mutex_);
    blocks = blocks_;
    samples = samples_;
  }
  FileWriter file(path);
  begin_file(file, begin_, streams_);
  std::uint64_t events = 0;
  for (const auto& block : blocks) {
    file.append(*block);
    events += block->events;
  }
  for (const StateSample& sample : samples) file.append_sample(sample);
  file.append_end(end);
  file.finish();
  return events;
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
