// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/snapshot/objects.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "views/common/object_commands.hpp"
#include "views/common/object_words.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

std::string structure_cell(const StructureGuess& guess) {
  if (guess.name.empty()) return "?";
  return fmt::format("{} ({})", ascii(guess.name), text_of(guess.confidence));
}

std::string kinds_table(const CacheKinds& cache, std::size_t shown, const TextStyle& style) {
  Table table{{{"Kind", true},
               {"Share"},
               {"Objects"},
               {"Bytes"},
               {"Structure", true, 1},
               {"Module", true, 0, true},
               {"Module from", true, 3}},
              {}};
  for (std::size_t i = 0; i < shown; ++i) {
    const SlabKind& kind = cache.kinds[i];
    table.rows.push_back(
        {{ascii(name_of(kind)), fmt::format("{:.1f}%", 100 * kind.share), say_count(kind.objects, style),
          say_bytes(kind.bytes, style), structure_cell(kind.structure), kind.module.empty() ? "?" : ascii(kind.module),
          kind.module.empty() ? "" : std::string(text_of(kind.module_source))}});
  }
  return to_text(table, style);
}

std::string kind_lines(const CacheKinds& cache, const SlabKind& kind, const TextStyle& style) {
  constexpr std::size_t kMostMembers = 8;
  std::vector<std::string> members;
  const std::size_t shown = style.raw ? kind.members.size() : std::min(kMostMembers, kind.members.size());
  for (std::size_t i = 0; i < shown; ++i)
    members.push_back(fmt::format("{} at {}", ascii(words_of(kind.members[i].target)), kind.members[i].offset));
  if (shown < kind.members.size()) members.push_back(fmt::format("{} more", kind.members.size() - shown));
  std::string out = "  " + ascii(name_of(kind)) + "\n";
  if (!members.empty()) out += hanging("    has    ", fmt::format("{}", fmt::join(members, ", ")), style);
  for (const std::uint64_t address : kind.addresses) {
    out += "    drgn   " + ascii(drgn_command(kind, address)) + "\n";
    out += "    crash  " + ascii(crash_command(kind, cache.object_size, address)) + "\n";
  }
  return out;
}

std::string cache_text(const CacheKinds& cache, ReadingEnd end, const SnapshotOptions& options,
                       const TextStyle& style) {
  const std::string size = say_bytes(cache.slot_size, style);
  const std::string number = cache.objects ? fmt::format("{} of {} each, {}", say_count(*cache.objects, style), size,
                                                         say_bytes(*cache.bytes, style))
                                           : fmt::format("unknown number, {} each", size);
  std::string out = heading(fmt::format("Live objects of {}: {}", ascii(cache.cache), number), style);
  if (!cache.aliases.empty())
    out +=
        hanging("  ", fmt::format("The kernel merged these caches into it: {}", ascii(first_of(cache.aliases))), style);
  out += hanging(
      "  ",
      fmt::format("Estimated from {} in {} of {} that were found.", say_number_of(cache.sampled, "object", style),
                  say_count(cache.slabs_read, style), say_number_of(cache.slabs_found, "slab", style)),
      style);
  for (const std::string& note : notes_of(cache, end)) out += hanging("  ", printable(note), style);
  if (!cache.objects) return out + "  No slab of this cache was read, so its objects are unknown.\n";
  if (cache.kinds.empty()) return out + "  No live objects were found.\n";
  const std::size_t shown = options.shown(cache.kinds.size());
  out += kinds_table(cache, shown, style);
  if (shown < cache.kinds.size())
    out += fmt::format("  {} more; --limit 0 shows all\n", say_number_of(cache.kinds.size() - shown, "kind", style));
  out += "\n" + heading("How to inspect objects of each kind", style);
  for (std::size_t i = 0; i < shown; ++i) out += kind_lines(cache, cache.kinds[i], style);
  return out;
}

}  // namespace

std::string text_objects(const ObjectsReport& report, const SnapshotOptions& options, const TextStyle& style) {
  std::string out;
  for (const CacheKinds& cache : report.caches)
    out += (out.empty() ? "" : "\n") + cache_text(cache, report.end, options, style);
  out += "\n" +
         hanging("  ",
                 fmt::format("Read {} of the kernel's memory in {} (limits: {} of memory, {} of each cache).",
                             say_bytes(report.bytes_read, style), say_duration(report.elapsed_ns, style),
                             say_bytes(report.most_bytes, style), say_number_of(report.most_objects, "object", style)),
                 style);
  return out;
}

}  // namespace kmt
