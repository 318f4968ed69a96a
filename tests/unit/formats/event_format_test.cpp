// SPDX-License-Identifier: GPL-2.0-or-later
// Tests descriptions of event formats in hostile or damaged files. libtraceevent must never receive a description that
// crashes it.
#include "formats/ftrace/event_format.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace kmt {
namespace {

using namespace std::string_literals;

// Returns the kernel's description of an event that has a single field. `field` is the declaration of the field and all
// text after it.
std::string described(const std::string& field) { return "name: kfree\nID: 5\nformat:\n\tfield:" + field; }
const std::string kRest = ";\toffset:0;\tsize:8;\tsigned:0;\n\nprint fmt: \"%lx\", REC->x\n";

TEST(EventFormat, ReadsEveryFormOfAField) {
  for (const char* field : {"unsigned long x", "char x[8]", "__data_loc char[] x", "const void * x",
                            R"(const char __attribute__((btf_type_tag("user"))) * x)"}) {
    Findings findings;
    const std::vector<EventFormat> formats = parse_event_formats({{"kmem", described(field + kRest)}}, findings);
    ASSERT_EQ(formats.size(), 1u) << field;
    EXPECT_TRUE(findings.kept().empty()) << field;
    EXPECT_NE(formats.front().field("x"), nullptr) << field;
    EXPECT_EQ(formats.front().print_format, " \"%lx\", REC->x\n") << field;
  }
}

TEST(EventFormat, RejectsDescriptionsThatNoKernelWrites) {
  const std::vector<std::string> hostile = {described("int x[\0]"s + kRest),
                                            described("int x[\x80]" + kRest),
                                            described("int x[\x1f]" + kRest),
                                            described("int x["),
                                            described("int x[ "),
                                            described("int x[8"),
                                            described("int x[\n" + kRest),
                                            described("char __attribute__((btf_type_tag(\"user\") * x" + kRest)};
  for (const std::string& text : hostile) {
    Findings findings;
    EXPECT_TRUE(parse_event_formats({{"kmem", text}}, findings).empty()) << text;
    EXPECT_EQ(findings.count_of(Imperfection::bad_event_format), 1u) << text;
  }
}

TEST(EventFormat, RejectsPageHeadersThatNoKernelWrites) {
  EXPECT_THROW(long_bytes_of_header_page("\tfield: local_t commit[\x80"), Error);
  EXPECT_EQ(long_bytes_of_header_page("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                      "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
                                      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                                      "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"),
            4u);
}

}  // namespace
}  // namespace kmt
