// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace graph FUNCTION…: records a trace, which is then shown like a FILE.
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
  std::vector<std::string> functions;  // as in choose_functions()
  std::string output;                  // empty: a temporary file
  std::string backend = "auto";
  std::vector<std::string> shown;         // as in resolve_value()
  std::vector<CallCondition> conditions;  // the filters for showing calls
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

// All options except functions, pids, command and progress. They must outlive the command.
void add_call_record_options(Command& command, CallRecordOptions& options);

// An option that only recordings have: "-o"; empty: none.
std::string asks_for_recording(const CallRecordOptions& options);

// True if the words before `--` name functions, false for files. Existing files are files, and words that look like
// some (with a slash, or a trace's ending). `asked` is asks_for_recording()'s option: then they are functions. Throws
// Error if they cannot be.
bool name_functions(const std::vector<std::string>& words, const std::string& asked);

// Throws Error if functions of several modules have one name: a trace finds types by name only.
void check_modules(const std::vector<TraceableFunction>& functions);
// The machine that the types belong to, which they do not name.
struct CheckedMachine {
  std::string arch;                 // as in uname -m
  std::vector<FlagName> gfp_flags;  // empty: unknown
};
// True if conditions need text from memory. Throws Error if, by the functions' types, one can hold for none of them.
bool check_conditions(const CallTypes& types, const std::vector<TraceableFunction>& functions,
                      const std::vector<CallCondition>& conditions, const CheckedMachine& machine = {});
// Why a pattern matches no function, with the texts of choose_functions().
Error no_such_function(const std::string& pattern, const std::string& traceable, const std::string& kallsyms);

// Returns a note for functions that get a system call's arguments in the program's registers; empty if there is none,
// or the registers are in `shown`. `traceable`: names.
std::string registers_note(const std::vector<TraceableFunction>& functions, const std::vector<std::string>& shown,
                           const std::vector<std::string>& traceable);

// Records a trace of calls in its constructor, until COMMAND ends, the time is over or Ctrl+C; reports on stderr the
// recorded and lost events, and the back end. Throws Error.
class CallTrace {
 public:
  explicit CallTrace(const CallRecordOptions& options);

  const std::string& path() const { return path_; }
  bool is_kept() const { return !folder_; }
  bool has_types() const { return has_types_; }     // of its own, of the functions
  int exit_status() const { return exit_status_; }  // of COMMAND

 private:
  std::optional<TemporaryFolder> folder_;
  std::string path_;
  bool has_types_ = false;
  int exit_status_ = 0;
};

}  // namespace kmt
