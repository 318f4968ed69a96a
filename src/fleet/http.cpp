// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/http.hpp"

#include <mutex>

#include <curl/curl.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace kmt {

namespace {

constexpr long kConnectSeconds = 10;

struct FreeText {
  void operator()(char* text) const { curl_free(text); }
};
using Text = std::unique_ptr<char, FreeText>;

std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  return Text(text).get();
}

// Maximum size of an answer in bytes. This size is enough for half a million groups, and a larger answer would be
// useless. The parser limits the memory for values separately.
constexpr std::size_t kMostAnswer = std::size_t{128} << 20;

std::size_t take(char* bytes, std::size_t size, std::size_t count, void* into) {
  std::string& answer = *static_cast<std::string*>(into);
  if (size * count > kMostAnswer - answer.size()) return 0;  // returning 0 stops the transfer
  answer.append(bytes, size * count);
  return size * count;
}

// True if retries are useless: the server uses another protocol or has a wrong certificate. False for a failed
// handshake, because handshakes also fail while a server restarts.
bool is_for_ever(CURLcode code) {
  return code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY ||
         code == CURLE_PEER_FAILED_VERIFICATION;
}

curl_off_t seconds_of(CURL* curl) {
  curl_off_t microseconds = 0;
  curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME_T, &microseconds);
  return (microseconds + 500'000) / 1'000'000;
}

// True if the request opened a new connection, and the server accepted the connection.
bool has_connected(CURL* curl) {
  curl_off_t after = 0;
  return curl_easy_getinfo(curl, CURLINFO_CONNECT_TIME_T, &after) == CURLE_OK && after > 0;
}

}  // namespace

HttpAddress parse_http_url(const std::string& text) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), curl_url_cleanup);
  const bool is_url = url && curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
  const std::string scheme = is_url ? part_of(url.get(), CURLUPART_SCHEME) : "";
  if (scheme != "http" && scheme != "https")
    throw Error("This is not the URL of a server")
        .hint(
            "Write http://HOST:8123/ or https://HOST:8443/. The name of a database may follow: "
            "http://HOST:8123/DATABASE");
  if (!part_of(url.get(), CURLUPART_QUERY).empty() || !part_of(url.get(), CURLUPART_FRAGMENT).empty())
    throw Error("The URL of a server must not contain ? or #")
        .hint(
            "The name of a database follows the slash: http://HOST:8123/DATABASE. In a password, write %3F for ? and "
            "%23 for #");
  HttpAddress address;
  const std::string port = part_of(url.get(), CURLUPART_PORT);
  address.base = fmt::format("{}://{}{}{}", scheme, part_of(url.get(), CURLUPART_HOST), port.empty() ? "" : ":", port);
  address.path = part_of(url.get(), CURLUPART_PATH, CURLU_URLDECODE);
  address.user = part_of(url.get(), CURLUPART_USER, CURLU_URLDECODE);
  address.password = part_of(url.get(), CURLUPART_PASSWORD, CURLU_URLDECODE);
  return address;
}

struct HttpClient::Handle {
  CURL* curl = curl_easy_init();
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { curl_easy_cleanup(curl); }
};

HttpClient::HttpClient(HttpAddress address) : address_(std::move(address)) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  handle_ = std::make_unique<Handle>();
  CURL* const curl = handle_->curl;
  if (curl == nullptr) throw Error("Cannot set up libcurl: out of memory");
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
  if (!address_.user.empty()) {
    curl_easy_setopt(curl, CURLOPT_USERNAME, address_.user.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, address_.password.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
}

HttpClient::~HttpClient() = default;

HttpReply HttpClient::post(const std::vector<std::pair<std::string, std::string>>& parameters, std::string_view body,
                           std::chrono::seconds most) {
  CURL* const curl = handle_->curl;
  std::string url = address_.base + "/";
  for (const auto& [name, value] : parameters) {
    const Text escaped(curl_easy_escape(curl, value.data(), static_cast<int>(value.size())));
    url += fmt::format("{}{}={}", url.ends_with('/') ? "?" : "&", name, escaped.get());
  }
  // An empty "Expect:" header makes libcurl send large bodies without waiting for the server's permission. The content
  // type replaces libcurl's default, and the server ignores it.
  using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;
  Headers headers(curl_slist_append(nullptr, "Expect:"), curl_slist_free_all);
  headers.reset(curl_slist_append(headers.release(), "Content-Type: application/octet-stream"));
  HttpReply reply;
  char reason[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, static_cast<long>(most.count()));
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_POST, 1L);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply.body);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, nullptr);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  if (code == CURLE_WRITE_ERROR)
    throw Error(fmt::format("The answer of the server at {} is larger than {} MiB", address_.base, kMostAnswer >> 20))
        .hint("Request fewer groups: --host, --kernel, --since, or fewer keys in --by");
  reply.never = is_for_ever(code);
  if (code == CURLE_OPERATION_TIMEDOUT && has_connected(curl))
    reply.failure = fmt::format("it accepts the connection, but does not answer within {} s", seconds_of(curl));
  else if (code != CURLE_OK)
    reply.failure = reason[0] != '\0' ? reason : curl_easy_strerror(code);
  else
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
  return reply;
}

}  // namespace kmt
