// SPDX-License-Identifier: GPL-2.0-or-later
// A child process that stays outside the confinement of this one (base/confinement/confine.hpp). It does for it what
// its rules forbid: it gives prepared outputs their names, removes unfinished ones, and opens files of code that a
// trace names.
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
    scratch,  // a folder for temporary files; never gets its name
    open,     // a folder that has its name already; a new one is removed if nothing is written into it
  };

  Kind kind = Kind::file;
  std::string path;
  std::string unfinished = {};  // its name until it is complete; empty: it is written directly
  int fd = -1;                  // of a file; NewFile takes it
  bool replaces = false;        // a file is replaced
  bool taken = false;
  std::atomic<const char*>* listed = nullptr;  // see list_unfinished(): before the child runs, a signal removes it
};

// Prepares an output before start_outside(): creates it under another name. Throws Error.
void prepare_file(const std::string& path);
void prepare_folder(const std::string& path);
// Makes the folder, if it is not there.
void prepare_open_folder(const std::string& path);
// Does nothing if no folder can be made there.
void prepare_scratch(const std::string& path);

const std::vector<PreparedOutput>& prepared_outputs();
// Marks it as taken. Null: nothing was prepared, or another object has it.
PreparedOutput* take_prepared(PreparedOutput::Kind kind, const std::string& path);
// The folder for temporary files; empty: none was prepared.
std::string scratch_folder();

// Starts the child, which ends with this process and removes what is unfinished then. Call it once, before threads are
// started. Throws Error.
void start_outside();
// The child gives the output its name. Throws Error.
void name_outside(const PreparedOutput& output);
void remove_outside(const PreparedOutput& output);
// open_code_file() (base/confinement/code_file.hpp), by the child if it runs.
FileDescriptor open_code(const std::string& path, const std::string& root = "");
bool outside_runs();
// Ends the child and waits for it, at most two seconds. A signal handler may call it.
void end_outside();

}  // namespace kmt
