// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/output.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/support/interrupt.hpp"
#include "formats/trace_description.hpp"
#include "formats/tracedat/writer.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

Error only_kmt(const char* what) {
  return Error(fmt::format("{} a .kmt", what))
      .hint("Use -o FILE.kmt; `kmemtrace convert` converts the file to trace.dat");
}

// Returns notes about the recorder and its options, which are stored in the trace. docs/formats/kmt.md describes them
// in "Notes".
std::map<std::string, std::string> notes_of_recording(const RecordOptions& options) {
  std::string arguments = try_read_file("/proc/self/cmdline").value_or("");
  if (arguments.ends_with('\0')) arguments.pop_back();
  std::replace(arguments.begin(), arguments.end(), '\0', ' ');
  return {{"recorder", "kmemtrace " KMEMTRACE_VERSION},
          {"arguments", arguments},
          {"command", fmt::format("{}", fmt::join(options.command, " "))}};
}

// Returns the counters of lost events for a file that covers only a part of the recording (flight recorder, rotation).
// Losses that are also marked in buffer pages are left out, because their counters cover the whole recording.
std::string counts_of_part(const std::string& statistics) {
  std::string counts;
  for (const std::string_view line : split(statistics, '\n'))
    if (line.starts_with("commit overrun:") || line.starts_with("dropped events:") || line.starts_with("not recorded:"))
      counts += fmt::format("{}\n", line);
  return counts;
}

// Returns the part of the description that was unknown when the start of the file was written.
TraceDescription description_at_end(const RawRecording& recording, bool whole) {
  TraceDescription end;
  end.kernel.saved_cmdlines = recording.kernel.saved_cmdlines;
  end.kernel.thread_groups = recording.kernel.thread_groups;
  end.kernel.late_notes = recording.kernel.late_notes;
  end.kernel.user_memory = recording.kernel.user_memory;
  for (const RawCpu& cpu : recording.cpus)
    end.cpu_stats.push_back(
        cpu_stats_of(recording.kernel, cpu.cpu, whole ? cpu.statistics : counts_of_part(cpu.statistics)));
  end.cpu_stats.insert(end.cpu_stats.end(), recording.more_statistics.begin(), recording.more_statistics.end());
  return end;
}

// Returns the disk space in bytes that is needed at the end of the recording. A trace.dat needs an extra page for each
// CPU, because it is copied in steps. A .kmt file needs space for blocks that are not written yet and for the chunks at
// the end.
std::uint64_t bytes_at_end(const RecordOptions& options, const KernelDescription& kernel, std::size_t cpus) {
  if (writes_trace_dat(options)) return tracedat::metadata_bytes(kernel) + (18ull << 20);
  return (1ull << 20) + cpus * (1ull << 20);
}

}  // namespace

void Reserve::take(const std::string& directory, std::uint64_t bytes) {
  file_ = unnamed_file(directory);
  const int code = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(bytes));
  if (code != ENOSPC && code != EDQUOT) return;
  throw Error(fmt::format("The disk is full: a recording needs {} to start", humane_bytes(bytes)))
      .hint("Choose another folder with -o")
      .at({directory, {}, {}});
}

RecordOutput::RecordOutput(const RecordOptions& options, const RecordRequest& request)
    : options_(options),
      directory_(request.scratch_directory),
      rotation_(rotation_of(options)),
      flight_(flight_of(options, request.most_buffer_bytes)) {
  if (writes_trace_dat(options) && (rotation_ || flight_)) throw only_kmt("--rotate and --flight need");
  if (writes_trace_dat(options) && options.trigger == "failure") throw only_kmt("--trigger failure needs");
  if (flight_ && flight_->time_ns && request.clock != "x86-tsc" && !ticks_are_ns(request.clock))
    throw Error(fmt::format("--flight T needs a clock in nanoseconds, unlike {}", request.clock))
        .hint("Choose another --clock, or give --flight a size");
  if (writes_trace_dat(options) && request.sample_interval_ns) throw only_kmt("--sample-interval needs");
  if (writes_trace_dat(options) && request.user_stacks)
    say("note: a trace.dat cannot store the mappings of programs, so their stacks have only addresses. Record into "
        "FILE.kmt to get names\n");
  if (!writes_trace_dat(options) && options.version_given)
    throw Error("--file-version applies only to a trace.dat: -o FILE.dat");
}

RecordingSink* RecordOutput::open(KernelDescription& kernel, const std::vector<unsigned>& cpus) {
  reserve_.take(directory_, bytes_at_end(options_, kernel, cpus.size()));
  if (writes_trace_dat(options_)) return nullptr;
  // A copy of the symbols would cost several megabytes, and only the file needs them from here on.
  KallsymsText kallsyms = std::exchange(kernel.kallsyms, {});
  KernelDescription described = kernel;
  described.kallsyms = std::move(kallsyms);
  described.notes.merge(notes_of_recording(options_));
  recording_.emplace(options_.output, std::move(described), cpus, rotation_, flight_);
  return &recording_->encoder();
}

void RecordOutput::add(const StateSample& sample) { recording_->add(sample); }

void RecordOutput::add(UserMemory memory) { recording_->add(std::move(memory)); }

bool RecordOutput::is_one_file() const { return !writes_trace_dat(options_) && !rotation_ && !flight_; }

void RecordOutput::turn(const RecordProgress& progress, const std::function<RawRecording()>& recording) {
  if (!recording_) return;
  const bool is_persistent = !options_.persistent.empty();
  const bool asked = FileRequestGuard::asked();
  if (asked && !is_persistent) recording_->ask_for_file();
  const auto description = [&recording] { return description_at_end(recording(), false); };
  const char* const line_begin = ::isatty(STDERR_FILENO) == 1 ? "\r\x1b[K" : "";
  if (asked && is_persistent) say("{}note: with --persistent, the file is written only at the end\n", line_begin);
  try {
    if (const auto written = recording_->turn(progress.seconds, description); written && flight_)
      say("{}{} has been written\n", line_begin, printable(*written));
  } catch (const Error& error) {
    // a flight recorder continues, because it can still write its events at the end
    if (flight_)
      say("{}warning: cannot write the requested file: {}\n", line_begin, error.what());
    else
      failure_ = error.what();
  }
}

WrittenTrace RecordOutput::finish(RecordOutcome& outcome) {
  reserve_.release();
  if (!outcome.incomplete_marks.empty())
    say("warning: after a crash, names of tasks or functions could have been missing, because the description of the "
        "boot in the buffer was incomplete: {}\n",
        outcome.incomplete_marks);
  WrittenTrace written{options_.output};
  if (recording_) {
    written.path = recording_->finish(description_at_end(outcome.recording, !rotation_ && !flight_));
    written.files = recording_->files_written();
    written.files_removed = recording_->files_removed();
    if (flight_) written.events = recording_->last_file().events;
    if (const std::uint64_t omitted = recording_->last_file().omitted; omitted > 0)
      say("warning: the disk was full, so the oldest {} events in memory are not in the file\n", humane_count(omitted));
    if (flight_ && flight_->time_ns && recording_->was_short_of_memory())
      say("note: {} of memory was too small for the whole time of --flight; raise --max-memory\n",
          humane_bytes(flight_->bytes));
    if (recording_->encoder().damaged_pages() > 0)
      say("warning: {} pages of the ring buffer were damaged\n", recording_->encoder().damaged_pages());
  } else {
    tracedat::write(options_.output, options_.version, outcome.recording, Replaced::kept);
  }
  std::error_code code;
  written.bytes = rotation_ ? recording_->bytes() : fs::file_size(written.path, code);
  return written;
}

std::uint64_t RecordOutput::bytes(const RecordProgress& progress) const {
  return recording_ ? recording_->bytes() : progress.bytes;
}

bool RecordOutput::saw_failed_allocation() const { return recording_ && recording_->encoder().saw_failed_allocation(); }

}  // namespace kmt
