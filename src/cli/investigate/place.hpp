// SPDX-License-Identifier: GPL-2.0-or-later
// The place of an investigation's files: a folder of its own, or only a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "results/growth/investigation.hpp"

namespace kmt {

// Checked in advance, so that errors come before any long work, and created later.
class InvestigationPlace {
 public:
  // `output` as in -o: a folder, or FILE.html; empty: a new folder named by the time. `from` is the folder to read;
  // empty: none. Throws Error for a folder that is unreadable, has files other than those of an earlier investigation,
  // finished or not, is in use by one, or is `from`: files of two investigations must not mix.
  InvestigationPlace(const std::string& output, const std::string& from);

  // Creates it. Removes an earlier investigation's files, with a note on stderr. A page alone needs a temporary folder,
  // too, which goes with the object. Throws Error.
  void make();
  // Call it after all files are written.
  void finish();

  const std::string& folder() const { return folder_; }
  const std::string& page() const { return page_; }
  bool keeps_files() const { return !is_page_alone_; }

 private:
  bool is_page_alone_;
  std::string folder_;
  std::string page_;
  std::vector<std::string> earlier_;  // names, of an earlier investigation
  bool is_earlier_unfinished_ = false;
  FileDescriptor unfinished_;  // the mark of an unfinished investigation, locked during this process' life
  std::optional<TemporaryFolder> temporary_;
};

// The files in its folder named in `written`, and those that always exist.
std::vector<InvestigationFile> files_of_investigation(const std::vector<std::string>& written);

}  // namespace kmt
