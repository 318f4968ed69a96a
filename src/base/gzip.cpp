// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/gzip.hpp"

#include <zlib.h>

#include <memory>

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

}  // namespace kmt
