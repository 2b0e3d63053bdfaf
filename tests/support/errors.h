// Messages of expected errors.
#pragma once

#include <sinter/error.h>

#include <functional>
#include <string>

namespace sinter::testing {

// The message of the UserError that `mistake` throws; "no error" if it throws none.
inline std::string error_of(const std::function<void()>& mistake) {
  try {
    mistake();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace sinter::testing

#define EXPECT_USER_ERROR(statement, text) \
  EXPECT_EQ(::sinter::testing::error_of([&] { (void)(statement); }), text)
