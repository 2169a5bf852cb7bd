# The examples of the site, the site and its playground (tools/figures/site.mk): what these are made of does not depend
# on the compiler, so once is enough.
ifeq ($(B),build)
TESTS += tests/docs/site/examples.py tests/docs/site/site.py tests/docs/site/playground.py
tests/docs/site/examples.py: $(B)/python/.built
endif
