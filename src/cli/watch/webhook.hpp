// SPDX-License-Identifier: GPL-2.0-or-later
// Sends a message to another program over HTTP or HTTPS.
#pragma once

#include <string>

namespace kmt {

// Throws Error if this is not the URL of an HTTP or HTTPS server.
void check_webhook(const std::string& url);
// Posts the JSON text to the URL. Waits at most ten seconds for each step. Returns the reason of a failure; empty if
// the server accepted the text.
std::string post_json(const std::string& url, const std::string& json);

}  // namespace kmt
