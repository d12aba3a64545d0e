#!/usr/bin/env bash
# What the browser tests of tests/ui need besides Python: Chromium, and axe-core (the accessibility checker).
# Installs what is missing where this machine can: Debian packages as root, axe-core by npm into $1 (.venv/axe).
# Never fails: where something cannot be had, the tests that need it are skipped and say why.
set -uo pipefail
into="${1:-.venv/axe}"
axe="axe-core@4.14.0"

if ! command -v chromium >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing chromium for the browser tests, once"
        (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            chromium fonts-dejavu-core) >/dev/null 2>&1 || echo "chromium could not be installed: the browser tests are skipped"
    else
        echo "no chromium, and no way to install it here: the browser tests are skipped"
    fi
fi
if [ ! -f "$into/node_modules/axe-core/axe.min.js" ]; then
    if command -v npm >/dev/null; then
        npm install --prefix "$into" --silent --no-audit --no-fund --no-save --ignore-scripts "$axe" >/dev/null 2>&1 ||
            echo "axe-core could not be installed: its test is skipped"
    else
        echo "no npm, so no axe-core: its test is skipped"
    fi
fi
exit 0
