// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/snapshot.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/file_writer.hpp"

namespace kmt::kmt_format {

void write_snapshot(const std::string& path, const StateSample& sample, const KernelDescription& kernel) {
  TraceDescription description;
  description.kernel = kernel;
  description.uname = uname_of(kernel);
  FileWriter file(path);
  file.append(pack(kFacts, 0, encode_facts(description)));
  file.append_sample(sample);
  file.finish();
}

bool holds_snapshots_only(Bytes file) {
  if (!is_kmt(file) || file.size() < kFileHeaderBytes) return false;
  bool has_sample = false;
  std::uint64_t offset = kFileHeaderBytes;
  while (const std::optional<Chunk> chunk = find_chunk(file, offset)) {
    offset = chunk->end();
    if (chunk->type == kFormats || chunk->type == kStream || chunk->type == kEvents) return false;
    has_sample = has_sample || chunk->type == kState;
  }
  return has_sample;
}

StoredSnapshots read_snapshots(const TraceFile& file) {
  Error none("The file has no snapshot of the kernel's memory");
  none.at({file.path, {}, {}})
      .hint("Snapshots are what `kmemtrace snapshot -o FILE.kmt` writes, and what `record` keeps in a .kmt");
  if (!is_kmt(file.bytes)) throw none;
  try {
    Findings findings;
    FileContents contents = parse_file(file.bytes, findings);
    for (const Finding& finding : findings.kept())
      if (finding.kind == Imperfection::damaged_section)
        throw Error(fmt::format("The file is damaged: {}", finding.detail)).at({{}, {}, finding.offset});
    StoredSnapshots stored{std::move(contents.description.kernel), std::move(contents.description.samples)};
    if (stored.samples.empty()) throw none;
    name_machine(contents.description.uname, stored.kernel);
    return stored;
  } catch (Error& error) {
    throw error.at({file.path, {}, {}});
  }
}

}  // namespace kmt::kmt_format
