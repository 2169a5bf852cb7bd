TESTS += tests/docs/docs.sh

# What tools/measure-cpu and tools/measure-gpu have written, into the documents.
.PHONY: docs-figures
## docs-figures: tables, numbers, charts and drawings of the documents anew, from docs/bench and docs/profile
docs-figures:
	@python3 tools/figures_data.py
	@tools/ladder-table --into README.md ladder docs/bench/ladder-cpu.json docs/profile/times.json
	@tools/ladder-chart --svg docs/profile/times.json > docs/img/ladder-gpu.svg.new
	@mv docs/img/ladder-gpu.svg.new docs/img/ladder-gpu.svg
	@tools/timeline docs/profile/folders-trace.json > docs/img/folder-timeline.svg.new
	@mv docs/img/folder-timeline.svg.new docs/img/folder-timeline.svg
	@tools/diagrams
	@tools/figures $(sort $(wildcard docs/*.md)) README.md CONTRIBUTING.md

# The exercises of docs/course.md: make exercise-1 PITCH=65
exercise-3: $(B)/tests/cudacpu_races_ops
exercise-4: $(B)/tests/cudacpu_ops
exercise-%: FORCE
	@B=$(B) bash tests/docs/exercise.sh $* $(if $(PITCH),PITCH=$(PITCH)) $(if $(ANSWER),ANSWER=$(ANSWER)) $(if $(LEAST),LEAST=$(LEAST))
