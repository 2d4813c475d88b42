// SPDX-License-Identifier: BSD-3-Clause
#include "thread_team.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace carom::python {
namespace {

/// What the threads share.
struct Team {
  const SharedWork& work;
  std::atomic<bool>& stopped;
  std::atomic<std::size_t> next = 0;
  std::mutex lock;
  std::condition_variable ended;
  int running = 0;
  std::exception_ptr fault;
};

/// A thread's part: whatever is next, until nothing is.
void take_part(Team& team) {
  try {
    const ItemWork work = team.work.make_work();
    for (;;) {
      const std::size_t i = team.next.fetch_add(1, std::memory_order_relaxed);
      if (i >= team.work.count || team.stopped) break;
      work(i);
    }
  } catch (...) {
    const std::lock_guard<std::mutex> alone(team.lock);
    team.fault = std::current_exception();
    team.stopped = true;
  }
  const std::lock_guard<std::mutex> alone(team.lock);
  --team.running;
  team.ended.notify_all();
}

/// Starts threads, as many as are to be had.
std::vector<std::thread> start(Team& team, std::size_t wanted) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < wanted; ++i) {
    {
      const std::lock_guard<std::mutex> alone(team.lock);
      ++team.running;
    }
    try {
      threads.emplace_back([&team] { take_part(team); });
    } catch (const std::system_error&) {  // no more threads to be had
      const std::lock_guard<std::mutex> alone(team.lock);
      --team.running;
      break;
    }
  }
  return threads;
}

}  // namespace

void do_all(const SharedWork& work, std::atomic<bool>& stopped) {
  Team team{.work = work, .stopped = stopped};
  const auto wanted = (std::min)(std::size_t(work.threads), work.count);
  std::vector<std::thread> threads;
  if (work.ask || wanted > 1) threads = start(team, wanted);
  if (threads.empty() && work.count > 0) {
    team.running = 1;
    take_part(team);
  }
  {
    std::unique_lock<std::mutex> waiting(team.lock);
    while (team.running > 0) {
      team.ended.wait_for(waiting, std::chrono::milliseconds(50));
      if (team.running == 0 || stopped || !work.ask) continue;
      waiting.unlock();
      const double begun = double((std::min)(team.next.load(), work.count));
      if (work.ask(begun / double(work.count))) stopped = true;
      waiting.lock();
    }
  }
  for (std::thread& one : threads) one.join();
  if (team.fault) std::rethrow_exception(team.fault);
}

}  // namespace carom::python
