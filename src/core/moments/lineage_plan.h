// The degrees that a sample needs at each event of a plan, from the last event to the first.
#pragma once

#include <vector>

#include "core/diffusion/events.h"
#include "core/moments/degree_set.h"

namespace ancify::moments {

// Each population's lineages, in a group of its own.
LineageBounds bounds_of_samples(const std::vector<int>& sizes);

// The bounds before an event, given those after it. Lineages move backwards in time from a
// population to the sources of its migrants and of its ancestry, which joins their groups.
LineageBounds bounds_before(const diffusion::PlannedEvent& event, const LineageBounds& after);

// The bounds before each event of a plan, followed by the bounds after the last event.
std::vector<LineageBounds> bounds_of(const diffusion::Plan& plan, const std::vector<int>& sizes);

}  // namespace ancify::moments
