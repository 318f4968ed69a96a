// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace graph FUNCTION…: the recording of what is then shown as a FILE would be.
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
  std::vector<std::string> functions;  // as choose_functions() takes them
  std::string output;                  // empty: a file that goes when it has been shown
  std::string backend = "auto";
  std::vector<std::string> shown;         // as resolve_value() takes them
  std::vector<CallCondition> conditions;  // what calls will be chosen by
  bool needs_results = false;             // calls are chosen by them
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

// All but functions, pids, command and progress. The options must outlive the command.
void add_call_record_options(Command& command, CallRecordOptions& options);

// What of the options only a recording has: "-o"; empty: nothing.
std::string asks_for_recording(const CallRecordOptions& options);

// Whether the words in front of `--` name functions, else files. A file that is there is one, what only looks like one
// (with a slash, or ending as traces do) is too. `asked` is what asks_for_recording() says: then they are functions.
// Throws Error where they cannot be.
bool name_functions(const std::vector<std::string>& words, const std::string& asked);

// Throws Error where functions of several modules have one name: the types of a trace go by the name alone.
void check_modules(const std::vector<TraceableFunction>& functions);
// The machine that the types are of, as they do not tell themselves.
struct CheckedMachine {
  std::string arch;                 // as uname -m
  std::vector<FlagName> gfp_flags;  // empty: not known
};
// Whether conditions are about text that has to be read from memory. Throws Error where one can hold for none of the
// functions, by their types.
bool check_conditions(const CallTypes& types, const std::vector<TraceableFunction>& functions,
                      const std::vector<CallCondition>& conditions, const CheckedMachine& machine = {});
// Why a pattern names no function, by the texts that choose_functions() takes.
Error no_such_function(const std::string& pattern, const std::string& traceable, const std::string& kallsyms);

// How arguments of system calls are seen, where a function is given them in registers of the program, as the text of a
// note; empty: there is no such function, or the registers are among what is `shown`. `traceable`: names.
std::string registers_note(const std::vector<TraceableFunction>& functions, const std::vector<std::string>& shown,
                           const std::vector<std::string>& traceable);

// A trace of calls that is recorded by the constructor, until COMMAND ends, the time is over or Ctrl+C; says on stderr
// what was recorded and lost, and by what. Throws Error.
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
