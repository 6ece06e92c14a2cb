// Checks the events of a model and turns them into a plan.
#include "core/diffusion/events.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "core/exec/errors.h"

namespace ancify::diffusion {

namespace {

std::string some_populations(int n) {
  return std::to_string(n) + (n == 1 ? " population" : " populations");
}

void check_counts(const Epoch& epoch, int populations) {
  const auto n = static_cast<std::size_t>(populations);
  if (epoch.size.size() != n || epoch.migration.size() != n * n || epoch.selection.size() != n ||
      epoch.dominance.size() != n || epoch.frozen.size() != n ||
      (!epoch.mutates.empty() && epoch.mutates.size() != n)) {
    throw InputError("an epoch is for " + some_populations(epoch.populations()) +
                     ", but the model has " + std::to_string(n) + " here");
  }
  if (!std::isfinite(epoch.start) || !std::isfinite(epoch.end) || epoch.end < epoch.start) {
    throw InputError("an epoch's duration is " + std::to_string(epoch.end - epoch.start) +
                     ": it must be finite and not below 0");
  }
}

Transition with_shares(Transition::Kind kind, int population, const std::vector<double>& shares) {
  Transition transition = {kind, population, {}, {}};
  std::copy(shares.begin(), shares.end(), transition.shares);
  return transition;
}

}  // namespace

void Equilibrium::operator()(Planner& planner) const { planner.begin(*this); }

void Epoch::operator()(Planner& planner) const { planner.evolve(*this); }

// ---- Planner ------------------------------------------------------------------------------------

void Planner::check_begun() const {
  if (populations_ == 0) throw InputError("a model's first event must be an equilibrium");
}

void Planner::check_population(int population) const {
  if (population < 0 || population >= populations_) {
    throw InputError("population " + std::to_string(population + 1) +
                     " does not exist: the model has " + some_populations(populations_) + " here");
  }
}

void Planner::check_shares(const std::vector<double>& shares) const {
  const bool are_shares =
      std::all_of(shares.begin(), shares.end(), [](double x) { return x >= 0 && x <= 1; });
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (static_cast<int>(shares.size()) != populations_ || !are_shares || std::abs(sum - 1) > 1e-9) {
    throw InputError("ancestry shares must be " + std::to_string(populations_) +
                     " numbers from 0 to 1, one per population, that sum to 1");
  }
}

void Planner::begin(const Equilibrium& equilibrium) {
  if (populations_ != 0) throw InputError("an equilibrium can only be a model's first event");
  populations_ = 1;
  plan_.emplace_back(equilibrium);
}

void Planner::evolve(const Epoch& epoch) {
  check_begun();
  check_counts(epoch, populations_);
  plan_.emplace_back(scheduler_(epoch));
}

void Planner::add_population(const std::vector<double>& shares) {
  check_begun();
  check_shares(shares);
  if (++populations_ > kMostPopulations) {
    throw InputError("there cannot be more than " + some_populations(kMostPopulations));
  }
  plan_.emplace_back(with_shares(Transition::Kind::kNewPopulation, 0, shares));
}

void Planner::pulse(int destination, const std::vector<double>& shares) {
  check_begun();
  check_population(destination);
  check_shares(shares);
  plan_.emplace_back(with_shares(Transition::Kind::kPulse, destination, shares));
}

void Planner::remove(int population) {
  check_begun();
  check_population(population);
  if (--populations_ == 0) throw InputError("the last population cannot be removed");
  plan_.emplace_back(Transition{Transition::Kind::kRemoval, population, {}, {}});
}

void Planner::reorder(const std::vector<int>& order) {
  check_begun();
  const std::set<int> all(order.begin(), order.end());
  if (static_cast<int>(order.size()) != populations_ || all.size() != order.size() ||
      *all.begin() != 0 || *all.rbegin() != populations_ - 1) {
    throw InputError("the order must have each number from 1 to " + std::to_string(populations_) +
                     " once");
  }
  Transition transition = {Transition::Kind::kReordering, 0, {}, {}};
  std::copy(order.begin(), order.end(), transition.order);
  plan_.emplace_back(transition);
}

Plan plan_model(const Model& model, const Scheduler& scheduler) {
  Planner planner(scheduler);
  if (model.empty()) throw InputError("a model's first event must be an equilibrium");
  for (std::size_t i = 0; i < model.size(); ++i) {
    try {
      model[i](planner);
    } catch (const InputError& error) {
      throw InputError("event " + std::to_string(i + 1) + ": " + error.what());
    }
  }
  return planner.take();
}

Plan plan_model(const Model& model, const StepRule& rule) {
  return plan_model(model, [&](const Epoch& epoch) { return make_schedule(epoch, rule); });
}

// ---- By name ------------------------------------------------------------------------------------

namespace {

template <class Value>
const std::vector<Value>* find(const std::map<std::string, std::vector<Value>>& fields,
                               const std::string& name) {
  const auto at = fields.find(name);
  return at == fields.end() ? nullptr : &at->second;
}

}  // namespace

const std::vector<double>& EventFields::values(const std::string& name) const {
  const auto* const found = find(numbers, name);
  if (found == nullptr || found->empty()) {
    throw InputError("the event lacks the field `" + name + "`");
  }
  return *found;
}

double EventFields::value(const std::string& name) const { return values(name).front(); }

std::vector<int> EventFields::populations(const std::string& name) const {
  std::vector<int> populations;
  for (const double number : values(name)) populations.push_back(static_cast<int>(number) - 1);
  return populations;
}

int EventFields::population(const std::string& name) const { return populations(name).front(); }

std::vector<ParameterHistory> EventFields::histories_of(const std::string& name) const {
  const auto* const found = find(histories, name);
  if (found != nullptr) return *found;
  std::vector<ParameterHistory> constant;
  for (const double x : values(name)) constant.emplace_back([x](double) { return x; });
  return constant;
}

const std::vector<EventKind>& event_kinds() {
  using Fields = const EventFields&;
  static const std::vector<EventKind> kinds = {
      {"equilibrium",
       [](Fields fields) -> Event {
         return Equilibrium{fields.value("size"), fields.value("theta"), fields.value("selection"),
                            fields.value("dominance")};
       }},
      {"epoch",
       [](Fields fields) -> Event {
         const auto& frozen = fields.values("frozen");
         const auto& mutates = fields.values("mutates");
         return Epoch{fields.value("start"),
                      fields.value("end"),
                      fields.histories_of("theta").front(),
                      fields.histories_of("size"),
                      fields.histories_of("migration"),
                      fields.histories_of("selection"),
                      fields.histories_of("dominance"),
                      std::vector<char>(frozen.begin(), frozen.end()),
                      std::vector<char>(mutates.begin(), mutates.end())};
       }},
      {"admixture", [](Fields fields) -> Event { return Admixture{fields.values("shares")}; }},
      {"pulse",
       [](Fields fields) -> Event {
         return Pulse{fields.population("destination"), fields.values("shares")};
       }},
      {"removal", [](Fields fields) -> Event { return Removal{fields.population("population")}; }},
      {"reordering",
       [](Fields fields) -> Event { return Reordering{fields.populations("order")}; }},
  };
  return kinds;
}

Event make_event(const std::string& name, const EventFields& fields,
                 const std::vector<EventKind>& kinds) {
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const EventKind& one) { return one.name == name; });
  if (kind == kinds.end()) throw InputError("there is no event \"" + name + "\"");
  return kind->make(fields);
}

}  // namespace ancify::diffusion
