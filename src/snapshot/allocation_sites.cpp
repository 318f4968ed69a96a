// SPDX-License-Identifier: GPL-2.0-or-later
// Parses sources that list allocation sites: allocinfo, SLUB's traces, page_owner, kmemleak.
#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/parsers.hpp"
#include "trace/code/wrappers.hpp"

namespace kmt {

namespace {

// The largest plausible page order. If the text has a larger order, it is damaged.
constexpr std::uint64_t kMostOrder = 40;

// Returns the frame that stands for a stack: the first one that is neither an allocator nor a helper that allocates for
// its caller. If there is no such frame, returns the first frame.
std::string_view telling_frame(const std::vector<std::string_view>& stack) {
  static const WrapperList wrappers = WrapperList::built_in();
  const auto caller = wrappers.caller(stack);
  return caller != stack.end() ? *caller : stack.empty() ? std::string_view() : stack.front();
}

// Adds up allocations with the same stack, and names the processes with the most allocations.
class ByStack {
 public:
  explicit ByStack(std::vector<AllocationSite>& sites) : sites_(sites) {}

  // Adds objects that were allocated by one stack. `who` is the allocating process, such as "make (pid 12)", or empty
  // if the process is unknown.
  void add(const std::vector<std::string_view>& stack, std::uint64_t count, std::uint64_t bytes,
           const std::string& who = {}) {
    std::string key;
    for (const std::string_view frame : stack) key.append(frame).push_back('\n');
    const auto [found, is_new] = known_.try_emplace(std::move(key), sites_.size());
    if (is_new) {
      AllocationSite& site = sites_.emplace_back();
      site.name = telling_frame(stack);
      site.stack.assign(stack.begin(), stack.end());
    }
    sites_[found->second].count += count;
    sites_[found->second].bytes += bytes;
    if (!who.empty()) counts_[found->second][who] += count;
  }

  void finish() {
    constexpr std::size_t kMost = 3;
    for (const auto& [site, counts] : counts_) {
      std::vector<std::pair<std::string, std::uint64_t>> most(counts.begin(), counts.end());
      std::ranges::stable_sort(most, std::greater(), &std::pair<std::string, std::uint64_t>::second);
      std::string& text = sites_[site].others;
      for (std::size_t i = 0; i < std::min(most.size(), kMost); ++i) text += (i == 0 ? "by " : ", ") + most[i].first;
      if (most.size() > kMost) text += fmt::format(" and {} more", most.size() - kMost);
    }
  }

 private:
  std::vector<AllocationSite>& sites_;
  std::unordered_map<std::string, std::size_t> known_;
  // Key: index of the site. Value: number of allocations by each process.
  std::unordered_map<std::size_t, std::map<std::string, std::uint64_t>> counts_;
};

std::string process_text(std::uint64_t process, std::string_view name) {
  return name.empty() ? fmt::format("pid {}", process) : fmt::format("{} (pid {})", name, process);
}

// Returns the process in a line "…, pid 12, ts 3 ns, …". Linux 5.17 and 5.18 print "pid 12 (make), ts …". Later kernels
// print "pid 13, tgid 12 (make), ts …".
std::string page_owner_in(std::string_view line) {
  for (const std::string_view word : {", tgid ", ", pid "}) {
    const std::size_t at = line.find(word);
    const auto process = at == std::string_view::npos ? std::nullopt : leading_number(line.substr(at + word.size()));
    if (!process) continue;
    const std::size_t begin = line.find(" (", at);
    const std::size_t end = line.rfind("), ts ");
    return process_text(*process, begin == std::string_view::npos || end == std::string_view::npos || begin > end
                                      ? std::string_view()
                                      : line.substr(begin + 2, end - begin - 2));
  }
  return {};
}

// Returns the process in a line of kmemleak: "comm "make", pid 12, jiffies …".
std::string kmemleak_owner_in(std::string_view line) {
  constexpr std::string_view kName = "comm \"";
  constexpr std::string_view kProcess = "\", pid ";
  const std::size_t end = line.rfind(kProcess);
  if (!line.starts_with(kName) || end == std::string_view::npos || end < kName.size()) return {};
  const auto process = leading_number(line.substr(end + kProcess.size()));
  return process ? process_text(*process, line.substr(kName.size(), end - kName.size())) : std::string();
}

// Calls take(lines) for each record. Empty lines separate the records in page_owner and similar files.
template <typename Take>
void each_record(std::string_view text, Take&& take) {
  std::vector<std::string_view> lines;
  each_line(text, [&](std::string_view line) {
    if (!trim(line).empty()) {
      lines.push_back(line);
    } else if (!lines.empty()) {
      take(lines);
      lines.clear();
    }
  });
  if (!lines.empty()) take(lines);
}

// Returns the stack frame in a line. Removes the address that older kernels print before the frame, as in
// "[<ffffffff81164e9a>] do_one+0x12/0x40".
std::string_view frame_in(std::string_view line) {
  const std::string_view text = trim(line);
  const std::size_t end = text.starts_with("[<") ? text.find(">] ") : std::string_view::npos;
  return end == std::string_view::npos ? text : text.substr(end + 3);
}

}  // namespace

// Parses lines such as "     25 do_one+0x12/0x40 [module] waste=400/16 age=1/2/3 pid=1-2 cpus=0". The frames of the
// stack are in the lines after it. Caches without slub_debug=U have the text "No data".
void parse_slab_traces(std::string_view text, std::string_view source, std::vector<AllocationSite>& sites,
                       KernelMemory& memory) {
  AllocationSite* site = nullptr;
  each_line(text, [&](std::string_view line) {
    const std::size_t slash = line.find('/');
    const std::size_t colon = slash == std::string_view::npos ? slash : line.find(':', slash);
    if (colon == std::string_view::npos) {
      if (!line.empty()) keep_unknown(source, line, memory);
      return;
    }
    const std::string_view cache = line.substr(0, slash);
    const std::string_view value = line.substr(colon + 1);
    if (trim(value).empty() || value.starts_with("No data")) {
      site = nullptr;
      return;
    }
    Words words(value);
    const auto count = whole_number(words.next());
    const std::string_view function = words.next();
    if (!count && site != nullptr && site->of == cache) {
      site->stack.emplace_back(trim(value));
      return;
    }
    if (!count || function.empty()) return keep_unknown(source, line, memory);
    site = &sites.emplace_back();
    site->name = function;
    if (words.rest().starts_with('[')) site->name.append(" ").append(words.next());  // name of the module
    site->of = cache;
    site->count = *count;
    site->others = words.rest();
  });
}

// Parses page_owner. A record has the lines "Page allocated via order 2, mask …" and "PFN …". The next lines are the
// frames of the stack, which are indented.
void parse_page_owner(std::string_view text, KernelMemory& memory) {
  ByStack sites(memory.page_owners);
  each_record(text, [&](const std::vector<std::string_view>& lines) {
    constexpr std::string_view kBegin = "Page allocated via order ";
    const auto order =
        lines.front().starts_with(kBegin) ? leading_number(lines.front().substr(kBegin.size())) : std::nullopt;
    if (!order || *order > kMostOrder) return keep_unknown("page_owner", lines.front(), memory);
    std::vector<std::string_view> stack;
    for (const std::string_view line : lines)
      if (line.starts_with(' ')) stack.push_back(frame_in(line));
    const std::uint64_t pages = std::uint64_t{1} << *order;
    sites.add(stack, pages, pages * memory.page_size, page_owner_in(lines.front()));
  });
  sites.finish();
}

// Parses page_owner_stacks. A record has the frames of a stack and the line "nr_base_pages: 16". Before Linux 6.10,
// this line is "stack_count: 16".
void parse_page_owner_stacks(std::string_view text, KernelMemory& memory) {
  ByStack sites(memory.page_owners);
  each_record(text, [&](const std::vector<std::string_view>& lines) {
    std::vector<std::string_view> stack;
    std::optional<std::uint64_t> pages;
    for (const std::string_view line : lines) {
      const std::size_t colon = line.find(": ");
      if (!line.starts_with(' ') && colon != std::string_view::npos)
        pages = whole_number(trim(line.substr(colon + 2)));
      else
        stack.push_back(frame_in(line));
    }
    if (!pages) return keep_unknown("page_owner_stacks", lines.front(), memory);
    sites.add(stack, *pages, *pages * memory.page_size);
  });
}

// Parses kmemleak. A record starts with "unreferenced object 0xffff… (size 32):". Lines about the object and
// "backtrace:" follow. After "backtrace:", each line is a frame such as "[<address>] do_one+0x12/0x40".
void parse_kmemleak(std::string_view text, KernelMemory& memory) {
  ByStack sites(memory.kmemleak);
  std::vector<std::string_view> stack;
  std::optional<std::uint64_t> bytes;
  std::string who;
  bool in_stack = false;
  const auto end_object = [&] {
    if (bytes) sites.add(stack, 1, *bytes, who);
    bytes.reset();
    stack.clear();
    who.clear();
    in_stack = false;
  };
  each_line(text, [&](std::string_view line) {
    if (line.starts_with("unreferenced object")) {
      end_object();
      constexpr std::string_view kSize = "(size ";
      const std::size_t at = line.find(kSize);
      if (at != std::string_view::npos) bytes = leading_number(line.substr(at + kSize.size()));
      if (!bytes) keep_unknown("kmemleak", line, memory);
      return;
    }
    const std::string_view trimmed = trim(line);
    if (trimmed.starts_with("backtrace")) {
      in_stack = true;
    } else if (in_stack && !trimmed.empty()) {
      stack.push_back(frame_in(trimmed));
    } else if (who.empty()) {
      who = kmemleak_owner_in(trimmed);
    }
  });
  end_object();
  sites.finish();
}

}  // namespace kmt
