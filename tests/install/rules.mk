# Installation into a scratch folder, the example through pkg-config, the program that needs only libc.
ifeq ($(SAN),)
TESTS += tests/install/install.sh tests/install/portable.sh
endif
