// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/tracedat/decompress.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace kmt {

namespace {

constexpr std::uint64_t kMostBytes = 256ull << 20;
constexpr std::uint64_t kAlwaysAllowed = 1ull << 20;
constexpr std::uint64_t kMostRatio = 4096;

bool inflate_exactly(Bytes packed, std::vector<std::uint8_t>& out) {
  uLongf size = out.size();
  return ::uncompress(out.data(), &size, packed.data(), packed.size()) == Z_OK && size == out.size();
}

bool unpack_zstd_exactly(Bytes packed, std::vector<std::uint8_t>& out) {
  const std::size_t size = ::ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  return ZSTD_isError(size) == 0 && size == out.size();
}

}  // namespace

void check_compression(const std::string& algorithm) {
  if (algorithm == "none" || algorithm == "zstd" || algorithm == "zlib") return;
  throw Error(fmt::format("Cannot read a trace compressed with \"{}\"", printable(algorithm)))
      .hint(
          "Convert it on the machine where it was recorded: trace-cmd convert --compression zlib -i trace.dat -o "
          "new.dat");
}

std::vector<std::uint8_t> decompress(const std::string& algorithm, Bytes packed, std::uint64_t size) {
  if (size > kMostBytes || (size > kAlwaysAllowed && size / kMostRatio > packed.size()))
    throw Error(
        fmt::format("Refusing to unpack {} bytes into {}: out of proportion", packed.size(), humane_bytes(size)));
  std::vector<std::uint8_t> out(to_size(size));
  const bool whole = algorithm == "zlib" ? inflate_exactly(packed, out) : unpack_zstd_exactly(packed, out);
  if (!whole) throw Error(fmt::format("Cannot unpack {} bytes of {} data: damaged", packed.size(), algorithm));
  return out;
}

}  // namespace kmt
