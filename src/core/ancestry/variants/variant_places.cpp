// Reads the places of a variant file's records.
#include "core/ancestry/variants/variant_places.h"

#include "core/ancestry/variants/annotation.h"
#include "core/exec/threads.h"
#include "core/formats/variant/variant_file.h"

namespace ancify {

VariantPlaces read_variant_places(const std::string& path, JobControl& control) {
  VariantPlaces places;
  run_tasks(control, 1, 1, [&](std::int64_t, const TaskContext&) {
    VariantReader reader(path, 0, RecordParts::kInfo);
    for_each_record(reader, control, [&] {
      if (places.chromosomes.empty() || places.chromosomes.back() != reader.chromosome()) {
        places.chromosomes.emplace_back(reader.chromosome());
      }
      places.chromosome.push_back(static_cast<std::int32_t>(places.chromosomes.size() - 1));
      places.position.push_back(reader.position());
      places.single.push_back(reader.position() > 0 && !exclusion_of_info(reader) &&
                              reason_for(reader, 'N', {}) != Reason::kIndel);
    });
  });
  return places;
}

}  // namespace ancify
