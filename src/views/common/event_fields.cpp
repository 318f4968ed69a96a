// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/common/event_fields.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "results/group.hpp"
#include "trace/kernel_release.hpp"
#include "trace/page_block.hpp"

namespace kmt {

std::string_view outcome_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::unseen:
    case Outcome::other: break;
    case Outcome::failed: return "failed";
    case Outcome::began: return "allocation";
    case Outcome::began_after_early_free: return "allocation-after-early-free";
    case Outcome::duplicate_event: return "allocation-told-twice";
    case Outcome::freed: return "free";
    case Outcome::freed_null: return "free-of-null";
    case Outcome::freed_nothing: return "free-of-nothing";
    case Outcome::allocated_before_trace: return "free-of-older";
    case Outcome::double_or_untraced: return "double-free-or-untraced";
    case Outcome::impossible_order: return "impossible-order";
  }
  return {};
}

namespace {

bool says_gfp_flags(EventKind kind) {
  return is_slab_alloc(kind) || kind == EventKind::page_alloc || kind == EventKind::percpu_alloc;
}

}  // namespace

const std::string& EventNames::user_symbol(std::uint64_t frame) {
  const auto [known, is_new] = user_symbols_.try_emplace(frame);
  if (is_new) {
    const UserName name = symbols_.user_name(frame);
    known->second = printable(fmt::format("{} ({})", name.symbol(), name.object));
  }
  return known->second;
}

const std::string& EventNames::symbol(std::uint64_t address) {
  const auto [at, is_new] = symbol_names_.try_emplace(address);
  if (is_new) at->second = printable(symbols_.name(address));
  return at->second;
}

const std::string& EventNames::gfp_text_of(std::uint32_t flags) {
  const auto [at, is_new] = gfp_texts_.try_emplace(flags);
  if (is_new)
    at->second = info_.tables.gfp_flags.empty() ? fmt::format("{:#x}", flags)
                                                : printable(gfp_text(info_.tables.gfp_flags, flags));
  return at->second;
}

const std::string& EventNames::printable_text(std::string_view text) {
  auto& [known, shown] = texts_[text.data()];
  if (known != text) {
    known = text;
    shown = printable(text);
  }
  return shown;
}

EventFields EventNames::fields_of(const StreamedEvent& streamed) {
  const Event& event = *streamed.event;
  EventFields fields;
  fields.name = printable_text(info_.tables.event_types[event.type.value].name);
  fields.task = printable_text(streamed.task);
  fields.allocation = streamed.allocation;
  if (streamed.outcome == Outcome::freed && !streamed.ended.empty()) {
    const EndedPart& first = streamed.ended.front();
    fields.allocation = first.allocation;
    if (first.whole) fields.lifetime_ns = event.time_ns > first.began_ns ? event.time_ns - first.began_ns : 0;
  }
  if (event.kind == EventKind::other || is_call(event.kind) || is_syscall(event.kind) || is_stall(event.kind))
    return fields;

  const bool of_pages = is_page_event(event.kind);
  const bool allocates = is_allocation(event.kind) || event.kind == EventKind::page_alloc;
  fields.allocator = name_of(of_pages ? Allocator::pages : allocator_of(event.kind));
  if (!of_pages || event.address != kNoPage) fields.address = event.address;
  if (is_allocation(event.kind)) {
    fields.bytes_requested = event.bytes_requested;
    fields.bytes_allocated = event.bytes_allocated;
  } else if (allocates && streamed.outcome != Outcome::impossible_order) {
    fields.bytes_requested = fields.bytes_allocated = block_bytes(info_, event.order);
  }
  if (event.call_site.value != 0) {
    const std::uint64_t call_site = info_.tables.call_sites[event.call_site.value];
    fields.call_site = symbols_.real_address(call_site);
    fields.symbol = symbol(call_site);
  }
  fields.cache = printable_text(streamed.cache);
  if (of_pages) {
    fields.order = event.order;
    if (event.migrate_type >= 0) {
      const auto [at, is_new] = migrate_types_.try_emplace(event.migrate_type);
      if (is_new) at->second = migrate_type_name(event.migrate_type, info_.machine.kernel);
      fields.migrate_type = at->second;
    }
  }
  if (says_gfp_flags(event.kind)) fields.gfp_flags = gfp_text_of(event.gfp_flags);
  if (allocates && event.node != kNoNode) fields.node = event.node;
  return fields;
}

}  // namespace kmt
