// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/salvage.hpp"

#include <algorithm>

#include <fcntl.h>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "formats/ctf/graph.hpp"

namespace kmt::ctf {

namespace {

namespace fs = std::filesystem;

// Size of the magic number and the uuid at the start of a packet, in bytes. They are equal in all packets of a trace.
constexpr std::size_t kPacketStart = 20;

bool refuses(const fs::path& folder) {
  try {
    const Graph graph({{folder.string()}});
    return false;
  } catch (const Error&) {
    return true;
  }
}

// Returns the offset of the stream's last packet, in bytes; 0 if the stream has only one packet.
std::size_t last_packet(Bytes stream) {
  if (stream.size() < 2 * kPacketStart) return 0;
  const Bytes start = stream.first(kPacketStart);
  const auto found = std::find_end(stream.begin(), stream.end(), start.begin(), start.end());
  return found == stream.end() ? 0 : static_cast<std::size_t>(found - stream.begin());
}

}  // namespace

Salvage::Salvage(const std::vector<std::vector<std::string>>& traces, const Error& refusal, Findings& findings) {
  for (const std::vector<std::string>& folders : traces) {
    std::vector<std::string>& kept = traces_.emplace_back();
    for (const std::string& folder : folders) kept.push_back(salvage(fs::absolute(folder), refusal, findings));
  }
  if (!any_) throw refusal;
}

// Tests each stream separately, then links all readable streams into one folder.
std::string Salvage::salvage(const fs::path& folder, const Error& refusal, Findings& findings) {
  const fs::path place = place_.path();
  const fs::path trial = place / "trial", kept = place / std::to_string(count_++);
  for (const fs::path& made : {trial, kept}) {
    fs::create_directory(made);
    fs::create_symlink(folder / "metadata", made / "metadata");
  }
  if (refuses(trial)) throw refusal;  // the library refuses the metadata without any stream

  for (const std::string& name : names_in(folder)) {
    if (name == "metadata" || name.front() == '.' || !fs::is_regular_file(folder / name)) continue;
    fs::create_symlink(folder / name, trial / name);
    if (refuses(trial)) {
      fs::remove(trial / name);
      const MappedFile stream((folder / name).string());
      const std::size_t intact = last_packet(stream.bytes());
      if (intact > 0)
        write_all(open_file(trial / name, O_WRONLY | O_CREAT | O_EXCL).get(),
                  {reinterpret_cast<const char*>(stream.bytes().data()), intact}, trial / name);
      const bool readable = intact > 0 && !refuses(trial);
      findings.add({Imperfection::damaged_stream,
                    fmt::format("{}: {}", printable(name),
                                readable ? fmt::format("its last packet, from offset {:#x} on, is cut off", intact)
                                         : "none of its packets can be read")});
      if (!readable) {
        fs::remove(trial / name);
        continue;
      }
    }
    fs::rename(trial / name, kept / name);
    any_ = true;
  }
  fs::remove_all(trial);
  return kept;
}

}  // namespace kmt::ctf
