// SPDX-License-Identifier: GPL-2.0-or-later
// The zstd stream in PERF_RECORD_COMPRESSED records: one for the whole file, in pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/byte_reader.hpp"

struct ZSTD_DCtx_s;

namespace kmt::perfdata {

class Unpacker {
 public:
  // Refuses more than `most_bytes` in all.
  explicit Unpacker(std::uint64_t most_bytes);

  // Sets the next piece. Drops the rest of the previous one.
  void feed(Bytes packed) { packed_ = packed; }
  // Appends the next bytes to `out`, some hundred KiB at most; false at the end of the piece. Throws Error for damage:
  // later pieces are useless until a new stream begins.
  bool unpack(std::vector<std::uint8_t>& out);
  // The next piece starts a stream.
  void restart();

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  Bytes packed_;
  bool more_inside_ = false;  // the last call filled its output
  std::uint64_t left_;        // bytes that may still come
};

}  // namespace kmt::perfdata
