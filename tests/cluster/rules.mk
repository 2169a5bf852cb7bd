# Several runs into one folder: as shares by hand, under a real Slurm, under a real mpirun.
TESTS += tests/cluster/shares.sh tests/cluster/slurm.sh tests/cluster/mpirun.sh
