// SPDX-License-Identifier: GPL-2.0-or-later
// Tests where symbols are taken from if a trace contains none.
#include "symbols/kernel_symbols.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "symbols/kallsyms.hpp"

namespace kmt {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

constexpr const char* kSymbols =
    "ffffffff81000000 T _stext\nffffffff81000100 t asked\nffffffff81000200 T end\nffffffffc0000000 t "
    "in_module\t[odd]\n";

class KernelSymbols : public testing::Test {
 protected:
  KernelSymbols() {
    std::string name = (fs::temp_directory_path() / "kmemtrace-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    files_.running_notes = put("notes", "\4\0\0\0\3\0\0\0\3\0\0\0GNU\0\xab\x00\x12\0"s);
    files_.running_kallsyms = put("running", kSymbols);
    info_.recording.notes["kernel_build_id"] = "ab0012";
    info_.recording.notes["kernel_reference"] = "_stext ffffffff81000000";
  }
  ~KernelSymbols() override { fs::remove_all(folder_); }

  std::string put(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  // Returns the name of the address. The trace itself contains no symbols.
  std::string name(std::uint64_t address) {
    findings_ = {};
    const std::string text = symbols_from_elsewhere(info_, files_, findings_);
    return Kallsyms(text).name(address);
  }
  bool found(Imperfection kind) const { return findings_.count_of(kind) == 1; }

  std::string folder_;
  KernelSymbolFiles files_;
  TraceInfo info_;
  Findings findings_;
};

TEST_F(KernelSymbols, OfTheRunningKernelIfItWasTraced) {
  EXPECT_EQ(name(0xffffffff81000110), "asked+0x10");
  EXPECT_EQ(name(0xffffffffc0000000), "in_module+0x0 [odd]");
  EXPECT_TRUE(found(Imperfection::kernel_symbols_from_elsewhere));
  EXPECT_NE(findings_.kept()[0].detail.find("running kernel"), std::string::npos);
}

TEST_F(KernelSymbols, OfAnotherBootAreShiftedWithoutModules) {
  info_.recording.notes["kernel_reference"] = "_stext ffffffff91000000";
  EXPECT_EQ(name(0xffffffff91000110), "asked+0x10");
  EXPECT_EQ(name(0xffffffffc0000000), "0xffffffffc0000000");
  EXPECT_NE(findings_.kept()[0].detail.find("moved by 0x10000000"), std::string::npos);
  info_.recording.notes["kernel_reference"] = "_stext ffffffff80f00000";
  EXPECT_EQ(name(0xffffffff80f00110), "asked+0x10");
  EXPECT_NE(findings_.kept()[0].detail.find("moved by -0x100000"), std::string::npos);
}

TEST_F(KernelSymbols, OfAnotherKernelAreNeverUsed) {
  const auto none = [this](const char* why) {
    EXPECT_EQ(name(0xffffffff81000110), "0xffffffff81000110");
    EXPECT_TRUE(found(Imperfection::no_kernel_symbols));
    EXPECT_FALSE(found(Imperfection::kernel_symbols_from_elsewhere));
    ASSERT_FALSE(findings_.kept().empty());
    EXPECT_NE(findings_.kept()[0].detail.find(why), std::string::npos) << findings_.kept()[0].detail;
  };
  info_.recording.notes["kernel_build_id"] = "ab0013";
  none("runs another kernel");
  info_.recording.notes.erase("kernel_build_id");
  none("does not contain the kernel's build ID");
  info_.recording.notes.erase("kernel_reference");
  none("does not contain the kernel's build ID");
  info_.recording.notes["kernel_reference"] = "_stext ffffffff81000000";
  info_.recording.notes["kernel_build_id"] = "ab0012";
  files_.running_kallsyms = put("hidden", "0000000000000000 T _stext\n0000000000000000 t asked\n");
  none("only to root or with CAP_SYSLOG");
  files_.running_kallsyms = put("running", kSymbols);
  // The running kernel has no symbol with this name.
  info_.recording.notes["kernel_reference"] = "_text ffffffff81000000";
  none("lacks _text");
  info_.recording.notes["kernel_reference"] = "nonsense";
  none("the address at which the kernel was loaded");
}

TEST_F(KernelSymbols, ATraceWithSymbolsNeedsNoOthers) {
  info_.code.kallsyms = kSymbols;
  EXPECT_TRUE(symbols_from_elsewhere(info_, files_, findings_).empty());
  EXPECT_TRUE(findings_.kept().empty());
}

TEST_F(KernelSymbols, AGivenFileIsPreferredToTheRunningKernel) {
  files_.kallsyms = put("named", "ffffffff81000000 T _stext\nffffffff81000100 t named\nffffffff81000200 T end\n");
  // The user who recorded the trace was not permitted to see kernel addresses.
  info_.code.kallsyms = "0000000000000000 T _stext\n";
  EXPECT_EQ(name(0xffffffff81000110), "named+0x10");
  info_.recording.notes.clear();
  EXPECT_EQ(name(0xffffffff81000110), "named+0x10");
  EXPECT_TRUE(found(Imperfection::unchecked_kernel_symbols));
}

TEST_F(KernelSymbols, AGivenFileMustMatchTheTrace) {
  const auto refused = [this](const std::string& text) {
    files_.kallsyms = put("named", text);
    EXPECT_THROW(name(1), Error) << text;
  };
  refused("");
  refused("no symbols\n");
  refused("0000000000000000 T _stext\n");
  refused("ffffffff81000000 T _text\n");
  files_.kallsyms = folder_ + "/none";
  EXPECT_THROW(name(1), Error);
  files_.kallsyms = put("named", kSymbols);
  EXPECT_NO_THROW(name(1));
  info_.code.kallsyms = kSymbols;  // --kallsyms is refused if the trace has symbols
  EXPECT_THROW(name(1), Error);
}

}  // namespace
}  // namespace kmt
