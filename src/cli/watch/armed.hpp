// SPDX-License-Identifier: GPL-2.0-or-later
// Starts an investigation when memory grows, for `serve --investigate-on`.
#pragma once

#include <cstdint>
#include <string>
#include <thread>

#include <sys/types.h>

#include "cli/record/trigger.hpp"
#include "results/heap/exported_series.hpp"

namespace kmt {

struct ArmedOptions {
  std::string condition;     // as for Trigger, but not "failure"
  std::string folder;        // evidence is kept here, in a folder for each investigation
  std::string lasting;       // duration of an investigation
  std::string pause;         // shortest time between the starts of two investigations
  std::size_t keep = 10;     // number of investigations whose evidence is kept
  std::string webhook = {};  // URL to which the result is posted as JSON; may be empty
  std::string btf = {};      // value of --btf; may be empty
};

// An investigation is a separate process of this program, so its cost is limited by its own budget.
class ArmedInvestigation {
 public:
  // Throws Error if the options are wrong, or if the folder cannot be written.
  explicit ArmedInvestigation(ArmedOptions options);
  // Ends a running investigation, which keeps its evidence.
  ~ArmedInvestigation();
  ArmedInvestigation(const ArmedInvestigation&) = delete;
  ArmedInvestigation& operator=(const ArmedInvestigation&) = delete;

  // Starts an investigation if the condition is true, or prints the verdict of one that has ended. Call it several
  // times per second. Failures are printed and counted.
  void turn();
  const InvestigationCounts& counts() const { return counts_; }

 private:
  void start(std::uint64_t now_ns);
  void end();
  void take_result(int status);
  void remove_oldest() const;

  ArmedOptions options_;
  Trigger trigger_;
  std::uint64_t lasting_ns_;
  std::uint64_t pause_ns_;
  std::uint64_t next_ns_ = 0;  // no investigation starts before this time
  pid_t child_ = 0;            // 0: no investigation is running
  std::string evidence_;       // folder of the last investigation
  InvestigationCounts counts_;
  std::thread webhook_;
};

}  // namespace kmt
