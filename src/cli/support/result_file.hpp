// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a result into a file, or to standard output.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/new_file.hpp"

namespace kmt {

// A new file (base/new_file.hpp), or standard output.
class ResultFile {
 public:
  // Opens it early, so that errors come before any long work. Empty or "-": standard output. Throws Error, as write()
  // and finish() do, also if the file is an input.
  ResultFile(std::string path, const std::vector<std::string>& inputs);

  // False if the reader of standard output is gone.
  bool write(std::string_view text);
  void finish();
  // The name in messages.
  std::string name() const;
  // For writers that take a file name: the file exists and is empty. Throws Error for standard output and files written
  // directly. Errors of `write` get the final name.
  void write_by_name(const std::function<void(const std::string& name)>& write);

 private:
  std::string path_;
  std::optional<NewFile> file_;  // none: standard output
};

}  // namespace kmt
