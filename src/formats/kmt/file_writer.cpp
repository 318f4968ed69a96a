// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/file_writer.hpp"

#include <fcntl.h>

#include "base/error.hpp"
#include "base/varint.hpp"

namespace kmt::kmt_format {

namespace {

std::string_view as_text(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

FileWriter::FileWriter(const std::string& path) : path_(path), file_(open_file(path, O_WRONLY | O_CREAT | O_TRUNC)) {
  std::vector<std::uint8_t> header(kFileHeaderBytes);  // version, then two fields that are zero: docs/formats/kmt.md
  kFileMagic.copy(reinterpret_cast<char*>(header.data()), kFileMagic.size());
  store<std::uint16_t>(header.data() + kFileMagic.size(), kVersion, ByteOrder::little);
  write_all(file_.get(), as_text(header), path_);
  size_ = header.size();
}

// Every chunk has an entry in the index: how far it is from the one before, and what it is; a block of events also
// how many and from when to when.
std::uint64_t FileWriter::append(ChunkType type, std::uint16_t stream, const std::vector<std::uint8_t>& plain) {
  const std::vector<std::uint8_t> chunk = make_chunk(type, stream, plain);
  write_all(file_.get(), as_text(chunk), path_);
  const std::uint64_t offset = size_;
  size_ += chunk.size();
  append_varint(index_, offset - last_offset_);
  last_offset_ = offset;
  index_.push_back(type);
  append_varint(index_, stream);
  return offset;
}

void FileWriter::append_description(const TraceDescription& description) {
  append(kFacts, 0, encode_facts(description));
  append(kFormats, 0, encode_formats(description.kernel.formats));
}

std::uint16_t FileWriter::append_stream(const RecordStream& stream) {
  if (streams_ == 0xFFFF) throw Error("A .kmt file holds no more than 65535 streams");
  append(kStream, streams_, encode_stream(stream));
  return streams_++;
}

void FileWriter::append_events(std::uint16_t stream, const EventBlock& block) {
  append(kEvents, stream, block.bytes);
  append_varint(index_, block.events);
  append_varint(index_, block.first_ticks);
  append_varint(index_, block.last_ticks - block.first_ticks);
}

void FileWriter::finish() {
  const std::vector<std::uint8_t> index = index_;
  const std::uint64_t offset = append(kIndex, 0, index);
  std::vector<std::uint8_t> trailer(8);
  store(trailer.data(), offset, ByteOrder::little);
  write_all(file_.get(), as_text(trailer), path_);
  write_all(file_.get(), kTrailerMagic, path_);
}

}  // namespace kmt::kmt_format
