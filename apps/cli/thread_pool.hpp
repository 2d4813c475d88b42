// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#include "carom/core/scalar.hpp"

#include "io/bad_input.hpp"

namespace carom::cli {

/// An executor for the solvers on threads that wait between calls. The calling thread works too, so
/// that a task may itself call the pool.
class ThreadPool {
 public:
  /// @param threads  count of threads that work on a call, including the calling one, ≥ 1. Throws
  ///                 BadInput if the machine cannot start as many.
  explicit ThreadPool(int threads) {
    try {
      for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { wait_for_jobs(); });
    } catch (const std::system_error&) {
      const std::size_t given = workers_.size() + 1;
      stop();
      throw files::BadInput("--threads: expected at most the " + std::to_string(given) +
                            " that the machine gives, got " + std::to_string(threads));
    }
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() { stop(); }

  /// Calls task(i) for every i in [0, count), and returns when all are done.
  template <typename Task>
  void operator()(Index count, Task&& task) noexcept {
    if (workers_.empty() || count < 2) {
      for (Index i = 0; i < count; ++i) task(i);
      return;
    }
    using Stored = std::remove_reference_t<Task>;
    Job job;
    job.count = count;
    job.task = const_cast<void*>(static_cast<const void*>(std::addressof(task)));
    job.call = [](void* stored, Index i) { (*static_cast<Stored*>(stored))(i); };
    run(job);
  }

 private:
  struct Job {
    Index count = 0;
    void* task = nullptr;
    void (*call)(void*, Index) = nullptr;
    std::atomic<Index> next{0};  ///< next task that no thread has started
    int workers = 0;             ///< count of workers in the job, without the caller
    Job* older = nullptr;

    void work() {
      for (Index i = next++; i < count; i = next++) call(task, i);
    }
  };

  void run(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      job.older = newest_;
      newest_ = &job;
    }
    has_jobs_.notify_all();
    job.work();
    std::unique_lock lock(mutex_);
    Job** link = &newest_;
    while (*link != &job) link = &(*link)->older;
    *link = job.older;
    left_job_.wait(lock, [&] { return job.workers == 0; });
  }

  /// The newest job with a remaining task.
  [[nodiscard]] Job* find_job() const {
    Job* job = newest_;
    while (job != nullptr && job->next >= job->count) job = job->older;
    return job;
  }
  void wait_for_jobs() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Job* job = nullptr;
      has_jobs_.wait(lock, [&] { return stopped_ || (job = find_job()) != nullptr; });
      if (job == nullptr) return;
      ++job->workers;
      lock.unlock();
      job->work();
      lock.lock();
      --job->workers;
      left_job_.notify_all();
    }
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    has_jobs_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable has_jobs_, left_job_;
  Job* newest_ = nullptr;
  bool stopped_ = false;
};

}  // namespace carom::cli
