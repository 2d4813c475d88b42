// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "carom/core/detail/compiler.hpp"
#include "carom/core/expects.hpp"
#include "carom/core/scalar.hpp"
#include "carom/linalg/detail/atomic_sleep.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Shares numbered chunks of work between the tasks of one call of an executor.
///
/// The first task that arrives is the leader: it runs its own algorithm and passes its loops to
/// run(). Tasks that arrive while the leader runs are helpers: they run chunks until the leader has
/// ended. Tasks that arrive later return at once. The leader never waits for a task that has not
/// started. Any executor is therefore possible, also one that runs its tasks one after the other.
/// If each chunk writes to its own place, the results depend on the chunks only.
///
/// ```
/// carom::Crew crew;
/// executor(8, [&](Index) { crew.join([&] { crew.run(count, [&](Index chunk) { ... }); }); });
/// ```
/// @note  No allocation and no exception. Tasks without work sleep.
class Crew {
 public:
  /// The largest count of chunks of one run().
  static constexpr Index chunk_limit = (Index(1) << 24) - 1;

  /// Becomes the leader if no task is the leader yet. Otherwise helps the leader.
  template <typename Lead>
  void join(const Lead& lead) noexcept {
    if (led_.exchange(1, std::memory_order_acq_rel) != 0) return help();
    lead();
    word_.store(closed, std::memory_order_release);
    sleep_.wake(word_);
  }

  /// Whether no task helps so far. If so, run() runs all its chunks on the calling thread until a
  /// helper arrives.
  [[nodiscard]] bool alone() const noexcept {
    return helpers_.load(std::memory_order_relaxed) == 0;
  }

  /// Calls task(number) through the same code as run().
  template <typename Task>
  static void call(const Task& task, Index number) noexcept {
    call_it<Task>(&task, number);
  }

  /// Calls task(k) for each k in [0, count) and returns when all are done. Only the leader may call
  /// it, and not from inside a task.
  /// @pre  count ≤ chunk_limit.
  template <typename Task>
  void run(Index count, const Task& task) noexcept {
    run_job(count, {call_it<Task>, &task});
  }

 private:
  /// A task of any type.
  struct Job {
    void (*call)(const void*, Index);
    const void* task;
  };
  /// Runs one chunk. All chunks run through this code, so their bits do not depend on the thread.
  template <typename Task>
  CAROM_ONE_CODE static void call_it(const void* task, Index number) noexcept {
    (*static_cast<const Task*>(task))(number);
  }

  void run_job(Index count, const Job& job) noexcept {
    CAROM_EXPECTS(count <= chunk_limit);
    Index first = 0;  // the first of the chunks that remain to be shared
    while (first < count && (count - first <= 1 || alone())) job.call(job.task, first++);
    if (first < count) share(job, first, count);
  }
  void share(const Job& job, Index first, Index end) noexcept {
    const Index count = end - first;
    job_ = job;
    count_ = count;
    end_ = end;
    done_.store(0, std::memory_order_relaxed);
    word_.store(++number_ << count_bits | Word(count), std::memory_order_release);
    sleep_.wake(word_);
    for (Word word = word_.load(std::memory_order_relaxed); left(word) > 0;) take(word);
    wait_for(done_, [&](Index done) { return done == count; });
  }

  using Word = std::uint64_t;
  static constexpr int count_bits = 24;
  static constexpr Word closed = ~Word(0) << count_bits;  ///< read as a job without chunks
  /// How often a helper reads the number before it sleeps: some ten microseconds. This is longer
  /// than the pause between two loops of an algorithm and shorter than the time to wake a thread.
  static constexpr int look_count = 5000;

  [[nodiscard]] static Index left(Word word) noexcept {
    return Index(word & ((Word(1) << count_bits) - 1));
  }

  /// Claims one chunk of the job that `word` names and runs it. If another thread was faster, it
  /// only reads the word again.
  void take(Word& word) noexcept {
    if (!word_.compare_exchange_weak(word, word - 1, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      return;
    }
    // The data of the job do not change until this chunk is done.
    const Index count = count_;
    job_.call(job_.task, end_ - left(word));
    if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == count) sleep_.wake(done_);
    word = word_.load(std::memory_order_acquire);
  }

  void help() noexcept {
    helpers_.fetch_add(1, std::memory_order_relaxed);
    for (Word word = word_.load(std::memory_order_acquire); word != closed;) {
      if (left(word) > 0) {
        take(word);
      } else {
        word = wait_for(word_, [&](Word now) { return now != word; });
      }
    }
  }

  /// Waits until a number satisfies a condition, and returns it.
  template <typename Number, typename Wanted>
  Number wait_for(const std::atomic<Number>& number, const Wanted& wanted) noexcept {
    for (int look = 0; look < look_count; ++look) {
      const Number now = number.load(std::memory_order_acquire);
      if (wanted(now)) return now;
    }
    for (;;) {
      const Number now = number.load(std::memory_order_acquire);
      if (wanted(now)) return now;
      sleep_.wait(number, now);
    }
  }

  std::atomic<int> led_{0};  ///< 1: someone leads. An int, as some processors exchange no bytes
  std::atomic<int> helpers_{0};
  std::atomic<Word> word_{0};  ///< the number of the job and the count of its unclaimed chunks
  std::atomic<Index> done_{0};
  detail::AtomicSleep sleep_;
  Word number_ = 0;  ///< of the current job
  Job job_{nullptr, nullptr};
  Index count_ = 0;  ///< count of shared chunks
  Index end_ = 0;    ///< one past the last of them
};

}  // namespace CAROM_ABI
}  // namespace carom
