// SPDX-License-Identifier: GPL-2.0-or-later
// Compares BTF files with a described kernel. The BTF is written by libbpf, as a compiler would describe the types.
#include "symbols/types_of_kernel.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <bpf/btf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/temporary_folder.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

constexpr int kFunctions = 2000;

// Writes types of a kernel with the functions f0, f1, … and the event kmalloc, whose field `ptr` is at `offset`.
void write_types(const std::string& path, int first_function, unsigned offset) {
  const std::unique_ptr<btf, void (*)(btf*)> types(btf__new_empty(), btf__free);
  const int word = btf__add_int(types.get(), "long unsigned int", 8, 0);
  const int prototype = btf__add_func_proto(types.get(), 0);
  for (int i = 0; i < kFunctions; ++i)
    btf__add_func(types.get(), fmt::format("f{}", first_function + i).c_str(), BTF_FUNC_STATIC, prototype);
  btf__add_struct(types.get(), "trace_event_raw_kmalloc", 48);
  btf__add_field(types.get(), "call_site", word, 8 * 8, 0);
  btf__add_field(types.get(), "ptr", word, 8 * offset, 0);
  std::uint32_t bytes = 0;
  const void* const data = btf__raw_data(types.get(), &bytes);
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary).write(static_cast<const char*>(data), bytes);
}

KernelIdentity kernel() {
  KernelIdentity kernel;
  kernel.distribution = "ubuntu";
  kernel.version = "20.04";
  kernel.machine = "aarch64";
  kernel.release = "5.4.0-91-generic";
  for (int i = 0; i < kFunctions; ++i)
    kernel.kallsyms += fmt::format("0000000000000000 t f{}{}\n", i, i % 7 ? "" : ".isra.0");
  kernel.formats["kmalloc"] =
      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
      "\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n"
      "\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n";
  return kernel;
}

class TypesOfKernel : public ::testing::Test {
 protected:
  const TemporaryFolder folder;
  std::string path(const std::string& name) const { return fmt::format("{}/{}", folder.path(), name); }
};

}  // namespace

TEST_F(TypesOfKernel, AcceptsItsOwnTypes) {
  write_types(path("vmlinux"), 0, 16);
  EXPECT_EQ(why_not_types_of(kernel(), path("vmlinux")), "");
}

TEST_F(TypesOfKernel, RefusesOtherFields) {
  write_types(path("vmlinux"), 0, 24);
  EXPECT_EQ(why_not_types_of(kernel(), path("vmlinux")),
            "the kernel's event kmalloc has the field ptr at another place");
}

TEST_F(TypesOfKernel, RefusesOtherFunctions) {
  write_types(path("vmlinux"), 41, 16);
  EXPECT_EQ(why_not_types_of(kernel(), path("vmlinux")), "41 of its 2000 functions are not in this kernel");
  write_types(path("vmlinux"), 40, 16);  // 2 % may be absent
  EXPECT_EQ(why_not_types_of(kernel(), path("vmlinux")), "");
}

TEST_F(TypesOfKernel, RefusesTheNameOfAnotherRelease) {
  for (const char* const name : {"5.4.0-92-generic.btf", "vmlinux-5.4.0-92-generic"}) {
    write_types(path(name), 0, 16);
    EXPECT_EQ(why_not_types_of(kernel(), path(name)), "its name has the release 5.4.0-92-generic");
  }
  write_types(path("5.4.0-91-generic.btf"), 0, 16);
  EXPECT_EQ(why_not_types_of(kernel(), path("5.4.0-91-generic.btf")), "");
}

TEST_F(TypesOfKernel, FindsAFileAsInBtfHub) {
  EXPECT_THROW(find_types(folder.path(), kernel()), Error);
  const std::string file = path("ubuntu/20.04/arm64/5.4.0-91-generic.btf");
  write_types(file, 0, 16);
  EXPECT_EQ(find_types(folder.path(), kernel()), file);
  fs::rename(file, file + ".tar.xz");
  try {
    find_types(folder.path(), kernel());
    FAIL() << "a packed file was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.hint(),
              fmt::format("Unpack them: tar -C '{}' -xJf '{}.tar.xz'", fs::path(file).parent_path().string(), file));
  }
}

}  // namespace kmt
