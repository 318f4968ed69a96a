// SPDX-License-Identifier: GPL-2.0-or-later
// Checks that a document in docs/formats mentions all keys of a JSON document.
#pragma once

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/file.hpp"

namespace kmt::test {

class DocumentedKeys {
 public:
  // `document` is a file name such as "pages-json.md".
  explicit DocumentedKeys(const std::string& document)
      : text_(read_file(std::string(KMEMTRACE_DOCS) + "/formats/" + document)) {}

  // Returns the keys of an object in order, each followed by a space.
  std::string operator()(const nlohmann::ordered_json& object) const {
    std::string text;
    for (const auto& [key, value] : object.items()) {
      text += key + " ";
      expect(key);
    }
    return text;
  }
  void expect(const std::string& word) const { EXPECT_NE(text_.find("`" + word + "`"), std::string::npos) << word; }

 private:
  std::string text_;
};

}  // namespace kmt::test
