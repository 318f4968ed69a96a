// SPDX-License-Identifier: GPL-2.0-or-later
// Tests that a confined process can rename its outputs and open code files with the help of a process outside the
// sandbox. Uses child processes, because confinement cannot be undone.
#include "base/confinement/outside.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "base/confinement/confine.hpp"
#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/temporary_folder.hpp"

namespace kmt {
namespace {

namespace fs = std::filesystem;

class Outside : public ::testing::Test {
 protected:
  // Prepares the output "result", and runs `body` in a confined child. Returns the exit status of the child.
  template <typename Body>
  int confined(Body&& body) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        prepare_file(path_);
        prepare_scratch(path_);
        start_outside();
        Access access{.written_folders = {scratch_folder()}};
        for (const PreparedOutput& output : prepared_outputs()) access.written_files.push_back(output.unfinished);
        confine(access, Network::none);
        body();
      } catch (const Error&) {
        ::_exit(2);
      }
      end_outside();
      ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // Returns the names in the folder when the process outside the sandbox has ended.
  std::string left(const std::string& wanted) {
    std::string names;
    for (int i = 0; i < 500; ++i) {
      names.clear();
      for (const std::string& name : names_in(folder_)) names += name + " ";
      if (names == wanted) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return names;
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
  const std::string path_ = folder_ / "result";
};

TEST_F(Outside, RenamesACompleteFile) {
  EXPECT_EQ(confined([&] {
              NewFile file(path_);
              file.write("new");
              file.finish();
            }),
            0);
  EXPECT_EQ(left("result "), "result ");
  EXPECT_EQ(read_file(path_), "new");
}

TEST_F(Outside, RemovesUnfinishedFiles) {
  write_new_file(path_, "earlier");
  EXPECT_EQ(confined([&] { NewFile(path_).write("new"); }), 0);
  EXPECT_EQ(left("result "), "result ");
  EXPECT_EQ(confined([] {}), 0);
  EXPECT_EQ(left("result "), "result ");
  EXPECT_EQ(confined([] { ::raise(SIGKILL); }), -1);
  EXPECT_EQ(left("result "), "result ");
  EXPECT_EQ(read_file(path_), "earlier");
}

TEST_F(Outside, ExplainsWhyAFileIsNotRenamed) {
  EXPECT_EQ(confined([&] {
              NewFile file(path_);
              write_all(file.fd(), "new", path_);
              end_outside();
              try {
                file.finish();
              } catch (const Error& error) {
                if (std::string_view(error.what()).starts_with("Cannot give the new output its name: ")) throw;
              }
              ::_exit(3);
            }),
            2);
  EXPECT_EQ(left(""), "");
}

TEST_F(Outside, OpensOnlyCode) {
  const std::string program = fs::read_symlink("/proc/self/exe"), text = folder_ / "text";
  write_new_file(text, "secret");
  EXPECT_EQ(confined([&] {
              if (!open_code(program)) ::_exit(3);
              if (open_code(text)) ::_exit(4);
              if (open_code(folder_)) ::_exit(5);
              if (open_code("/tmp/perf-../x.map")) ::_exit(6);
            }),
            0);
}

}  // namespace
}  // namespace kmt
