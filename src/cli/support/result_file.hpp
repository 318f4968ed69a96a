// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a result into a file, or to standard output.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"

namespace kmt {

// Writes a file beside its place, under an unpredictable name, and renames it when complete, so that readers never see
// a part. A device, a pipe or an open file (/dev/stdout) is written directly. A symlink is replaced by the file,
// because its target may be another user's. One at a time.
class ResultFile {
 public:
  // Opens it early, so that errors come before any long work. Empty or "-": standard output. A new file is private
  // (base/file.hpp); a replaced one passes on its permissions. Throws Error, as write() and finish() do, also if the
  // file is an input.
  ResultFile(std::string path, const std::vector<std::string>& inputs);
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  ~ResultFile();  // removes an unfinished file, as an ending signal does

  // False if the reader of standard output is gone.
  bool write(std::string_view text);
  void finish();
  // The name in messages.
  std::string name() const;
  // For writers that take a file name: the file exists and is empty. Throws Error for standard output and files written
  // directly. Errors of `write` get the final name.
  void write_by_name(const std::function<void(const std::string& name)>& write);

 private:
  bool beside() const { return !unfinished_.empty(); }
  void open_beside(unsigned replaced_mode);
  void forget();

  std::string path_;
  std::string unfinished_;  // empty: there is none
  FileDescriptor file_;     // none: standard output
};

}  // namespace kmt
