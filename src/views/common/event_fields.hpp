// SPDX-License-Identifier: GPL-2.0-or-later
// The fields of one event as printable text, for export formats with one record per event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "results/report/event_stream.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Returns "allocation", "failed", "free" and so on (docs/formats/export.md). Returns an empty string for events that
// neither allocate nor free memory.
std::string_view outcome_text(Outcome outcome);

// The fields of an event. A field is empty if the event or its kind does not have it.
struct EventFields {
  std::string_view name;       // "kmalloc"
  std::string_view allocator;  // "slab"
  std::string_view task;
  std::string_view cache;
  std::string_view symbol;
  std::string_view gfp_flags;
  std::string_view migrate_type;
  std::optional<std::uint64_t> address;  // for pages, the number of the first page frame
  std::optional<std::uint64_t> bytes_requested;
  std::optional<std::uint64_t> bytes_allocated;
  std::optional<std::uint64_t> call_site;  // address of the call site
  std::optional<unsigned> order;
  std::optional<int> node;
  // number of the allocation that the event made, failed to make, or freed; if the event freed several allocations, the
  // number of the first one; 0: none
  std::uint32_t allocation = 0;
  std::optional<std::uint64_t> lifetime_ns;
};

class EventNames {
 public:
  // Keeps references to both arguments, so they must outlive this object.
  EventNames(const TraceInfo& info, const SymbolNames& symbols) : info_(info), symbols_(symbols) {}

  EventFields fields_of(const StreamedEvent& event);
  // Passes the symbol of each frame to `give`, innermost frame first. The symbol of a program frame includes the
  // program or library: "main (make)".
  template <typename Give>
  void stack(StackId id, Give&& give) {
    for (const std::uint64_t address : info_.tables.stacks[id]) give(symbol(address));
    for (const std::uint64_t frame : info_.tables.stacks.user(id)) give(user_symbol(frame));
  }
  const std::string& symbol(std::uint64_t address);
  const std::string& user_symbol(std::uint64_t frame);  // `frame` is a frame of TraceCode::user
  std::uint64_t real_address(std::uint64_t address) const { return symbols_.real_address(address); }
  const std::string& printable_text(std::string_view text);  // caches results by the address of the text

 private:
  const std::string& gfp_text_of(std::uint32_t flags);

  const TraceInfo& info_;
  const SymbolNames& symbols_;
  std::unordered_map<std::uint64_t, std::string> symbol_names_;
  std::unordered_map<std::uint64_t, std::string> user_symbols_;
  std::unordered_map<std::uint32_t, std::string> gfp_texts_;
  std::unordered_map<int, std::string> migrate_types_;
  // key: address of the original text; value: the original text and its printable form
  std::unordered_map<const char*, std::pair<std::string, std::string>> texts_;
};

}  // namespace kmt
