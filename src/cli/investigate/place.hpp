// SPDX-License-Identifier: GPL-2.0-or-later
// Where an investigation goes: a folder of its own, or a page alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "results/growth/investigation.hpp"

namespace kmt {

// Looked at first, so that what cannot be is said before anything long is done, and made afterwards.
class InvestigationPlace {
 public:
  // As -o names it: a folder, or FILE.html; empty: a new folder that is named by the time. `from` is the folder that is
  // read; empty: none. Throws Error for a folder that cannot be read, that holds anything but what an earlier
  // investigation wrote, finished or not, where one is at work, or that is `from`: files of two would be taken for
  // one's.
  InvestigationPlace(const std::string& output, const std::string& from);

  // Makes it. What an earlier investigation left there goes away, which is said on stderr. A page alone needs a folder
  // as well while it works, which goes with the object. Throws Error.
  void make();
  // All is written that is to be there.
  void finish();

  const std::string& folder() const { return folder_; }
  const std::string& page() const { return page_; }
  bool keeps_files() const { return !is_page_alone_; }
  // Of the path, the part that is missing of the first folder that is there: what has to be writable.
  std::string first_made() const;

 private:
  bool is_page_alone_;
  std::string folder_;
  std::string page_;
  std::vector<std::string> earlier_;  // names, of an earlier investigation
  bool is_earlier_unfinished_ = false;
  FileDescriptor unfinished_;  // the file that says so, locked as long as this process lives
  std::optional<TemporaryFolder> temporary_;
};

// Of the files in its folder, those whose names are in `written`, and those that are always there.
std::vector<InvestigationFile> files_of_investigation(const std::vector<std::string>& written);

}  // namespace kmt
