// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the repair of .kmt files. A real trace in many small blocks is cut off, and damaged in many places.
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/file_writer.hpp"
#include "formats/kmt/layout.hpp"
#include "formats/kmt/repair.hpp"
#include "formats/registry.hpp"

namespace kmt {
namespace {

using namespace kmt_format;

using File = std::vector<std::uint8_t>;

struct StreamItems {
  RecordStream stream;
  std::vector<std::string> items;
  bool operator==(const StreamItems& other) const { return items == other.items; }
};

class Collected : public RecordSink {
 public:
  void describe(const TraceDescription& text) override { description = text; }
  void begin_stream(const RecordStream& stream) override { streams.push_back({stream, {}}); }
  void record(std::uint64_t ticks, Bytes record) override {
    std::string& item = streams.back().items.emplace_back(reinterpret_cast<const char*>(&ticks), sizeof ticks);
    item.append(reinterpret_cast<const char*>(record.data()), record.size());
  }
  void lost(std::optional<std::uint64_t> count) override {
    streams.back().items.push_back("lost " + std::to_string(count.value_or(0)));
  }
  void end_stream() override {}

  std::size_t size() const {
    std::size_t sum = 0;
    for (const StreamItems& stream : streams) sum += stream.items.size();
    return sum;
  }

  TraceDescription description;
  std::vector<StreamItems> streams;
};

Collected collect(const File& bytes) {
  Collected collected;
  Findings findings;
  read_records(TraceFile{"a file", bytes, nullptr}, {}, collected, findings);
  return collected;
}

class Folder {
 public:
  Folder() {
    if (::mkdtemp(name_.data()) == nullptr) throw system_error("Cannot make", name_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(name_); }
  std::string file(const std::string& name) const { return name_ + "/" + name; }

 private:
  std::string name_ = std::filesystem::temp_directory_path() / "repair_test.XXXXXX";
};

File bytes_of(const std::string& path) {
  const std::string text = read_file(path);
  return {text.begin(), text.end()};
}

void write_bytes(const std::string& path, const File& bytes) {
  const FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  write_all(file.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

// Writes a real trace in which the blocks of the CPUs take turns, as a recorder writes them. It has no statistics,
// because a recorder only knows these at the end. The last block may have losses and no events.
File write_recording(bool ends_with_losses) {
  const std::string data = std::getenv("KMEMTRACE_DATA");
  Collected all;
  Findings findings;
  const File dat = bytes_of(data + "/i386/trace.mono.dat");
  read_records(TraceFile{"trace.mono.dat", dat, nullptr}, {}, all, findings);
  all.description.cpu_stats.clear();
  all.description.kernel.kallsyms = {};

  const Folder folder;
  FileWriter writer(folder.file("x.kmt"), Replaced::removed, kFeatureSteps);
  writer.append_description(all.description);
  for (const StreamItems& stream : all.streams) writer.append_stream(stream.stream);
  const RecordLayouts layouts(parse_event_formats(all.description.kernel.formats, findings),
                              all.description.kernel.byte_order);
  BlockEncoder encoder(layouts);
  constexpr std::size_t kBlockItems = 600;
  for (std::size_t first = 0; first < all.size(); first += kBlockItems)
    for (std::uint16_t stream = 0; stream < all.streams.size(); ++stream) {
      const std::vector<std::string>& items = all.streams[stream].items;
      for (std::size_t i = first; i < std::min(first + kBlockItems, items.size()); ++i) {
        std::uint64_t ticks = 0;
        std::memcpy(&ticks, items[i].data(), sizeof ticks);
        const auto* const record = reinterpret_cast<const std::uint8_t*>(items[i].data()) + sizeof ticks;
        encoder.add(ticks, Bytes(record, items[i].size() - sizeof ticks));
      }
      if (!encoder.empty()) writer.append(pack(stream, encoder.finish()));
    }
  if (ends_with_losses) {
    encoder.add_lost(3);
    writer.append(pack(0, encoder.finish()));
  }
  writer.finish();
  return bytes_of(folder.file("x.kmt"));
}

const File& recording() {
  static const File file = write_recording(false);
  return file;
}

std::vector<Chunk> chunks_of(const File& file) {
  std::vector<Chunk> chunks;
  std::uint64_t offset = kFileHeaderBytes;
  while (const std::optional<Chunk> chunk = chunk_at(file, offset)) {
    chunks.push_back(*chunk);
    offset = chunk->end();
  }
  return chunks;
}

File repaired(const File& file, const Repair& repair) {
  File out;
  for (const auto& [offset, bytes] : repair.kept) {
    const auto from = file.begin() + static_cast<std::ptrdiff_t>(offset);
    out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(bytes));
  }
  out.insert(out.end(), repair.end.begin(), repair.end.end());
  return out;
}

Findings findings_of(const File& file) {
  const auto source = open_trace(TraceFile{"a file", file, nullptr});
  for (EventBatch batch; source->read(batch);) {
  }
  return source->info().findings;
}

// Repairs a file and reads both files. Their events must be equal. The repaired file must have a finding that the
// kernel's count of lost events is missing, and no findings of damage. It must have a finding for the repair if the
// index was missing or chunks were dropped.
void expect_repaired(const File& damaged, const std::string& what) {
  const Repair repair = plan_repair(damaged);
  ASSERT_TRUE(repair.needed) << what;
  const File file = repaired(damaged, repair);
  ASSERT_FALSE(plan_repair(file).needed) << what << ": a second repair";
  const Collected before = collect(damaged);
  const Collected after = collect(file);
  ASSERT_EQ(before.streams, after.streams) << what;

  std::size_t kept = 0;
  for (const Repair::Stream& stream : repair.streams) kept += stream.events;
  EXPECT_EQ(kept, after.size()) << what;
  if (after.description.kernel.header_page.empty()) return;  // the file was unreadable before the repair too
  const Findings findings = findings_of(file);
  for (const Imperfection kind : {Imperfection::truncated_file, Imperfection::unfinished_file,
                                  Imperfection::damaged_block, Imperfection::damaged_section})
    EXPECT_EQ(findings.count_of(kind), 0u) << what << ": " << describe(kind).id;
  EXPECT_GT(findings.count_of(Imperfection::unknown_loss), 0u) << what;
  EXPECT_EQ(findings.count_of(Imperfection::repaired_file) > 0, repair.lacked_index || !repair.omitted.empty());
}

File cut(const File& file, std::size_t size) {
  return {file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)};
}

TEST(Repair, NothingToDo) {
  const Repair repair = plan_repair(recording());
  EXPECT_FALSE(repair.needed);
  EXPECT_TRUE(repair.omitted.empty());
  EXPECT_EQ(repaired(recording(), repair), recording());
}

TEST(Repair, ABlockThatHasOnlyLossesNeedsNone) { EXPECT_FALSE(plan_repair(write_recording(true)).needed); }

TEST(Repair, CutBetweenChunks) {
  const std::vector<Chunk> chunks = chunks_of(recording());
  ASSERT_GT(chunks.size(), 10u);
  for (const Chunk& chunk : chunks) {
    const File damaged = cut(recording(), chunk.end());
    const Repair repair = plan_repair(damaged);
    EXPECT_TRUE(repair.only_end());
    EXPECT_TRUE(repair.omitted.empty());
    EXPECT_EQ(repair.lacked_index, chunk.type != kIndex);
    expect_repaired(damaged, "cut at " + std::to_string(chunk.end()));
  }
  EXPECT_THROW(plan_repair(cut(recording(), kFileHeaderBytes)), Error);
}

TEST(Repair, CutAnywhere) {
  const std::size_t first = chunks_of(recording()).front().end();
  constexpr std::size_t kPlaces = 200;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const std::size_t size = first + 1 + (recording().size() - first - 2) * i / (kPlaces - 1);
    const File damaged = cut(recording(), size);
    EXPECT_TRUE(plan_repair(damaged).only_end());
    expect_repaired(damaged, "cut at " + std::to_string(size));
  }
}

TEST(Repair, AnIndexThatLacksOnlyItsTrailerLosesNothing) {
  for (std::size_t missing = 1; missing <= kTrailerBytes; ++missing) {
    const File damaged = cut(recording(), recording().size() - missing);
    EXPECT_EQ(repaired(damaged, plan_repair(damaged)), recording()) << missing;
  }
}

TEST(Repair, DamageAnywhere) {
  for (std::size_t at = kFileHeaderBytes; at < recording().size(); at += recording().size() / 150) {
    File damaged = recording();
    for (std::size_t i = at; i < std::min(at + 40, damaged.size()); ++i) damaged[i] ^= 0x5A;
    expect_repaired(damaged, "damaged at " + std::to_string(at));
  }
}

TEST(Repair, DamageLosesOnlyItsChunk) {
  const std::vector<Chunk> chunks = chunks_of(recording());
  const Chunk& victim = chunks[chunks.size() / 2];
  ASSERT_EQ(victim.type, kEvents);
  File damaged = recording();
  damaged[victim.end() - 1] ^= 1;
  const Repair repair = plan_repair(damaged);
  ASSERT_EQ(repair.omitted.size(), 1u);
  EXPECT_EQ(repair.omitted[0].range.offset, victim.offset);
  EXPECT_EQ(repair.omitted[0].range.bytes, victim.end() - victim.offset);
  EXPECT_FALSE(repair.only_end());
  EXPECT_FALSE(repair.lacked_index);
  EXPECT_EQ(collect(recording()).size() - collect(repaired(damaged, repair)).size(), 600u);

  // If a repaired file is damaged and repaired again, it must contain findings for both repairs.
  File again = repaired(damaged, repair);
  again[chunks[5].end() - 1] ^= 1;
  again = repaired(again, plan_repair(again));
  EXPECT_EQ(findings_of(again).count_of(Imperfection::repaired_file), 2u);
}

TEST(Repair, FindingsBeforeAndAfter) {
  const std::vector<Chunk> chunks = chunks_of(recording());
  const std::uint64_t whole = chunks[chunks.size() - 4].end();
  const auto count = [](const File& file, Imperfection kind) { return findings_of(file).count_of(kind); };
  EXPECT_EQ(count(recording(), Imperfection::unfinished_file), 0u);
  EXPECT_EQ(count(recording(), Imperfection::truncated_file), 0u);
  EXPECT_EQ(count(recording(), Imperfection::cut_off_cpu), 0u);
  EXPECT_EQ(count(recording(), Imperfection::unknown_loss), 1u);
  EXPECT_EQ(count(cut(recording(), whole), Imperfection::unfinished_file), 1u);
  EXPECT_EQ(count(cut(recording(), whole), Imperfection::truncated_file), 0u);
  EXPECT_EQ(count(cut(recording(), whole + 5), Imperfection::unfinished_file), 0u);
  EXPECT_EQ(count(cut(recording(), whole + 5), Imperfection::truncated_file), 1u);

  // The findings must contain the time of the last event of every CPU.
  const File damaged = cut(recording(), whole);
  const Repair repair = plan_repair(damaged);
  const Findings findings = findings_of(damaged);
  std::size_t cpus = 0;
  for (const Finding& finding : findings.kept()) {
    if (finding.kind != Imperfection::cut_off_cpu) continue;
    ++cpus;
    EXPECT_EQ(finding.time_ns, repair.streams.at(finding.cpu.value()).last_ns);
  }
  EXPECT_EQ(cpus, repair.streams.size());
  EXPECT_EQ(count(repaired(damaged, repair), Imperfection::cut_off_cpu), cpus);
}

// If only the end of a file is missing, all events are present up to the earliest of the CPUs' last events.
TEST(Repair, ACutFileIsCompleteUntilTheFirstCpuEnds) {
  const auto complete_until = [](const File& file) {
    return open_trace(TraceFile{"a file", file, nullptr})->info().losses.complete_until_ns;
  };
  EXPECT_EQ(complete_until(recording()), std::nullopt);
  const std::vector<Chunk> chunks = chunks_of(recording());
  const File damaged = cut(recording(), chunks[chunks.size() - 4].end() + 5);
  const Repair repair = plan_repair(damaged);
  std::uint64_t first_end = ~std::uint64_t{0};
  for (const Repair::Stream& stream : repair.streams) first_end = std::min(first_end, stream.last_ns.value());
  EXPECT_EQ(complete_until(damaged), first_end);
  EXPECT_EQ(complete_until(repaired(damaged, repair)), first_end);

  File again = repaired(damaged, repair);
  again[chunks[chunks.size() / 2].end() - 1] ^= 1;
  EXPECT_EQ(complete_until(repaired(again, plan_repair(again))), std::nullopt) << "a block in the middle is missing";
  std::size_t events = 0;  // number of the first chunk of events
  while (chunks[events].type != kEvents) ++events;
  EXPECT_EQ(complete_until(cut(recording(), chunks[events].end())), std::nullopt) << "a CPU has no events";
}

TEST(Repair, OtherVersionsAreRefused) {
  File other = recording();
  other[8] = 2;
  EXPECT_THROW(plan_repair(other), Error);
}

TEST(RepairOnDisk, InPlaceAndToAnotherFile) {
  const Folder folder;
  const std::string path = folder.file("a.kmt");
  File damaged = cut(recording(), recording().size() * 2 / 3);
  write_bytes(path, damaged);
  Repair repair = plan_repair(damaged);
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  repair_in_place(path, damaged.size(), repair);
  ASSERT_EQ(::stat(path.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(bytes_of(path), repaired(damaged, repair));
  EXPECT_THROW(repair_in_place(path, damaged.size(), repair), Error) << "the file has another size";

  damaged = recording();
  damaged[damaged.size() / 2] ^= 1;
  write_bytes(path, damaged);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  std::filesystem::create_symlink("a.kmt", folder.file("link"));
  repair = plan_repair(damaged);
  write_repaired(folder.file("link"), damaged, repair);
  EXPECT_FALSE(std::filesystem::is_symlink(folder.file("link"))) << "the file replaces it";
  EXPECT_EQ(bytes_of(folder.file("link")), repaired(damaged, repair));
  EXPECT_EQ(bytes_of(path), damaged) << "the target of a link is unchanged";
  write_repaired(path, damaged, repair);
  ASSERT_EQ(::stat(path.c_str(), &after), 0);
  EXPECT_EQ(after.st_mode & 07777, 0640u);
  EXPECT_EQ(bytes_of(path), repaired(damaged, repair));
  EXPECT_EQ(names_in(folder.file("")), (std::vector<std::string>{"a.kmt", "link"})) << "no other file remains";

  EXPECT_THROW(write_repaired("/dev/null", damaged, repair), Error);
}

}  // namespace
}  // namespace kmt
