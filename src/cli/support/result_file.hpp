// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a result to a file or to standard output.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/new_file.hpp"

namespace kmt {

// The output of a command, which is a new file (base/new_file.hpp) or standard output.
class ResultFile {
 public:
  // Opens the file early, so that errors appear before any long work. An empty path or "-" means standard output.
  // Throws Error, also if the file is one of the inputs. write() and finish() throw Error too.
  ResultFile(std::string path, const std::vector<std::string>& inputs);

  // Returns false if the reader of standard output has closed the pipe.
  bool write(std::string_view text);
  void finish();
  // Returns the name of the output for messages.
  std::string name() const;
  // Calls a function that needs a file name. The file exists and is empty. Throws Error for standard output, and for
  // files to which the program writes directly. If `write` throws an error, the message has the final name of the file.
  void write_by_name(const std::function<void(const std::string& name)>& write);

 private:
  std::string path_;
  std::optional<NewFile> file_;  // if empty, the output is standard output
};

}  // namespace kmt
