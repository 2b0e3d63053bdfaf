// NumberParser: parses number arguments, the numbers computed from them, and guards: "#lr =
// argument real 0.01", "#half = mul f64 #lr, #0", "guard #lr is not 1.0". Fills a NumberTable.
#pragma once

#include <string>
#include <unordered_map>

#include "src/graph/numbers.h"
#include "src/graph/parse_numbers.h"
#include "src/graph/tokens.h"

namespace sinter {

class NumberParser {
 public:
  NumberParser(TokenReader& tokens, NumberTable& numbers) : tokens_(tokens), numbers_(numbers) {}

  void parse_definition();  // the whole statement, from #name
  void parse_guard();       // after "guard"
  NumberId parse_use();     // "#lr"
  // The same as a value of that dtype, in the precision kernels compute in. Each call checks that
  // an integer dtype holds it, as full() does.
  NumberId parse_use(DType dtype);

 private:
  NumberId parse_expression();
  NumberId argument();
  NumberId computed(const Token& word);
  NumberId added(const Token& at, const NumberExpr& expr);
  DType dtype();

  TokenReader& tokens_;
  NumberTable& numbers_;
  std::unordered_map<std::string, NumberId> names_;
};

}  // namespace sinter
