// SPDX-License-Identifier: GPL-2.0-or-later
// The zstd stream that PERF_RECORD_COMPRESSED records carry: one for the whole file, in pieces.
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

  // The next piece. What has not been unpacked of the one before is given up.
  void feed(Bytes packed) { packed_ = packed; }
  // Appends what comes next to `out`, some hundred KiB at most; false when the piece is used up. Throws Error when it
  // is damaged: what follows cannot be unpacked until a stream begins anew.
  bool unpack(std::vector<std::uint8_t>& out);
  // What is fed next begins a stream.
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
