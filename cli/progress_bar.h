// Where a long run is, on stderr: a bar with the time left on a terminal, a plain line every few
// seconds elsewhere. It never throws: a closed stderr ends no run.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace sinter::cli {

// How long the rest takes, guessed from the steps so far. The longest of four or more is left out:
// one stall or a first compilation says nothing about the others.
class TimeLeft {
 public:
  // `done` steps have been finished after `seconds`; `work` is how much they were, where they are
  // not alike, in any unit. The first call is the start, whatever it counts as done; so is one with
  // fewer.
  void add(std::size_t done, double seconds, double work);
  void add(std::size_t done, double seconds) { add(done, seconds, static_cast<double>(done)); }
  // Nothing before two steps are finished.
  std::optional<double> left(double all_work) const;

 private:
  struct Point {
    std::size_t done = 0;
    double seconds = 0;
    double work = 0;
  };
  struct Step {
    double seconds = 0;
    double work = 0;
    double pace() const { return work > 0 ? seconds / work : 0; }
  };
  std::optional<Point> start_;
  Point last_;
  Step longest_;  // for its work
};

// "less than 10 s left", "about 40 s left", "about 3 min left": no more exact than a guess is.
std::string time_left_text(double seconds);

// "[####----] 12/44 softmax 4096x4096 f32, about 1 min left" in at most `width` columns: what does
// not fit is shortened or left out, the counts last. ASCII whatever the label is.
std::string progress_text(std::size_t done, std::size_t total, const std::string& label, int width,
                          std::optional<double> seconds_left);
// The same without a bar, for lines that stay: "12/44 softmax 4096x4096 f32, about 1 min left".
std::string progress_line(std::size_t done, std::size_t total, const std::string& label,
                          std::optional<double> seconds_left);

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `done` of `total` steps are finished, `label` is the next one. Steps that are not alike: `work`
  // of `all_work` is done.
  void update(std::size_t done, std::size_t total, const std::string& label, double work,
              double all_work);
  void update(std::size_t done, std::size_t total, const std::string& label) {
    update(done, total, label, static_cast<double>(done), static_cast<double>(total));
  }
  // Removes the bar from a terminal; elsewhere a last line says how far it came and how long that
  // took. Also the destructor's work; what comes after the first time does nothing.
  void finish();

  double seconds() const;  // since it was made

 private:
  void draw(const std::string& text);

  bool moving_;  // on a terminal
  bool drawn_ = false;
  bool finished_ = false;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  std::optional<double> last_line_;  // when, in seconds()
  TimeLeft time_left_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sinter::cli
