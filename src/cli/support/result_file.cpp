// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/result_file.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/support/output.hpp"

namespace kmt {

namespace fs = std::filesystem;

ResultFile::ResultFile(std::string path, const std::vector<std::string>& inputs) : path_(std::move(path)) {
  if (path_ == "-") path_.clear();
  if (path_.empty()) return;
  std::error_code code;
  for (const std::string& input : inputs)
    if (fs::equivalent(input, path_, code))
      throw Error("Trace and output are the same file").hint("Choose another name for the output").at({path_, {}, {}});
  file_.emplace(path_);
}

bool ResultFile::write(std::string_view text) {
  if (path_.empty()) return print_result(text);
  file_->write(text);
  return true;
}

std::string ResultFile::name() const { return path_.empty() ? "standard output" : printable(path_); }

void ResultFile::write_by_name(const std::function<void(const std::string&)>& write) {
  if (!file_ || file_->unfinished().empty()) throw Error("This format needs an output file").hint("Add -o FILE");
  try {
    write(file_->unfinished());
  } catch (Error& error) {
    error.rename_file(path_);
    throw;
  }
}

void ResultFile::finish() {
  if (file_) file_->finish();
}

}  // namespace kmt
