TESTS += tests/docs/docs.sh
