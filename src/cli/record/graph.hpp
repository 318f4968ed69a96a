// SPDX-License-Identifier: GPL-2.0-or-later
// Implements kmemtrace graph FUNCTION…, which records a trace of calls. The trace is then shown in the same way as a
// given FILE.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/calls/condition.hpp"
#include "base/error.hpp"
#include "base/temporary_folder.hpp"
#include "cli/support/options.hpp"
#include "symbols/traceable_functions.hpp"
#include "trace/calls/types.hpp"
#include "trace/gfp_flags.hpp"

namespace kmt {

struct CallRecordOptions {
  std::vector<std::string> functions;  // patterns with the syntax of choose_functions()
  std::string output;                  // path of the trace; if empty, a temporary file is used
  std::string backend = "auto";
  std::vector<std::string> shown;         // values with the syntax of resolve_value()
  std::vector<CallCondition> conditions;  // conditions that a call must meet to be shown
  bool needs_results = false;             // true: filters use the results of calls
  bool shows_results = false;
  bool shows_arguments = false;
  bool allocations = true;
  bool all = false;
  std::vector<std::string> pids;
  std::string cgroup;
  std::string duration;
  std::string buffer_size;
  std::vector<std::string> command;
  bool progress = true;
};

// Adds all options except the functions, the processes, COMMAND and the progress line. `options` must outlive the
// command.
void add_call_record_options(Command& command, CallRecordOptions& options);

// Returns the name of a given option that only recordings have, such as "-o". Returns an empty text if none was given.
std::string asks_for_recording(const CallRecordOptions& options);

// True if the words before `--` name functions, false if they name files. A word names a file if the file exists, or if
// it looks like a file name (with a slash, or with the extension of a trace). `asked` is the result of
// asks_for_recording(); if it is not empty, the words must be functions. Throws Error if the words are neither.
bool name_functions(const std::vector<std::string>& words, const std::string& asked);

// Throws Error if functions in several modules have the same name, because the types in a trace are found by name only.
void check_modules(const std::vector<TraceableFunction>& functions);
// Properties of the machine that are needed together with types, because the types do not contain them.
struct CheckedMachine {
  std::string arch;                 // name of the architecture as printed by uname -m
  std::vector<FlagName> gfp_flags;  // empty: unknown
};
// Returns true if a condition needs text from memory. Throws Error if, according to the types of the functions, a
// condition can never be true.
bool check_conditions(const CallTypes& types, const std::vector<TraceableFunction>& functions,
                      const std::vector<CallCondition>& conditions, const CheckedMachine& machine = {});
// Returns an error that explains why a pattern matches no function. `traceable` and `kallsyms` are the texts that
// choose_functions() takes.
Error no_such_function(const std::string& pattern, const std::string& traceable, const std::string& kallsyms);

// Returns a note about functions whose argument is a pointer to the registers of a system call. Returns an empty
// text if there is no such function, or if `shown` already includes the registers. `traceable` has the names of
// traceable functions.
std::string registers_note(const std::vector<TraceableFunction>& functions, const std::vector<std::string>& shown,
                           const std::vector<std::string>& traceable);

// Records calls. The constructor records until COMMAND ends, the time is over, or Ctrl+C. It reports on stderr the
// numbers of recorded and lost events, and how the calls were traced. Throws Error.
class CallTrace {
 public:
  explicit CallTrace(const CallRecordOptions& options);

  const std::string& path() const { return path_; }
  bool is_kept() const { return !folder_; }
  bool has_types() const { return has_types_; }     // true: the trace has the types of its functions
  int exit_status() const { return exit_status_; }  // of COMMAND

 private:
  std::optional<TemporaryFolder> folder_;
  std::string path_;
  bool has_types_ = false;
  int exit_status_ = 0;
};

}  // namespace kmt
