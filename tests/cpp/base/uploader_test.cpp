// Checks copies to the fake device in pieces.
#include "core/device/uploader.h"

#include <random>
#include <string>

#include "fake_device.h"
#include "support.h"

namespace ancify {
namespace {

using test::FakeDevice;
using test::message_of;

constexpr std::size_t kBuffer = Uploader::kBuffer;

// A text and its place in the device's memory.
struct Piece {
  std::size_t at;
  std::string text;
};

// Most pieces follow the last one. Some are anywhere, some longer than both buffers.
std::vector<Piece> random_pieces(std::size_t memory, std::mt19937& random) {
  std::vector<Piece> pieces;
  std::size_t at = 0;
  for (int k = 0; k < 200; ++k) {
    if (random() % 5 == 0) at = random() % memory;
    std::size_t n = random() % (random() % 20 == 0 ? 3 * kBuffer : kBuffer / 16);
    n = std::min(n, memory - at);
    pieces.push_back({at, std::string(n, static_cast<char>(k))});
    at = (at + n) % memory;
  }
  return pieces;
}

void upload(Uploader& uploader, const std::vector<Piece>& pieces, char* memory) {
  for (const auto& [at, text] : pieces) {
    std::string passing = text;
    uploader.write(memory + at, passing.data(), passing.size());
    passing.assign(passing.size(), '?');  // the text was copied at once
  }
  uploader.finish();
}

TEST(Uploader, KeepsTheOrderOfWhatOverlaps) {
  std::mt19937 random(71);
  const std::size_t n = 5 * kBuffer;
  for (unsigned round = 0; round < 30; ++round) {
    FakeDevice card;
    card.eager = [&, round] { return random() % 4 < 2 * (round % 3); };  // late, mixed, or at once
    MemoryPool pool(card);
    const DeviceArray<char> memory(pool, n);
    std::string expected(n, '.');
    std::memset(memory.data(), '.', n);
    const auto pieces = random_pieces(n, random);
    for (const auto& [at, text] : pieces) expected.replace(at, text.size(), text);
    Uploader uploader(std::make_unique<FakeDevice>(card));
    upload(uploader, pieces, memory.data());
    EXPECT_TRUE(expected.compare(0, n, memory.data(), n) == 0) << round;
    // The uploader can be used again.
    upload(uploader, {{7, "later"}}, memory.data());
    EXPECT_EQ(std::string(memory.data() + 7, 5), "later");
  }
}

TEST(Uploader, WaitsOnceABufferForWhatIsInOrder) {
  FakeDevice card;
  MemoryPool pool(card);
  const DeviceArray<char> memory(pool, 10 * kBuffer);
  const std::string text(kBuffer / 16, 'x');
  Uploader uploader(std::make_unique<FakeDevice>(card));
  uploader.finish();
  const int before = card.calls;
  for (std::size_t at = 0; at < 10 * kBuffer; at += text.size()) {
    // Write from the middle on, then from the start.
    const std::size_t shifted = (at + 5 * kBuffer) % (10 * kBuffer);
    uploader.write(memory.data() + shifted, text.data(), text.size());
  }
  uploader.finish();
  EXPECT_EQ(card.calls - before, 10 + 9 + 2);
}

TEST(Uploader, AFailureAnywhereIsAnErrorAndLeavesNothingGoingOn) {
  std::mt19937 random(72);
  const std::size_t n = 3 * kBuffer;
  const auto pieces = random_pieces(n, random);
  int calls = 1;
  for (int failing = 0; failing <= calls; failing += 1 + failing / 8) {
    FakeDevice card;
    MemoryPool pool(card);
    const DeviceArray<char> memory(pool, n);
    card.failing_call = failing;
    const auto run = [&] {
      Uploader uploader(std::make_unique<FakeDevice>(card));
      upload(uploader, pieces, memory.data());
    };
    if (failing == 0) {
      run();
      calls = card.calls;
    } else {
      EXPECT_THROW(run(), DeviceError);
    }
    EXPECT_EQ(card.taken(), 1U);
  }
}

TEST(Uploader, WithoutMemoryForBuffersIsAnError) {
  for (const int failing : {1, 2}) {
    FakeDevice card;
    card.failing_allocation = failing;
    const auto message =
        message_of<DeviceError>([&] { Uploader(std::make_unique<FakeDevice>(card)); });
    EXPECT_NE(message.find("too little memory for transfer buffers of fake:0 (1048576 bytes)"),
              std::string::npos)
        << message;
    EXPECT_EQ(card.taken(), 0U);
  }
}

}  // namespace
}  // namespace ancify
