// SPDX-License-Identifier: GPL-2.0-or-later
// A child process that does what its confined parent may no longer do (base/confinement/confine.hpp). The child renames
// prepared outputs to their final names, removes unfinished outputs, and opens the binaries and perf-PID.map files that
// a trace names.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/file.hpp"

namespace kmt {

struct PreparedOutput {
  enum class Kind : std::uint8_t {
    file,
    folder,
    scratch,  // a folder for temporary files; is never renamed
    open,     // a folder with its final name; removed if it is new and stays empty
  };

  Kind kind = Kind::file;
  std::string path;
  // Temporary name, used until the output is complete. Empty if the output is written directly.
  std::string unfinished = {};
  int fd = -1;            // descriptor of the output if it is a file; NewFile takes it over
  bool replaces = false;  // true if the output replaces an existing file
  bool taken = false;
  // Slot of list_unfinished(), so that a signal handler removes the output if the child is not running yet.
  std::atomic<const char*>* listed = nullptr;
};

// Creates an output under a temporary name. Call this before start_outside(). Throws Error.
void prepare_file(const std::string& path);
void prepare_folder(const std::string& path);
// Makes the folder if it does not exist.
void prepare_open_folder(const std::string& path);
// Prepares a folder for temporary files. Does nothing if the folder cannot be made.
void prepare_scratch(const std::string& path);

const std::vector<PreparedOutput>& prepared_outputs();
// Returns the prepared output for this path, and marks it as taken. Null if there is none or it was taken before.
PreparedOutput* take_prepared(PreparedOutput::Kind kind, const std::string& path);
// Returns the folder for temporary files; empty if none was prepared.
std::string scratch_folder();

// Starts the child. When this process ends, the child removes unfinished outputs and ends too. Call this once, before
// any thread starts. Throws Error.
void start_outside();
// Starts the child, and then prepares a file. If this process is killed right after it has created the file, the child
// removes the file. Throws Error.
void start_outside_with_file(const std::string& path);
// Makes the child rename the output to its final name. Throws Error.
void name_outside(const PreparedOutput& output);
void remove_outside(const PreparedOutput& output);
// Opens a binary or a perf-PID.map with open_code_file() (base/confinement/code_file.hpp), in the child if it runs,
// otherwise in this process.
FileDescriptor open_code(const std::string& path, const std::string& root = "");
bool outside_runs();
// Tells the child to end, and waits at most two seconds for this. A signal handler may call it.
void end_outside();

}  // namespace kmt
