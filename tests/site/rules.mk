# The examples of the site, the site and its playground (tools/site.mk): what these are made of does not depend on the
# compiler, so once is enough.
ifeq ($(B),build)
TESTS += tests/site/examples.py tests/site/site.py tests/site/playground.py
tests/site/examples.py: $(B)/python/.built
endif
