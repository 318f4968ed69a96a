// SPDX-License-Identifier: GPL-2.0-or-later
#include "library/opened_trace.hpp"

namespace kmemtrace {

namespace {

kmt::SymbolOptions with_kallsyms(const std::string& path) {
  kmt::SymbolOptions options;
  options.kallsyms = path;
  return options;
}

}  // namespace

OpenedTrace::OpenedTrace(const std::string& path, const std::string& kallsyms)
    : path_(path),
      source_(kmt::open_trace(path)),
      symbols_(source_->info(), with_kallsyms(kallsyms), wrappers_),
      modules_(*source_),
      calls_(modules_, symbols_, false) {}

bool OpenedTrace::read(kmt::EventBatch& batch) {
  if (!has_begun_ && needs_module_events()) {
    const std::unique_ptr<kmt::Source> ahead = kmt::open_trace(path_);
    kmt::EventBatch events;
    while (ahead->read(events)) {
    }
    set_module_events(ahead->info().code.module_events);
  }
  has_begun_ = true;
  bool has_more = true;
  do has_more = calls_.read(batch);
  while (has_more && batch.empty());
  if (!has_more) batch.clear();
  return has_more;
}

kmt::Event without_call_fields(kmt::Event event) {
  if (!kmt::is_call(event.kind)) return event;
  event.gfp_flags = 0;
  event.node = kmt::kNoNode;
  event.migrate_type = 0;
  event.order = 0;
  event.cache = {};
  return event;
}

}  // namespace kmemtrace
