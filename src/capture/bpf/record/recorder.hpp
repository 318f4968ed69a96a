// SPDX-License-Identifier: GPL-2.0-or-later
// Records the running kernel's events by BPF programs instead of ftrace: the same records, at less cost for what is
// recorded.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "capture/session/recording.hpp"
#include "trace/page_sink.hpp"

namespace kmt {

// Before recording starts; who takes the records. May throw to give up.
using OpenSink = std::function<RecordingSink*(const KernelDescription&, const std::vector<unsigned>& cpus)>;

// As record() does. Of the request filters and the clock do not count (it is "mono"), and of the hooks `described`. The
// programs are gone when it returns, throws, or the process ends in whatever way. Throws Error.
RecordOutcome record_by_bpf(const std::string& tracefs, const RecordRequest& request, const RecordHooks& hooks,
                            const OpenSink& open);

}  // namespace kmt
