// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/clusters.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "analysis/matching/own_interrupt.hpp"
#include "analysis/matching/page_use.hpp"
#include "results/series/thresholds.hpp"
#include "trace/code/function_name.hpp"
#include "trace/code/wrappers.hpp"

namespace kmt {

namespace {

// True for functions that are in most kernel stacks: entries of system calls, faults and interrupts, kernel threads,
// work queues.
bool is_everywhere(std::string_view function) {
  constexpr std::array<std::string_view, 18> kFunctions = {"do_syscall_64",
                                                           "x64_sys_call",
                                                           "el0t_64_sync",
                                                           "el0t_64_sync_handler",
                                                           "el0_svc",
                                                           "do_el0_svc",
                                                           "el0_svc_common",
                                                           "invoke_syscall",
                                                           "system_call",
                                                           "__do_syscall",
                                                           "ret_from_fork",
                                                           "ret_from_fork_asm",
                                                           "kthread",
                                                           "worker_thread",
                                                           "process_one_work",
                                                           "__do_fast_syscall_32",
                                                           "do_fast_syscall_32",
                                                           "do_int80_syscall_32"};
  return function.starts_with("entry_") || function.starts_with("asm_") || function.starts_with("0x") ||
         std::ranges::find(kFunctions, function) != kFunctions.end();
}

// True for functions that run interrupts and softirqs on top of the interrupted code.
bool is_begin_of_interrupt(std::string_view function) {
  constexpr std::array<std::string_view, 10> kFunctions = {"handle_softirqs",
                                                           "__do_softirq",
                                                           "__softirqentry_text_start",
                                                           "do_softirq",
                                                           "do_softirq_own_stack",
                                                           "run_ksoftirqd",
                                                           "__handle_irq_event_percpu",
                                                           "handle_irq_event_percpu",
                                                           "__sysvec_apic_timer_interrupt",
                                                           "__sysvec_call_function"};
  return std::ranges::find(kFunctions, function) != kFunctions.end();
}

// Finds the stack for a call site in samples. Samples of the same process are preferred, then those of the same task
// name, then all others. If there are several stacks, the one with the most live bytes is used.
class KnownStacks {
 public:
  explicit KnownStacks(const GrowthSeen& samples) {
    for (const GrowthGroup& group : samples.groups)
      for (const Key& key : keys_of(group)) {
        const GrowthGroup*& place = stacks_[key];
        if (place == nullptr || group.bytes > place->bytes) place = &group;
      }
  }
  void give_to(GrowthGroup& group) const {
    for (const Key& key : keys_of(group)) {
      const auto known = stacks_.find(key);
      if (known == stacks_.end()) continue;
      const GrowthGroup& sampled = *known->second;
      group.stack = sampled.stack;
      // Only a stack shows that an interrupt worked for a task. For a recording without stacks, use the task in the
      // samples.
      if (group.process == 0 && sampled.process != 0 && std::ranges::any_of(sampled.stack, refills_bpf_memory)) {
        group.task = sampled.task;
        group.process = sampled.process;
        group.cgroup = sampled.cgroup;
      }
      return;
    }
  }

 private:
  using Key = std::tuple<std::string, std::string, std::uint32_t>;  // call site, task, process

  // Returns the keys to look up, the most specific first.
  static std::array<Key, 3> keys_of(const GrowthGroup& group) {
    const std::string& site = group.stack.front();
    return {{{site, group.task, group.process}, {site, group.task, 0}, {site, {}, 0}}};
  }
  std::map<Key, const GrowthGroup*> stacks_;
};

// Fills in the cgroups of groups in a recording from samples. A recording contains only cgroups of version 2, but
// samples also contain cgroups of version 1.
void name_cgroups(const GrowthSeen& samples, GrowthSeen& trace) {
  std::map<std::uint32_t, std::string_view> known;
  for (const GrowthGroup& group : samples.groups)
    if (group.process != 0 && !group.cgroup.empty()) known[group.process] = group.cgroup;
  for (GrowthGroup& group : trace.groups)
    if (const auto of = known.find(group.process); of != known.end()) group.cgroup = of->second;
}

// Returns the name that kernel threads of one kind have in common. A work function runs in any worker, and each CPU has
// its own workers and softirq thread. A program may have such a name, but its stacks start with a system call.
std::string kind_of_task(const GrowthGroup& group) {
  constexpr std::array<std::string_view, 3> kKinds = {"kworker/", "ksoftirqd/", "cpuhp/"};
  const auto kind =
      std::ranges::find_if(kKinds, [&group](std::string_view name) { return group.task.starts_with(name); });
  const bool is_kernel_thread = std::ranges::any_of(group.stack, [](const std::string& frame) {
    const std::string_view function = function_of(frame);
    return function == "kthread" || function == "worker_thread" || function.starts_with("ret_from_fork");
  });
  return kind == kKinds.end() || !is_kernel_thread ? group.task : std::string(*kind) + '*';
}

ClusterKey key_of(const GrowthGroup& group) {
  return {kind_of_task(group), std::string(functions_of(group.stack).back())};
}

}  // namespace

std::vector<std::string_view> functions_of(const std::vector<std::string>& stack) {
  std::vector<std::string_view> functions;
  functions.reserve(stack.size());
  for (const std::string& frame : stack) functions.push_back(function_of(frame));
  // Drop the functions of the interrupted code: they did not request the memory.
  if (functions.size() > 1)
    functions.erase(std::find_if(functions.begin() + 1, functions.end(), is_begin_of_interrupt), functions.end());
  while (functions.size() > 1 && is_everywhere(functions.back())) functions.pop_back();
  return functions;
}

std::vector<std::string> own_stack(const std::vector<std::string>& stack) {
  const auto is_begin = [](const std::string& frame) { return is_begin_of_interrupt(function_of(frame)); };
  const auto begin = stack.empty() ? stack.end() : std::find_if(stack.begin() + 1, stack.end(), is_begin);
  return {stack.begin(), begin == stack.end() ? begin : begin + 1};
}

PageOwner find_page_owner(std::vector<std::string>& stack) {
  const PageUse use = page_use_of(stack);
  const PageOwner owner{.is_vmalloc = use == PageUse::vmalloc || use == PageUse::task_stack,
                        .is_slab = is_of_slab(use),
                        .is_page_table = use == PageUse::page_table,
                        .excluded = use == PageUse::page_table || use == PageUse::page_cache || use == PageUse::user};
  static const WrapperList wrappers = WrapperList::built_in();
  const auto owns = wrappers.caller(stack);
  if (owns != stack.end()) stack.erase(stack.begin(), owns);
  return owner;
}

std::map<ClusterKey, GrowthCluster> clusters_of(const GrowthSeen* samples, GrowthSeen* trace) {
  std::map<ClusterKey, GrowthCluster> clusters;
  if (samples != nullptr)
    for (const GrowthGroup& group : samples->groups)
      if (!group.excluded) clusters[key_of(group)].samples.push_back(&group);
  if (trace == nullptr) return clusters;
  if (samples != nullptr) {
    const KnownStacks known(*samples);
    for (GrowthGroup& group : trace->groups)
      if (group.stack.size() == 1) known.give_to(group);
    name_cgroups(*samples, *trace);
  }
  for (const GrowthGroup& group : trace->groups)
    if (!group.excluded) clusters[key_of(group)].trace.push_back(&group);
  return clusters;
}

bool is_slab_cache(const std::string& cache) {
  return !cache.starts_with("pages") && cache != "percpu memory" && cache != "vmalloc areas" && cache != kPageTables;
}

std::vector<double> sum_of(const std::vector<const GrowthGroup*>& groups, std::size_t steps) {
  std::vector<double> sum(steps);
  for (const GrowthGroup* const group : groups)
    for (std::size_t i = 0; i < std::min(steps, group->live.size()); ++i) sum[i] += group->live[i];
  return sum;
}

std::map<std::string, double> bytes_by_cache(const std::vector<const GrowthGroup*>& groups) {
  std::map<std::string, double> bytes;
  for (const GrowthGroup* const group : groups) bytes[group->cache] += group->bytes;
  return bytes;
}

std::uint64_t count_of_seen(const std::vector<const GrowthGroup*>& groups) {
  std::uint64_t seen = 0;
  for (const GrowthGroup* const group : groups) seen += group->seen;
  return seen;
}

double sum_of_bytes(const std::vector<const GrowthGroup*>& groups) {
  double sum = 0;
  for (const GrowthGroup* const group : groups) sum += group->bytes;
  return sum;
}

std::string common_function(const std::vector<const GrowthGroup*>& groups) {
  constexpr double kMost = kThresholds.common_function;
  double all = 0;
  std::vector<std::pair<std::vector<std::string_view>, double>> paths;  // each path has the outermost function first
  for (const GrowthGroup* const group : groups) {
    std::vector<std::string_view> path = functions_of(group->stack);
    std::ranges::reverse(path);
    paths.emplace_back(std::move(path), std::max(group->bytes, 0.0));
    all += paths.back().second;
  }
  std::string common;
  for (std::size_t depth = 0;; ++depth) {
    std::map<std::string_view, double> bytes;
    for (const auto& [path, weight] : paths)
      if (depth < path.size()) bytes[path[depth]] += weight;
    const auto most = std::ranges::max_element(bytes, {}, [](const auto& one) { return one.second; });
    if (most == bytes.end() || most->second < kMost * all) return common;
    common = most->first;
    std::erase_if(paths, [&](const auto& path) { return depth >= path.first.size() || path.first[depth] != common; });
  }
}

}  // namespace kmt
