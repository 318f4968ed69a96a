// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `leaks --max-growth` as text and as a JUnit report.
#pragma once

#include <string>

#include "results/report/growth_gate.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns a line for each allocator whose live memory exceeds the limit or may exceed it, or a line that says that all
// are within the limit.
std::string gate_lines(const GrowthGate& gate, const LeaksResult& result, const TextStyle& style);

// Returns an XML file with a test case for each allocator, in the format of JUnit (the repository testmoapp/junitxml
// describes it). A check that is unclear is an error, not a failure.
std::string junit_gate(const GrowthGate& gate, const LeaksResult& result);

}  // namespace kmt
