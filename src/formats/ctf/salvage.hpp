// SPDX-License-Identifier: GPL-2.0-or-later
// libbabeltrace2 refuses a whole trace if one of its streams is truncated, or damaged at a packet's start. Salvage
// makes a folder of links to the readable part: other streams, and a truncated stream's packets before the cut.
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
  // `traces`: their folders, which libbabeltrace2 refused with `refusal`. Dropped parts become findings. Throws the
  // refusal if no stream is the cause, or nothing is left.
  Salvage(const std::vector<std::vector<std::string>>& traces, const Error& refusal, Findings& findings);
  Salvage(const Salvage&) = delete;
  Salvage& operator=(const Salvage&) = delete;

  // Valid during the object's life.
  const std::vector<std::vector<std::string>>& traces() const { return traces_; }

 private:
  std::string salvage(const std::filesystem::path& folder, const Error& refusal, Findings& findings);

  TemporaryFolder place_;
  std::vector<std::vector<std::string>> traces_;
  int count_ = 0;     // of folders
  bool any_ = false;  // a stream is readable
};

}  // namespace kmt::ctf
