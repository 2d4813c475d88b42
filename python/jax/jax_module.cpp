// SPDX-License-Identifier: BSD-3-Clause
// carom._jax: the calls that XLA makes into carom, for carom.jax. It is a module of its own because
// it is the only part that needs the headers of jaxlib, and only to be compiled. It holds no
// physics: arrays go to carom._core through carom._core._batch_interface.
#include <cstdint>
#include <memory>
#include <nanobind/nanobind.h>
#include <string>
#include <utility>
#include <vector>
#include <xla/ffi/api/ffi.h>

#include "batch_interface.hpp"

namespace nb = nanobind;
namespace ffi = xla::ffi;
namespace python = carom::python;

namespace {

using Numbers = ffi::Span<const std::int64_t>;

const python::BatchInterface* functions = nullptr;

/// What XLA keeps with a compiled program: the pattern, which so lives as long as the program.
struct HeldPattern {
  explicit HeldPattern(const void* held) noexcept : pattern(held) {}
  HeldPattern(const HeldPattern&) = delete;
  HeldPattern& operator=(const HeldPattern&) = delete;
  ~HeldPattern() { functions->release(pattern); }

  static ffi::TypeId id;
  const void* pattern;
};
ffi::TypeId HeldPattern::id = {};
const ffi::TypeInfo held_pattern_info = ffi::MakeTypeInfo<HeldPattern>();

ffi::ErrorOr<std::unique_ptr<HeldPattern>> hold_pattern(Numbers, Numbers, Numbers, double,
                                                        std::int64_t handle) {
  const void* const held = functions->hold(handle);
  if (held == nullptr) {
    return ffi::Unexpected(ffi::Error(
        ffi::ErrorCode::kInvalidArgument,
        "pattern: expected a problem that still exists, got handle " + std::to_string(handle)));
  }
  return std::make_unique<HeldPattern>(held);
}

/// The attributes of a call.
struct Settings {
  Numbers fields, items;  ///< Of each operand, as in BatchOperand.
  Numbers flags;          ///< Whether the law is Coulomb's, whether contacts are rigid, threads.
  double tolerance = 0;
};

/// A call out of the arrays and attributes of XLA.
class Call {
 public:
  Call(const HeldPattern& held, const Settings& settings, ffi::RemainingArgs arguments,
       ffi::AnyBuffer::Dimensions velocity_axes) {
    call_.pattern = held.pattern;
    call_.coulomb = settings.flags[0] != 0;
    call_.rigid = settings.flags[1] != 0;
    call_.threads = settings.flags[2];
    call_.tolerance = settings.tolerance;
    call_.batch = {velocity_axes.begin(), std::int64_t(velocity_axes.size()) - 1};
    for (std::size_t i = 0; i < settings.fields.size(); ++i) {
      const auto array = arguments.get<ffi::AnyBuffer>(i);
      const auto axes = array->dimensions();
      operands_.push_back({.field = python::BatchField(settings.fields[i]),
                           .item = settings.items[i],
                           .axes = {axes.begin(), std::int64_t(axes.size())},
                           .numbers = array->typed_data<double>()});
    }
    call_.operands = operands_.data();
    call_.operand_count = std::int64_t(operands_.size());
  }
  [[nodiscard]] const python::BatchCall& get() const noexcept { return call_; }

 private:
  python::BatchCall call_;
  std::vector<python::BatchOperand> operands_;
};

/// Runs a function of carom and turns its message into an error of XLA.
template <typename Run>
ffi::Error run_with_message(const Run& run) {
  char text[512];
  if (run(python::BatchMessage{.text = text, .capacity = sizeof text}))
    return ffi::Error::Success();
  return ffi::Error(ffi::ErrorCode::kInvalidArgument, text);
}

double* numbers_of(const ffi::RemainingArgs& arguments, std::size_t i) {
  return arguments.get<ffi::AnyBuffer>(i)->typed_data<double>();
}
double* numbers_of(const ffi::RemainingRets& results, std::size_t i) {
  return (*results.get<ffi::AnyBuffer>(i))->typed_data<double>();
}

/// Arguments: the operands. Results: velocity, impulse, report.
ffi::Error solve(HeldPattern* held, ffi::RemainingArgs arguments, ffi::RemainingRets results,
                 Numbers fields, Numbers items, Numbers flags, double tolerance, std::int64_t) {
  const Settings settings{fields, items, flags, tolerance};
  auto velocity = *results.get<ffi::AnyBuffer>(0);
  const Call call(*held, settings, arguments, velocity->dimensions());
  const python::BatchAnswers answers{.velocity = numbers_of(results, 0),
                                     .impulse = numbers_of(results, 1),
                                     .report = numbers_of(results, 2)};
  return run_with_message(
      [&](python::BatchMessage message) { return functions->solve(call.get(), answers, message); });
}

/// Arguments: the operands, the three results of solve, velocity_bar, impulse_bar, each with all
/// axes of the batch. Results: a gradient per operand.
ffi::Error pull_back(HeldPattern* held, ffi::RemainingArgs arguments, ffi::RemainingRets results,
                     Numbers fields, Numbers items, Numbers flags, double tolerance, std::int64_t) {
  const Settings settings{fields, items, flags, tolerance};
  const std::size_t count = settings.fields.size();
  const Call call(*held, settings, arguments, arguments.get<ffi::AnyBuffer>(count)->dimensions());
  const python::BatchAnswers answers{.velocity = numbers_of(arguments, count),
                                     .impulse = numbers_of(arguments, count + 1),
                                     .report = numbers_of(arguments, count + 2)};
  std::vector<python::BatchResult> gradients;
  for (std::size_t i = 0; i < count; ++i) {
    gradients.push_back({.field = python::BatchField(settings.fields[i]),
                         .item = settings.items[i],
                         .numbers = numbers_of(results, i)});
  }
  return run_with_message([&](python::BatchMessage message) {
    return functions->pull_back(call.get(), answers, numbers_of(arguments, count + 3),
                                numbers_of(arguments, count + 4), gradients.data(), message);
  });
}

/// Binds the attributes, the same ones at every stage.
template <typename Binding>
auto with_settings(Binding&& binding) {
  return std::forward<Binding>(binding)
      .template Attr<Numbers>("fields")
      .template Attr<Numbers>("items")
      .template Attr<Numbers>("flags")
      .template Attr<double>("tolerance")
      .template Attr<std::int64_t>("pattern");
}
auto execution() {
  return with_settings(
      ffi::Ffi::Bind().Ctx<ffi::State<HeldPattern>>().RemainingArgs().RemainingRets());
}
XLA_FFI_Error* solve_handler(XLA_FFI_CallFrame* frame) {
  static auto* const handler = execution().To(solve).release();
  return handler->Call(frame);
}
XLA_FFI_Error* pull_back_handler(XLA_FFI_CallFrame* frame) {
  static auto* const handler = execution().To(pull_back).release();
  return handler->Call(frame);
}
XLA_FFI_Error* hold_handler(XLA_FFI_CallFrame* frame) {
  static auto* const handler =
      with_settings(ffi::Ffi::BindInstantiate()).To(hold_pattern).release();
  return handler->Call(frame);
}

nb::capsule capsule_of(XLA_FFI_Handler* handler) {
  return nb::capsule(reinterpret_cast<void*>(handler));
}

}  // namespace

NB_MODULE(_jax, module) {
  module.doc() = "The calls that XLA makes into carom; carom.jax registers them.";
  const nb::object found = nb::module_::import_("carom._core").attr("_batch_interface");
  functions = static_cast<const python::BatchInterface*>(
      PyCapsule_GetPointer(found.ptr(), "carom.BatchInterface"));
  if (functions == nullptr) throw nb::python_error();
  module.attr("hold") = capsule_of(hold_handler);
  module.attr("solve") = capsule_of(solve_handler);
  module.attr("pull_back") = capsule_of(pull_back_handler);
  module.attr("type_id") = nb::capsule(static_cast<void*>(&HeldPattern::id));
  module.attr("type_info") =
      nb::capsule(const_cast<void*>(static_cast<const void*>(&held_pattern_info)));
}
