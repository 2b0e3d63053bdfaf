// Pages that need no network: a template, with text, data and scripts put in.
// In: a template with {{name}} in it. Out: the page.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sinter {

// Puts filling(name) in place of each {{name}}. What is put in is not looked at again.
std::string fill_page(std::string_view page_template,
                      const std::function<std::string(std::string_view name)>& filling);

// JSON that can stand in a script element: nothing in it can end the element.
std::string script_safe(std::string_view json);
// Text that can stand in an element.
std::string html_safe(std::string_view text);

}  // namespace sinter
