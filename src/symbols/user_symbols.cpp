// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/user_symbols.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/build_id.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "symbols/debug_files.hpp"

namespace kmt {

namespace {

constexpr const char* kSystemDirectory = "/usr/lib/debug";
constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;  // no waiting for whatever the trace names

FileDescriptor only_regular(int fd) {
  FileDescriptor file(fd);
  struct stat status {};
  if (file && (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))) file.reset();
  return file;
}

FileDescriptor open_here(const std::string& path) { return only_regular(::open(path.c_str(), kFlags)); }

// Whatever the path and the links in it say, it does not leave the folder.
FileDescriptor open_below(const std::string& root, const std::string& path) {
  const FileDescriptor folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return {};
  open_how how{};
  how.flags = kFlags;
  how.resolve = RESOLVE_IN_ROOT;
  return only_regular(static_cast<int>(::syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof how)));
}

// The file that debuginfod-find fetched, or has in its cache; empty: none.
std::string fetched_file(const std::string& build_id) {
  const char* const urls = std::getenv("DEBUGINFOD_URLS");
  if (urls == nullptr || *urls == '\0' || !is_build_id(build_id)) return {};
  const std::string command = fmt::format("debuginfod-find debuginfo {} 2>/dev/null", build_id);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "re"), &::pclose);
  std::string path(4096, '\0');
  if (!pipe || std::fgets(path.data(), static_cast<int>(path.size()), pipe.get()) == nullptr) return {};
  path.resize(path.find_first_of(std::string_view("\n\0", 2)));
  return path;
}

}  // namespace

const UserName& UserSymbols::name(std::uint32_t frame) {
  const std::scoped_lock lock(mutex_);
  if (names_.size() <= frame) names_.resize(std::max<std::size_t>(code_.frames.size(), frame + std::size_t{1}));
  if (!names_[frame]) names_[frame] = std::make_unique<UserName>(look_up(code_.frames[frame]));
  return *names_[frame];
}

Findings UserSymbols::findings() const {
  const std::scoped_lock lock(mutex_);
  return findings_;
}

// A return address is behind its call, which may be the last instruction of a function.
UserName UserSymbols::look_up(const UserFrame& frame) {
  Image& of = image(frame.object);
  UserName name{of.name, "", frame.offset, false};
  const std::uint64_t inside = frame.offset - frame.is_return_address;
  const auto behind = std::ranges::upper_bound(of.made, inside, {}, &Made::start);
  if (behind != of.made.begin() && inside - (behind - 1)->start < (behind - 1)->size) {
    name.function = (behind - 1)->name;
    name.offset = frame.offset - (behind - 1)->start;
    return name;
  }
  ElfSymbols* const places = of.file ? of.file.get() : of.debug.get();
  if (places == nullptr) return name;
  const std::uint64_t address = places->address_of(inside);
  for (ElfSymbols* const symbols : {of.debug.get(), of.file.get()}) {
    const auto function = symbols != nullptr ? symbols->at(address) : std::nullopt;
    if (!function) continue;
    name.function = demangled(function->name);
    name.offset = function->offset + frame.is_return_address;
    break;
  }
  return name;
}

UserSymbols::Image& UserSymbols::image(std::uint32_t object) {
  if (images_.size() <= object) images_.resize(object + std::size_t{1});
  if (!images_[object]) images_[object] = std::make_unique<Image>();
  Image& image = *images_[object];
  if (!image.opened) {
    image.opened = true;
    image.name = short_object_name(code_.objects[object].path);
    if (object >= UserCode::kFirstObject) open(code_.objects[object], image);
  }
  return image;
}

void UserSymbols::open(const CodeObject& object, Image& image) {
  for (std::string_view line : split(object.symbols, '\n')) {
    Made made{};
    for (std::uint64_t* const number : {&made.start, &made.size}) {
      if (line.starts_with("0x")) line.remove_prefix(2);
      const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), *number, 16);
      line.remove_prefix(code == std::errc{} ? static_cast<std::size_t>(end - line.data()) : line.size());
      if (line.starts_with(' ')) line.remove_prefix(1);
    }
    if (line.empty()) continue;
    made.name = line;
    image.made.push_back(std::move(made));
  }
  std::ranges::stable_sort(image.made, {}, &Made::start);
  // Brackets name what has no file, and so does what is no path.
  if (!object.path.starts_with('/') || object.path.starts_with("//") || !image.made.empty()) return;
  std::string why = "not there";
  image.file = try_open(object, object.path, !options_.symfs.empty(), why);
  if (!image.file || !image.file->has_symtab()) image.debug = find_debug_file(object);
  if (!image.file && !image.debug)
    findings_.add({Imperfection::no_user_symbols, fmt::format("{}: {}", printable(object.path), why), {}, {}, {}});
}

// A path of a trace may name any file: nothing of it counts unless it is the one that was traced, by its build-id, or
// lies below the folder that the user named and nobody knows a build-id.
std::unique_ptr<ElfSymbols> UserSymbols::try_open(const CodeObject& object, const std::string& path, bool in_symfs,
                                                  std::string& why) {
  if (object.build_id.empty() && !in_symfs) {
    why = "the trace does not say its build-id; --symfs / takes it from this machine all the same";
    return nullptr;
  }
  FileDescriptor file = in_symfs ? open_below(options_.symfs, path) : open_here(path);
  if (!file) return nullptr;
  try {
    auto symbols = std::make_unique<ElfSymbols>(std::move(file), path);
    if (object.build_id.empty() || symbols->build_id() == object.build_id) return symbols;
    why = "the file is of another build";
  } catch (const Error& error) {
    why = error.what();
  }
  return nullptr;
}

std::unique_ptr<ElfSymbols> UserSymbols::find_debug_file(const CodeObject& object) {
  if (object.build_id.empty()) return nullptr;
  std::vector<std::string> paths;
  for (const std::string& directory : options_.debug_dirs)
    for (std::string& path : files_of_build_id(directory, object.build_id)) paths.push_back(std::move(path));
  std::string ignored;
  if (!options_.symfs.empty())
    for (const std::string& path : files_of_build_id(options_.symfs + kSystemDirectory, object.build_id))
      paths.push_back(path);
  for (const std::string& path : files_of_build_id(kSystemDirectory, object.build_id)) paths.push_back(path);
  for (const std::string& path : paths)
    if (auto symbols = try_open(object, path, false, ignored)) return symbols;
  if (!options_.debuginfod) return nullptr;
  const std::string path = fetched_file(object.build_id);
  return path.empty() ? nullptr : try_open(object, path, false, ignored);
}

}  // namespace kmt
