// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/recording.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"

namespace kmt::kmt_format {

namespace {

// Packs the description, and then frees the kernel's symbols, which need several megabytes.
std::vector<PackedChunk> begin_of(KernelDescription& kernel) {
  TraceDescription description;
  description.uname = uname_of(kernel);
  description.kernel = std::move(kernel);
  std::vector<PackedChunk> chunks = pack_description(description);
  kernel = std::move(description.kernel);
  kernel.kallsyms = {};
  return chunks;
}

std::unique_ptr<FlightStore> flight_store(KernelDescription& kernel, const std::vector<unsigned>& cpus,
                                          const std::optional<Flight>& flight) {
  if (!flight) return nullptr;
  std::optional<std::uint64_t> ticks;
  if (flight->time_ns) ticks = kernel.clock_scale.to_ticks(*flight->time_ns);
  return std::make_unique<FlightStore>(begin_of(kernel), live_streams(kernel, cpus), flight->bytes, ticks);
}

}  // namespace

std::string numbered_path(const std::string& path, unsigned number) {
  const std::filesystem::path whole(path);
  const std::string name = fmt::format("{}.{:04}{}", whole.stem().string(), number, whole.extension().string());
  return whole.parent_path() / name;
}

unsigned last_number(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::string begin = whole.stem().string() + ".";
  const std::string end = whole.extension().string();
  unsigned last = 0;
  for (const std::string& name : names_in(std::filesystem::absolute(whole).parent_path())) {
    if (!name.starts_with(begin) || !name.ends_with(end) || name.size() <= begin.size() + end.size()) continue;
    const std::string digits = name.substr(begin.size(), name.size() - begin.size() - end.size());
    last = std::max(last, parse_number<unsigned>(digits).value_or(0));
  }
  return last;
}

Recording::Recording(std::string path, KernelDescription kernel, const std::vector<unsigned>& cpus,
                     std::optional<Rotation> rotation, std::optional<Flight> flight)
    : path_(std::move(path)),
      rotation_(rotation),
      file_(flight ? nullptr : std::make_unique<FileStore>(begin_of(kernel), live_streams(kernel, cpus))),
      flight_(flight_store(kernel, cpus, flight)),
      encoder_(kernel, cpus, flight_ ? static_cast<BlockStore&>(*flight_) : *file_),
      numbers_used_(rotation || flight ? last_number(path_) : 0) {
  if (file_) file_->next_file(rotation_ ? next_path() : path_, {});
}

void Recording::add(const StateSample& sample) {
  if (flight_)
    flight_->add(sample);
  else
    file_->add(sample);
}

void Recording::add(UserMemory memory) { file_->add(std::move(memory)); }

std::uint64_t Recording::bytes() const { return flight_ ? flight_->bytes() : file_->all_bytes(); }

void Recording::ask_for_file() {
  if (flight_) asked_ = Asked::yes;
}

std::optional<std::string> Recording::turn(double seconds, const std::function<TraceDescription()>& now) {
  if (rotation_ && asked_ == Asked::no && is_full(seconds)) asked_ = Asked::yes;
  if (asked_ == Asked::yes) {
    encoder_.ask_for_blocks();
    asked_ = Asked::blocks_come;
    return std::nullopt;
  }
  if (asked_ == Asked::no) return std::nullopt;
  asked_ = Asked::no;
  if (rotation_) return rotate(seconds, now);
  const std::string path = next_path();
  last_file_ = flight_->write(path, now());
  ++files_written_;
  return path;
}

bool Recording::is_full(double seconds) const {
  return (rotation_->bytes && file_->bytes() >= *rotation_->bytes) ||
         (rotation_->seconds && seconds - file_begun_ >= *rotation_->seconds);
}

std::optional<std::string> Recording::rotate(double seconds, const std::function<TraceDescription()>& now) {
  std::string completed = file_->path();
  file_->next_file(next_path(), now());
  kept_files_.push_back(completed);
  ++files_written_;
  file_begun_ = seconds;
  remove_old_files();
  return completed;
}

// Removes the oldest files if there are more than Rotation::keep. The current file counts too, although it is not in
// kept_files_.
void Recording::remove_old_files() {
  while (rotation_->keep > 0 && kept_files_.size() + 1 > rotation_->keep) {
    std::error_code code;
    if (std::filesystem::remove(kept_files_.front(), code)) ++files_removed_;
    kept_files_.pop_front();
  }
}

std::string Recording::finish(const TraceDescription& end) {
  try {
    encoder_.finish();
  } catch (const Error&) {
    // The store kept the blocks and will try again.
  }
  ++files_written_;
  if (flight_) {
    last_file_ = flight_->write(path_, end);
    return path_;
  }
  file_->finish(end);
  return file_->path();
}

}  // namespace kmt::kmt_format
