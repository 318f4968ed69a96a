// SPDX-License-Identifier: GPL-2.0-or-later
#include "reading/live_objects.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <linux/capability.h>

#include "analysis/snapshot/object_kinds.hpp"
#include "base/arithmetic/size.hpp"
#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "reading/live_slabs.hpp"
#include "snapshot/objects/collect_slabs.hpp"
#include "snapshot/objects/lists.hpp"
#include "snapshot/objects/sample.hpp"
#include "snapshot/objects/slabs.hpp"
#include "symbols/image_symbols.hpp"
#include "symbols/structure_guess.hpp"
#include "trace/state/slabinfo.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kMostSlabs = 1000;
constexpr std::uint64_t kMostTableBytes = 512;

bool is_kmalloc(const SlabCache& cache) { return cache.name.starts_with("kmalloc-"); }

// True if the cache is of the same size class as a kmalloc cache, and has its suffix: kmalloc-1k itself, kmalloc-cg-1k,
// or a cache of kmem_buckets_create() such as msg_msg-1k.
bool is_size_class_of(const SlabCache& cache, const SlabCache& kmalloc) {
  const std::size_t dash = cache.name.rfind('-');
  return dash != std::string::npos && cache.object_size == kmalloc.object_size &&
         kmalloc.name.ends_with(cache.name.substr(dash));
}

// Reads the slab caches of the running kernel and names their objects.
class LiveObjects {
 public:
  // Reads with `memory`, or from /proc/kcore if `memory` is null.
  LiveObjects(std::unique_ptr<KernelReader> memory, const ObjectLimits& limits,
              const std::function<bool(double)>& proceed)
      : limits_(limits), proceed_(proceed), kernel_(std::move(memory), limits.bytes), names_(kernel_.kallsyms()) {}

  ObjectsReport sample(const std::vector<std::string>& names);

 private:
  const SlabCache& cache_named(const std::string& name) const;
  CacheSample described(const SlabCache& cache) const;
  std::uint64_t smallest_of(const SlabCache& cache) const;
  void add_symbol(std::uint64_t address, ImageSymbols& symbols);
  ImageSymbols symbols_of(const CacheSample& sample);
  std::optional<ImageSymbol> symbol_in(std::uint64_t address, std::uint64_t bytes);
  bool follow_lists(ObjectGroup& group, std::uint64_t& steps_left);
  void follow_objects(const CacheSample& sample, ObjectGroup& group);
  const Btf& types_of(const std::string& module);
  void guess(const CacheSample& sample, ObjectGroup& group);
  CacheKinds kinds_of(const CacheSample& sample);
  // True if the reading may continue.
  bool proceed(double searched) {
    is_stopped_ = is_stopped_ || !proceed_(searched);
    return !is_stopped_ && !kernel_.memory().is_exhausted();
  }

  ObjectLimits limits_;
  const std::function<bool(double)>& proceed_;
  bool is_stopped_ = false;
  LiveSlabs kernel_;
  ImageNames names_;
  std::map<std::string, std::optional<Btf>> module_types_;  // empty if a module has no types of its own
};

// Names of merged caches are links to the same folder of /sys/kernel/slab.
const SlabCache& LiveObjects::cache_named(const std::string& name) const {
  if (const SlabCache* const cache = kernel_.slabs().cache_named(name)) return *cache;
  const fs::path folder = "/sys/kernel/slab";
  std::error_code code;
  const fs::path target = name.find('/') == std::string::npos ? fs::canonical(folder / name, code) : fs::path();
  if (!target.empty())
    for (const SlabCache& cache : kernel_.slabs().caches())
      if (std::error_code ignored; fs::canonical(folder / cache.name, ignored) == target) return cache;
  throw Error(fmt::format("This kernel has no slab cache \"{}\"", printable(name)))
      .hint("`kmemtrace snapshot` and /proc/slabinfo list the caches");
}

// Returns the smallest size of objects in the cache. Objects in a size class of kmalloc are larger than the next
// smaller class. Other caches have one size, but the kernel merges caches that are up to 7 bytes smaller.
std::uint64_t LiveObjects::smallest_of(const SlabCache& cache) const {
  const bool has_classes = std::ranges::any_of(kernel_.slabs().caches(), [&](const SlabCache& other) {
    return is_kmalloc(other) && is_size_class_of(cache, other);
  });
  if (!has_classes) return cache.object_size - std::min<std::uint64_t>(cache.object_size, 7);
  std::uint64_t smaller = 0;
  for (const SlabCache& other : kernel_.slabs().caches())
    if (is_kmalloc(other) && other.object_size < cache.object_size) smaller = std::max(smaller, other.object_size);
  return smaller + 1;
}

CacheSample LiveObjects::described(const SlabCache& cache) const {
  CacheSample sample;
  sample.name = cache.name;
  sample.address = cache.address;
  sample.object_size = cache.object_size;
  sample.slot_size = cache.size;
  sample.smallest = smallest_of(cache);
  const std::string slabinfo = try_read_file("/proc/slabinfo").value_or("");
  for (const SlabInfo& line : parse_slabinfo(slabinfo).caches)
    if (line.name == cache.name) sample.all_slots = line.objects;
  const fs::path folder = "/sys/kernel/slab";
  std::error_code code;
  const fs::path own = fs::canonical(folder / cache.name, code);
  if (code || !own.filename().string().starts_with(':')) return sample;
  for (const std::string& name : names_in(folder))
    if (std::error_code ignored;
        name != cache.name && !name.starts_with(':') && fs::canonical(folder / name, ignored) == own)
      sample.aliases.push_back(name);
  return sample;
}

void LiveObjects::add_symbol(std::uint64_t address, ImageSymbols& symbols) {
  if (symbols.contains(address)) return;
  auto symbol = names_.find(address);
  if (!symbol) return;
  std::vector<std::uint8_t> data(!symbol->is_code && names_.may_be_table(address) ? kMostTableBytes : 0);
  if (!data.empty() && kernel_.memory().read(address, data))
    for (std::uint32_t at = 0; at < data.size(); at += sizeof(std::uint64_t)) {
      const auto value = load<std::uint64_t>(data.data() + at, kHostOrder);
      if (!kernel_.addresses().is_in_image(value)) continue;
      const auto owner = names_.find(address + at);
      if (!owner || owner->name != symbol->name) break;
      if (const auto function = names_.find(value); function && function->is_function())
        symbol->functions.emplace_back(at, function->name);
    }
  symbols.emplace(address, std::move(*symbol));
}

ImageSymbols LiveObjects::symbols_of(const CacheSample& sample) {
  ImageSymbols symbols;
  for (const ObjectSample& object : sample.objects)
    for (const ObjectWord& word : object.words)
      if (word.kind == WordContent::symbol) add_symbol(word.value, symbols);
  return symbols;
}

// Sets the module from the head of the list in which the objects are. Several sampled objects must be in that list, and
// lists of other objects must not have heads in other modules.
bool LiveObjects::follow_lists(ObjectGroup& group, std::uint64_t& steps_left) {
  constexpr std::uint64_t kMostSteps = 5000;  // of one object; other objects may be nearer to the head
  constexpr unsigned kEnoughHeads = 3;
  for (const std::uint32_t offset : group.chains) {
    std::unordered_set<std::uint64_t> links;
    for (const ObjectSample* object : group.objects) links.insert(object->address + offset);
    const ListWalk walk{&kernel_.addresses(), &links, 3, kMostSteps};
    std::optional<ImageSymbol> found;
    unsigned heads = 0;
    for (std::size_t i = 0; i < group.objects.size() && heads < kEnoughHeads && steps_left > 0 && proceed(1); ++i) {
      const auto head = shared_list_head(kernel_.memory(), group.objects[i]->address + offset, walk, steps_left);
      auto symbol = head ? names_.find(*head) : std::nullopt;
      if (!symbol) continue;
      ++heads;
      const bool differs = found && found->module != symbol->module;
      found = differs ? std::nullopt : std::move(symbol);
      if (differs) break;
    }
    if (!found) continue;
    set_module(group.kind, *found, ModuleSource::list);
    return true;
  }
  return false;
}

// Returns the first symbol of a module that the object points to. If there is none, returns the first function or table
// of functions.
std::optional<ImageSymbol> LiveObjects::symbol_in(std::uint64_t address, std::uint64_t bytes) {
  std::vector<std::uint8_t> data(to_size(std::min<std::uint64_t>(bytes, kMostTableBytes)));
  ImageSymbols symbols;
  std::optional<ImageSymbol> best;
  if (!kernel_.memory().read(address, data)) return best;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= data.size(); at += sizeof(std::uint64_t)) {
    const auto value = load<std::uint64_t>(data.data() + at, kHostOrder);
    if (!kernel_.addresses().is_in_image(value)) continue;
    add_symbol(value, symbols);
    const auto found = symbols.find(value);
    if (found == symbols.end()) continue;
    const ImageSymbol& symbol = found->second;
    if (!symbol.module.empty()) return symbol;
    if (!best && (symbol.is_function() || symbol.is_table())) best = symbol;
  }
  return best;
}

void LiveObjects::follow_objects(const CacheSample& sample, ObjectGroup& group) {
  constexpr std::size_t kMostObjects = 8;
  for (std::size_t i = 0; i < std::min(kMostObjects, group.objects.size()); ++i)
    for (const ObjectWord& word : group.objects[i]->words) {
      if (word.kind != WordContent::object || word.is_self) continue;
      const std::uint64_t bytes = sample.caches[word.cache].object_size;
      const auto symbol = symbol_in(word.value - word.target_offset, bytes);
      if (!symbol || symbol->module.empty()) continue;
      set_module(group.kind, *symbol, ModuleSource::neighbour);
      return;
    }
}

// Returns the types of a module and the kernel, or only those of the kernel. A module may be removed at any time.
const Btf& LiveObjects::types_of(const std::string& module) {
  if (module.empty() || module == "vmlinux") return kernel_.types();
  const auto [found, is_new] = module_types_.try_emplace(module);
  const std::string path = std::string(kKernelTypes) + module;
  std::error_code code;
  if (is_new && fs::exists(path, code)) {
    try {
      found->second.emplace(path, &kernel_.types());
    } catch (const Error&) {
      return kernel_.types();
    }
  }
  return found->second ? *found->second : kernel_.types();
}

void LiveObjects::guess(const CacheSample& sample, ObjectGroup& group) {
  const GuessedCache cache{sample.name, sample.aliases, sample.smallest, sample.object_size};
  SlabKind& kind = group.kind;
  kind.structure = guess_structure(types_of(kind.module), cache, group.evidence);
  if (!kind.module.empty() || kind.structure.confidence < Confidence::medium) return;
  kind.module = "vmlinux";
  kind.module_source = ModuleSource::structure;
}

CacheKinds LiveObjects::kinds_of(const CacheSample& sample) {
  constexpr std::size_t kMostNamed = 100;  // bounds the time; smaller kinds have few objects
  std::vector<ObjectGroup> groups = group_objects(sample, symbols_of(sample));
  std::ranges::stable_sort(groups, std::ranges::greater(), [](const ObjectGroup& one) { return one.objects.size(); });
  std::uint64_t steps_left = limits_.list_steps;
  for (std::size_t i = 0; i < std::min(kMostNamed, groups.size()) && proceed(1); ++i) {
    ObjectGroup& group = groups[i];
    if (group.kind.module.empty() && !follow_lists(group, steps_left)) follow_objects(sample, group);
    guess(sample, group);
  }
  return finish_kinds(sample, std::move(groups));
}

ObjectsReport LiveObjects::sample(const std::vector<std::string>& names) {
  std::vector<const SlabCache*> caches;
  for (const std::string& name : names)  // several names may be those of one merged cache
    if (const SlabCache* const cache = &cache_named(name); std::ranges::find(caches, cache) == caches.end())
      caches.push_back(cache);
  double seen = 0;
  const std::size_t wanted = to_size(std::clamp<std::uint64_t>(limits_.objects / 4, 1, kMostSlabs));
  const auto found = collect_slabs(kernel_.slabs(), kernel_.frames(), caches, wanted, [&](double part) {
    seen = part;
    return proceed(part);
  });
  ObjectsReport report{limits_.objects, limits_.bytes};
  for (std::size_t i = 0; i < caches.size(); ++i) {
    CacheSample sample = described(*caches[i]);
    sample.searched = seen;
    read_objects(
        kernel_.slabs(), kernel_.memory(), kernel_.addresses(), *caches[i], found[i], limits_.objects,
        [&] { return proceed(1); }, sample);
    report.caches.push_back(kinds_of(sample));
  }
  report.bytes_read = kernel_.memory().bytes_read();
  if (kernel_.memory().is_exhausted()) report.end = ReadingEnd::most_bytes;
  if (is_stopped_) report.end = ReadingEnd::stopped;
  return report;
}

}  // namespace

ObjectsReport sample_objects(const std::vector<std::string>& caches, const ObjectLimits& limits,
                             const std::function<bool(double)>& proceed, std::unique_ptr<KernelReader> memory) {
  const auto start = std::chrono::steady_clock::now();
  LiveObjects live(std::move(memory), limits, proceed);
  give_up_capabilities(std::array<unsigned, 1>{CAP_SYS_RAWIO});
  ObjectsReport report = live.sample(caches);
  report.elapsed_ns =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  return report;
}

}  // namespace kmt
