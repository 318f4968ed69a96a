// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/file_writer.hpp"

#include <sys/file.h>
#include <unistd.h>

#include "base/error.hpp"
#include "formats/kmt/symbols.hpp"
#include "formats/kmt/user_memory.hpp"

namespace kmt::kmt_format {

namespace {

std::string_view as_text(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

// Only the owner can read the file, because a trace contains addresses of kernel code and objects. The lock prevents
// other recorders from writing it.
FileWriter::FileWriter(const std::string& path, Replaced replaced, std::uint32_t features) : file_(path, replaced) {
  ::flock(file_.fd(), LOCK_EX | LOCK_NB);
  std::vector<std::uint8_t> header(kFileHeaderBytes);  // magic, version, features: docs/formats/kmt.md
  kFileMagic.copy(reinterpret_cast<char*>(header.data()), kFileMagic.size());
  store<std::uint16_t>(header.data() + kFileMagic.size(), kVersion, ByteOrder::little);
  store<std::uint32_t>(header.data() + kFileHeaderBytes - sizeof features, features, ByteOrder::little);
  file_.write(as_text(header));
  size_ = header.size();
}

PackedChunk pack_symbols(const TraceDescription& description) {
  const auto bytes_of = [](const std::string& text) {
    return Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  };
  const auto packed = [&](const SymbolColumns& symbols) {
    return PackedChunk{kSymbols, 0,
                       make_text_chunk(kSymbols, 0, encode_symbols_head(symbols), bytes_of(symbols.names))};
  };
  if (const SymbolColumns* const symbols = description.kernel.kallsyms.columns()) return packed(*symbols);
  const std::string text = description.kernel.kallsyms.text();
  const KallsymsText converted = KallsymsText::in_columns(text);
  // A reader refuses columns of a larger text.
  if (const SymbolColumns* const symbols = converted.columns(); symbols != nullptr && text.size() <= kMostPlainBytes)
    return packed(*symbols);
  return {kFacts, 0, make_text_chunk(kFacts, 0, encode_kallsyms_head(text.size()), bytes_of(text))};
}

std::vector<PackedChunk> pack_description(const TraceDescription& description) {
  std::vector<PackedChunk> chunks;
  chunks.push_back(pack(kFacts, 0, encode_facts(description)));
  chunks.push_back(pack(kFormats, 0, encode_formats(description.kernel.formats)));
  chunks.push_back(pack_symbols(description));
  if (const CallTypes& types = description.kernel.call_types; !types.empty())
    chunks.push_back(pack(kTypes, 0, encode_types(types)));
  if (const UserMemory& memory = description.kernel.user_memory; !memory.empty())
    chunks.push_back(pack(kUserMemory, 0, encode_user_memory(memory)));
  return chunks;
}

void FileWriter::append(const PackedChunk& chunk) {
  write_whole(chunk.bytes);
  index_.add(size_, chunk.type, chunk.stream);
  size_ += chunk.bytes.size();
}

void FileWriter::append_description(const TraceDescription& description) {
  for (const PackedChunk& chunk : pack_description(description)) append(chunk);
}

void FileWriter::append_end(const TraceDescription& description) {
  append(pack(kFacts, 0, encode_end_facts(description)));
  // Writes all mappings once more, because those that were written during the recording may lack symbols.
  if (const UserMemory& memory = description.kernel.user_memory; !memory.objects.empty() || !memory.empty())
    append_user_memory(memory);
}

void FileWriter::append_sample(const StateSample& sample) { append(pack(kState, 0, encode_sample(sample))); }

void FileWriter::append_user_memory(const UserMemory& memory) {
  append(pack(kUserMemory, 0, encode_user_memory(memory)));
}

std::uint16_t FileWriter::append_stream(const RecordStream& stream) {
  if (streams_ == 0xFFFF) throw Error("A .kmt file can have at most 65535 streams");
  append(pack(kStream, streams_, encode_stream(stream)));
  return streams_++;
}

void FileWriter::append(const PackedBlock& block) {
  append(block.chunk);
  index_.add_events(block.events, block.first_ticks, block.last_ticks);
}

void FileWriter::finish() {
  write_whole(index_.end_of_file(size_));
  file_.finish();
}

void FileWriter::write_whole(const std::vector<std::uint8_t>& bytes) {
  try {
    file_.write(as_text(bytes));
  } catch (const Error&) {
    if (::ftruncate(file_.fd(), static_cast<off_t>(size_)) == 0) ::lseek(file_.fd(), 0, SEEK_END);
    throw;
  }
}

}  // namespace kmt::kmt_format
