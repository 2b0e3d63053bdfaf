// A user's first program, built against an installed Sinter by the test consumer.find_package.
// It sees the installed headers only; it compiles, links and runs, or the test fails.
#include <sinter/sinter.h>

int main() {
  sinter::Tensor a = sinter::full({2, 3}, 1.0);
  sinter::Tensor b = a + a;
  return 0;
}
