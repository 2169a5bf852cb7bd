# Several runs into one folder: as shares by hand, under a real Slurm, under a real mpirun.
TESTS += tests/cli/cluster/shares.sh tests/cli/cluster/slurm.sh tests/cli/cluster/mpirun.sh
