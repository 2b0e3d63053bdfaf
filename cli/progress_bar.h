// Progress of a long run on stderr: a bar with the time left on a terminal, a line every few
// seconds elsewhere. Never throws: a closed stderr does not end a run.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace sinter::cli {

// Estimates the remaining time from the steps so far. Ignores the longest of four or more: a stall
// or a first compilation says nothing about the others.
class TimeLeft {
 public:
  // `done` steps have finished after `seconds`; `work` is their weight in any unit, if they differ.
  // The first call marks the start, whatever it counts as done; so does one with fewer steps.
  void add(std::size_t done, double seconds, double work);
  void add(std::size_t done, double seconds) { add(done, seconds, static_cast<double>(done)); }
  // nullopt before two steps are finished.
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
  Step longest_;  // by duration per work
};

// "less than 10 s left", "about 40 s left", "about 3 min left": as precise as the estimate.
std::string time_left_text(double seconds);

// "[####----] 12/44 softmax 4096x4096 f32, about 1 min left" in at most `width` columns; shortens
// or drops what does not fit, the counts last. Always ASCII.
std::string progress_text(std::size_t done, std::size_t total, const std::string& label, int width,
                          std::optional<double> seconds_left);
// The same without a bar: "12/44 softmax 4096x4096 f32, about 1 min left".
std::string progress_line(std::size_t done, std::size_t total, const std::string& label,
                          std::optional<double> seconds_left);

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `done` of `total` steps are finished, `label` is the next one. If steps differ in weight,
  // `work` of `all_work` is done.
  void update(std::size_t done, std::size_t total, const std::string& label, double work,
              double all_work);
  void update(std::size_t done, std::size_t total, const std::string& label) {
    update(done, total, label, static_cast<double>(done), static_cast<double>(total));
  }
  // Removes the bar from a terminal; elsewhere prints a last line with the progress and the
  // duration. Also called by the destructor; further calls do nothing.
  void finish();

  double seconds() const;  // since construction

 private:
  void draw(const std::string& text);

  bool moving_;  // on a terminal
  bool drawn_ = false;
  bool finished_ = false;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  std::optional<double> last_line_;  // time in seconds()
  TimeLeft time_left_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sinter::cli
