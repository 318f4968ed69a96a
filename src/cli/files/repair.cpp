// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace repair
#include "formats/kmt/repair.hpp"

#include <cerrno>
#include <filesystem>
#include <memory>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/output.hpp"
#include "formats/kmt/file.hpp"
#include "formats/tracedat/file.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

struct RepairArguments {
  std::string file;
  std::string output;  // path of the repaired file; if empty, the file is repaired in place
};

constexpr std::size_t kPlacesShown = 20;

constexpr const char* kRepairFooter = R"(Examples:
  kmemtrace repair trace.kmt                after the recorder was killed, or the disk was full
  kmemtrace repair damaged.kmt -o good.kmt  keeps the damaged file unchanged

Every intact chunk of the file is kept unchanged. Everything else is dropped, and the index and the trailer are rebuilt.
The repaired file records which parts were dropped, and `kmemtrace check` reports these parts.

If only the end of the file is damaged, only the end is rewritten. Otherwise the repaired trace is written to a new
file, which then replaces FILE.

Exit status:
  0  repaired, or no repair was needed
  2  wrong usage, or the file cannot be read, written or repaired)";

// Refuses a file that a recorder is still writing. Such a file needs no repair, because the recorder writes the index
// at the end. On file systems without leases, a file that is being written cannot be detected.
void refuse_while_written(const std::string& path) {
  const FileDescriptor file = open_file(path, O_RDONLY);
  if (::fcntl(file.get(), F_SETLEASE, F_RDLCK) == 0 || errno != EAGAIN) return;
  throw Error("The file is still being written")
      .at({path, {}, {}})
      .hint("End the recording first, or write the repaired trace elsewhere with -o");
}

void refuse_other_formats(const std::string& path, Bytes file) {
  if (kmt_format::is_kmt(file)) return;
  const bool trace_dat = tracedat::is_trace_dat(file);
  throw Error(trace_dat ? "A trace.dat file cannot be repaired" : "Not a .kmt file")
      .at({path, {}, {}})
      .hint(trace_dat ? "`kmemtrace convert` writes the intact part into a new file"
                      : "Only .kmt files whose first 16 bytes are intact can be repaired");
}

std::string describe(const kmt_format::Repair& repair, const TextStyle& style) {
  std::string out;
  std::string label = "kept";
  for (const auto& stream : repair.streams) {
    const std::string buffer = stream.buffer.empty() ? "" : fmt::format(" of buffer \"{}\"", printable(stream.buffer));
    const std::string until = stream.last_ns ? ", up to " + say_seconds(*stream.last_ns) : "";
    out +=
        labelled(label,
                 fmt::format("cpu {}{}: {} in {}{}", stream.cpu, buffer, say_number_of(stream.events, "event", style),
                             say_number_of(stream.blocks, "block", style), until),
                 style);
    label = "";
  }
  if (repair.streams.empty() && repair.snapshots > 0)
    out += labelled(label, say_number_of(repair.snapshots, "snapshot", style), style);
  label = "left out";
  for (std::size_t i = 0; i < std::min(repair.omitted.size(), kPlacesShown); ++i) {
    const auto& [range, what] = repair.omitted[i];
    out += labelled(
        label, fmt::format("{} at offset {:#x}: {}", say_number_of(range.bytes, "byte", style), range.offset, what),
        style);
    label = "";
  }
  if (repair.omitted.size() > kPlacesShown)
    out += labelled("", fmt::format("{} more places", repair.omitted.size() - kPlacesShown), style);
  if (repair.omitted.empty()) out += labelled(label, "nothing", style);
  return out + labelled("index", repair.lacked_index ? "was missing" : "was present", style);
}

void repair(const RepairArguments& options) {
  std::error_code code;
  const bool in_place = options.output.empty() || std::filesystem::equivalent(options.file, options.output, code);
  if (in_place) refuse_while_written(options.file);
  auto mapping = std::make_unique<const MappedFile>(options.file);
  const Bytes file = mapping->bytes();
  refuse_other_formats(options.file, file);
  try {
    const kmt_format::Repair plan = kmt_format::plan_repair(file);
    if (!plan.readable)
      throw Error(plan.has_trace
                      ? "The description of the machine is damaged, and events cannot be read without it"
                      : "All full snapshots are damaged, and incremental snapshots cannot be read without them")
          .hint("The file is unchanged. Try another copy of it");
    if (!in_place) {
      kmt_format::write_repaired(options.output, file, plan);
    } else if (plan.needed && plan.only_end()) {
      const std::uint64_t size = file.size();
      // unmap the file before it is truncated, because reading mapped pages beyond the end would crash
      mapping.reset();
      kmt_format::repair_in_place(options.file, size, plan);
    } else if (plan.needed) {
      kmt_format::write_repaired(std::filesystem::canonical(options.file), file, plan);
    }
    const std::string name = printable(options.file);
    print_result(plan.needed ? fmt::format("{}: repaired\n", name) + describe(plan, stdout_style({}))
                             : fmt::format("{}: nothing to repair\n", name));
  } catch (Error& error) {
    throw error.at({options.file, {}, {}});
  }
}

}  // namespace

Command repair_command() {
  const auto options = std::make_shared<RepairArguments>();
  Command command{"repair", "Repair a .kmt file that was cut off or damaged.", kRepairFooter,
                  [options](const Command&) {
                    repair(*options);
                    return static_cast<int>(ExitCode::good);
                  }};
  command.argument("FILE", &options->file, "The .kmt file", {.required = true});
  command.option("-o,--output", &options->output, "OUT", "Write the repaired trace here (default: in place)");
  return command;
}

}  // namespace kmt
