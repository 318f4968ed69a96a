// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/export/sqlite.hpp"

#include "base/parts/missing_part.hpp"

namespace kmt {

std::unique_ptr<EventSink> sqlite_export(const TraceInfo&, const SymbolNames&, const std::string&) {
  throw missing_part("export to SQLite", "libsqlite3-dev", "SQLITE");
}

}  // namespace kmt
