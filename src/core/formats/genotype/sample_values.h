// Reads the values of samples: phenotypes, and covariates, whose texts are levels of factors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/threads.h"
#include "core/io/rows.h"

namespace ancify {

struct ValueRules {
  // Texts that stand for a missing value, regardless of the case of ASCII letters. A number among
  // them stands for all its spellings.
  std::vector<std::string> missing;
  std::string stem;      // of the names of columns without a header
  bool factors = false;  // whether a column without any number is a factor
};

struct ValueColumn {
  std::vector<double> numbers;  // NaN if missing; empty in a factor
  // For a factor: the index of each sample's level, from 1 on; 0 if missing.
  std::vector<std::int32_t> codes;
  TextColumn levels;  // in the order of their first samples
};

struct SampleValues {
  TextColumn id;
  std::vector<std::string> names;
  std::vector<ValueColumn> columns;
};

// Reads a table as read_samples() does. Also throws FormatError if no column remains, for two
// columns of one name, and for a text among numbers. Reading ends at the first invalid row.
SampleValues read_sample_values(const std::string& path, const ValueRules& rules,
                                const TaskContext& context);

}  // namespace ancify
