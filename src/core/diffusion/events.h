// The events that a demographic model can have, each a row and a struct, and the plan of a model.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/diffusion/model.h"
#include "core/diffusion/schedule.h"

namespace ancify::diffusion {

// What all events come to: a density that begins, time steps, and maps of a density.
using PlannedEvent = std::variant<Equilibrium, Schedule, Transition>;
using Plan = std::vector<PlannedEvent>;

// Takes what events do, checks it, and counts the populations. InputError where something does not
// fit the populations that there are.
class Planner {
 public:
  // Steps as make_schedule() makes them.
  Planner(double fineness, int parts) : fineness_(fineness), parts_(parts) {}

  void begin(const Equilibrium& equilibrium);
  void evolve(const Epoch& epoch);
  void add_population(const std::vector<double>& shares);
  void pulse(int destination, const std::vector<double>& shares);
  void remove(int population);
  void reorder(const std::vector<int>& order);

  int populations() const { return populations_; }
  Plan take() { return std::move(plan_); }

 private:
  void check_population(int population) const;
  void check_shares(const std::vector<double>& shares) const;
  void check_begun() const;

  double fineness_;
  int parts_;
  int populations_ = 0;
  Plan plan_;
};

// InputError, with the event's number, where an event does not fit the populations that there are.
Plan plan_model(const Model& model, double fineness, int parts);

// Populations count from 0. A new one, with these shares of its ancestry, comes last.
struct Admixture {
  std::vector<double> shares;

  void operator()(Planner& planner) const { planner.add_population(shares); }
};

// A share of `destination` is replaced by others' at once: shares[destination] is what stays.
struct Pulse {
  int destination;
  std::vector<double> shares;

  void operator()(Planner& planner) const { planner.pulse(destination, shares); }
};

struct Removal {
  int population;

  void operator()(Planner& planner) const { planner.remove(population); }
};

// order[k] is where the new population k was.
struct Reordering {
  std::vector<int> order;

  void operator()(Planner& planner) const { planner.reorder(order); }
};

// An event's fields by their names. InputError for one that is not there.
class EventFields {
 public:
  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, std::vector<TimeCourse>> courses;

  const std::vector<double>& values(const std::string& name) const;
  double value(const std::string& name) const;
  // From numbers that count from 1.
  std::vector<int> populations(const std::string& name) const;
  int population(const std::string& name) const;
  // Where the field has numbers, courses that do not change.
  std::vector<TimeCourse> time_courses(const std::string& name) const;
};

struct EventKind {
  std::string name;
  Event (*make)(const EventFields&);
};

// One row an event.
const std::vector<EventKind>& event_kinds();

// InputError for a name that is none.
Event make_event(const std::string& name, const EventFields& fields,
                 const std::vector<EventKind>& kinds = event_kinds());

}  // namespace ancify::diffusion
