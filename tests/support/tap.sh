# Sourced by the shell tests: TAP in a few words. Run from the root of the repository.
# shellcheck shell=bash
set -u
tap_count=0
tap_bad=0

# check NAME COMMAND...: passes if the command does; its output is shown only if it fails.
check()
{
    local name=$1 output
    shift
    tap_count=$((tap_count + 1))
    if output=$("$@" 2>&1); then
        echo "ok $tap_count - $name"
    else
        tap_bad=$((tap_bad + 1))
        echo "not ok $tap_count - $name"
        printf '%s\n' "$output" | tail -n 40 | sed 's/^/# /'
    fi
}

# skip NAME REASON
skip()
{
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

have()
{
    command -v "$1" >/dev/null
}

# The last line of a test script.
finish()
{
    echo "1..$tap_count"
    exit $((tap_bad > 0))
}
