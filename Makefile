PYTHON ?= python3
PORT ?= 8000

venv_python = .venv/bin/python
# A process for each core; the tests of one file stay together.
pytest = $(venv_python) -m pytest -q
at_once = -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder

.PHONY: help serve test slow changed new import check fix agree rename status export facts build booklet bench \
  record assertions calibration runs lint format tools ready
.DEFAULT_GOAL := help

help:
	@echo 'make serve              the site at localhost:8000, live (PORT=9000 for another port)'
	@echo 'make test               every test, every block and figure of every page'
	@echo 'make test DEVICE=cuda   the same with the blocks on a GPU (DEVICE=cpu: on the CPU only)'
	@echo 'make slow               what takes longer: training, the built site in Chromium'
	@echo 'make changed            what your changes since main can break, of a page in two minutes'
	@echo 'make build              the site in site/, once every page is verified; with offline.zip'
	@echo 'make booklet            the course and the short answers as EPUB and PDF, in .cache/booklet'
	@echo
	@echo 'make new PAGE=... Q=...  a short page to begin with, after showing what perhaps answers it'
	@echo 'make import LOG=...     a draft for each question of a chat, exported or pasted'
	@echo 'make check PAGE=...     one page in both languages, as in PAGE=alignment/value_before_token'
	@echo 'make fix PAGE=...       mend what a machine can; both without PAGE: what you changed'
	@echo 'make agree PAGE=...     record that a page now says the same in both languages'
	@echo 'make rename PAGE=... TO=...  a page under a new name, with all that names it'
	@echo 'make status             what waits for somebody'
	@echo 'make export PAGE=...    a page as a chat log'
	@echo 'make facts TO="verl 0.9.2"     move facts and pages to a new release; says what to read'
	@echo
	@echo 'make bench              speed beside verl and others, growth, and a training run (ARGS=--quick: a look)'
	@echo 'make record             run the pages on a GPU and note the run in docs/verified/gpu.yml'
	@echo 'make assertions         change the code of every page; note what its assertions notice'
	@echo 'make calibration        how often the log doctor is right, on simulated runs'
	@echo 'make runs               produce the stored training runs that are stale, draw their charts'
	@echo 'make lint, make format  style and types; mend the style'
	@echo 'make tools              what only the slow tests need (ARGS=browser, transformers, smollm2, verl)'

serve: ready
	@$(venv_python) -m site_tools.build.serve --port "$(PORT)"

test: ready
	@$(pytest) $(at_once) -m "not slow" --device "$(or $(DEVICE),cpu)" $(ARGS)
ifndef DEVICE
	@if $(venv_python) -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then \
	  echo 'There is a GPU: every page once more, on it.'; \
	  $(pytest) docs --device cuda; \
	fi
endif

slow: ready
	@$(pytest) $(at_once) -m slow $(or $(ARGS),tests)

changed: ready
	@$(venv_python) -m tests.changed $(ARGS)

# What is typed behind these, in small letters too, reaches the command as it is, quotes
# and all; ARGS="--yes" and the like are for its options.
override Q := $(or $(value Q),$(value q))
override PAGE := $(or $(value PAGE),$(value page))
override LOG := $(or $(value LOG),$(value log))
override TO := $(or $(value TO),$(value to))
override FACTS := $(or $(value TO),$(value to),$(value FACTS),$(value facts))
export Q PAGE LOG TO FACTS

new: ready
	@$(venv_python) -m site_tools new "$$PAGE" --question "$$Q" $(ARGS)

import: ready
	@$(venv_python) -m site_tools import "$$LOG" $(ARGS)

rename: ready
	@$(venv_python) -m site_tools rename "$$PAGE" "$$TO" $(ARGS)

check fix agree status export: ready
	@$(venv_python) -m site_tools $@ $$PAGE $(ARGS)

facts: ready
	@$(venv_python) -m site_tools facts $$FACTS $(ARGS)

build: export NO_MKDOCS_2_WARNING = 1
build: ready
	@pages=$$($(venv_python) -m site_tools.run.passed) && \
	  { test -z "$$pages" || $(pytest) $(at_once) $$pages; }
	@$(venv_python) -m site_tools.build.publish

booklet: ready
	@$(venv_python) -m site_tools.booklet.make

bench: ready
	@$(venv_python) -m bench $(ARGS)

record: ready
	@$(venv_python) -m tests.record

assertions: ready
	@$(venv_python) -m tests.record_assertions

calibration: ready
	@$(venv_python) -m tests.check.doctor.calibration

runs: ready
	@$(venv_python) -m site_tools.stored_runs.make

lint: ready
	@$(venv_python) -m ruff check
	@$(venv_python) -m ruff format --check
	@$(venv_python) -m mypy

format: ready
	@$(venv_python) -m ruff check --fix
	@$(venv_python) -m ruff format

tools: ready
	@$(venv_python) pins/install.py --tools $(ARGS)

ready:
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo 'This project needs Python 3.11 or newer, found no $(PYTHON); install it, or set PYTHON, as in: make test PYTHON=/path/to/python3.12.'; \
	  exit 1; }
	@"$(PYTHON)" pins/install.py $(if $(filter ready,$(MAKECMDGOALS)),--again)
