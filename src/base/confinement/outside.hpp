// SPDX-License-Identifier: GPL-2.0-or-later
// A child process that is not confined (base/confinement/confine.hpp). It does what the rules forbid this process: it
// renames prepared outputs to their final names, removes unfinished outputs, and opens files of code that a trace
// names.
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
    open,     // a folder that already has its final name; a new one is removed if it stays empty
  };

  Kind kind = Kind::file;
  std::string path;
  std::string unfinished = {};  // temporary name until it is complete; empty: written directly
  int fd = -1;                  // descriptor of a file; NewFile takes it over
  bool replaces = false;        // true if an existing file is replaced
  bool taken = false;
  std::atomic<const char*>* listed = nullptr;  // see list_unfinished(); used if a signal comes before the child runs
};

// Prepares an output before start_outside(): creates it under a temporary name. Throws Error.
void prepare_file(const std::string& path);
void prepare_folder(const std::string& path);
// Makes the folder if it does not exist.
void prepare_open_folder(const std::string& path);
// Does nothing if the folder cannot be made.
void prepare_scratch(const std::string& path);

const std::vector<PreparedOutput>& prepared_outputs();
// Returns the prepared output and marks it as taken. Null if no output was prepared or it was taken before.
PreparedOutput* take_prepared(PreparedOutput::Kind kind, const std::string& path);
// Returns the folder for temporary files; empty if none was prepared.
std::string scratch_folder();

// Starts the child. It ends with this process and then removes unfinished outputs. Call it once, before any thread
// starts. Throws Error.
void start_outside();
// Makes the child rename the output to its final name. Throws Error.
void name_outside(const PreparedOutput& output);
void remove_outside(const PreparedOutput& output);
// Calls open_code_file() (base/confinement/code_file.hpp) in the child, or here if the child does not run.
FileDescriptor open_code(const std::string& path, const std::string& root = "");
bool outside_runs();
// Ends the child and waits at most two seconds for its end. A signal handler may call it.
void end_outside();

}  // namespace kmt
