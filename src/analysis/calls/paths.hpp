// SPDX-License-Identifier: GPL-2.0-or-later
// A trace whose memory events are placed by the calls around them, from ftrace's function graph events.
//
// While the function graph tracer runs, the return address of a traced function is that of its trampoline. An event
// with that call site gets another one: the innermost open call of its task that is no part and no wrapper of an
// allocator (trace/code/wrappers.txt), or none if no such call is known. On request, an event without a kernel stack
// gets the open calls as one.
//
// The position of a call in its function is unknown, so the call site is the second byte of the function:
// "vfs_read+0x1". The first byte, as a return address, would belong to the function before.
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

// Another source, which is read through this.
class CallPaths : public Source {
 public:
  // All that is given must outlive this. The source's tables get what events need here.
  CallPaths(Source& source, const SymbolNames& names, bool as_stacks);

  const TraceInfo& info() const override { return source_.info(); }
  TraceInfo& info() override { return source_.info(); }
  bool read(EventBatch& batch) override;
  double progress() const override { return source_.progress(); }

  // Whether any call has been read.
  bool has_calls() const { return !functions_.empty(); }

 private:
  struct Function {
    std::uint64_t inside = 0;  // an address in it
    std::uint8_t level = 0;    // of interrupts
  };
  enum class Site : std::uint8_t { not_asked, real, trampoline };

  std::uint32_t function_of(std::uint64_t address);
  std::uint32_t name_id(std::uint64_t address);
  void add_calls(Event& event);
  bool is_trampoline(CallSiteId site);
  CallSiteId site_of(std::uint64_t address);
  void add_call_site(std::uint64_t site, std::size_t caller);

  Source& source_;
  const SymbolNames& names_;
  WrapperList wrappers_ = WrapperList::built_in();
  CallerFinder callers_;
  bool as_stacks_;
  CallStacks calls_;
  std::vector<Function> functions_;
  FlatMap<std::uint32_t> function_ids_;  // by address
  FlatMap<std::uint32_t> name_ids_;      // of functions, by addresses in them
  std::unordered_map<std::string, std::uint32_t> known_names_;
  std::vector<Site> sites_;                // by CallSiteId
  FlatMap<std::uint32_t> sites_of_calls_;  // CallSiteId, by address
  StackIds stacks_;
  std::vector<std::uint64_t> path_;  // of one event, innermost first
};

}  // namespace kmt
