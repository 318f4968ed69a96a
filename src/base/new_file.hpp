// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a file beside its place and renames it when it is complete, so that a failure leaves an older file as it was.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kmt {

enum class Replaced { removed, kept };

// Gives a complete file or folder its name. `keep_old`: the replaced file stays as PATH.old. Returns the step that
// failed, with errno.
enum class NamingStep : int { none, keeping, renaming };
NamingStep give_name(const std::string& unfinished, const std::string& path, bool keep_old);
Error naming_error(NamingStep failed, const std::string& path);

struct PreparedOutput;

// A device, a pipe or an open file (/dev/stdout) is written directly. A symlink is replaced by the file, because its
// target may be another user's. A replaced file passes on its owner and permissions; a new one is private, and under
// sudo it belongs to the calling user. Every method throws Error.
class NewFile {
 public:
  // `kept`: finish() leaves the replaced file as PATH.old. An output that was prepared replaces without a trace.
  explicit NewFile(std::string path, Replaced replaced = Replaced::removed);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();  // removes an unfinished file

  int fd() const { return file_.get(); }
  const std::string& path() const { return path_; }
  // The name until finish(), for writers that take a name; empty if there is none.
  const std::string& unfinished() const { return unfinished_; }
  void write(std::string_view text) { write_all(fd(), text, path_); }
  // Gives the file its name. It stays open.
  void finish();
  // Another object finishes or removes the file.
  void give_to(PreparedOutput& output) &&;

 private:
  std::string path_;
  std::string unfinished_;
  bool replaces_ = false;
  bool keeps_old_ = false;
  const PreparedOutput* prepared_ = nullptr;    // another process names or removes it
  std::atomic<const char*>* listed_ = nullptr;  // for remove_unfinished_files()
  FileDescriptor file_;
};

// Writes a whole file that way.
void write_new_file(const std::string& path, std::string_view text);

// remove_unfinished_files() will remove this file or empty folder. `name` must stay valid until the caller stores null
// in the returned slot. Null: no slot is free.
std::atomic<const char*>* list_unfinished(const char* name);
// Removes the unfinished files of this process. A signal handler may call it.
void remove_unfinished_files();

}  // namespace kmt
