// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace convert
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "anonymise/records.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/files/anonymise_snapshots.hpp"
#include "cli/input/given_symbols.hpp"
#include "cli/input/reading.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/say.hpp"
#include "formats/ctf/records.hpp"
#include "formats/kmt/packed_block.hpp"
#include "formats/kmt/records.hpp"
#include "formats/registry.hpp"
#include "formats/tracedat/records.hpp"
#include "reading/snapshots.hpp"
#include "reading/standard_input.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

struct ConvertArguments {
  std::string input;
  std::string output;
  std::string abi;
  unsigned version = 7;
  bool anonymise = false;
  bool archive = false;
  std::string key_file;
  std::string kallsyms;

  bool from_standard_input() const { return input == "-"; }
  std::string input_name() const { return from_standard_input() ? standard_input().path : printable(input); }
};

constexpr const char* kConvertFooter = R"(Examples:
  kmemtrace convert trace.dat small.kmt     a few bytes per event; needs no other file
  kmemtrace convert small.kmt again.dat     for trace-cmd and KernelShark
  kmemtrace convert --archive a.kmt b.kmt   for a trace that is kept for a long time
  kmemtrace convert perf.data small.kmt     output of perf record, see docs/formats/perf-data.md
  ssh host cat trace.dat | kmemtrace convert - small.kmt
  kmemtrace convert capture/ old.kmt        the relay files cpu0.out, cpu1.out, … of 2008, in a folder
  kmemtrace convert small.kmt trace.ctf     a folder, for babeltrace2 and Trace Compass
  kmemtrace convert --anonymise mine.kmt to-share.kmt

The input is recognised by its content. The extension of the output selects its format: .kmt, .dat or .ctf. Every event
is kept, including events that are not kmem events. Padding between the fields of a record becomes zero. Records in
relay files are converted to current kmem events.

The output of --anonymise can be shared. The option replaces the names of tasks, programs, cgroups and the host, and the
addresses of memory and code. Names of functions and slab caches, and sizes, are kept. Reports differ only in the
replaced names. A perf.data has no function names. They are read from --kallsyms, or from the running kernel if it is
the traced kernel. Without these sources, the names are lost. Other fields that may be private, such as call arguments,
become blank, and a note lists them. A .kmt file with only snapshots can also be anonymised.

Exit status:
  0  converted; a note lists samples and recorder's notes that a trace.dat cannot store
  1  converted with losses: the input is damaged and only its intact part was
     converted, or a warning lists data that the output format cannot store
  2  wrong usage, or a file cannot be read or written)";

// Prints damage of the input in the format of `check`, and then the data that the conversion loses. Returns true if the
// input is damaged.
bool print_damage(const ConvertArguments& options, const Findings& findings) {
  bool damaged = false;
  for (const Finding& finding : findings.kept()) {
    if (describe(finding.kind).severity != Severity::error) continue;
    damaged = true;
    say("warning: {}: {}{}{}\n", to_string(Place{options.input_name(), finding.cpu, finding.offset}),
        describe(finding.kind).sentence, finding.detail.empty() ? "" : ": ", finding.detail);
  }
  for (const Imperfection kind :
       {Imperfection::missing_cpu, Imperfection::interrupted_recording, Imperfection::cut_off_cpu,
        Imperfection::unknown_loss, Imperfection::repaired_file, Imperfection::sampled_events, Imperfection::late_event,
        Imperfection::unwritten_event})
    if (const std::uint64_t count = findings.count_of(kind); count > 0)
      say("note: {}: {} (found {} time{})\n", options.input_name(), describe(kind).sentence, humane_count(count),
          count == 1 ? "" : "s");
  return damaged;
}

template <typename Names>
std::string listed(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text;
}

void print_left_out(const ConvertArguments& options, const Omitted& omitted) {
  if (!omitted.fields.empty())
    say("note: {}: blanked event fields: {}\n", options.input_name(), listed(omitted.fields));
  if (omitted.events > 0)
    say("note: {}: {} unreadable events were dropped\n", options.input_name(), humane_count(omitted.events));
  if (!omitted.texts.empty())
    say("note: {}: dropped from the description of the machine: {}\n", options.input_name(), listed(omitted.texts));
}

PseudonymKey key_for(const ConvertArguments& options) {
  if (options.key_file.empty()) return random_key();
  constexpr std::size_t kLeastBytes = 16;
  std::error_code code;
  if (!fs::is_regular_file(options.key_file, code))  // the key must be a regular file, because a device may be endless
    throw Error(fmt::format("The key {} is not a file", printable(options.key_file)))
        .hint("Make one:  head -c 32 /dev/urandom > KEY");
  const std::string secret = read_file(options.key_file);
  if (secret.size() < kLeastBytes)
    throw Error(
        fmt::format("The key {} has only {} bytes and could be guessed", printable(options.key_file), secret.size()))
        .hint("Make one:  head -c 32 /dev/urandom > KEY");
  return key_of(secret);
}

// Returns the size of a file, or the total size of all files in a folder.
std::uintmax_t bytes_of(const fs::path& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) return fs::is_regular_file(path, code) ? fs::file_size(path, code) : 0;
  std::uintmax_t bytes = 0;
  for (const std::string& file : files_below(path)) bytes += fs::file_size(file, code);
  return bytes;
}

void read_input(const ConvertArguments& options, RecordSink& sink, Findings& findings) {
  const OpenOptions opening{{}, {}, options.abi};
  if (options.from_standard_input())
    read_records(standard_input(), opening, sink, findings);
  else
    read_records(options.input, opening, sink, findings);
}

void read_with_symbols(const ConvertArguments& options, RecordSink& sink, Findings& findings) {
  KernelSymbolFiles files;
  files.kallsyms = options.kallsyms;
  GivenSymbols with_symbols(files, options.input_name(), sink);
  read_input(options, with_symbols, findings);
}

template <typename Writer>
void write_records(const ConvertArguments& options, Writer&& writer, Findings& findings) {
  if (options.anonymise) {
    RecordAnonymiser anonymiser(key_for(options), writer);
    read_with_symbols(options, anonymiser, findings);
    print_left_out(options, anonymiser.omitted());
  } else if (!options.kallsyms.empty()) {
    read_with_symbols(options, writer, findings);
  } else {
    read_input(options, writer, findings);
  }
  writer.finish();
}

void write_trace_dat(const ConvertArguments& options, Findings& findings) {
  tracedat::RecordWriter writer(options.output, options.version, findings);
  write_records(options, writer, findings);
  for (const std::string& part : writer.not_stored())
    say("note: {}: a trace.dat cannot store {}\n", options.input_name(), part);
}

bool convert(const ConvertArguments& options) {
  std::error_code code;
  if (!options.from_standard_input() && fs::equivalent(options.input, options.output, code))
    throw Error("Input and output are the same file").hint("Choose another name for the output");

  Findings findings;
  const std::string extension = fs::path(options.output).extension();
  if (options.archive && extension != ".kmt")
    throw Error("--archive needs an output in the format .kmt").hint("Name the output *.kmt");
  if (options.anonymise && extension == ".kmt" && !options.from_standard_input() && is_snapshot_file(options.input)) {
    if (options.archive) throw Error("--archive applies only to traces, not to snapshots").hint("Omit --archive");
    Omitted omitted;
    omitted.texts = anonymise_snapshots(options.input, options.output, key_for(options));
    print_left_out(options, omitted);
    return false;
  }
  try {
    if (extension == ".kmt")
      write_records(options,
                    kmt_format::RecordWriter(options.output, findings,
                                             options.archive ? kmt_format::kForArchive : kmt_format::kForRecording),
                    findings);
    else if (extension == ".dat")
      write_trace_dat(options, findings);
    else if (extension == ".ctf")
      write_records(options, ctf::RecordWriter(options.output, findings), findings);
    else
      throw Error("Unknown output format: name it *.kmt, *.dat or *.ctf");
  } catch (Error& error) {
    throw error.context(fmt::format("Converting {} to {}", options.input_name(), printable(options.output)));
  }
  const std::uintmax_t read = options.from_standard_input() ? standard_input().bytes.size() : bytes_of(options.input);
  say("{}: {}, {}: {}\n", options.input_name(), humane_bytes(read), printable(options.output),
      humane_bytes(bytes_of(options.output)));
  return print_damage(options, findings);
}

}  // namespace

Command convert_command() {
  const auto options = std::make_shared<ConvertArguments>();
  Command command{"convert", "Convert a trace to .kmt, trace.dat or CTF.", kConvertFooter, [options](const Command&) {
                    return static_cast<int>(convert(*options) ? ExitCode::found : ExitCode::good);
                  }};
  command.argument("INPUT", &options->input, "The trace to convert; - is standard input", {.required = true});
  command.argument("OUTPUT", &options->output, "The file (.kmt or .dat) or folder (.ctf) to write", {.required = true});
  add_abi_option(command, options->abi);
  command.option("--file-version", &options->version, "N", "Write trace.dat version N: 6 or 7 (default: 7)",
                 {.words = {"6", "7"}});
  command.flag(
      "--archive", &options->archive,
      "Write a smaller .kmt (default: compress as fast as in a recording)\nWriting takes about 10 times as long, and "
      "reading takes the same time. A damaged block loses more events: up to a million. OUTPUT must end in .kmt.");
  command.flag("--anonymise", &options->anonymise, "Replace addresses and the names of tasks, cgroups and the host");
  command.option("--key", &options->key_file, "FILE",
                 "Derive the replacements from FILE, so that traces anonymised with the same FILE can be compared",
                 {.needs = {"--anonymise"}});
  command.option("--kallsyms", &options->kallsyms, "FILE",
                 "Add the kernel symbols in FILE, a copy of /proc/kallsyms, to the output\nThis is for traces without "
                 "symbols, such as perf.data. With --anonymise, the default is the symbols of the running kernel if "
                 "its build ID matches the trace, because functions cannot be named after addresses are replaced.");
  return command;
}

}  // namespace kmt
