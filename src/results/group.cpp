// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/group.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kmt {

namespace {

constexpr unsigned bit(Allocator allocator) { return 1u << static_cast<unsigned>(allocator); }
constexpr unsigned kSlab = bit(Allocator::slab);
constexpr unsigned kPages = bit(Allocator::pages);
constexpr unsigned kWithSite = kSlab | bit(Allocator::percpu);
constexpr unsigned kWithGfp = kWithSite | kPages;
constexpr unsigned kEach = kWithGfp | bit(Allocator::vmap);

constexpr std::array kGroupKeys = {
    GroupKeyInfo{GroupKey::call_site, "call-site", "Call site", kWithSite,
                 "the address to which the allocation call returns"},
    GroupKeyInfo{GroupKey::function, "function", "Function", kEach,
                 "the function of the call site, which is the same in every build; the caller's function if events "
                 "have no call site"},
    GroupKeyInfo{
        GroupKey::caller, "caller", "Caller", kEach,
        "the first address of the stack that is not in a wrapper of an allocator; without stacks, the call site"},
    GroupKeyInfo{GroupKey::stack, "stack", "Stack", kEach,
                 "the stack with its kernel frames and program frames (record --stacks)"},
    GroupKeyInfo{GroupKey::dso, "dso", "Object", kEach,
                 "the program or library that caused the allocation, or [kernel] (record --stacks=user)"},
    GroupKeyInfo{GroupKey::user_symbol, "user-symbol", "Symbol", kEach,
                 "the function of the program or library that caused the allocation (record --stacks=user)"},
    GroupKeyInfo{GroupKey::task, "task", "Task", kEach,
                 "the thread, by name and id; allocations in interrupts are listed as [softirq], [hardirq], [nmi]"},
    GroupKeyInfo{GroupKey::process, "process", "Process", kEach,
                 "the thread group if the trace contains it, otherwise the thread"},
    GroupKeyInfo{GroupKey::comm, "comm", "Name", kEach, "the thread's name"},
    GroupKeyInfo{
        GroupKey::cache, "cache", "Cache", kSlab,
        "the slab cache; if the kernel does not name it, it is derived from frees of objects of the same call site"},
    GroupKeyInfo{GroupKey::size, "size", "Size", kEach, "bytes allocated in one allocation"},
    GroupKeyInfo{GroupKey::requested_size, "requested-size", "Asked for", kEach, "bytes requested in one allocation"},
    GroupKeyInfo{GroupKey::order, "order", "Order", kPages, "2^order pages in one allocation"},
    GroupKeyInfo{GroupKey::migrate_type, "migrate-type", "Migrate type", kPages, "the migrate type of the pages"},
    GroupKeyInfo{GroupKey::gfp, "gfp", "GFP flags", kWithGfp, "the GFP allocation flags"},
    GroupKeyInfo{GroupKey::accounted, "accounted", "Accounted", kWithGfp,
                 "yes if the kernel charges the memory to the cgroup of the task, otherwise no, or unknown"},
    GroupKeyInfo{GroupKey::node, "node", "Node", kSlab, "the requested NUMA node"},
    GroupKeyInfo{GroupKey::memory_node, "memory-node", "Memory node", kEach,
                 "the NUMA node that the memory is on; with several nodes, only known for slab objects and pages"},
    GroupKeyInfo{GroupKey::cpu, "cpu", "CPU", kEach, "the CPU that the allocation ran on"},
    GroupKeyInfo{GroupKey::context, "context", "Context", kEach, "task, softirq, hardirq or nmi"},
    GroupKeyInfo{GroupKey::address, "address", "Address", kEach,
                 "the start address (pages: number of the first page frame); successive allocations at the same "
                 "address are one group"},
    GroupKeyInfo{GroupKey::lifetime, "lifetime", "Lifetime", kEach,
                 "the lifetime of the allocations, in ranges of powers of two"},
    GroupKeyInfo{GroupKey::syscall, "syscall", "System call", kEach,
                 "the system call, from the stack, raw_syscalls events (record --syscalls) or the events of each "
                 "system call; other contexts are in brackets"},
    GroupKeyInfo{GroupKey::cgroup, "cgroup", "Cgroup", kEach, "the version 2 control group of the process"},
    GroupKeyInfo{GroupKey::container, "container", "Container", kEach,
                 "the container, derived from the names of control groups and from PID namespaces"},
    GroupKeyInfo{GroupKey::free_site, "free-site", "Freed at", kSlab, "the call site that freed the allocation"},
    GroupKeyInfo{GroupKey::free_task, "free-task", "Freed by task", kEach,
                 "the thread that freed the allocation; frees in interrupts are listed as [softirq], [hardirq], [nmi]"},
    GroupKeyInfo{GroupKey::free_process, "free-process", "Freed by process", kEach,
                 "the process that freed the allocation, as for process"},
    GroupKeyInfo{GroupKey::free_comm, "free-comm", "Freed by name", kEach,
                 "the name of the thread that freed the allocation"},
    GroupKeyInfo{GroupKey::module, "module", "Module", kEach,
                 "the kernel module of the caller, or [kernel] for built-in code"},
    GroupKeyInfo{GroupKey::subsystem, "subsystem", "Subsystem", kEach,
                 "the kernel subsystem of the caller, from its directory"},
    GroupKeyInfo{GroupKey::directory, "directory", "Directory", kEach,
                 "the directory of the caller's source file; without debug info, it may be guessed from the function's "
                 "name"},
};

}  // namespace

std::span<const GroupKeyInfo> group_keys() { return kGroupKeys; }

const GroupKeyInfo& info_of(GroupKey key) { return kGroupKeys[static_cast<std::size_t>(key)]; }

std::string_view name_of(Allocator allocator) {
  constexpr std::array<std::string_view, kAllocators> kNames = {"slab", "percpu", "vmalloc", "pages"};
  return kNames[static_cast<std::size_t>(allocator)];
}

std::string plain_text(const CodeAddress& code) {
  if (!code.object.empty()) return fmt::format("{} ({})", code.symbol, code.object);
  const std::string source = source_text(code.source);
  return source.empty() ? code.symbol : fmt::format("{} ({})", code.symbol, source);
}

std::string plain_text(const CodeOwner& owner) { return owner.name + (owner.is_guess ? " (guess)" : ""); }

std::span<const CodeAddress> relevant_frames(const std::vector<CodeAddress>& stack) {
  const auto caller =
      std::find_if(stack.begin(), stack.end(), [](const CodeAddress& frame) { return !frame.is_wrapper; });
  return std::span(stack).subspan(caller == stack.end() ? 0 : static_cast<std::size_t>(caller - stack.begin()));
}

std::string plain_text(const KeyValue& value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "unknown"; }
    std::string operator()(std::uint64_t number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const CodeAddress& code) const { return plain_text(code); }
    std::string operator()(const std::vector<CodeAddress>& frames) const {
      if (frames.empty()) return "no stack";
      std::string text;
      for (const CodeAddress& frame : relevant_frames(frames)) text += (text.empty() ? "" : " < ") + plain_text(frame);
      return text;
    }
    std::string operator()(const TaskName& task) const {
      if (!task.id) return task.comm;
      std::string name = fmt::format("{}-{}", task.comm, *task.id);
      if (!task.earlier.empty()) name += fmt::format(" (was {})", fmt::join(task.earlier, ", "));
      if (!task.born_ns) return name;
      return *task.born_ns == 0 ? name + " (born before)"
                                : fmt::format("{} (born {}.{:06})", name, *task.born_ns / 1'000'000'000,
                                              *task.born_ns / 1000 % 1'000'000);
    }
    std::string operator()(const NamedNumber& named) const { return named.name; }
    std::string operator()(const LifetimeRange& range) const {
      return fmt::format("{}-{} ns", range.from_ns, range.to_ns);
    }
    std::string operator()(const MemoryAddress& address) const { return fmt::format("{:#x}", address.value); }
    std::string operator()(NotFreed) const { return "not freed"; }
    std::string operator()(const CodeOwner& owner) const { return plain_text(owner); }
  };
  return std::visit(Visitor{}, value);
}

namespace {

// Returns the rank of a value's kind in the sort order: 0 if the value exists, 1 for "not freed", 2 if it is missing.
int missing_rank(const KeyValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return 2;
  return std::holds_alternative<NotFreed>(value) ? 1 : 0;
}

}  // namespace

bool comes_before(const KeyValue& a, const KeyValue& b) {
  if (missing_rank(a) != 0 || missing_rank(b) != 0) return missing_rank(a) < missing_rank(b);
  const auto* number = std::get_if<std::uint64_t>(&a);
  const auto* other_number = std::get_if<std::uint64_t>(&b);
  if (number != nullptr && other_number != nullptr) return *number < *other_number;
  const auto* range = std::get_if<LifetimeRange>(&a);
  const auto* other_range = std::get_if<LifetimeRange>(&b);
  if (range != nullptr && other_range != nullptr) return range->from_ns < other_range->from_ns;
  const auto* address = std::get_if<MemoryAddress>(&a);
  const auto* other_address = std::get_if<MemoryAddress>(&b);
  if (address != nullptr && other_address != nullptr) return address->value < other_address->value;
  return plain_text(a) < plain_text(b);
}

}  // namespace kmt
