// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/objects/slabs.hpp"

#include <algorithm>
#include <cstring>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"

namespace kmt {

namespace {

constexpr std::uint64_t kMostCaches = 65'536;
constexpr std::size_t kMostNameBytes = 128;
constexpr std::uint64_t kMostObjectBytes = 1 << 22;  // KMALLOC_MAX_CACHE_SIZE is at most 4 MiB
constexpr std::uint64_t kMostSlabBytes = 1 << 24;
constexpr std::uint64_t kWord = sizeof(std::uint64_t);

std::string read_name(KernelReader& memory, std::uint64_t address) {
  std::array<std::uint8_t, kMostNameBytes> bytes{};
  // The name may be at the end of readable memory, so it is read in small parts.
  constexpr std::size_t kPart = 16;
  for (std::size_t at = 0; at < bytes.size(); at += kPart) {
    if (!memory.read(address + at, std::span(bytes).subspan(at, kPart))) break;
    if (std::memchr(bytes.data() + at, 0, kPart) != nullptr) break;
  }
  const char* const text = reinterpret_cast<const char*>(bytes.data());
  return {text, ::strnlen(text, bytes.size())};
}

}  // namespace

Slabs::Slabs(KernelReader& memory, const SlubLayout& layout, const SlabAddresses& addresses, std::uint64_t page_size)
    : memory_(memory), layout_(layout), addresses_(addresses), page_size_(page_size) {
  auto at = read_word(memory_, addresses_.slab_caches);
  while (at && *at != addresses_.slab_caches && caches_.size() < kMostCaches) {
    SlabCache cache = read_cache(*at - layout_.list.offset);
    const bool is_valid = cache.size != 0;
    if (!by_address_.emplace(cache.address, is_valid ? caches_.size() : kMostCaches).second) break;
    if (is_valid) caches_.push_back(std::move(cache));
    at = read_word(memory_, *at);
  }
  if (!at || caches_.empty() || layout_.page_bytes == 0)
    throw Error("Cannot read the list of slab caches from the kernel's memory", ExitCode::unsupported)
        .hint("Please report this, with the output of `uname -a`");
}

SlabCache Slabs::read_cache(std::uint64_t address) {
  SlabCache cache;
  cache.address = address;
  // The array of the nodes is last, and much larger than the other members.
  std::vector<std::uint8_t> bytes(to_size(std::min<std::uint64_t>(layout_.nodes.offset, kBlockBytes)));
  if (!memory_.read(address, bytes)) return cache;
  const auto member = [&bytes](const MemberPlace& place) { return member_in(bytes, place).value_or(0); };
  cache.name = read_name(memory_, member(layout_.name));
  cache.size = member(layout_.size);
  cache.object_size = member(layout_.object_size);
  cache.free_pointer = member(layout_.free_pointer);
  cache.left_pad = member(layout_.left_pad);
  cache.is_hardened = layout_.random.has_value();
  if (layout_.random) cache.random = member(*layout_.random);
  const bool is_valid = cache.size <= kMostObjectBytes && cache.size % kWord == 0 && cache.object_size <= cache.size &&
                        cache.size >= kWord && cache.free_pointer <= cache.size - kWord && cache.left_pad < cache.size;
  if (!is_valid) cache.size = 0;
  return cache;
}

const SlabCache* Slabs::cache_named(const std::string& name) const {
  const auto found = std::ranges::find(caches_, name, &SlabCache::name);
  return found == caches_.end() ? nullptr : &*found;
}

const SlabCache* Slabs::cache_at(std::uint64_t address) const {
  const auto found = by_address_.find(address);
  return found != by_address_.end() && found->second < caches_.size() ? &caches_[found->second] : nullptr;
}

bool Slabs::read_page(std::uint64_t frame, std::span<std::uint8_t> page, bool fresh) {
  const std::uint64_t address = addresses_.vmemmap + frame * layout_.page_bytes;
  if (fresh || kBlockBytes % layout_.page_bytes != 0 || address % layout_.page_bytes != 0)
    return memory_.read(address, page);
  const std::uint64_t block = address / kBlockBytes * kBlockBytes;
  auto found = blocks_.find(block);
  if (found == blocks_.end()) {
    Block bytes{};
    if (!memory_.read(block, bytes)) return false;
    found = blocks_.emplace(block, bytes).first;
  }
  std::memcpy(page.data(), found->second.data() + (address - block), page.size());
  return true;
}

std::optional<SlabHead> Slabs::head(std::uint64_t frame, bool fresh) {
  std::vector<std::uint8_t> page(to_size(layout_.page_bytes));
  if (!read_page(frame, page, fresh)) return std::nullopt;
  const auto member = [&page](const MemberPlace& place) { return member_in(page, place).value_or(0); };
  SlabHead head;
  head.frame = frame;
  head.cache = member(layout_.slab_cache);
  if (cache_at(head.cache) == nullptr) return std::nullopt;
  head.freelist = member(layout_.slab_freelist);
  head.in_use = member(layout_.slab_inuse);
  head.objects = member(layout_.slab_objects);
  head.is_frozen = layout_.slab_frozen && member(*layout_.slab_frozen) != 0;
  return head;
}

// In a tail page, bit 0 of the word after the flags is set. The other bits are the address of the first page or, since
// about Linux 7.2, a mask for its address (_compound_head() in page-flags.h).
std::uint64_t Slabs::first_frame_of(std::uint64_t frame) {
  std::vector<std::uint8_t> page(to_size(layout_.page_bytes));
  if (page.size() < 2 * kWord || !read_page(frame, page, false)) return frame;
  const std::uint64_t info = load<std::uint64_t>(page.data() + kWord, kHostOrder);
  if ((info & 1) == 0) return frame;
  constexpr std::uint64_t kLargestMask = std::uint64_t{1} << 30;
  const std::uint64_t address = addresses_.vmemmap + frame * layout_.page_bytes;
  const std::uint64_t first = ~info < kLargestMask ? address & info : info - 1;
  return first >= addresses_.vmemmap && first <= address ? (first - addresses_.vmemmap) / layout_.page_bytes : frame;
}

std::optional<SlabPlace> Slabs::find(std::uint64_t address) {
  if (address < addresses_.page_offset) return std::nullopt;
  const std::uint64_t frame = first_frame_of((address - addresses_.page_offset) / page_size_);
  const auto slab = head(frame);
  if (!slab) return std::nullopt;
  const SlabCache& cache = *cache_at(slab->cache);
  const std::uint64_t first = addresses_.page_offset + frame * page_size_ + cache.left_pad;
  if (address < first || (address - first) / cache.size >= slab->objects) return std::nullopt;
  const std::uint64_t offset = (address - first) % cache.size;
  return SlabPlace{&cache, address - offset, offset};
}

// Returns the address of the next free object from the word stored at `at` (freelist_ptr_decode() in mm/slub.c).
std::uint64_t Slabs::next_free(const SlabCache& cache, std::uint64_t at, std::uint64_t stored) const {
  return cache.is_hardened ? stored ^ cache.random ^ swap_bytes(at) : stored;
}

// Follows the list of free objects. Returns false if the list leaves the slab, or contradicts the slab's counters.
bool Slabs::mark_free(const SlabCache& cache, const SlabHead& head, SlabContents& contents) const {
  std::uint64_t count = 0;
  for (std::uint64_t at = head.freelist; at != 0; ++count) {
    if (at < contents.address || (at - contents.address) % cache.size != 0) return false;
    const std::uint64_t index = (at - contents.address) / cache.size;
    if (index >= head.objects || contents.is_free[to_size(index)]) return false;
    contents.is_free[to_size(index)] = true;
    const std::uint64_t pointer = index * cache.size + cache.free_pointer;
    at = next_free(cache, contents.address + pointer, load<std::uint64_t>(contents.bytes.data() + pointer, kHostOrder));
  }
  return head.is_frozen || count + head.in_use == head.objects;
}

std::variant<SlabContents, SlabFailure> Slabs::contents(const SlabHead& head,
                                                        const std::unordered_set<std::uint64_t>& not_live) {
  const SlabCache* const cache = cache_at(head.cache);
  if (cache == nullptr || head.objects == 0 || head.objects > kMostSlabBytes / cache->size) return SlabFailure::damaged;
  SlabContents contents;
  contents.address = addresses_.page_offset + head.frame * page_size_ + cache->left_pad;
  contents.is_free.resize(to_size(head.objects));
  contents.bytes.resize(to_size(head.objects * cache->size));
  // Red-zone padding precedes each object. Slots are counted from the first object, so the last slot extends past the
  // slab by this padding.
  if (!memory_.read(contents.address,
                    std::span(contents.bytes).first(to_size(contents.bytes.size() - cache->left_pad))))
    return SlabFailure::unreadable;
  const bool is_marked = mark_free(*cache, head, contents);
  if (this->head(head.frame, true) != head) return SlabFailure::changed;
  if (!is_marked) return SlabFailure::damaged;
  for (std::uint64_t i = 0; i < head.objects; ++i)
    if (not_live.contains(contents.address + i * cache->size)) contents.is_free[to_size(i)] = true;
  return contents;
}

std::optional<std::uint64_t> Slabs::per_cpu(std::uint64_t offset, unsigned cpu) {
  if (addresses_.per_cpu_offset == 0) return offset;  // a kernel for one CPU
  const auto base = read_word(memory_, addresses_.per_cpu_offset + cpu * kWord);
  return base ? std::optional(offset + *base) : std::nullopt;
}

// Adds the objects of a list of free objects. Returns false if the list cannot be read to its end.
bool Slabs::add_list(const SlabCache& cache, std::uint64_t first, std::unordered_set<std::uint64_t>& found) {
  constexpr unsigned kMostFree = 65'536;
  unsigned count = 0;
  for (std::uint64_t at = first; at != 0; ++count) {
    if (count == kMostFree || !found.insert(at).second) return false;
    const std::uint64_t pointer = at + cache.free_pointer;
    const auto stored = read_word(memory_, pointer);
    if (!stored) return false;
    at = next_free(cache, pointer, *stored);
  }
  return true;
}

// Adds the objects of a sheaf. Returns false if the sheaf cannot be read.
bool Slabs::add_sheaf(std::uint64_t sheaf, std::unordered_set<std::uint64_t>& found) {
  constexpr std::uint64_t kMostObjects = 4096;
  if (sheaf == 0) return true;
  std::vector<std::uint8_t> bytes(layout_.sheaf_objects.offset);
  if (bytes.empty() || !memory_.read(sheaf, bytes)) return false;
  const auto count = member_in(bytes, layout_.sheaf_size);
  if (!count || *count > kMostObjects) return false;
  std::vector<std::uint8_t> objects(to_size(*count * kWord));
  if (!objects.empty() && !memory_.read(sheaf + layout_.sheaf_objects.offset, objects)) return false;
  for (std::uint64_t i = 0; i < *count; ++i) found.insert(load<std::uint64_t>(objects.data() + i * kWord, kHostOrder));
  return true;
}

// Adds the objects in the full sheaves of a barn. Returns false if some cannot be read.
bool Slabs::add_barn(std::uint64_t barn, std::unordered_set<std::uint64_t>& found) {
  constexpr unsigned kMostSheaves = 4096;
  const std::uint64_t list = barn + layout_.barn_full.offset;
  bool is_whole = true;
  auto at = read_word(memory_, list);
  for (unsigned count = 0; at && *at != list; ++count) {
    if (*at == 0 || count == kMostSheaves) return false;
    is_whole = add_sheaf(*at - layout_.sheaf_list.offset, found) && is_whole;
    at = read_word(memory_, *at);
  }
  return is_whole && at;
}

// Adds the objects in the full sheaves of each node. Returns false if some cannot be read.
bool Slabs::add_nodes(const SlabCache& cache, std::unordered_set<std::uint64_t>& found) {
  const std::uint64_t entry = layout_.nodes.type_size;
  if (!layout_.barn) return true;
  if (entry < kWord) return false;
  // The array in memory is only as long as the number of possible nodes.
  const std::uint64_t count = std::min<std::uint64_t>(layout_.nodes.size / entry, addresses_.nodes);
  bool is_whole = true;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = cache.address + layout_.nodes.offset + i * entry;
    auto barn = read_word(memory_, layout_.barn_in_cache ? at + layout_.barn->offset : at);
    if (barn && *barn != 0 && !layout_.barn_in_cache) barn = read_word(memory_, *barn + layout_.barn->offset);
    // A node without memory has no barn.
    is_whole = barn && (*barn == 0 || add_barn(*barn, found)) && is_whole;
  }
  return is_whole;
}

FreeForCpus Slabs::free_for_cpus(const SlabCache& cache) {
  FreeForCpus free;
  std::unordered_set<std::uint64_t>& found = free.objects;
  const auto expect = [&free](bool is_read) { free.is_whole = free.is_whole && is_read; };
  const auto word = [&](std::optional<std::uint64_t> address) {
    const auto value = address ? read_word(memory_, *address) : std::nullopt;
    expect(value.has_value());
    return value.value_or(0);
  };
  const std::uint64_t lists = layout_.cpu_slab ? word(cache.address + layout_.cpu_slab->offset) : 0;
  const std::uint64_t sheaves = layout_.cpu_sheaves ? word(cache.address + layout_.cpu_sheaves->offset) : 0;
  for (unsigned cpu = 0; cpu < addresses_.cpus; ++cpu) {
    if (lists != 0) expect(add_list(cache, word(per_cpu(lists + layout_.cpu_freelist->offset, cpu)), found));
    if (sheaves == 0) continue;
    for (const MemberPlace& place : {layout_.main, layout_.spare, layout_.rcu_free})
      expect(add_sheaf(word(per_cpu(sheaves + place.offset, cpu)), found));
  }
  if (sheaves != 0) expect(add_nodes(cache, found));
  return free;
}

}  // namespace kmt
