// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the options of `record` before the recording.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "capture/session/recording.hpp"
#include "formats/kmt/recording.hpp"

namespace kmt {

struct RecordOptions {
  std::string output = "trace.kmt";
  std::string backend = "tracefs";
  std::vector<std::string> events;
  std::vector<std::string> filters;
  std::vector<std::string> pids;
  std::string cgroup;
  std::string duration;
  std::string buffer;
  std::string max_memory;
  std::string clock;
  std::string sample_interval;
  std::string flight;
  bool flight_given = false;  // true for --flight without a value too
  std::string persistent;     // value of --persistent: the name of an instance, or kAnyInstance; empty: not given
  std::string previous;       // value of --previous, likewise
  std::string rotate;
  std::string trigger;
  unsigned keep = 0;
  unsigned version = 7;
  bool version_given = false;
  std::string stacks;  // "kernel", "user" or "both"; if empty, no stacks are recorded
  bool syscalls = false;
  bool stalls = false;
  bool page_owner = false;
  bool no_probes = false;
  std::string btf;  // value of --btf
  bool only_command = false;
  bool boot = false;
  bool remove_stale = false;
  bool no_progress = false;
  std::vector<std::string> command;
};

constexpr const char* kAnyInstance = "*";  // value of --persistent and --previous if no name was given

// Returns the name of the instance; empty if no name was given.
std::string instance_name(const std::string& value);
bool writes_trace_dat(const RecordOptions& options);  // else .kmt
bool uses_bpf(const RecordOptions& options);          // else tracefs
bool wants_kernel_stacks(const RecordOptions& options);
bool wants_user_stacks(const RecordOptions& options);

// The following functions throw Error.
void check_output(const std::string& path);
void check_backend(const RecordOptions& options);  // throws Error for options that only ftrace supports
void check_persistent(const RecordOptions& options);

struct GivenOption {
  const char* name;
  bool is_given;
};
// Throws Error if one of the others is given, because the option `name` cannot be combined with them.
void refuse_with(const char* name, std::initializer_list<GivenOption> others, const char* hint);
RecordRequest request_of(const RecordOptions& options, const std::string& tracefs);
std::optional<kmt_format::Rotation> rotation_of(const RecordOptions& options);
std::optional<kmt_format::Flight> flight_of(const RecordOptions& options, std::uint64_t most_bytes);
// Returns the memory limit in bytes for all ring buffers together, and for the memory of a flight recorder.
std::uint64_t most_memory(const RecordOptions& options, const std::string& tracefs);

}  // namespace kmt
