// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/output_file.hpp"

#include <filesystem>
#include <random>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/number.hpp"

namespace kmt {

namespace fs = std::filesystem;

FileDescriptor make_file(const std::string& path) {
  std::error_code code;
  if (fs::is_symlink(path, code)) ::unlink(path.c_str());
  return open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
}

std::string unfinished_name(const std::string& path) {
  std::random_device random;
  return fmt::format("{}.unfinished-{:08x}{:08x}", path, random(), random());
}

std::optional<int> open_number(const std::string& path) {
  constexpr int kMostLinks = 8;
  fs::path name = path;
  std::error_code code;
  for (int links = 0; links < kMostLinks && fs::is_symlink(name, code); ++links) {
    const fs::path folder = fs::canonical(fs::absolute(name).parent_path(), code);
    if (folder == "/proc/" + std::to_string(::getpid()) + "/fd") return parse_number<int>(name.filename().string());
    name = folder / fs::read_symlink(name, code);
  }
  return {};
}

}  // namespace kmt
