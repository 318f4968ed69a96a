// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/call_tracker.hpp"

#include <algorithm>
#include <utility>

#include "trace/calls/event.hpp"

namespace kmt::text {

void CallTracker::add(const InterruptLine& line) {
  if (line.tid < 0)
    cpus_[line.cpu].in_interrupt = line.begins;
  else if (line.begins)
    interrupted_.insert(line.tid);
  else
    interrupted_.erase(line.tid);
}

void CallTracker::add(const SwitchLine& line) {
  first_.try_emplace(line.from.cpu, NamedTask{line.from.tid, std::string(line.from.comm)});
  cpus_[line.to.cpu].task = NamedTask{line.to.tid, std::string(line.to.comm)};
}

// Sets the time of a call. The kernel prints times in microseconds, but durations in nanoseconds. Therefore a line of a
// CPU may seem to be earlier than the end of the previous call. In this case, sets the time to that end.
void CallTracker::set_time(CallLine& call, Cpu& cpu, std::uint64_t number) {
  constexpr std::uint64_t kPrinted = 1000;
  if (!call.has_time) {
    call.line.time = number;
    call.line.time_in_ns = false;
    return;
  }
  if (call.line.time < cpu.last_ns && cpu.last_ns - call.line.time < kPrinted) call.line.time = cpu.last_ns;
  cpu.last_ns = end_of(call);
}

void CallTracker::complete(CallLine& call, std::uint64_t number) {
  Cpu& cpu = cpus_[call.line.cpu];
  if (!call.has_task) {
    if (!cpu.task && known_first_ != nullptr)
      if (const auto first = known_first_->find(call.line.cpu); first != known_first_->end()) cpu.task = first->second;
    call.line.tid = cpu.task ? cpu.task->tid : -1;
    call.line.comm = cpu.task ? std::string_view(cpu.task->comm) : std::string_view();
  }
  if (cpu.in_interrupt || interrupted_.contains(call.line.tid)) call.line.context |= Context::kHardIrq;
  set_time(call, cpu, number);
  if (call.part == CallPart::comment) return;
  std::vector<OpenCall>& open = open_[{call.line.tid, call.line.tid > 0 ? 0 : call.line.cpu}];
  const unsigned nested = open.empty() ? 0 : open.back().depth + 1;
  const bool ends = call.part == CallPart::exit;
  call.depth = std::min<unsigned>(call.depth.value_or(ends && nested > 0 ? nested - 1 : nested), kMostCallDepth);
  while (!open.empty() && open.back().depth > *call.depth) open.pop_back();
  if (!open.empty() && open.back().depth == *call.depth) {
    if (ends && call.function.empty()) call.function = ended_ = std::move(open.back().function);
    open.pop_back();
  }
  if (call.part == CallPart::entry) open.push_back({*call.depth, std::string(call.function)});
}

}  // namespace kmt::text
