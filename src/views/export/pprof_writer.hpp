// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the format profile.proto of google/pprof, with its tables of strings, functions and locations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <protozero/pbf_builder.hpp>

namespace kmt {

class PprofWriter {
 public:
  // Names of the labels of samples. Every pprof export uses these names.
  static constexpr std::string_view kAllocator = "allocator";
  static constexpr std::string_view kCache = "cache";
  static constexpr std::string_view kComm = "comm";
  static constexpr std::string_view kCgroup = "cgroup";
  static constexpr std::string_view kProcess = "process";

  static constexpr std::uint64_t kKernelMapping = 1;

  PprofWriter();

  struct Label {
    std::string_view key;     // one of the label names above
    std::string_view text;    // text of the label; if empty, the label has the value `number`
    std::int64_t number = 0;  // a label without text and with the number 0 is omitted
  };

  // The functions of this class make all texts printable.
  void sample_type(std::string_view type, std::string_view unit);
  // Adds a program or library and returns its number. Locations in it have offsets as addresses. The build ID is in
  // hex, or empty if unknown.
  std::uint64_t mapping(std::string_view object, std::string_view build_id);
  // Adds a location and returns its number. The caller must not add a location twice. Function names must be results of
  // function_of().
  std::uint64_t location(std::uint64_t address, std::string_view function, std::string_view file = {},
                         std::uint32_t line = 0, std::uint64_t mapping = kKernelMapping);
  // Adds a sample. The locations start with the innermost frame. `values` has one value for each sample type.
  void sample(const std::vector<std::uint64_t>& locations, const std::vector<std::int64_t>& values,
              const std::vector<Label>& labels);
  void comments(const std::vector<std::string>& comments);
  // Sets the start time and the duration of the profile; 0: unknown.
  void time(std::int64_t unix_ns, std::int64_t duration_ns);
  void period(std::int64_t bytes);  // sets the average number of bytes between two samples
  void default_sample_type(std::string_view type);
  // Returns the whole profile, gzipped. Nothing can be added afterwards.
  std::string finish();

 private:
  enum class Profile : protozero::pbf_tag_type;

  std::int64_t text(std::string_view text);
  std::uint64_t function(std::string_view name, std::string_view file);
  void value_type(Profile field, std::string_view type, std::string_view unit);

  std::string out_;
  protozero::pbf_builder<Profile> profile_;
  std::unordered_map<std::string, std::int64_t> texts_;
  std::vector<std::string> text_list_;
  std::unordered_map<std::string, std::uint64_t> functions_;  // key: name and file
  std::unordered_map<std::string, std::uint64_t> mappings_;   // key: object and build ID
  std::uint64_t locations_ = 0;
};

}  // namespace kmt
