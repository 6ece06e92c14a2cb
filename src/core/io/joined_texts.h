// Texts stored end to end in a few large parts, rather than in one string each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ancify {

class JoinedTexts {
 public:
  // The position of a text: its part, and its first byte there.
  struct Place {
    std::size_t part;
    std::size_t start;
    std::size_t length;
  };

  // A part has at most `part_size` bytes, unless it is a single text.
  explicit JoinedTexts(std::size_t part_size) : part_size_(part_size) {}

  // Begins an empty text.
  void begin() {
    if (parts_.empty()) new_part();
    places_.push_back({parts_.size() - 1, parts_.back().size(), 0});
  }
  // Appends to the text begun last, and returns its current address.
  char* add(std::string_view more) {
    Place& place = places_.back();
    if (place.start > 0 && place.start + place.length + more.size() > part_size_)
      move_to_new_part();
    parts_[place.part].append(more);
    place.length += more.size();
    return parts_[place.part].data() + place.start;
  }
  void append(std::string_view text) {
    begin();
    add(text);
  }

  const std::vector<Place>& places() const { return places_; }
  std::vector<std::string>& parts() { return parts_; }
  std::string_view operator[](std::size_t i) const {
    const Place& place = places_[i];
    return std::string_view(parts_[place.part]).substr(place.start, place.length);
  }

 private:
  void move_to_new_part() {
    Place& place = places_.back();
    std::string& before = parts_.back();
    const std::string text = before.substr(place.start);
    before.resize(place.start);
    new_part() = text;
    place = {parts_.size() - 1, 0, place.length};
  }
  // Reserved pages cost nothing until they are written.
  std::string& new_part() {
    parts_.emplace_back().reserve(part_size_);
    return parts_.back();
  }

  std::size_t part_size_;
  std::vector<std::string> parts_;
  std::vector<Place> places_;
};

}  // namespace ancify
