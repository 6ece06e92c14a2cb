// Runs networks on maps, a batch of images at a time.
#include <algorithm>
#include <functional>

#include "core/autoencoder/engine.h"
#include "core/chromatin/map_pairs.h"

namespace ancify::autoencoder {

namespace {

// Calls use(first cell, cells, values) on the network's output for groups of cells.
void for_groups(
    const Autoencoder& model, const Maps& maps, Work work, const Run& run, JobControl& control,
    const std::function<void(std::int64_t first, std::int64_t cells, const float* numbers)>& use) {
  constexpr std::int64_t kImages = 64;
  control.expect(maps.cells);
  run_tasks(control, run.threads, 1, [&](std::int64_t, const TaskContext& context) {
    EngineSettings settings;
    settings.batch = kImages;
    const auto engine = make_engine(model.form, model.tensors, settings, run, context);
    const ImageMaker maker(maps, model.form, model.unit);
    const std::int64_t width =
        model.form.of_task().channels * model.form.size() * model.form.size();
    const auto cells_from = [&](std::int64_t first) {
      return std::min(kImages, maps.cells - first);
    };
    const auto finish = [&](std::int64_t first) {
      use(first, cells_from(first), engine->finish(place_of(first / kImages)).numbers);
      control.advance(cells_from(first));
    };
    for (std::int64_t first = 0; first < maps.cells; first += kImages) {
      context.throw_if_stopped();
      const int place = place_of(first / kImages);
      float* const images = engine->workspace(place).inputs;
      context.share(cells_from(first),
                    [&](std::int64_t i) { maker.make_input(first + i, images + i * width); });
      engine->begin(place, cells_from(first), work);
      if (first > 0) finish(first - kImages);
    }
    if (maps.cells > 0) finish((maps.cells - 1) / kImages * kImages);
  });
}

}  // namespace

std::vector<float> encode_maps(const Autoencoder& model, const Maps& maps, const Run& run,
                               JobControl& control) {
  std::vector<float> codes;
  for_groups(model, maps, Work::kEncode, run, control,
             [&](std::int64_t, std::int64_t cells, const float* numbers) {
               codes.insert(codes.end(), numbers, numbers + cells * model.form.code);
             });
  return codes;
}

void reconstruct_maps(const Autoencoder& model, const Maps& maps, double* out, const Run& run,
                      JobControl& control) {
  const std::int64_t size = model.form.size();
  for_groups(model, maps, Work::kReconstruct, run, control,
             [&](std::int64_t first, std::int64_t cells, const float* numbers) {
               double* to = out + first * chromatin::pairs_of(maps.points);
               for (std::int64_t cell = 0; cell < cells; ++cell) {
                 const float* const image = numbers + cell * size * size;
                 for (std::int64_t j = 1; j < maps.points; ++j) {
                   for (std::int64_t i = 0; i < j; ++i) {
                     *to++ =
                         static_cast<double>(image[i * size + j]) * static_cast<double>(model.unit);
                   }
                 }
               }
             });
}

}  // namespace ancify::autoencoder
