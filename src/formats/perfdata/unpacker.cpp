// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/unpacker.hpp"

#include <new>

#include <zstd.h>

#include "base/error.hpp"

namespace kmt::perfdata {

namespace {

constexpr std::size_t kPieceBytes = 256u << 10;
constexpr int kMostWindowLog = 27;  // log2 of 128 MiB, the window size of the highest zstd level

}  // namespace

void Unpacker::Free::operator()(ZSTD_DCtx_s* context) const { ::ZSTD_freeDCtx(context); }

Unpacker::Unpacker(std::uint64_t most_bytes) : context_(::ZSTD_createDCtx()), left_(most_bytes) {
  if (!context_) throw std::bad_alloc();
  ::ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMostWindowLog);
}

void Unpacker::restart() {
  packed_ = {};
  more_inside_ = false;
  ::ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
}

bool Unpacker::unpack(std::vector<std::uint8_t>& out) {
  if (packed_.empty() && !more_inside_) return false;
  const std::size_t before = out.size();
  out.resize(before + kPieceBytes);
  ZSTD_outBuffer to{out.data() + before, kPieceBytes, 0};
  ZSTD_inBuffer from{packed_.data(), packed_.size(), 0};
  const std::size_t code = ::ZSTD_decompressStream(context_.get(), &to, &from);
  out.resize(before + to.pos);
  packed_ = packed_.subspan(from.pos);
  more_inside_ = to.pos == kPieceBytes;
  const bool too_much = to.pos > left_;
  if (ZSTD_isError(code) != 0 || too_much || (to.pos == 0 && from.pos == 0 && !packed_.empty())) {
    out.resize(before);
    restart();
    throw Error(too_much ? "The unpacked records would be too large for a file of this size"
                         : "The zstd data is damaged");
  }
  left_ -= to.pos;
  return to.pos > 0 || !packed_.empty();
}

}  // namespace kmt::perfdata
