// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace graph FUNCTION…: records a trace of calls. The trace is then shown like a given FILE.
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
  std::vector<std::string> functions;  // same syntax as in choose_functions()
  std::string output;                  // empty: use a temporary file
  std::string backend = "auto";
  std::vector<std::string> shown;         // same syntax as in resolve_value()
  std::vector<CallCondition> conditions;  // filters of the calls to show
  bool needs_results = false;             // of filters
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

// Adds all options except functions, pids, command and progress. `options` must outlive the command.
void add_call_record_options(Command& command, CallRecordOptions& options);

// Returns an option that only recordings have, such as "-o". Returns an empty text if there is none.
std::string asks_for_recording(const CallRecordOptions& options);

// True if the words before `--` name functions, false if they name files. A word names a file if the file exists, or if
// the word looks like a file name (with a slash, or with the extension of a trace). If `asked` is not empty, the words
// must be functions; it is the result of asks_for_recording(). Throws Error if the words are neither.
bool name_functions(const std::vector<std::string>& words, const std::string& asked);

// Throws Error if functions of several modules have the same name, because the types in a trace are found only by name.
void check_modules(const std::vector<TraceableFunction>& functions);
// Properties of the machine that the types belong to. The types themselves do not contain them.
struct CheckedMachine {
  std::string arch;                 // same as the output of uname -m
  std::vector<FlagName> gfp_flags;  // empty: unknown
};
// True if conditions need text from memory. Throws Error if, according to the types of the functions, a condition can
// never hold.
bool check_conditions(const CallTypes& types, const std::vector<TraceableFunction>& functions,
                      const std::vector<CallCondition>& conditions, const CheckedMachine& machine = {});
// Returns an error that explains why a pattern matches no function. `traceable` and `kallsyms` are the texts for
// choose_functions().
Error no_such_function(const std::string& pattern, const std::string& traceable, const std::string& kallsyms);

// Returns a note about functions whose argument is the registers of a system call. Returns an empty text if there is no
// such function, or if `shown` includes the registers. `traceable` has the names of traceable functions.
std::string registers_note(const std::vector<TraceableFunction>& functions, const std::vector<std::string>& shown,
                           const std::vector<std::string>& traceable);

// The constructor records a trace of calls until COMMAND ends, the time is over, or Ctrl+C. Reports on stderr the
// recorded and lost events, and the back end. Throws Error.
class CallTrace {
 public:
  explicit CallTrace(const CallRecordOptions& options);

  const std::string& path() const { return path_; }
  bool is_kept() const { return !folder_; }
  bool has_types() const { return has_types_; }     // true: the trace includes the types of its functions
  int exit_status() const { return exit_status_; }  // of COMMAND

 private:
  std::optional<TemporaryFolder> folder_;
  std::string path_;
  bool has_types_ = false;
  int exit_status_ = 0;
};

}  // namespace kmt
