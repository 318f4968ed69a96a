// SPDX-License-Identifier: GPL-2.0-or-later
// Replaces names and addresses in the records of a trace with pseudonyms, while the trace is written to another file.
// Unknown fields become blank: numbers become zero, and texts and arrays become empty.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "anonymise/code_layout.hpp"
#include "anonymise/pseudonyms.hpp"
#include "anonymise/user_layout.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/record_stream.hpp"

namespace kmt {

// The data of a trace that is missing in the anonymised trace.
struct Omitted {
  // Fields that became blank, such as "sched:sched_waking target_cpu". Fields of events that do not occur are not
  // listed.
  std::set<std::string> fields;
  std::uint64_t events = 0;        // number of dropped events: they have no format, or are shorter than their format
  std::vector<std::string> texts;  // names of dropped notes and sample texts
};

class RecordAnonymiser : public RecordSink {
 public:
  // Passes anonymised records to `sink`, which must outlive this object.
  RecordAnonymiser(const PseudonymKey& key, RecordSink& sink) : key_(key), sink_(sink) {}

  void describe(const TraceDescription& description) override;
  void begin_stream(const RecordStream& stream) override { sink_.begin_stream(stream); }
  void record(std::uint64_t ticks, Bytes record) override;
  void lost(std::optional<std::uint64_t> count) override { sink_.lost(count); }
  void end_stream() override { sink_.end_stream(); }

  const Omitted& omitted() const { return omitted_; }

 private:
  enum class Meaning : std::uint8_t {
    number,  // stays unchanged, because it does not identify the machine
    blank,
    code,
    callers,  // the kernel stack, which extends to the end of the record
    user_callers,
    address,
    objects,  // array of addresses; the field `count` has the number of used elements
    frame,
    end_frame,   // the range from `pfn` to this frame keeps its length
    first_page,  // address of the struct page of frame 0; replaced by 0
    task,
    path,
    program,
    cache,
  };
  struct Field {
    FormatField place;
    Meaning meaning = Meaning::number;
  };
  struct Plan {
    // Blank fields that Omitted::fields does not list yet, such as "sched:sched_waking target_cpu".
    std::vector<std::string> blank;
    std::size_t bytes = 0;               // size of all fields together, in bytes
    std::optional<FormatField> process;  // ID of the process that a user stack belongs to
    std::optional<FormatField> count;    // number of used elements of the array `objects`
    std::size_t objects = 0;             // offset of the array `objects`; `more_objects` fields continue it
    // If both are set, the array has addresses of struct page.
    std::optional<FormatField> first_page;
    std::optional<FormatField> page_bytes;
    std::optional<FormatField> first_frame;  // `pfn`
    std::vector<Field> fields;
  };

  static Meaning meaning_of(std::string_view field);
  static bool is_text(Meaning meaning);
  static Plan plan_of(const EventFormat& format);
  void rename_blank(const EventFormat& format, std::string& text) const;
  bool rewrite(const Plan& plan, std::uint64_t ticks, Bytes record);
  void rewrite_text(const Field& field, Bytes record);
  void rewrite_end_frame(const Plan& plan, const FormatField& place, Bytes record);
  void rewrite_objects(const Plan& plan, const Field& field, Bytes record);
  std::uint64_t object_for(const Plan& plan, std::uint64_t address, Bytes record) const;
  void rewrite_callers(const Plan& plan, const Field& field, std::uint64_t ticks, Bytes record);
  std::string text_for(Meaning meaning, std::string_view text) const;
  std::uint64_t number_for(Meaning meaning, std::uint64_t number) const;

  PseudonymKey key_;
  RecordSink& sink_;
  std::optional<Pseudonyms> pseudonyms_;
  std::optional<CodeLayout> code_;
  std::optional<UserLayout> user_;
  ClockScale clock_;
  ByteOrder order_ = ByteOrder::little;
  unsigned long_bytes_ = 8;
  std::map<unsigned, Plan> plans_;  // key: event ID
  std::vector<std::uint8_t> rewritten_;
  Omitted omitted_;
};

}  // namespace kmt
