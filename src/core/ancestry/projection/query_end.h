// The end of an outgroup's last pair, to tell whether the next one continues it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/formats/alignment/aligned_pair.h"

namespace ancify {

// The query's positions start, ..., end - 1 along its strand.
struct QueryRange {
  std::string_view chromosome;
  bool minus = false;
  std::int64_t start = 0;
  std::int64_t end = 0;
};

class QueryEnd {
 public:
  // True if `pair` begins where the last one ended, in both genomes. Remembers its end.
  bool continued_by(const AlignedPair& pair, const QueryRange& query) {
    const bool result = pair.chromosome == target_ && pair.start == target_end_ + 1 &&
                        query.chromosome == query_ && query.minus == minus_ &&
                        query.start == query_end_;
    target_ = pair.chromosome;
    target_end_ = pair.end;
    query_ = query.chromosome;
    minus_ = query.minus;
    query_end_ = query.end;
    return result;
  }
  void forget() { target_.clear(); }

 private:
  std::string target_;
  std::int64_t target_end_ = 0;
  std::string query_;
  bool minus_ = false;
  std::int64_t query_end_ = 0;
};

}  // namespace ancify
