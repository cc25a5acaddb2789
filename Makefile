# `make help` lists what there is to make. Everything is found by its place: a new file needs no line here.
#   make CC=clang BUILD=build-clang      another compiler, built elsewhere
#   make OPT=-O0   make LTO=no   make WERROR=yes   make V=1 (shows the commands)

ifeq ($(origin CC),default)
CC := gcc
endif
BUILD ?= build
OPT ?= -O2 -g
# Calls across files are short and many: link-time optimisation is worth 10%. clang would need another linker.
LTO ?= $(if $(findstring clang,$(CC)),no,$(if $(findstring -O2,$(OPT)),yes,no))
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
FUZZ_SECONDS ?= 60
STORM_SECONDS ?= 60
VALGRIND_GROUPS ?= tests/unit/
ifeq ($(MAKELEVEL),0)
ifeq ($(filter -j% --jobs%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(JOBS)
endif
endif

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef \
            -Wwrite-strings $(if $(filter yes,$(WERROR)),-Werror)
# No fused multiply-add: a result must not depend on the processor.
LANGUAGE := -std=c11 -D_GNU_SOURCE -ffp-contract=off -I.
FLAVOUR := $(OPT) $(if $(filter yes,$(LTO)),-flto=auto) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer) \
           $(if $(filter yes,$(COVERAGE)),--coverage)
COMPILE := $(CC) $(CPPFLAGS) $(LANGUAGE) $(WARNINGS) $(FLAVOUR) $(CFLAGS)
LIBRARIES := -lgsl -lgslcblas -linih -ljansson -lm
LINK := $(CC) $(FLAVOUR) $(CFLAGS) $(LDFLAGS)
say = $(if $(V),,@echo '  $(1)' $(patsubst $(BUILD)/%,%,$@);)

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
MAIN := sim/cli/main.c
GROUPS := $(wildcard $(foreach d,unit conform schedules golden long,tests/$(d)/test_*.c))
TESTS := $(wildcard $(foreach d,support unit conform schedules golden long,tests/$(d)/*.c))
BENCHES := $(wildcard bench/*.c)
BENCH_PROGRAMS := $(BENCHES:%.c=$(BUILD)/%)
FUZZERS := $(wildcard tests/fuzz/fuzz_*.c)
COMMON := $(call objects,$(filter-out $(MAIN),$(wildcard sim/*/*.c workloads/*.c)))
TEST_OBJECTS := $(call objects,$(TESTS)) $(BUILD)/tests/groups.o $(BUILD)/tests/tutorial.o
CLANG_FORMAT_FILES = $(wildcard sim/*/*.[ch] workloads/*.[ch] bench/*.[ch] tests/*/*.[ch])

.PHONY: all
all: $(BUILD)/ccsim ## build the program (the default)

.PHONY: demo
demo: ## install what is missing, build, run the hot row and draw its figure
	@scripts/setup.sh build
	@+$(MAKE) --no-print-directory all
	$(BUILD)/ccsim run configs/hot_row.ini
	@for figure in results/hot_row/*.svg; do \
	    test -e "$$figure" && echo "figure: $$figure" || { echo "no figure in results/hot_row" >&2; exit 3; }; done

.PHONY: test check-long
test check-long: ## install what is missing, build, run all that must hold (check-long: what takes longer, too)
	@scripts/setup.sh test
	@+$(MAKE) --no-print-directory programs
	@CCSIM_LONG=$(if $(filter check-long,$@),1) scripts/test.sh $(BUILD) $(JOBS)

.PHONY: programs runner
programs: $(BUILD)/ccsim $(BUILD)/ccsim_tests
runner: $(BUILD)/ccsim $(BUILD)/ccsim_tests
	$(BUILD)/ccsim_tests -j $(JOBS)

.PHONY: lint format
lint: ## layers, headers alone, lengths, banned calls, registries, clang-tidy, cppcheck, shellcheck
	@scripts/lint.sh
format: ## lay the sources out as .clang-format says
	clang-format -i $(CLANG_FORMAT_FILES)

.PHONY: asan ubsan valgrind cover
asan: ## the cmocka tests under AddressSanitizer
	@+$(MAKE) --no-print-directory BUILD=build-asan SANITIZE=address OPT='-O1 -g' runner
ubsan: ## the cmocka tests under UndefinedBehaviorSanitizer
	@+$(MAKE) --no-print-directory BUILD=build-ubsan SANITIZE=undefined OPT='-O1 -g -fno-sanitize-recover=all' runner
valgrind: programs ## the unit tests under valgrind (VALGRIND_GROUPS=tests/conform/ for others)
	valgrind -q --leak-check=full --error-exitcode=9 $(BUILD)/ccsim_tests -j $(JOBS) $(VALGRIND_GROUPS)
cover: ## which lines the tests reach: build-cover/coverage.html
	@+$(MAKE) --no-print-directory BUILD=build-cover COVERAGE=yes OPT='-O0 -g' programs
	@scripts/test.sh build-cover $(JOBS)
	gcovr -r . --filter sim/ --filter workloads/ --html-details build-cover/coverage.html --print-summary build-cover

.PHONY: fuzz fuzzers storm bench figures gallery
fuzzers: $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(FUZZERS))
fuzz: ## feed the parsers with what libFuzzer makes up (FUZZ_SECONDS=60 each)
	@+$(MAKE) --no-print-directory BUILD=build-fuzz CC=clang SANITIZE=fuzzer-no-link,address,undefined OPT='-O1 -g' fuzzers
	@set -e; for name in $(basename $(notdir $(FUZZERS))); do mkdir -p build-fuzz/corpus/$$name; \
	    build-fuzz/$$name -max_total_time=$(FUZZ_SECONDS) -timeout=20 -artifact_prefix=build-fuzz/$$name- \
	        build-fuzz/corpus/$$name $(wildcard tests/fuzz/corpus); done
storm: all ## random worlds through every algorithm until time is up (STORM_SECONDS=60)
	$(BUILD)/ccsim storm --seconds $(STORM_SECONDS)
bench: all $(BENCH_PROGRAMS) ## how fast the simulator is, against the floor of its model
	@$(firstword $(wildcard bench/bench.sh scripts/bench.sh)) $(BUILD)
figures: all ## run every experiment of configs/ and draw its figures, as svg and png
	@set -e; for config in $(wildcard configs/*.ini); do echo "== $$config"; $(BUILD)/ccsim run $$config; \
	    $(BUILD)/ccsim plot results/$$(basename $$config .ini) --format png; done
	@set -e; for config in $(wildcard configs/trace/*.ini); do echo "== $$config"; $(BUILD)/ccsim trace $$config; done
gallery: figures ## the pictures of docs/gallery.md anew
	@set -e; sed -n 's|.*(gallery/\([a-z0-9_]*\)-\([a-z0-9_]*\)\.svg).*|\1 \2|p' docs/gallery.md | \
	    while read -r stem figure; do cp results/$$stem/$$figure.svg docs/gallery/$$stem-$$figure.svg; done

.PHONY: check-cluster
check-cluster: all ## the launchers of docs/cluster.md (Slurm, GNU parallel, MPI), for real; as root
	@scripts/setup.sh cluster
	@scripts/cluster/check.sh $(BUILD)

.PHONY: golden determinism
golden: all ## write the golden CSVs anew: only when the simulator is meant to say something else
	@for config in tests/golden/*.ini; do \
	    $(BUILD)/ccsim run $$config -o $(BUILD)/golden --no-plot --quiet --fresh 2>/dev/null; [ $$? -le 1 ] || exit 1; \
	    cp $(BUILD)/golden/runs.csv $${config%.ini}.csv; done
determinism: ## one SHA-256 for both compilers, -O0 and -O3, any number of workers, without FMA and AVX2
	@scripts/determinism.sh

.PHONY: docs install clean help
docs: all ## print docs/OPTIONS.md and docs/METRICS.md from the program's own tables
	$(BUILD)/ccsim help --options-markdown > $(BUILD)/OPTIONS.md && cp $(BUILD)/OPTIONS.md docs/OPTIONS.md
	$(BUILD)/ccsim help --metrics-markdown > $(BUILD)/METRICS.md && cp $(BUILD)/METRICS.md docs/METRICS.md
install: all $(BUILD)/ccsim.1 ## install program and man page under PREFIX=/usr/local
	install -D -m 755 $(BUILD)/ccsim $(DESTDIR)$(PREFIX)/bin/ccsim
	install -D -m 644 $(BUILD)/ccsim.1 $(DESTDIR)$(PREFIX)/share/man/man1/ccsim.1
clean: ## remove everything that was built, results not
	rm -rf build build-*/ $(BUILD)
help: ## this list
	@sed -n 's/^\([a-z][a-z -]*\):[^#]*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name text; do \
	    printf '  %-16s %s\n' "$$name" "$$text"; done

$(BUILD)/ccsim: $(call objects,$(MAIN)) $(COMMON) $(BUILD)/objects
	$(call say,link)$(LINK) -o $@ $(filter %.o,$^) $(LIBRARIES)
$(BUILD)/ccsim_tests: $(TEST_OBJECTS) $(COMMON) $(BUILD)/objects
	$(call say,link)$(LINK) -o $@ $(filter %.o,$^) -lcmocka $(LIBRARIES)
$(BENCH_PROGRAMS): %: %.o $(COMMON) $(BUILD)/objects
	$(call say,link)$(LINK) -o $@ $(filter %.o,$^) $(LIBRARIES)
$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(COMMON)
	$(call say,link)$(LINK) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(LIBRARIES)
$(BUILD)/ccsim.1: $(BUILD)/ccsim
	help2man --no-info --name='simulator for the concurrency control of databases' --output=$@ $<

$(BUILD)/%.o: %.c $(BUILD)/flags | $(BUILD)/libraries
	@mkdir -p $(@D)
	$(call say,compile)$(COMPILE) $(DEFINE) -MMD -MP -c -o $@ $<
$(BUILD)/tests/groups.o $(BUILD)/tests/tutorial.o: %.o: %.c $(BUILD)/flags
	$(call say,compile)$(COMPILE) -MMD -MP -c -o $@ $<
$(TEST_OBJECTS): private DEFINE := -DCCSIM_BUILD_DIR='"$(BUILD)"'
$(TEST_OBJECTS): | $(BUILD)/libraries-test

# Written anew only when the content changes, so that other flags or a file less rebuild what they must.
remember = @mkdir -p $(@D); printf '%s\n' $(1) > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
.SECONDARY:
.PHONY: force
force:
$(BUILD)/flags: force
	$(call remember,'$(COMPILE) $(LDFLAGS)')
$(BUILD)/objects: force
	$(call remember,$(COMMON) $(TEST_OBJECTS))
$(BUILD)/tests/groups.c: force
	@mkdir -p $(@D); scripts/test_groups.sh $(GROUPS) > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(BUILD)/tests/tutorial.c: docs/tutorial.md scripts/doc_blocks.awk # the algorithm that the tutorial writes
	@mkdir -p $(@D); awk -v kind=c -f scripts/doc_blocks.awk $< > $@
$(BUILD)/libraries: scripts/need.sh $(BUILD)/flags
	@scripts/need.sh build $(CC) gsl/gsl_rng.h ini.h jansson.h uthash.h && touch $@
$(BUILD)/libraries-test: scripts/need.sh $(BUILD)/flags
	@scripts/need.sh test $(CC) cmocka.h && touch $@

-include $(patsubst %.o,%.d,$(COMMON) $(TEST_OBJECTS) $(call objects,$(MAIN) $(BENCHES) $(FUZZERS)))
