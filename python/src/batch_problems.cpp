// SPDX-License-Identifier: BSD-3-Clause
#include "batch_problems.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "thread_team.hpp"

namespace carom::python {

BatchProblems::BatchProblems(std::vector<std::shared_ptr<const ProblemData>> problems)
    : problems_(std::move(problems)), count_(Index(problems_.size())) {
  starts_.reserve(problems_.size() + 1);
  Start start{0, 0};
  starts_.push_back(start);
  for (const auto& one : problems_) {
    start.velocity += one->problem().velocity_count();
    start.impulse += one->problem().impulse_count();
    starts_.push_back(start);
  }
}

BatchProblems::BatchProblems(std::shared_ptr<const ProblemData> pattern, Replacements given,
                             Index count)
    : given_(std::move(given)), count_(count) {
  problems_.push_back(std::move(pattern));
}

const std::shared_ptr<const ProblemData>& ProblemReader::share(Index i) {
  if (!problems_.is_pattern()) return problems_.problems_[std::size_t(i)];
  // A problem that is built is what other numbers are put into.
  if (!own_ || !replace_alike(problems_.shape(i), *problems_.given_, i, *own_)) build(i);
  return shared_;
}

void ProblemReader::build(Index i) {
  const ProblemData& pattern = problems_.shape(i);
  if (!own_) {
    own_ = std::make_shared<ProblemData>(pattern.problem().time_step());
    shared_ = own_;
  }
  try {
    build_alike(pattern, *problems_.given_, i, *own_);
  } catch (const std::invalid_argument& fault) {
    own_.reset();
    shared_.reset();
    throw std::invalid_argument("problem " + std::to_string(i) + ": " + fault.what());
  }
}

std::shared_ptr<const ProblemData> ProblemReader::make(Index i) {
  const std::shared_ptr<const ProblemData>& one = share(i);
  if (!problems_.is_pattern()) return one;
  return std::make_shared<const ProblemData>(*one);
}

void check_all(const BatchProblems& problems, int threads, const std::function<bool(double)>& ask) {
  constexpr Index least = 20'000;  // to read one number takes some nanoseconds
  std::atomic<bool> stopped = false;
  const SharedWork work{.count = std::size_t(problems.count()),
                        .threads = problems.useful_threads(threads, least),
                        .make_work = [&](Lookout*) -> RangeWork {
                          return [&stopped, reader = ProblemReader(problems)](
                                     std::size_t first, std::size_t last) mutable {
                            for (std::size_t i = first; i < last && !stopped; ++i) {
                              static_cast<void>(reader.read(Index(i)));
                            }
                          };
                        },
                        .ask = ask};
  do_all(work, stopped);
}

}  // namespace carom::python
