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
  std::size_t members = 1'000'000;                     // in the archive
  std::size_t bytes_of_a_member = 256u << 20;          // longer members are cut
  std::size_t bytes = std::size_t{2} << 30;            // of all wanted members
  std::size_t unpacked_bytes = std::size_t{16} << 30;  // of all members; more means a decompression bomb
};

// True if the bytes are a tar, cpio or zip archive, or are compressed.
bool is_archive(Bytes bytes);

// Calls take(path, text) for each regular file that wants(path) selects. A compressed file that is no archive has one
// member with an empty path. Throws Error if the archive is damaged before its first member, or exceeds the limits. If
// it is damaged later, returns the reason. `path` is only for messages.
std::string each_member(const std::string& path, Bytes bytes, const ArchiveLimits& limits,
                        const std::function<bool(std::string_view)>& wants,
                        const std::function<void(std::string_view, std::string&&)>& take);

}  // namespace kmt
