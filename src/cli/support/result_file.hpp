// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a result into a file or to standard output.
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
  // Opens the file early, so that errors appear before any long work. An empty path or "-" means standard output.
  // Throws Error, also if the file is an input. write() and finish() also throw Error.
  ResultFile(std::string path, const std::vector<std::string>& inputs);

  // Returns false if the reader of standard output is gone.
  bool write(std::string_view text);
  void finish();
  // Returns the name for messages.
  std::string name() const;
  // Calls a writer that needs a file name. The file exists and is empty. Throws Error for standard output and for files
  // that are written directly. Errors of `write` are shown with the final name.
  void write_by_name(const std::function<void(const std::string& name)>& write);

 private:
  std::string path_;
  std::optional<NewFile> file_;  // empty: use standard output
};

}  // namespace kmt
