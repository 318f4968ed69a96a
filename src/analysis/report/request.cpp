// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <initializer_list>

#include "analysis/report/report.hpp"

namespace kmt {

namespace {

bool groups_by(const ReportRequest& request, std::initializer_list<GroupKey> keys) {
  return std::find_first_of(request.by.begin(), request.by.end(), keys.begin(), keys.end()) != request.by.end();
}

}  // namespace

bool needs_cache_names(const ReportRequest& request) {
  return !request.filter.caches.empty() || groups_by(request, {GroupKey::cache});
}

bool needs_task_names(const ReportRequest& request, const TraceInfo& info) {
  const bool asks =
      request.holders || !request.filter.comms.empty() ||
      groups_by(request, {GroupKey::task, GroupKey::process, GroupKey::comm, GroupKey::syscall, GroupKey::cgroup,
                          GroupKey::container, GroupKey::free_task, GroupKey::free_process, GroupKey::free_comm});
  return asks && may_tell_earlier_names(info.tables.event_types);
}

}  // namespace kmt
