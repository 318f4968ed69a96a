// SPDX-License-Identifier: GPL-2.0-or-later
// Opening, loading and attaching BPF objects (skeletons that bpftool makes), with errors that say what is missing and
// what to do. Whatever ends the process, the kernel detaches and frees all of it: nothing is pinned.
#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

namespace kmt {

// Throws Error (unsupported) when something is missing (features/bpf_support).
void require_bpf();

// An errno of the kernel or of libbpf, of which some are unknown to the C library.
std::string bpf_error_text(int error);

// The error of a libbpf call, with what libbpf said last.
[[noreturn]] void throw_bpf_error(const std::string& action, int error);

// Keeps libbpf's messages for throw_bpf_error() instead of printing them. Called before anything else of libbpf.
void keep_libbpf_messages();

// How often a program did not run because it was already running on that CPU: it had interrupted itself.
std::uint64_t missed_runs(int program);
std::uint64_t missed_runs(const bpf_program* program);

// Before Linux 6.1 programs of probes must not have memory allocated for what they put into a hash table: it has to be
// there for all entries from the beginning. True where that is so. Before the map is made.
bool allocate_before_where_needed(bpf_map* map);

// Bytes of kernel memory that the maps of a loaded object take.
std::uint64_t memory_of_maps(const bpf_object* object);

template <typename Skeleton, Skeleton* (*Open)(), int (*Load)(Skeleton*), void (*Destroy)(Skeleton*)>
class BpfSkeleton {
 public:
  BpfSkeleton() {
    require_bpf();
    keep_libbpf_messages();
    skeleton_.reset(Open());
    if (!skeleton_) throw_bpf_error("Cannot open the BPF object", errno);
  }

  void load() {
    if (const int error = Load(skeleton_.get())) throw_bpf_error("The kernel refuses the BPF programs", -error);
  }

  // What `autoload` left out is not attached.
  void attach(const bpf_program* program) {
    bpf_link* const link = bpf_program__attach(program);
    if (!link) throw_bpf_error(std::string("Cannot attach the BPF program ") + bpf_program__name(program), errno);
    links_.emplace_back(link);
  }

  // An event by its trace event, which calls the program with the kernel's own record.
  void attach(const bpf_program* program, const std::string& system, const std::string& event, std::uint64_t cookie) {
    LIBBPF_OPTS(bpf_tracepoint_opts, options, .bpf_cookie = cookie);
    bpf_link* const link = bpf_program__attach_tracepoint_opts(program, system.c_str(), event.c_str(), &options);
    if (!link) throw_bpf_error("Cannot attach a BPF program to " + system + ":" + event, errno);
    links_.emplace_back(link);
  }

  // All of these functions, by their addresses, with a cookie each: when they are entered or, `at_return`, left. Throws
  // Error. Returns the link's descriptor, which belongs to this.
  int attach(const bpf_program* program, const std::vector<unsigned long>& functions, const std::vector<__u64>& cookies,
             bool at_return) {
    LIBBPF_OPTS(bpf_kprobe_multi_opts, options, .addrs = functions.data(), .cookies = cookies.data(),
                .cnt = functions.size(), .retprobe = at_return);
    bpf_link* const link = bpf_program__attach_kprobe_multi_opts(program, nullptr, &options);
    if (!link)
      throw_bpf_error("Cannot attach a BPF program to " + std::to_string(functions.size()) + " functions", errno);
    links_.emplace_back(link);
    return bpf_link__fd(link);
  }

  void detach() { links_.clear(); }

  Skeleton* operator->() { return skeleton_.get(); }
  const Skeleton* operator->() const { return skeleton_.get(); }

 private:
  struct DestroySkeleton {
    void operator()(Skeleton* skeleton) const { Destroy(skeleton); }
  };
  struct DestroyLink {
    void operator()(bpf_link* link) const { bpf_link__destroy(link); }
  };

  std::unique_ptr<Skeleton, DestroySkeleton> skeleton_;
  std::vector<std::unique_ptr<bpf_link, DestroyLink>> links_;  // destroyed first
};

}  // namespace kmt
