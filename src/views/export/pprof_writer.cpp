// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/export/pprof_writer.hpp"

#include "base/gzip.hpp"
#include "base/text.hpp"

namespace kmt {

// Field numbers of profile.proto.
enum class PprofWriter::Profile : protozero::pbf_tag_type {
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

namespace {

enum class ProfileValue : protozero::pbf_tag_type { type = 1, unit = 2 };
enum class Sample : protozero::pbf_tag_type { location_id = 1, value = 2, label = 3 };
enum class LabelField : protozero::pbf_tag_type { key = 1, str = 2, num = 3 };
enum class Mapping : protozero::pbf_tag_type {
  id = 1,
  memory_start = 2,
  memory_limit = 3,
  filename = 5,
  build_id = 6,
  has_functions = 7
};
enum class Location : protozero::pbf_tag_type { id = 1, mapping_id = 2, address = 3, line = 4 };
enum class Line : protozero::pbf_tag_type { function_id = 1, line = 2 };
enum class Function : protozero::pbf_tag_type { id = 1, name = 2, system_name = 3, filename = 4 };

template <typename Message>
using Builder = protozero::pbf_builder<Message>;

}  // namespace

PprofWriter::PprofWriter() : profile_(out_) {
  text("");  // profile.proto requires that the first string is empty
  mapping("[kernel.kallsyms]", {});
}

std::uint64_t PprofWriter::mapping(std::string_view object, std::string_view build_id) {
  std::string key(object);
  key.append(1, '\0').append(build_id);
  const auto [at, is_new] = mappings_.try_emplace(std::move(key), mappings_.size() + kKernelMapping);
  if (!is_new) return at->second;
  const std::int64_t object_text = text(object);
  const std::int64_t id_text = text(build_id);
  Builder<Mapping> mapping(profile_, Profile::mapping);
  mapping.add_uint64(Mapping::id, at->second);
  mapping.add_uint64(Mapping::memory_start, 0);
  mapping.add_uint64(Mapping::memory_limit, ~std::uint64_t{0});
  mapping.add_int64(Mapping::filename, object_text);
  if (id_text != 0) mapping.add_int64(Mapping::build_id, id_text);
  mapping.add_bool(Mapping::has_functions, true);
  return at->second;
}

std::int64_t PprofWriter::text(std::string_view text) {
  const auto [at, is_new] = texts_.try_emplace(printable(text), static_cast<std::int64_t>(text_list_.size()));
  if (is_new) text_list_.push_back(at->first);
  return at->second;
}

std::uint64_t PprofWriter::function(std::string_view name, std::string_view file) {
  std::string key(name);
  key.append(1, '\0').append(file);
  const auto [at, is_new] = functions_.try_emplace(std::move(key), functions_.size() + 1);
  if (!is_new) return at->second;
  const std::int64_t name_text = text(name);
  const std::int64_t file_text = text(file);
  Builder<Function> function(profile_, Profile::function);
  function.add_uint64(Function::id, at->second);
  function.add_int64(Function::name, name_text);
  function.add_int64(Function::system_name, name_text);
  if (file_text != 0) function.add_int64(Function::filename, file_text);
  return at->second;
}

std::uint64_t PprofWriter::location(std::uint64_t address, std::string_view function_name, std::string_view file,
                                    std::uint32_t line_number, std::uint64_t mapping) {
  const std::uint64_t named = function(function_name, file);
  Builder<Location> location(profile_, Profile::location);
  location.add_uint64(Location::id, ++locations_);
  location.add_uint64(Location::mapping_id, mapping);
  location.add_uint64(Location::address, address);
  Builder<Line> line(location, Location::line);
  line.add_uint64(Line::function_id, named);
  if (line_number != 0) line.add_int64(Line::line, line_number);
  return locations_;
}

void PprofWriter::value_type(Profile field, std::string_view type, std::string_view unit) {
  const std::int64_t type_text = text(type);
  const std::int64_t unit_text = text(unit);
  Builder<ProfileValue> value(profile_, field);
  value.add_int64(ProfileValue::type, type_text);
  value.add_int64(ProfileValue::unit, unit_text);
}

void PprofWriter::sample_type(std::string_view type, std::string_view unit) {
  value_type(Profile::sample_type, type, unit);
}

void PprofWriter::sample(const std::vector<std::uint64_t>& locations, const std::vector<std::int64_t>& values,
                         const std::vector<Label>& labels) {
  struct Texts {
    std::int64_t key;
    std::int64_t text;
    std::int64_t number;
  };
  std::vector<Texts> label_texts;
  for (const Label& label : labels)
    if (!label.text.empty() || label.number != 0)
      label_texts.push_back({text(label.key), text(label.text), label.number});

  Builder<Sample> sample(profile_, Profile::sample);
  sample.add_packed_uint64(Sample::location_id, locations.begin(), locations.end());
  sample.add_packed_int64(Sample::value, values.begin(), values.end());
  for (const Texts& of : label_texts) {
    Builder<LabelField> label(sample, Sample::label);
    label.add_int64(LabelField::key, of.key);
    if (of.text != 0)
      label.add_int64(LabelField::str, of.text);
    else
      label.add_int64(LabelField::num, of.number);
  }
}

void PprofWriter::comments(const std::vector<std::string>& comments) {
  std::vector<std::int64_t> texts;
  texts.reserve(comments.size());
  for (const std::string& comment : comments) texts.push_back(text(comment));
  profile_.add_packed_int64(Profile::comment, texts.begin(), texts.end());
}

void PprofWriter::time(std::int64_t unix_ns, std::int64_t duration_ns) {
  if (unix_ns != 0) profile_.add_int64(Profile::time_nanos, unix_ns);
  if (duration_ns != 0) profile_.add_int64(Profile::duration_nanos, duration_ns);
}

void PprofWriter::period(std::int64_t bytes) {
  value_type(Profile::period_type, "space", "bytes");
  profile_.add_int64(Profile::period, bytes);
}

void PprofWriter::default_sample_type(std::string_view type) {
  profile_.add_int64(Profile::default_sample_type, text(type));
}

std::string PprofWriter::finish() {
  for (const std::string& entry : text_list_) profile_.add_string(Profile::string_table, entry);
  return gzip(out_);
}

}  // namespace kmt
