// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "carom/contact/problem_dump.hpp"
#include "carom/solvers/answer_error.hpp"

#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/judged_answer.hpp"
#include "cli/replay.hpp"
#include "cli/table.hpp"
#include "io/number_text.hpp"
#include "io/recording.hpp"

namespace carom::cli {
namespace {

using carom::detail::GuessKind;
using carom::detail::RecordedSolver;
using carom::detail::RecordedSolverKind;
using carom::detail::RecordKind;
using files::BadInput;
using files::format_rounded;
using files::RecordedStep;
using files::Recording;
using OrderedJson = nlohmann::ordered_json;
using Place = AnswerDifference::Place;

/// The certificate of one answer, as far as it is defined.
struct Certificate {
  std::string status;
  int iterations = 0;
  double residual = 0;  ///< That of judge_answer().
  JudgedAnswer judged;
};

/// A step with both of its answers certified.
struct CertifiedStep {
  std::uint64_t step = 0;
  AnswerDifference difference;
  bool equal_afresh = false;  ///< Whether a solver without earlier solves has the recorded bits.
  std::optional<Certificate> recorded;
  Certificate replayed;
};

/// What a replay found.
struct ReplayResult {
  std::uint64_t replayed = 0, equal = 0, different = 0;
  std::uint64_t different_in_time = 0;  ///< of steps with a deadline
  std::uint64_t foreign = 0;            ///< of solvers that the file does not describe
  std::uint64_t begun = 0, left_out = 0, deadlines = 0;
  std::vector<std::string> unusable;  ///< a sentence for each step that is no problem
  std::optional<CertifiedStep> certified;
};

[[nodiscard]] const char* name_of(RecordedSolverKind kind) {
  switch (kind) {
    case RecordedSolverKind::contact:
      return "ContactSolver";
    case RecordedSolverKind::sap:
      return "SapSolver";
    case RecordedSolverKind::interior_point:
      return "InteriorPointSolver";
    case RecordedSolverKind::proximal:
      return "ProximalSolver";
    case RecordedSolverKind::gauss_seidel:
      return "GaussSeidel";
    case RecordedSolverKind::projected_gradient:
      return "ProjectedGradient";
    case RecordedSolverKind::chained:
      return "carom.Solver of Python";
    case RecordedSolverKind::other:
      break;
  }
  return "a solver outside of carom";
}

/// The same problem in double.
[[nodiscard]] ContactProblem<double> in_double(const ContactProblem<double>& problem) {
  return problem;
}
[[nodiscard]] ContactProblem<double> in_double(const ContactProblem<float>& problem) {
  return files::parse_text_problem(problem_text(problem)).problem;
}

template <typename Scalar>
[[nodiscard]] Certificate certificate_of(const RecordedStep<Scalar>& step,
                                         const SolveReport<Scalar>& report,
                                         const VectorX<Scalar>& velocity,
                                         const VectorX<Scalar>& impulse) {
  Certificate result;
  result.status = to_string(report.status);
  result.iterations = report.iterations;
  const VectorX<double>& v = velocity.template cast<double>();  // copied where they are float
  const VectorX<double>& g = impulse.template cast<double>();
  const ContactProblem<double> problem = in_double(step.problem);
  const bool fits = v.size() == problem.velocity_count() && g.size() == problem.impulse_count();
  result.residual = std::numeric_limits<double>::infinity();
  if (!fits) return result;
  result.residual = judge_answer(problem, step.solver.law, v, g).residual;
  GivenAnswer answer;
  answer.velocity = v;
  answer.impulse = g;
  result.judged = judge_bodies(problem, step.solver.law, answer, step.solver.tolerance);
  return result;
}

/// Replays the steps of a recording.
class Replay {
 public:
  explicit Replay(const Recording& recording) : recording_(recording) {}

  ReplayResult run() {
    for (const Recording::Place& place : recording_.steps()) {
      if (place.kind == RecordKind::left_out) {
        ++result_.left_out;
        continue;
      }
      try {
        if (place.scalar_size == 4) {
          replay(recording_.read<float>(place), floats_);
        } else {
          replay(recording_.read<double>(place), doubles_);
        }
      } catch (const BadInput& fault) {
        const std::string sentence = fault.what();
        const bool named = sentence.starts_with("step ");
        result_.unusable.push_back(
            named ? sentence : "step " + std::to_string(place.number) + ": " + sentence);
      }
    }
    if (!result_.certified && last_) last_();
    return std::move(result_);
  }

 private:
  template <typename Scalar>
  void replay(RecordedStep<Scalar> step, Replayer<Scalar>& replayer) {
    ReplayedAnswer<Scalar> again = replayer.solve(step);
    ++result_.replayed;
    result_.deadlines += step.solver.has_deadline ? 1 : 0;
    const bool foreign = step.solver.kind == RecordedSolverKind::other;
    AnswerDifference difference;
    if (step.kind == RecordKind::begun) {
      ++result_.begun;
    } else if (foreign) {
      ++result_.foreign;
    } else {
      difference = compare_answers(step, again);
      if (difference.place == Place::none) {
        ++result_.equal;
      } else if (step.solver.has_deadline) {
        ++result_.different_in_time;
        difference = {};
      } else if (++result_.different == 1) {
        return certify(step, again, difference);
      }
    }
    if (result_.certified) return;
    // Without a difference the last step is the example.
    last_ = [this, step = std::move(step), again = std::move(again)] { certify(step, again, {}); };
  }
  template <typename Scalar>
  void certify(const RecordedStep<Scalar>& step, const ReplayedAnswer<Scalar>& again,
               const AnswerDifference& difference) {
    CertifiedStep& made = result_.certified.emplace();
    made.step = step.number;
    made.difference = difference;
    if (difference.place != Place::none) {
      made.equal_afresh =
          compare_answers(step, Replayer<Scalar>::solve_afresh(step)).place == Place::none;
    }
    if (step.kind == RecordKind::step) {
      made.recorded = certificate_of(step, step.report, step.velocity, step.impulse);
    }
    made.replayed = certificate_of(step, again.report, again.velocity, again.impulse);
  }

  const Recording& recording_;
  ReplayResult result_;
  Replayer<double> doubles_;
  Replayer<float> floats_;
  std::function<void()> last_;
};

/// Where the first bit differs, as the end of a sentence.
std::string words_of(const AnswerDifference& d) {
  const auto numbers = [&] {
    return ": recorded " + files::format_number(d.recorded) + ", replayed " +
           files::format_number(d.replayed);
  };
  switch (d.place) {
    case Place::impulse:
      return "block " + std::to_string(d.item) + ", row " + std::to_string(d.entry) +
             " of its impulse" + numbers();
    case Place::velocity:
      return "body " + std::to_string(d.item) + ", coordinate " + std::to_string(d.entry) +
             " of its velocity" + numbers();
    case Place::report:
      return "status or count of iterations alone";
    case Place::none:
      break;
  }
  return "nowhere";
}

std::string this_build() {
  const carom::detail::RecordingHeader header(0);
  return std::string(reinterpret_cast<const char*>(header.data()) + 24);
}

/// What a reader of the result should know about the file and the recorded run.
std::vector<std::string> notes_on(const Recording& recording, const ReplayResult& result) {
  std::vector<std::string> notes;
  const auto& steps = recording.steps();
  const auto count = [](std::uint64_t n, const char* what) {
    return std::to_string(n) + (n == 1 ? " step " : " steps ") + what;
  };
  if (!recording.header_holds()) {
    notes.emplace_back("The header of the file is damaged; the steps have checksums of their own.");
  }
  if (!recording.damage().empty()) {
    std::size_t bytes = 0;
    for (const auto& scrap : recording.damage()) bytes += scrap.size;
    notes.push_back(std::to_string(bytes) + " bytes in " +
                    std::to_string(recording.damage().size()) +
                    " places of the file belong to no whole step.");
  }
  const bool wrapped = !steps.empty() && steps.front().number > 0;
  if (recording.unfinished_bytes() > 0 && !wrapped) {
    notes.push_back("The last " + std::to_string(recording.unfinished_bytes()) +
                    " bytes are those of a step that was not written to its end.");
  }
  if (const std::uint64_t missing = recording.missing_count(); missing > 0) {
    notes.push_back(count(missing, "between the first and the last are not in the file."));
  }
  if (wrapped) {
    notes.push_back("The recording begins at step " + std::to_string(steps.front().number) +
                    ": what solvers learned before is not known, and they begin afresh.");
  }
  if (result.left_out > 0) {
    notes.push_back(count(result.left_out, "had more bytes than the file may have."));
  }
  if (result.begun > 0) {
    notes.push_back(count(result.begun, "have no answer: the program ended within the solve."));
  }
  if (result.deadlines > 0) {
    notes.push_back(
        count(result.deadlines, "had a deadline: their bits depend on the clock, and ") +
        std::to_string(result.different_in_time) + " of them differ.");
  }
  if (result.foreign > 0) {
    notes.push_back(count(result.foreign,
                          "are of a solver outside of carom: ContactSolver solved them, and bits "
                          "are not compared."));
  }
  for (const std::string& sentence : result.unusable) notes.push_back(sentence + ".");
  if (result.different > 0 && recording.header_holds() && recording.build() != this_build()) {
    notes.push_back("Another build recorded the file (" + recording.build() +
                    "); other instruction sets or compilers may change last bits.");
  }
  return notes;
}

OrderedJson json_of(const Certificate& c) {
  return {{"status", c.status},
          {"iterations", c.iterations},
          {"residual", c.residual},
          {"natural_map_error", json_or_null(c.judged.natural_map_error)},
          {"velocity_error_bound", json_or_null(c.judged.velocity_error_bound)},
          {"duality_gap", json_or_null(c.judged.duality_gap)},
          {"cone_violation", json_or_null(c.judged.cone_violation)},
          {"complementarity", json_or_null(c.judged.complementarity)},
          {"momentum_residual", json_or_null(c.judged.momentum_residual)}};
}

std::string format_json(const Recording& recording, const ReplayResult& result) {
  const auto& steps = recording.steps();
  OrderedJson document{{"steps", steps.size()},
                       {"first", steps.empty() ? OrderedJson() : OrderedJson(steps.front().number)},
                       {"last", steps.empty() ? OrderedJson() : OrderedJson(steps.back().number)},
                       {"missing", recording.missing_count()},
                       {"left_out", result.left_out},
                       {"without_answer", result.begun},
                       {"damaged_places", recording.damage().size()},
                       {"unfinished_bytes", recording.unfinished_bytes()},
                       {"replayed", result.replayed},
                       {"equal", result.equal},
                       {"different", result.different},
                       {"with_deadline", result.deadlines}};
  document["first_difference"] = nullptr;
  if (result.certified) {
    const CertifiedStep& c = *result.certified;
    const AnswerDifference& d = c.difference;
    if (d.place != Place::none) {
      OrderedJson& first = document["first_difference"];
      first = {{"step", c.step}};
      if (d.place == Place::impulse) first.update({{"block", d.item}, {"row", d.entry}});
      if (d.place == Place::velocity) first.update({{"body", d.item}, {"coordinate", d.entry}});
      if (d.place != Place::report) {
        first.update({{"recorded", d.recorded}, {"replayed", d.replayed}});
      }
      first["equal_with_new_solver"] = c.equal_afresh;
    }
    document["certified"] = {{"step", c.step},
                             {"recorded", c.recorded ? json_of(*c.recorded) : OrderedJson()},
                             {"replayed", json_of(c.replayed)}};
  }
  document["build"] = recording.build();
  document["notes"] = notes_on(recording, result);
  return document.dump() + "\n";
}

std::string format_readable(const Recording& recording, const ReplayResult& result) {
  const auto& steps = recording.steps();
  std::string text = std::to_string(steps.size()) + (steps.size() == 1 ? " step" : " steps");
  if (!steps.empty()) {
    text += ", from " + std::to_string(steps.front().number) + " to " +
            std::to_string(steps.back().number);
  }
  text += "; " + std::to_string(result.replayed) + " replayed, " + std::to_string(result.equal) +
          " with the same bits\n";
  const auto& certified = result.certified;
  if (certified && certified->difference.place != Place::none) {
    text +=
        "The first bit differs in step " + std::to_string(certified->step) + ", " +
        words_of(certified->difference) + ".\n" +
        (certified->equal_afresh ? "A new solver has the recorded bits: what the solver learned "
                                   "from earlier steps makes the difference.\n"
                                 : "");
  } else if (result.equal > 0 && result.different == 0) {
    text += "No bit differs.\n";
  }
  for (const std::string& note : notes_on(recording, result)) text += note + "\n";
  if (!certified) return text;
  std::vector<std::vector<std::string>> rows{
      {"certificates of step " + std::to_string(certified->step), "recorded", "replayed", ""}};
  const std::optional<Certificate>& before = certified->recorded;
  const Certificate& after = certified->replayed;
  rows.push_back({"status", before ? before->status : "-", after.status, ""});
  rows.push_back({"iterations", before ? std::to_string(before->iterations) : "-",
                  std::to_string(after.iterations), ""});
  const auto number = [](const std::optional<double>& x) {
    return x ? format_rounded(*x, 4) : std::string("-");
  };
  const auto add = [&](const char* name, const auto& read, const char* unit) {
    const std::optional<double> a = before ? read(*before) : std::nullopt, b = read(after);
    if (a || b) rows.push_back({name, number(a), number(b), unit});
  };
  using Number = std::optional<double>;
  add(
      "largest error of a block", [](const Certificate& c) -> Number { return c.residual; }, "-");
  add(
      "natural map error",
      [](const Certificate& c) -> Number { return c.judged.natural_map_error; }, "-");
  add(
      "bound on the velocity error, in the norm of A",
      [](const Certificate& c) -> Number { return c.judged.velocity_error_bound; }, "J^(1/2)");
  add(
      "duality gap, at most", [](const Certificate& c) -> Number { return c.judged.duality_gap; },
      "J");
  add(
      "largest distance of an impulse from its cone",
      [](const Certificate& c) -> Number { return c.judged.cone_violation; }, "N s");
  add(
      "largest violation of complementarity",
      [](const Certificate& c) -> Number { return c.judged.complementarity; }, "J");
  return text + "\n" + format_table(rows);
}

/// The guess of a step as velocities, which is what a text problem has.
template <typename Scalar>
[[nodiscard]] VectorX<Scalar> velocity_guess(const RecordedStep<Scalar>& step) {
  const ContactProblem<Scalar>& problem = step.problem;
  VectorX<Scalar> velocity = problem.free_velocity();
  if (step.guess_kind == GuessKind::velocity) {
    if (step.guess.size() == velocity.size() && step.guess.allFinite()) velocity = step.guess;
  } else if (step.guess.size() >= problem.impulse_count()) {
    const VectorX<Scalar> impulse = step.guess.head(problem.impulse_count());
    VectorX<Scalar> pushed;
    if (impulse.allFinite()) write_velocity(problem, impulse, pushed);
    if (pushed.size() == velocity.size() && pushed.allFinite()) velocity = pushed;
  }
  return velocity;
}

/// Writes one step as a text problem.
int cut(const Recording& recording, const ReplayOptions& options) {
  const auto& steps = recording.steps();
  const Recording::Place* const place = recording.find(std::uint64_t(options.step));
  if (place == nullptr || place->kind == RecordKind::left_out) {
    const std::string held = steps.empty() ? "no steps"
                                           : "steps from " + std::to_string(steps.front().number) +
                                                 " to " + std::to_string(steps.back().number);
    throw BadInput(options.file + ": step: expected one of the file, which has " + held + ", got " +
                   std::to_string(options.step));
  }
  const auto write = [&](const auto& step) {
    try {
      write_problem(step.problem, options.output, velocity_guess(step));
    } catch (const std::invalid_argument& fault) {
      throw BadInput(fault.what());
    }
    const Index blocks = step.problem.block_count();
    Index overlaps = 0;  // of rigid contacts; text has no place for their velocities
    for (Index i = 0; i < blocks; ++i) overlaps += step.problem.overlap_velocity(i) > 0 ? 1 : 0;
    if (options.json) {
      print(OrderedJson{{"step", step.number},
                        {"written", options.output},
                        {"blocks", blocks},
                        {"overlaps_left_out", overlaps},
                        {"law", to_string(step.solver.law)},
                        {"tolerance", step.solver.tolerance}}
                .dump() +
            "\n");
    } else {
      print("Step " + std::to_string(step.number) + " with " + std::to_string(blocks) +
            " blocks is in " + options.output + ". It was solved by " + name_of(step.solver.kind) +
            ": carom solve " + options.output + " --law " + to_string(step.solver.law) +
            " --tolerance " + files::format_number(step.solver.tolerance) + "\n");
    }
  };
  if (place->scalar_size == 4) {
    write(recording.read<float>(*place));
  } else {
    write(recording.read<double>(*place));
  }
  return done;
}

}  // namespace

int run_replay(const ReplayOptions& options) {
  try {
    const Recording recording = files::read_recording(options.file);
    if (!options.output.empty()) return cut(recording, options);
    const ReplayResult result = Replay(recording).run();
    print(options.json ? format_json(recording, result) : format_readable(recording, result));
    return result.different == 0 ? done : stopped_short;
  } catch (const std::length_error&) {  // a request that no allocator can satisfy
    throw std::bad_alloc();
  }
}

}  // namespace carom::cli
