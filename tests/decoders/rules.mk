TESTS += tests/decoders/decoders.py
