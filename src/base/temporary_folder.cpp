// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/temporary_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include "base/confinement/outside.hpp"
#include "base/error.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

std::string usual_prefix() {
  if (const std::string scratch = scratch_folder(); !scratch.empty()) return scratch + "/";
  std::error_code code;
  const fs::path place = fs::temp_directory_path(code);
  return (code ? "/tmp" : place.string()) + "/kmemtrace-";
}

}  // namespace

TemporaryFolder::TemporaryFolder() : TemporaryFolder(usual_prefix()) {}

TemporaryFolder::TemporaryFolder(const std::string& prefix) : path_(prefix + "XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) throw system_error("Cannot make a temporary folder", path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code code;
  fs::remove_all(path_, code);
}

}  // namespace kmt
