// SPDX-License-Identifier: GPL-2.0-or-later
// Assigns call sites and stacks to memory events, based on the calls in ftrace's function graph events.
//
// While the function graph tracer runs, a traced function returns to the tracer's trampoline, so its return address is
// useless as a call site. An event with this trampoline as call site gets the innermost open call of its task instead.
// Allocator functions and their wrappers (trace/code/wrappers.txt) are skipped. If no open call remains, the event has
// no call site. On request, an event without a kernel stack gets the open calls as its stack.
//
// The return address inside the calling function is unknown, so the call site is the second byte of that function:
// "vfs_read+0x1". The first byte would be wrong: a return address there follows a call at the end of the preceding
// function.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/calls/stacks.hpp"
#include "base/flat_map.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/code/wrappers.hpp"
#include "trace/source.hpp"
#include "trace/stack_ids.hpp"

namespace kmt {

// A source that wraps another source. It adds the call paths to the events of that source.
class CallPaths : public Source {
 public:
  // All arguments must outlive this object. New call sites and stacks are added to the tables of the wrapped source.
  CallPaths(Source& source, const SymbolNames& names, bool as_stacks);

  const TraceInfo& info() const override { return source_.info(); }
  TraceInfo& info() override { return source_.info(); }
  bool read(EventBatch& batch) override;
  double progress() const override { return source_.progress(); }

  // True if a call event has been read so far.
  bool has_calls() const { return !functions_.empty(); }

 private:
  struct Function {
    std::uint64_t inside = 0;  // any address inside the function
    std::uint8_t level = 0;    // interrupt level at which the function always runs
  };

  std::uint32_t function_of(std::uint64_t address);
  std::uint32_t name_id(std::uint64_t address);
  void add_calls(Event& event);
  bool find_trampolines();
  CallSiteId site_of(std::uint64_t address);
  void add_call_site(std::uint64_t site, std::size_t caller);

  Source& source_;
  const SymbolNames& names_;
  WrapperList wrappers_ = WrapperList::built_in();
  CallerFinder callers_;
  bool as_stacks_;
  CallStacks calls_;
  std::vector<Function> functions_;
  FlatMap<std::uint32_t> function_ids_;  // key: address of the function
  FlatMap<std::uint32_t> name_ids_;      // key: address in a function; value: ID of the function's name
  std::unordered_map<std::string, std::uint32_t> known_names_;
  std::vector<bool> is_trampoline_;  // index: CallSiteId
  bool has_trampolines_ = false;
  FlatMap<std::uint32_t> sites_of_calls_;  // key: address; value: CallSiteId
  StackIds stacks_;
  std::vector<std::uint64_t> path_;  // call path of the current event, innermost call first
};

}  // namespace kmt
