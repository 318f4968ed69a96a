// SPDX-License-Identifier: GPL-2.0-or-later
// Collects the copies of /proc and the kernel logs among the files of a folder or an archive.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "snapshot/copies.hpp"
#include "snapshot/log/reports.hpp"

namespace kmt {

constexpr std::size_t kMostOfACopy = 16u << 20;
constexpr std::size_t kMostOfALog = 256u << 20;  // maximum number of bytes of a log, after decompression

// Returns the part of a path after its last "/".
std::string_view file_name(std::string_view path);

// True if the path may be that of a kernel log.
bool is_log_path(std::string_view path);
// True if the path is that of a copy of a file that a snapshot uses, such as "sosreport-host/proc/meminfo".
bool is_copy_path(std::string_view path);

class CopyFinder {
 public:
  // True for the paths of copies and logs, and for unknown paths, which are empty.
  static bool wants(std::string_view path) { return path.empty() || is_log_path(path) || is_copy_path(path); }

  // Takes a copy of a file or a log. `path` may be empty if it is unknown.
  void take(std::string_view path, std::string&& text);
  // Takes a log, or a text with copies of files.
  void take_text(std::string_view path, std::string_view text);
  void take_log(std::string_view path, std::string_view text);
  // Notes why a file or a part of an archive was not read.
  void add_damage(std::string_view damage);

  // True if a file with a machine's memory was found, or a log with a report.
  bool has_found() const;

  // Returns what was found in the file, folder or archive `path`. `noun` says which of these it is. Throws Error if the
  // copies are of several machines, or if nothing about memory was found.
  Copies finish(const std::string& path, const char* noun);

 private:
  struct CopiedFile {
    std::string path;
    std::string text;
    bool is_cut = false;  // the file was longer than kMostOfACopy
  };
  // The copies of one machine. Key: name of the text in a snapshot.
  using Root = std::map<std::string, CopiedFile, std::less<>>;

  void add(const std::string& root, const std::string& name, CopiedFile&& file);
  void add_note(std::string_view note);
  void take_paste(std::string text);
  std::string why_nothing(const char* noun) const;
  Error several_machines(const std::string& path) const;
  void take_state(Root& root, Copies& copies);
  void take_reports(Copies& copies);

  std::map<std::string, Root> roots_;  // key: path of the machine's root folder
  LogReports log_reports_;
  bool has_cgroup_kills_ = false;
  std::string log_;
  std::vector<std::pair<std::string, LogReports>> others_;  // the other logs, with their paths
  std::string notes_;   // lines of the text "missing" about files with several copies
  std::string damage_;  // why files or parts of the archive were not read
  std::size_t damages_ = 0;
};

}  // namespace kmt
