// SPDX-License-Identifier: GPL-2.0-or-later
// A result's way into a file, or to standard output.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"

namespace kmt {

// A file is written beside its place, under a name that nobody knows before, and put there when it is whole, so that
// nobody sees half of it; a device, a pipe or an open file (/dev/stdout) is written as it is. Any other link goes away
// for the file: whose it is, and what it names, nobody needs to know. One at a time.
class ResultFile {
 public:
  // Opens it: what cannot be written shall fail before anything long is done. Empty or "-": standard output. A new file
  // is private (base/file.hpp); one that is replaced gives its permissions on. Throws Error, as write() and finish()
  // do; also where the file is one of the inputs.
  ResultFile(std::string path, const std::vector<std::string>& inputs);
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  ~ResultFile();  // removes what is not finished; so does a signal that ends the program

  // False when the reader of standard output has gone away: nobody wants more.
  bool write(std::string_view text);
  void finish();
  // What it is called in messages.
  std::string name() const;
  // For who writes a file by its name: it is there, and empty. Not for standard output and what is written as it is,
  // which throws Error. Errors of `write` name the place.
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
