// SPDX-License-Identifier: GPL-2.0-or-later
// Reads files inside archives and compressed files. Nothing is unpacked to disk.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/byte_reader.hpp"

namespace kmt {

struct ArchiveLimits {
  std::size_t members = 1'000'000;  // maximum number of files and folders in the archive
  // maximum number of bytes to read of a member; the rest of a longer member is ignored
  std::size_t bytes_of_a_member = 256u << 20;
  std::size_t bytes = std::size_t{2} << 30;  // maximum number of bytes of all selected members together
  // maximum number of bytes of all members together, as a protection against decompression bombs
  std::size_t unpacked_bytes = std::size_t{16} << 30;
};

// True if the bytes are a tar, cpio or zip archive, or are compressed.
bool is_archive(Bytes bytes);

// Calls take(path, text) for each regular file of the archive `bytes` for which wants(path) returns true. A compressed
// file that is not an archive is read as one file with an empty path. Throws Error if the archive is damaged before its
// first member, or is too large when unpacked. Returns the reason if not all members were read, otherwise "". The
// parameter `path` is used only in messages.
std::string each_member(const std::string& path, Bytes bytes, const ArchiveLimits& limits,
                        const std::function<bool(std::string_view)>& wants,
                        const std::function<void(std::string_view, std::string&&)>& take);

}  // namespace kmt
