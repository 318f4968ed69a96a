// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/new_folder.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "base/error.hpp"
#include "base/folder.hpp"
#include "base/new_file.hpp"
#include "base/output_file.hpp"
#include "base/sudo_user.hpp"

namespace kmt {

NewFolder::NewFolder(std::string path) : path_(std::move(path)) {
  if (const PreparedOutput* const prepared = take_prepared(PreparedOutput::Kind::folder, path_)) {
    unfinished_ = prepared->unfinished;
    prepared_ = prepared;
    listed_ = prepared->listed;
    return;
  }
  if (const std::filesystem::path folder(path_); folder.has_parent_path()) make_folder(folder.parent_path());
  constexpr unsigned kPrivateFolder = 0700;
  unfinished_ = unfinished_name(path_);
  // Register the folder before it exists, because a signal may arrive right after mkdir().
  listed_ = list_unfinished(unfinished_.c_str());
  if (::mkdir(unfinished_.c_str(), kPrivateFolder) == 0) return;
  if (listed_) *listed_ = nullptr;
  throw system_error("Cannot create a temporary folder next to it", path_).hint("Choose another path with -o");
}

NewFolder::~NewFolder() {
  std::error_code code;
  if (prepared_ && !unfinished_.empty())
    remove_outside(*prepared_);
  else if (!unfinished_.empty())
    std::filesystem::remove_all(unfinished_, code);
  if (listed_) *listed_ = nullptr;
}

void NewFolder::finish() {
  if (prepared_) {
    name_outside(*prepared_);
  } else {
    give_tree_to_sudo_user(unfinished_);
    if (const NamingStep failed = give_name(unfinished_, path_, false); failed != NamingStep::none)
      throw naming_error(failed, path_);
  }
  if (listed_) *std::exchange(listed_, nullptr) = nullptr;
  unfinished_.clear();
}

void NewFolder::give_to(PreparedOutput& output) && {
  output.unfinished = unfinished_;
  output.listed = std::exchange(listed_, nullptr);
  if (output.listed != nullptr) *output.listed = output.unfinished.c_str();
  unfinished_.clear();
}

}  // namespace kmt
