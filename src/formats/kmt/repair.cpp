// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/repair.hpp"

#include <algorithm>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"
#include "formats/kmt/block_span.hpp"
#include "formats/kmt/chunk.hpp"
#include "formats/kmt/description.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/index.hpp"
#include "formats/kmt/sample_series.hpp"

namespace kmt::kmt_format {

namespace {

constexpr std::size_t kMostNotes = 20;  // maximum number of notes about damaged places

// If only the end of the file is missing, each line of the note `repaired` ends with one of these texts.
constexpr const char* kCutChunk = "an incomplete chunk at the end";
constexpr const char* kNoIndex = "the index was missing: it is unknown what followed the last chunk";

class Planner {
 public:
  explicit Planner(Bytes file) : file_(file), end_(file.size() - (has_trailer(file) ? kTrailerBytes : 0)) {
    Findings ignored;
    FileContents contents = parse_file(file, ignored);
    description_ = std::move(contents.description);
    for (const auto& [number, blocks] : contents.streams)
      streams_[number] = {blocks.stream.cpu, blocks.stream.buffer, 0, 0, {}};
    keep({0, kFileHeaderBytes});
  }

  Repair plan() {
    walk();
    if (kept_bytes_ == kFileHeaderBytes)
      throw Error("Nothing in the file is intact").hint("Try another copy of the file");
    repair_.readable = !description_.kernel.header_page.empty() || (repair_.snapshots > 0 && !repair_.has_trace);
    repair_.lacked_index = !index_;
    repair_.needed = !is_whole();
    if (repair_.lacked_index || !repair_.omitted.empty()) append_note();
    const std::vector<std::uint8_t> end = new_index_.end_of_file(kept_bytes_);
    repair_.end.insert(repair_.end.end(), end.begin(), end.end());
    for (auto& [number, stream] : streams_) repair_.streams.push_back(std::move(stream));
    return std::move(repair_);
  }

 private:
  void walk() {
    const Bytes chunks = file_.first(to_size(end_));
    for (std::uint64_t offset = kFileHeaderBytes; offset < end_;) {
      const std::optional<Chunk> chunk = find_chunk(chunks, offset);
      const std::uint64_t next = chunk ? chunk->offset : end_;
      // Bytes after an index at the end of the file are an incomplete trailer if they are fewer than a trailer has. No
      // data is lost then.
      if (next > offset && !(index_ && !chunk && end_ - offset < kTrailerBytes))
        leave_out({offset, next - offset}, chunk ? "not a chunk" : kCutChunk);
      if (!chunk) break;
      offset = chunk->end();
      take(*chunk);
    }
  }

  void take(const Chunk& chunk) {
    const Repair::Range range{chunk.offset, chunk.end() - chunk.offset};
    index_.reset();
    if (!is_intact(chunk)) return leave_out(range, "a chunk whose checksum is wrong");
    if (chunk.type == kIndex) {
      index_ = chunk;
      return;
    }
    if (is_sample(chunk.type) && !readable_samples_.take(chunk))
      return leave_out(range, "a snapshot that is unreadable without a damaged one");
    new_index_.add(kept_bytes_, chunk.type, chunk.stream);
    keep(range);
    repair_.snapshots += is_sample(chunk.type) ? 1 : 0;
    repair_.has_trace = repair_.has_trace || is_trace_part(chunk.type);
    if (chunk.type != kEvents) return;
    const BlockSpan span = span_of(chunk, description_.kernel.byte_order);
    new_index_.add_events(span.events, span.first_ticks, span.last_ticks);
    const auto stream = streams_.find(chunk.stream);
    // The CPU of the events is unknown, because the stream's description is missing.
    if (stream == streams_.end()) return;
    ++stream->second.blocks;
    stream->second.events += span.events;
    if (span.events > 0) stream->second.last_ns = description_.kernel.clock_scale.to_ns(span.last_ticks);
  }

  void keep(Repair::Range range) {
    kept_bytes_ += range.bytes;
    if (!repair_.kept.empty() && repair_.kept.back().offset + repair_.kept.back().bytes == range.offset)
      repair_.kept.back().bytes += range.bytes;
    else
      repair_.kept.push_back(range);
  }

  void leave_out(Repair::Range range, const char* what) { repair_.omitted.push_back({range, what}); }

  bool is_whole() const {
    return repair_.only_end() && repair_.omitted.empty() && index_ && index_->end() + kTrailerBytes == file_.size() &&
           has_trailer(file_) && load<std::uint64_t>(file_.data() + end_, ByteOrder::little) == index_->offset &&
           is_same_index(*index_);
  }
  bool is_same_index(const Chunk& index) const {
    try {
      return unpack(index) == new_index_.bytes();
    } catch (const Error&) {
      return false;
    }
  }

  void append_note() {
    std::string note = description_.repaired;
    std::size_t notes = 0;
    for (const auto& [range, what] : repair_.omitted)
      if (++notes <= kMostNotes) note += fmt::format("{} bytes at offset {:#x}: {}\n", range.bytes, range.offset, what);
    if (notes > kMostNotes) note += fmt::format("{} more places\n", notes - kMostNotes);
    if (repair_.lacked_index) note += fmt::format("{}\n", kNoIndex);
    repair_.end = make_chunk(kFacts, 0, encode_fact("repaired", note));
    new_index_.add(kept_bytes_, kFacts, 0);
    kept_bytes_ += repair_.end.size();
  }

  Bytes file_;
  std::uint64_t end_;  // end of the chunks, in bytes from the start of the file
  TraceDescription description_;
  ReadableSamples readable_samples_;  // of the samples that are kept
  std::map<std::uint16_t, Repair::Stream> streams_;
  Repair repair_;
  std::optional<Chunk> index_;  // set if the last chunk is an index
  Index new_index_;
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace

bool names_only_the_end(std::string_view note) {
  const auto names_end = [](std::string_view line) { return line.ends_with(kCutChunk) || line == kNoIndex; };
  return note.empty() || std::ranges::all_of(split(trim(note), '\n'), names_end);
}

Repair plan_repair(Bytes file) { return Planner(file).plan(); }

void repair_in_place(const std::string& path, std::uint64_t size, const Repair& repair) {
  const FileDescriptor file = open_file(path, O_WRONLY);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw system_error("Cannot stat", path);
  if (static_cast<std::uint64_t>(status.st_size) != size)
    throw Error("The file has changed meanwhile")
        .at({path, {}, {}})
        .hint("A recording may still be writing it: repair it after the recording has ended");
  const auto kept = static_cast<off_t>(repair.kept.front().bytes);
  if (::ftruncate(file.get(), kept) != 0) throw system_error("Cannot truncate", path);
  if (::lseek(file.get(), kept, SEEK_SET) != kept) throw system_error("Cannot seek", path);
  write_all(file.get(), as_text(repair.end), path);
  if (::fsync(file.get()) != 0) throw system_error("Cannot write", path);
}

void write_repaired(const std::string& path, Bytes file, const Repair& repair) {
  struct stat old {};
  const bool exists = ::lstat(path.c_str(), &old) == 0 && !S_ISLNK(old.st_mode);
  if (exists && !S_ISREG(old.st_mode))
    throw Error("The output exists and is not a regular file").hint("Name another file with -o").at({path, {}, {}});

  NewFile out(path);
  for (const auto& [offset, bytes] : repair.kept) out.write(as_text(file.subspan(to_size(offset), to_size(bytes))));
  out.write(as_text(repair.end));
  out.finish();
}

}  // namespace kmt::kmt_format
