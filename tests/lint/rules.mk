TESTS += tests/lint/lint.sh
