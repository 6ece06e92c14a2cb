// The GPU driver. Each family of operations has a file with its checks and timings.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "core/device/backend.h"
#include "core/device/device.h"
#include "watched.h"

namespace ancify::test {

// Counts comparisons with the CPU, and prints the failed ones.
class Checks {
 public:
  void expect(bool right, const std::string& what);
  // Every operation, including new ones, must have been used by a comparison.
  template <class Operation>
  void expect_all_begun() {
    for (const auto& name : begun<Operation>().missing()) {
      expect(false, name + " was never compared with the CPU");
    }
  }
  int done() const { return done_; }
  int failed() const { return failed_; }

 private:
  int done_ = 0;
  int failed_ = 0;
};

// The extent of the checks: small if kernels run on the host; kAll takes a card minutes.
enum class Extent { kSmall, kShort, kAll };

// `backend` is the first usable card.
struct Family {
  const char* name;
  void (*check)(Checks& checks, const Backend& backend, Extent extent);
  void (*time)(const Backend& backend);
};

void check_calls(Checks& checks, const Backend& backend, Extent extent);
void time_calls(const Backend& backend);
void check_spectra(Checks& checks, const Backend& backend, Extent extent);
void time_spectra(const Backend& backend);
void check_kmers(Checks& checks, const Backend& backend, Extent extent);
void time_kmers(const Backend& backend);
void check_products(Checks& checks, const Backend& backend, Extent extent);
void time_products(const Backend& backend);
void check_encoders(Checks& checks, const Backend& backend, Extent extent);
void time_encoders(const Backend& backend);
void check_autoencoders(Checks& checks, const Backend& backend, Extent extent);
void time_autoencoders(const Backend& backend);

constexpr std::array<Family, 6> kFamilies = {{
    {"calls", check_calls, time_calls},
    {"spectra", check_spectra, time_spectra},
    {"kmers", check_kmers, time_kmers},
    {"products", check_products, time_products},
    {"encoders", check_encoders, time_encoders},
    {"autoencoders", check_autoencoders, time_autoencoders},
}};

// Three devices of the backend's card: each has a thread of its own.
Backend three_devices(const Backend& backend);

// The seconds of the fastest round, after one round to warm up. There are two to 20, within a
// second.
double seconds(Device& device, const std::function<void()>& begin);

}  // namespace ancify::test
