// SPDX-License-Identifier: GPL-2.0-or-later
// Names of the tasks in a recording. The kernel remembers few (saved_cmdlines holds 128 unless told otherwise, and that
// memory is everybody's), so it is asked again and again, and /proc is asked for the rest.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace kmt {

class TaskNames {
 public:
  // Takes over what the kernel's cache holds now; it knows names as they were when events happened.
  void add_saved(const std::string& tracefs);
  // Takes over the names of running tasks that are not known yet.
  void add_running();

  std::string text() const;  // "PID COMM" lines

 private:
  std::map<std::int32_t, std::string> names_;
};

}  // namespace kmt
