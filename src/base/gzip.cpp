// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/error.hpp"

namespace kmt {

std::optional<std::string> try_read_gzip(const std::string& path) {
  constexpr std::size_t kMostBytes = 16u << 20;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rbe"), &gzclose);
  if (!file) return std::nullopt;
  std::string text;
  char part[1 << 16];
  for (int got = 0; text.size() < kMostBytes; text.append(part, static_cast<std::size_t>(got))) {
    got = gzread(file.get(), part, sizeof part);
    if (got < 0) return std::nullopt;
    if (got == 0) break;
  }
  return text;
}

bool is_gzip(Bytes bytes) {
  constexpr std::uint8_t kFirst = 0x1f;
  constexpr std::uint8_t kSecond = 0x8b;
  return bytes.size() > 2 && bytes[0] == kFirst && bytes[1] == kSecond;
}

std::string intact_part_of_gzip(Bytes bytes, std::size_t most) {
  constexpr int kGzip = 16 + MAX_WBITS;
  constexpr std::size_t kPart = 1 << 16;
  z_stream stream{};
  if (inflateInit2(&stream, kGzip) != Z_OK) throw Error("Not enough memory to unpack gzip data");
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max()));
  std::string out;
  for (int result = Z_OK; result == Z_OK && out.size() < most;) {
    const std::size_t used = out.size();
    const std::size_t room = std::min(kPart, most - used);
    out.resize(used + room);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(room);
    result = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return out;
}

std::string gzip(std::string_view text) {
  if (text.size() > std::numeric_limits<uInt>::max()) throw Error("Cannot compress more than 4 GiB");
  constexpr int kGzip = 16 + MAX_WBITS;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error("Not enough memory to compress with gzip");
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw Error("Cannot compress the text with gzip");
  return out;
}

}  // namespace kmt
