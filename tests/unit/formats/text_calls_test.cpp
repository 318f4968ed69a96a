// SPDX-License-Identifier: GPL-2.0-or-later
// Tests how text of the function_graph tracer becomes calls.
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/registry.hpp"
#include "formats/text/reader.hpp"
#include "support/checked_sink.hpp"
#include "trace/calls/event.hpp"
#include "trace/calls/records.hpp"

namespace kmt {
namespace {

struct Call {
  std::string function;
  bool begins = false;
  CallEvent event;
  std::vector<std::uint64_t> registers;
};

struct ReadCalls {
  std::vector<Call> calls;
  std::vector<Event> others;
  TraceInfo info;
};

TraceFile file_of(const std::string& text) {
  return {"a text", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, nullptr};
}

// Returns the name of an address in kallsyms, which has lines "ADDRESS t NAME".
std::string name_at(const std::string& kallsyms, std::uint64_t address) {
  char prefix[32];
  std::snprintf(prefix, sizeof(prefix), "%016llx t ", static_cast<unsigned long long>(address));
  const std::size_t at = kallsyms.find(prefix);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + 19;
  return kallsyms.substr(begin, kallsyms.find('\n', begin) - begin);
}

ReadCalls read(const std::string& text) {
  OpenOptions options;
  options.call_records = true;
  const auto source = open_trace(file_of(text), options);
  ReadCalls read;
  const TraceInfo& info = source->info();
  for (EventBatch batch; source->read(batch);)
    for (const Event& event : batch) {
      if (!is_call(event.kind)) {
        read.others.push_back(event);
        continue;
      }
      const CallEvent call = as_call(event);
      std::vector<std::uint64_t> registers;
      if (call.record != 0) registers = info.calls.records->at(call.record).registers;
      read.calls.push_back(
          {name_at(info.code.kallsyms, call.function), event.kind == EventKind::call_entry, call, registers});
    }
  read.info = source->info();
  return read;
}

// Returns the functions and depths as text, such as "f{0 g{1 g}1 f}0".
std::string shape_of(const ReadCalls& read) {
  std::string text;
  for (const Call& call : read.calls)
    text += (text.empty() ? "" : " ") + call.function + (call.begins ? "{" : "}") + std::to_string(call.event.depth);
  return text;
}

const char* const kHeader = "# tracer: function_graph\n#\n";

TEST(TextCalls, EachCallHasADurationAndADepth) {
  const ReadCalls found = read(std::string(kHeader) +
                               " 0)               |  f() {\n"
                               " 0)   0.412 us    |    g();\n"
                               " 0) + 12.7 us     |  }\n"
                               " 1) * 20000.40 us |  h [mod]();\n");
  EXPECT_EQ(shape_of(found), "f{0 g{1 g}1 f}0 h\t[mod]{0 h\t[mod]}0");
  ASSERT_EQ(found.calls.size(), 6u);
  EXPECT_EQ(found.calls[2].event.duration_ns, 412u);
  EXPECT_EQ(found.calls[3].event.duration_ns, 12'700u);
  EXPECT_EQ(found.calls[5].event.duration_ns, 20'000'400u);
  EXPECT_EQ(found.calls[5].event.cpu, 1u);
  EXPECT_FALSE(found.info.clock.in_ns) << "the lines have no time";
}

// Columns of the options funcgraph-abstime, funcgraph-proc, latency-format and funcgraph-tail, of the latency tracers,
// and of trace-cmd report.
TEST(TextCalls, OptionalColumns) {
  struct Form {
    const char* text;
    std::int32_t tid;
    std::uint64_t time_ns;
    std::uint64_t duration_ns;
    std::uint8_t context;
  };
  for (const Form& form :
       {Form{"  360.774522 |   1)     sh-812     |   0.541 us    |  f();\n", 812, 360'774'522'000, 541, 0},
        Form{"  360.774522 |   1)    sh-812   |  d.h1 | ! 100.5 us    |  f(); /* f */\n", 812, 360'774'522'000, 100'500,
             Context::kHardIrq},
        Form{"     3 us |   0)  bash-1507  |  d..2 |   0.351 us    |  f();\n", 1507, 3'000, 351, 0},
        Form{"0) cc1-30212 |+ 11.663 us | f();\n", 30212, 1, 11'663, 0}, Form{" 0)  f();\n", -1, 1, 0, 0},
        Form{"   0.541 us    |  f();\n", -1, 1, 541, 0},
        Form{"sh-7 [002] 10.000001: funcgraph_entry:        0.179 us |  f();\n", 7, 10'000'001'000, 179, 0}}) {
    const ReadCalls found = read(form.text);
    ASSERT_EQ(shape_of(found), "f{0 f}0") << form.text;
    EXPECT_EQ(found.calls[0].event.tid, form.tid) << form.text;
    EXPECT_EQ(found.calls[0].event.time_ns, form.time_ns) << form.text;
    EXPECT_EQ(found.calls[0].event.context, form.context) << form.text;
    EXPECT_EQ(found.calls[1].event.duration_ns, form.duration_ns) << form.text;
  }
}

TEST(TextCalls, ThePrintFormatOfTheKernel) {
  const ReadCalls found = read(
      "sh-7 [002] 10.000001: funcgraph_entry: --> f (3)\n"
      "sh-7 [002] 10.000002: funcgraph_exit: <-- f (3) (start: 1a  end: 2a) over: 0\n");
  EXPECT_EQ(shape_of(found), "f{3 f}3");
  EXPECT_EQ(found.calls.at(1).event.duration_ns, 16u);
}

// trace-cmd prints results and depths after the call.
TEST(TextCalls, ResultsAndDepthsAfterTheCall) {
  const ReadCalls found = read(
      "sh-7 [002] 10.000001: funcgraph_entry:                   |  f() {\n"
      "sh-7 [002] 10.000002: funcgraph_entry:        0.451 us   |    g(); (ret=-14)\n"
      "sh-7 [002] 10.000003: funcgraph_entry:                   |    h() { (1)\n"
      "sh-7 [002] 10.000004: funcgraph_exit:         1.000 us   |    } /* h */ (ret=0x20)\n"
      "sh-7 [002] 10.000005: funcgraph_exit:         9.359 us   |  } (ret=5)\n");
  EXPECT_EQ(shape_of(found), "f{0 g{1 g}1 h{1 h}1 f}0");
  ASSERT_EQ(found.calls.size(), 6u);
  EXPECT_EQ(found.calls[2].event.duration_ns, 451u);
  EXPECT_EQ(found.calls[5].event.duration_ns, 9359u);
  EXPECT_EQ(found.calls[2].event.return_value, static_cast<std::uint64_t>(-14));
  EXPECT_EQ(found.calls[4].event.return_value, 0x20u);
  EXPECT_EQ(found.calls[5].event.return_value, 5u);
}

// The option nofuncgraph-duration removes a column, and with it a blank before each call.
TEST(TextCalls, WithoutDurations) {
  for (const std::string cpu : {" 0)", " 0)  bash-812     |", "  100.000296 |   0) "})
    EXPECT_EQ(shape_of(read(kHeader + cpu + " f() {\n" + cpu + "   g() {\n" + cpu + "     h();\n" + cpu + "   }\n" +
                            cpu + " }\n")),
              "f{0 g{1 h{2 h}2 g}1 f}0")
        << cpu;
}

TEST(TextCalls, SwitchesTellTheTaskOfACpu) {
  const ReadCalls found = read(std::string(kHeader) +
                               " 1)               |  f() {\n"
                               " ------------------------------------------\n"
                               " 1)     sh-812     =>   kworker-77  \n"
                               " ------------------------------------------\n\n"
                               " 1)   0.1 us      |  g();\n"
                               " 1)   kworker-77   =>     sh-812    \n"
                               " 1)   5.0 us      |  }\n");
  EXPECT_EQ(shape_of(found), "f{0 g{0 g}0 f}0");
  const std::int32_t tids[] = {812, 77, 77, 812};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(found.calls.at(i).event.tid, tids[i]) << i;
}

TEST(TextCalls, CallsOfAnInterruptAreMarked) {
  const ReadCalls found = read(std::string(kHeader) +
                               " 0)               |  f() {\n"
                               " 0)   ==========> |\n"
                               " 0)   1.0 us      |    handle_irq();\n"
                               " 0)   <========== |\n"
                               " 0)   5.0 us      |  }\n");
  EXPECT_EQ(shape_of(found), "f{0 handle_irq{1 handle_irq}1 f}0");
  EXPECT_EQ(found.calls[1].event.context, Context::kHardIrq);
  EXPECT_EQ(found.calls[3].event.context, 0);
}

// With nofuncgraph-cpu, marks of interrupts have no CPU. With funcgraph-proc, they have the task.
TEST(TextCalls, MarksOfInterruptsMayLackTheCpu) {
  const ReadCalls found = read(std::string(kHeader) +
                               "  100.000001 |               |  f() {\n"
                               "  100.000002 |   ==========> |\n"
                               "  100.000002 |   1.000 us    |    handle_irq();\n"
                               "  100.000009 |   <========== |\n"
                               "  100.000010 |   9.000 us    |  }\n");
  ASSERT_EQ(shape_of(found), "f{0 handle_irq{1 handle_irq}1 f}0");
  EXPECT_EQ(found.calls[1].event.context, Context::kHardIrq);
  EXPECT_EQ(found.calls[3].event.context, 0);
  const ReadCalls tasks = read(std::string(kHeader) +
                               "  100.000001 |     bash-12     |               |  f() {\n"
                               "  100.000002 |     bash-12     |   ==========> |\n"
                               "  100.000002 |      cc1-78     |   1.000 us    |  g();\n"
                               "  100.000003 |     bash-12     |   1.000 us    |    handle_irq();\n"
                               "  100.000009 |     bash-12     |   <========== |\n"
                               "  100.000010 |     bash-12     |   9.000 us    |  }\n");
  ASSERT_EQ(shape_of(tasks), "f{0 g{0 g}0 handle_irq{1 handle_irq}1 f}0");
  EXPECT_EQ(tasks.calls[1].event.context, 0);
  EXPECT_EQ(tasks.calls[3].event.context, Context::kHardIrq);
}

// The text starts inside a call, and ends inside another.
TEST(TextCalls, UnfinishedCalls) {
  const ReadCalls found = read(std::string(kHeader) +
                               " 0)   0.3 us      |      g();\n"
                               " 0)   1.0 us      |    }\n"
                               " 0)   2.0 us      |  } /* f */\n"
                               " 0)               |  h() {\n");
  EXPECT_EQ(shape_of(found), "g{2 g}2 (unknown)}1 f}0 h{0");
}

TEST(TextCalls, BracesShowTheNestingIfBlanksWereMerged) {
  const ReadCalls found = read("0) | f() {\n0) | g() {\n0) 0.1 us | h();\n0) 2.0 us | }\n0) 3.0 us | }\n");
  EXPECT_EQ(shape_of(found), "f{0 g{1 h{2 h}2 g}1 f}0");
}

TEST(TextCalls, BracesShowTheNestingIfNoCallIsIndented) {
  const ReadCalls found = read(
      " 0)               |  f() {\n 0)               |  g() {\n 0)   0.1 us      |  h();\n"
      " 0)   2.0 us      |  }\n 0)   3.0 us      |  }\n");
  EXPECT_EQ(shape_of(found), "f{0 g{1 h{2 h}2 g}1 f}0");
  EXPECT_EQ(found.info.findings.count_of(Imperfection::unreadable_line), 0u);
}

// Returns the registers of the first call.
std::vector<std::uint64_t> registers_of(const std::string& arguments) {
  return read(" 2)   0.1 us    |  f(" + arguments + ");\n").calls.at(0).registers;
}

// Arguments that are not numbers have no register. Other arguments keep their values.
TEST(TextCalls, ArgumentsThatAreNoNumbersAreNotZero) {
  using Registers = std::vector<std::uint64_t>;
  EXPECT_EQ(registers_of("name=\"a, b\", n=7"), Registers{7});
  EXPECT_EQ(registers_of("c='x', d=1.5, e=-, f=5"), Registers{5});
  EXPECT_EQ(registers_of("a=99999999999999999999, b=0xfffffffffffffffff, c=6"), Registers{6});
  EXPECT_EQ(registers_of("p=(null), q=NULL, r=?0x12"), (Registers{0, 0, 0x12}));
  EXPECT_EQ(registers_of("p=(STRUCT)[0x12:0x34], n=7"), (Registers{0x12, 0x34, 7}));
  EXPECT_EQ(registers_of("n=7, p=(STRUCT)[0x12:0x34...]"), (Registers{7, 0x12, 0x34}));
  EXPECT_EQ(registers_of("p=(struct path)[0xffff888100041500:0xffff888100041600]"),
            (Registers{0xffff888100041500, 0xffff888100041600}));
  const ReadCalls both = read(" 2)   0.1 us    |  f(a=1, b=2);\n 2)   0.1 us    |  f(a=\"x\", b=3);\n");
  EXPECT_EQ(both.calls.at(0).registers, Registers{2}) << "the type of a is unknown in all calls";
  EXPECT_EQ(both.calls.at(2).registers, Registers{3});
}

TEST(TextCalls, ResultsThatAreNoNumbersAreLeftOut) {
  const ReadCalls found = read(" 2)   0.1 us    |  g(); /* = 0x10 */\n 2)   0.1 us    |  h(); /* ret=unknown */\n");
  ASSERT_EQ(shape_of(found), "g{0 g}0 h{0 h}0");
  EXPECT_FALSE(found.calls[3].event.has(CallFlags::kReturnValue));
}

TEST(TextCalls, ArgumentsAndResults) {
  const ReadCalls found = read(std::string(kHeader) +
                               " 2)  a-5   |               |  f(file=0xffff8881034a2b00, n=-3, on=true) {\n"
                               " 2)  a-5   |   0.1 us      |    g(...); /* <-f+0x8e/0x2c0 ret=-14 */\n"
                               " 2)  a-5   |   1.4 us      |  } /* f ret=0xffff88810557a000 */\n");
  ASSERT_EQ(shape_of(found), "f{0 g{1 g}1 f}0");
  EXPECT_EQ(found.calls[0].registers, (std::vector<std::uint64_t>{0xffff8881034a2b00, ~std::uint64_t{2}, 1}));
  EXPECT_TRUE(found.calls[3].event.has(CallFlags::kReturnValue));
  EXPECT_EQ(found.calls[3].event.return_value, 0xffff88810557a000u);
  EXPECT_EQ(static_cast<std::int64_t>(found.calls[2].event.return_value), -14);
  EXPECT_FALSE(found.info.calls.types.btf.empty());
  // Linux 6.5 to 6.14
  const ReadCalls older = read(" 2)   0.1 us    |  g(); /* = 0x10 */\n 2)   0.1 us    |  h(); /* h = -22 */\n");
  ASSERT_EQ(shape_of(older), "g{0 g}0 h{0 h}0");
  EXPECT_EQ(older.calls[1].event.return_value, 16u);
  EXPECT_EQ(static_cast<std::int64_t>(older.calls[3].event.return_value), -22);
}

// The parser copies a line with tabs, and the next line with tabs overwrites the copy. Names from the first line must
// still be valid then.
TEST(TextCalls, TabsBetweenColumns) {
  const std::string long_name = "a_function_with_a_long_name";
  const ReadCalls found = read(" 1)\ta_long_task-44\t=>\tanother_task-45\n 1)   0.1 us\t|  " + long_name +
                               "() {\n 1)   0.1 us    |\t   other_function_with_a_name();\n 1)   1.1 us    |  }\t\n");
  EXPECT_EQ(shape_of(found),
            long_name + "{0 other_function_with_a_name{1 other_function_with_a_name}1 " + long_name + "}0");
  EXPECT_EQ(task_name(found.info.tasks, 45, 1), "another_task");
}

// The option funcgraph-retval prints no result for some calls.
TEST(TextCalls, ACallWithoutAPrintedResultHasNone) {
  const ReadCalls found = read(" 2)   0.1 us    |  g(); /* = 0x10 */\n 2)   0.1 us    |  h();\n");
  ASSERT_EQ(shape_of(found), "g{0 g}0 h{0 h}0");
  EXPECT_TRUE(found.calls[1].event.has(CallFlags::kReturnValue));
  EXPECT_FALSE(found.calls[3].event.has(CallFlags::kReturnValue));
  EXPECT_EQ(found.calls[3].event.duration_ns, found.calls[1].event.duration_ns);
}

TEST(TextCalls, ABlankDurationIsUnknown) {
  const ReadCalls found =
      read(" 2)   0.1 us    |  g();\n 2)               |  h();\n 2)               |  k(); /* = 0x1 */\n");
  ASSERT_EQ(shape_of(found), "g{0 g}0 h{0 h}0 k{0 k}0");
  EXPECT_TRUE(found.calls[1].event.has(CallFlags::kDuration));
  EXPECT_FALSE(found.calls[3].event.has(CallFlags::kDuration));
  EXPECT_FALSE(found.calls[5].event.has(CallFlags::kDuration));
  EXPECT_TRUE(found.calls[5].event.has(CallFlags::kReturnValue));
}

TEST(TextCalls, TwoCallsInALine) {
  const std::string first = " 2)               |  f() {\n", last = " 2)   0.900 us    |  }\n";
  const ReadCalls whole = read(first + " 2)   0.1 us    |    g();\n 2)   0.200 us    |    h();\n" + last);
  ASSERT_EQ(shape_of(whole), "f{0 g{1 g}1 h{1 h}1 f}0");
  for (const std::string& text :
       {first + " 2)   0.1 us    |    g(); 2)   0.200 us    |    h();\n" + last,
        " 2)               |  f() { 2)   0.1 us    |    g();\n 2)   0.200 us    |    h();\n" + last,
        first + " 2)   0.1 us    |    g();\n 2)   0.200 us    |    h(); 2)   0.900 us    |  }\n"}) {
    const ReadCalls found = read(text);
    EXPECT_EQ(shape_of(found), shape_of(whole)) << text;
    EXPECT_EQ(found.info.findings.count_of(Imperfection::unreadable_line), 0u) << text;
  }
}

TEST(TextCalls, PrefixesBeforeCalls) {
  for (const std::string prefix :
       {"[    5.123456@0] ", "[    5.123456] ", "trace: ", "    1  ", "12:", "[0]: trace: "}) {
    const ReadCalls found = read(prefix + " 2)               |  f() {\n" + prefix + " 2)   0.1 us    |    g();\n" +
                                 prefix + " 2)   0.2 us    |  }\n");
    EXPECT_EQ(shape_of(found), "f{0 g{1 g}1 f}0") << prefix;
  }
}

// With the option func-no-repeats, the kernel prints repeated calls as one line.
TEST(TextCalls, RepeatedFunctions) {
  const std::string head = "          <idle>-0       [001] dNh1.   100.000005: ";
  const ReadCalls found =
      read("# tracer: function\n#\n" + head + "f <-g\n" + head + "f <-g (repeats: 5, last_ts: 100.000004)\n" + head +
           "0xffffffffc0123456 <-f\n" + head + "0xffffffffc0123456\n");
  EXPECT_EQ(found.others.size(), 4u);
  EXPECT_EQ(found.info.findings.count_of(Imperfection::collapsed_calls), 1u);
  EXPECT_EQ(found.info.findings.count_of(Imperfection::unreadable_line), 0u);
}

TEST(TextCalls, EventsBetweenCallsAreRead) {
  const std::string text =
      std::string(kHeader) +
      " 0)   sh-44    |               |  f() {\n"
      " 0)   sh-44    |               |    /* kmalloc: call_site=f+0x1d/0x90 ptr=00000000c0ffee01 bytes_req=200 "
      "bytes_alloc=208 gfp_flags=GFP_KERNEL|__GFP_ZERO node=-1 accounted=false */\n"
      " 0)   sh-44    |               |    /* 3 left */\n"
      " 0)   sh-44    |   0.910 us    |  }\n";
  const ReadCalls found = read(text);
  EXPECT_EQ(shape_of(found), "f{0 f}0");
  ASSERT_EQ(found.others.size(), 1u);
  EXPECT_EQ(found.others[0].kind, EventKind::kmalloc);
  EXPECT_EQ(found.others[0].bytes_allocated, 208u);
  EXPECT_EQ(found.others[0].tid, 44);
  test::CheckedSink sink;
  Findings findings;
  text::read_records(file_of(text), sink, findings);
  EXPECT_EQ(sink.records, 3u);
}

TEST(TextCalls, UnreadableCallsAreCounted) {
  for (const char* const bad : {" 0)   0.412 us    |  path_st\n", " 18446744074.5 |   0)   0.412 us    |  f();\n",
                                " 0)   0.4x2 us    |  f();\n"}) {
    const ReadCalls found = read(std::string(kHeader) + " 0)   0.412 us    |  f();\n" + bad + " 0)  /* 3 left */\n");
    EXPECT_EQ(found.calls.size(), 2u) << bad;
    EXPECT_EQ(found.info.findings.count_of(Imperfection::unreadable_line), 1u) << bad;
  }
}

// The text may have no header, and the damaged line may be the first one.
TEST(TextCalls, DamagedFirstAndLastLinesAreCounted) {
  for (const char* const text :
       {"us    |    g();\n 0)   0.412 us    |  f();\n", " 0)   0.412 us    |  f();\n 0)   4.0\n",
        " 0)   0.412 us    |  f();\n 0) +\n", " 0)   0.412 us    |  f();\n 0)   4.0 us    |\n"}) {
    const ReadCalls found = read(text);
    EXPECT_EQ(found.calls.size(), 2u) << text;
    EXPECT_EQ(found.info.findings.count_of(Imperfection::unreadable_line), 1u) << text;
  }
}

TEST(TextCalls, OtherTextHasNoCalls) {
  for (const char* const other :
       {" 0)   0.3 us      |  what is this\n", "0) 1.5 us | f() { g(); }\n", "a | b(); | c\n", "  f();\n", "| }\n"})
    EXPECT_FALSE(text::is_text(file_of(other).bytes)) << other;
}

// trace-cmd report -R prints the fields. The durations are rettime - calltime: 0x2b - 0x1a is 17.
TEST(TextCalls, RawFields) {
  const ReadCalls found = read(
      "     bash-812   [001]     5.000001: funcgraph_entry:       func=0xffffffff81234567 depth=0\n"
      "     bash-812   [001]     5.000002: funcgraph_entry:       func=kfree depth=1\n"
      "     bash-812   [001]     5.000003: funcgraph_exit:        func=kfree overrun=0 calltime=0x1a rettime=0x2b "
      "depth=1\n"
      "     bash-812   [001]     5.000004: funcgraph_exit:        func=0xffffffff81234567 retval=0xffffffffffffffea "
      "calltime=0x1a rettime=0x3b depth=0\n");
  EXPECT_EQ(found.info.findings.count_of(Imperfection::unreadable_line), 0u);
  EXPECT_TRUE(found.others.empty());
  ASSERT_EQ(found.calls.size(), 4u);
  EXPECT_EQ(found.calls[0].event.function, 0xffffffff81234567);
  EXPECT_TRUE(found.calls[0].begins);
  EXPECT_EQ(found.calls[1].function, "kfree");
  EXPECT_EQ(found.calls[1].event.depth, 1u);
  EXPECT_FALSE(found.calls[2].begins);
  EXPECT_EQ(found.calls[2].event.duration_ns, 17u);
  EXPECT_EQ(found.calls[3].event.function, 0xffffffff81234567);
  EXPECT_EQ(found.calls[3].event.duration_ns, 33u);
}

// An unreadable line of function_graph must be reported, not counted as an event of another kind.
TEST(TextCalls, UnreadableCallEventsAreCounted) {
  const ReadCalls found = read(
      "     bash-812   [001]     5.000001: funcgraph_entry:        0.412 us   |  f();\n"
      "     bash-812   [001]     5.000002: funcgraph_entry:        0.412 us   |  g(\n");
  EXPECT_EQ(found.calls.size(), 2u);
  EXPECT_TRUE(found.others.empty());
  EXPECT_EQ(found.info.findings.count_of(Imperfection::unreadable_line), 1u);
}

// Mail programs wrap lines at blanks.
TEST(TextCalls, WrappedLinesAreJoined) {
  struct Case {
    const char* text;
    const char* function;
    std::size_t calls;
  };
  for (const Case& one :
       {Case{" 1)   bash-812    |   0.412 us    |  kmem_cache_alloc(s=0x12,\ngfpflags=0xcc0);\n", "kmem_cache_alloc",
             2},
        Case{" 1)   bash-812    |   0.412 us    |\nkfree();\n", "kfree", 2},
        Case{"  1.000002 |   1)  bash-812    |               |    \nkfree() {\n", "kfree", 1},
        Case{" 1)   bash-812    |               |  kfree()\n{\n", "kfree", 1},
        Case{"> bash-812   [001]     5.000001: funcgraph_entry:      !\n> 109.000 us |  kfree();\n", "kfree", 2},
        Case{"> bash-812   [001]     5.000001: funcgraph_entry:\n> 1.000 us |\n>  kfree();\n", "kfree", 2},
        Case{"> bash-812   [001]     5.000001:\n> funcgraph_entry:      1.000 us |  kfree();\n", "kfree", 2}}) {
    const ReadCalls found = read(std::string(one.text));
    EXPECT_EQ(found.calls.size(), one.calls) << one.text;
    EXPECT_EQ(found.info.findings.count_of(Imperfection::unreadable_line), 0u) << one.text;
    if (!found.calls.empty()) {
      EXPECT_EQ(found.calls[0].function, one.function) << one.text;
    }
  }
  const ReadCalls result = read(" 1)   0.412 us    |  f();\n/* = -14 */\n 1)   0.412 us    |  g();\n");
  ASSERT_EQ(result.calls.size(), 4u);
  EXPECT_EQ(static_cast<std::int64_t>(result.calls[1].event.return_value), -14);
}

// The header shows that no column precedes the calls.
TEST(TextCalls, LinesWithoutColumns) {
  const ReadCalls found = read(
      "# tracer: function_graph\n#\n#                FUNCTION CALLS\n#                |   |   |   |\n"
      "f() {\n  g() {\n    h();\n  }\n}\n");
  EXPECT_EQ(found.info.findings.count_of(Imperfection::unreadable_line), 0u);
  ASSERT_EQ(found.calls.size(), 6u);
  EXPECT_EQ(found.calls[0].function, "f");
  EXPECT_EQ(found.calls[0].event.depth, 0u);
  EXPECT_EQ(found.calls[2].function, "h");
  EXPECT_EQ(found.calls[2].event.depth, 2u);
  EXPECT_EQ(found.calls[4].function, "g");
  EXPECT_EQ(found.calls[5].function, "f");
}

// Returns the type of the result of the only function, as its ID in the BTF: 1 is an integer, 2 a pointer.
std::uint32_t result_type_of(const std::string& text) {
  constexpr std::uint32_t kInteger = 1, kPrototype = 13;
  const std::vector<std::uint8_t> btf = read(text).info.calls.types.btf;
  const auto word = [&btf](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, btf.data() + at, sizeof(value));
    return value;
  };
  for (std::size_t at = 24; at + 12 <= btf.size();) {
    const std::uint32_t kind = word(at + 4) >> 24;
    if (kind == kPrototype) return word(at + 8);
    at += kind == kInteger ? 16 : 12;
  }
  return 0;
}

// The kernel prints all results in hex, except errors. 0 is NULL only if the function returns pointers.
TEST(TextCalls, OnlyLargeResultsArePointers) {
  const auto type_of = [](std::vector<const char*> results) {
    std::string text;
    for (const char* const result : results) text += std::string(" 0)   0.4 us    |  f(); /* = ") + result + " */\n";
    return result_type_of(text);
  };
  constexpr std::uint32_t kInteger = 1, kPointer = 2;
  EXPECT_EQ(type_of({"0x0"}), kInteger);
  EXPECT_EQ(type_of({"0x0", "0x1", "-14"}), kInteger);
  EXPECT_EQ(type_of({"0x0", "0xfffffff2"}), kInteger);
  EXPECT_EQ(type_of({"0x0", "0xffff888104c3a000", "-12"}), kPointer);
  EXPECT_EQ(type_of({"0xc1234560", "0x0"}), kPointer);
  EXPECT_EQ(type_of({"0x0", "(null)"}), kPointer);
}

}  // namespace
}  // namespace kmt
