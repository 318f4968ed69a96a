// SPDX-License-Identifier: GPL-2.0-or-later
// Manages where an investigation writes its files: into a folder, or only as an HTML page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "results/growth/investigation.hpp"

namespace kmt {

// The constructor checks the place, so that errors appear before any long work. make() creates the folder later.
class InvestigationPlace {
 public:
  // `output` is the value of -o, which is a folder or FILE.html. If it is empty, a new folder is named by the current
  // time. `from` is the folder to read, or empty. The constructor makes sure that files of two investigations do not
  // mix. It throws Error if the folder is `from`, if another investigation uses it, if it is unreadable, or if it has
  // files that are not from an earlier investigation.
  InvestigationPlace(const std::string& output, const std::string& from);

  // If the investigation failed without evidence, removes the files that it wrote. Then removes the folder too if it is
  // empty and make() created it.
  ~InvestigationPlace();
  InvestigationPlace(const InvestigationPlace&) = delete;
  InvestigationPlace& operator=(const InvestigationPlace&) = delete;

  // Creates the folder. Removes the files of an earlier investigation, and reports this on stderr. If only a page is
  // written, make() may create a temporary folder, which the destructor removes. Throws Error.
  void make();
  // Marks the files as complete. Call it after all files are written.
  void finish();

  const std::string& folder() const { return folder_; }
  const std::string& page() const { return page_; }
  bool keeps_files() const { return !is_page_alone_; }

 private:
  bool is_page_alone_;
  std::string folder_;
  std::string page_;
  std::vector<std::string> earlier_;  // names of the files of an earlier investigation
  bool is_earlier_unfinished_ = false;
  bool is_unfinished_ = false;  // true between make() and finish()
  bool made_folder_ = false;
  FileDescriptor unfinished_;  // marks an unfinished investigation; locked while this process runs
  std::optional<TemporaryFolder> temporary_;
};

// Returns the files of the folder that are in `written`, and the files that are always written.
std::vector<InvestigationFile> files_of_investigation(const std::vector<std::string>& written);

}  // namespace kmt
