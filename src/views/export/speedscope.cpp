// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/common/export_stacks.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

Json profile_of(const std::vector<StackSample>& stacks, const StackMetricInfo& metric) {
  Json samples = Json::array();
  Json weights = Json::array();
  std::uint64_t total = 0;
  for (const StackSample& stack : stacks) {
    const std::uint64_t weight = stack.value(metric.metric);
    if (weight == 0) continue;
    Json frames = Json::array();
    for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) frames.push_back(*frame);
    samples.push_back(std::move(frames));
    weights.push_back(weight);
    total += weight;
  }
  return {{"type", "sampled"},
          {"name", metric.name},
          {"unit", metric.bytes ? "bytes" : "none"},
          {"startValue", 0},
          {"endValue", total},
          {"samples", std::move(samples)},
          {"weights", std::move(weights)}};
}

}  // namespace

std::string speedscope_export(const StackProfile& profile) {
  Json frames = Json::array();
  for (const ProfileFrame& frame : profile.frames) {
    Json json = Json::object();
    json["name"] = frame.function;
    if (!frame.file.empty()) json["file"] = frame.file;
    if (frame.line != 0) json["line"] = frame.line;
    frames.push_back(std::move(json));
  }
  const std::vector<StackSample> stacks = merged_stacks(profile);
  Json profiles = Json::array();
  for (const StackMetricInfo& metric : stack_metrics())
    if (metric.adds_up) profiles.push_back(profile_of(stacks, metric));
  const Json document = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                         {"exporter", "kmemtrace"},
                         {"name", printable(profile.trace.path)},
                         {"activeProfileIndex", static_cast<std::size_t>(StackMetric::allocated)},
                         {"shared", Json::object({{"frames", std::move(frames)}})},
                         {"profiles", std::move(profiles)}};
  return document.dump() + "\n";
}

}  // namespace kmt
