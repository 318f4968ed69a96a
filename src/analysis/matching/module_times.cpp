// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/module_times.hpp"

#include <algorithm>

namespace kmt {

void ModuleTimes::set_events(const ModuleEvents& events) {
  const auto modules = info().recording.notes.find("modules");
  loads_.emplace(info().code.module_changes,
                 modules == info().recording.notes.end() ? std::string_view() : modules->second, events);
  if (loads_->empty()) loads_.reset();
}

bool ModuleTimes::read(EventBatch& batch) {
  if (!source_.read(batch)) return false;
  if (loads_)
    for (Event& event : batch) place(event);
  return true;
}

void ModuleTimes::place(Event& event) {
  if (event.call_site.value != 0) event.call_site = site_of(event.call_site, event.time_ns);
  if (event.stack.value != 0) event.stack = stack_of(event.stack, event.time_ns);
}

CallSiteId ModuleTimes::site_of(CallSiteId site, std::uint64_t time_ns) {
  std::vector<std::uint64_t>& addresses = info().tables.call_sites;
  if (sites_.size() <= site.value) sites_.resize(addresses.size());
  const std::uint64_t address = addresses[site.value];
  Covered& covered = sites_[site.value];
  if (covered == Covered::not_asked) covered = loads_->covers(address) ? Covered::yes : Covered::no;
  if (covered == Covered::no) return site;
  const auto [known, is_new] = sites_at_.insert(std::uint64_t{site.value} << 32 | loads_->epoch(time_ns));
  if (!is_new) return {*known};
  const std::uint64_t stands_for = loads_->address_at(address, time_ns);
  if (stands_for == address) return {*known = site.value};
  const auto [id, inserted] = site_ids_.insert(stands_for);
  if (inserted) {
    *id = static_cast<std::uint32_t>(addresses.size());
    addresses.push_back(stands_for);
  }
  return {*known = *id};
}

StackId ModuleTimes::stack_of(StackId stack, std::uint64_t time_ns) {
  if (known_stacks_.size() <= stack.value) known_stacks_.resize(info().tables.stacks.size());
  Covered& covered = known_stacks_[stack.value];
  if (covered == Covered::not_asked) {
    const auto frames = info().tables.stacks[stack];
    const bool any = std::ranges::any_of(frames, [this](std::uint64_t frame) { return loads_->covers(frame); });
    covered = any ? Covered::yes : Covered::no;
  }
  if (covered == Covered::no) return stack;
  const auto [known, is_new] = stacks_at_.insert(std::uint64_t{stack.value} << 32 | loads_->epoch(time_ns));
  if (!is_new) return {*known};
  frames_.clear();
  for (const std::uint64_t frame : info().tables.stacks[stack]) frames_.push_back(loads_->address_at(frame, time_ns));
  if (std::ranges::equal(frames_, info().tables.stacks[stack])) return {*known = stack.value};
  const StackId kernel = stacks_.id_of(frames_);
  return {*known = (info().tables.stacks.user(stack).empty() ? kernel : stacks_.id_of_both(kernel, stack)).value};
}

}  // namespace kmt
