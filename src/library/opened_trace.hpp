// SPDX-License-Identifier: GPL-2.0-or-later
// A trace opened for reading its events, as the commands read them.
#pragma once

#include <memory>
#include <string>

#include "analysis/calls/paths.hpp"
#include "analysis/matching/module_times.hpp"
#include "formats/registry.hpp"
#include "symbols/symbols.hpp"

namespace kmemtrace {

class OpenedTrace {
 public:
  // `kallsyms` is the path of a file with kernel symbols, used if the trace has none; or empty. Throws kmt::Error.
  explicit OpenedTrace(const std::string& path, const std::string& kallsyms = {});

  const kmt::TraceInfo& info() const { return source_->info(); }
  const kmt::Symbols& symbols() const { return symbols_; }
  const kmt::WrapperList& wrappers() const { return wrappers_; }
  // True if module addresses in events depend on later events. The trace must then be read twice.
  bool needs_module_events() const { return !info().code.module_changes.empty(); }
  // Sets the module events of the whole trace. Must be called before source() is read.
  void set_module_events(const kmt::ModuleEvents& events) { modules_.set_events(events); }
  kmt::Source& source() { return calls_; }

  // Replaces the events of `batch` by at least one event. Returns false at the end. Reads the trace twice if necessary,
  // so set_module_events() is not needed.
  bool read(kmt::EventBatch& batch);

 private:
  std::string path_;
  std::unique_ptr<kmt::Source> source_;
  kmt::WrapperList wrappers_ = kmt::WrapperList::built_in();
  kmt::Symbols symbols_;
  kmt::ModuleTimes modules_;
  kmt::CallPaths calls_;
  bool has_begun_ = false;
};

// Returns the event without the fields of kmt::CallEvent, which are stored in the place of other fields.
kmt::Event without_call_fields(kmt::Event event);

}  // namespace kmemtrace
