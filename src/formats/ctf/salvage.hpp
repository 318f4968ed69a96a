// SPDX-License-Identifier: GPL-2.0-or-later
// libbabeltrace2 refuses a whole trace when one of its streams is cut off or damaged where packets begin. This makes a
// folder of links to what it can read: other streams, and of a stream that was cut off the packets in front of the
// cut.
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
  // `traces`: their folders, which libbabeltrace2 refused with `refusal`. What is left out becomes findings. Throws
  // the refusal when it is not a stream's, or nothing is left.
  Salvage(const std::vector<std::vector<std::string>>& traces, const Error& refusal, Findings& findings);
  Salvage(const Salvage&) = delete;
  Salvage& operator=(const Salvage&) = delete;

  // For as long as the object lives.
  const std::vector<std::vector<std::string>>& traces() const { return traces_; }

 private:
  std::string salvage(const std::filesystem::path& folder, const Error& refusal, Findings& findings);

  TemporaryFolder place_;
  std::vector<std::vector<std::string>> traces_;
  int count_ = 0;     // of folders
  bool any_ = false;  // stream that can be read
};

}  // namespace kmt::ctf
