// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/recorder_arguments.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

bool names_some_tasks(const std::map<std::string, std::string>& notes) {
  if (notes.contains("some_tasks")) return true;
  // For perf, -F is a frequency and does not select tasks.
  if (note_in(notes, "recorder").starts_with("perf")) return false;
  std::vector<std::string_view> words = split(note_in(notes, "arguments"), ' ');
  words.erase(std::ranges::find(words, "--"), words.end());  // the words after "--" belong to the traced command
  // Without options that select tasks, `graph` only records its command. For `graph`, the option -F selects functions,
  // not tasks.
  if (words.size() > 1 && words[1] == "graph")
    return std::ranges::none_of(words, [](std::string_view word) { return word == "-a" || word == "--all"; });
  for (const std::string_view word : words)
    for (const std::string_view option : {"-F", "--only-command", "-p", "--pid", "--cgroup"})
      if (word == option || (option.size() > 2 && word.starts_with(std::string(option) + "="))) return true;
  return false;
}

}  // namespace kmt
