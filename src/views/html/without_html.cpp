// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/html/report.hpp"

#include "base/parts/missing_part.hpp"

namespace kmt {

std::string html_report(const std::vector<HtmlTrace>&, const std::string&, const std::string&, const std::string&) {
  throw missing_part("write HTML reports", "npm", "HTML");
}

}  // namespace kmt
