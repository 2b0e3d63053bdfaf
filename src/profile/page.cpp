// One pass over the template, so that {{ in inserted data is left alone.
#include "src/profile/page.h"

#include "src/base/check.h"

namespace sinter {

std::string fill_page(std::string_view page_template,
                      const std::function<std::string(std::string_view name)>& filling) {
  std::string page;
  std::string_view rest = page_template;
  for (;;) {
    const std::size_t open = rest.find("{{");
    page += rest.substr(0, open);
    if (open == std::string_view::npos) return page;
    const std::size_t close = rest.find("}}", open);
    SINTER_ASSERT(close != std::string_view::npos, "a template has a {{{{ without its }}}}");
    page += filling(rest.substr(open + 2, close - open - 2));
    rest.remove_prefix(close + 2);
  }
}

// In JSON, '<' occurs only in strings, where an escape means the same, so neither "</script>" nor
// "<!--" can occur.
std::string script_safe(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char each : json) {
    if (each == '<')
      text += "\\u003c";
    else
      text += each;
  }
  return text;
}

std::string html_safe(std::string_view text) {
  std::string safe;
  for (const char each : text) switch (each) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      default:
        safe += each;
    }
  return safe;
}

}  // namespace sinter
