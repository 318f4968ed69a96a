// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/copies.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/gzip.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "snapshot/archive.hpp"
#include "snapshot/changed_copy.hpp"
#include "snapshot/copy_finder.hpp"
#include "snapshot/log/memory_line.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

// Reads a regular file, at most its first `most` bytes.
std::string text_of_file(const std::string& path, std::size_t most) {
  const MappedFile file(path);
  return std::string(as_text(file.bytes()).substr(0, most));
}

// Reads a log in a folder. The log may be compressed, as old logs often are.
void take_log_file(const std::string& path, const std::string& whole, CopyFinder& finder) {
  const MappedFile file(whole);
  if (is_gzip(file.bytes()))
    finder.take_log(path, intact_part_of_gzip(file.bytes(), kMostOfALog));
  else
    finder.take_log(path, as_text(file.bytes()));
}

// Reads an archive, and also the archives and compressed logs in it, which support tools often include.
class ArchiveReader {
 public:
  explicit ArchiveReader(CopyFinder& finder) : finder_(finder) {}

  void take(const std::string& path, Bytes bytes) {
    if (const std::string damage = read(path, "", bytes, 0); !damage.empty()) finder_.add_damage(damage);
  }

  // Reads an archive in a folder. `path` is relative to the folder. Does nothing if the file is no archive.
  void take_of_folder(const std::string& path, Bytes bytes) {
    if (is_archive(bytes)) read_inner(path, bytes, 0);
  }

  static bool is_archive_name(std::string_view path) {
    constexpr std::array<std::string_view, 6> kEnds = {".tgz", ".txz", ".tbz", ".tbz2", ".zip", ".cpio"};
    const std::string_view name = file_name(path);
    return name.find(".tar") != name.npos ||
           std::ranges::any_of(kEnds, [name](std::string_view end) { return name.ends_with(end); });
  }

 private:
  static constexpr unsigned kMostDepth = 2;
  static constexpr unsigned kMostArchives = 32;

  static bool wants(std::string_view path) { return CopyFinder::wants(path) || is_archive_name(path); }

  // Reads the members of an archive. `prefix` is the path of the archive in the outer one, with "/" at its end. If a
  // compressed log is cut off, reads the part before the cut. If the archive could be read only partly, returns the
  // reason.
  std::string read(const std::string& path, const std::string& prefix, Bytes bytes, unsigned depth) {
    constexpr std::size_t kMostOfAnInner = std::size_t{1} << 30;
    ArchiveLimits limits;
    if (depth > 0) limits.bytes = limits.unpacked_bytes = kMostOfAnInner;
    std::string damage;
    bool has_member = false;
    const auto take = [&](std::string_view member, std::string&& text) {
      has_member = true;
      const std::string whole =
          member.empty() ? prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1) : prefix + std::string(member);
      if (text.size() == limits.bytes_of_a_member && (member.empty() || is_log_path(member)))
        finder_.add_damage(
            fmt::format("only the first {} of {} were read", humane_bytes(text.size()), whole.empty() ? path : whole));
      take_member(whole, std::move(text), depth);
    };
    try {
      damage = each_member(path, bytes, limits, wants, take);
    } catch (const Error& error) {
      if (!is_gzip(bytes) || error.exit_code() == ExitCode::unsupported) throw;
      damage = error.what();
    }
    if (!damage.empty() && !has_member && is_gzip(bytes)) {
      const std::string text = intact_part_of_gzip(bytes, kMostOfALog);
      const Bytes unpacked(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
      if (!is_archive(unpacked)) finder_.take_log(path, text);
    }
    return damage;
  }

  void take_member(const std::string& path, std::string&& text, unsigned depth) {
    const Bytes bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    if (!is_archive(bytes)) return finder_.take(path, std::move(text));
    read_inner(path, bytes, depth);
  }

  void read_inner(const std::string& path, Bytes bytes, unsigned depth) {
    if (depth == kMostDepth || archives_ == kMostArchives)
      return finder_.add_damage(fmt::format("{} inside it was not read: unpack it, and name the folder", path));
    ++archives_;
    std::string damage;
    try {
      damage = read(path, path + "/", bytes, depth + 1);
    } catch (const Error& error) {
      damage = error.what();
    }
    if (!damage.empty()) finder_.add_damage(fmt::format("{} inside it: {}", path, damage));
  }

  CopyFinder& finder_;
  unsigned archives_ = 0;  // number of archives in the archive
};

}  // namespace

Copies copies_in_file(const std::string& path, Bytes bytes) {
  CopyFinder finder;
  if (is_archive(bytes)) {
    ArchiveReader(finder).take(path, bytes);
    Copies copies = finder.finish(path, "archive");
    for (std::string& file : copies.files)
      if (file.empty()) file = path;
    if (copies.log.empty() && !copies.reports.empty()) copies.log = path;
    return copies;
  }
  std::string_view text = as_text(bytes);
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::string plain;
  if (is_utf16(text)) {
    plain = text.substr(0, kMostOfALog);
    remove_editors_changes(plain);
    text = plain;
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  finder.take_text(path, text);
  Copies copies = finder.finish(path, "file");
  copies.files = {path};
  return copies;
}

Copies copies_in_folder(const std::string& folder) {
  constexpr int kDeepestFolder = 12;
  constexpr std::size_t kMostListed = 1'000'000;
  CopyFinder finder;
  std::vector<std::string> wanted;
  std::error_code code;
  std::size_t files = 0;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, code);
  for (; !code && entry != fs::recursive_directory_iterator() && ++files < kMostListed; entry.increment(code)) {
    std::error_code ignored;
    if (entry.depth() >= kDeepestFolder) entry.disable_recursion_pending();
    const std::string path = entry->path().lexically_relative(folder).string();
    if (entry->is_regular_file(ignored) && !entry->is_symlink(ignored) &&
        (CopyFinder::wants(path) || ArchiveReader::is_archive_name(path)))
      wanted.push_back(path);
  }
  std::ranges::sort(wanted);
  ArchiveReader archives(finder);
  const auto is_archive_file = [](const std::string& path) {
    return !is_copy_path(path) && ArchiveReader::is_archive_name(path);
  };
  const auto take = [&](const std::string& path) {
    const std::string whole = fmt::format("{}/{}", folder, path);
    try {
      if (is_copy_path(path))
        finder.take(path, text_of_file(whole, kMostOfACopy + 1));
      else if (is_archive_file(path))
        archives.take_of_folder(path, MappedFile(whole).bytes());
      else
        take_log_file(path, whole, finder);
    } catch (const Error& error) {
      if (!fs::exists(whole, code)) return;  // it was removed meanwhile
      finder.add_damage(fmt::format("{}: {}", path, error.what()));
    }
  };
  // A folder often has an archive beside its unpacked files. So archives are read only if no other file is of use.
  for (const std::string& path : wanted)
    if (!is_archive_file(path)) take(path);
  if (!finder.has_found())
    for (const std::string& path : wanted)
      if (is_archive_file(path)) take(path);
  return finder.finish(folder, "folder");
}

bool has_report(Bytes bytes) {
  constexpr std::size_t kBegin = 4096;
  const std::string_view text = as_text(bytes);
  if (text.substr(0, kBegin).find('\0') != std::string_view::npos || text.starts_with("# tracer:")) return false;
  const auto has = [text](std::string_view words) { return text.find(words) != text.npos; };
  return (has_title(text) && (has("active_anon:") || has("present:"))) ||
         (has("Memory cgroup stats") && has("memory: usage "));
}

}  // namespace kmt
