// SPDX-License-Identifier: GPL-2.0-or-later
// Constants of the .kmt format, version 1: docs/formats/kmt.md. All numbers are little-endian in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kmt::kmt_format {

// Like the magic number of PNG, this one reveals damage by a file transfer: text mode changes the line ends, and a
// transfer of 7 bits changes the first byte.
constexpr std::string_view kFileMagic{"\x89KMT\r\n\x1a\n", 8};
constexpr std::uint16_t kVersion = 1;
constexpr std::uint64_t kFileHeaderBytes = 16;
constexpr std::uint32_t kFeatureSteps = 1;  // feature that a reader must support: blocks with kTimesInSteps

constexpr std::uint32_t kChunkMagic = 0x63544D4B;  // "KMTc"
constexpr std::size_t kChunkHeaderBytes = 32;      // the last 8 bytes are the checksum of all preceding bytes

enum ChunkType : std::uint8_t {
  kFacts = 1,        // names and texts about the machine and the recording
  kFormats = 2,      // event format descriptions
  kStream = 3,       // description of a CPU's ring buffer; its kEvents chunks have the same stream number
  kEvents = 4,       // a block of events of one stream
  kIndex = 5,        // positions of all chunks
  kState = 6,        // a snapshot: texts from /proc at one time
  kProfile = 7,      // samples of a profile
  kTypes = 8,        // types of recorded calls
  kStatePatch = 9,   // a later snapshot, as the difference to the last kState; older versions write it
  kUserMemory = 10,  // code mappings of processes
  kStateDelta = 11,  // a later snapshot, as the difference to an earlier one, by lines and numbers
  kSymbols = 12,     // the kernel's symbols
};
// True for chunk types that contain a snapshot.
constexpr bool is_sample(std::uint8_t type) { return type == kState || type == kStatePatch || type == kStateDelta; }
// True for chunk types that only traces have.
constexpr bool is_trace_part(std::uint8_t type) { return type == kFormats || type == kStream || type == kEvents; }

constexpr std::uint8_t kCompressed = 1;  // chunk flag: the payload is compressed with zstd
constexpr std::uint8_t kPatch = 2;       // chunk flag: compressed with zstd; an earlier payload is the prefix

// Limits for readers, so that the memory that they need stays in proportion to the file's size.
constexpr std::uint32_t kMostPlainBytes = 64u << 20;  // maximum uncompressed size of a chunk, in bytes
constexpr std::uint64_t kMostRatio = 256;             // maximum ratio of a chunk's uncompressed size to its stored size
constexpr std::uint64_t kMostPatchRatio = 4096;       // maximum ratio of a patch's uncompressed size to its stored size
// Maximum ratio of the size of all facts, formats and samples to the file's size.
constexpr std::uint64_t kMostTextRatio = 64;
constexpr std::uint64_t kMostEvents = 1u << 20;  // maximum number of events in a block

// Flag in the first shift of a block: the times are in steps of the clock. Otherwise, they are varints of ticks.
constexpr std::uint8_t kTimesInSteps = 0x80;

constexpr std::string_view kTrailerMagic{"KMTindex", 8};
constexpr std::uint64_t kTrailerBytes = 16;

}  // namespace kmt::kmt_format
