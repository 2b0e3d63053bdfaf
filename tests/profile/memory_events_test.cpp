// Descriptions of memory controllers in fake sysfs trees: valid ones are read, others are refused
// with a reason.
#include "src/profile/memory_events.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "src/runtime/temporary_directory.h"

namespace sinter {
namespace {

namespace fs = std::filesystem;

TEST(ParseFormat, TakesRangesOfThreeWords) {
  const auto plain = parse_format("config:0-7");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->word, 0);
  ASSERT_EQ(plain->ranges.size(), 1u);
  EXPECT_EQ(plain->ranges[0].high, 7);
  const auto split = parse_format("config1:0-7,32-35,63");
  ASSERT_TRUE(split);
  EXPECT_EQ(split->word, 1);
  ASSERT_EQ(split->ranges.size(), 3u);
  EXPECT_EQ(split->ranges[1].low, 32);
  EXPECT_EQ(split->ranges[2].low, 63);
  EXPECT_EQ(split->ranges[2].high, 63);
  EXPECT_EQ(parse_format("config2:0-63")->word, 2);
}

TEST(ParseFormat, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"", "config", "config:", "config3:0-7", "0-7", "config:0-64", "config:7-0", "config:0-7,",
        "config:-7", "config:0-", "config:a-b", "config:0-7 ", "config:0-18446744073709551616"})
    EXPECT_FALSE(parse_format(text)) << text;
}

TEST(ParseEvent, PutsBitsInTheirPlaces) {
  const std::map<std::string, TermFormat> formats{{"event", *parse_format("config:0-7,32-35")},
                                                  {"umask", *parse_format("config:8-15")},
                                                  {"edge", *parse_format("config:18")},
                                                  {"filter", *parse_format("config1:4-11")},
                                                  {"all", *parse_format("config2:0-63")}};
  EXPECT_EQ(parse_event("event=0x04,umask=0x03", formats)->config, 0x304u);
  EXPECT_EQ(parse_event("event=0xabc", formats)->config, 0xa000000bcu);
  const auto full = parse_event("event=255,edge,filter=0xff,all=0xffffffffffffffff", formats);
  ASSERT_TRUE(full);
  EXPECT_EQ(full->config, 0x400ffu);
  EXPECT_EQ(full->config1, 0xff0u);
  EXPECT_EQ(full->config2, UINT64_MAX);
  EXPECT_EQ(parse_event("config=0x20ff,config1=7", formats)->config, 0x20ffu);
  EXPECT_EQ(parse_event("config=0x20ff,config1=7", formats)->config1, 7u);
}

TEST(ParseEvent, RefusesWhatItDoesNotKnow) {
  const std::map<std::string, TermFormat> formats{{"event", *parse_format("config:0-7")}};
  for (const char* text :
       {"", "umask=3", "event=", "event=0x", "event=0x100", "event=?", "event=4,", "event=-1",
        "event=4 ", "event=0x10000000000000000", "=4", "event==4"})
    EXPECT_FALSE(parse_event(text, formats)) << text;
}

TEST(ParseProcessors, TakesLists) {
  EXPECT_EQ(parse_processors("0"), std::vector{0});
  EXPECT_EQ(parse_processors("0,28"), (std::vector{0, 28}));
  EXPECT_EQ(parse_processors("0-2,8"), (std::vector{0, 1, 2, 8}));
  std::string many = "0-65535";
  for (int i = 0; i < 100; ++i) many += ",0-65535";
  for (const std::string& text :
       {std::string(), std::string(","), std::string("0-"), std::string("x"),
        std::string("0-4000000000"), std::string("99999999999999999999"), many})
    EXPECT_FALSE(parse_processors(text)) << text.substr(0, 40);
}

class MemoryTree : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const fs::path full = fs::path(root_.path()) / path;
    fs::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  void add_server(const std::string& name, const std::string& type) {
    write(name + "/type", type + "\n");
    write(name + "/cpumask", "0,28\n");
    write(name + "/format/event", "config:0-7\n");
    write(name + "/format/umask", "config:8-15\n");
    add_event(name, "cas_count_read", "event=0x04,umask=0x03\n");
    add_event(name, "cas_count_write", "event=0x04,umask=0x0c\n");
  }
  void add_event(const std::string& name, const std::string& event, const std::string& text) {
    write(name + "/events/" + event, text);
    write(name + "/events/" + event + ".scale", "6.103515625e-5\n");
    write(name + "/events/" + event + ".unit", "MiB\n");
  }
  MemoryEvents find() { return find_memory_events(root_.path()); }
  void expect_refused(const std::string& part) {
    const MemoryEvents found = find();
    EXPECT_TRUE(found.events.empty());
    EXPECT_NE(found.why_none.find(part), std::string::npos) << found.why_none;
  }

  TemporaryDirectory root_;
};

TEST_F(MemoryTree, ServersHaveAControllerForEachChannel) {
  add_server("uncore_imc_1", "21");
  add_server("uncore_imc_0", "20");
  write("uncore_cha_0/type", "30\n");
  write("cpu/type", "4\n");
  const MemoryEvents found = find();
  EXPECT_EQ(found.why_none, "");
  ASSERT_EQ(found.events.size(), 4u);
  EXPECT_EQ(found.events[0].event.type, 20u);
  EXPECT_EQ(found.events[0].event.config, 0x304u);
  EXPECT_EQ(found.events[1].event.config, 0xc04u);
  EXPECT_EQ(found.events[3].event.type, 21u);
  EXPECT_EQ(found.events[3].processors, (std::vector{0, 28}));
  EXPECT_DOUBLE_EQ(found.events[3].bytes, 64);
}

TEST_F(MemoryTree, ClientsHaveOne) {
  write("uncore_imc/type", "9");
  write("uncore_imc/cpumask", "0");
  write("uncore_imc/format/event", "config:0-7");
  add_event("uncore_imc", "data_reads", "event=0x01");
  add_event("uncore_imc", "data_writes", "event=0x02");
  ASSERT_EQ(find().events.size(), 2u);
  EXPECT_EQ(find().events[1].event.config, 2u);
}

TEST_F(MemoryTree, TheSameTrafficIsNotCountedTwice) {
  add_server("uncore_imc_0", "20");
  add_server("uncore_imc_free_running_0", "40");
  ASSERT_EQ(find().events.size(), 2u);
  EXPECT_EQ(find().events[0].event.type, 20u);
}

TEST_F(MemoryTree, ControllersWithoutSuchEventsAreLeftOut) {
  add_server("uncore_imc_0", "20");
  write("uncore_imc_9/type", "29");
  write("uncore_imc_9/events/clockticks", "event=0x00");
  EXPECT_EQ(find().events.size(), 2u);
}

TEST_F(MemoryTree, NothingThereIsAReason) {
  expect_refused("no uncore_imc counters");
  EXPECT_NE(find_memory_events("/nowhere").why_none, "");
}

TEST_F(MemoryTree, MissingFilesAreNamed) {
  for (const std::string file :
       {"type", "cpumask", "format/umask", "events/cas_count_write", "events/cas_count_read",
        "events/cas_count_read.scale", "events/cas_count_write.unit"}) {
    add_server("uncore_imc_0", "20");
    add_server("uncore_imc_1", "21");
    ASSERT_EQ(find().events.size(), 4u);
    fs::remove(fs::path(root_.path()) / "uncore_imc_1" / file);
    expect_refused("uncore_imc_1/");
  }
}

TEST_F(MemoryTree, GarbageIsRefused) {
  struct Row {
    const char* file;
    std::string text;
  };
  const std::string huge(100'000, '1');
  for (const Row& row :
       {Row{"type", "twenty"}, Row{"type", "-1"}, Row{"type", "4294967296"}, Row{"type", huge},
        Row{"cpumask", "0-99999999"}, Row{"cpumask", ""}, Row{"cpumask", huge},
        Row{"format/umask", "config:8-99"}, Row{"format/event", std::string("\0\xff", 2)},
        Row{"events/cas_count_read", "event=0x04,umask=0x103"}, Row{"events/cas_count_read", huge},
        Row{"events/cas_count_read.scale", "nan"}, Row{"events/cas_count_read.scale", "inf"},
        Row{"events/cas_count_read.scale", "-1"}, Row{"events/cas_count_read.scale", "0"},
        Row{"events/cas_count_read.scale", "1e300"}, Row{"events/cas_count_read.scale", "6.1e-5x"},
        Row{"events/cas_count_read.unit", "Joules"}, Row{"events/cas_count_read.unit", ""}}) {
    add_server("uncore_imc_0", "20");
    ASSERT_EQ(find().events.size(), 2u);
    write(std::string("uncore_imc_0/") + row.file, row.text);
    expect_refused("uncore_imc_0/");
  }
}

TEST_F(MemoryTree, NonRegularFilesAreNotRead) {
  add_server("uncore_imc_0", "20");
  const std::string path = root_.path() + "/uncore_imc_0/type";
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);  // opening it would block forever
  expect_refused("uncore_imc_0/type");
  fs::remove(path);
  fs::create_directory(path);
  expect_refused("uncore_imc_0/type");
}

}  // namespace
}  // namespace sinter
