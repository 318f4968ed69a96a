// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/grouping.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/matching/event_filter.hpp"
#include "base/arithmetic/size.hpp"
#include "trace/code/function_name.hpp"
#include "trace/code/tracing_functions.hpp"
#include "trace/gfp_flags.hpp"
#include "trace/kernel_release.hpp"
#include "trace/page_block.hpp"
#include "trace/tasks/tracing_tools.hpp"

namespace kmt {

namespace {

constexpr std::uint32_t kNotSaid = ~0u;
constexpr const char* kKernel = "[kernel]";  // shown in place of a program for memory that no program requested
// Area of a kernel stack on 64-bit machines: THREAD_SIZE and a guard page of 4 KiB.
constexpr std::uint64_t kTaskStackBytes = 20 << 10;
constexpr std::array<std::string_view, 4> kContexts = {"task", "softirq", "hardirq", "nmi"};

// True if the value of this key depends on more than the CallShape of an event, its CPU and the row of its task.
bool needs_more_than_shape(GroupKey key) {
  constexpr std::array kKeys = {GroupKey::address, GroupKey::memory_node, GroupKey::syscall, GroupKey::cgroup,
                                GroupKey::container};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

}  // namespace

std::string name_of_site(CallSiteId site, const TraceInfo& info, const SymbolNames& symbols) {
  const std::uint64_t address = info.tables.call_sites[site.value];
  return address == 0 ? std::string() : symbols.name(address);
}

CodeAddress code_address(std::uint64_t address, const SymbolNames& symbols) {
  return {symbols.real_address(address), address == 0 ? "unknown" : symbols.name(address), symbols.frames(address)};
}

CodeAddress user_code_address(std::uint64_t frame, const TraceInfo& info, const SymbolNames& symbols) {
  const UserName name = symbols.user_name(frame);
  CodeAddress code{info.code.user.frames[to_size(frame)].offset, name.symbol(), {}};
  code.object = name.object.empty() ? "[unknown]" : name.object;
  code.build_id = info.code.user.objects[info.code.user.frames[to_size(frame)].object].build_id;
  return code;
}

Grouping::Grouping(std::vector<GroupKey> by, const TraceInfo& info, const TraceTasks& tasks, const SymbolNames& symbols,
                   CacheNames& caches, FindCaller find_caller, GroupingOptions options)
    : by_(std::move(by)),
      info_(info),
      trace_tasks_(tasks),
      symbols_(symbols),
      caches_(caches),
      find_caller_(std::move(find_caller)),
      options_(options),
      by_syscall_(std::ranges::find(by_, GroupKey::syscall) != by_.end()),
      by_container_(std::ranges::find(by_, GroupKey::container) != by_.end()),
      by_freer_(std::ranges::any_of(by_, [](GroupKey key) { return key_of_free(key).has_value(); })),
      reclaimable_(reclaimable_type(info.machine.kernel)),
      charging_(info),
      syscalls_(info, tasks, symbols),
      by_cpu_(std::ranges::find(by_, GroupKey::cpu) != by_.end()),
      repeats_(std::ranges::none_of(by_, needs_more_than_shape)),
      tasks_(info, tasks, symbols, options.tree, options.with_interrupted) {
  for (const GroupKey key : TaskRows::kKeys)
    if (std::ranges::find(by_, key) != by_.end() || (key == GroupKey::process && options_.processes))
      task_keys_.push_back(key);
}

bool Grouping::begin_batch() {
  tasks_.begin_batch();
  in_batches_ = true;
  // Some origins depend on the names of GFP flags, which the trace may state later.
  if (std::exchange(known_flags_, info_.tables.gfp_flags.size()) == info_.tables.gfp_flags.size()) return true;
  recent_.forget();
  return false;
}

std::uint32_t Grouping::origin_of(const Event& event) {
  if (!repeats_ || !in_batches_) return find_origin(event);
  RecentOrigins::Key key{shape_of(event), {}, by_cpu_ ? event.cpu : 0u};
  for (std::size_t i = 0; i < task_keys_.size(); ++i) key.tasks[i] = tasks_.row_of(task_keys_[i], event);
  std::uint32_t& origin = recent_.of(key);
  if (origin == 0) origin = find_origin(event);
  return origin;
}

std::uint32_t Grouping::find_origin(const Event& event) {
  const Allocator allocator = allocator_of(event.kind);
  const bool of_pages = allocator == Allocator::pages;
  const std::uint64_t page_bytes = of_pages ? block_bytes(info_, event.order) : 0;
  OriginKey key{};
  key.group.allocator = static_cast<std::uint32_t>(allocator);
  key.bytes_requested = of_pages ? page_bytes : event.bytes_requested;
  key.bytes_allocated = of_pages ? page_bytes : event.bytes_allocated;
  key.call_site = event.call_site.value;
  const bool has_use = options_.page_uses && (of_pages || allocator == Allocator::vmap);
  const PageUse page_use = has_use ? page_use_of(event) : PageUse::unknown;
  const auto use_bits = static_cast<std::uint32_t>(page_use) << 8;
  key.cache_and_family = of_pages  ? static_cast<std::uint8_t>(event.migrate_type) | use_bits
                         : has_use ? use_bits
                                   : cache_and_family(event);
  for (std::size_t i = 0; i < by_.size(); ++i)
    key.group.values[i] =
        applies(by_[i], allocator) ? value_of(by_[i], event, key.bytes_requested, key.bytes_allocated) : kNotSaid;
  if (options_.processes && origins_.size() < kMostOriginsOfProcesses)
    key.process = 1 + tasks_.row_of(GroupKey::process, event);
  if (is_by_process(allocator)) key.group.process = static_cast<std::uint32_t>(key.process);
  const auto [number, is_new] = origins_.id_of(key);
  if (is_new)
    new_origins_.push_back({.bytes_requested = key.bytes_requested,
                            .bytes_allocated = key.bytes_allocated,
                            .group = groups_.id_of(key.group).first,
                            .cache = event.cache.value,
                            .call_site = event.call_site,
                            .allocator = allocator,
                            .order = event.order,
                            .migrate_type = event.migrate_type,
                            .from_cache = event.kind == EventKind::cache_alloc,
                            .account = allocator == Allocator::slab ? account_of(event) : SlabAccount::unreclaimable,
                            .page_use = page_use,
                            .process = static_cast<std::uint32_t>(key.process)});
  return number + 1;
}

bool Grouping::is_of_tracing_tool(const Origin& origin) const {
  if (origin.process != 0 && is_tracing_tool(process_name(origin).comm)) return true;
  return is_of_ring_buffer(function_of(name_of_site(origin.call_site, info_, symbols_)));
}

bool Grouping::has_groups(Allocator allocator) const {
  return is_by_process(allocator) || std::ranges::any_of(by_, [&](GroupKey key) { return applies(key, allocator); });
}

bool Grouping::is_by_process(Allocator allocator) const {
  return options_.areas_by_process && allocator == Allocator::vmap &&
         std::ranges::none_of(by_, [](GroupKey key) { return applies(key, Allocator::vmap); });
}

// Returns a number for what the event shows about its cache. Events of kmem_cache_alloc show which cache it is, and the
// lowest bit of the number is then 1. Events of kmalloc do not name the cache, but their GFP flags show whether it is a
// reclaimable cache. The number is then 2 for a reclaimable cache, and 0 for others.
std::uint32_t Grouping::cache_and_family(const Event& event) const {
  if (event.kind == EventKind::kmalloc) return caches_.is_reclaimable_kmalloc(event) ? 2 : 0;
  return event.cache.value << 1 | (event.kind == EventKind::cache_alloc ? 1 : 0);
}

std::uint32_t Grouping::value_of(GroupKey key, const Event& event, std::uint64_t bytes_requested,
                                 std::uint64_t bytes_allocated) {
  switch (key) {
    case GroupKey::call_site: return code_of(event.call_site);
    case GroupKey::function: return function_row(event);
    case GroupKey::caller: return caller_of(event);
    case GroupKey::module:
    case GroupKey::subsystem:
    case GroupKey::directory: return owner_row(key, event);
    case GroupKey::stack: return stack_of(event);
    case GroupKey::dso: return user_code_of(event, true);
    case GroupKey::user_symbol: return user_code_of(event, false);
    case GroupKey::task:
    case GroupKey::process:
    case GroupKey::comm: return tasks_.row_of(key, event);
    case GroupKey::syscall: return syscalls_.id_of(event);
    case GroupKey::cgroup:
    case GroupKey::container: {
      if (const char* const interrupt = tasks_.interrupt_of(event); interrupt != nullptr) return text_id(interrupt);
      return text_id(key == GroupKey::cgroup
                         ? cgroup_of(trace_tasks_, process_at(trace_tasks_, event.tid, event.time_ns), event.time_ns)
                         : container_of(trace_tasks_, process_at(trace_tasks_, event.tid, event.time_ns), event.time_ns,
                                        pid_spaces_));
    }
    case GroupKey::cache: return caches_.id_of(event);
    case GroupKey::size: return numbers_.id_of(bytes_allocated).first;
    case GroupKey::requested_size: return numbers_.id_of(bytes_requested).first;
    case GroupKey::order: return event.order;
    case GroupKey::migrate_type: return static_cast<std::uint8_t>(event.migrate_type);
    case GroupKey::gfp: return event.gfp_flags;
    case GroupKey::accounted: return static_cast<std::uint32_t>(charging_.charge_of(event));
    case GroupKey::node: return event.node == kNoNode ? kNotSaid : static_cast<std::uint16_t>(event.node);
    case GroupKey::memory_node: {
      if (!memory_nodes_) memory_nodes_.emplace(info_.machine, info_.recording);
      return memory_nodes_->node_of(event).value_or(kNotSaid);
    }
    case GroupKey::cpu: return event.cpu;
    case GroupKey::context: {
      const auto found = std::find(kContexts.begin(), kContexts.end(), context_name(event));
      return static_cast<std::uint32_t>(found - kContexts.begin());
    }
    case GroupKey::address: {
      const bool failed = event.address == (event.kind == EventKind::page_alloc ? kNoPage : 0);
      return failed ? kNotSaid : numbers_.id_of(event.address).first;
    }
    case GroupKey::lifetime:
    case GroupKey::free_site:
    case GroupKey::free_task:
    case GroupKey::free_process:
    case GroupKey::free_comm: return 0;
  }
  return kNotSaid;
}

// True if the call site creates a PID namespace. Compilers inline create_pid_namespace() into its only caller, so the
// call site is in that caller. The cache's name cannot be used because this cache is often merged with others.
bool Grouping::makes_pid_space(CallSiteId site) {
  if (makes_.size() <= site.value) makes_.resize(info_.tables.call_sites.size());
  Makes& makes = makes_[site.value];
  if (makes == Makes::not_known) {
    const std::string name = name_of_site(site, info_, symbols_);
    const std::string_view function = function_of(name);
    makes = function == "copy_pid_ns" || function == "create_pid_namespace" ? Makes::pid_space : Makes::nothing;
  }
  return makes == Makes::pid_space;
}

SlabAccount Grouping::account_of(const Event& event) {
  if (is_large_kmalloc(event.kind, event.bytes_allocated, info_.machine.page_size)) return SlabAccount::pages;
  const std::string function(function_of(name_of_site(event.call_site, info_, symbols_)));
  return is_reclaimable_cache(caches_[caches_.id_of(event)], function) ? SlabAccount::reclaimable
                                                                       : SlabAccount::unreclaimable;
}

PageUse Grouping::use_by_stack_or_flags(const Event& event) {
  const StackId stack = event.stack;
  if (use_of_stack_.size() <= stack.value) use_of_stack_.resize(info_.tables.stacks.size());
  std::uint8_t& known = use_of_stack_[stack.value];
  if (known == 0) known = 1 + static_cast<std::uint8_t>(kmt::page_use_of(info_.tables.stacks[stack], symbols_));
  const auto use = static_cast<PageUse>(known - 1);
  if (use != PageUse::unknown) return use;
  const bool has_stack = !info_.tables.stacks[stack].empty();
  if (event.kind == EventKind::vmap_alloc)
    return !has_stack && event.bytes_allocated == kTaskStackBytes ? PageUse::task_stack : use;
  // Before the first event with flags is decoded, the names of the GFP flags are unknown.
  if (!page_use_flags_.known()) page_use_flags_ = PageUseFlags(info_.tables.gfp_flags);
  const PageUse by_flags = kmt::page_use_of(page_use_flags_, event.gfp_flags, event.order);
  // If the event has a stack, the stack already shows slabs and page tables. The flags can then only show page cache in
  // addition.
  return by_flags == PageUse::page_cache || !has_stack ? by_flags : use;
}

// Only caches of reclaimable objects request pages of the type Reclaimable: __GFP_RECLAIMABLE in
// include/linux/gfp_types.h (Linux 6.18).
PageUse Grouping::page_use_of(const Event& event) {
  const PageUse use = use_by_stack_or_flags(event);
  const bool may_be_reclaimable = use == PageUse::unknown || use == PageUse::slab;
  return may_be_reclaimable && event.kind == EventKind::page_alloc && event.migrate_type == reclaimable_
             ? PageUse::reclaimable_slab
             : use;
}

std::uint32_t Grouping::text_id(std::string text) {
  const auto [known, is_new] = text_ids_.try_emplace(std::move(text), static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(known->first);
  return known->second;
}

std::uint32_t Grouping::user_code_of(const Event& event, bool object) {
  const char* const interrupt = tasks_.interrupt_of(event);
  if (interrupt != nullptr) return text_id(object ? kKernel : interrupt);
  if (code_of_stack_.size() <= event.stack.value) code_of_stack_.resize(info_.tables.stacks.size());
  KnownCode& known = code_of_stack_[event.stack.value];
  if (known.object == 0) {
    const std::span<const std::uint64_t> frames = info_.tables.stacks.user(event.stack);
    const CodeAddress code = frames.empty() ? CodeAddress{} : user_code_address(frames.front(), info_, symbols_);
    known.object = 1 + text_id(frames.empty() ? kKernel : code.object);
    known.function = text_id(frames.empty() ? kKernel : code.symbol);
  }
  return object ? known.object - 1 : known.function;
}

// Returns the ID of the first stack with the same frames. Frames between tracepoint and call site are ignored.
std::uint32_t Grouping::stack_of(const Event& event) {
  if (same_stack_.size() <= event.stack.value) same_stack_.resize(info_.tables.stacks.size());
  std::uint32_t& known = same_stack_[event.stack.value];
  if (known == 0) {
    const std::span<const std::uint64_t> frames =
        without_tracing(info_.tables.stacks[event.stack], info_.tables.call_sites[event.call_site.value], symbols_);
    const std::span<const std::uint64_t> user = info_.tables.stacks.user(event.stack);
    std::vector<std::uint64_t> words{frames.size()};
    for (const std::uint64_t frame : frames) words.push_back(symbols_.first_address(frame));
    words.insert(words.end(), user.begin(), user.end());
    known = 1 + stacks_.try_emplace(std::move(words), event.stack.value).first->second;
  }
  return known - 1;
}

// Returns the ID of the code at a call site. If a module was loaded twice, its code has two addresses; the first one is
// used.
std::uint32_t Grouping::code_of(CallSiteId site) {
  if (code_of_site_.size() <= site.value) code_of_site_.resize(info_.tables.call_sites.size());
  std::uint32_t& known = code_of_site_[site.value];
  if (known == 0) known = 1 + numbers_.id_of(symbols_.first_address(info_.tables.call_sites[site.value])).first;
  return known - 1;
}

std::uint32_t Grouping::caller_of(const Event& event) {
  if (info_.tables.stacks[event.stack].empty()) return code_of(event.call_site);
  if (caller_of_stack_.size() <= event.stack.value) caller_of_stack_.resize(info_.tables.stacks.size());
  std::uint32_t& known = caller_of_stack_[event.stack.value];
  if (known == 0) {
    const std::span<const std::uint64_t> frames = info_.tables.stacks[event.stack];
    const std::size_t caller = find_caller_ ? find_caller_(frames) : 0;
    known = 1 + numbers_.id_of(caller < frames.size() ? symbols_.first_address(frames[caller]) : 0).first;
  }
  return known - 1;
}

// Returns the row of the function that allocates. `kmemtrace fleet` groups by function in the same way.
std::uint32_t Grouping::function_row(const Event& event) {
  const std::uint32_t code =
      info_.tables.call_sites[event.call_site.value] != 0 ? code_of(event.call_site) : caller_of(event);
  if (function_of_code_.size() <= code) function_of_code_.resize(code + std::size_t{1});
  std::uint32_t& known = function_of_code_[code];
  if (known == 0) {
    const std::uint64_t address = numbers_[code];
    known = 1 + text_id(address == 0 ? std::string() : std::string(function_of(symbols_.name(address))));
  }
  return known - 1;
}

std::uint32_t Grouping::owner_id(CodeOwner owner) {
  const auto [known, is_new] =
      owner_ids_.try_emplace({owner.name, owner.is_guess}, static_cast<std::uint32_t>(owners_.size()));
  if (is_new) owners_.push_back(std::move(owner));
  return known->second;
}

// Returns the owner, or the function if the owner is unknown and this was requested. The name stays empty if the
// function is unknown too: `symbol` is then empty or an address.
CodeOwner Grouping::owner_or_function(CodeOwner owner, const std::string& symbol) const {
  if (!options_.names_unknown_owners || !owner.name.empty() || symbol.empty() || symbol.starts_with("0x")) return owner;
  return {fmt::format("unknown, {}", function_of(symbol)), false};
}

std::uint32_t Grouping::owner_row(GroupKey key, const Event& event) {
  const std::uint32_t code = caller_of(event);
  if (owners_of_code_.size() <= code) owners_of_code_.resize(code + std::size_t{1});
  KnownOwners& known = owners_of_code_[code];
  const std::uint64_t address = numbers_[code];
  const auto name = [&] { return address == 0 ? std::string() : symbols_.name(address); };
  if (key == GroupKey::module) {
    if (known.module == 0)
      known.module = 1 + owner_id(owner_or_function({std::string(module_of(name())), false}, name()));
    return known.module - 1;
  }
  if (known.directory == 0) {
    if (!directories_) directories_.emplace(symbols_.module_directories());
    const CodeOwner directory = directories_->of(name(), symbols_.frames(address));
    known.directory = 1 + owner_id(owner_or_function(directory, name()));
    known.subsystem = 1 + owner_id(owner_or_function(subsystem_of(directory), name()));
  }
  return (key == GroupKey::directory ? known.directory : known.subsystem) - 1;
}

std::vector<KeyValue> Grouping::values_of(std::uint32_t group, const SymbolNames& symbols) const {
  std::vector<KeyValue> values;
  for (std::size_t i = 0; i < by_.size(); ++i)
    values.push_back(applies(by_[i], allocator_of_group(group)) ? describe(by_[i], groups_[group].values[i], symbols)
                                                                : KeyValue{});
  return values;
}

std::uint32_t Grouping::freer_of(const Event& free) {
  const Allocator allocator = allocator_of(free.kind);
  Values values{};
  for (std::size_t i = 0; i < by_.size(); ++i)
    if (const std::optional<GroupKey> key = key_of_free(by_[i]); key && applies(by_[i], allocator))
      values[i] = value_of(*key, free, 0, 0);
  return 1 + freers_.id_of(values).first;
}

void Grouping::set_freer(std::uint32_t freer, const SymbolNames& symbols, std::vector<KeyValue>& values) const {
  for (std::size_t i = 0; i < by_.size(); ++i)
    if (const std::optional<GroupKey> key = key_of_free(by_[i]); key && std::holds_alternative<NotFreed>(values[i]))
      values[i] = describe(*key, freers_[freer - 1][i], symbols);
}

KeyValue Grouping::describe(GroupKey key, std::uint32_t value, const SymbolNames& symbols) const {
  switch (key) {
    case GroupKey::call_site:
    case GroupKey::caller: return code_address(numbers_[value], symbols);
    case GroupKey::stack: {
      std::vector<CodeAddress> frames;
      const std::span<const std::uint64_t> stack = info_.tables.stacks[StackId{value}];
      const std::size_t caller = find_caller_ ? find_caller_(stack) : 0;
      for (std::size_t i = 0; i < stack.size(); ++i) {
        frames.push_back(code_address(stack[i], symbols));
        frames.back().is_wrapper = i < caller && caller < stack.size();
      }
      for (const std::uint64_t frame : info_.tables.stacks.user(StackId{value}))
        frames.push_back(user_code_address(frame, info_, symbols));
      return frames;
    }
    case GroupKey::dso:
    case GroupKey::user_symbol:
      return texts_[value] == kKernel && info_.code.user.frames.empty() ? "[no user stack]" : texts_[value];
    case GroupKey::task:
    case GroupKey::process: return tasks_[value];
    case GroupKey::comm: return tasks_[value].comm;
    case GroupKey::cache: return caches_[value].empty() ? KeyValue{} : KeyValue{caches_[value]};
    case GroupKey::size:
    case GroupKey::requested_size: return numbers_[value];
    case GroupKey::order:
    case GroupKey::cpu: return std::uint64_t{value};
    case GroupKey::node:
    case GroupKey::memory_node: return value == kNotSaid ? KeyValue{} : KeyValue{std::uint64_t{value}};
    case GroupKey::migrate_type: {
      const auto type = static_cast<std::int8_t>(value);
      return type < 0 ? KeyValue{} : NamedNumber{value, migrate_type_name(type, info_.machine.kernel)};
    }
    case GroupKey::gfp:
      return NamedNumber{value, info_.tables.gfp_flags.empty() ? fmt::format("{:#x}", value)
                                                               : gfp_text(info_.tables.gfp_flags, value)};
    case GroupKey::accounted:
      if (static_cast<Charge>(value) == Charge::unknown) return {};
      return std::string(static_cast<Charge>(value) == Charge::yes ? "yes" : "no");
    case GroupKey::context: return std::string(kContexts[value]);
    case GroupKey::address: return value == kNotSaid ? KeyValue{} : MemoryAddress{numbers_[value]};
    case GroupKey::syscall: return value == 0 ? KeyValue{} : KeyValue{syscalls_.name(value)};
    case GroupKey::function:
    case GroupKey::cgroup:
    case GroupKey::container: return texts_[value].empty() ? KeyValue{} : KeyValue{texts_[value]};
    case GroupKey::module: return owners_[value].name.empty() ? KeyValue{} : KeyValue{owners_[value].name};
    case GroupKey::subsystem:
    case GroupKey::directory: return owners_[value].name.empty() ? KeyValue{} : KeyValue{owners_[value]};
    case GroupKey::lifetime:
    case GroupKey::free_site:
    case GroupKey::free_task:
    case GroupKey::free_process:
    case GroupKey::free_comm: return NotFreed{};
  }
  return {};
}

}  // namespace kmt
