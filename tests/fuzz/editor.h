// Editor: random edits of a program's text, for tests of parsers. In: a text, and words that its
// language knows. Out: a text with one to three edits.
#pragma once

#include <cctype>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>

namespace sinter::fuzz {

// Inserts, removes, swaps and replaces characters and tokens.
class Editor {
 public:
  Editor(std::uint64_t seed, std::span<const char* const> words) : random_(seed), words_(words) {}

  std::string edited(std::string text) {
    const std::size_t edits = 1 + below(3);
    for (std::size_t i = 0; i < edits && !text.empty(); ++i) edit(text);
    return text;
  }

 private:
  std::size_t below(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }

  // The text from `start` on that reads like a token.
  static std::size_t token_length(const std::string& text, std::size_t start) {
    std::size_t end = start + 1;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end - 1])) &&
           std::isalnum(static_cast<unsigned char>(text[end])))
      ++end;
    return end - start;
  }

  void edit(std::string& text) {
    const std::size_t at = below(text.size());
    const std::size_t other = below(text.size());
    switch (below(6)) {
      case 0:
        text.erase(at, 1 + below(3));
        break;
      case 1:
        text.insert(at, words_[below(words_.size())]);
        break;
      case 2:
        std::swap(text[at], text[other]);
        break;
      case 3:
        text.erase(at, token_length(text, at));
        break;
      case 4:
        text.replace(at, token_length(text, at), words_[below(words_.size())]);
        break;
      default:
        text.replace(at, token_length(text, at), text.substr(other, token_length(text, other)));
    }
  }

  std::mt19937_64 random_;
  std::span<const char* const> words_;
};

}  // namespace sinter::fuzz
