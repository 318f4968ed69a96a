// SPDX-License-Identifier: GPL-2.0-or-later
// Tests arguments and results in `graph`, for every byte order and word size. The traces are a trace.dat like that of
// trace-cmd with funcgraph-args, and a .kmt with kmemtrace's own events.
#include <algorithm>
#include <filesystem>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "analysis/calls/graph.hpp"
#include "analysis/report/event_stream.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/kmt/description.hpp"
#include "formats/kmt/records.hpp"
#include "formats/registry.hpp"
#include "support/made_types.hpp"
#include "support/trace_dat_builder.hpp"
#include "symbols/btf.hpp"
#include "symbols/call_type_source.hpp"
#include "symbols/value_paths.hpp"
#include "trace/calls/records.hpp"
#include "views/json/graph.hpp"
#include "views/text/graph.hpp"

namespace kmt {
namespace {

using namespace test;

constexpr Machine kMachines[] = {
    {ByteOrder::little, 8}, {ByteOrder::little, 4}, {ByteOrder::big, 8}, {ByteOrder::big, 4}};
constexpr std::uint64_t kReadFile = 0xC0001000, kForget = 0xC0002000, kCount = 0xC0003000, kUntyped = 0xC0004000;
constexpr std::uint16_t kEntry = 101, kExit = 102, kOwnEntry = 103, kOwnExit = 104;

class Names : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override {
    if (address == kReadFile) return "read_file+0x4";
    if (address == kForget) return "forget [files]";
    return address == kCount ? "count" : "read_file.cold";
  }
};

std::string call_format(const char* name, unsigned id,
                        const std::vector<std::tuple<const char*, std::size_t, std::size_t>>& fields) {
  std::string text = fmt::format("name: {}\nID: {}\nformat:\n", name, id);
  text += "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
  text += "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n";
  text += "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n";
  text += "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
  for (const auto& [declaration, offset, size] : fields)
    text += fmt::format("\tfield:{};\toffset:{};\tsize:{};\tsigned:0;\n", declaration, offset, size);
  return text + "\nprint fmt: \"\"\n";
}

std::vector<std::pair<std::string, std::string>> formats(Machine machine) {
  const std::size_t word = machine.long_bytes;
  return {{"ftrace", call_format("funcgraph_entry", kEntry,
                                 {{"unsigned long func", 8, word},
                                  {"unsigned long depth", 8 + word, word},
                                  {"unsigned long args[]", 8 + 2 * word, 0}})},
          {"ftrace", call_format("funcgraph_exit", kExit,
                                 {{"unsigned long func", 8, word},
                                  {"unsigned long retval", 8 + word, word},
                                  {"unsigned long depth", 8 + 2 * word, word},
                                  {"unsigned long long calltime", 8 + 4 * word, 8},
                                  {"unsigned long long rettime", 16 + 4 * word, 8}})},
          {"kmemtrace", call_format("call_entry", kOwnEntry,
                                    {{"unsigned long func", 8, word},
                                     {"unsigned int depth", 8 + word, 4},
                                     {"unsigned long args[6]", 16 + word, 6 * word},
                                     {"__data_loc char[] values", 16 + 7 * word, 4}})},
          {"kmemtrace", call_format("call_exit", kOwnExit,
                                    {{"unsigned long func", 8, word},
                                     {"unsigned int depth", 8 + word, 4},
                                     {"unsigned long long calltime", 16 + word, 8},
                                     {"unsigned long long rettime", 24 + word, 8},
                                     {"unsigned long retval", 32 + word, word},
                                     {"__data_loc char[] late", 32 + 2 * word, 4}})}};
}

class Calls {
 public:
  explicit Calls(Machine machine) : machine_(machine), page_(machine, 1000) {}

  void enter(std::uint64_t function, unsigned depth, const std::vector<std::uint64_t>& registers) {
    ByteBuilder record = common(kEntry).word(function).word(depth);
    for (const std::uint64_t value : registers) record.word(value);
    page_.record(10, record.get());
  }
  void leave(std::uint64_t function, unsigned depth, std::uint64_t value) {
    ByteBuilder record = common(kExit).word(function).word(value).word(depth);
    page_.record(10, record.pad_to(8 + 4 * machine_.long_bytes).u64(5000).u64(5700).get());
  }
  void enter_own(std::uint64_t function, std::vector<std::uint64_t> registers,
                 const std::vector<std::uint8_t>& values) {
    ByteBuilder record = common(kOwnEntry).word(function).u32(0);
    record.pad_to(16 + machine_.long_bytes);
    registers.resize(6);
    for (const std::uint64_t value : registers) record.word(value);
    const auto after = static_cast<std::uint32_t>(record.size() + 4);
    record.u32(static_cast<std::uint32_t>(values.size()) << 16 | after).bytes(values);
    page_.record(10, record.align(4).get());
  }
  void leave_own(std::uint64_t function, std::uint64_t value, const std::vector<std::uint8_t>& late = {}) {
    ByteBuilder record = common(kOwnExit).word(function).u32(0);
    record.pad_to(16 + machine_.long_bytes).u64(5000).u64(5700).word(value);
    const auto after = static_cast<std::uint32_t>(record.size() + 4);
    record.u32(static_cast<std::uint32_t>(late.size()) << 16 | after).bytes(late);
    page_.record(10, record.align(4).get());
  }

  TraceDat trace(bool with_types) const {
    TraceDat dat;
    dat.machine = machine_;
    dat.formats = formats(machine_);
    if (with_types) dat.btf = MadeFiles(machine_).bytes;
    dat.cpus = {{page_.build()}};
    return dat;
  }

 private:
  ByteBuilder common(std::uint16_t id) const { return ByteBuilder(machine_).u16(id).u16(0).u32(7); }

  Machine machine_;
  PageBuilder page_;
};

struct Wanted {
  std::vector<std::string> where = {};
  bool errors_only = false;
  bool arguments = true;
};

CallGraphResult graph_of(const TraceFile& file, const Wanted& wanted = {}) {
  OpenOptions opening;
  opening.call_records = true;
  const std::unique_ptr<Source> source = open_trace(file, opening);
  const CallTypeSource types(source->info(), "");
  CallGraphRequest request;
  for (const std::string& condition : wanted.where) request.where.push_back(parse_call_condition(condition));
  request.errors_only = wanted.errors_only;
  request.arguments = wanted.arguments;
  const Names names;
  request.signatures = types.signatures();
  CallGraph graph(source->info(), names, request);
  const ReportRequest all;
  EventStream stream(source->info(), names, all, graph);
  for (EventBatch batch; source->read(batch);) stream.add(batch);
  stream.finish(true);
  EXPECT_EQ(source->info().calls.records->held(), 0u);
  return graph.take();
}

GraphOptions view() {
  GraphOptions options;
  options.sort = &graph_function_columns().front();
  options.arguments = options.return_values = true;
  return options;
}

// Returns the lines of the graph without the columns before the bar ("|").
std::vector<std::string> lines_of(const CallGraphResult& result) {
  const std::string text = text_graph(result, view(), {});
  std::vector<std::string> lines;
  for (std::size_t at = text.find("|  "); at != std::string::npos; at = text.find("|  ", at + 1))
    lines.push_back(text.substr(at + 3, text.find('\n', at) - at - 3));
  return lines;
}

using Lines = std::vector<std::string>;

Calls some_calls(Machine machine) {
  Calls calls(machine);
  const std::uint64_t error = machine.long_bytes == 8 ? ~std::uint64_t{21} : 0xFFFFFFEA;  // -22
  calls.enter(kReadFile, 0, {0xC0ABC000, 0xC0DEF000, 4096, 0x255, 1, 7});
  calls.enter(kCount, 1, {});
  calls.leave(kCount, 1, 3);
  calls.leave(kReadFile, 0, error);
  calls.enter(kForget, 0, {1000});
  calls.leave(kForget, 0, error);
  calls.enter(kReadFile, 0, {0, 0, 8, 2, 0, 6});
  calls.leave(kReadFile, 0, 8);
  calls.enter(kUntyped, 0, {1, 2, 3});
  calls.leave(kUntyped, 0, error);
  return calls;
}

TEST(TypedGraph, ShowsArgumentsOfFtrace) {
  for (const Machine machine : kMachines) {
    const std::vector<std::uint8_t> bytes = some_calls(machine).trace(true).version_7();
    const TraceFile file{"made", bytes, nullptr};
    const std::string first =
        "read_file(file=0xc0abc000, name=0xc0def000, count=4096, flags=0x255, sync=true, mode=FAST) = -22 (EINVAL) {";
    const std::string third = "read_file(file=NULL, name=NULL, count=8, flags=2, sync=false, mode=6) = 8;";
    const char* const id = machine.order == ByteOrder::little ? "{val=1000}" : "(STRUCT)[0x3e8]";
    EXPECT_EQ(lines_of(graph_of(file)),
              (Lines{first, "  count() = 3;", "}",
                     fmt::format("forget [files](id={}, offset=(not recorded), level=(not recorded), "
                                 "call=(not recorded), ...);",
                                 id),
                     third, "read_file.cold(); /* = -22 (EINVAL) */"}));
    EXPECT_EQ(lines_of(graph_of(file, {{"count>=4096", "sync==true"}})), (Lines{first, "  count() = 3;", "}"}));
    EXPECT_EQ(lines_of(graph_of(file, {{"mode!=FAST"}, false, false})), (Lines{"read_file() = 8;"}));
    EXPECT_EQ(lines_of(graph_of(file, {{}, true})),
              (Lines{first.substr(0, first.size() - 2) + " { ... }", "read_file.cold(); /* = -22 (EINVAL) */"}));
    for (const char* const wrong : {"mood==FAST", "mode==SLWO", "count==foo", "file==\"etc\"", "sync&1"})
      EXPECT_THROW(graph_of(file, {{wrong}}), Error) << wrong;
    // Calls that are selected by their results must be shown without their callees.
    const Lines failed = {first.substr(0, first.size() - 2) + " { ... }", "read_file.cold(); /* = -22 (EINVAL) */"};
    EXPECT_EQ(lines_of(graph_of(file, {{"ret<0"}})), failed);
    EXPECT_EQ(lines_of(graph_of(file, {{"ret==-EINVAL"}})), failed);
    EXPECT_EQ(lines_of(graph_of(file, {{"ret==-22", "count>5"}})), (Lines{failed[0]}));
    EXPECT_EQ(lines_of(graph_of(file, {{"ret==8"}})), (Lines{third}));
    EXPECT_EQ(lines_of(graph_of(file, {{"ret==-ENOENT"}})), Lines{});
  }
}

TEST(TypedGraph, WithoutTypesNumbersAreShown) {
  const std::vector<std::uint8_t> bytes = some_calls({}).trace(false).version_7();
  const TraceFile file{"made", bytes, nullptr};
  const CallGraphResult result = graph_of(file);
  EXPECT_TRUE(result.has_arguments);
  EXPECT_FALSE(result.has_types);
  EXPECT_EQ(lines_of(result), (Lines{"read_file() {", "  count(); /* = 0x3 */", "} /* read_file: = -22 (EINVAL) */",
                                     "forget [files](); /* = -22 (EINVAL) */", "read_file(); /* = 0x8 */",
                                     "read_file.cold(); /* = -22 (EINVAL) */"}));
  EXPECT_THROW(graph_of(file, {{"count==8"}}), Error);

  // Damaged types must be reported, and must not affect other data.
  TraceDat dat = some_calls({}).trace(true);
  dat.btf.resize(dat.btf.size() - 1);
  const std::vector<std::uint8_t> damaged = dat.version_7();
  const auto source = open_trace(TraceFile{"made", damaged, nullptr});
  const CallTypeSource types(source->info(), "");
  EXPECT_EQ(types.signatures(), nullptr);
  EXPECT_EQ(types.findings().count_of(Imperfection::damaged_section), 1u);
  EXPECT_THROW(CallTypeSource(source->info(), "no such file"), Error) << "types are requested but missing";
  dat.btf = {1, 2, 3};
  const std::vector<std::uint8_t> none = dat.version_7();
  EXPECT_EQ(open_trace(TraceFile{"made", none, nullptr})->info().findings.count_of(Imperfection::damaged_section), 1u);
}

TEST(TypedGraph, TypesInTheTraceArePreferred) {
  const std::vector<std::uint8_t> bytes = some_calls({}).trace(true).version_7();
  const auto source = open_trace(TraceFile{"made", bytes, nullptr});
  const CallTypeSource types(source->info(), "no such file");
  EXPECT_FALSE(types.is_of_file());
  ASSERT_NE(types.signatures(), nullptr);
  EXPECT_TRUE(types.signatures()->signature("read_file"));
}

// Passes records on like a converter of trace formats. Adds a description of values that a recorder reads from memory.
class WithValues : public RecordSink {
 public:
  WithValues(RecordSink& next, std::vector<RecordedFunction> functions)
      : next_(next), functions_(std::move(functions)) {}
  void describe(const TraceDescription& description) override {
    TraceDescription more = description;
    more.kernel.call_types.functions = functions_;
    next_.describe(more);
  }
  void begin_stream(const RecordStream& stream) override { next_.begin_stream(stream); }
  void record(std::uint64_t ticks, Bytes record) override { next_.record(ticks, record); }
  void lost(std::optional<std::uint64_t> count) override { next_.lost(count); }
  void end_stream() override { next_.end_stream(); }

 private:
  RecordSink& next_;
  std::vector<RecordedFunction> functions_;
};

TEST(TypedGraph, OwnEventsAreReadFromAFile) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("typed_graph.{}", ::getpid());
  std::filesystem::create_directory(folder);
  const std::string path = folder / "calls.kmt";
  const std::string again = folder / "again.kmt";
  for (const Machine machine : kMachines) {
    Calls calls(machine);
    ByteBuilder values(machine);
    values.u16(3)
        .text("etc")
        .u16(4)
        .u8(machine.order == ByteOrder::big ? 0xA9 : 9 << 3 | 5)
        .u8(0)
        .u8(0)
        .u8(0)
        .u16(0xFFFF);
    calls.enter_own(kReadFile, {0xC0ABC000, 0xC0DEF000, 4096, 0x255, 1, 7}, values.get());
    calls.leave_own(kReadFile, 4096);
    calls.enter_own(kReadFile, {0xC0ABC000, 0, 1, 2, 0, 7}, {});
    calls.leave_own(kReadFile, 1, ByteBuilder(machine).u16(0).u16(3).text("usr").get());
    const std::vector<std::uint8_t> bytes = calls.trace(true).version_7();
    const Btf btf(MadeFiles(machine).bytes);
    const CallAbi abi{machine.order, 8 * machine.long_bytes, ""};
    const ResolvedValue level = resolve_value(btf, abi, "read_file", "file->level");
    const std::vector<RecordedFunction> functions = {
        {"read_file",
         {{"name", true}, {"file->level", false, level.type, level.bit_shift, level.bits}, {"file->comm", true}}}};
    Findings findings;
    kmt_format::RecordWriter writer(path, findings);
    WithValues sink(writer, functions);
    read_records(TraceFile{"made", bytes, nullptr}, {}, sink, findings);
    writer.finish();
    kmt_format::RecordWriter copy(again, findings);  // a conversion keeps types and values
    read_records(path, {}, copy, findings);
    copy.finish();

    for (const std::string& file : {path, again}) {
      const std::shared_ptr<const MappedFile> mapping = std::make_shared<MappedFile>(file);
      const TraceFile trace{file, mapping->bytes(), mapping};
      const Lines lines = lines_of(graph_of(trace));
      ASSERT_EQ(lines.size(), 2u);
      EXPECT_EQ(lines[0],
                "read_file(file=0xc0abc000, name=\"etc\", count=4096, flags=0x255, sync=true, mode=FAST, "
                "file->level=9, file->comm=? (unreadable)) = 4096;");
      EXPECT_EQ(lines[1],
                "read_file(file=0xc0abc000, name=\"usr\" (read at exit), count=1, flags=2, sync=false, mode=FAST, "
                "file->level=?, file->comm=?) = 1;");
      EXPECT_EQ(lines_of(graph_of(trace, {{"file->level==9", "name==\"etc\""}})), (Lines{lines[0]}));
      const auto json = nlohmann::json::parse(json_graph(graph_of(trace), view()));
      EXPECT_EQ(json["calls"][0]["arguments"], (nlohmann::json{{"file", "0xc0abc000"},
                                                               {"name", "etc"},
                                                               {"count", 4096},
                                                               {"flags", 0x255},
                                                               {"sync", true},
                                                               {"mode", "FAST"},
                                                               {"file->level", 9},
                                                               {"file->comm", nullptr}}));
      EXPECT_EQ(json["calls"][0]["result"], 4096);
      EXPECT_EQ(json["calls"][0]["read_late"], nlohmann::json::array());
      EXPECT_EQ(json["calls"][1]["read_late"], nlohmann::json({"name"}));
      EXPECT_EQ(json["calls"][0]["unreadable"], nlohmann::json({"file->comm"}));
      EXPECT_EQ(json["calls"][0]["left_out"], nlohmann::json::array());
      EXPECT_EQ(json["functions"][0]["selected"], 2);
      EXPECT_EQ(json["calls"][1]["arguments"]["name"], "usr");
    }
  }
  std::filesystem::remove_all(folder);
}

// Makes two calls with losses around them. The duration of the second call is unknown.
CallGraphResult calls_with_gaps() {
  CallGraphResult result;
  result.functions.resize(2);
  result.functions[0].name = "vfs_read";
  result.functions[0].calls = result.functions[0].timed = 1;
  result.functions[0].total_ns = result.functions[0].self_ns = result.functions[0].longest_ns = 1000;
  result.functions[1].name = "vfs_write";
  result.functions[1].calls = result.functions[1].cut_off = 1;
  result.calls.resize(2);
  result.calls[0].began_ns = 1000;
  result.calls[0].ended_ns = 2000;
  result.calls[0].end_seen = true;
  result.calls[0].duration_ns = 1000;
  result.calls[1].function = 1;
  result.calls[1].began_ns = 5000;
  result.steps = {{0, false}, {0, true}, {1, false}};
  result.calls_traced = result.calls_selected = 2;
  result.gaps = {{0, 3, 2500, 2600, {}}, {1, 4, 2700, 2800, {}}, {0, 5, 3000, 3500, {}}, {1, {}, 6000, 0, {}}};
  return result;
}

TEST(TypedGraph, LossesAreShownBetweenCalls) {
  const std::string text = text_graph(calls_with_gaps(), view(), {});
  const std::string expected =
      "vfs_read();\nCPU:0 [LOST 8 EVENTS]\nCPU:1 [LOST 4 EVENTS]\n 0)               |  vfs_write() {";
  EXPECT_NE(text.find(expected), std::string::npos) << text;
  EXPECT_NE(text.find("\nCPU:1 [LOST EVENTS]\n\n"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(json_graph(calls_with_gaps(), view()));
  EXPECT_EQ(json["gaps"][3],
            nlohmann::json({{"cpu", 1}, {"after_ns", 6000}, {"before_ns", nullptr}, {"events", nullptr}}));
}

// Makes a call that is interrupted several times: calls of interrupts follow on the same CPU.
CallGraphResult calls_of_interrupts(const std::vector<std::uint8_t>& levels) {
  CallGraphResult result;
  result.functions.resize(2);
  result.functions[0].name = "vfs_read";
  result.functions[1].name = "irq_work";
  result.calls.resize(1 + levels.size());
  result.steps = {{0, false}};
  for (std::uint32_t i = 0; i < result.calls.size(); ++i) {
    TracedCall& call = result.calls[i];
    call.end_seen = true;
    call.duration_ns = call.ended_ns = 1000 * (i == 0 ? result.calls.size() : i + 1) - 1;
    call.began_ns = 1000 * i;
    if (i == 0) continue;
    call.function = 1;
    call.level = 1;
    call.parent = 0;
    call.on_top = true;
    call.interrupt = levels[i - 1];
    result.steps.insert(result.steps.end(), {{i, false}, {i, true}});
  }
  result.steps.push_back({0, true});
  result.calls_traced = result.calls_selected = result.calls.size();
  return result;
}

// Returns the lines that show calls, without the columns before the bar ("|").
std::string drawn(const CallGraphResult& result) {
  std::string lines;
  const std::string text = text_graph(result, view(), {});
  for (const std::string_view line : split(text, '\n'))
    if (const std::size_t at = line.find("|  "); at != std::string_view::npos)
      lines += std::string(line.substr(at + 3)) + "\n";
  return lines;
}

TEST(TypedGraph, CallsOfAnInterruptFormABlock) {
  EXPECT_EQ(drawn(calls_of_interrupts({2, 2, 2})),
            "vfs_read() {\n  ==========> hardirq\n  irq_work();\n  irq_work();\n  irq_work();\n  <========== hardirq\n"
            "}\n");
  EXPECT_EQ(drawn(calls_of_interrupts({2, 1})),
            "vfs_read() {\n  ==========> hardirq\n  irq_work();\n  <========== hardirq\n"
            "  ==========> softirq\n  irq_work();\n  <========== softirq\n}\n")
      << "of two kinds";
  CallGraphResult two = calls_of_interrupts({2, 2});
  two.functions[1].name = "irq_enter_rcu";
  EXPECT_NE(drawn(two).find("<========== hardirq\n  ==========> hardirq"), std::string::npos) << "two interrupts";
  two = calls_of_interrupts({2, 2});
  two.calls[2].tid = 12;
  EXPECT_NE(drawn(two).find("<========== hardirq\n  ==========> hardirq"), std::string::npos) << "on two tasks";
}

TEST(TypedGraph, PossiblyMissedCallsAreNotReportedAsLost) {
  CallGraphResult result = calls_of_interrupts({});
  result.calls[0].lost_events = true;
  EXPECT_EQ(drawn(result), "vfs_read(); /* events were lost */\n");
  EXPECT_NE(json_graph(result, view()).find("\"only_missed\": false"), std::string::npos);
  result.calls[0].only_missed = true;
  EXPECT_NE(json_graph(result, view()).find("\"only_missed\": true"), std::string::npos);
  EXPECT_EQ(drawn(result), "vfs_read(); /* calls may have been missed */\n");
}

TEST(TypedGraph, UnknownTimesAreNotZero) {
  TextStyle narrow;
  narrow.width = 80;
  GraphOptions by_time = view();
  by_time.sort = &graph_function_columns()[2];
  const std::string text = text_graph(calls_with_gaps(), by_time, narrow);
  EXPECT_EQ(text.find("0 ns"), std::string::npos) << text;
  EXPECT_NE(text.find("Cut off"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(json_graph(calls_with_gaps(), by_time));
  EXPECT_EQ(json["functions"][1]["total_ns"], nullptr);
}

TEST(TypedGraph, FunctionsThatWereNotCalledAreNamed) {
  CallGraphResult result;
  result.not_called = {"vfs_write"};
  EXPECT_NE(text_graph(result, view(), {}).find("\nvfs_write was not called while recording.\n"), std::string::npos);
  result = calls_with_gaps();
  result.not_called = {"vfs_open", "vfs_truncate"};
  EXPECT_NE(text_graph(result, view(), {}).find("vfs_open, vfs_truncate were not called"), std::string::npos);
}

TEST(TypedGraph, DamagedListsOfValuesAreRefused) {
  const CallTypes types{{1, 2, 3}, {{"f", {{"name", true}, {"a->b", false, 300, 3, 5}}}, {"g", {}}}};
  const std::vector<std::uint8_t> sound = kmt_format::encode_types(types);
  const CallTypes read = kmt_format::decode_types(sound);
  EXPECT_EQ(kmt_format::encode_types(read), sound);
  ASSERT_EQ(read.functions.size(), 2u);
  EXPECT_EQ(read.functions[0].values.at(1).text, "a->b");
  EXPECT_EQ(read.functions[0].values.at(1).type, 300u);
  for (std::size_t size = 0; size < sound.size(); ++size) {
    try {
      EXPECT_LT(kmt_format::decode_types(Bytes(sound).first(size)).functions.size(), 2u);
    } catch (const Error&) {
      // expected, because the types are cut off
    }
  }
  std::vector<std::uint8_t> many = {0};
  for (unsigned i = 0; i < 70'000; ++i) many.insert(many.end(), {1, 'f', 0});
  EXPECT_THROW(kmt_format::decode_types(many), Error);
}

TEST(TypedGraph, RandomBytesAreHarmless) {
  std::mt19937 random(20260102);  // NOLINT(cert-msc51-cpp): the same damage in every run
  for (const Machine machine : kMachines) {
    const std::vector<std::uint8_t> dat = some_calls(machine).trace(true).version_7();
    const MadeFiles types(machine);
    // Damage is put into the types or into the records, which are the last nonzero bytes of the file.
    const auto of_types = static_cast<std::size_t>(
        std::search(dat.begin(), dat.end(), types.bytes.begin(), types.bytes.end()) - dat.begin());
    ASSERT_LT(of_types, dat.size());
    const std::size_t records = dat.size() - 4096;
    unsigned shown = 0;
    for (unsigned round = 0; round < 100; ++round) {
      std::vector<std::uint8_t> bytes = dat;
      for (unsigned i = 0; i <= round % 5; ++i) {
        const std::size_t at =
            round % 2 == 0 ? of_types + 24 + random() % (types.bytes.size() - 24) : records + random() % 600;
        bytes[at] = static_cast<std::uint8_t>(random());
      }
      try {
        const CallGraphResult result = graph_of(TraceFile{"noise", bytes, nullptr});
        text_graph(result, view(), {});
        json_graph(result, view());
        ++shown;
      } catch (const Error&) {
        // expected, because the file is damaged
      }
    }
    EXPECT_GT(shown, 50u);
  }
}

}  // namespace
}  // namespace kmt
