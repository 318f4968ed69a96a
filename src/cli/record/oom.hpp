// SPDX-License-Identifier: GPL-2.0-or-later
// Implements --trigger oom: describes a kill by the OOM killer in files next to the trace.
#pragma once

#include <string>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

// Protects this process from the OOM killer as long as the object exists. Prints a note if that is not permitted. End
// the protection before any work that needs much memory: the OOM killer would kill other processes instead.
class OomProtection {
 public:
  OomProtection();
  ~OomProtection();
  OomProtection(const OomProtection&) = delete;
  OomProtection& operator=(const OomProtection&) = delete;

 private:
  std::string before_;  // the earlier value of oom_score_adj; empty: it was not changed
};

// Returns the last report of a kill in the kernel's log, without the times of its messages. Empty if there is none, or
// if the log cannot be read.
std::string text_of_last_oom_report();

// Returns a text such as "stress (pid 812), when make needed memory".
std::string victim_of_kill(const OomKill& kill);

// Writes three files next to a trace that ended with a kill. For trace.kmt, these are trace.oom.kmt with the kernel's
// report of the kill as a snapshot, trace.pb.gz with a profile of the allocations in the trace, and trace.html. The
// page shows the victim, how memory was used, and who allocated memory in the last minute. `earlier_report` is the
// result of text_of_last_oom_report() before the kill; this report is not used. Throws no error: prints a warning if a
// file cannot be written.
void write_oom_files(const std::string& trace, const std::string& earlier_report);

}  // namespace kmt
