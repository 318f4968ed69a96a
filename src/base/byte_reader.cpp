// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/byte_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"

namespace kmt {

Bytes ByteReader::take(std::uint64_t count) {
  if (count > remaining())
    throw Error(fmt::format("Cannot read {} bytes: only {} are left", count, remaining())).at({{}, {}, file_offset()});
  const Bytes taken = data_.subspan(to_size(position_), to_size(count));
  position_ += count;
  return taken;
}

std::string_view ByteReader::text(std::uint64_t count) {
  const Bytes taken = take(count);
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

std::string_view ByteReader::c_string() {
  const Bytes rest = data_.subspan(to_size(position_));
  const auto end = std::find(rest.begin(), rest.end(), std::uint8_t{0});
  if (end == rest.end()) throw Error("Cannot read a string: its end is missing").at({{}, {}, file_offset()});
  const std::string_view found = text(static_cast<std::uint64_t>(end - rest.begin()));
  skip(1);
  return found;
}

void ByteReader::seek(std::uint64_t position) {
  if (position > data_.size())
    throw Error(
        fmt::format("Cannot go to offset {:#x}: the data ends at {:#x}", base_ + position, base_ + data_.size()))
        .at({{}, {}, file_offset()});
  position_ = position;
}

}  // namespace kmt
