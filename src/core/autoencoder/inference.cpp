// Runs networks on maps, a batch of images at a time.
#include <algorithm>
#include <functional>

#include "core/autoencoder/autoencoder.h"
#include "core/autoencoder/network.h"
#include "core/chromatin/map_pairs.h"
#include "core/nn/layers.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // for the vectoriser
#endif

namespace ancify::autoencoder {

namespace {

// Calls use(network, pass, first cell, images) on groups of cells.
void for_images(
    const Autoencoder& model, const Maps& maps, const Run& run, JobControl& control,
    const std::function<void(AutoencoderNetwork<float>& network, const Pass<float>& pass,
                             std::int64_t first, const Batch<float>& images)>& use) {
  constexpr std::int64_t kImages = 64;
  control.expect(maps.cells);
  run_tasks(control, run.threads, 1, [&](std::int64_t, const TaskContext& context) {
    AutoencoderNetwork<float> network(model.form);
    const auto state = network.state();
    for (std::size_t i = 0; i < state.size(); ++i) *state[i] = model.tensors[i];
    const ImageMaker maker(maps, model.form, model.unit);
    const Pass<float> pass = {layers_of(run.simd).multiply, context};
    Batch<float> images;
    for (std::int64_t first = 0; first < maps.cells; first += kImages) {
      context.throw_if_stopped();
      images.resize(std::min(kImages, maps.cells - first),
                    model.form.of_task().channels * model.form.size() * model.form.size());
      context.share(images.rows,
                    [&](std::int64_t i) { maker.make_input(first + i, images.row(i)); });
      use(network, pass, first, images);
      control.advance(images.rows);
    }
  });
}

}  // namespace

std::vector<float> encode_maps(const Autoencoder& model, const Maps& maps, const Run& run,
                               JobControl& control) {
  std::vector<float> codes;
  for_images(model, maps, run, control,
             [&](AutoencoderNetwork<float>& network, const Pass<float>& pass, std::int64_t,
                 const Batch<float>& images) {
               const Batch<float>& code = network.encode(pass, images);
               codes.insert(codes.end(), code.data.begin(), code.data.end());
             });
  return codes;
}

void reconstruct_maps(const Autoencoder& model, const Maps& maps, double* out, const Run& run,
                      JobControl& control) {
  const std::int64_t size = model.form.size();
  for_images(model, maps, run, control,
             [&](AutoencoderNetwork<float>& network, const Pass<float>& pass, std::int64_t first,
                 const Batch<float>& images) {
               const Batch<float>& made = network.forward(pass, images);
               double* to = out + first * chromatin::pairs_of(maps.points);
               for (std::int64_t cell = 0; cell < made.rows; ++cell) {
                 for (std::int64_t j = 1; j < maps.points; ++j) {
                   for (std::int64_t i = 0; i < j; ++i) {
                     *to++ = static_cast<double>(made.row(cell)[i * size + j]) *
                             static_cast<double>(model.unit);
                   }
                 }
               }
             });
}

}  // namespace ancify::autoencoder
