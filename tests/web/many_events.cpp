// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a .kmt with any number of events. Like a large trace of a busy machine, it has more call sites, stacks, tasks,
// sizes and lifetimes than an HTML report keeps. A real trace provides the description of the machine.
//   many_events EVENTS REAL_TRACE OUT.kmt
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "formats/ftrace/event_format.hpp"
#include "formats/kmt/file_writer.hpp"
#include "formats/kmt/layout.hpp"
#include "formats/record_stream.hpp"

namespace {

using namespace kmt;
using namespace kmt::kmt_format;

constexpr unsigned kCpus = 16;
constexpr unsigned kFunctions = 12'000;
constexpr unsigned kStacks = 30'000;
constexpr unsigned kTasks = 600;
constexpr std::size_t kMostLive = 60'000;
constexpr std::uint64_t kText = 0xffffffff81000000;
constexpr std::uint64_t kFunctionBytes = 0x100;
constexpr std::uint64_t kObjects = 0xffff888000000000;

class Description : public RecordSink {
 public:
  void describe(const TraceDescription& description) override { described = description; }
  void begin_stream(const RecordStream&) override {}
  void record(std::uint64_t, Bytes) override {}
  void lost(std::optional<std::uint64_t>) override {}
  void end_stream() override {}

  TraceDescription described;
};

// Builds the record of an event. Fields are set by name.
class Record {
 public:
  Record(const std::vector<EventFormat>& formats, const char* name) {
    for (const EventFormat& format : formats)
      if (format.name == name) format_ = &format;
    if (format_ == nullptr) throw std::runtime_error(fmt::format("the real trace has no format of {}", name));
    std::size_t size = 0;
    for (const FormatField& field : format_->fields) size = std::max<std::size_t>(size, field.offset + field.size);
    bytes_.resize(size);
    set("common_type", format_->id);
  }
  void set(const char* name, std::uint64_t value) {
    const FormatField* const field = format_->field(name);
    if (field != nullptr) std::memcpy(bytes_.data() + field->offset, &value, std::min(field->size, 8u));
  }
  // Sets the words of the record from the start of a field on.
  void set_rest(const char* name, const std::vector<std::uint64_t>& values) {
    const std::size_t offset = format_->field(name)->offset;
    bytes_.resize(offset + 8 * values.size());
    std::memcpy(bytes_.data() + offset, values.data(), 8 * values.size());
  }
  Bytes bytes() const { return bytes_; }

 private:
  const EventFormat* format_ = nullptr;
  std::vector<std::uint8_t> bytes_;
};

struct Stack {
  std::vector<std::uint64_t> callers;  // innermost first
  std::array<std::uint32_t, 4> requested;
  std::uint32_t task;
};

struct Live {
  std::uint64_t address;
  std::uint64_t call_site;
};

class Maker {
 public:
  Maker(TraceDescription description, const std::string& out)
      : description_(std::move(description)),
        formats_(parse_event_formats(description_.kernel.formats, findings_)),
        layouts_(formats_, description_.kernel.byte_order),
        writer_(out, Replaced::removed, kFeatureSteps),
        alloc_(formats_, "kmalloc"),
        free_(formats_, "kfree"),
        stack_(formats_, "kernel_stack") {
    KernelDescription& kernel = description_.kernel;
    kernel.cpus = kCpus;
    kernel.saved_cmdlines.clear();
    std::string kallsyms;
    for (unsigned i = 0; i < kFunctions; ++i)
      kallsyms += fmt::format("{:016x} T subsystem{}_allocates_{}\n", kText + i * kFunctionBytes, i % 97, i);
    kernel.kallsyms = std::move(kallsyms);
    for (unsigned i = 0; i < kTasks; ++i) kernel.saved_cmdlines += fmt::format("{} task/{}\n", 1000 + i, i);
    description_.cpu_stats.clear();
    for (unsigned cpu = 0; cpu < kCpus; ++cpu)
      description_.cpu_stats.push_back(fmt::format(
          "CPU: {}\nnode: {}\nentries: 0\noverrun: 0\ncommit overrun: 0\ndropped events: 0\n", cpu, cpu / 8));
    writer_.append_description(description_);
    for (unsigned cpu = 0; cpu < kCpus; ++cpu) {
      writer_.append_stream({cpu, "", 4096});
      encoders_.push_back(std::make_unique<BlockEncoder>(layouts_));
    }
    make_stacks();
  }

  void make(std::uint64_t events) {
    std::uint64_t next_address = 0;
    while (made_ < events) {
      now_ += random_() % 2000;
      const auto cpu = static_cast<unsigned>(random_() % kCpus);
      if (live_.size() > kMostLive || (!live_.empty() && random_() % 100 < 49))
        release(cpu);
      else
        allocate(cpu, kObjects + 64 * (next_address++ % (std::uint64_t{1} << 30)));
    }
    for (unsigned cpu = 0; cpu < kCpus; ++cpu)
      if (!encoders_[cpu]->empty()) end_block(cpu);
    writer_.finish();
  }

 private:
  std::uint64_t random_function() { return kText + random_() % kFunctions * kFunctionBytes + 4 * (1 + random_() % 4); }

  // Makes stacks that each have the outer frames of an earlier stack and different inner frames.
  void make_stacks() {
    for (unsigned i = 0; i < kStacks; ++i) {
      Stack& stack = stacks_.emplace_back();
      if (i > 0) {
        const std::vector<std::uint64_t>& other = stacks_[random_() % i].callers;
        const std::size_t shared = other.size() > 40 ? 3 : random_() % other.size();
        stack.callers.assign(other.end() - static_cast<std::ptrdiff_t>(shared), other.end());
      }
      for (unsigned step = 0; step < 5; ++step) stack.callers.insert(stack.callers.begin(), random_function());
      for (std::uint32_t& size : stack.requested) size = 8 + static_cast<std::uint32_t>(random_() % 4000);
      stack.task = static_cast<std::uint32_t>(random_() % kTasks);
    }
  }

  void allocate(unsigned cpu, std::uint64_t address) {
    const double skewed = std::uniform_real_distribution<>()(random_);
    const Stack& stack = stacks_[static_cast<std::size_t>(kStacks * skewed * skewed * skewed)];
    const std::uint32_t requested = stack.requested[random_() % stack.requested.size()];
    const std::uint32_t task = (stack.task + static_cast<std::uint32_t>(random_() % 3)) % kTasks;
    alloc_.set("common_pid", 1000 + task);
    alloc_.set("call_site", stack.callers.front());
    alloc_.set("ptr", address);
    alloc_.set("bytes_req", requested);
    alloc_.set("node", ~std::uint64_t{0});  // any node
    alloc_.set("bytes_alloc", std::bit_ceil(requested));
    add(cpu, alloc_);
    stack_.set("common_pid", 1000 + task);
    stack_.set("size", stack.callers.size());
    stack_.set_rest("caller", stack.callers);
    encoders_[cpu]->add(now_, stack_.bytes());
    live_.push_back({address, stack.callers.front()});
  }

  // Frees an object. Half of the freed objects were allocated recently.
  void release(unsigned cpu) {
    const std::size_t recent = std::min<std::size_t>(live_.size(), 16);
    const std::size_t at = random_() % 2 == 0 ? live_.size() - 1 - random_() % recent : random_() % live_.size();
    free_.set("common_pid", 1000 + random_() % kTasks);
    free_.set("call_site", live_[at].call_site + 4);
    free_.set("ptr", live_[at].address);
    std::swap(live_[at], live_.back());
    live_.pop_back();
    add(cpu, free_);
  }

  void add(unsigned cpu, const Record& record) {
    if (is_full(*encoders_[cpu])) end_block(cpu);
    encoders_[cpu]->add(now_, record.bytes());
    ++made_;
  }
  void end_block(unsigned cpu) { writer_.append(pack(static_cast<std::uint16_t>(cpu), encoders_[cpu]->finish())); }

  Findings findings_;
  TraceDescription description_;
  std::vector<EventFormat> formats_;
  RecordLayouts layouts_;
  FileWriter writer_;
  Record alloc_, free_, stack_;
  std::vector<std::unique_ptr<BlockEncoder>> encoders_;  // by CPU
  std::vector<Stack> stacks_;
  std::vector<Live> live_;
  std::mt19937_64 random_{42};
  std::uint64_t now_ = 5'000'000'000;
  std::uint64_t made_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: many_events EVENTS REAL_TRACE OUT.kmt\n");
    return 2;
  }
  Description real;
  Findings findings;
  read_records(argv[2], {}, real, findings);
  Maker(std::move(real.described), argv[3]).make(std::stoull(argv[1]));
}
