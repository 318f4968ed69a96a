// SPDX-License-Identifier: GPL-2.0-or-later
// Build-ids of files, read by a thread of its own: whoever opens a file of a network that does not answer may wait for
// ever.
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

  // read_file() gives the build-id in hex, or nothing.
  explicit BuildIdReader(ReadFile read_file, std::chrono::milliseconds patience = std::chrono::seconds(5));
  // Leaves a thread that still waits behind: it ends with the program.
  ~BuildIdReader();
  BuildIdReader(const BuildIdReader&) = delete;
  BuildIdReader& operator=(const BuildIdReader&) = delete;

  // Of the first path that has one; empty: none has. Nothing: there was no answer in time, and no more files of such a
  // device are asked for.
  std::optional<std::string> read(std::uint64_t device, const std::vector<std::string>& paths);
  pid_t thread() const;  // that reads now

 private:
  struct Worker;

  ReadFile read_file_;
  std::chrono::milliseconds patience_;
  std::shared_ptr<Worker> worker_;  // null: too many wait
  std::set<std::uint64_t> dead_devices_;
};

}  // namespace kmt
