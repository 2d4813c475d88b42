// SPDX-License-Identifier: BSD-3-Clause
// Many bodies and contacts in one call.
#include "many_blocks.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <Eigen/Geometry>

#include "contact_options.hpp"

namespace carom::python {
namespace {

constexpr const char* add_bodies_doc =
    "Adds many bodies of one size.\n\n"
    "mass: (k, n, n) [kg, kg m^2]. free_velocity, velocity: (k, n), as in add_body().\n"
    "Returns their numbers, (k,). Where one is refused, none is added.";

constexpr const char* add_rigid_bodies_doc =
    "Adds many rigid bodies by mass and inertia, without a mass matrix.\n\n"
    "Velocities are (v, w): that of the centre of mass, then the angular one, both along the axes\n"
    "of the world. mass: (k,) or a number [kg], > 0. inertia: (k, 3) principal moments or\n"
    "(k, 3, 3) [kg m^2], about the centre of mass, along the axes of the body. free_velocity,\n"
    "velocity: (k, 6) [m/s, rad/s], as in add_body(). position: (k, 3) [m], the centres of mass,\n"
    "from which add_contacts() takes the levers of points. rotation: from the body to the world,\n"
    "(k, 3, 3) or unit quaternions (k, 4), the real part first; None: the axes of the world.\n"
    "Returns their numbers, (k,). Where one is refused, none is added.";

constexpr const char* add_contacts_doc =
    "Adds many friction contacts.\n\n"
    "body: (k,) numbers of bodies. other: (k,) numbers of the second bodies, -1 for the world;\n"
    "None: the world for all. Where they touch is given in one of two ways. jacobian and\n"
    "other_jacobian: (k, 3, n), as in add_contact(); what stands for the world is not read. Or,\n"
    "for bodies from add_rigid_bodies(), point and normal: (k, 3) [m, -], in the world; the\n"
    "normal, of any length, points from the other body to the body. Then t1 is the axis of the\n"
    "world with the smallest part along the normal, the first of equals, made orthogonal to it,\n"
    "and t2 = normal x t1; contact_frames() returns them.\n\n"
    "All other arguments are those of add_contact(): one value for all contacts, or one for each,\n"
    "(k,), or (k, 3) where it has three rows. What says how a contact gives way makes all of them "
    "give way: those that are\n"
    "rigid are added by a call of their own.\n"
    "Returns the numbers of the contacts, (k,). Where one is refused, none is added.";

constexpr const char* contact_frames_doc =
    "The axes (t1, t2, n) of contacts with these normals, as add_contacts() chooses them.\n\n"
    "normal: (k, 3), of any length but zero. Returns (k, 3, 3), the axes as rows: a contact's\n"
    "impulse in the world is axes.T @ impulse.";

using Rows3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
using BodyRows = Eigen::Matrix<double, 3, 6, Eigen::RowMajor>;

/// The axes (t1, t2, n) of a contact, as rows.
Rows3 frame_of(const Vector3<double>& normal, const std::string& item) {
  const double length = normal.norm();
  if (!std::isfinite(length) || length == 0) {
    refuse(item + ": normal", "a finite vector that is not zero",
           length == 0 ? "zero" : "one that is not finite");
  }
  Rows3 axes;
  axes.row(2) = normal / length;
  Index least = 0;
  axes.row(2).cwiseAbs().minCoeff(&least);
  const Vector3<double> n = axes.row(2);
  axes.row(0) = (Vector3<double>::Unit(least) - n * n(least)).normalized();
  axes.row(1) = n.cross(axes.row(0).transpose());
  return axes;
}

/// Takes away what a call has added, where it does not end well.
class AllOrNone {
 public:
  explicit AllOrNone(ProblemData& data)
      : data_(data), bodies_(data.problem().body_count()), blocks_(data.problem().block_count()) {}
  ~AllOrNone() {
    if (!kept_ &&
        (data_.problem().body_count() > bodies_ || data_.problem().block_count() > blocks_)) {
      data_.keep_first(bodies_, blocks_);
    }
  }
  AllOrNone(const AllOrNone&) = delete;
  AllOrNone& operator=(const AllOrNone&) = delete;
  void keep() noexcept { kept_ = true; }

 private:
  ProblemData& data_;
  Index bodies_, blocks_;
  bool kept_ = false;
};

nb::object numbers_from(Index first, Index count) {
  std::vector<Index> numbers(std::size_t(count), 0);
  for (Index i = 0; i < count; ++i) numbers[std::size_t(i)] = first + i;
  return make_index_array(numbers);
}

/// An array whose first axis counts the items of a call, in C order.
class Stack {
 public:
  Stack(nb::handle value, const std::string& item, const std::vector<Index>& shape)
      : given_(value, item) {
    given_.require_shape(shape);
    width_ = given_.size(0) > 0 ? given_.count() / given_.size(0) : 0;
    bool in_order = true;
    Index step = 1;
    for (Index axis = given_.rank() - 1; axis >= 0; --axis) {
      in_order = in_order && (given_.size(axis) <= 1 || given_.stride(axis) == step);
      step *= given_.size(axis);
    }
    if (!in_order) copy_ = given_.flat();
  }
  [[nodiscard]] Index count() const noexcept { return given_.size(0); }
  [[nodiscard]] Index size(Index axis) const noexcept { return given_.size(axis); }
  [[nodiscard]] const double* of(Index i) const noexcept {
    return (copy_.size() > 0 ? copy_.data() : given_.data()) + i * width_;
  }
  [[nodiscard]] Vector3<double> triple(Index i) const {
    return Eigen::Map<const Vector3<double>>(of(i));
  }

 private:
  GivenArray given_;
  VectorX<double> copy_;
  Index width_ = 0;
};

std::optional<Stack> stack_if_given(nb::handle value, const std::string& item,
                                    const std::vector<Index>& shape) {
  std::optional<Stack> stack;
  if (!value.is_none()) stack.emplace(value, item, shape);
  return stack;
}

/// Numbers of bodies, −1 for the world where it is accepted.
std::vector<Index> read_bodies(nb::handle value, const std::string& item, Index count) {
  const Stack given(value, item, {count});
  std::vector<Index> numbers(std::size_t(given.count()), 0);
  for (Index i = 0; i < given.count(); ++i) {
    const double number = *given.of(i);
    if (!(std::abs(number) < 1e15) || number != std::floor(number)) {
      refuse(detail::entry(item, i), "the number of a body", detail::number_text(number));
    }
    numbers[std::size_t(i)] = Index(number);
  }
  return numbers;
}

Index add_one_body(ProblemData& data, const GivenMatrix& mass, const double* free,
                   const double* now) {
  const Eigen::Map<const VectorX<double>> speeds(free, mass.rows());
  if (now == nullptr) return data.add_body(mass, speeds);
  return data.add_body(mass, speeds, Eigen::Map<const VectorX<double>>(now, mass.rows()));
}

nb::object add_bodies(PyProblem& self, nb::handle mass, nb::handle free_velocity, nb::handle now) {
  const Stack matrices(mass, "bodies: momentum matrix", {-1, -1, -1});
  const Index count = matrices.count(), size = matrices.size(1);
  const Stack free(free_velocity, "bodies: free velocity", {count, matrices.size(2)});
  const std::optional<Stack> before =
      stack_if_given(now, "bodies: velocity", {count, matrices.size(2)});
  ProblemData& data = self.edit();
  AllOrNone all(data);
  const Index first = data.problem().body_count();
  for (Index i = 0; i < count; ++i) {
    add_one_body(data, rows_in_order(matrices.of(i), size, matrices.size(2)), free.of(i),
                 before ? before->of(i) : nullptr);
  }
  all.keep();
  if (count > 0) data.guess.resize(0);
  return numbers_from(first, count);
}

/// Rotations of bodies, matrices or quaternions.
class Rotations {
 public:
  Rotations(nb::handle value, Index count) {
    if (value.is_none()) return;
    const GivenArray shape(value, "bodies: rotation");
    quaternions_ = shape.rank() == 2;
    given_ = quaternions_ ? stack_if_given(value, "bodies: rotation", {count, 4})
                          : stack_if_given(value, "bodies: rotation", {count, 3, 3});
  }
  [[nodiscard]] Rows3 of(Index i, const std::string& item) const {
    Rows3 matrix = Rows3::Identity();
    if (!given_) return matrix;
    const double* const q = given_->of(i);
    double error = 0;
    if (quaternions_) {
      const Eigen::Quaterniond turn(q[0], q[1], q[2], q[3]);
      error = std::abs(turn.squaredNorm() - 1);
      matrix = turn.toRotationMatrix();
    } else {
      matrix = Eigen::Map<const Rows3>(q);
      error = (matrix * matrix.transpose() - Rows3::Identity()).cwiseAbs().maxCoeff();
    }
    if (!(error < tolerance) || !(matrix.determinant() > 0)) {
      refuse(item + ": rotation",
             quaternions_ ? "a unit quaternion, the real part first" : "a rotation matrix",
             "one that does not keep lengths");
    }
    return matrix;
  }

 private:
  /// Error of R Rᵀ, or of |q|², up to which it is a rotation [-], so that rotations in float are
  /// accepted.
  static constexpr double tolerance = 1e-5;
  std::optional<Stack> given_;
  bool quaternions_ = false;
};

nb::object add_rigid_bodies(PyProblem& self, nb::handle mass, nb::handle inertia,
                            nb::handle free_velocity, nb::handle position, nb::handle rotation,
                            nb::handle now) {
  const Stack centres(position, "bodies: position", {-1, 3});
  const Index count = centres.count();
  const GivenArray masses(mass, "bodies: mass");
  if (masses.rank() > 0) masses.require_shape({count});
  const VectorX<double> weights = masses.flat();
  const bool principal = GivenArray(inertia, "bodies: inertia").rank() == 2;
  const Stack moments(inertia, "bodies: inertia",
                      principal ? std::vector<Index>{count, 3} : std::vector<Index>{count, 3, 3});
  const Stack free(free_velocity, "bodies: free velocity", {count, 6});
  const std::optional<Stack> before = stack_if_given(now, "bodies: velocity", {count, 6});
  const Rotations rotations(rotation, count);
  ProblemData& data = self.edit();
  AllOrNone all(data);
  const Index first = data.problem().body_count();
  for (Index i = 0; i < count; ++i) {
    const std::string item = "body " + std::to_string(first + i);
    Eigen::Matrix<double, 6, 6, Eigen::RowMajor> matrix;
    matrix.setZero();
    matrix.diagonal().head<3>().setConstant(weights(masses.rank() > 0 ? i : 0));
    Rows3 own = Rows3::Zero();
    if (principal) {
      own.diagonal() = moments.triple(i);
    } else {
      own = Eigen::Map<const Rows3>(moments.of(i));
    }
    const Rows3 turn = rotations.of(i, item);
    const Rows3 turned = turn * own * turn.transpose();
    matrix.bottomRightCorner<3, 3>() = (turned + turned.transpose()) / 2;
    if (!centres.triple(i).allFinite()) {
      refuse(item + ": position", "finite numbers", "one that is not finite");
    }
    const Index body = add_one_body(data, rows_in_order(matrix.data(), 6, 6), free.of(i),
                                    before ? before->of(i) : nullptr);
    data.set_centre(body, centres.triple(i));
  }
  all.keep();
  if (count > 0) data.guess.resize(0);
  return numbers_from(first, count);
}

/// An option of many contacts: none, one value for all or one for each.
class Option {
 public:
  /// @param width  numbers of one contact: 1, or 3 where one number stands for all three.
  Option(nb::handle value, const char* name, Index count, Index width) : width_(width) {
    if (value.is_none()) return;
    const GivenArray given(value, std::string("contacts: ") + name);
    varies_ = given.rank() == width / 3 + 1;
    if (varies_)
      given.require_shape(width == 1 ? std::vector<Index>{count} : std::vector<Index>{count, 3});
    if (!varies_ && given.rank() > 0) given.require_shape({width});
    numbers_ = given.flat();
    single_ = given.rank() == 0;
    given_ = true;
  }
  [[nodiscard]] bool varies() const noexcept { return varies_; }
  [[nodiscard]] double number(Index i) const { return numbers_(varies_ ? i : 0); }
  [[nodiscard]] Vector3<double> triple(Index i) const {
    return numbers_.segment<3>(varies_ ? 3 * i : 0);
  }
  void write(Index i, double& out) const {
    if (varies_) out = number(i);
  }
  /// As add_contact() is given it.
  [[nodiscard]] nb::object of(Index i) const {
    if (!given_) return nb::none();
    if (width_ == 1 || single_) return nb::float_(number(i));
    return make_array(VectorX<double>(triple(i)));
  }

 private:
  Index width_;
  VectorX<double> numbers_;
  bool given_ = false, varies_ = false, single_ = false;
};

/// The options of many contacts.
class ManyOptions {
 public:
  ManyOptions(const ContactOptions& given, nb::handle friction, Index count)
      : friction_(friction, "friction", count, 1),
        gap_(given.gap, "gap", count, 1),
        stiffness_(given.stiffness, "stiffness", count, 1),
        dissipation_time_(given.dissipation_time, "dissipation time", count, 1),
        restitution_(given.restitution, "restitution", count, 1),
        approach_(given.approach, "approach", count, 1),
        near_rigid_(given.near_rigid, "near-rigid factor", count, 1),
        relative_slip_(given.relative_slip, "relative slip", count, 1),
        correction_(given.correction, "correction", count, 1),
        regularization_(given.regularization, "regularization", count, 3),
        bias_(given.bias, "bias velocity", count, 3),
        surface_velocity_(given.surface_velocity, "surface velocity", count, 3),
        rigid_(given.rigid),
        compliance_(given.compliance) {
    // What a zero may stand beside and another number may not is seen where it is not zero.
    while (typical_ < count && !acts(gap_, typical_) && !acts(dissipation_time_, typical_)) {
      ++typical_;
    }
    if (typical_ == count) typical_ = 0;
  }

  /// The contact whose options stand for those of all, when it is asked what can act beside what.
  [[nodiscard]] Index typical() const noexcept { return typical_; }
  [[nodiscard]] ContactData read(const std::string& item) const {
    const Index i = typical_;
    const nb::object gap = gap_.of(i), stiffness = stiffness_.of(i),
                     dissipation = dissipation_time_.of(i), regularization = regularization_.of(i),
                     bias = bias_.of(i), restitution = restitution_.of(i),
                     approach = approach_.of(i), near_rigid = near_rigid_.of(i),
                     slip = relative_slip_.of(i), surface = surface_velocity_.of(i),
                     correction = correction_.of(i);
    const ContactOptions options{.gap = gap,
                                 .stiffness = stiffness,
                                 .dissipation_time = dissipation,
                                 .regularization = regularization,
                                 .bias = bias,
                                 .rigid = rigid_,
                                 .restitution = restitution,
                                 .approach = approach,
                                 .near_rigid = near_rigid,
                                 .relative_slip = slip,
                                 .compliance = compliance_,
                                 .surface_velocity = surface,
                                 .correction = correction};
    return read_contact(options, friction_.number(i), item);
  }
  /// Writes what is a contact's own.
  void write(Index i, ContactData& contact) const {
    friction_.write(i, contact.law.friction);
    gap_.write(i, contact.law.gap);
    stiffness_.write(i, contact.law.stiffness);
    dissipation_time_.write(i, contact.law.dissipation_time);
    restitution_.write(i, contact.restitution);
    approach_.write(i, contact.approach);
    near_rigid_.write(i, contact.law.near_rigid);
    relative_slip_.write(i, contact.law.relative_slip);
    correction_.write(i, contact.law.correction);
    if (regularization_.varies()) contact.regularization = regularization_.triple(i);
    if (bias_.varies()) contact.bias = bias_.triple(i);
    if (surface_velocity_.varies()) contact.law.surface_velocity = surface_velocity_.triple(i);
  }

 private:
  [[nodiscard]] static bool acts(const Option& option, Index i) {
    return option.varies() && option.number(i) != 0;
  }

  Option friction_, gap_, stiffness_, dissipation_time_, restitution_, approach_, near_rigid_,
      relative_slip_, correction_, regularization_, bias_, surface_velocity_;
  nb::handle rigid_, compliance_;
  Index typical_ = 0;
};

/// Where many contacts are: by Jacobians, or by points and normals.
class Places {
 public:
  Places(nb::handle jacobian, nb::handle other_jacobian, nb::handle point, nb::handle normal,
         Index count)
      : jacobian_(stack_if_given(jacobian, "contacts: Jacobian", {count, 3, -1})),
        other_jacobian_(
            stack_if_given(other_jacobian, "contacts: second Jacobian", {count, 3, -1})),
        point_(stack_if_given(point, "contacts: point", {count, 3})),
        normal_(stack_if_given(normal, "contacts: normal", {count, 3})) {
    const bool by_points = point_ && normal_ && !jacobian_ && !other_jacobian_;
    const bool by_rows = jacobian_ && !point_ && !normal_;
    if (!by_points && !by_rows) {
      refuse("contacts", "either jacobian (and other_jacobian), or point and normal",
             "another choice of them");
    }
  }
  /// Calls add(sides) with the sides of contact i. Bodies of six velocities have a type of their
  /// own, which takes half of the time.
  template <typename Add>
  void with_sides(const ProblemData& data, Index i, Index body, Index other,
                  const std::string& item, const Add& add) {
    if (point_) {
      const Rows3 axes = frame_of(normal_->triple(i), item);
      write_rows(data, axes, body, i, item, rows_[0]);
      if (other >= 0) write_rows(data, axes, other, i, item, rows_[1]);
      rows_[1] = -rows_[1];
    } else if (other >= 0 && !other_jacobian_) {
      refuse(item + ": second Jacobian", "one, as it has a second body", "none");
    }
    const double* const first = jacobian_ ? jacobian_->of(i) : rows_[0].data();
    const double* const second = other_jacobian_ ? other_jacobian_->of(i) : rows_[1].data();
    const Index size = jacobian_ ? jacobian_->size(2) : 6;
    const Index other_size = other_jacobian_ ? other_jacobian_->size(2) : 6;
    if (size == 6 && other_size == 6) {
      BlockSides<GivenBodyRows> sides{body, GivenBodyRows(first), {}, {}};
      if (other >= 0) {
        sides.other = other;
        sides.other_jacobian.emplace(second);
      }
      return add(sides);
    }
    BlockSides<GivenMatrix> sides{body, rows_in_order(first, 3, size), {}, {}};
    if (other >= 0) {
      sides.other = other;
      sides.other_jacobian.emplace(rows_in_order(second, 3, other_size));
    }
    add(sides);
  }

 private:
  void write_rows(const ProblemData& data, const Rows3& axes, Index body, Index i,
                  const std::string& item, BodyRows& rows) const {
    const Vector3<double> centre = data.centre(body);
    if (!centre.allFinite()) {
      refuse(item + ": point", "bodies from add_rigid_bodies(), whose positions are known",
             "body " + std::to_string(body));
    }
    const Vector3<double> lever = point_->triple(i) - centre;
    rows.leftCols<3>() = axes;
    for (Index k = 0; k < 3; ++k) {
      const Vector3<double> axis = axes.row(k);
      rows.row(k).tail<3>() = lever.cross(axis);
    }
  }

  std::optional<Stack> jacobian_, other_jacobian_, point_, normal_;
  BodyRows rows_[2];
};

nb::object add_contacts(PyProblem& self, nb::handle body, nb::handle jacobian, nb::handle friction,
                        nb::handle gap, nb::handle stiffness, nb::handle dissipation_time,
                        nb::handle regularization, nb::handle bias, nb::handle other,
                        nb::handle other_jacobian, nb::handle point, nb::handle normal,
                        nb::handle rigid, nb::handle restitution, nb::handle approach,
                        nb::handle near_rigid, nb::handle relative_slip, nb::handle compliance,
                        nb::handle surface_velocity, nb::handle correction) {
  const std::vector<Index> bodies = read_bodies(body, "contacts: body", -1);
  const auto count = Index(bodies.size());
  std::vector<Index> others(bodies.size(), -1);
  if (!other.is_none()) others = read_bodies(other, "contacts: second body", count);
  Places places(jacobian, other_jacobian, point, normal, count);
  const ContactOptions given{.gap = gap,
                             .stiffness = stiffness,
                             .dissipation_time = dissipation_time,
                             .regularization = regularization,
                             .bias = bias,
                             .rigid = rigid,
                             .restitution = restitution,
                             .approach = approach,
                             .near_rigid = near_rigid,
                             .relative_slip = relative_slip,
                             .compliance = compliance,
                             .surface_velocity = surface_velocity,
                             .correction = correction};
  const ManyOptions options(given, friction, count);
  ProblemData& data = self.edit();
  const Index first = data.contact_count();
  if (count == 0) return numbers_from(first, 0);
  ContactData contact = options.read("contact " + std::to_string(first + options.typical()));
  AllOrNone all(data);
  for (Index i = 0; i < count; ++i) {
    const Index second = others[std::size_t(i)];
    const std::string item = data.next_contact();
    if (second < -1) {
      refuse(item + ": second body", "the number of a body, or -1 for the world",
             std::to_string(second));
    }
    options.write(i, contact);
    places.with_sides(data, i, bodies[std::size_t(i)], second, item,
                      [&](const auto& sides) { data.add_contact(sides, contact); });
  }
  all.keep();
  return numbers_from(first, count);
}

nb::object contact_frames(nb::handle normal) {
  const Stack normals(normal, "contacts: normal", {-1, 3});
  VectorX<double> axes(9 * normals.count());
  for (Index i = 0; i < normals.count(); ++i) {
    Eigen::Map<Rows3>(axes.data() + 9 * i) =
        frame_of(normals.triple(i), "contact " + std::to_string(i));
  }
  return make_array(axes.data(), {normals.count(), 3, 3});
}

}  // namespace

void bind_many(nb::class_<PyProblem>& problem) {
  problem
      .def("add_bodies", &add_bodies, nb::arg("mass").none(), nb::arg("free_velocity").none(),
           nb::arg("velocity") = nb::none(),
           nb::sig("def add_bodies(self, mass: numpy.typing.ArrayLike, "
                   "free_velocity: numpy.typing.ArrayLike, "
                   "velocity: numpy.typing.ArrayLike | None = None) -> "
                   "numpy.typing.NDArray[numpy.int64]"),
           add_bodies_doc)
      .def("add_rigid_bodies", &add_rigid_bodies, nb::arg("mass").none(), nb::arg("inertia").none(),
           nb::arg("free_velocity").none(), nb::arg("position").none(),
           nb::arg("rotation") = nb::none(), nb::arg("velocity") = nb::none(),
           nb::sig("def add_rigid_bodies(self, mass: numpy.typing.ArrayLike, "
                   "inertia: numpy.typing.ArrayLike, free_velocity: numpy.typing.ArrayLike, "
                   "position: numpy.typing.ArrayLike, "
                   "rotation: numpy.typing.ArrayLike | None = None, "
                   "velocity: numpy.typing.ArrayLike | None = None) -> "
                   "numpy.typing.NDArray[numpy.int64]"),
           add_rigid_bodies_doc)
      .def("add_contacts", &add_contacts, nb::arg("body").none(), nb::arg("jacobian") = nb::none(),
           nb::arg("friction").none() = 0.5, nb::arg("gap") = nb::none(),
           nb::arg("stiffness") = nb::none(), nb::arg("dissipation_time") = nb::none(),
           nb::arg("regularization") = nb::none(), nb::arg("bias") = nb::none(),
           nb::arg("other") = nb::none(), nb::arg("other_jacobian") = nb::none(), nb::kw_only(),
           nb::arg("point") = nb::none(), nb::arg("normal") = nb::none(),
           nb::arg("rigid") = nb::none(), nb::arg("restitution") = nb::none(),
           nb::arg("approach") = nb::none(), nb::arg("near_rigid") = nb::none(),
           nb::arg("relative_slip") = nb::none(), nb::arg("compliance") = nb::none(),
           nb::arg("surface_velocity") = nb::none(), nb::arg("correction") = nb::none(),
           nb::sig("def add_contacts(self, body: numpy.typing.ArrayLike, "
                   "jacobian: numpy.typing.ArrayLike | None = None, "
                   "friction: numpy.typing.ArrayLike = 0.5, "
                   "gap: numpy.typing.ArrayLike | None = None, "
                   "stiffness: numpy.typing.ArrayLike | None = None, "
                   "dissipation_time: numpy.typing.ArrayLike | None = None, "
                   "regularization: numpy.typing.ArrayLike | None = None, "
                   "bias: numpy.typing.ArrayLike | None = None, "
                   "other: numpy.typing.ArrayLike | None = None, "
                   "other_jacobian: numpy.typing.ArrayLike | None = None, *, "
                   "point: numpy.typing.ArrayLike | None = None, "
                   "normal: numpy.typing.ArrayLike | None = None, "
                   "rigid: bool | None = None, "
                   "restitution: numpy.typing.ArrayLike | None = None, "
                   "approach: numpy.typing.ArrayLike | None = None, "
                   "near_rigid: numpy.typing.ArrayLike | None = None, "
                   "relative_slip: numpy.typing.ArrayLike | None = None, "
                   "compliance: str | None = None, "
                   "surface_velocity: numpy.typing.ArrayLike | None = None, "
                   "correction: numpy.typing.ArrayLike | None = None) -> "
                   "numpy.typing.NDArray[numpy.int64]"),
           add_contacts_doc)
      .def_static("contact_frames", &contact_frames, nb::arg("normal").none(),
                  nb::sig("def contact_frames(normal: numpy.typing.ArrayLike) -> "
                          "numpy.typing.NDArray[numpy.float64]"),
                  contact_frames_doc);
}

}  // namespace carom::python
