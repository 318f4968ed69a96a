// SPDX-License-Identifier: GPL-2.0-or-later
// Constants of the .kmt format, version 1: docs/formats/kmt.md. All are little-endian in the file.
#pragma once

#include <cstdint>
#include <string_view>

namespace kmt::kmt_format {

// The line ends reveal a transfer that mangled text, the first byte a 7-bit channel.
constexpr std::string_view kFileMagic{"\x89KMT\r\n\x1a\n", 8};
constexpr std::uint16_t kVersion = 1;
constexpr std::uint64_t kFileHeaderBytes = 16;

constexpr std::uint32_t kChunkMagic = 0x63544D4B;  // "KMTc"
constexpr std::uint64_t kChunkHeaderBytes = 32;    // the last 8 are the checksum of those before

enum ChunkType : std::uint8_t {
  kFacts = 1,        // names and texts about the machine and the recording
  kFormats = 2,      // event format descriptions
  kStream = 3,       // a CPU's ring buffer; its number is in the chunks of its events
  kEvents = 4,       // a block of one stream's events
  kIndex = 5,        // places of all chunks
  kState = 6,        // texts of /proc at one time
  kProfile = 7,      // samples of a profile
  kTypes = 8,        // of recorded calls
  kStatePatch = 9,   // later texts, as the difference to the last kState
  kUserMemory = 10,  // mappings of code in processes
};
// A file without such chunks is no trace.
constexpr bool is_trace_part(std::uint8_t type) { return type == kFormats || type == kStream || type == kEvents; }

constexpr std::uint8_t kCompressed = 1;  // chunks' flags: zstd
constexpr std::uint8_t kPatch = 2;       // the same, with an earlier payload as prefix that is not stored again

// The most that a reader must handle, so that its memory stays in proportion to the file.
constexpr std::uint32_t kMostPlainBytes = 64u << 20;  // of a chunk
constexpr std::uint64_t kMostRatio = 256;             // of a chunk's plain bytes to its stored ones
constexpr std::uint64_t kMostPatchRatio = 4096;       // the same of a patch
constexpr std::uint64_t kMostTextRatio = 64;          // of all facts, formats and samples to the file's size
constexpr std::uint64_t kMostEvents = 1u << 20;       // of a block

constexpr std::string_view kTrailerMagic{"KMTindex", 8};
constexpr std::uint64_t kTrailerBytes = 16;

}  // namespace kmt::kmt_format
