// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/file.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/kmt/symbols.hpp"
#include "formats/kmt/user_memory.hpp"
#include "trace/code/user_memory_parts.hpp"

namespace kmt::kmt_format {

namespace {

struct End {
  bool finished;         // true if the file has a trailer
  bool indexed;          // true if the last chunk is an index; if there is a trailer, it must point to this chunk
  std::uint64_t offset;  // end of the last chunk, in bytes from the start of the file
  std::uint64_t size;    // size of the file without the trailer, in bytes
};

// True if the file has a snapshot of the machine's memory but no trace.
bool is_snapshot(const FileContents& contents) {
  const TraceDescription& description = contents.description;
  return !description.samples.empty() && description.kernel.formats.empty() && contents.streams.empty();
}

void report_end(FileContents& contents, const End& end, Findings& findings) {
  if (end.finished && !end.indexed)
    findings.add({Imperfection::damaged_section, "the file's end does not name its index", {}, end.size});
  if (!end.finished && end.offset < end.size)
    findings.add({Imperfection::truncated_file,
                  fmt::format("its last {} bytes are not a complete chunk", end.size - end.offset),
                  {},
                  end.offset});
  else if (!end.finished)
    findings.add({Imperfection::unfinished_file,
                  end.indexed ? "only the trailer after the index is missing" : "",
                  {},
                  end.size});
  const TraceDescription& description = contents.description;
  if (!description.repaired.empty())
    for (const std::string_view line : split(trim(description.repaired), '\n'))
      findings.add({Imperfection::repaired_file, printable(line)});
  if (description.cpu_stats.empty() && contents.profile.empty() && !is_snapshot(contents))
    findings.add({Imperfection::unknown_loss, ""});
  contents.cut_off = !end.indexed || !description.repaired.empty();
}

}  // namespace

void check_header(Bytes file) {
  ByteReader in(file, ByteOrder::little);
  in.skip(kFileMagic.size());
  const std::uint16_t version = in.u16();
  in.skip(2);  // feature flags that a reader may ignore
  const std::uint32_t features = in.u32();
  if (version == kVersion && (features & ~kFeatureSteps) == 0) return;
  throw Error(version == kVersion
                  ? fmt::format("Cannot read this .kmt: it needs the features {:#x}, which this program lacks",
                                features & ~kFeatureSteps)
                  : fmt::format("Cannot read version {} of .kmt; this program knows version {}", version, kVersion))
      .hint("A newer kmemtrace wrote the file: read it with that version, or use that version to convert it");
}

bool is_kmt(Bytes file) {
  return file.size() >= kFileMagic.size() &&
         std::equal(kFileMagic.begin(), kFileMagic.end(), file.begin(),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

Content content_of(Bytes file) {
  Content content = Content::unknown;
  if (!is_kmt(file) || file.size() < kFileHeaderBytes) return content;
  std::uint64_t offset = kFileHeaderBytes;
  while (const std::optional<Chunk> chunk = find_chunk(file, offset)) {
    offset = chunk->end();
    if (is_trace_part(chunk->type)) return Content::trace;
    if (chunk->type == kProfile) return Content::profile;
    if (chunk->type == kState) content = Content::snapshots;
  }
  return content;
}

bool has_trailer(Bytes file) {
  if (file.size() < kFileHeaderBytes + kTrailerBytes) return false;
  const Bytes magic = file.last(kTrailerMagic.size());
  return std::equal(magic.begin(), magic.end(), kTrailerMagic.begin(),
                    [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); });
}

// Finds chunks by their headers, not by the index, because every file has the headers. They contain the same facts as
// the index, and reading them is cheap: a header has only 32 bytes.
FileContents parse_file(Bytes file, Findings& findings) {
  check_header(file);
  FileContents contents;
  const bool finished = has_trailer(file);
  const std::uint64_t end = finished ? file.size() - kTrailerBytes : file.size();
  const Bytes chunks = file.first(to_size(end));

  // The unpacked size of all facts, formats and samples so far. It may exceed the size of the file only by a fixed
  // factor.
  std::uint64_t text_bytes = 0;
  const auto unpack_text = [&](const Chunk& chunk) {
    text_bytes += chunk.plain_bytes;
    if (text_bytes > std::max<std::uint64_t>(kMostPlainBytes, kMostTextRatio * file.size()))
      throw Error("The texts in the file are too large for a file of this size");
    return unpack(chunk);
  };

  bool indexed = false;
  std::set<std::uint16_t> described;
  UserMemoryParts user_memory;
  std::uint64_t offset = kFileHeaderBytes;
  while (offset < end) {
    const std::optional<Chunk> chunk = find_chunk(chunks, offset);
    if (!chunk && !finished) break;
    if (!chunk || chunk->offset != offset)
      findings.add({Imperfection::damaged_block,
                    fmt::format("{} bytes are not a chunk", (chunk ? chunk->offset : end) - offset),
                    {},
                    offset});
    if (!chunk) break;
    indexed = false;
    offset = chunk->end();
    try {
      switch (chunk->type) {
        case kFacts: decode_facts(unpack_text(*chunk), contents.description); break;
        case kSymbols: contents.description.kernel.kallsyms = decode_symbols(unpack_text(*chunk)); break;
        case kFormats: decode_formats(unpack_text(*chunk), contents.description.kernel.formats); break;
        case kStream:
          contents.streams[chunk->stream].stream = decode_stream(unpack_text(*chunk));
          described.insert(chunk->stream);
          break;
        case kState: contents.description.samples.push_back(decode_sample(unpack_text(*chunk))); break;
        case kStatePatch:  // only files of snapshots have differences, which SnapshotReader reads
        case kStateDelta:
          if (!is_intact(*chunk)) throw Error("The chunk's checksum is wrong");
          break;
        case kTypes: contents.description.kernel.call_types = decode_types(unpack_text(*chunk)); break;
        case kUserMemory: user_memory.add(decode_user_memory(unpack_text(*chunk))); break;
        case kProfile: contents.profile.push_back(unpack_text(*chunk)); break;
        case kEvents: contents.streams[chunk->stream].blocks.push_back(*chunk); break;
        case kIndex:
          unpack(*chunk);
          indexed = !finished || load<std::uint64_t>(file.data() + end, ByteOrder::little) == chunk->offset;
          break;
        default:
          unpack(*chunk);
          findings.add(
              {Imperfection::unknown_section, fmt::format("chunk of type {}", chunk->type), {}, chunk->offset, {}});
      }
    } catch (const Error& error) {
      findings.add({Imperfection::damaged_section, error.what(), {}, chunk->offset});
    }
  }
  contents.description.kernel.user_memory = user_memory.take();
  report_end(contents, {finished, indexed, offset, end}, findings);
  std::set<std::pair<unsigned, std::string>> known;
  std::erase_if(contents.streams, [&](const auto& numbered) {
    const auto& [number, blocks] = numbered;
    const RecordStream& stream = blocks.stream;
    // Drop events of streams without a description, because their CPU is unknown. Reporting them for a wrong CPU would
    // be worse.
    if (!described.contains(number))
      findings.add({Imperfection::missing_section, fmt::format("description of stream {}", number)});
    else if (known.emplace(stream.cpu, stream.buffer).second)
      return false;
    else
      findings.add({Imperfection::damaged_section,
                    fmt::format("stream {} is dropped: its CPU and buffer already have another stream", number),
                    stream.cpu});
    return true;
  });
  return contents;
}

FileContents parse_trace(Bytes file, Findings& findings) {
  FileContents contents = parse_file(file, findings);
  if (is_snapshot(contents))
    throw Error("The file is a snapshot of the kernel's memory, not a trace")
        .hint(
            "Show it: kmemtrace snapshot FILE, which also reports damaged parts. For a series (kmemtrace snapshot "
            "--every 10s -o FILE), use leaks, "
            "report or timeline to see the changes over time");
  if (contents.profile.empty()) return contents;
  throw Error("The file is a sampled profile of the heap, not a trace").hint("Show it: kmemtrace profile --show FILE");
}

}  // namespace kmt::kmt_format
