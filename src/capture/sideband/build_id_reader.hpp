// SPDX-License-Identifier: GPL-2.0-or-later
// Reads build IDs of files in a separate thread, because opening a file on a dead network file system may block
// forever.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace kmt {

class BuildIdReader {
 public:
  using ReadFile = std::function<std::string(const std::string& path)>;

  // `read_file` returns the build ID in hex, or an empty string.
  explicit BuildIdReader(ReadFile read_file, std::chrono::milliseconds patience = std::chrono::seconds(5));
  // Abandons a blocked thread. That thread ends with the program.
  ~BuildIdReader();
  BuildIdReader(const BuildIdReader&) = delete;
  BuildIdReader& operator=(const BuildIdReader&) = delete;

  // Returns the build ID of the first path that has one; an empty string if no path has one. After a timeout, returns
  // nothing, and later skips all files of that device.
  std::optional<std::string> read(std::uint64_t device, const std::vector<std::string>& paths);
  pid_t thread() const;  // the thread that reads files now

 private:
  struct Worker;

  ReadFile read_file_;
  std::chrono::milliseconds patience_;
  std::shared_ptr<Worker> worker_;  // null if too many threads are blocked
  std::set<std::uint64_t> dead_devices_;
};

}  // namespace kmt
