// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/calls/paths.hpp"

#include "trace/code/function_name.hpp"
#include "trace/code/interrupt_functions.hpp"

namespace kmt {

namespace {

// The tracer's trampoline has this name on all architectures (Linux 6.18).
constexpr std::string_view kTrampoline = "return_to_handler";

bool is_of_memory(EventKind kind) {
  return is_allocation(kind) || is_free(kind) || kind == EventKind::page_alloc || kind == EventKind::page_free;
}

}  // namespace

CallPaths::CallPaths(Source& source, const SymbolNames& names, bool as_stacks)
    : source_(source),
      names_(names),
      callers_(names, wrappers_),
      as_stacks_(as_stacks),
      calls_(source.info(), [](TaskCalls&, const OpenCall&, const CallEvent*) {}),
      stacks_(source.info().tables.stacks) {}

bool CallPaths::read(EventBatch& batch) {
  if (!source_.read(batch)) return false;
  const bool may_lack_calls = find_trampolines() || as_stacks_;
  for (Event& event : batch) {
    if (event.kind == EventKind::call_entry) {
      const std::uint32_t function = function_of(as_call(event).function);
      calls_.enter(event, function, functions_[function].level);
    } else if (event.kind == EventKind::call_exit) {
      calls_.leave(event, function_of(as_call(event).function));
    } else if (may_lack_calls && is_of_memory(event.kind)) {
      add_calls(event);
    }
  }
  return true;
}

std::uint32_t CallPaths::function_of(std::uint64_t address) {
  const auto [id, inserted] = function_ids_.insert(address);
  if (!inserted) return *id;
  *id = static_cast<std::uint32_t>(functions_.size());
  const std::string symbol = names_.name(address);
  functions_.push_back({address + 1, interrupt_level_of(kmt::function_of(symbol))});
  return *id;
}

// Returns an ID for the function that contains an address. Functions with the same name share one ID.
std::uint32_t CallPaths::name_id(std::uint64_t address) {
  const auto [id, inserted] = name_ids_.insert(address);
  if (inserted)
    *id = known_names_
              .try_emplace(std::string(kmt::function_of(names_.name(address))),
                           static_cast<std::uint32_t>(known_names_.size()))
              .first->second;
  return *id;
}

// Looks up the names of call sites that were added since the last call. Returns true if any call site of the trace is
// the tracer's trampoline.
bool CallPaths::find_trampolines() {
  const std::vector<std::uint64_t>& sites = info().tables.call_sites;
  for (std::size_t site = is_trampoline_.size(); site < sites.size(); ++site) {
    is_trampoline_.push_back(site != 0 && kmt::function_of(names_.name(sites[site])) == kTrampoline);
    has_trampolines_ = has_trampolines_ || is_trampoline_.back();
  }
  return has_trampolines_;
}

CallSiteId CallPaths::site_of(std::uint64_t address) {
  const auto [id, inserted] = sites_of_calls_.insert(address);
  if (inserted) {
    *id = static_cast<std::uint32_t>(info().tables.call_sites.size());
    info().tables.call_sites.push_back(address);
  }
  return {*id};
}

void CallPaths::add_calls(Event& event) {
  const bool lacks_site = is_trampoline_[event.call_site.value];
  const bool lacks_stack = as_stacks_ && info().tables.stacks[event.stack].empty();
  if (!lacks_site && !lacks_stack) return;
  path_.clear();
  if (TaskCalls* const task = calls_.at(event); task != nullptr && task->around(event) != nullptr) {
    for (auto call = task->calls.rbegin(); call != task->calls.rend(); ++call) {
      path_.push_back(functions_[call->function].inside);
      // An interrupt interrupted this call and all outer calls, so they did not cause the allocation.
      if (call->on_top) break;
    }
  }
  const std::size_t caller = callers_.caller(path_);
  if (lacks_site) event.call_site = caller < path_.size() ? site_of(path_[caller]) : CallSiteId{};
  if (!lacks_stack || path_.empty()) return;
  if (!lacks_site && event.call_site.value != 0) add_call_site(info().tables.call_sites[event.call_site.value], caller);
  event.stack = stacks_.id_of_both(stacks_.id_of(path_), event.stack);
}

// Inserts the recorded call site into the path. The call site is either in the function of the innermost traced call
// that is not an allocator (path_[caller]), or in an untraced function called from there.
void CallPaths::add_call_site(std::uint64_t site, std::size_t caller) {
  if (callers_.hides(site)) return;
  if (caller < path_.size() && name_id(site) == name_id(path_[caller]))
    path_[caller] = site;
  else
    path_.insert(path_.begin() + static_cast<std::ptrdiff_t>(caller), site);
}

}  // namespace kmt
