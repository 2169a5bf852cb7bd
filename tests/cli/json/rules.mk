# What --json prints, against docs/schema; skips where Debian's python3-jsonschema is missing.
TESTS += tests/cli/json/schemas.py
