// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the text "owners" of a snapshot: lines "KIND NAME=VALUE ...", separated by tabs. The values are facts as the
// kernel shows them. parse_owners() computes the bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

struct OwnerFact {
  OwnerFact(std::string_view key, std::string text) : name(key), value(std::move(text)) {}
  OwnerFact(std::string_view key, std::uint64_t number) : name(key), value(std::to_string(number)) {}

  std::string_view name;
  std::string value;
};

// A process that holds an object.
struct HolderProcess {
  std::uint64_t pid = 0;  // 0: unknown
  std::string name;
};

struct OwnerLines {
  std::string text;
  std::vector<MissingSource> missing;  // "owners" if the text lacks owners; otherwise the name of a source
  std::chrono::steady_clock::time_point until;

  bool is_late() const { return std::chrono::steady_clock::now() > until; }
  void add(std::string_view kind, std::initializer_list<OwnerFact> facts) {
    text += kind;
    for (const OwnerFact& fact : facts) add_fact(fact);
    text += '\n';
  }
  // Adds a line that also names the process.
  void add_held(std::string_view kind, const HolderProcess& holder, std::initializer_list<OwnerFact> facts) {
    text += kind;
    if (holder.pid != 0) {
      add_fact({"pid", holder.pid});
      add_fact({"process", holder.name});
    }
    for (const OwnerFact& fact : facts) add_fact(fact);
    text += '\n';
  }

 private:
  void add_fact(const OwnerFact& fact) {
    text.append("\t").append(fact.name).append("=");
    for (const char one : fact.value) text += one == '\t' || one == '\n' ? '?' : one;
  }
};

}  // namespace kmt
