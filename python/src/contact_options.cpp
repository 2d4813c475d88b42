// SPDX-License-Identifier: BSD-3-Clause
#include "contact_options.hpp"

#include <nanobind/stl/string.h>

namespace carom::python {
namespace {

/// Three numbers, or one for all rows.
Vector3<double> read_regularization(nb::handle value, const std::string& item) {
  const GivenArray given(value, item);
  if (given.rank() == 0) return Vector3<double>::Constant(*given.data());
  given.require_shape({3});
  return given.vector();
}

Vector3<double> read_triple(nb::handle value, const std::string& item) {
  const GivenArray given(value, item);
  given.require_shape({3});
  const Vector3<double> numbers = given.vector();
  detail::reject_if(detail::finite_fault(item, numbers));
  return numbers;
}

/// Reads the options of one contact.
class Reader {
 public:
  Reader(const ContactOptions& options, const std::string& item) : given_(options), item_(item) {}

  ContactData read(double friction) {
    ContactData contact;
    contact.law.friction = friction;
    read_numbers(contact);
    contact.law.compliance = read_compliance(given_.compliance, item_);
    find_kind(contact);
    contact.rigid ? check_rigid(contact) : check_soft(contact);
    if (contact.bias) check_biased(contact);
    return contact;
  }

 private:
  [[nodiscard]] std::string name(const char* option) const { return item_ + ": " + option; }
  void read_number_of(nb::handle value, const char* option, double& out) const {
    if (!value.is_none()) out = read_number(value, name(option));
  }
  /// Refuses an option that is given.
  void refuse_given(nb::handle value, const char* option, const std::string& why) const {
    if (!value.is_none()) refuse(name(option), "none, as " + why, describe(value));
  }

  void read_numbers(ContactData& contact) {
    read_number_of(given_.gap, "gap", contact.law.gap);
    read_number_of(given_.stiffness, "stiffness", contact.law.stiffness);
    read_number_of(given_.dissipation_time, "dissipation time", contact.law.dissipation_time);
    read_number_of(given_.near_rigid, "near-rigid factor", contact.law.near_rigid);
    read_number_of(given_.relative_slip, "relative slip", contact.law.relative_slip);
    read_number_of(given_.correction, "correction", contact.law.correction);
    read_number_of(given_.restitution, "restitution", contact.restitution);
    read_number_of(given_.approach, "approach", contact.approach);
    contact.restitution_given = !given_.restitution.is_none();
    contact.approach_given = !given_.approach.is_none();
    if (!given_.surface_velocity.is_none()) {
      contact.law.surface_velocity = read_triple(given_.surface_velocity, name("surface velocity"));
    }
    if (!given_.regularization.is_none()) {
      contact.regularization = read_regularization(given_.regularization, name("regularization"));
    }
    if (!given_.bias.is_none()) {
      const GivenArray bias(given_.bias, name("bias velocity"));
      bias.require_shape({3});
      contact.bias = bias.vector();
    }
    // Out of range is said before what cannot act.
    CompliantContact<double> ranges = contact.law;
    ranges.friction = 0;
    ranges.correction = usual_overlap_share;
    ranges.compliance = Compliance::stiffness;
    if (!detail::is_finite(ranges.stiffness) && ranges.stiffness > 0) ranges.stiffness = 1;
    detail::reject_if(law_fault(item_, ranges));
    if (!(contact.law.correction >= 0 && contact.law.correction <= 1)) {
      detail::reject_if(
          detail::fault(name("correction"), "a number in [0, 1]", contact.law.correction));
    }
  }

  /// Whether the contact is rigid: where nothing says how it gives way.
  void find_kind(ContactData& contact) const {
    const bool stiff = detail::is_finite(contact.law.stiffness);
    const bool by_step = contact.law.compliance == Compliance::step;
    const bool soft = stiff || by_step || contact.regularization.has_value();
    if (stiff && by_step) refuse_given(given_.stiffness, "stiffness", "compliance is 'step'");
    if (contact.regularization) {
      const std::string why = "regularization is given in place of what follows from it";
      refuse_given(given_.stiffness, "stiffness", why);
      refuse_given(given_.compliance, "compliance", why);
      refuse_given(given_.near_rigid, "near-rigid factor", why);
      refuse_given(given_.relative_slip, "relative slip", why);
    }
    const bool named = !given_.rigid.is_none();
    const bool rigid = named ? nb::cast<bool>(nb::bool_(nb::borrow(given_.rigid))) : !soft;
    if (named && rigid) {
      const std::string why = "rigid is True";
      if (stiff) refuse_given(given_.stiffness, "stiffness", why);
      if (by_step) refuse_given(given_.compliance, "compliance", why);
      refuse_given(given_.regularization, "regularization", why);
    }
    if (!rigid && !soft) {
      refuse(name("rigid"), "True, or a stiffness, a regularization or compliance='step'", "False");
    }
    contact.rigid = rigid;
    contact.rigid_named = named && rigid;
    // v̂ beside a regularization is that of what gives way.
    if (contact.regularization) contact.law.compliance = Compliance::step;
  }

  void check_rigid(const ContactData& contact) const {
    const std::string why = "nothing of a rigid contact gives way";
    if (contact.law.dissipation_time != 0) {
      refuse_given(given_.dissipation_time, "dissipation time", why);
    }
    refuse_given(given_.near_rigid, "near-rigid factor", why);
    refuse_given(given_.relative_slip, "relative slip", why);
    if (!contact.restitution_given) {
      refuse_given(given_.approach, "approach", "it acts beside a restitution alone");
    }
  }

  void check_soft(const ContactData& contact) const {
    const std::string why = "the contact is not rigid";
    refuse_given(given_.restitution, "restitution", why);
    refuse_given(given_.approach, "approach", why);
    refuse_given(given_.correction, "correction", why);
    if (contact.bias && contact.regularization && contact.law.dissipation_time != 0) {
      refuse_given(given_.dissipation_time, "dissipation time",
                   "regularization and bias are given in place of what follows from it");
    }
  }

  void check_biased(const ContactData& contact) const {
    const std::string why = "bias is given in place of what follows from it";
    if (contact.law.gap != 0) refuse_given(given_.gap, "gap", why);
    refuse_given(given_.surface_velocity, "surface velocity", why);
    if (!contact.rigid) return;
    refuse_given(given_.restitution, "restitution", why);
    refuse_given(given_.correction, "correction", why);
  }

  const ContactOptions& given_;
  const std::string& item_;
};

}  // namespace

ContactData read_contact(const ContactOptions& options, double friction, const std::string& item) {
  return Reader(options, item).read(friction);
}

Compliance read_compliance(nb::handle given, const std::string& item) {
  if (given.is_none()) return Compliance::stiffness;
  std::string text;
  if (nb::try_cast(given, text) && text == "step") return Compliance::step;
  refuse(item + ": compliance", "'step' or None", describe(given));
}

}  // namespace carom::python
