// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/pprof.hpp"

#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/gzip.hpp"
#include "base/text.hpp"
#include "views/lines.hpp"

namespace kmt {

namespace {

// Fields of profile.proto.
enum class Profile : protozero::pbf_tag_type {
  sample_type = 1,
  sample = 2,
  mapping = 3,
  location = 4,
  function = 5,
  string_table = 6,
  time_nanos = 9,
  duration_nanos = 10,
  period_type = 11,
  period = 12,
  comment = 13,
  default_sample_type = 14,
};
enum class ValueType : protozero::pbf_tag_type { type = 1, unit = 2 };
enum class Sample : protozero::pbf_tag_type { location_id = 1, value = 2, label = 3 };
enum class Label : protozero::pbf_tag_type { key = 1, str = 2, num = 3 };
enum class Mapping : protozero::pbf_tag_type {
  id = 1,
  memory_start = 2,
  memory_limit = 3,
  filename = 5,
  has_functions = 7
};
enum class Location : protozero::pbf_tag_type { id = 1, mapping_id = 2, address = 3, line = 4 };
enum class Line : protozero::pbf_tag_type { function_id = 1 };
enum class Function : protozero::pbf_tag_type { id = 1, name = 2, system_name = 3 };

template <typename Message>
using Builder = protozero::pbf_builder<Message>;

class Writer {
 public:
  Writer(std::string& out, const SymbolNames& symbols) : profile_(out), symbols_(symbols) { text(""); }

  void write(const HeapProfileResult& result);

 private:
  std::int64_t text(std::string_view text);
  std::uint64_t function(std::string_view name);
  std::uint64_t location(std::uint64_t address);
  void value_type(Profile field, std::string_view type, std::string_view unit);
  void sample(const HeapStackRow& row);
  void comments(const HeapProfileResult& result);

  Builder<Profile> profile_;
  const SymbolNames& symbols_;
  std::unordered_map<std::string, std::int64_t> texts_;
  std::vector<std::string> text_list_;
  std::unordered_map<std::string, std::uint64_t> functions_;
  std::unordered_map<std::uint64_t, std::uint64_t> locations_;
};

std::int64_t Writer::text(std::string_view text) {
  const auto [at, is_new] = texts_.try_emplace(printable(text), static_cast<std::int64_t>(text_list_.size()));
  if (is_new) text_list_.push_back(at->first);
  return at->second;
}

std::uint64_t Writer::function(std::string_view name) {
  const auto [at, is_new] = functions_.try_emplace(std::string(name), functions_.size() + 1);
  if (is_new) {
    Builder<Function> function(profile_, Profile::function);
    function.add_uint64(Function::id, at->second);
    function.add_int64(Function::name, text(name));
    function.add_int64(Function::system_name, text(name));
  }
  return at->second;
}

std::uint64_t Writer::location(std::uint64_t address) {
  const auto [at, is_new] = locations_.try_emplace(address, locations_.size() + 1);
  if (!is_new) return at->second;
  const std::string name = symbols_.name(address);
  const std::uint64_t named = function(name.substr(0, name.rfind('+')));
  Builder<Location> location(profile_, Profile::location);
  location.add_uint64(Location::id, at->second);
  location.add_uint64(Location::mapping_id, 1);
  location.add_uint64(Location::address, address);
  Builder<Line>(location, Location::line).add_uint64(Line::function_id, named);
  return at->second;
}

void Writer::value_type(Profile field, std::string_view type, std::string_view unit) {
  const std::int64_t type_text = text(type);
  const std::int64_t unit_text = text(unit);
  Builder<ValueType> value(profile_, field);
  value.add_int64(ValueType::type, type_text);
  value.add_int64(ValueType::unit, unit_text);
}

void Writer::sample(const HeapStackRow& row) {
  std::vector<std::uint64_t> locations;
  locations.reserve(row.stack.size());
  for (const std::uint64_t address : row.stack) locations.push_back(location(address));
  std::vector<std::int64_t> values;
  for (const Estimate* const estimate :
       {&row.figures.objects, &row.figures.bytes, &row.figures.live_objects, &row.figures.live_bytes})
    values.push_back(std::llround(estimate->value));
  const std::pair<std::string_view, std::string_view> labels[] = {
      {"cache", row.cache}, {"task", row.task}, {"cgroup", row.cgroup}};
  std::vector<std::pair<std::int64_t, std::int64_t>> label_texts;
  for (const auto& [key, value] : labels)
    if (!value.empty()) label_texts.emplace_back(text(key), text(value));
  const std::int64_t process = text("process");

  Builder<Sample> sample(profile_, Profile::sample);
  sample.add_packed_uint64(Sample::location_id, locations.begin(), locations.end());
  sample.add_packed_int64(Sample::value, values.begin(), values.end());
  for (const auto& [key, value] : label_texts) {
    Builder<Label> label(sample, Sample::label);
    label.add_int64(Label::key, key);
    label.add_int64(Label::str, value);
  }
  if (row.process == 0) return;
  Builder<Label> label(sample, Sample::label);
  label.add_int64(Label::key, process);
  label.add_int64(Label::num, row.process);
}

void Writer::comments(const HeapProfileResult& result) {
  std::vector<std::string> comments = {"kernel " + result.kernel};
  if (!result.selection.empty()) comments.push_back("of " + result.selection);
  const std::pair<const char*, std::uint64_t> lost[] = {
      {"samples lost", result.losses.samples},
      {"frees of samples lost", result.losses.ends},
      {"samples not followed", result.losses.unfollowed},
      {"allocations missed", result.losses.missed},
      {"frees missed", result.losses.missed_frees},
      {"live samples replaced, their free was not seen", result.replaced}};
  for (const auto& [what, count] : lost)
    if (count > 0) comments.push_back(fmt::format("{}: {}", what, count));
  std::vector<std::int64_t> texts;
  texts.reserve(comments.size());
  for (const std::string& comment : comments) texts.push_back(text(comment));
  profile_.add_packed_int64(Profile::comment, texts.begin(), texts.end());
}

void Writer::write(const HeapProfileResult& result) {
  value_type(Profile::sample_type, "alloc_objects", "count");
  value_type(Profile::sample_type, "alloc_space", "bytes");
  value_type(Profile::sample_type, "inuse_objects", "count");
  value_type(Profile::sample_type, "inuse_space", "bytes");
  const std::int64_t kernel = text("[kernel.kallsyms]");
  {
    Builder<Mapping> mapping(profile_, Profile::mapping);
    mapping.add_uint64(Mapping::id, 1);
    mapping.add_uint64(Mapping::memory_start, 0);
    mapping.add_uint64(Mapping::memory_limit, ~std::uint64_t{0});
    mapping.add_int64(Mapping::filename, kernel);
    mapping.add_bool(Mapping::has_functions, true);
  }
  for (const HeapStackRow& row : result.stacks) sample(row);
  comments(result);
  profile_.add_int64(Profile::time_nanos, static_cast<std::int64_t>(result.start_unix_ns));
  profile_.add_int64(Profile::duration_nanos, static_cast<std::int64_t>(result.duration_ns));
  value_type(Profile::period_type, "space", "bytes");
  profile_.add_int64(Profile::period, static_cast<std::int64_t>(result.mean_bytes));
  profile_.add_int64(Profile::default_sample_type, text("inuse_space"));
  for (const std::string& entry : text_list_) profile_.add_string(Profile::string_table, entry);
}

}  // namespace

std::string pprof_profile(const HeapProfileResult& result, const SymbolNames& symbols) {
  std::string out;
  Writer(out, symbols).write(result);
  return gzip(out);
}

}  // namespace kmt
