// The events of demographic models, each a struct and a row of event_kinds(), and a model's plan.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/diffusion/model.h"
#include "core/diffusion/schedule.h"

namespace ancify::diffusion {

// The three parts of plans: a starting density, time steps, and maps of a density.
using PlannedEvent = std::variant<Equilibrium, Schedule, Transition>;
using Plan = std::vector<PlannedEvent>;

// Builds a plan from events, and tracks the number of populations. Each function throws InputError
// if its arguments are invalid or do not fit the present populations.
class Planner {
 public:
  explicit Planner(Scheduler scheduler) : scheduler_(std::move(scheduler)) {}

  // Begins with one population.
  void begin(const Equilibrium& equilibrium);
  // All populations evolve.
  void evolve(const Epoch& epoch);
  // Adds a population as the last one, with these shares of its ancestry.
  void add_population(const std::vector<double>& shares);
  // Replaces a share of a population by others; shares[destination] is retained.
  void pulse(int destination, const std::vector<double>& shares);
  void remove(int population);
  // order[k] is the old index of the new population k.
  void reorder(const std::vector<int>& order);

  int populations() const { return populations_; }
  Plan take() { return std::move(plan_); }

 private:
  void check_population(int population) const;
  void check_shares(const std::vector<double>& shares) const;
  void check_begun() const;

  Scheduler scheduler_;
  int populations_ = 0;
  Plan plan_;
};

// The plan of a model. InputError, with the event's position, if an event is invalid or does not
// fit the populations.
Plan plan_model(const Model& model, const Scheduler& scheduler);

// As above, with the steps of make_schedule().
Plan plan_model(const Model& model, const StepRule& rule);

// A new population with these shares of its ancestry, added last; populations count from 0.
struct Admixture {
  std::vector<double> shares;

  void operator()(Planner& planner) const { planner.add_population(shares); }
};

// Others replace a share of `destination` at one moment; shares[destination] is retained.
struct Pulse {
  int destination;
  std::vector<double> shares;

  void operator()(Planner& planner) const { planner.pulse(destination, shares); }
};

// A population leaves the model.
struct Removal {
  int population;

  void operator()(Planner& planner) const { planner.remove(population); }
};

// The populations are renumbered: order[k] is the old index of the new population k.
struct Reordering {
  std::vector<int> order;

  void operator()(Planner& planner) const { planner.reorder(order); }
};

// An event's fields by name. InputError if a field is missing.
class EventFields {
 public:
  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, std::vector<ParameterHistory>> histories;

  const std::vector<double>& values(const std::string& name) const;
  double value(const std::string& name) const;
  // Converts the population numbers of a field, which count from 1, to indices from 0.
  std::vector<int> populations(const std::string& name) const;
  int population(const std::string& name) const;
  // The field's histories; numbers become constant ones.
  std::vector<ParameterHistory> histories_of(const std::string& name) const;
};

// An event's name, and the function that creates it from its fields.
struct EventKind {
  std::string name;
  Event (*make)(const EventFields&);
};

// All events, one row each.
const std::vector<EventKind>& event_kinds();

// Makes the event with this name. InputError for an unknown name or a missing field.
Event make_event(const std::string& name, const EventFields& fields,
                 const std::vector<EventKind>& kinds = event_kinds());

}  // namespace ancify::diffusion
