// Parses decimal numbers in text.
#pragma once

#include <charconv>
#include <cmath>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace ancify {

// Parses finite numbers in C notation, whatever the user's locale. Empty for any other text.
class NumberParser {
 public:
  NumberParser() { stream_.imbue(std::locale::classic()); }
  std::optional<double> operator()(std::string_view text) {
#if defined(__cpp_lib_to_chars)
    // The stream reads other notations too, such as +1, but takes several times as long.
    double quick = 0;
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, quick);
    if (error == std::errc() && last == end && std::isfinite(quick)) return quick;
#endif
    stream_.clear();
    stream_.str(std::string(text));
    double value = 0;
    const bool whole = stream_ >> value && stream_.peek() == std::istringstream::traits_type::eof();
    return whole && std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
  }

 private:
  std::istringstream stream_;
};

}  // namespace ancify
