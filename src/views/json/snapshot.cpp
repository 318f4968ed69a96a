// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/snapshot.hpp"

#include <functional>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"
#include "results/snapshot/owners.hpp"
#include "trace/tasks/cgroup_name.hpp"
#include "trace/tasks/pod_names.hpp"
#include "views/json/common.hpp"
#include "views/json/health.hpp"
#include "views/json/page_census.hpp"

namespace kmt {

namespace {

Json time_or_null(std::uint64_t unix_ns) { return unix_ns == 0 ? Json(nullptr) : Json(unix_ns); }

Json to_json(const BalanceLine& line) {
  Json json = Json::object();
  json["id"] = line.id;
  json["label"] = line.label;
  json["bytes"] = line.known ? Json(line.bytes) : Json(nullptr);
  json["at_least"] = line.at_least;
  json["depth"] = line.depth;
  json["counted"] = line.counted;
  json["source"] = text_or_null(line.source);
  return json;
}

// Builds a JSON object with many members. If a name occurs twice, the first value is kept. This is faster than
// inserting into a Json object, which searches all members each time.
class Names {
 public:
  void add(std::string_view name, Json&& value) {
    std::string key = printable(name);
    if (known_.insert(key).second) object_.emplace_back(std::move(key), std::move(value));
  }
  Json take() { return Json(std::move(object_)); }

 private:
  Json::object_t object_;
  std::unordered_set<std::string> known_;
};

Json to_json(const NamedAmounts& amounts) {
  Names names;
  for (const NamedAmount& amount : amounts) names.add(amount.name, amount.value);
  return names.take();
}

Json to_json(const std::vector<NamedText>& texts) {
  Names names;
  for (const auto& [name, text] : texts) names.add(name, printable(text));
  return names.take();
}

Json to_json(const std::vector<std::string>& texts) {
  Json json = Json::array();
  for (const std::string& text : texts) json.push_back(printable(text));
  return json;
}

Json to_json(const SlabCacheUse& cache) {
  Json json = Json::object();
  json["name"] = printable(cache.name);
  json["merged"] = to_json(cache.aliases);
  json["held_bytes"] = cache.bytes;
  json["in_use_bytes"] = cache.in_use;
  json["empty_bytes"] = cache.free;
  json["padding_bytes"] = cache.padding;
  json["tail_bytes"] = cache.tails;
  const bool counts_objects = cache.object_bytes != 0;  // false: a report in the kernel's log, which has only bytes
  const auto if_counted = [counts_objects](std::uint64_t count) {
    return counts_objects ? Json(count) : Json(nullptr);
  };
  json["active_objects"] = if_counted(cache.active_objects);
  json["objects"] = if_counted(cache.objects);
  json["object_bytes"] = if_counted(cache.object_bytes);
  json["slabs"] = if_counted(cache.slabs);
  const SlabAttributes none;
  const SlabAttributes& attributes = cache.attributes != nullptr ? *cache.attributes : none;
  json["asked_object_bytes"] = number_or_null(attributes.object_bytes);
  json["align"] = number_or_null(attributes.align);
  json["order"] = number_or_null(attributes.order);
  json["partial_slabs"] = number_or_null(attributes.partial);
  json["cpu_slabs"] = number_or_null(attributes.cpu_slabs);
  json["cpu_partial_slabs"] = number_or_null(attributes.cpu_partial_slabs);
  json["attributes"] = to_json(attributes.others);
  return json;
}

Json to_json(const VmallocCaller& caller, std::uint64_t page_size) {
  Json json = Json::object();
  json["function"] = printable(caller.function);
  json["areas"] = caller.areas;
  json["bytes"] = caller.pages * page_size;
  json["virtual_bytes"] = caller.virtual_bytes;
  json["mapped_bytes"] = caller.mapped_bytes;
  json["task_stacks"] = caller.stacks;
  return json;
}

Json to_json(const AllocationSite& site) {
  Json json = Json::object();
  json["site"] = printable(site.name);
  json["of"] = text_or_null(site.of);
  json["count"] = site.count;
  json["bytes"] = site.bytes;
  json["approximate"] = site.approximate;
  json["stack"] = to_json(site.stack);
  json["more"] = text_or_null(site.others);
  return json;
}

Json to_json(const CgroupMemory& cgroup, const PodNames& pods) {
  Json json = Json::object();
  json["path"] = printable(cgroup.path);
  json["container"] = printable(container_of_cgroup(cgroup.path));
  json["pod"] = printable(pod_of_cgroup(cgroup.path));
  json["pod_name"] = text_or_null(printable(pod_name_of_cgroup(cgroup.path, pods)));
  json["unit"] = printable(unit_of_cgroup(cgroup.path));
  json["kernel_bytes"] = number_or_null(kernel_bytes(cgroup));
  json["user_bytes"] = number_or_null(user_bytes(cgroup));
  json["stat"] = to_json(cgroup.values);
  return json;
}

Json to_json(const MemoryOwner& owner) {
  Json json = Json::object();
  json["kind"] = describe(owner.kind).id;
  json["name"] = printable(owner.name);
  json["bytes"] = owner.bytes;
  json["count"] = owner.count;
  json["exactness"] = describe(owner.exactness).id;
  json["place"] = describe(owner.place).id;
  return json;
}

Json to_json(const MemoryZone& zone) {
  Json json = Json::object();
  json["node"] = zone.node;
  json["zone"] = printable(zone.name);
  json["cpu_list_pages"] = number_or_null(zone.cpu_list_pages);
  json["free_blocks"] = zone.free;
  json["pages"] = to_json(zone.values);
  return json;
}

Json to_json(const NodeMemory& node) {
  Json json = Json::object();
  json["node"] = node.node;
  json["meminfo"] = to_json(node.values);
  return json;
}

Json to_json(const FreeByType& free) {
  Json json = Json::object();
  json["node"] = free.node;
  json["zone"] = printable(free.zone);
  json["migrate_type"] = printable(free.type);
  json["free_blocks"] = free.free;
  return json;
}

Json to_json(const OomTask& task, std::uint64_t page_size) {
  Json json = Json::object();
  json["pid"] = task.pid;
  json["name"] = printable(task.name);
  json["rss_bytes"] = task.rss_pages * page_size;
  json["swap_bytes"] = task.swap_pages * page_size;
  json["page_table_bytes"] = number_or_null(task.page_table_bytes);
  return json;
}

Json to_json(const CgroupLimit& cgroup) {
  Json json = to_json(cgroup.memory, {});
  json["usage_bytes"] = number_or_null(cgroup.usage_bytes);
  json["limit_bytes"] = number_or_null(cgroup.limit_bytes);
  return json;
}

Json to_json(const OomKill& kill, std::uint64_t page_size, const SnapshotOptions& options) {
  Json json = Json::object();
  json["invoked_by"] = text_or_null(kill.invoked_by);
  json["gfp_flags"] = text_or_null(kill.gfp_flags);
  json["order"] = number_or_null(kill.order);
  json["victim"] = text_or_null(kill.victim);
  json["victim_pid"] = kill.victim_pid == 0 ? Json(nullptr) : Json(kill.victim_pid);
  json["cgroup"] = kill.cgroup ? to_json(*kill.cgroup) : Json(nullptr);
  json["tasks_total"] = kill.tasks.size();
  json["tasks"] = Json::array();
  for (const OomTask* task : largest(kill.tasks, options, [](const OomTask& one) { return one.rss_pages; }))
    json["tasks"].push_back(to_json(*task, page_size));
  return json;
}

template <typename Row>
Json all_of(const std::vector<Row>& rows) {
  Json json = Json::array();
  for (const Row& row : rows) json.push_back(to_json(row));
  return json;
}

void append_sites(Json& json, const std::string& key, const std::vector<AllocationSite>& sites,
                  const SnapshotOptions& options) {
  json[key + "_total"] = sites.size();
  Json rows = Json::array();
  for (const AllocationSite* site :
       largest(sites, options, [](const AllocationSite& one) { return std::pair(one.bytes, one.count); }))
    rows.push_back(to_json(*site));
  json[key] = std::move(rows);
}

void append_tables(Json& json, const SnapshotResult& result, const SnapshotOptions& options) {
  const KernelMemory& memory = result.memory;
  json["slab_caches_total"] = result.caches.size();
  json["slab_caches"] = Json::array();
  for (const SlabCacheUse* cache : shown_caches(result, options)) json["slab_caches"].push_back(to_json(*cache));
  json["vmalloc_total"] = memory.vmalloc.size();
  json["vmalloc"] = Json::array();
  for (const VmallocCaller* caller :
       largest(memory.vmalloc, options, [](const VmallocCaller& one) { return one.pages; }))
    json["vmalloc"].push_back(to_json(*caller, memory.page_size));
  append_sites(json, "allocinfo", memory.allocinfo, options);
  json["cgroups_total"] = memory.cgroups.size();
  json["cgroups"] = Json::array();
  for (const CgroupMemory* cgroup : shown_cgroups(result, options))
    json["cgroups"].push_back(to_json(*cgroup, memory.pods));
  json["dying_cgroups_total"] = result.dying_cgroups.size();
  json["dying_cgroups"] = Json::array();
  for (const DyingCgroups* dying : largest(result.dying_cgroups, options, std::mem_fn(&DyingCgroups::count)))
    json["dying_cgroups"].push_back(json_dying_cgroups(*dying));
  json["owners_total"] = memory.owners.size();
  json["owners"] = Json::array();
  for (const MemoryOwner* owner : shown_owners(result, options)) json["owners"].push_back(to_json(*owner));
  append_sites(json, "slab_allocations", memory.slab_allocations, options);
  append_sites(json, "slab_frees", memory.slab_frees, options);
  append_sites(json, "page_owners", memory.page_owners, options);
  append_sites(json, "kmemleak", memory.kmemleak, options);
}

void append_missing(Json& json, const KernelMemory& memory) {
  json["missing"] = Json::array();
  for (const MissingSource& missing : memory.missing) {
    Json one = Json::object();
    one["source"] = printable(missing.name);
    one["why"] = printable(missing.why);
    one["how"] = text_or_null(missing.how);
    json["missing"].push_back(std::move(one));
  }
  json["unknown_lines_total"] = memory.unknown_lines;
  json["unknown_lines"] = Json::array();
  for (const UnknownLine& unknown : memory.unknown) {
    Json one = Json::object();
    one["source"] = unknown.source;
    one["line"] = printable(unknown.line);
    json["unknown_lines"].push_back(std::move(one));
  }
}

Json to_json(const std::vector<SnapshotChange>& changes, const SnapshotOptions& options) {
  Json json = Json::array();
  for (std::size_t i = 0; i < options.shown(changes.size()); ++i) {
    Json one = Json::object();
    one["name"] = printable(changes[i].name);
    one["a"] = changes[i].a;
    one["b"] = changes[i].b;
    json.push_back(std::move(one));
  }
  return json;
}

}  // namespace

Json json_dying_cgroups(const DyingCgroups& dying) {
  Json json = Json::object();
  json["below"] = printable(dying.below);
  json["count"] = dying.count;
  json["existing"] = number_or_null(dying.existing);
  json["kernel_bytes"] = number_or_null(dying.kernel_bytes);
  json["slab_bytes"] = number_or_null(dying.slab_bytes);
  json["percpu_bytes"] = number_or_null(dying.percpu_bytes);
  json["file_bytes"] = number_or_null(dying.file_bytes);
  json["anonymous_bytes"] = number_or_null(dying.anonymous_bytes);
  return json;
}

std::string json_snapshot(const SnapshotResult& result, const SnapshotOptions& options) {
  const KernelMemory& memory = result.memory;
  Json json = Json::object();
  json["schema"] = "kmemtrace.snapshot/1";
  json["taken_unix_ns"] = time_or_null(memory.unix_ns);
  json["release"] = text_or_null(memory.release);
  json["machine"] = text_or_null(memory.machine);
  json["host"] = text_or_null(memory.host);
  json["page_size"] = memory.page_size;
  json["sources"] = to_json(memory.has);
  json["files"] = to_json(result.files);
  json["log"] = text_or_null(result.log);
  json["log_reports"] = result.log_reports;
  json["total_bytes"] = result.total == 0 ? Json(nullptr) : Json(result.total);
  json["balance"] = all_of(result.sheet);
  json["contradictions"] = Json::array();
  for (const BalanceLine& line : result.sheet)
    if (line.is_contradiction()) json["contradictions"].push_back(line.id);
  json["health"] = json_health(result.health);
  json["pages"] = result.pages ? json_page_census(*result.pages, memory.page_size, options) : Json(nullptr);
  append_tables(json, result, options);
  json["nodes"] = all_of(memory.nodes);
  json["zones"] = all_of(memory.zones);
  json["free_by_type"] = all_of(memory.free_by_type);
  json["percpu"] = {{"first_chunk_bytes", number_or_null(memory.percpu.first_chunk_bytes)},
                    {"stats", to_json(memory.percpu.values)}};
  json["sockets"] = to_json(memory.sockets);
  json["oom"] = memory.oom ? to_json(*memory.oom, memory.page_size, options) : Json(nullptr);
  json["meminfo"] = to_json(memory.meminfo);
  json["vmstat"] = to_json(memory.vmstat);
  append_missing(json, memory);
  return dump(json);
}

std::string json_snapshot_diff(const SnapshotDiff& diff, const SnapshotOptions& options) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.snapshot-diff/1";
  json["a"] = {{"taken_unix_ns", time_or_null(diff.a_unix_ns)},
               {"kernel", text_or_null(diff.a_kernel)},
               {"host", text_or_null(diff.a_host)}};
  json["b"] = {{"taken_unix_ns", time_or_null(diff.b_unix_ns)},
               {"kernel", text_or_null(diff.b_kernel)},
               {"host", text_or_null(diff.b_host)}};
  json["balance"] = Json::array();
  for (const auto& [line, a, b] : diff.sheet) {
    Json one = Json::object();
    one["id"] = line.id;
    one["label"] = line.label;
    one["depth"] = line.depth;
    one["counted"] = line.counted;
    one["a"] = a ? Json(*a) : Json(nullptr);
    one["b"] = b ? Json(*b) : Json(nullptr);
    json["balance"].push_back(std::move(one));
  }
  const std::pair<const char*, const std::vector<SnapshotChange>*> tables[] = {
      {"slab_caches", &diff.caches},
      {"vmalloc", &diff.vmalloc},
      {"allocinfo", &diff.allocinfo},
      {"cgroups", &diff.cgroups},
      {"dying_cgroups", &diff.dying_cgroups},
      {"slab_allocations", &diff.slab_allocations},
      {"page_owners", &diff.page_owners},
      {"owners", &diff.owners},
      {"page_blocks", &diff.page_blocks},
      {"page_flags", &diff.page_flags},
      {"nodes", &diff.nodes}};
  for (const auto& [key, changes] : tables) {
    json[std::string(key) + "_total"] = changes->size();
    json[key] = to_json(*changes, options);
  }
  json["not_compared"] = Json::array();
  for (const SnapshotPart part : diff.not_compared) json["not_compared"].push_back(describe(part).id);
  return dump(json);
}

}  // namespace kmt
