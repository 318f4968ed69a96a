// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/profile.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/file_writer.hpp"
#include "formats/kmt/payload.hpp"

namespace kmt::kmt_format {

namespace {

// In bytes; when a chunk has this size, the next groups go to another chunk.
constexpr std::size_t kFullChunk = 16u << 20;
constexpr std::size_t kMostFrames = 1024;     // maximum number of frames of a stack
constexpr std::size_t kMostSizes = 1u << 16;  // maximum number of sizes in a group
constexpr std::size_t kMostMissing = 64;      // maximum number of names of missing events
// Estimates for the memory that a decoded group or fact needs at least. All of them together may need 64 MiB, or the
// file's size multiplied by kMostDecodedRatio if that is more.
constexpr std::uint64_t kGroupBytes = 512;
constexpr std::uint64_t kFactBytes = 128;
constexpr std::uint64_t kMostDecodedBytes = 64u << 20;
constexpr std::uint64_t kMostDecodedRatio = 64;
constexpr std::string_view kCgroupPrefix = "cgroup:";
constexpr std::string_view kCachePrefix = "slab_cache:";

// Numeric facts and their names in the file.
constexpr std::array<std::pair<std::string_view, std::uint64_t HeapProfileFacts::*>, 6> kNumbers = {{
    {"start_unix_ns", &HeapProfileFacts::start_unix_ns},
    {"duration_ns", &HeapProfileFacts::duration_ns},
    {"mean_bytes", &HeapProfileFacts::mean_bytes},
    {"replaced", &HeapProfileFacts::replaced},
    {"kernel_memory_bytes", &HeapProfileFacts::memory},
    {"own_cpu_ns", &HeapProfileFacts::own_cpu_ns},
}};
constexpr std::array<std::pair<std::string_view, std::uint64_t HeapLosses::*>, 7> kLosses = {{
    {"samples_lost", &HeapLosses::samples},
    {"ends_lost", &HeapLosses::ends},
    {"not_followed", &HeapLosses::unfollowed},
    {"without_stack", &HeapLosses::no_stack},
    {"allocations_missed", &HeapLosses::missed},
    {"frees_missed", &HeapLosses::missed_frees},
    {"processes_not_followed", &HeapLosses::not_followed_processes},
}};

// Names of the values of CacheCounting. The first name is not in the file.
constexpr std::array<std::string_view, 3> kCountings = {"", "unsupported", "counted"};

using Texts = std::vector<std::pair<std::string, std::string>>;

Texts facts_of(const DrawnProfile& profile) {
  Texts facts = {{"selection", profile.selection},
                 {"of", profile.has_pages ? "slab pages" : "slab"},
                 {"missing_events", fmt::format("{}", fmt::join(profile.missing, " "))}};
  for (const auto& [name, member] : kNumbers) facts.emplace_back(name, fmt::format("{}", profile.*member));
  for (const auto& [name, member] : kLosses) facts.emplace_back(name, fmt::format("{}", profile.losses.*member));
  if (profile.caches.counting != CacheCounting::not_requested) {
    facts.emplace_back("slab_caches", kCountings[static_cast<std::size_t>(profile.caches.counting)]);
    const UncountedObjects& uncounted = profile.caches.uncounted;
    facts.emplace_back("uncounted_objects", fmt::format("{}", uncounted.objects));
    facts.emplace_back("uncounted_functions", fmt::format("{}", fmt::join(uncounted.functions, " ")));
    facts.emplace_back("uncounted_reason", uncounted.reason);
    facts.emplace_back("uncounted_calls", fmt::format("{}", uncounted.missed_calls));
  }
  for (const CacheCount& cache : profile.caches.rows)
    facts.emplace_back(fmt::format("{}{}:{}", kCachePrefix, cache.object_bytes, cache.name),
                       fmt::format("{} {}{}", cache.allocations, cache.frees,
                                   cache.slabinfo_objects ? fmt::format(" {}", *cache.slabinfo_objects) : ""));
  for (const auto& [id, name] : profile.cgroups) facts.emplace_back(fmt::format("{}{}", kCgroupPrefix, id), name);
  return facts;
}

template <typename T = std::uint64_t>
T number(std::string_view text) {
  const auto value = parse_number<T>(text);
  if (!value) throw Error("A value in the description of the profile is not a number");
  return *value;
}

// `name` is "SIZE:CACHE", such as "256:filp". `value` is "ALLOCATIONS FREES" or "ALLOCATIONS FREES OBJECTS".
CacheCount cache_of(std::string_view name, std::string_view value) {
  const std::size_t colon = name.find(':');
  const std::vector<std::string_view> numbers = split(value, ' ');
  if (colon == std::string_view::npos || numbers.size() < 2) throw Error("A slab cache of the profile has no counts");
  CacheCount cache;
  cache.name = name.substr(colon + 1);
  cache.object_bytes = number<std::uint32_t>(name.substr(0, colon));
  cache.allocations = number(numbers[0]);
  cache.frees = number(numbers[1]);
  if (numbers.size() > 2) cache.slabinfo_objects = number<std::int64_t>(numbers[2]);
  return cache;
}

// Ignores unknown names.
void take_fact(std::string_view name, std::string_view value, DrawnProfile& profile) {
  if (name == "selection") profile.selection = value;
  if (name == "of") profile.has_pages = value.find("pages") != std::string_view::npos;
  if (name == "missing_events")
    for (const std::string_view event : split(value, ' '))
      if (!event.empty() && profile.missing.size() < kMostMissing) profile.missing.emplace_back(event);
  for (const auto& [known, member] : kNumbers)
    if (name == known) profile.*member = number(value);
  for (const auto& [known, member] : kLosses)
    if (name == known) profile.losses.*member = number(value);
  const auto counting = std::ranges::find(kCountings, value);
  if (name == "slab_caches" && counting != kCountings.end())
    profile.caches.counting = static_cast<CacheCounting>(counting - kCountings.begin());
  UncountedObjects& uncounted = profile.caches.uncounted;
  if (name == "uncounted_objects") uncounted.objects = number(value);
  if (name == "uncounted_calls") uncounted.missed_calls = number(value);
  if (name == "uncounted_reason") uncounted.reason = value;
  if (name == "uncounted_functions")
    for (const std::string_view function : split(value, ' '))
      if (!function.empty() && uncounted.functions.size() < kMostMissing) uncounted.functions.emplace_back(function);
  if (name.starts_with(kCachePrefix)) profile.caches.rows.push_back(cache_of(name.substr(kCachePrefix.size()), value));
  if (name.starts_with(kCgroupPrefix)) profile.cgroups[number(name.substr(kCgroupPrefix.size()))] = value;
}

void append_group(Payload& out, const DrawnGroup& group) {
  append_varint(out, static_cast<std::uint64_t>(group.context) << 1 | (group.pages ? 1 : 0));
  append_varint(out, group.process);
  append_varint(out, group.cgroup);
  append_varint(out, group.call_site);
  append_text(out, group.comm);
  append_text(out, group.cache);
  append_varint(out, group.stack.size());
  for (const std::uint64_t address : group.stack) append_varint(out, address);
  append_varint(out, group.sizes.size());
  for (const DrawnSize& size : group.sizes)
    for (const std::uint64_t value : {size.requested, size.allocated, size.drawn, size.live}) append_varint(out, value);
}

// Reads the number of elements that follow. Throws Error if the rest of the payload is too short for these elements, so
// callers can allocate memory for this number.
std::uint64_t count(PayloadReader& in, std::uint64_t bytes_each) {
  const std::uint64_t count = in.varint();
  if (count > in.remaining() / bytes_each) throw Error("A count in the profile is larger than the profile");
  return count;
}

void spend(std::uint64_t& budget, std::uint64_t bytes) {
  if (bytes > budget) throw Error("The profile is out of proportion to the file's size");
  budget -= bytes;
}

DrawnGroup take_group(PayloadReader& in, std::uint64_t& budget) {
  DrawnGroup group;
  const std::uint64_t kind = in.varint();
  if (kind >> 1 > static_cast<std::uint64_t>(AllocationContext::hardirq))
    throw Error("The profile has an allocation in an unknown context");
  group.pages = (kind & 1) != 0;
  group.context = static_cast<AllocationContext>(kind >> 1);
  group.process = static_cast<std::uint32_t>(in.varint());
  group.cgroup = in.varint();
  group.call_site = in.varint();
  group.comm = in.text();
  group.cache = in.text();
  const std::uint64_t frames = count(in, 1);
  if (frames > kMostFrames) throw Error("A stack of the profile is too deep");
  spend(budget, kGroupBytes + group.comm.size() + group.cache.size() + frames * sizeof(std::uint64_t));
  group.stack.resize(to_size(frames));
  for (std::uint64_t& address : group.stack) address = in.varint();
  const std::uint64_t sizes = count(in, 4);
  if (sizes > kMostSizes) throw Error("Samples of the profile have too many sizes");
  spend(budget, sizes * sizeof(DrawnSize));
  group.sizes.resize(to_size(sizes));
  for (DrawnSize& size : group.sizes) {
    for (std::uint64_t* const value : {&size.requested, &size.allocated, &size.drawn, &size.live}) *value = in.varint();
    if (size.allocated == 0) throw Error("The profile has an empty sample");
  }
  return group;
}

}  // namespace

void write_profile(const std::string& path, const DrawnProfile& profile, const KernelDescription& kernel) {
  TraceDescription description;
  description.kernel = kernel;
  description.uname = uname_of(kernel);
  FileWriter file(path);
  file.append(pack(kFacts, 0, encode_facts(description)));
  file.append(pack_symbols(description));
  const Texts facts = facts_of(profile);
  Payload chunk;
  append_varint(chunk, facts.size());
  for (const auto& [name, value] : facts) append_text(chunk, name), append_text(chunk, value);
  for (const DrawnGroup& group : profile.groups) {
    if (chunk.size() >= kFullChunk) {
      file.append(pack(kProfile, 0, chunk));
      chunk = {0};  // the number of facts in this chunk
    }
    append_group(chunk, group);
  }
  file.append(pack(kProfile, 0, chunk));
  file.finish();
}

void decode_profile(Bytes payload, std::uint64_t& budget, DrawnProfile& profile) {
  PayloadReader in(payload);
  for (std::uint64_t facts = count(in, 2); facts > 0; --facts) {
    const std::string_view name = in.text();
    const std::string_view value = in.text();
    spend(budget, kFactBytes + name.size() + value.size());
    take_fact(name, value, profile);
  }
  while (!in.empty()) profile.groups.push_back(take_group(in, budget));
}

StoredProfile read_profile(const TraceFile& file) {
  Error no_profile("The file is not a heap profile");
  no_profile.at({file.path, {}, {}}).hint("Profiles are written by `kmemtrace profile -o FILE.kmt`");
  if (!is_kmt(file.bytes)) throw no_profile;
  try {
    Findings findings;
    FileContents contents = parse_file(file.bytes, findings);
    if (!findings.kept().empty()) {
      const Finding& first = findings.kept().front();
      throw Error(fmt::format("The file is damaged: {}", describe(first.kind).sentence)).at({{}, {}, first.offset});
    }
    if (contents.profile.empty()) throw no_profile;
    StoredProfile stored;
    std::uint64_t budget = std::max<std::uint64_t>(kMostDecodedBytes, kMostDecodedRatio * file.bytes.size());
    for (const std::vector<std::uint8_t>& chunk : contents.profile) decode_profile(chunk, budget, stored.profile);
    if (stored.profile.mean_bytes == 0) throw Error("The profile does not say how often samples were drawn");
    if (stored.profile.mean_bytes > kMostMeanBytes) throw Error("The profile's samples are too far apart");
    name_machine(contents.description.uname, contents.description.kernel);
    stored.profile.kernel = contents.description.kernel.release;
    stored.kallsyms = std::move(contents.description.kernel.kallsyms).text();
    return stored;
  } catch (Error& error) {
    throw error.at({file.path, {}, {}});
  }
}

}  // namespace kmt::kmt_format
