// SPDX-License-Identifier: GPL-2.0-or-later
// Recovers the readable part of a CTF trace. libbabeltrace2 rejects the whole trace if one stream is truncated, or
// damaged at a packet's start. Salvage makes a folder of links to the readable streams. For a truncated stream, it
// copies the packets before the cut.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/temporary_folder.hpp"
#include "trace/imperfections.hpp"

namespace kmt::ctf {

class Salvage {
 public:
  // `traces` are the folders of each trace, and `refusal` is libbabeltrace2's error. Dropped data becomes findings.
  // Throws `refusal` if the metadata is the cause, or if no stream is readable.
  Salvage(const std::vector<std::vector<std::string>>& traces, const Error& refusal, Findings& findings);
  Salvage(const Salvage&) = delete;
  Salvage& operator=(const Salvage&) = delete;

  // Returns the folders to read. The folders exist as long as this object.
  const std::vector<std::vector<std::string>>& traces() const { return traces_; }

 private:
  std::string salvage(const std::filesystem::path& folder, const Error& refusal, Findings& findings);

  TemporaryFolder place_;
  std::vector<std::vector<std::string>> traces_;
  int count_ = 0;     // number of folders made so far; it is the name of the next folder
  bool any_ = false;  // true if any stream is readable
};

}  // namespace kmt::ctf
