// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers of the .kmt format, version 1: docs/formats/kmt.md. All of them little-endian in the file.
#pragma once

#include <cstdint>
#include <string_view>

namespace kmt::kmt_format {

// The line ends show a transfer that mangled text, the first byte a channel of seven bits.
constexpr std::string_view kFileMagic{"\x89KMT\r\n\x1a\n", 8};
constexpr std::uint16_t kVersion = 1;
constexpr std::uint64_t kFileHeaderBytes = 16;

constexpr std::uint32_t kChunkMagic = 0x63544D4B;  // "KMTc"
constexpr std::uint64_t kChunkHeaderBytes = 32;    // the last 8 are the checksum of those before

enum ChunkType : std::uint8_t {
  kFacts = 1,        // names and texts about the machine and the recording
  kFormats = 2,      // event format descriptions
  kStream = 3,       // a CPU's ring buffer, whose events follow in chunks of its number
  kEvents = 4,       // a block of one stream's events
  kIndex = 5,        // where everything is
  kState = 6,        // texts of /proc at one time
  kProfile = 7,      // samples of a profile
  kTypes = 8,        // of recorded calls
  kStatePatch = 9,   // texts at a later time, as what differs from those of the last kState
  kUserMemory = 10,  // where code lay in the memory of processes
};
constexpr std::uint8_t kCompressed = 1;  // chunks' flags: zstd
constexpr std::uint8_t kPatch = 2;       // the same, with another payload in front of it that is not stored again

// What a reader has to be ready for, and no more: memory stays in proportion to the file.
constexpr std::uint32_t kMostPlainBytes = 64u << 20;  // of a chunk
constexpr std::uint64_t kMostRatio = 256;             // of a chunk's plain bytes to its stored ones
constexpr std::uint64_t kMostPatchRatio = 4096;       // the same of a patch
constexpr std::uint64_t kMostTextRatio = 64;          // of all facts, formats and samples to the file's size
constexpr std::uint64_t kMostEvents = 1u << 20;       // of a block

constexpr std::string_view kTrailerMagic{"KMTindex", 8};
constexpr std::uint64_t kTrailerBytes = 16;

}  // namespace kmt::kmt_format
