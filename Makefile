# The commands of kvfuse. Each one sets up what it needs by itself; on Debian 12
# as root nothing has to be installed first. `make help` lists them.

# Warnings are errors in CI. Other presets: see CMakePresets.json.
PRESET ?= $(if $(filter true 1,$(CI)),ci,default)
BUILD_DIR := $(if $(filter default ci,$(PRESET)),build,build/$(PRESET))
PYTHON := build/venv/bin/python

MAKEFLAGS += --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Lets ccache serve precompiled headers, and the next clone in another folder.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros
export CCACHE_BASEDIR ?= $(CURDIR)
# Read by the tests and by the demo.
export KVFUSE_BIN_DIR = $(CURDIR)/$(BUILD_DIR)/bin
export HYPOTHESIS_STORAGE_DIRECTORY = $(CURDIR)/build/hypothesis
# Runs a command with KVFUSE_PTXAS in its environment.
WITH_PTXAS = KVFUSE_PTXAS="$$(scripts/find_ptxas.sh)"

.PHONY: help
help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.* ## /\1\t/p' $(MAKEFILE_LIST) | \
	  while IFS=$$'\t' read -r name text; do \
	    printf '  make %-14s %s\n' "$$name" "$$text"; done

.PHONY: setup
setup: ## install what a build needs (done by the others too)
	@scripts/setup.sh

.PHONY: build
build: setup ## build the tools and the mlir-opt plugin into build/
	@scripts/configure.sh $(PRESET) $(BUILD_DIR)
	@cmake --build $(BUILD_DIR)

.PHONY: demo
demo: build ## one MiniMax-M3 layer: its chain, its one kernel, the same bytes
	@$(WITH_PTXAS) $(PYTHON) examples/minimax_m3_layer/demo.py

.PHONY: check
check: build ## run the tests
	@$(WITH_PTXAS) scripts/check.sh $(BUILD_DIR)

.PHONY: check-long
check-long: build ## run the tests, the long ones too, and clang-tidy
	@KVFUSE_LONG=1 $(WITH_PTXAS) scripts/check.sh $(BUILD_DIR)

.PHONY: mutation-check
mutation-check: build ## break rules of fusion in a copy: do the tests notice?
	@$(WITH_PTXAS) $(PYTHON) scripts/mutation_check.py

.PHONY: gpu-bundle
gpu-bundle: build ## pack kernels, bytes and wheels for a machine with a GPU
	@$(WITH_PTXAS) $(PYTHON) test/Integration/CUDA/make_bundle.py \
	  --out build/gpu-bundle
	@scripts/gpu_wheels.sh $(BUILD_DIR) build/gpu-bundle/wheels

.PHONY: check-gpu
check-gpu: ## run build/gpu-bundle on this machine's GPU
	@scripts/check_gpu.sh

.PHONY: tidy
tidy: build ## run clang-tidy on the sources that differ from origin/main
	@scripts/tidy.sh $(BUILD_DIR) --changed

.PHONY: format
format: setup ## put the format of the C++ sources right
	@scripts/format.sh --fix

.PHONY: docs
docs: setup ## write the generated pages of docs/
	@scripts/docs.sh

.PHONY: clean
clean: ## remove what was built; the Python environment stays
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name venv \
	  -exec rm -rf {} +
