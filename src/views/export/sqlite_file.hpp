// SPDX-License-Identifier: GPL-2.0-or-later
// Classes that own SQLite handles. Their functions throw Error if SQLite reports an error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

namespace kmt {

class SqliteFile {
 public:
  // Writes a new file. If the program crashes, the file remains incomplete and must be removed.
  explicit SqliteFile(const std::string& path);

  void run(const std::string& sql);
  sqlite3* get() const { return database_.get(); }
  [[noreturn]] void fail() const;  // throws Error with the last error of SQLite

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
};

// A prepared statement. Bind its values in order and then call run(), which executes and resets the statement.
class SqliteStatement {
 public:
  SqliteStatement(const SqliteFile& file, std::string_view sql);

  SqliteStatement& null();
  SqliteStatement& number(std::int64_t number);
  // Binds a number. SQLite stores signed 64-bit numbers, so addresses from 2^63 on are stored as negative numbers.
  SqliteStatement& number(std::uint64_t number) { return this->number(static_cast<std::int64_t>(number)); }
  SqliteStatement& number(std::uint32_t number) { return this->number(std::int64_t{number}); }
  SqliteStatement& real(double number);
  SqliteStatement& number(std::int32_t number) { return this->number(std::int64_t{number}); }
  template <typename Optional>
  SqliteStatement& maybe(const Optional& value) {
    return value ? number(*value) : null();
  }
  // Binds NULL for 0, because no row has the ID 0.
  SqliteStatement& id(std::uint32_t id) { return id == 0 ? null() : number(id); }
  SqliteStatement& text(std::string_view text);  // binds NULL for an empty text; the text must stay valid until run()
  SqliteStatement& required_text(std::string_view text);  // binds an empty text as "", never as NULL
  void run();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void check(int code) const;

  const SqliteFile& file_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
};

}  // namespace kmt
