// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a folder beside its place and renames it when it is complete, as NewFile (base/new_file.hpp) does with files.
#pragma once

#include <atomic>
#include <string>

#include "base/confinement/outside.hpp"

namespace kmt {

// Private; under sudo it belongs to the calling user. Folders above it are made where they are missing. Every method
// throws Error.
class NewFolder {
 public:
  explicit NewFolder(std::string path);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();  // removes an unfinished folder

  // The name until finish().
  const std::string& unfinished() const { return unfinished_; }
  void finish();
  // Another object finishes or removes the folder.
  void give_to(PreparedOutput& output) &&;

 private:
  std::string path_;
  std::string unfinished_;
  const PreparedOutput* prepared_ = nullptr;    // another process names or removes it
  std::atomic<const char*>* listed_ = nullptr;  // for remove_unfinished_files()
};

}  // namespace kmt
