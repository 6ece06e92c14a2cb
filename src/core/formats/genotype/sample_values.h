// Reads the values of samples: phenotypes, and covariates, whose texts are levels of factors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"
#include "core/io/number_parser.h"
#include "core/io/rows.h"

namespace ancify {

// Distinguishes numbers, missing values and other texts, in all tables of samples. NA, NaN and a
// dot are missing, regardless of the case of ASCII letters.
class ValueParser {
 public:
  // `missing`: further texts for a missing value. A number among them stands for all its spellings.
  explicit ValueParser(const std::vector<std::string>& missing);
  // A number, NaN for a missing value, or nothing for any other text.
  std::optional<double> operator()(std::string_view text);

 private:
  NumberParser parse_;
  std::vector<std::string> missing_ = {"NA", "NaN", "."};
  std::vector<double> missing_numbers_;
};

struct ValueRules {
  std::vector<std::string> missing;  // as for ValueParser
  std::string stem;                  // of the names of columns without a header
  bool factors = false;              // whether a column without any number is a factor
  bool keep_faults = false;          // whether a column with a text among numbers is no error
};

struct ValueColumn {
  std::vector<double> numbers;  // NaN if missing; empty in a factor
  // For a factor: the index of each sample's level, from 1 on; 0 if missing.
  std::vector<std::int32_t> codes;
  TextColumn levels;  // in the order of their first samples
  std::string fault;  // why the column has no values: its first text among numbers
};

struct SampleValues {
  TextColumn id;
  std::vector<std::string> names;
  std::vector<ValueColumn> columns;
};

// Reads a table as read_samples() does. Also throws FormatError if no column remains, for two
// columns of one name, and, unless faults are kept, for a text among numbers. Reading ends at the
// first invalid row.
SampleValues read_sample_values(const std::string& path, const ValueRules& rules,
                                const TaskContext& context);

}  // namespace ancify
