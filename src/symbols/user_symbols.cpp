// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/user_symbols.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/build_id.hpp"
#include "base/confinement/outside.hpp"
#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "symbols/debug_files.hpp"
#include "trace/code/made_code.hpp"

namespace kmt {

namespace {

constexpr const char* kSystemDirectory = "/usr/lib/debug";

// Runs a program that is searched for in PATH. Returns its standard output, or nothing if there is no such program.
std::optional<std::string> output_of(std::vector<const char*> words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const FileDescriptor output(ends[0]);
  FileDescriptor input(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  words.push_back(nullptr);
  pid_t child = 0;
  const int failure =
      ::posix_spawnp(&child, words[0], &actions, nullptr, const_cast<char* const*>(words.data()), environ);
  posix_spawn_file_actions_destroy(&actions);
  input.reset();
  if (failure != 0) return std::nullopt;
  std::string text;
  char buffer[4096];
  for (ssize_t bytes = 0; (bytes = ::read(output.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(bytes));
  ::waitpid(child, nullptr, 0);
  return text;
}

// True if the memory is not mapped from a file. Also true if the file was removed later, because another file may have
// its path now.
bool has_no_file(std::string_view path) {
  return path.starts_with("/memfd:") || path.starts_with("/SYSV") || path.starts_with("/anon_hugepage") ||
         path == "/dev/zero" || path.ends_with(" (deleted)");
}

// Returns the reason why debug info cannot be fetched. Empty if it can be fetched.
std::string why_nothing_is_fetched() {
  const char* const urls = std::getenv("DEBUGINFOD_URLS");
  if (urls == nullptr || *urls == '\0') return "$DEBUGINFOD_URLS names no server";
  if (!output_of({"debuginfod-find", "--version"}))
    return "the program debuginfod-find is not installed (Debian's package is debuginfod, others call it elfutils)";
  return {};
}

// Returns the path of the debug info that debuginfod-find fetched or found in its cache. Empty if there is none.
std::string fetched_file(const std::string& build_id) {
  if (!is_build_id(build_id)) return {};
  const std::string output = output_of({"debuginfod-find", "debuginfo", build_id.c_str()}).value_or("");
  return output.substr(0, output.find('\n'));
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

// Returns the name of a frame. A return address points to the instruction after the call, which may belong to the next
// function. So 1 is subtracted before the look-up.
UserName UserSymbols::look_up(const UserFrame& frame) {
  Image& of = image(frame.object);
  UserName name{of.name, "", frame.offset, false};
  const std::uint64_t inside = frame.offset - frame.is_return_address;
  const auto after = std::ranges::upper_bound(of.made, inside, {}, &Made::start);
  if (after != of.made.begin() && inside - (after - 1)->start < (after - 1)->size) {
    name.function = (after - 1)->name;
    name.offset = frame.offset - (after - 1)->start;
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

void UserSymbols::take_symbols(std::string_view lines, Image& image) {
  for (std::string_view line : split(lines, '\n')) {
    Made made{};
    for (std::uint64_t* const number : {&made.start, &made.size}) {
      if (line.starts_with("0x")) line.remove_prefix(2);
      const auto value = take_number<std::uint64_t>(line, 16);
      if (!value) line = {};
      *number = value.value_or(0);
      if (line.starts_with(' ')) line.remove_prefix(1);
    }
    if (line.empty()) continue;
    made.name = line;
    image.made.push_back(std::move(made));
  }
  std::ranges::stable_sort(image.made, {}, &Made::start);
}

// Returns the text of the perf-PID.map that a program wrote for its generated code. Empty if there is no such file, or
// if the file may belong to another program.
std::string UserSymbols::read_map(const std::string& path) {
  if (!options_.symfs.empty()) {
    const FileDescriptor file = open_code(path, options_.symfs);
    return file ? read_made_code_map(file) : std::string();
  }
  if (!options_.made_code_here) return {};
  // As in perf, the file must belong to root or to this user.
  const FileDescriptor file = open_made_code_map(path, {0, ::geteuid()});
  return file ? read_made_code_map(file) : std::string();
}

void UserSymbols::open(const CodeObject& object, Image& image) {
  take_symbols(object.symbols, image);
  if (is_made_code_map(object.path)) {
    if (image.made.empty()) take_symbols(read_map(object.path), image);
    if (image.made.empty())
      findings_.add({Imperfection::no_user_symbols,
                     object.path + ": a program generated this code, but no names of its functions were found"});
    return;
  }
  // Code is not from a file if the name of its object is in brackets or is not a path.
  if (!object.path.starts_with('/') || object.path.starts_with("//") || !image.made.empty()) return;
  if (has_no_file(object.path) && object.build_id.empty()) {
    findings_.add({Imperfection::no_user_symbols, printable(object.path) + ": this code has no file"});
    return;
  }
  if (object.build_id.empty() && options_.symfs.empty()) {
    findings_.add({Imperfection::no_user_build_ids, printable(object.path)});
    return;
  }
  std::string why = "not found";
  image.file = try_open(object, object.path, !options_.symfs.empty(), why);
  if (!image.file || !image.file->has_symtab()) {
    CodeObject built = object;  // if the trace has no build ID, use that of the file below --symfs
    if (built.build_id.empty() && image.file) built.build_id = image.file->build_id();
    image.debug = find_debug_file(built, why);
  }
  if (!image.file && !image.debug)
    findings_.add({Imperfection::no_user_symbols, fmt::format("{}: {}", printable(object.path), why)});
}

// Opens the file of an object. The path is from the trace, which is untrusted, so it may name any file. The file is
// used only if it has the build ID of the traced file. If this build ID is unknown, the file is used only if it is
// below the folder that the user names with --symfs.
std::unique_ptr<ElfSymbols> UserSymbols::try_open(const CodeObject& object, const std::string& path, bool in_symfs,
                                                  std::string& why) {
  FileDescriptor file = open_code(path, in_symfs ? options_.symfs : "");
  if (!file) return nullptr;
  try {
    auto symbols = std::make_unique<ElfSymbols>(std::move(file), path);
    if (object.build_id.empty() || symbols->build_id() == object.build_id) return symbols;
    why = "the file is from another build";
  } catch (const Error& error) {
    why = error.what();
  }
  return nullptr;
}

std::unique_ptr<ElfSymbols> UserSymbols::find_debug_file(const CodeObject& object, std::string& why) {
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
  if (!can_fetch_) {
    const std::string reason = why_nothing_is_fetched();
    can_fetch_ = reason.empty();
    if (!*can_fetch_) findings_.add({Imperfection::nothing_fetched, reason});
  }
  if (!*can_fetch_) return nullptr;
  const std::string path = fetched_file(object.build_id);
  if (path.empty()) why += ", and no server of $DEBUGINFOD_URLS has its debug info";
  return path.empty() ? nullptr : try_open(object, path, false, ignored);
}

}  // namespace kmt
