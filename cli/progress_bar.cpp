// Pure functions make the texts; the class handles the clock and the terminal.
#include "cli/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/terminal.h"

namespace sinter::cli {
namespace {

constexpr double kSecondsBetweenLines = 5;
constexpr int kShortestLabel = 12;  // a shorter one says too little
constexpr int kShortestBar = 8;
constexpr int kLongestBar = 30;

// One byte per column.
std::string ascii(std::string text) {
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

std::string shortened(const std::string& text, int width) {
  if (static_cast<int>(text.size()) <= width) return text;
  if (width <= 2) return "";
  return text.substr(0, static_cast<std::size_t>(width) - 2) + "..";
}

std::string bar_text(std::size_t done, std::size_t total, int width) {
  const double part = total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total);
  const auto cells = static_cast<std::size_t>(width);
  const auto full = std::min(cells, static_cast<std::size_t>(part * width));
  return fmt::format("[{}{}] ", std::string(full, '#'), std::string(cells - full, '-'));
}

}  // namespace

void TimeLeft::add(std::size_t done, double seconds, double work) {
  if (!start_ || done < last_.done) {
    start_ = Point{done, seconds, work};
    longest_ = {};
  } else if (done > last_.done) {
    const auto steps = static_cast<double>(done - last_.done);
    const Step step{(seconds - last_.seconds) / steps, (work - last_.work) / steps};
    if (step.pace() > longest_.pace()) longest_ = step;
  } else {
    return;
  }
  last_ = {done, seconds, work};
}

std::optional<double> TimeLeft::left(double all_work) const {
  if (!start_ || last_.done < start_->done + 2 || all_work < last_.work) return std::nullopt;
  const Step left_out = last_.done >= start_->done + 4 ? longest_ : Step{};
  const Step others{last_.seconds - start_->seconds - left_out.seconds,
                    last_.work - start_->work - left_out.work};
  return others.pace() * (all_work - last_.work);
}

std::string time_left_text(double seconds) {
  if (seconds < 10) return "less than 10 s left";
  if (seconds < 55) return fmt::format("about {:.0f} s left", std::ceil(seconds / 10) * 10);
  const double minutes = std::round(seconds / 60);
  if (minutes < 100) return fmt::format("about {:.0f} min left", std::max(minutes, 1.0));
  return fmt::format("about {:.0f} h left", minutes / 60);
}

std::string progress_line(std::size_t done, std::size_t total, const std::string& label,
                          std::optional<double> seconds_left) {
  std::string text = fmt::format("{}/{}", done, total);
  if (!label.empty()) text += " " + ascii(label);
  if (seconds_left) text += ", " + time_left_text(*seconds_left);
  return text;
}

std::string progress_text(std::size_t done, std::size_t total, const std::string& label, int width,
                          std::optional<double> seconds_left) {
  const std::string counts = fmt::format("{}/{}", done, total);
  const std::string name = label.empty() ? "" : " " + ascii(label);
  std::string time = seconds_left ? ", " + time_left_text(*seconds_left) : "";
  std::string bar = bar_text(done, total, std::clamp(width / 4, kShortestBar, kLongestBar));
  const int shortest_name = std::min(static_cast<int>(name.size()), kShortestLabel);
  const auto room_for_name = [&] {
    return width - static_cast<int>(bar.size() + counts.size() + time.size());
  };
  if (room_for_name() < shortest_name) bar = bar_text(done, total, kShortestBar);
  if (room_for_name() < shortest_name) time = "";
  if (room_for_name() < shortest_name) bar = "";
  const std::string text = bar + counts + shortened(name, std::max(room_for_name(), 0)) + time;
  return text.substr(0, static_cast<std::size_t>(std::max(width, 0)));
}

ProgressBar::ProgressBar() : moving_(is_terminal(stderr)) {}
ProgressBar::~ProgressBar() { finish(); }

double ProgressBar::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void ProgressBar::update(std::size_t done, std::size_t total, const std::string& label, double work,
                         double all_work) {
  const double now = seconds();
  if (total != total_) time_left_ = {};  // a new phase begins
  time_left_.add(done, now, work);
  done_ = done;
  total_ = total;
  finished_ = false;
  const std::optional<double> left = time_left_.left(all_work);
  if (moving_) {
    // The last column stays free: some terminals wrap there.
    draw(progress_text(done, total, label, terminal_width(stderr) - 1, left));
  } else if (!last_line_ || now - *last_line_ >= kSecondsBetweenLines) {
    std::fputs((progress_line(done, total, label, left) + "\n").c_str(), stderr);
    last_line_ = now;
  }
}

void ProgressBar::finish() {
  if (finished_ || total_ == 0) return;
  finished_ = true;
  if (drawn_) {
    std::fputs("\r\x1b[K", stderr);
    drawn_ = false;
  } else if (!moving_) {
    std::fputs(fmt::format("{}/{} in {}\n", done_, total_, duration_text(seconds())).c_str(),
               stderr);
  }
}

void ProgressBar::draw(const std::string& text) {
  // Overwrites and erases the rest in one write, to avoid flicker.
  std::fputs(("\r" + text + "\x1b[K").c_str(), stderr);
  drawn_ = true;
}

}  // namespace sinter::cli
