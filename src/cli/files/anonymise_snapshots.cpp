// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/files/anonymise_snapshots.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "anonymise/code_layout.hpp"
#include "anonymise/description.hpp"
#include "base/error.hpp"
#include "formats/kmt/snapshot.hpp"
#include "reading/snapshots.hpp"

namespace kmt {

std::vector<std::string> anonymise_snapshots(const std::string& input, const std::string& output,
                                             const PseudonymKey& key) {
  SnapshotFile from(input);
  TraceDescription description;
  description.kernel = from.reader()->kernel();
  description.uname = uname_of(description.kernel);
  const unsigned word_bits = description.kernel.long_bytes * 8;
  const Pseudonyms pseudonyms(key, word_bits);
  const CodeLayout code(description.kernel.kallsyms.text(), word_bits, pseudonyms.address(std::uint64_t{1} << 20));
  std::vector<std::string> omitted;
  std::size_t damaged = 0;
  std::optional<kmt_format::SnapshotWriter> to;
  for (std::size_t i = 0; i < from.size(); ++i) {
    try {
      description.samples = {from.sample(i)};
    } catch (const Error&) {
      ++damaged;
      continue;
    }
    const TraceDescription anonymised = anonymous(description, pseudonyms, code, omitted);
    if (!to) to.emplace(output, anonymised.kernel);
    to->add(anonymised.samples.front());
  }
  if (!to)
    throw Error("All snapshots in the file are damaged").hint("Try another copy of the file").at({input, {}, {}});
  to->finish();
  damaged += from.reader()->without_base();
  if (damaged > 0) omitted.push_back(fmt::format("{} damaged snapshots", damaged));
  if (!from.reader()->damage().empty()) omitted.emplace_back("damaged parts of the file");
  std::ranges::sort(omitted);
  omitted.erase(std::unique(omitted.begin(), omitted.end()), omitted.end());
  return omitted;
}

}  // namespace kmt
