// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/boot.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace kmt {
namespace {

using Strings = std::vector<std::string>;

TEST(BootParameters, AreFoundAmongOthers) {
  const BootParameters found = parse_boot_parameters(
      "BOOT_IMAGE=/vmlinuz-6.1 root=/dev/vda1 ro quiet trace_event=kmem:kmalloc,kmem:kfree trace_buf_size=64M "
      "trace_options=nooverwrite,stacktrace trace_clock=global\n");
  EXPECT_EQ(found.events, (Strings{"kmem:kmalloc", "kmem:kfree"}));
  EXPECT_EQ(found.options, (Strings{"nooverwrite", "stacktrace"}));
  EXPECT_EQ(found.buffer_bytes, 64u << 20);
  EXPECT_TRUE(found.instance_events.empty());
}

TEST(BootParameters, ABootWithoutTracingHasNone) {
  for (const char* const other : {"", "\n", "quiet", "my_trace_event=kmem:kmalloc", "trace_event", "xtrace_buf_size=1M",
                                  "init=/bin/sh -- trace_event=kmem:kmalloc", "trace_instance=other,kmem:kmalloc",
                                  "trace_instance=kmemtrace_boot2,kmem:kmalloc"}) {
    const BootParameters found = parse_boot_parameters(other);
    EXPECT_TRUE(found.events.empty() && found.instance_events.empty() && found.buffer_bytes == 0) << other;
  }
}

TEST(BootParameters, InstanceWithAndWithoutFlags) {
  for (const char* const text :
       {"trace_instance=kmemtrace_boot,kmem:kmalloc,sched", "trace_instance=kmemtrace_boot^traceoff,kmem:kmalloc,sched",
        "trace_instance=other,kmem:kfree trace_instance=kmemtrace_boot@0x1000:4M,kmem:kmalloc,sched"})
    EXPECT_EQ(parse_boot_parameters(text).instance_events, (Strings{"kmem:kmalloc", "sched"})) << text;
}

TEST(BootParameters, QuotedAndRepeated) {
  EXPECT_EQ(parse_boot_parameters(R"(trace_event="kmem:kmalloc, kmem:kfree" "trace_event=kmem:*")").events,
            (Strings{"kmem:kmalloc", " kmem:kfree", "kmem:*"}));
  EXPECT_EQ(parse_boot_parameters("trace_event=\"kmem:kmalloc").events, (Strings{"kmem:kmalloc"}));
}

TEST(BootParameters, ParseSizesLikeTheKernel) {
  const auto size = [](const char* text) { return parse_boot_parameters(text).buffer_bytes; };
  EXPECT_EQ(size("trace_buf_size=300K"), 300u << 10);
  EXPECT_EQ(size("trace_buf_size=1g"), 1u << 30);
  EXPECT_EQ(size("trace_buf_size=8192"), 8192u);
  EXPECT_EQ(size("trace_buf_size=M"), 0u);
  EXPECT_EQ(size("trace_buf_size=99999999999999999999M"), 0u);
  EXPECT_EQ(size("trace_buf_size=9999999999999M"), 0u);
}

TEST(BootParameters, MatchEventNamesLikeTheKernel) {
  const EventName kmalloc{"kmem", "kmalloc"};
  for (const char* const pattern :
       {"kmem:kmalloc", "kmem:*", "*:kmalloc", "*:*", "kmem", "kmalloc", "kmem:", ":kmalloc"})
    EXPECT_TRUE(names_event({"sched", pattern}, kmalloc)) << pattern;
  for (const char* const pattern : {"kmem:kmalloc_node", "kmem:kmall*", "kme:kmalloc", "k*", "sched:*", ""})
    EXPECT_FALSE(names_event({pattern}, kmalloc)) << pattern;
}

// After a reboot, the line that the program printed must be recognised in the kernel's command line.
TEST(BootPlan, LineIsRecognisedAfterTheBoot) {
  BootPlan plan;
  plan.release = "6.1.0";
  plan.events = {{"kmem", "kfree"}, {"kmem", "kmalloc"}};
  plan.missing = {{"kmem:kmalloc_node", "this kernel does not have it"}};
  plan.buffer_bytes = 5u << 20;
  plan.cpus = 4;
  plan.clock = "global";
  plan.stacks = true;
  const std::string text = describe_boot_plan(plan);

  Strings lines;
  Strings comments;
  for (const std::string_view line : split(trim(text), '\n'))
    (line.starts_with('#') ? comments : lines).emplace_back(line);
  ASSERT_EQ(lines.size(), 1u) << text;
  EXPECT_EQ(lines.front(),
            "trace_event=kmem:kfree,kmem:kmalloc trace_buf_size=5M trace_options=nooverwrite,stacktrace "
            "trace_clock=global");
  const BootParameters parameters = parse_boot_parameters("quiet " + lines.front());
  for (const EventName& event : plan.events) EXPECT_TRUE(names_event(parameters.events, event));
  EXPECT_EQ(parameters.buffer_bytes, plan.buffer_bytes);

  EXPECT_NE(text.find("Without kmem:kmalloc_node: this kernel does not have it"), std::string::npos);
  EXPECT_NE(text.find("20.0 MiB for 4 CPUs"), std::string::npos);
  std::size_t instances = 0;
  for (const std::string& comment : comments) {
    const std::size_t at = comment.find("trace_instance=");
    if (at != 2) continue;
    ++instances;
    const BootParameters own = parse_boot_parameters(comment.substr(at));
    EXPECT_EQ(own.instance_events, parameters.events);
    EXPECT_EQ(own.buffer_bytes, plan.buffer_bytes);
  }
  EXPECT_EQ(instances, 1u);
}

}  // namespace
}  // namespace kmt
