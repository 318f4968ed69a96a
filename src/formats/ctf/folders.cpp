// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/folders.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/ctf/json/metadata.hpp"
#include "formats/ctf/metadata_checks.hpp"
#include "formats/ctf/stream_index.hpp"

namespace kmt::ctf {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTextStart = "/* CTF 1";
constexpr std::size_t kBegin = 64;              // number of metadata bytes that are enough to find the version
constexpr int kMostDepth = 6;                   // maximum depth of folders: session/archives/chunk/domain/uid/64-bit
constexpr std::size_t kMostText = 1u << 20;     // maximum number of metadata bytes to search for `trace { … }`
constexpr std::size_t kMostFolders = 1u << 16;  // maximum number of folders; larger trees are not traces

struct Metadata {
  std::string uuid;  // only for comparison: as text or as raw bytes; may be empty
  ByteOrder byte_order = kHostOrder;
  bool is_json = false;  // CTF 2
};

std::string start_of(const fs::path& path, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// Returns the value of the first `name = value` or `name = "value"` in the text, or "" if there is none.
std::string_view value_of(std::string_view text, std::string_view name) {
  constexpr std::string_view kBlanks = " \t\n";
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    if (at > 0 && is_word(text[at - 1])) continue;
    std::size_t begin = text.find_first_not_of(kBlanks, at + name.size());
    if (begin == std::string_view::npos || text[begin] != '=') continue;
    begin = text.find_first_not_of(" \t\n\"", begin + 1);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_first_of(" \t\n\";", begin) - begin);
  }
  return {};
}

// Finds the uuid and the byte order of a metadata file. Binary metadata starts with the magic number in the byte order
// of the trace and the uuid. Plain-text metadata has entries `uuid` and `byte_order`.
std::optional<Metadata> metadata_at(const fs::path& path) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) return std::nullopt;
  const std::string begin = start_of(path, kBegin);
  if (is_json_metadata({reinterpret_cast<const std::uint8_t*>(begin.data()), begin.size()})) {
    const JsonMetadataStart json = start_of_json_metadata(MappedFile(path.string()).bytes());
    return Metadata{json.uuid, json.big_endian ? ByteOrder::big : ByteOrder::little, true};
  }
  const std::string start = begin.substr(0, 4 + kUuidBytes);
  if (start.size() == 4 + kUuidBytes)
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
      if (load<std::uint32_t>(start.data(), order) == kMetadataMagic) return Metadata{start.substr(4), order, false};
  if (!start.starts_with(kTextStart)) return std::nullopt;
  const std::string text = start_of(path, kMostText);
  Metadata metadata;
  if (const std::string_view uuid = value_of(text, "uuid"); uuid.size() == 36) metadata.uuid = uuid;
  if (const std::string_view order = value_of(text, "byte_order"); !order.empty())
    metadata.byte_order = order == "le" ? ByteOrder::little : ByteOrder::big;  // "be", "network"
  return metadata;
}

// The folders with metadata that were found in a path and below.
struct Found {
  std::map<std::string, Metadata> folders;  // by path
  std::string cut_off;                      // path of a metadata file that is too short to be valid; may be empty
};

void look_at(const fs::path& folder, Found& found) {
  const fs::path path = folder / "metadata";
  std::error_code code;
  if (const auto metadata = metadata_at(path))
    found.folders[folder] = *metadata;
  else if (fs::is_regular_file(path, code) && fs::file_size(path, code) < 4 + kUuidBytes)
    found.cut_off = path;
}

Found folders_below(const fs::path& root) {
  Found found;
  look_at(root, found);
  std::error_code code;
  std::size_t seen = 0;
  fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied, code);
  for (; !code && entry != fs::recursive_directory_iterator() && ++seen < kMostFolders; entry.increment(code)) {
    if (entry.depth() + 1 >= kMostDepth) entry.disable_recursion_pending();
    if (entry->is_directory(code)) look_at(entry->path(), found);
  }
  return found;
}

// Returns the folder of a metadata file, and any other path unchanged.
fs::path root_of(const std::string& path) {
  const fs::path named(path);
  return named.filename() == "metadata" && metadata_at(named) ? fs::absolute(named).parent_path() : named;
}

// Removes "_12" from the end of a name like "channel0_12" and returns 12. Empty if the name has no number.
std::optional<unsigned> take_last_number(std::string_view& name) {
  const std::size_t mark = name.rfind('_');
  if (mark == std::string_view::npos) return std::nullopt;
  const auto number = parse_number<unsigned>(name.substr(mark + 1));
  if (!number || *number > 0xFFFE) return std::nullopt;
  name = name.substr(0, mark);
  return number;
}

// Removes the number from the name of a stream and returns it. "channel0_3" belongs to the fourth CPU. Returns nothing
// if the number is ambiguous: "channel0_3_7" may be a stream of several files, or the channel's name may end in a
// number.
std::optional<unsigned> take_stream_number(std::string_view& name) {
  const std::optional<unsigned> last = take_last_number(name);
  std::string_view channel = name;
  return take_last_number(channel) ? std::nullopt : last;
}

std::optional<unsigned> number_of_stream(std::string_view name) { return take_stream_number(name); }

void compare_with_index(const fs::path& stream, const std::string& index, Folders& folders) {
  const std::optional<unsigned> cpu = number_of_stream(stream.filename().string());
  try {
    const MappedFile file(index);
    if (const auto cut = cut_off_by_index(file.bytes(), fs::file_size(stream)))
      folders.doubted.push_back({stream, cpu, to_string(*cut), true});
  } catch (const std::exception& error) {
    folders.doubted.push_back({stream, cpu, fmt::format("its index cannot be read: {}", error.what()), false});
  }
}

void look_for_missing_streams(const fs::path& folder, Folders& folders) {
  std::error_code code;
  for (const fs::path name : all_names_in(folder / "index")) {
    if (name.extension() != ".idx") continue;
    if (const auto number = number_of_stream(name.stem().string()))
      folders.streams_of_channel = std::max(folders.streams_of_channel, *number + 1);
    if (const fs::path stream = folder / name.stem(); !fs::exists(stream, code))
      folders.missing.push_back(stream);
    else
      compare_with_index(stream, folder / "index" / name, folders);
  }
}

// True for a folder of LTTng's user-space tracer, such as session/ust/uid/0/64-bit.
bool is_of_programs(const fs::path& folder) { return std::ranges::find(folder, fs::path("ust")) != folder.end(); }

// Finds missing streams. The streams of a channel are numbered 0, 1, 2 and so on, one for each CPU.
void look_for_gaps(const fs::path& folder, Folders& folders) {
  std::map<std::string, std::set<unsigned>> channels;
  const auto add = [&channels](const std::string& stream) {
    std::string_view name = stream;
    if (const auto number = take_stream_number(name)) channels[std::string(name)].insert(*number);
  };
  for (const std::string& name : names_in(folder)) add(name);
  for (const fs::path name : names_in(folder / "index")) add(name.stem());
  unsigned cpus = 0;
  for (const auto& [channel, numbers] : channels) cpus = std::max(cpus, *numbers.rbegin() + 1);
  for (auto& [channel, numbers] : channels) {
    numbers.insert(cpus);  // to also find gaps at the end: each channel should have a stream for each CPU
    unsigned expected = 0;
    for (const unsigned number : numbers) {
      if (number > expected)
        folders.gaps.push_back({folder / fmt::format("{}_{}", channel, expected), number - expected});
      expected = number + 1;
    }
  }
}

void check_metadata_of(const std::string& path) {
  try {
    const MappedFile file(path);
    if (!is_json_metadata(file.bytes())) check_metadata(file.bytes());
  } catch (Error& error) {
    throw error.at({path, {}, {}});
  }
}

Error no_metadata(const std::string& path) {
  std::error_code code;
  const auto bytes = fs::file_size(path, code);
  return Error(bytes == 0 ? "The CTF trace's metadata is empty"
                          : fmt::format("The CTF trace's metadata is cut off: {} bytes are there", bytes))
      .at({path, {}, {}})
      .hint("The events cannot be decoded without metadata. Was the recording stopped, and were all files copied?");
}

}  // namespace

std::string written_stream(unsigned cpu) { return fmt::format("kernel/channel0_{}", cpu); }

bool is_ctf(const std::string& path) {
  try {
    const Found found = folders_below(root_of(path));
    return !found.folders.empty() || !found.cut_off.empty();
  } catch (const std::exception&) {
    return false;  // the file system cannot be read
  }
}

Folders find_folders(const std::string& path) {
  const fs::path root = root_of(path);
  Folders folders;
  std::map<std::string, std::size_t> by_uuid;
  bool first = true;
  const Found found = folders_below(root);
  for (const auto& [folder, metadata] : found.folders) {
    check_metadata_of((fs::path(folder) / "metadata").string());
    if (first) folders.byte_order = metadata.byte_order;
    first = false;
    const auto [place, is_new] = by_uuid.try_emplace(metadata.uuid, folders.traces.size());
    if (is_new || metadata.uuid.empty())
      folders.traces.push_back({folder});
    else
      folders.traces[place->second].push_back(folder);
    look_for_missing_streams(folder, folders);
    if (!is_of_programs(folder)) look_for_gaps(folder, folders);
    if (!metadata.is_json) add_earlier_packets(folder, metadata.byte_order, folders.earlier_packets);
  }
  std::sort(folders.missing.begin(), folders.missing.end());
  std::ranges::sort(folders.doubted, {}, &DoubtedStream::path);
  if (folders.traces.empty() && !found.cut_off.empty()) throw no_metadata(found.cut_off);
  if (folders.traces.empty())
    throw Error(fmt::format("{} has no CTF trace in it", printable(path)))
        .hint("Name a folder that contains a file named metadata");

  // Search outside the trace's own folder, because each file in that folder counts as a stream.
  const fs::path of_trace(folders.traces.front().front());
  for (const fs::path& place : {root, fs::absolute(of_trace).parent_path()}) {
    std::error_code code;
    const auto beside = [&](const char* name) {
      return place != of_trace && fs::is_regular_file(place / name, code) ? (place / name).string() : std::string();
    };
    if (folders.kallsyms.empty()) folders.kallsyms = beside("kallsyms");
    if (folders.description.empty()) folders.description = beside(kDescriptionName);
  }
  return folders;
}

}  // namespace kmt::ctf
