// SPDX-License-Identifier: GPL-2.0-or-later
// Unpacks the zstd stream in PERF_RECORD_COMPRESSED records. A file has one stream, which is split into pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/byte_reader.hpp"

struct ZSTD_DCtx_s;

namespace kmt::perfdata {

class Unpacker {
 public:
  // unpack() throws Error if the stream has more than `most_bytes` unpacked bytes.
  explicit Unpacker(std::uint64_t most_bytes);

  // Sets the next piece. Drops the rest of the previous piece.
  void feed(Bytes packed) { packed_ = packed; }
  // Appends the next unpacked bytes to `out`, at most 256 KiB. Returns false at the end of the piece. Throws Error if
  // the data is damaged. Later pieces of the stream are then useless.
  bool unpack(std::vector<std::uint8_t>& out);
  // Drops the state of the stream. Call this if the next piece starts a new stream.
  void restart();

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  Bytes packed_;
  bool more_inside_ = false;  // true if the last call filled its output, so more may follow
  std::uint64_t left_;        // number of bytes that may still be unpacked
};

}  // namespace kmt::perfdata
