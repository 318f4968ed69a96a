// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/simulation.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/findings.hpp"
#include "views/text/lines.hpp"
#include "views/text/plot.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

std::string plain_size(std::uint64_t bytes) {
  return bytes >= 1024 && bytes % 1024 == 0 ? fmt::format("{}k", bytes / 1024) : fmt::format("{}", bytes);
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + ascii(names[i]);
  return text;
}

// Returns "saves 1.2 MiB (12.3%)" or "costs 312 B (0.1%)".
std::string change(std::uint64_t now, std::uint64_t then, const TextStyle& style) {
  if (now == then) return "saves nothing";
  const std::uint64_t difference = then > now ? then - now : now - then;
  return fmt::format("{} {} ({})", then > now ? "costs" : "saves", say_bytes(difference, style),
                     say_share(difference, now));
}

// Returns a note if the sheaves of a cache can hold as many objects as the error of its prediction.
std::string say_sheaves(const SlabinfoCache& line, const TextStyle& style) {
  const auto [least, most] = std::minmax(line.pages_after, line.pages_predicted);
  return most - least <= line.sheaf_pages
             ? fmt::format(" (its sheaves can hold {})", say_number_of(line.sheaf_pages, "page", style))
             : "";
}

// Returns a note if most frees of a cache have no trace event. The simulation cannot reproduce such a cache.
std::string say_unseen(const SimulationResult& result, const std::string& cache) {
  const auto unseen = std::ranges::find(result.unseen_frees, cache, &UnseenFrees::cache);
  if (unseen == result.unseen_frees.end() || 2 * unseen->objects < unseen->allocations) return {};
  return fmt::format(": {} of its objects were freed on untraced paths",
                     say_share(unseen->objects, unseen->allocations));
}

constexpr std::size_t kShownMismatches = 3;

std::string slabinfo_lines(const SimulationResult& result, const TextStyle& style) {
  if (!result.slabinfo)
    return labelled("slabinfo", "not compared: neither the trace nor --slabinfo has slabinfo from before and after",
                    style);
  const SlabinfoComparison& slabinfo = *result.slabinfo;
  std::string out = labelled(
      "slabinfo",
      fmt::format(
          "{} pages before, {} after, {} predicted; the errors of {} add up to {} pages ({}){}; a prediction of no "
          "change has an error of {}{}",
          say_count(slabinfo.pages_before, style), say_count(slabinfo.pages_after, style),
          say_count(slabinfo.pages_predicted, style),
          say_number_of(slabinfo.caches, slabinfo.by_size ? "object size" : "cache", style),
          say_count(slabinfo.error_pages, style), say_share(slabinfo.error_pages, slabinfo.pages_after),
          slabinfo.error_in_sheaves > 0 ? fmt::format(", of which {} may hold only free objects of sheaves",
                                                      say_count(slabinfo.error_in_sheaves, style))
                                        : "",
          say_count(slabinfo.unchanged_error, style),
          slabinfo.by_size
              ? ". Events of this kernel do not name caches, so caches with objects of equal size are compared as one"
              : ""),
      style);
  for (std::size_t i = 0; i < std::min(slabinfo.lines.size(), kShownMismatches); ++i) {
    const SlabinfoCache& line = slabinfo.lines[i];
    if (line.pages_after == line.pages_predicted) break;
    out += labelled(
        "",
        fmt::format("- {} {} after, not {}{}{}", ascii(line.name), say_number_of(line.pages_after, "page", style),
                    say_count(line.pages_predicted, style), say_sheaves(line, style), say_unseen(result, line.name)),
        style);
  }
  const std::uint64_t same = slabinfo.geometry_compared - slabinfo.geometry_differs.size();
  out += labelled("geometry",
                  fmt::format("objects and pages per slab are as predicted in {} of {}", say_count(same, style),
                              say_number_of(slabinfo.geometry_compared, "cache", style)),
                  style);
  if (slabinfo.not_compared > 0)
    out += labelled(
        "not compared",
        fmt::format("{}: new, or with inconsistent slab figures", say_number_of(slabinfo.not_compared, "cache", style)),
        style);
  return out;
}

std::string model_lines(const SimulationResult& result, const TextStyle& style) {
  std::string classes;
  for (const std::uint64_t bytes : result.classes) classes += (classes.empty() ? "" : ", ") + plain_size(bytes);
  std::string out = "\n" + heading("The model", style);
  out += labelled("SLUB",
                  fmt::format("{}, for {}, {}",
                              result.has_sheaves ? "model of Linux 7.0 to 7.2 (CPUs keep objects in sheaves)"
                                                 : "model of Linux 5.10 to 6.18 (CPUs keep slabs)",
                              result.kernel_known ? "Linux " + ascii(result.trace.kernel)
                                                  : "Linux 6.1, since the trace does not name its kernel",
                              say_number_of(result.trace.cpus, "CPU", style)),
                  style);
  out += labelled("kmalloc", fmt::format("{} (smallest class from {})", classes, result.least_class_from), style);
  if (result.caches_assumed)
    out += labelled(
        "",
        fmt::format("without slabinfo, caches for control groups are assumed to be {}, and random caches to be absent",
                    result.cgroup_caches ? "present" : "absent"),
        style);
  for (const std::string& cache : result.heaps.back().unused_caches)
    out += labelled(
        "no use",
        fmt::format("--cache {}: its requests are larger, fit into smaller classes, or are served by another --cache",
                    ascii(cache)),
        style);
  out += labelled("bytes_alloc",
                  fmt::format("{} of {} as recorded ({})", say_count(result.kmallocs_reproduced, style),
                              say_number_of(result.kmallocs, "kmalloc", style),
                              say_share(result.kmallocs_reproduced, result.kmallocs)),
                  style);
  for (std::size_t i = 0; i < std::min(result.mismatches.size(), kShownMismatches); ++i) {
    const ModelMismatch& mismatch = result.mismatches[i];
    out += labelled(
        "",
        fmt::format("- {} of {} bytes in {}: recorded {}, predicted {}", say_count(mismatch.allocations, style),
                    mismatch.requested, ascii(mismatch.site), mismatch.recorded, mismatch.predicted),
        style);
  }
  return out + slabinfo_lines(result, style);
}

std::string heap_table(const SimulationResult& result, const TextStyle& style) {
  Table table{{{"Memory", true},
               {"Held, average"},
               {"Held, peak"},
               {"Requested", false, 2},
               {"Rounded up", false, 1},
               {"Unused in slabs", false, 1},
               {"Held at the end", false, 3},
               {"Over time", false, 4}},
              {}};
  for (const SimulatedHeap& heap : result.heaps) {
    std::vector<double> held;
    for (const HeldMemory& memory : heap.series) held.push_back(static_cast<double>(memory.held));
    const std::string name =
        heap.allocator == SlabAllocator::slub ? heap.name : fmt::format("{}, {}", heap.name, name_of(heap.allocator));
    table.rows.push_back(
        {{name, say_bytes(heap.average.held, style), say_bytes(heap.peak.held, style),
          say_bytes(heap.peak.requested, style), say_bytes(heap.peak.internal_waste(), style),
          say_bytes(heap.peak.external_waste(), style), say_bytes(heap.end.held, style), sparkline(held, 16, style)},
         false});
  }
  std::string out = "\n" + heading("Memory held for the objects of the trace", style) + to_text(table, style);
  if (result.heaps.size() > 1) {
    const SimulatedHeap& now = result.heaps[0];
    const SimulatedHeap& then = result.heaps[1];
    out += hanging(
        "  ",
        fmt::format("{}: this {} on average and {} at the peak. It {} of all allocated memory.",
                    then.name == "asked for" ? "The requested change" : "All suggestions together",
                    change(now.average.held, then.average.held, style), change(now.peak.held, then.peak.held, style),
                    change(now.bytes_given, then.bytes_given, style)),
        style);
  }
  return out;
}

std::string cache_table(const SimulatedHeap& heap, const SimulationOptions& options, const TextStyle& style) {
  Table table{{{"Cache", true},
               {"Object", false, 1},
               {"A slab", false, 3},
               {"Pages", false, 3},
               {"Allocations", false, 2},
               {"Held, average", false, 1},
               {"Held, peak"},
               {"Requested", false, 4},
               {"Rounded up", false, 2},
               {"Unused in slabs", false, 2},
               {"Partial", false, 5},
               {"CPUs' lists", false, 5}},
              {}};
  const std::size_t shown = options.shown(heap.caches.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SimulatedCache& cache = heap.caches[i];
    const auto number = [&](std::uint64_t value) { return value == 0 ? std::string() : say_count(value, style); };
    table.rows.push_back({{ascii(cache.name), number(cache.object_bytes), number(cache.objects_per_slab),
                           cache.slab_bytes == 0 ? "" : say_bytes(cache.slab_bytes, style),
                           say_count(cache.allocations, style), say_bytes(cache.average.held, style),
                           say_bytes(cache.peak.held, style), say_bytes(cache.peak.requested, style),
                           say_bytes(cache.peak.internal_waste(), style), say_bytes(cache.peak.external_waste(), style),
                           number(cache.partial_slabs), say_bytes(cache.cpu_list_bytes, style)},
                          false});
  }
  const std::string part = shown < heap.caches.size()
                               ? fmt::format("{} of {}", say_count(shown, style), say_count(heap.caches.size(), style))
                               : fmt::format("all {}", say_count(shown, style));
  return "\n" + heading(fmt::format("Caches, {}, by peak, {}", heap.name, part), style) + to_text(table, style);
}

// Returns a phrase about the part of the saving that depends on the per-CPU lists of the new cache.
std::string uncertainty(const CacheSuggestion& suggestion, const TextStyle& style) {
  const std::string lists = say_bytes(suggestion.uncertain_bytes, style);
  const std::uint64_t now = suggestion.average_held;
  const std::uint64_t then = suggestion.average_held_then;
  if (now <= then) return fmt::format("its per-CPU lists may hold up to {} more", lists);
  if (now - then <= suggestion.uncertain_bytes)
    return fmt::format("its per-CPU lists may hold up to {}, so the saving may be zero", lists);
  return fmt::format("up to {} of this saving depends on its per-CPU lists", lists);
}

// Returns a suggestion and its reason, such as "a 640-byte cache for alloc_pipe_info would save 37% of its 205 MB".
std::string suggestion_lines(const CacheSuggestion& suggestion, std::size_t number, const TextStyle& style) {
  const std::uint64_t saved = suggestion.bytes_given - suggestion.bytes_given_then;
  const bool for_all = suggestion.function.empty();
  const std::string what =
      for_all ? fmt::format("a class of {} bytes", suggestion.object_bytes)
              : fmt::format("a {}-byte cache for {}", suggestion.object_bytes, ascii(suggestion.function));
  std::string out = hanging(
      fmt::format("  {}. ", number),
      fmt::format("{} would save {} of {} {} allocated in total", what, say_share(saved, suggestion.bytes_given),
                  for_all ? "the" : "its", say_bytes(suggestion.bytes_given, style)),
      style);
  out += hanging("     ",
                 fmt::format("why: {} for {} to {} bytes get {} bytes from {}{}{}",
                             say_number_of(suggestion.allocations, "request", style), suggestion.above_bytes + 1,
                             suggestion.object_bytes, suggestion.class_bytes, list_of(suggestion.from),
                             suggestion.average_live == 0 ? ""
                                                          : fmt::format(", {} of them live on average",
                                                                        say_count(suggestion.average_live, style)),
                             for_all ? "; mainly from " + list_of(suggestion.sites) : ""),
                 style);
  out += hanging("     ",
                 fmt::format("replay: {} of {} held on average, {} of {} held at the peaks of the caches; {}",
                             change(suggestion.average_held, suggestion.average_held_then, style),
                             say_bytes(suggestion.average_held, style),
                             change(suggestion.peak_held, suggestion.peak_held_then, style),
                             say_bytes(suggestion.peak_held, style), uncertainty(suggestion, style)),
                 style);
  return out;
}

std::string suggestions_section(const SimulationResult& result, const TextStyle& style) {
  if (result.suggestions.empty()) {
    if (!result.candidates) return "";
    const std::string why = *result.candidates == 0
                                ? "no kmalloc request would use much less memory in slabs of its own size"
                                : fmt::format("none of {} that {} replayed saves {} of the memory held on average",
                                              say_number_of(*result.candidates, "candidate", style),
                                              *result.candidates == 1 ? "was" : "were", say_bytes(kLeastSaving, style));
    const std::string others =
        result.suggests_traffic
            ? ""
            : " With --goal given, caches are suggested by all allocations, including memory that is soon freed.";
    return "\n" + hanging("", fmt::format("No new cache or class is suggested: {}.{}", why, others), style);
  }
  std::string out = "\n" + heading(result.suggests_traffic ? "Suggested caches, by allocated memory"
                                                           : "Suggested caches, by average memory saved in replays",
                                   style);
  for (std::size_t i = 0; i < result.suggestions.size(); ++i)
    out += suggestion_lines(result.suggestions[i], i + 1, style);
  return out;
}

std::string uncertain_section(const SimulationResult& result, const TextStyle& style) {
  std::string out;
  if (result.older_frees > 0)
    out += labelled(
        "older",
        fmt::format(
            "{} of objects from before the trace: memory that was live at its start is not included in held memory",
            say_number_of(result.older_frees, "free", style)),
        style);
  if (!result.unseen_frees.empty()) {
    const UnseenFrees& most = result.unseen_frees.front();
    out +=
        labelled("given again",
                 fmt::format("{} ended when their address was reused: their frees were not traced, so they may have "
                             "looked live long after their end; {} of them are from {}",
                             say_number_of(sum_of_objects(result.unseen_frees), "object", style),
                             say_count(most.objects, style), most.cache.empty() ? "unnamed caches" : ascii(most.cache)),
                 style);
  }
  if (result.trace.lost_events > 0 || !result.trace.loss_known)
    out += labelled("lost",
                    fmt::format("{}: objects may be missing or seem to live longer",
                                result.trace.lost_events > 0 ? say_number_of(result.trace.lost_events, "event", style)
                                                             : std::string("an unknown number of events")),
                    style);
  if (result.unnamed_objects > 0)
    out += labelled("unnamed",
                    fmt::format("{} in caches whose names are unknown: all such objects of one size are treated as one "
                                "cache",
                                say_number_of(result.unnamed_objects, "object", style)),
                    style);
  std::uint64_t lists = 0;
  for (const SimulatedCache& cache : result.heaps.front().caches)
    lists += std::min(cache.cpu_list_bytes, cache.peak.held);
  if (lists > 0)
    out += labelled(
        "CPUs' lists",
        fmt::format("the models start with empty lists; up to {} of the peaks may have been held before the trace",
                    say_bytes(lists, style)),
        style);
  return out.empty() ? out : "\n" + heading("Uncertain", style) + out;
}

}  // namespace

std::string text_simulation(const SimulationResult& result, const SimulationOptions& options, const TextStyle& style) {
  std::string out = trace_lines(result.trace, say_count(result.trace.events, style), style);
  const std::string found = anomaly_section({}, result.findings, may_lack_events(result.trace), style);
  const SimulatedHeap& recorded = result.heaps.front();
  if (recorded.allocations == 0)
    return out + "\n" +
           hanging("",
                   result.trace.complete ? "Nothing to simulate: this trace has no allocations of slab objects."
                                         : "Nothing was simulated, because Ctrl+C was pressed before the replay.",
                   style) +
           found;
  out += model_lines(result, style) + heap_table(result, style);
  out +=
      cache_table(result.heaps.size() > 1 && result.suggestions.empty() ? result.heaps[1] : recorded, options, style);
  return out + suggestions_section(result, style) + uncertain_section(result, style) + found;
}

}  // namespace kmt
