// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/object_log.hpp"

namespace kmt {

void ObjectLog::give_up() {
  is_whole_ = false;
  chunks_ = {};
  addresses_ = {};
}

void ObjectLog::teach(CacheNames& caches) const {
  for (const auto& [key, frees] : frees_) {
    const Origin& origin = kinds_[key.first].kind.origin;
    if (origin.from_cache) caches.learn(origin.call_site, origin.bytes_allocated, {key.second}, frees);
  }
}

void ObjectLog::replay(ObjectSink& sink, const CacheNames& caches) const {
  for (std::size_t number = 1; number < kinds_.size(); ++number) {
    ObjectKind kind = kinds_[number].kind;
    const Origin& origin = kind.origin;
    if (origin.from_cache) kind.cache = caches.name_of(origin.call_site, origin.bytes_allocated, {origin.cache});
    sink.kind(kind);
  }
  Event event{};
  auto address = addresses_.begin();
  for (const std::vector<Entry>& chunk : chunks_)
    for (const Entry& entry : chunk) {
      const auto what = static_cast<What>(entry.what);
      const auto object = static_cast<std::uint32_t>(entry.object);
      const auto kind = static_cast<std::uint32_t>(entry.kind);
      event.time_ns = start_ns_ + entry.offset_ns;
      event.cpu = static_cast<std::uint16_t>(entry.cpu);
      event.node = static_cast<std::int16_t>(static_cast<int>(entry.node) - 1);
      if (with_addresses_ && has_address(what)) event.address = *address++;
      switch (what) {
        case What::began:
        case What::began_again: sink.began(object, kind, event, what == What::began_again); break;
        case What::freed:
        case What::replaced: sink.ended(object, event, what == What::freed); break;
        case What::freed_older:
          event.cache = {kind};
          sink.freed_older(event);
          break;
      }
    }
}

}  // namespace kmt
