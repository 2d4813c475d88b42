// SPDX-License-Identifier: BSD-3-Clause
#include "thread_team.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace carom::python {
namespace {

constexpr std::size_t no_item = std::numeric_limits<std::size_t>::max();

/// What the threads share.
struct Team {
  const SharedWork& work;
  std::atomic<bool>& stopped;
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex lock;
  std::condition_variable ended;
  int running = 0;
  std::exception_ptr fault;
  std::size_t fault_range = no_item;  ///< Where the range begins in which the fault was.

  /// Takes the items that are next: many of those that are left at once, as to take them costs as
  /// much as a small item, and few in the end, so that no thread waits long for the others.
  [[nodiscard]] bool take(std::size_t& first, std::size_t& last) noexcept {
    constexpr std::size_t most = 32;
    if (failed || stopped) return false;
    const std::size_t begun = (std::min)(next.load(std::memory_order_relaxed), work.count);
    const std::size_t share = (work.count - begun) / (8 * std::size_t(work.threads));
    const std::size_t size = std::clamp<std::size_t>(share, 1, most);
    first = next.fetch_add(size, std::memory_order_relaxed);
    last = (std::min)(first + size, work.count);
    return first < work.count;
  }
  void keep_fault(std::size_t range) {
    const std::lock_guard<std::mutex> alone(lock);
    failed = true;
    if (fault && range >= fault_range) return;
    fault = std::current_exception();
    fault_range = range;
  }
  [[nodiscard]] bool asks() const noexcept { return bool(work.ask) && !stopped; }
  void ask() {
    const std::size_t begun = (std::min)(next.load(), work.count);
    if (asks() && work.ask(double(begun) / double(work.count))) stopped = true;
  }
};

class TeamLookout final : public Lookout {
 public:
  explicit TeamLookout(Team& team) : team_(team) {}

 private:
  void ask() noexcept override { team_.ask(); }
  Team& team_;
};

/// A thread's part: whatever is next, until nothing is.
void take_part(Team& team, Lookout* lookout) {
  std::size_t first = no_item, last = no_item;
  try {
    const RangeWork work = team.work.make_work(lookout);
    while (team.take(first, last)) {
      work(first, last);
      if (lookout != nullptr) lookout->look(read_clock());
    }
  } catch (...) {
    team.keep_fault(first);
  }
}

/// Starts threads, as many as are to be had.
std::vector<std::thread> start(Team& team, std::size_t wanted) {
  std::vector<std::thread> threads;
  const auto leave = [&team] {
    const std::lock_guard<std::mutex> alone(team.lock);
    --team.running;
    team.ended.notify_all();
  };
  for (std::size_t i = 0; i < wanted; ++i) {
    {
      const std::lock_guard<std::mutex> alone(team.lock);
      ++team.running;
    }
    try {
      threads.emplace_back([&team, leave] {
        take_part(team, nullptr);
        leave();
      });
    } catch (const std::system_error&) {  // no more threads to be had
      leave();
      break;
    }
  }
  return threads;
}

}  // namespace

void do_all(const SharedWork& work, std::atomic<bool>& stopped) {
  if (work.count == 0) return;
  Team team{.work = work, .stopped = stopped};
  const auto wanted = (std::min)(std::size_t(work.threads), work.count);
  std::vector<std::thread> threads = start(team, wanted - 1);
  TeamLookout lookout(team);
  take_part(team, work.ask ? &lookout : nullptr);
  {
    std::unique_lock<std::mutex> waiting(team.lock);
    while (team.running > 0) {
      team.ended.wait_for(waiting, std::chrono::milliseconds(50));
      if (team.running == 0 || !team.asks()) continue;
      waiting.unlock();
      team.ask();
      waiting.lock();
    }
  }
  for (std::thread& one : threads) one.join();
  if (team.fault) std::rethrow_exception(team.fault);
}

}  // namespace carom::python
