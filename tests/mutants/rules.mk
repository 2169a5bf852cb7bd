## mutants: plants one fault after the other and runs the tests; MUTANTS='600 --seed=1', MUTANTS=--planted
MUTANTS ?= 60
.PHONY: mutants
mutants:
	@tools/mutants $(MUTANTS)
