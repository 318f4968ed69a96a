// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/place.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <string_view>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/confinement/outside.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/folder.hpp"
#include "cli/investigate/evidence.hpp"
#include "cli/investigate/sampled_caches.hpp"
#include "cli/support/say.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSummaryFile = "summary.json";
constexpr const char* kPageFile = "index.html";
// This file exists until all other files are written. If a run is killed, this file remains and shows that the other
// files may be incomplete.
constexpr const char* kUnfinishedFile = "unfinished";
constexpr std::string_view kUnfinishedText =
    "kmemtrace investigate is running here, or was killed. The next investigation replaces its files.\n";

struct FileText {
  const char* name;
  const char* what;
};
constexpr std::array kFiles = {
    FileText{"before.kmt", "snapshot at the start: `kmemtrace snapshot`"},
    FileText{"after.kmt", "snapshot at the end"},
    FileText{"profile.kmt", "samples: `kmemtrace profile --show`"},
    FileText{"trace.kmt", "exact recording: `kmemtrace report`, `kmemtrace leaks`"},
    FileText{kEvidenceFile, "collected evidence: `kmemtrace investigate --from` judges it again"},
    FileText{kObjectsFile, "kinds of objects in large slab caches, for `kmemtrace investigate --from`"},
    FileText{kSummaryFile, "complete result with every series, as JSON"},
    FileText{kPageFile, "complete result as a page"},
};

std::string name_by_time() {
  return fmt::format("kmemtrace-investigation-{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::time(nullptr)));
}

// Returns the names of the files that the summary in the folder lists. Returns nothing if no investigation wrote into
// the folder.
std::vector<std::string> files_of_earlier(const std::string& folder) {
  std::vector<std::string> names;
  const auto text = try_read_file(fmt::format("{}/{}", folder, kSummaryFile));
  if (!text) return names;
  try {
    const auto summary = nlohmann::json::parse(*text);
    if (summary.at("schema") != "kmemtrace.investigate/1") return names;
    for (const auto& file : summary.at("files")) {
      const auto name = file.at("name").get<std::string>();
      if (std::ranges::find(kFiles, name, &FileText::name) != kFiles.end()) names.push_back(name);
    }
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  return names;
}

// True if an investigation writes files of this name. This includes the temporary names of incomplete files.
bool is_of_an_investigation(const std::string& name) {
  return std::ranges::any_of(kFiles, [&name](const FileText& file) {
    return name == file.name || name.starts_with(fmt::format("{}.unfinished-", file.name));
  });
}

// Opens and locks the file that marks an unfinished investigation. Throws Error if another process holds the lock.
FileDescriptor lock_unfinished(const std::string& folder, int flags) {
  const std::string path = fmt::format("{}/{}", folder, kUnfinishedFile);
  FileDescriptor file = open_file(path, O_RDWR | O_NOFOLLOW | flags);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) throw system_error("Cannot lock the file", path);
  throw Error("Another investigation is running in this folder")
      .hint("Name another folder with -o")
      .at({folder, {}, {}});
}

bool is_same_folder(const std::string& one, const std::string& other) {
  std::error_code code;
  return fs::equivalent(one, other, code) && !code;
}

}  // namespace

InvestigationPlace::InvestigationPlace(const std::string& output, const std::string& from)
    : is_page_alone_(output.ends_with(".html")),
      folder_(output.empty() ? name_by_time() : output),
      page_(is_page_alone_ ? output : fmt::format("{}/{}", folder_, kPageFile)) {
  if (is_page_alone_) return;
  if (!from.empty() && is_same_folder(folder_, from))
    throw Error("--from and -o cannot be the same folder, because its files would be replaced")
        .hint("Name another folder with -o, or write only the page: -o again.html")
        .at({folder_, {}, {}});
  earlier_ = files_of_earlier(folder_);
  std::vector<std::string> others = all_names_in(folder_);
  is_earlier_unfinished_ = try_read_file(fmt::format("{}/{}", folder_, kUnfinishedFile)) == kUnfinishedText;
  if (is_earlier_unfinished_) {
    unfinished_ = lock_unfinished(folder_, 0);
    std::erase(others, kUnfinishedFile);
    earlier_.clear();
    std::ranges::copy_if(others, std::back_inserter(earlier_), is_of_an_investigation);
  }
  std::erase_if(others, [&](const std::string& name) { return std::ranges::find(earlier_, name) != earlier_.end(); });
  if (others.empty()) return;
  constexpr std::size_t kMostNamed = 3;
  const bool may_be_killed_ones = std::ranges::all_of(others, is_of_an_investigation);
  std::ranges::sort(others);
  const bool are_more = others.size() > kMostNamed;
  if (are_more) others.resize(kMostNamed);
  throw Error(fmt::format("The folder has files that are not from an earlier investigation: {}{}",
                          fmt::join(others, ", "), are_more ? ", …" : ""))
      .hint(may_be_killed_ones ? "The files may be from an investigation that was killed. If so, remove them. "
                                 "Otherwise, name a new folder with -o"
                               : "Use -o with a new or empty folder, or with the folder of an earlier investigation to "
                                 "replace its files")
      .at({folder_, {}, {}});
}

InvestigationPlace::~InvestigationPlace() {
  if (!is_unfinished_) return;
  std::error_code code;  // if an error occurs, the files remain, as after a killed investigation
  // keep the folder if one of these files has data, because other commands can read these files
  for (const char* const kept : {kEvidenceFile, "trace.kmt", "profile.kmt"})
    if (fs::file_size(fmt::format("{}/{}", folder_, kept), code) > 0 && !code) return;
  for (const std::string& name : names_in(folder_))
    if (is_of_an_investigation(name)) fs::remove(fmt::format("{}/{}", folder_, name), code);
  fs::remove(fmt::format("{}/{}", folder_, kUnfinishedFile), code);
  if (made_folder_) fs::remove(folder_, code);
}

void InvestigationPlace::make() {
  if (is_page_alone_) {
    const std::string scratch = scratch_folder();
    folder_ = scratch.empty() ? temporary_.emplace(page_ + ".").path() : scratch;
    return;
  }
  std::error_code unknown;
  made_folder_ = !fs::exists(folder_, unknown);
  make_folder(folder_);
  if (!unfinished_) {
    unfinished_ = lock_unfinished(folder_, O_CREAT | O_EXCL);
    is_unfinished_ = true;
    write_all(unfinished_.get(), kUnfinishedText, fmt::format("{}/{}", folder_, kUnfinishedFile));
  }
  is_unfinished_ = true;
  for (const std::string& name : earlier_)
    if (std::error_code code; !fs::remove(fmt::format("{}/{}", folder_, name), code) && code)
      throw Error(fmt::format("Cannot remove the files of an earlier investigation: {}", code.message()))
          .at({fmt::format("{}/{}", folder_, name), {}, {}});
  if (!earlier_.empty())
    say("Replacing the {} investigation in {}; removing {}\n",
        is_earlier_unfinished_ ? "unfinished earlier" : "earlier", folder_, fmt::join(earlier_, ", "));
}

void InvestigationPlace::finish() {
  if (is_page_alone_) return;
  const std::string path = fmt::format("{}/{}", folder_, kUnfinishedFile);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw system_error("Cannot remove the file", path);
  is_unfinished_ = false;
}

std::vector<InvestigationFile> files_of_investigation(const std::vector<std::string>& written) {
  std::vector<InvestigationFile> files;
  for (const auto& [name, what] : kFiles)
    if (name == std::string(kSummaryFile) || name == std::string(kPageFile) ||
        std::ranges::find(written, name) != written.end())
      files.push_back({name, what});
  return files;
}

}  // namespace kmt
