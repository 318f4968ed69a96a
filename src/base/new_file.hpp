// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a file under a temporary name in the same folder and renames it when it is complete. After a failure, the old
// file is unchanged.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kmt {

enum class Replaced { removed, kept };

// give_name() renames a complete file or folder from its temporary name to PATH. If `keep_old` is set, give_name()
// renames the previous file to PATH.old. On failure, it returns the step that failed, with errno.
enum class NamingStep : int { none, keeping, renaming };
NamingStep give_name(const std::string& unfinished, const std::string& path, bool keep_old);
Error naming_error(NamingStep failed, const std::string& path);

struct PreparedOutput;

// Devices, pipes and open files (/dev/stdout) are written directly. A symlink is replaced by the new file, because its
// target may be another user's file. A file that replaces another receives its owner and permissions. Other new files
// are private; under sudo they belong to the calling user. Every method throws Error.
class NewFile {
 public:
  // If `replaced` is Replaced::kept, finish() keeps the replaced file as PATH.old. A prepared output
  // (base/confinement/outside.hpp) never keeps the replaced file. `unfinished` is the temporary name. If it is empty,
  // the constructor chooses one.
  explicit NewFile(std::string path, Replaced replaced = Replaced::removed, std::string unfinished = {});
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();  // removes an unfinished file

  int fd() const { return file_.get(); }
  const std::string& path() const { return path_; }
  // Returns the temporary name that the file has before finish(), for libraries that need a name. Empty if the file is
  // written directly.
  const std::string& unfinished() const { return unfinished_; }
  void write(std::string_view text) { write_all(fd(), text, path_); }
  // Renames the file to its final name. The file stays open.
  void finish();
  // Transfers the file to `output`. The owner of `output` then finishes or removes the file.
  void give_to(PreparedOutput& output) &&;

 private:
  std::string path_;
  std::string unfinished_;
  bool replaces_ = false;
  bool keeps_old_ = false;
  const PreparedOutput* prepared_ = nullptr;    // set if a child process renames or removes the file
  std::atomic<const char*>* listed_ = nullptr;  // for remove_unfinished_files()
  FileDescriptor file_;
};

// Writes a whole file with NewFile.
void write_new_file(const std::string& path, std::string_view text);

// Registers a file or an empty folder for remove_unfinished_files(). Returns a slot that contains `name`, or null if no
// slot is free. `name` must stay valid until the caller stores null in the slot.
std::atomic<const char*>* list_unfinished(const char* name);
// Removes the unfinished files of this process. A signal handler may call it.
void remove_unfinished_files();

}  // namespace kmt
