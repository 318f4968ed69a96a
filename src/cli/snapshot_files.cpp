// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/snapshot_files.hpp"

#include <memory>

#include "analysis/snapshot.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "cli/result_file.hpp"
#include "formats/kmt/snapshot.hpp"
#include "snapshot/parse.hpp"

namespace kmt {

namespace {

TraceFile open(const std::string& path) {
  auto mapping = std::make_shared<const MappedFile>(path);
  return {path, mapping->bytes(), mapping};
}

}  // namespace

bool is_snapshot_file(const std::string& path) {
  try {
    return kmt_format::holds_snapshots_only(open(path).bytes);
  } catch (const Error&) {
    return false;
  }
}

SnapshotResult read_snapshot(const std::string& path) {
  kmt_format::StoredSnapshots stored = kmt_format::read_snapshots(open(path));
  KernelMemory memory = parse_snapshot(stored.samples.back(), stored.kernel.page_size);
  if (memory.release.empty()) memory.release = stored.kernel.release;
  if (memory.machine.empty()) memory.machine = stored.kernel.machine;
  try {
    return take_stock(std::move(memory));
  } catch (Error& error) {
    throw error.at({path, {}, {}});
  }
}

void write_snapshot(const std::string& path, const StateSample& sample, const KernelDescription& kernel) {
  ResultFile file(path, {});
  file.write_by_name([&](const std::string& name) { kmt_format::write_snapshot(name, sample, kernel); });
  file.finish();
}

}  // namespace kmt
