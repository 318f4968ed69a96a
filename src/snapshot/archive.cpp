// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/archive.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"

namespace kmt {

namespace {

using Archive = std::unique_ptr<archive, decltype(&archive_read_free)>;

// Returns why the archive cannot be read. Recognises the error texts with which libarchive, liblzma and zstd report
// that the data ends too early.
std::string reason_of(archive* reader) {
  const char* const reason = archive_error_string(reader);
  if (reason == nullptr) return "it is damaged";
  const std::string_view text = reason;
  for (const std::string_view end : {"No progress is possible", "runcated", "Unexpected end"})
    if (text.find(end) != text.npos) return fmt::format("it is cut off ({})", text);
  return reason;
}

Error unreadable(archive* reader, const std::string& path) {
  return Error(fmt::format("The archive cannot be read: {}", reason_of(reader)))
      .hint("Copy it again, and compare its size and checksum with the original")
      .at({path, {}, {}});
}

// Enables only the formats and compressions that libarchive decodes in this process. For other formats, libarchive
// would start an external program.
Archive open_archive(const std::string& path, Bytes bytes) {
  Archive reader(archive_read_new(), archive_read_free);
  if (!reader) throw Error("Not enough memory to read the archive").at({path, {}, {}});
  for (const auto support :
       {archive_read_support_filter_gzip, archive_read_support_filter_bzip2, archive_read_support_filter_xz,
        archive_read_support_filter_lzma, archive_read_support_filter_zstd, archive_read_support_filter_lz4,
        archive_read_support_format_tar, archive_read_support_format_cpio, archive_read_support_format_zip,
        archive_read_support_format_raw, archive_read_support_format_empty})
    support(reader.get());
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    throw unreadable(reader.get(), path);
  constexpr int kMostLayers = 3;  // libarchive counts the file itself as one layer, so this allows two compressions
  if (archive_filter_count(reader.get()) > kMostLayers)
    throw Error(fmt::format("The archive is compressed more than {} times", kMostLayers - 1))
        .hint("Unpack it, and name the folder")
        .at({path, {}, {}});
  return reader;
}

// Counts the unpacked members and bytes, and throws Error if they exceed a limit. A zip archive compresses each member
// separately. So the members together may have more bytes than libarchive counts for the unpacked archive.
class UnpackedBytes {
 public:
  UnpackedBytes(archive* reader, const std::string& path, const ArchiveLimits& limits)
      : reader_(reader), path_(path), limits_(limits) {}

  void add(std::size_t bytes) {
    of_members_ += bytes;
    const auto of_file = static_cast<std::size_t>(std::max<la_int64_t>(archive_filter_bytes(reader_, 0), 0));
    if (std::max(of_members_, of_file) > limits_.unpacked_bytes) throw_too_large();
  }
  void add_member() {
    if (++members_ > limits_.members) throw_too_large();
    add(0);
  }

 private:
  [[noreturn]] void throw_too_large() const {
    throw Error(fmt::format("The archive has more than {} files, or more than {} in them", limits_.members,
                            humane_bytes(limits_.unpacked_bytes)))
        .hint("Unpack it, and name the folder")
        .at({path_, {}, {}});
  }

  archive* reader_;
  const std::string& path_;
  const ArchiveLimits& limits_;
  std::size_t members_ = 0;
  std::size_t of_members_ = 0;
};

// Reads the content of the current member, at most `most` bytes. Returns false if the member is damaged.
bool read_member(archive* reader, std::size_t most, UnpackedBytes& unpacked, std::string& text) {
  constexpr std::size_t kPiece = 1 << 16;
  for (;;) {
    const std::size_t used = text.size();
    if (used >= most) return true;
    const std::size_t room = std::min(kPiece, most - used);
    text.resize(used + room);
    const la_ssize_t count = archive_read_data(reader, text.data() + used, room);
    text.resize(used + static_cast<std::size_t>(std::max<la_ssize_t>(count, 0)));
    if (count <= 0) return count == 0;
    unpacked.add(static_cast<std::size_t>(count));
  }
}

// Skips the rest of the current member, and counts its bytes. If libarchive skipped the member itself, it would unpack
// any number of bytes without a check.
void skip_member(archive* reader, UnpackedBytes& unpacked) {
  const void* piece = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  for (;;) {
    const int status = archive_read_data_block(reader, &piece, &size, &offset);
    // the member is damaged; reading the next header then fails
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return;
    unpacked.add(size);
  }
}

std::string member_path(archive_entry* entry, bool is_raw) {
  const char* const name = is_raw ? nullptr : archive_entry_pathname(entry);
  std::string path = name != nullptr ? name : "";
  while (path.starts_with("./")) path.erase(0, 2);
  return path;
}

}  // namespace

std::string each_member(const std::string& path, Bytes bytes, const ArchiveLimits& limits,
                        const std::function<bool(std::string_view)>& wants,
                        const std::function<void(std::string_view, std::string&&)>& take) {
  const Archive reader = open_archive(path, bytes);
  std::size_t left = limits.bytes;
  archive_entry* entry = nullptr;
  UnpackedBytes unpacked(reader.get(), path, limits);
  for (bool is_first = true;; is_first = false) {
    const int status = archive_read_next_header(reader.get(), &entry);
    if (status == ARCHIVE_EOF) return {};
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
      if (!is_first) return reason_of(reader.get());
      throw unreadable(reader.get(), path);
    }
    unpacked.add_member();
    const bool is_raw = archive_format(reader.get()) == ARCHIVE_FORMAT_RAW;
    const std::string name = member_path(entry, is_raw);
    const bool is_file = archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr;
    if (is_file && wants(name)) {
      std::string text;
      const bool intact = read_member(reader.get(), std::min(limits.bytes_of_a_member, left), unpacked, text);
      left -= std::min(left, text.size());
      if (!intact) return reason_of(reader.get());
      take(name, std::move(text));
      if (left == 0) return fmt::format("only the first {} were read", humane_bytes(limits.bytes));
    }
    skip_member(reader.get(), unpacked);
  }
}

}  // namespace kmt
