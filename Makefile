# The two commands for new users: `make run` and `make test`. `make help` lists the rest.
# Thin wrappers around CMake and the presets of CMakePresets.json.
PRESET ?= release
FUZZ_SECONDS ?= 120
TOOL_CPU_SECONDS := 360  # approximate cost of building the tool
JOBS ?= $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
BUILD := build/$(PRESET)

.DEFAULT_GOAL := help
.PHONY: help run test test-gpu fuzz build setup asan tsan format lint clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' Makefile
	@echo "PRESET=release|debug|asan|tsan|ci chooses the build (now $(PRESET)), JOBS=N how many at once."

run: setup $(BUILD)/build.ninja  ## build the tool, then run a quick benchmark of fused against unfused
	@test -e $(BUILD)/cli/sinter || echo "Building the library and the sinter tool: about" \
	  "$$((($(TOOL_CPU_SECONDS) + 60 * $(JOBS) - 1) / (60 * $(JOBS)))) minutes on $(JOBS) cores, this once." \
	  "Then the fusion suite runs on 4 shapes, about a minute."
	@cmake --build $(BUILD) -j $(JOBS) --target sinter_cli
	$(BUILD)/cli/sinter suite --set quick

test: build  ## build, then run every test this machine can run
	@cd $(BUILD) && ctest --output-on-failure -j $(JOBS) --output-junit $(CURDIR)/$(BUILD)/tests.xml

test-gpu: build  ## only the tests for machines with an NVIDIA GPU
	@cd $(BUILD) && ctest -L gpu --output-on-failure -j 4

fuzz: setup $(BUILD)/build.ninja  ## random programs with fresh seeds, FUZZ_SECONDS=120 on each executor here
	@cmake --build $(BUILD) -j $(JOBS) --target test_fuzz
	@failed=0; for executor in interpreted compiled simt cuda; do \
	  SINTER_FUZZ_EXECUTORS=$$executor SINTER_FUZZ_SECONDS=$(FUZZ_SECONDS) \
	    $(BUILD)/tests/test_fuzz --gtest_filter=RandomPrograms.Fresh --gtest_brief=1 || failed=1; \
	done; exit $$failed

build: setup $(BUILD)/build.ninja  ## build everything into build/$(PRESET)
	@cmake --build $(BUILD) -j $(JOBS)

setup:  ## install what is missing (Debian, Ubuntu)
	@scripts/setup

# Ninja reconfigures when a CMakeLists.txt changes, but not when the presets do.
$(BUILD)/build.ninja: CMakePresets.json | setup
	@cmake --preset $(PRESET)

asan:  ## the tests under the address and undefined-behaviour sanitizers
	@$(MAKE) --no-print-directory test PRESET=asan

tsan:  ## the tests under the thread sanitizer
	@$(MAKE) --no-print-directory test PRESET=tsan

format:  ## clang-format every source
	@scripts/setup --dev
	@scripts/format

lint:  ## clang-tidy over src/ and cli/
	@scripts/setup --dev
	@scripts/lint

clean:  ## remove build/
	rm -rf build
