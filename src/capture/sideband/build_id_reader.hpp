// SPDX-License-Identifier: GPL-2.0-or-later
// Reads build IDs of files in a thread of its own, because opening a file on a dead network may block without end.
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

  // read_file() returns the build ID in hex, or nothing.
  explicit BuildIdReader(ReadFile read_file, std::chrono::milliseconds patience = std::chrono::seconds(5));
  // Abandons a blocked thread, which ends with the program.
  ~BuildIdReader();
  BuildIdReader(const BuildIdReader&) = delete;
  BuildIdReader& operator=(const BuildIdReader&) = delete;

  // Returns the build ID of the first path that has one; an empty text if none has. Returns nothing after a timeout,
  // and then skips all files of that device.
  std::optional<std::string> read(std::uint64_t device, const std::vector<std::string>& paths);
  pid_t thread() const;  // the current reader

 private:
  struct Worker;

  ReadFile read_file_;
  std::chrono::milliseconds patience_;
  std::shared_ptr<Worker> worker_;  // null: too many wait
  std::set<std::uint64_t> dead_devices_;
};

}  // namespace kmt
