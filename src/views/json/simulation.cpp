// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/simulation.hpp"

#include <cmath>

#include "base/text.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

Json to_json(const HeldMemory& memory) {
  Json json = Json::object();
  json["requested_bytes"] = memory.requested;
  json["given_bytes"] = memory.given;
  json["held_bytes"] = memory.held;
  json["internal_waste_bytes"] = memory.internal_waste();
  json["external_waste_bytes"] = memory.external_waste();
  return json;
}

Json to_json(const SimulatedCache& cache) {
  Json json = Json::object();
  json["name"] = printable(cache.name);
  json["new"] = cache.is_new;
  json["object_bytes"] = cache.object_bytes == 0 ? Json(nullptr) : Json(cache.object_bytes);
  json["slab_bytes"] = cache.slab_bytes == 0 ? Json(nullptr) : Json(cache.slab_bytes);
  json["objects_per_slab"] = cache.objects_per_slab == 0 ? Json(nullptr) : Json(cache.objects_per_slab);
  json["allocations"] = cache.allocations;
  json["bytes_requested"] = cache.bytes_requested;
  json["bytes_given"] = cache.bytes_given;
  json["average"] = to_json(cache.average);
  json["peak"] = to_json(cache.peak);
  json["end"] = to_json(cache.end);
  json["partial_slabs"] = cache.partial_slabs;
  json["cpu_list_bytes"] = cache.cpu_list_bytes;
  return json;
}

Json to_json(const SimulatedHeap& heap, const SimulationOptions& options) {
  Json json = Json::object();
  json["name"] = heap.name;
  json["allocator"] = name_of(heap.allocator);
  json["allocations"] = heap.allocations;
  json["bytes_requested"] = heap.bytes_requested;
  json["bytes_given"] = heap.bytes_given;
  json["average"] = to_json(heap.average);
  json["peak"] = to_json(heap.peak);
  json["peak_ns"] = heap.peak_ns;
  json["end"] = to_json(heap.end);
  for (const char* const name : {"requested_bytes", "given_bytes", "held_bytes"}) json["series"][name] = Json::array();
  for (const HeldMemory& memory : heap.series) {
    json["series"]["requested_bytes"].push_back(memory.requested);
    json["series"]["given_bytes"].push_back(memory.given);
    json["series"]["held_bytes"].push_back(memory.held);
  }
  json["unused_caches"] = Json::array();
  for (const std::string& cache : heap.unused_caches) json["unused_caches"].push_back(printable(cache));
  json["caches"] = {{"total", heap.caches.size()}, {"rows", Json::array()}};
  for (std::size_t i = 0; i < options.shown(heap.caches.size()); ++i)
    json["caches"]["rows"].push_back(to_json(heap.caches[i]));
  return json;
}

Json to_json(const std::vector<std::string>& names) {
  Json json = Json::array();
  for (const std::string& name : names) json.push_back(printable(name));
  return json;
}

Json to_json(const CacheSuggestion& suggestion) {
  Json json = Json::object();
  json["function"] = text_or_null(suggestion.function);
  json["above_bytes"] = suggestion.above_bytes;
  json["object_bytes"] = suggestion.object_bytes;
  json["class_bytes"] = suggestion.class_bytes;
  json["from"] = to_json(suggestion.from);
  json["used_by"] = to_json(suggestion.sites);
  json["allocations"] = suggestion.allocations;
  json["bytes_given"] = suggestion.bytes_given;
  json["bytes_given_then"] = suggestion.bytes_given_then;
  json["average_live"] = suggestion.average_live;
  json["estimated_saving_bytes"] = std::llround(suggestion.estimated_saving);
  json["average_held_bytes"] = suggestion.average_held;
  json["average_held_bytes_then"] = suggestion.average_held_then;
  json["peak_held_bytes"] = suggestion.peak_held;
  json["peak_held_bytes_then"] = suggestion.peak_held_then;
  json["uncertain_bytes"] = suggestion.uncertain_bytes;
  return json;
}

Json to_json(const SlabinfoComparison& slabinfo) {
  Json json = Json::object();
  json["caches"] = slabinfo.caches;
  json["geometry_compared"] = slabinfo.geometry_compared;
  json["geometry_differs"] = to_json(slabinfo.geometry_differs);
  json["pages_before"] = slabinfo.pages_before;
  json["pages_after"] = slabinfo.pages_after;
  json["pages_predicted"] = slabinfo.pages_predicted;
  json["error_pages"] = slabinfo.error_pages;
  json["error_in_sheaves_pages"] = slabinfo.error_in_sheaves;
  json["unchanged_error_pages"] = slabinfo.unchanged_error;
  json["by_size"] = slabinfo.by_size;
  json["unknown_frees"] = slabinfo.unknown_frees;
  json["not_compared"] = slabinfo.not_compared;
  json["changed"] = Json::array();
  for (const SlabinfoCache& line : slabinfo.lines)
    json["changed"].push_back({{"name", printable(line.name)},
                               {"pages_before", line.pages_before},
                               {"pages_after", line.pages_after},
                               {"pages_predicted", line.pages_predicted},
                               {"sheaf_pages", line.sheaf_pages}});
  return json;
}

Json model_to_json(const SimulationResult& result) {
  Json json = Json::object();
  json["kernel_known"] = result.kernel_known;
  json["has_sheaves"] = result.has_sheaves;
  json["classes"] = result.classes;
  json["least_class_from"] = result.least_class_from;
  json["cgroup_caches"] = result.cgroup_caches;
  json["random_caches"] = result.random_caches;
  json["caches_assumed"] = result.caches_assumed;
  json["kmallocs"] = result.kmallocs;
  json["kmallocs_reproduced"] = result.kmallocs_reproduced;
  json["mismatches"] = Json::array();
  for (const ModelMismatch& mismatch : result.mismatches)
    json["mismatches"].push_back({{"call_site", text_or_null(mismatch.site)},
                                  {"requested_bytes", mismatch.requested},
                                  {"recorded_bytes", mismatch.recorded},
                                  {"predicted_bytes", mismatch.predicted},
                                  {"allocations", mismatch.allocations}});
  json["slabinfo"] = result.slabinfo ? to_json(*result.slabinfo) : Json(nullptr);
  return json;
}

}  // namespace

std::string json_simulation(const SimulationResult& result, const SimulationOptions& options) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.simulate/1";
  json["complete"] = result.trace.complete;
  json["trace"] = to_json(result.trace);
  json["model"] = model_to_json(result);
  json["start_ns"] = result.start_ns;
  json["bucket_ns"] = result.bucket_ns;
  json["heaps"] = Json::array();
  for (const SimulatedHeap& heap : result.heaps) json["heaps"].push_back(to_json(heap, options));
  json["suggested_by"] = result.suggests_traffic ? "given" : "held";
  json["candidates"] = result.candidates ? Json(*result.candidates) : Json(nullptr);
  json["suggestions"] = Json::array();
  for (const CacheSuggestion& suggestion : result.suggestions) json["suggestions"].push_back(to_json(suggestion));
  json["older_frees"] = result.older_frees;
  json["live_at_end"] = result.live_at_end;
  json["given_again"] = sum_of_objects(result.unseen_frees);
  json["unseen_frees"] = Json::array();
  for (const UnseenFrees& unseen : result.unseen_frees)
    json["unseen_frees"].push_back(
        {{"cache", text_or_null(unseen.cache)}, {"objects", unseen.objects}, {"allocations", unseen.allocations}});
  json["unnamed_objects"] = result.unnamed_objects;
  json["findings"] = to_json(result.findings);
  return dump(json);
}

}  // namespace kmt
