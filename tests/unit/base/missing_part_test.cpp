// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/parts/missing_part.hpp"

#include <gtest/gtest.h>

namespace kmt {

TEST(MissingPart, NamesThePackageAndTheOption) {
  const Error error = missing_part("read CTF traces", "libbabeltrace2-dev", "CTF");
  EXPECT_STREQ(error.what(), "This build cannot read CTF traces");
  EXPECT_EQ(error.hint(), "Install libbabeltrace2-dev and build again with -DKMEMTRACE_CTF=ON");
  EXPECT_EQ(error.exit_code(), ExitCode::unsupported);
}

}  // namespace kmt
