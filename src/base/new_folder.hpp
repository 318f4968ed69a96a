// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a folder under a temporary name and renames it when it is complete, like NewFile (base/new_file.hpp) for
// files.
#pragma once

#include <atomic>
#include <string>

#include "base/confinement/outside.hpp"

namespace kmt {

// The folder is private; under sudo it belongs to the calling user. Missing parent folders are made. Every method
// throws Error.
class NewFolder {
 public:
  explicit NewFolder(std::string path);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();  // removes an unfinished folder

  // Returns the temporary name that the folder has before finish().
  const std::string& unfinished() const { return unfinished_; }
  void finish();
  // Transfers the folder to `output`. The owner of `output` then finishes or removes the folder.
  void give_to(PreparedOutput& output) &&;

 private:
  std::string path_;
  std::string unfinished_;
  const PreparedOutput* prepared_ = nullptr;    // set if a child process renames or removes the folder
  std::atomic<const char*>* listed_ = nullptr;  // for remove_unfinished_files()
};

}  // namespace kmt
