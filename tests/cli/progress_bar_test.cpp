// The progress bar's texts: what is dropped in little space, and the time estimate. And the bar
// itself, on a pseudo-terminal and in a pipe.
#include "cli/progress_bar.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace sinter::cli {
namespace {

// Output of `work` on stderr while stderr is a terminal of `columns` columns.
template <typename Work>
std::string on_terminal(unsigned short columns, const Work& work) {
  int master = -1;
  int terminal = -1;
  const winsize size{24, columns, 0, 0};
  if (openpty(&master, &terminal, nullptr, nullptr, &size) != 0) return "no terminal";
  const int before = dup(STDERR_FILENO);
  dup2(terminal, STDERR_FILENO);
  unsetenv("COLUMNS");
  work();
  dup2(before, STDERR_FILENO);
  close(before);
  close(terminal);  // ends the reading, with an error, after the last byte
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(master, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(got));
  close(master);
  return text;
}

constexpr char kLabel[] = "softmax 4096x4096 f32";

TEST(ProgressText, HasBarCountsLabelAndTime) {
  EXPECT_EQ(progress_text(12, 44, kLabel, 80, 61.0),
            "[#####---------------] 12/44 softmax 4096x4096 f32, about 1 min left");
  EXPECT_EQ(progress_text(0, 44, kLabel, 80, std::nullopt),
            "[--------------------] 0/44 softmax 4096x4096 f32");
  EXPECT_EQ(progress_text(44, 44, "", 80, std::nullopt), "[####################] 44/44");
}

TEST(ProgressText, NarrowTerminalsLoseTheLeastImportantFirst) {
  EXPECT_EQ(progress_text(12, 44, kLabel, 48, 61.0),
            "[##------] 12/44 softmax 409.., about 1 min left");
  EXPECT_EQ(progress_text(12, 44, kLabel, 30, 61.0), "[##------] 12/44 softmax 409..");
  EXPECT_EQ(progress_text(12, 44, kLabel, 20, 61.0), "12/44 softmax 4096..");
  EXPECT_EQ(progress_text(12, 44, kLabel, 5, 61.0), "12/44");
  EXPECT_EQ(progress_text(12, 44, kLabel, 3, 61.0), "12/");
  EXPECT_EQ(progress_text(12, 44, kLabel, 0, 61.0), "");
  EXPECT_EQ(progress_text(12, 44, kLabel, -1, 61.0), "");
}

TEST(ProgressText, FitsAnyWidth) {
  for (int width = 0; width < 200; ++width)
    for (const char* label : {"", "x", kLabel}) {
      const std::string text = progress_text(123, 1100, label, width, 5000.0);
      EXPECT_LE(text.size(), static_cast<std::size_t>(width)) << text;
    }
}

TEST(ProgressText, IsAsciiWhateverTheLabelIs) {
  const std::string text = progress_text(1, 2, "gr\xc3\xb6\xc3\x9f\x65\n\x1b[31m", 80, 100.0);
  for (const char c : text) EXPECT_TRUE(c >= ' ' && c <= '~') << static_cast<int>(c);
  EXPECT_NE(text.find("gr????e??[31m"), std::string::npos) << text;
}

TEST(ProgressText, SurvivesOddCounts) {
  EXPECT_EQ(progress_text(0, 0, "", 80, std::nullopt), "[####################] 0/0");
  EXPECT_EQ(progress_text(3, 2, "", 40, std::nullopt), "[##########] 3/2");
}

TEST(ProgressText, LinesThatStayHaveNoBar) {
  EXPECT_EQ(progress_line(12, 44, kLabel, 61.0), "12/44 softmax 4096x4096 f32, about 1 min left");
  EXPECT_EQ(progress_line(0, 44, kLabel, std::nullopt), "0/44 softmax 4096x4096 f32");
}

TEST(TimeLeftText, IsNoMoreExactThanAGuess) {
  EXPECT_EQ(time_left_text(0), "less than 10 s left");
  EXPECT_EQ(time_left_text(31), "about 40 s left");
  EXPECT_EQ(time_left_text(55), "about 1 min left");
  EXPECT_EQ(time_left_text(200), "about 3 min left");
  EXPECT_EQ(time_left_text(5.2 * 3600), "about 5 h left");
}

TEST(TimeLeft, NeedsTwoSteps) {
  TimeLeft time;
  EXPECT_FALSE(time.left(10));
  time.add(0, 0);
  time.add(1, 3);
  EXPECT_FALSE(time.left(10));
  time.add(2, 6);
  EXPECT_DOUBLE_EQ(time.left(10).value(), 24);
  EXPECT_DOUBLE_EQ(time.left(2).value(), 0);
}

TEST(TimeLeft, OneStallDoesNotSpoilTheGuess) {
  TimeLeft time;
  time.add(0, 0);
  double now = 60;  // the first step stalled
  for (std::size_t done = 1; done <= 5; ++done, now += 1) time.add(done, now);
  EXPECT_DOUBLE_EQ(time.left(15).value(), 10);
}

TEST(TimeLeft, StepsThatTakeTurnsAreAveraged) {
  TimeLeft time;
  time.add(0, 0);
  double now = 0;
  for (std::size_t done = 1; done <= 40; ++done) time.add(done, now += done % 2 ? 1 : 3);
  EXPECT_NEAR(time.left(80).value(), 80, 2);
}

TEST(TimeLeft, StepsThatAreMoreWorkCountMore) {
  TimeLeft time;
  time.add(0, 0, 0);
  for (std::size_t i = 1; i <= 10; ++i)
    time.add(i, 9.0 * static_cast<double>(i), 3.0 * static_cast<double>(i));
  EXPECT_NEAR(*time.left(40), 30, 1e-9) << "ten small steps are left";
  time.add(11, 93, 31);
  EXPECT_NEAR(*time.left(40), 27, 1e-9);
}

TEST(TimeLeft, ResumedStepsDoNotCountAsTime) {
  TimeLeft time;
  for (std::size_t done = 1900; done <= 1910; ++done)
    time.add(done, 10 * static_cast<double>(done - 1900));
  EXPECT_DOUBLE_EQ(time.left(2000).value(), 900);
  // The second phase of a run counts from its own start.
  time.add(0, 100);
  EXPECT_FALSE(time.left(5));
  for (std::size_t done = 1; done <= 3; ++done) time.add(done, 100 + 2 * static_cast<double>(done));
  EXPECT_DOUBLE_EQ(time.left(5).value(), 4);
}

TEST(ProgressBar, IsWrittenOverAndRemovedOnATerminal) {
  EXPECT_EQ(on_terminal(25,
                        [] {
                          ProgressBar bar;
                          bar.update(0, 2, "first");
                          bar.update(1, 2, "second");
                          bar.finish();
                          bar.finish();
                        }),
            "\r[--------] 0/2 first\x1b[K"
            "\r[####----] 1/2 second\x1b[K"
            "\r\x1b[K");
}

TEST(ProgressBar, NeverReachesTheLastColumn) {
  const std::string text = on_terminal(20, [] {
    ProgressBar bar;
    bar.update(10, 20, "a label that does not fit");
  });
  EXPECT_EQ(text, "\r10/20 a label tha..\x1b[K\r\x1b[K");
}

TEST(ProgressBar, IsTheFirstAndTheLastLineElsewhere) {
  testing::internal::CaptureStderr();
  {
    ProgressBar bar;
    for (std::size_t done = 0; done < 100; ++done) bar.update(done, 100, "step");
    bar.update(100, 100, "");
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(text.starts_with("0/100 step\n")) << text;
  EXPECT_NE(text.find("\n100/100 in "), std::string::npos) << text;
  EXPECT_LT(text.size(), 1000u) << "a line for every step";
}

TEST(ProgressBar, SaysNothingOfARunThatDidNotBegin) {
  testing::internal::CaptureStderr();
  { ProgressBar bar; }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace sinter::cli
