// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

namespace kmt {

// A new folder, gone with all in it when the object goes.
class TemporaryFolder {
 public:
  TemporaryFolder();  // where temporary files belong; throws Error
  // "PREFIXabcdef". Throws Error.
  explicit TemporaryFolder(const std::string& prefix);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace kmt
