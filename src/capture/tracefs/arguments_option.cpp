// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/arguments_option.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

namespace {

constexpr const char* kOption = "/options/funcgraph-args";
// The option `markers` of an instance only affects writes to the instance's trace_marker, which kmemtrace does not use.
// Therefore kmemtrace sets this option as its mark.
constexpr const char* kNote = "/options/markers";

bool reads(const std::string& path, std::string_view value) { return trim(try_read_file(path).value_or("")) == value; }

}  // namespace

void set_arguments_option(const std::string& tracefs, const std::string& instance) {
  const bool was_set = reads(instance + kOption, "1");
  const bool was_unset_for_all = reads(tracefs + kOption, "0");
  write_file(instance + kNote, was_set ? "1" : "0");
  if (was_set) return;
  write_file(instance + kOption, "1");
  if (!was_unset_for_all || !reads(tracefs + kOption, "1"))
    write_file(instance + kNote, "1");  // the option is separate in each instance
}

bool has_set_arguments_option(const std::string& instance) {
  return reads(instance + "/current_tracer", "function_graph") && reads(instance + kNote, "0");
}

void unset_arguments_option(const std::string& tracefs) {
  try {
    for (const std::string& name : names_in(tracefs + "/instances")) {
      const std::string other = fmt::format("{}/instances/{}", tracefs, name);
      if (!reads(other + "/current_tracer", "function_graph")) continue;
      if (name.starts_with(kInstancePrefix)) write_file(other + kNote, "0");
      return;
    }
    if (!reads(tracefs + "/current_tracer", "function_graph")) write_file(tracefs + kOption, "0");
  } catch (const Error&) {
    return;
  }
}

}  // namespace kmt
