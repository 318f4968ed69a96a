// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/calls/graph.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "analysis/calls/decoder.hpp"
#include "analysis/calls/shown.hpp"
#include "analysis/calls/stacks.hpp"
#include "analysis/matching/trace_summary.hpp"
#include "base/error.hpp"
#include "base/flat_map.hpp"
#include "base/text.hpp"
#include "trace/code/interrupt_functions.hpp"
#include "trace/page_block.hpp"

namespace kmt {

struct CallGraph::State {
  // A node represents one call. It exists while the call is open, and while any memory allocated in the call or its
  // callees is live. After that, the node's number may be given to another call.
  struct Node {
    // Node of the caller; 0: none, because no caller is traced or the call was made by an interrupt.
    std::uint32_t parent = 0;
    std::uint32_t function = 0;
    std::uint32_t place = 0;  // while the call is open: index of its task in `stacks`
    // Number of users: 1 if the call is open, plus 1 for each live allocation and each child node.
    std::uint32_t references = 1;
    bool open = true;
    bool selected = false;
  };
  struct Live {
    std::uint64_t bytes;
    std::uint32_t node;  // node in which the memory was allocated; 0: outside all calls
    Allocator allocator;
    bool ended;  // true: the first page has been freed, but other pages of the block are live
  };
  struct Function {
    GraphFunction sums;
    bool matches = false;
    std::uint8_t level = 0;  // interrupt level at which the function always runs; 0: none
  };

  State(const TraceInfo& trace_info, const SymbolNames& names, CallGraphRequest wanted)
      : info(trace_info),
        symbols(names),
        request(std::move(wanted)),
        stacks(trace_info,
               [this](TaskCalls& task, const OpenCall& call, const CallEvent* end) { close(task, call, end); }),
        decoder(trace_info, request.signatures),
        conditions(request.where, &trace_info.tables.gfp_flags),
        shown(request.limit, request.slowest) {
    result.has_types = request.signatures != nullptr;
    if (const auto note = info.recording.notes.find("missed"); note != info.recording.notes.end())
      result.missed = parse_missed_events(note->second);
    missed_from.resize(result.missed.size());
    std::uint64_t earliest = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = result.missed.size(); i-- > 0;)
      missed_from[i] = earliest = std::min(earliest, result.missed[i].from_ns);
  }

  std::uint32_t function_of(std::uint64_t address);
  std::uint32_t new_node(const Node& node);
  void unref(std::uint32_t node);
  void enter(const StreamedEvent& streamed);
  void leave(const StreamedEvent& streamed);
  void leave_unseen(const StreamedEvent& streamed, std::uint32_t function);
  void close(TaskCalls& task, const OpenCall& call, const CallEvent* end);
  void account_memory(const StreamedEvent& streamed);
  void allocate(const StreamedEvent& streamed);
  void release(const EndedPart& part);
  void add_live();
  bool is_selected(const OpenCall* parent, std::uint32_t function, std::int32_t tid, bool interrupt) const;
  bool meets_conditions(std::uint32_t function, const CallEvent& entry);
  void set_result(TracedCall& call, const CallEvent& end);
  void check_conditions() const;
  // True if the function's result passes the filters. `end` is nullptr if the end of the call was not seen.
  bool is_wanted(std::uint32_t function, const CallEvent* end);
  const CallSignature* signature_of(std::uint32_t function) {
    return decoder.signature(function, functions[function].sums.name);
  }
  bool may_miss_calls(std::uint64_t began_ns, std::uint64_t ended_ns) const;
  bool is_long_enough(std::optional<std::uint64_t> duration) const {
    return request.least_ns == 0 || (duration && *duration >= request.least_ns);
  }
  std::uint64_t bytes_of(const Event& event) const {
    return event.kind == EventKind::page_alloc ? block_bytes(info, event.order) : event.bytes_allocated;
  }

  const TraceInfo& info;
  const SymbolNames& symbols;
  CallGraphRequest request;
  CallStacks stacks;
  CallDecoder decoder;
  CallConditions conditions;
  bool chooses_by_arguments = conditions.any_of_arguments();
  bool chooses_by_results = conditions.any_of_results();
  std::vector<Function> functions;
  FlatMap<std::uint32_t> function_ids;  // key: address of the function
  std::vector<Node> nodes = {{}};       // nodes[0] is not used, because number 0 means "none"
  std::vector<std::uint32_t> free_nodes;
  FlatMap<Live> live;  // key: number of the allocation
  ShownCalls shown;
  EventSpan seen;
  bool sees_ends = false;
  // Index i: the earliest start among the entries result.missed[i] and later, because entries may overlap.
  std::vector<std::uint64_t> missed_from;
  CallGraphResult result;
};

std::uint32_t CallGraph::State::function_of(std::uint64_t address) {
  const auto [id, inserted] = function_ids.insert(address);
  if (!inserted) return *id;
  *id = static_cast<std::uint32_t>(functions.size());
  Function& function = functions.emplace_back();
  function.sums.address = address;
  const std::string symbol = symbols.name(address);
  // The symbol has an offset if the function starts with an instruction that marks a branch target: the traced address
  // then follows this instruction.
  const std::size_t offset = symbol.find('+');
  const std::size_t module = symbol.find(" [");
  function.sums.name = symbol.substr(0, std::min(offset, module));
  const std::string& name = function.sums.name;
  function.matches = request.functions.empty() || std::ranges::any_of(request.functions, [&](const std::string& glob) {
                       return glob_match(glob, name);
                     });
  function.level = interrupt_level_of(name);
  if (module != std::string::npos) function.sums.name += symbol.substr(module);
  return *id;
}

std::uint32_t CallGraph::State::new_node(const Node& node) {
  if (node.parent != 0) ++nodes[node.parent].references;
  if (free_nodes.empty()) {
    nodes.push_back(node);
    return static_cast<std::uint32_t>(nodes.size() - 1);
  }
  const std::uint32_t number = free_nodes.back();
  free_nodes.pop_back();
  nodes[number] = node;
  return number;
}

void CallGraph::State::unref(std::uint32_t node) {
  while (node != 0 && --nodes[node].references == 0) {
    free_nodes.push_back(node);
    node = nodes[node].parent;
  }
}

bool CallGraph::State::is_selected(const OpenCall* parent, std::uint32_t function, std::int32_t tid,
                                   bool interrupt) const {
  if (parent != nullptr && parent->selected) return true;
  return functions[function].matches && (request.pids.empty() || (!interrupt && request.pids.contains(tid)));
}

bool CallGraph::State::meets_conditions(std::uint32_t function, const CallEvent& entry) {
  if (request.where.empty()) return true;
  const CallSignature* const signature = signature_of(function);
  if (!conditions.knows(function)) conditions.add(function, functions[function].sums.name, signature);
  if (!chooses_by_arguments) return true;
  const std::optional<CallValues> arguments = decoder.arguments(signature, entry);
  return arguments && conditions.hold(function, *arguments);
}

void CallGraph::State::set_result(TracedCall& call, const CallEvent& end) {
  decoder.add_late_values(signature_of(call.function), end, call.arguments);
  if (!end.has(CallFlags::kReturnValue)) return;
  const CallSignature* const signature = signature_of(call.function);
  call.return_value = end.return_value;
  call.typed = signature != nullptr;
  call.result = decoder.result(signature, end);
}

bool CallGraph::State::is_wanted(std::uint32_t function, const CallEvent* end) {
  if (!request.errors_only && !chooses_by_results) return true;
  if (end == nullptr) return false;
  TracedCall call;
  call.function = function;
  set_result(call, *end);
  if (request.errors_only && !has_failed(call, info.machine.word_bits)) return false;
  if (!chooses_by_results) return true;
  if (!conditions.knows(function)) conditions.add(function, functions[function].sums.name, signature_of(function));
  const auto returned = known_result(call, info.machine.word_bits);
  return returned && conditions.hold(function, *returned);
}

void CallGraph::State::check_conditions() const {
  if (result.calls_traced == 0) return;
  constexpr const char* kBlank = "They were removed when the trace was anonymised. Use the original trace";
  if (chooses_by_arguments && !result.has_arguments)
    throw Error("Conditions on arguments: the trace has no arguments")
        .hint(info.calls.are_blank ? kBlank
                                   : "`kmemtrace graph FUNCTION` records them with BPF or kprobe events. ftrace "
                                     "records them since Linux 6.15 if its option funcgraph-args exists and is set");
  if (chooses_by_arguments && request.signatures == nullptr)
    throw Error("Conditions on arguments: the trace does not have their types")
        .hint("The traced kernel has them in /sys/kernel/btf/vmlinux: name a copy of this file with --btf");
  if ((chooses_by_results || request.errors_only) && !result.has_return_values && sees_ends)
    throw Error("Conditions on results: the trace has no results")
        .hint(info.calls.are_blank ? kBlank
                                   : "`kmemtrace graph FUNCTION` records them with BPF or kprobe events. ftrace "
                                     "records them if the kernel was built with CONFIG_FUNCTION_GRAPH_RETVAL (since "
                                     "Linux 6.5) and its option funcgraph-retval is set");
  if (!request.where.empty()) conditions.check();
}

void CallGraph::State::enter(const StreamedEvent& streamed) {
  const CallEvent event = as_call(*streamed.event);
  const std::uint32_t function = function_of(event.function);
  TaskCalls& task = stacks.enter(*streamed.event, function, functions[function].level);
  OpenCall& call = task.calls.back();
  const OpenCall* const parent = task.calls.size() > 1 ? &call - 1 : nullptr;
  const bool parent_selected = parent != nullptr && parent->selected;
  call.selected = is_selected(parent, function, event.tid, call.level > 0) &&
                  (parent_selected || meets_conditions(function, event));
  if (parent_selected) call.shown_level = static_cast<std::uint8_t>(parent->shown_level + 1);

  Node node;
  node.parent = parent != nullptr && !call.on_top ? parent->node : 0;
  node.function = function;
  node.place = stacks.place();
  node.selected = call.selected;
  call.node = new_node(node);
  ++result.calls_traced;
  if (!call.selected) return;
  ++functions[function].sums.calls;
  call.may_be_shown = !request.depth || call.shown_level < *request.depth;
  if (!call.may_be_shown || shown.is_full()) return;
  TracedCall traced;
  traced.function = function;
  traced.tid = event.tid;
  traced.task = streamed.task;
  traced.cpu = traced.end_cpu = event.cpu;
  traced.level = call.shown_level;
  traced.interrupt = call.level;
  traced.on_top = call.on_top;
  traced.began_ns = traced.ended_ns = event.time_ns;
  if (request.arguments) traced.arguments = decoder.arguments(signature_of(function), event);
  call.slot = shown.begin(std::move(traced), parent != nullptr ? parent->slot : ShownCalls::kNone);
}

void CallGraph::State::leave(const StreamedEvent& streamed) {
  const std::uint32_t function = function_of(as_call(*streamed.event).function);
  if (!stacks.leave(*streamed.event, function)) leave_unseen(streamed, function);
}

// Handles the end of a call whose start is not in the trace.
void CallGraph::State::leave_unseen(const StreamedEvent& streamed, std::uint32_t function) {
  const CallEvent event = as_call(*streamed.event);
  ++result.calls_traced;
  TaskCalls* const task = stacks.at(*streamed.event);
  const OpenCall* const parent = task != nullptr ? task->innermost() : nullptr;
  const std::uint8_t level = std::max(interrupt_level(*streamed.event), functions[function].level);
  if (!is_selected(parent, function, event.tid, level > 0)) return;
  if (chooses_by_arguments && (parent == nullptr || !parent->selected)) return;
  ++functions[function].sums.cut_off;
  TracedCall traced;
  traced.duration_ns = measured_duration(event);
  if (parent != nullptr && parent->selected) traced.level = static_cast<std::uint8_t>(parent->shown_level + 1);
  if ((request.depth && traced.level >= *request.depth) || !is_long_enough(traced.duration_ns) ||
      !is_wanted(function, &event)) {
    if (parent != nullptr) shown.hide_inside(parent->slot);
    return;
  }
  ++result.calls_selected;
  ++functions[function].sums.selected;
  traced.function = function;
  traced.tid = event.tid;
  traced.task = streamed.task;
  traced.cpu = traced.end_cpu = event.cpu;
  traced.interrupt = level;
  traced.begin_seen = false;
  traced.end_seen = true;
  traced.began_ns = traced.ended_ns = event.time_ns;
  set_result(traced, event);
  const std::size_t slot = shown.begin(std::move(traced), parent != nullptr ? parent->slot : ShownCalls::kNone);
  if (slot != ShownCalls::kNone) shown.show(slot, true);
  if (slot == ShownCalls::kNone && parent != nullptr) shown.hide_inside(parent->slot);
}

// True if the recorder may have missed calls between these times. The recorder only knows that calls were missed
// between two readings of its counters. It does not know which tasks made the missed calls, so any of them may have
// happened inside this call.
bool CallGraph::State::may_miss_calls(std::uint64_t began_ns, std::uint64_t ended_ns) const {
  const auto missed = std::ranges::lower_bound(result.missed, began_ns, {}, &MissedEvents::to_ns);
  return missed != result.missed.end() &&
         missed_from[static_cast<std::size_t>(missed - result.missed.begin())] <= ended_ns;
}

// Handles the end of the innermost call of a task. `end` is nullptr if the end was not recorded.
void CallGraph::State::close(TaskCalls& task, const OpenCall& call, const CallEvent* end) {
  OpenCall* const parent = task.innermost();
  nodes[call.node].open = false;
  unref(call.node);

  std::optional<std::uint64_t> duration;
  if (end != nullptr) duration = measured_duration(*end);
  // In a text trace, one line may be both the start and the end of a call. Its only time gives no duration.
  const bool has_times = end != nullptr && info.clock.in_ns && end->time_ns != call.began_ns;
  if (!duration && has_times) duration = time_between(call.began_ns, end->time_ns);
  if (parent != nullptr) parent->inner_ns += duration.value_or(call.inner_ns);
  if (parent != nullptr && !call.on_top)
    for (std::size_t i = 0; i < kAllocators; ++i) parent->inside[i] += call.inside[i];

  if (call.runs_in_itself) {
    const auto outer = std::find_if(task.calls.rbegin(), task.calls.rend(),
                                    [&call](const OpenCall& one) { return one.function == call.function; });
    if (outer != task.calls.rend()) outer->recursive_ns += duration.value_or(call.recursive_ns);
  }

  const bool lost = call.lost_before_ns.has_value();
  const bool lacks = lost || may_miss_calls(call.began_ns, end != nullptr ? end->time_ns : task.last_ns);
  if (call.selected) {
    GraphFunction& sums = functions[call.function].sums;
    sums.cut_off += end == nullptr ? 1 : 0;
    sums.lost_events += lacks ? 1 : 0;
    // If the end of the outermost of recursive calls is not in the trace, the time of the inner calls counts.
    if (!call.runs_in_itself) sums.total_ns += duration.value_or(call.recursive_ns);
    if (duration) {
      ++sums.timed;
      sums.self_ns += *duration - std::min(*duration, call.inner_ns);
      sums.longest_ns = std::max(sums.longest_ns, *duration);
    }
    if (!call.is_inside_itself)
      for (std::size_t i = 0; i < kAllocators; ++i) {
        InsideSum counted = call.inside[i];
        // add_live() sets these at the end of the trace
        counted.live_allocations = counted.live_bytes = 0;
        sums.inside[i] += counted;
      }
  }

  const bool passes = call.may_be_shown &&
                      is_long_enough(end == nullptr ? time_between(call.began_ns, task.last_ns) : duration) &&
                      is_wanted(call.function, end);
  if (passes) {
    ++result.calls_selected;
    ++functions[call.function].sums.selected;
  }
  if (!passes || call.slot == ShownCalls::kNone) {
    shown.drop(call.slot);
    if (parent != nullptr) shown.hide_inside(parent->slot);
    return;
  }
  TracedCall& traced = shown.at(call.slot);
  traced.lost_events = lacks;
  traced.only_missed = lacks && !lost;
  traced.inside = call.inside;
  traced.duration_ns = duration;
  if (end == nullptr) return shown.show(call.slot, false);
  traced.end_seen = true;
  traced.end_cpu = end->cpu;
  traced.ended_ns = end->time_ns;
  set_result(traced, *end);
  shown.show(call.slot, true);
}

void CallGraph::State::account_memory(const StreamedEvent& streamed) {
  if (streamed.outcome == Outcome::duplicate_event && !streamed.ended.empty()) {
    // A duplicate event gives the allocation a new number. The allocation still belongs to the innermost call that
    // contained the first event.
    if (const Live* const first = live.find(streamed.ended.front().allocation)) {
      const Live same = *first;
      live.erase(streamed.ended.front().allocation);
      *live.insert(streamed.allocation).first = same;
      return;
    }
  }
  for (const EndedPart& part : streamed.ended) release(part);
  if (begins(streamed.outcome) || streamed.outcome == Outcome::failed) allocate(streamed);
}

void CallGraph::State::allocate(const StreamedEvent& streamed) {
  const Event& event = *streamed.event;
  const auto allocator = static_cast<std::size_t>(allocator_of(event.kind));
  InsideSum sum;
  if (streamed.outcome == Outcome::failed)
    sum.failed = 1;
  else
    sum = {1, bytes_of(event), 1, bytes_of(event), 0};

  TaskCalls* const task = stacks.at(event);
  OpenCall* const call = task != nullptr ? task->around(event) : nullptr;
  (call != nullptr ? call->inside : result.outside)[allocator] += sum;
  if (call != nullptr && call->selected) {
    InsideSum counted = sum;
    counted.live_allocations = counted.live_bytes = 0;
    functions[call->function].sums.inside_self[allocator] += counted;
  }
  if (sum.failed > 0) return;
  const std::uint32_t node = call != nullptr ? call->node : 0;
  if (node != 0) ++nodes[node].references;
  *live.insert(streamed.allocation).first = {sum.bytes, node, allocator_of(event.kind), false};
}

// Subtracts freed memory from the live bytes of the innermost call that contains the allocation and is still open. A
// call that has returned keeps the live bytes that it had when it returned.
void CallGraph::State::release(const EndedPart& part) {
  Live* const found = live.find(part.allocation);
  if (found == nullptr) return;
  InsideSum* sum = nullptr;
  const auto allocator = static_cast<std::size_t>(found->allocator);
  std::uint32_t node = found->node;
  if (node == 0) sum = &result.outside[allocator];
  while (node != 0 && !nodes[node].open) node = nodes[node].parent;
  if (node != 0) sum = &stacks.call_of(nodes[node].place, node).inside[allocator];

  const std::uint64_t bytes = std::min(part.bytes.value_or(found->bytes), found->bytes);
  if (sum != nullptr) {
    sum->live_bytes -= bytes;
    sum->live_allocations -= part.whole ? 1 : 0;
  }
  found->bytes -= bytes;
  if (part.whole) found->ended = true;
  if (found->bytes > 0) return;
  unref(found->node);
  live.erase(part.allocation);
}

// Adds the memory that is live at the end of the trace to each function that allocated it in one of its calls.
void CallGraph::State::add_live() {
  std::vector<std::uint32_t> counted;
  live.for_each([&](std::uint64_t, const Live& entry) {
    const auto allocator = static_cast<std::size_t>(entry.allocator);
    InsideSum sum;
    sum.live_allocations = entry.ended ? 0 : 1;
    sum.live_bytes = entry.bytes;
    if (entry.node != 0 && nodes[entry.node].selected)
      functions[nodes[entry.node].function].sums.inside_self[allocator] += sum;
    counted.clear();
    for (std::uint32_t node = entry.node; node != 0; node = nodes[node].parent) {
      const std::uint32_t function = nodes[node].function;
      if (!nodes[node].selected || std::ranges::find(counted, function) != counted.end()) continue;
      counted.push_back(function);
      functions[function].sums.inside[allocator] += sum;
    }
  });
}

CallGraph::CallGraph(const TraceInfo& info, const SymbolNames& symbols, CallGraphRequest request)
    : state_(std::make_unique<State>(info, symbols, std::move(request))) {}
CallGraph::~CallGraph() = default;

void CallGraph::add(const StreamedEvent& streamed) {
  State& state = *state_;
  const Event& event = *streamed.event;
  state.seen.add(event);
  if (!is_call(event.kind)) return state.account_memory(streamed);
  const CallEvent call = as_call(event);
  if (call.kind == EventKind::call_entry) {
    state.enter(streamed);
    if (call.record != 0) state.result.has_arguments = true;
  } else {
    state.leave(streamed);
    state.sees_ends = true;
    if (call.has(CallFlags::kReturnValue)) state.result.has_return_values = true;
  }
  state.decoder.give_back(call);
}

void CallGraph::end(const StreamEnd& end) {
  State& state = *state_;
  state.stacks.finish();
  state.add_live();
  state.check_conditions();
  CallGraphResult& result = state.result;
  result.trace = summarize(state.info);
  state.seen.store_in(result.trace);
  result.trace.complete = end.complete;
  result.trace.recorded_ns = end.end_ns - end.begin_ns;
  result.findings = findings_of(state.info);
  result.gaps = state.info.losses.intervals;
  result.is_blank = state.info.calls.are_blank;
  std::ranges::stable_sort(result.gaps, {}, &LostEvents::before_ns);
  for (State::Function& function : state.functions) result.functions.push_back(std::move(function.sums));
  state.shown.take(result);
}

CallGraphResult CallGraph::take() { return std::move(state_->result); }

}  // namespace kmt
