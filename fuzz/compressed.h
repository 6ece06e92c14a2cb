// Shared by the harnesses of compressed text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "../tests/cpp/support.h"
#include "core/io/byte_source.h"
#include "harness.h"

namespace ancify::fuzz {

inline std::string read(std::string_view bytes, Choices& choices) {
  const std::size_t pieces[] = {13, 512, 1 << 16};
  const std::size_t buffers[] = {1, 2, 7, 64, 1 << 13};
  return outcome([&] {
    return "text " + test::read_all(*open_text(as_file(bytes), buffers[choices.below(5)]),
                                    pieces[choices.below(3)]);
  });
}

// Requires that pieces of any size give the text that a library inflated at once, or an error if it
// is damaged.
inline void require_text(std::string_view bytes, const std::optional<std::string>& expected,
                         Choices& choices) {
  const std::string got = read(bytes, choices);
  const auto text = expected ? as_opened(*expected) : std::nullopt;
  require_equal(is_error(got) ? "damaged" : got, text ? "text " + *text : "damaged",
                "the inflater and its library");
}

}  // namespace ancify::fuzz
