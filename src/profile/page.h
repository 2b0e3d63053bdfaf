// Self-contained HTML pages: a template with text, data and scripts inserted. In: a template with
// {{name}} placeholders. Out: the page.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sinter {

// Replaces each {{name}} with filling(name). Inserted text is not scanned again.
std::string fill_page(std::string_view page_template,
                      const std::function<std::string(std::string_view name)>& filling);

// JSON that is safe inside a script element: nothing in it can end the element.
std::string script_safe(std::string_view json);
// Escapes text for an HTML element.
std::string html_safe(std::string_view text);

}  // namespace sinter
