TESTS += tests/fuzz/decoders/decoders.py
