// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/objects/sample.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "base/arithmetic/size.hpp"

namespace kmt {

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::uint64_t kMostBytesOfObject = 2048;  // larger objects are described by their start
// Objects do not point to addresses between this one and the kernel's image (Documentation/arch/x86/x86_64/mm.rst in
// Linux 6.12).
constexpr std::uint64_t kEndOfMaps = 0xffff'fe00'0000'0000;
constexpr std::size_t kShortestText = 6;

bool is_readable(std::uint8_t c) { return c >= 0x20 && c < 0x7f; }

// Marks the words in which a readable text starts or continues. A text starts at a word and ends with a NUL.
std::vector<bool> words_of_texts(std::span<const std::uint8_t> bytes) {
  std::vector<bool> texts(bytes.size() / kWord);
  for (std::size_t word = 0; word < texts.size();) {
    std::size_t end = word * kWord;
    while (end < bytes.size() && is_readable(bytes[end])) ++end;
    const bool is_text = end - word * kWord >= kShortestText && (end == bytes.size() || bytes[end] == 0);
    const std::size_t next = is_text ? std::min(texts.size(), (end + kWord - 1) / kWord) : word + 1;
    if (is_text)
      std::fill(texts.begin() + static_cast<std::ptrdiff_t>(word), texts.begin() + static_cast<std::ptrdiff_t>(next),
                true);
    word = next;
  }
  return texts;
}

class Describer {
 public:
  Describer(Slabs& slabs, KernelReader& memory, const SlabAddresses& addresses, std::vector<NamedCache>& caches)
      : slabs_(slabs), memory_(memory), addresses_(addresses), caches_(caches) {}

  ObjectSample describe(std::uint64_t address, std::span<const std::uint8_t> bytes) {
    ObjectSample object;
    object.address = address;
    const std::vector<bool> texts = words_of_texts(bytes);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto value = load<std::uint64_t>(bytes.data() + i * kWord, kHostOrder);
      object.words.push_back(texts[i] ? ObjectWord{0, WordContent::text} : classify(value));
      ObjectWord& word = object.words.back();
      word.is_self = word.value >= address && word.value - address < bytes.size();
    }
    for (std::size_t i = 0; i + 1 < object.words.size(); ++i)
      object.words[i].is_list = is_list(object, i, address + i * kWord);
    return object;
  }

 private:
  ObjectWord classify(std::uint64_t value) {
    if (value == 0) return {};
    if (addresses_.is_in_image(value)) return {value, WordContent::symbol};
    if (value < addresses_.page_offset || value >= kEndOfMaps) return {0, WordContent::number};
    ObjectWord word{value, WordContent::address};
    if (const auto place = slabs_.find(value)) {
      word.kind = WordContent::object;
      word.cache = index_of(*place->cache);
      word.target_offset = static_cast<std::uint32_t>(place->offset);
    }
    return word;
  }

  // True if the two words are the members `next` and `prev` of a list_head, and `next` points to one whose `prev`
  // points back.
  bool is_list(const ObjectSample& object, std::size_t index, std::uint64_t own) {
    const auto [next, previous] = std::pair(object.words[index].value, object.words[index + 1].value);
    if (next == 0 || previous == 0 || next % kWord != 0 || previous % kWord != 0) return false;
    if (next == own || previous == own) return next == previous;
    const auto back = read_word(memory_, next + kWord);
    return back == own;
  }

  std::uint32_t index_of(const SlabCache& cache) {
    const auto [found, is_new] = indexes_.emplace(cache.address, caches_.size());
    if (!is_new) return static_cast<std::uint32_t>(found->second);
    const auto known = std::ranges::find(caches_, cache.name, &NamedCache::name);
    found->second = static_cast<std::size_t>(known - caches_.begin());
    if (known == caches_.end()) caches_.push_back({cache.name, cache.object_size});
    return static_cast<std::uint32_t>(found->second);
  }

  Slabs& slabs_;
  KernelReader& memory_;
  const SlabAddresses& addresses_;
  std::vector<NamedCache>& caches_;
  std::unordered_map<std::uint64_t, std::size_t> indexes_;
};

// Returns the indexes of at most `most` live slots, evenly spread.
std::vector<std::size_t> choose_live(const SlabContents& contents, std::uint64_t most) {
  std::vector<std::size_t> live;
  for (std::size_t i = 0; i < contents.is_free.size(); ++i)
    if (!contents.is_free[i]) live.push_back(i);
  if (live.size() <= most) return live;
  std::vector<std::size_t> chosen;
  for (std::uint64_t i = 0; i < most; ++i) chosen.push_back(live[to_size(i * live.size() / most)]);
  return chosen;
}

// Reads a slab twice if the first attempt fails: if the kernel frees and allocates an object meanwhile, the slab looks
// damaged.
std::variant<SlabContents, SlabFailure> read_slab(Slabs& slabs, std::uint64_t frame, const SlabCache& cache,
                                                  const std::unordered_set<std::uint64_t>& not_live) {
  std::variant<SlabContents, SlabFailure> contents = SlabFailure::changed;
  for (int attempt = 0; attempt < 2 && std::holds_alternative<SlabFailure>(contents); ++attempt) {
    const auto head = slabs.head(frame, true);
    if (!head || head->cache != cache.address) return SlabFailure::changed;  // the slab was freed
    contents = slabs.contents(*head, not_live);
  }
  return contents;
}

std::uint64_t& count_of(SlabFailure failure, CacheSample& sample) {
  switch (failure) {
    case SlabFailure::unreadable: return sample.slabs_unreadable;
    case SlabFailure::damaged: return sample.slabs_damaged;
    case SlabFailure::changed: break;
  }
  return sample.slabs_changed;
}

}  // namespace

void SlabCollection::add(SlabsOfChunk chunk) {
  if (chunk.frames.empty()) return;
  found_ += chunk.frames.size();
  spread_ += std::min(chunk.frames.size(), kMostOfChunk);
  chunks_.push_back(std::move(chunk));
}

std::vector<SlabCollection::Chosen> SlabCollection::choose() const {
  // Raises the number of slabs that each chunk gives, until there are enough.
  std::size_t of_chunk = kMostOfChunk;
  const auto total = [&](std::size_t most) {
    return std::accumulate(chunks_.begin(), chunks_.end(), std::size_t{0}, [most](std::size_t sum, const auto& chunk) {
      return sum + std::min(most, chunk.frames.size());
    });
  };
  while (of_chunk < kFramesOfChunk && total(of_chunk) < std::min<std::uint64_t>(wanted_, found_)) ++of_chunk;
  std::vector<Chosen> chosen;
  for (const SlabsOfChunk& chunk : chunks_) {
    const std::size_t count = std::min(of_chunk, chunk.frames.size());
    const double weight = static_cast<double>(chunk.frames.size()) / static_cast<double>(count);
    for (std::size_t i = 0; i < count; ++i) chosen.push_back({chunk.frames[i * chunk.frames.size() / count], weight});
  }
  return chosen;
}

std::vector<std::uint64_t> shuffled(std::uint64_t count) {
  std::vector<std::uint64_t> numbers(to_size(count));
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  std::mt19937_64 random(20080814);  // any constant: the same machine gives the same sample
  for (std::uint64_t i = count; i > 1; --i) std::swap(numbers[to_size(i - 1)], numbers[to_size(random() % i)]);
  return numbers;
}

ObjectSample describe_object(Slabs& slabs, KernelReader& memory, const SlabAddresses& addresses, std::uint64_t address,
                             std::span<const std::uint8_t> bytes, std::vector<NamedCache>& caches) {
  return Describer(slabs, memory, addresses, caches).describe(address, bytes);
}

void read_objects(Slabs& slabs, KernelReader& memory, const SlabAddresses& addresses, const SlabCache& cache,
                  const SlabCollection& found, std::uint64_t most_objects, const std::function<bool()>& proceed,
                  CacheSample& sample) {
  sample.slabs_found = found.found();
  const FreeForCpus for_cpus = slabs.free_for_cpus(cache);
  sample.knows_cpu_lists = for_cpus.is_whole;
  const std::vector<SlabCollection::Chosen> chosen = found.choose();
  if (chosen.empty()) return;
  const std::uint64_t of_slab = (most_objects + chosen.size() - 1) / chosen.size();
  Describer describer(slabs, memory, addresses, sample.caches);
  for (const SlabCollection::Chosen& slab : chosen) {
    if (!proceed()) return;
    const auto slab_contents = read_slab(slabs, slab.frame, cache, for_cpus.objects);
    const SlabContents* const contents = std::get_if<SlabContents>(&slab_contents);
    if (contents == nullptr) {
      ++count_of(std::get<SlabFailure>(slab_contents), sample);
      continue;
    }
    const auto live = static_cast<std::uint64_t>(std::ranges::count(contents->is_free, false));
    ++sample.slabs_read;
    sample.slots += contents->is_free.size();
    sample.live += live;
    const std::vector<std::size_t> indexes = choose_live(*contents, of_slab);
    for (const std::size_t index : indexes) {
      const std::uint64_t bytes = std::min(cache.object_size, kMostBytesOfObject);
      const std::uint64_t at = index * cache.size;
      ObjectSample object =
          describer.describe(contents->address + at, std::span(contents->bytes).subspan(to_size(at), to_size(bytes)));
      object.weight = slab.weight * static_cast<double>(live) / static_cast<double>(indexes.size());
      sample.objects.push_back(std::move(object));
    }
  }
}

}  // namespace kmt
