// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/export/heap_pprof.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "results/group.hpp"
#include "trace/code/function_name.hpp"
#include "views/export/pprof_writer.hpp"

namespace kmt {

namespace {

std::vector<std::string> comments_of(const HeapProfileResult& result) {
  std::vector<std::string> comments = {"kernel " + result.kernel};
  if (!result.selection.empty()) comments.push_back("of " + result.selection);
  const std::pair<const char*, std::uint64_t> lost[] = {
      {"samples lost", result.losses.samples},
      {"frees of samples lost", result.losses.ends},
      {"samples not followed", result.losses.unfollowed},
      {"allocations missed", result.losses.missed},
      {"frees missed", result.losses.missed_frees},
      {"live samples whose address was reused (their free was not traced)", result.replaced}};
  for (const auto& [what, count] : lost)
    if (count > 0) comments.push_back(fmt::format("{}: {}", what, count));
  return comments;
}

}  // namespace

std::string pprof_profile(const HeapProfileResult& result, const SymbolNames& symbols) {
  PprofWriter writer;
  writer.sample_type("alloc_objects", "count");
  writer.sample_type("alloc_space", "bytes");
  writer.sample_type("inuse_objects", "count");
  writer.sample_type("inuse_space", "bytes");
  std::unordered_map<std::uint64_t, std::uint64_t> locations;
  for (const HeapStackRow& row : result.stacks) {
    std::vector<std::uint64_t> stack;
    stack.reserve(row.stack.size());
    for (const std::uint64_t address : row.stack) {
      const auto [at, is_new] = locations.try_emplace(address);
      if (is_new) at->second = writer.location(address, function_of(symbols.name(address)));
      stack.push_back(at->second);
    }
    std::vector<std::int64_t> values;
    for (const Estimate* const estimate :
         {&row.figures.objects, &row.figures.bytes, &row.figures.live_objects, &row.figures.live_bytes})
      values.push_back(static_cast<std::int64_t>(rounded(estimate->value)));
    writer.sample(stack, values,
                  {{PprofWriter::kAllocator, name_of(row.pages ? Allocator::pages : Allocator::slab)},
                   {PprofWriter::kCache, row.cache},
                   {PprofWriter::kComm, row.task},
                   {PprofWriter::kCgroup, row.cgroup},
                   {PprofWriter::kProcess, {}, row.process}});
  }
  writer.comments(comments_of(result));
  writer.time(static_cast<std::int64_t>(result.start_unix_ns), static_cast<std::int64_t>(result.duration_ns));
  writer.period(static_cast<std::int64_t>(result.mean_bytes));
  writer.default_sample_type("inuse_space");
  return writer.finish();
}

}  // namespace kmt
