// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/types_file.hpp"

#include <utility>

namespace kmt {

namespace {

std::string file_of_types;

}  // namespace

void use_types_file(std::string path) { file_of_types = std::move(path); }

const std::string& types_file() { return file_of_types; }

}  // namespace kmt
