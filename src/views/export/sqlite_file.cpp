// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/export/sqlite_file.hpp"

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/confinement/outside.hpp"
#include "base/error.hpp"

namespace kmt {

SqliteFile::SqliteFile(const std::string& path) : path_(path) {
  // SQLite needs temporary files to sort long indexes.
  if (const std::string scratch = scratch_folder(); !scratch.empty()) ::setenv("SQLITE_TMPDIR", scratch.c_str(), 1);
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  database_.reset(opened);
  if (code != SQLITE_OK) fail();
  run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; "
      "PRAGMA cache_size = -65536; PRAGMA page_size = 8192");
}

void SqliteFile::run(const std::string& sql) {
  if (sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void SqliteFile::fail() const {
  Error error(fmt::format("Cannot write the database: {}", database_ ? sqlite3_errmsg(get()) : "out of memory"));
  const int code = database_ ? sqlite3_errcode(get()) : SQLITE_NOMEM;
  if (code == SQLITE_FULL) error.hint("Free some space or write to another file system");
  if (code == SQLITE_IOERR) {
    int reason = 0;  // the errno of the failed system call
    sqlite3_file_control(get(), "main", SQLITE_FCNTL_LAST_ERRNO, &reason);
    error.hint(fmt::format("{}. Write to another file system with -o",
                           reason == 0 ? "The file system failed" : std::strerror(reason)));
  }
  throw error.at({path_, {}, {}});
}

SqliteStatement::SqliteStatement(const SqliteFile& file, std::string_view sql) : file_(file) {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(file.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &prepared, nullptr);
  statement_.reset(prepared);
  check(code);
}

void SqliteStatement::check(int code) const {
  if (code != SQLITE_OK) file_.fail();
}

SqliteStatement& SqliteStatement::null() {
  check(sqlite3_bind_null(statement_.get(), ++bound_));
  return *this;
}

SqliteStatement& SqliteStatement::number(std::int64_t number) {
  check(sqlite3_bind_int64(statement_.get(), ++bound_, number));
  return *this;
}

SqliteStatement& SqliteStatement::real(double number) {
  check(sqlite3_bind_double(statement_.get(), ++bound_, number));
  return *this;
}

SqliteStatement& SqliteStatement::text(std::string_view text) {
  if (text.empty()) return null();
  check(sqlite3_bind_text64(statement_.get(), ++bound_, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

SqliteStatement& SqliteStatement::required_text(std::string_view text) {
  const char* const begin = text.empty() ? "" : text.data();
  check(sqlite3_bind_text64(statement_.get(), ++bound_, begin, text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

void SqliteStatement::run() {
  if (sqlite3_step(statement_.get()) != SQLITE_DONE) file_.fail();
  check(sqlite3_reset(statement_.get()));
  bound_ = 0;
}

}  // namespace kmt
