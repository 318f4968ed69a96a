// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

namespace kmt {

// A new folder. The destructor removes it with all its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();  // makes it in the usual folder for temporary files; throws Error
  // Makes a folder whose name is the prefix and six random characters. Throws Error.
  explicit TemporaryFolder(const std::string& prefix);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace kmt
