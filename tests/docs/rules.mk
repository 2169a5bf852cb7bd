TESTS += tests/docs/docs.sh tests/docs/kernels.py

# What tools/measure/cpu and tools/measure/gpu have written, into the documents.
.PHONY: docs-figures
## docs-figures: update tables, numbers, charts and drawings of the documents, and the manual's options
docs-figures:
	@python3 tools/figures/figures_data.py
	@tools/figures/ladder-table --into README.md ladder docs/bench/ladder-cpu.json docs/profile/times.json
	@tools/figures/ladder-chart --svg docs/profile/times.json > docs/img/ladder-gpu.svg.new
	@mv docs/img/ladder-gpu.svg.new docs/img/ladder-gpu.svg
	@tools/figures/timeline docs/profile/folders-trace.json > docs/img/folder-timeline.svg.new
	@mv docs/img/folder-timeline.svg.new docs/img/folder-timeline.svg
	@tools/figures/diagrams
	@tools/figures/manual ./lapedge --write
	@tools/figures/fill $(sort $(wildcard docs/*.md)) README.md CONTRIBUTING.md
