#!/bin/bash
# --shard=auto under a real mpirun (Open MPI).
. tests/cli/cluster/cluster.bash
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# mpi COMMAND...: four ranks on this machine, however few its cores.
mpi()
{
    local root=()
    [ "$(id -u)" -ne 0 ] || root=(--allow-run-as-root)
    TMPDIR=$scratch timeout -k 5 200 mpirun "${root[@]}" --oversubscribe -n 4 "$@" </dev/null
}

ranks()
{
    mpi "$LAPEDGE" -q --no-sync --shard=auto "$scratch/photos" "$scratch/mpi" && complete "$scratch/mpi" 4
}

lacking=$(missing mpirun)
if [ -z "$lacking" ] && ! mpi true >"$scratch/why" 2>&1; then
    lacking="mpirun does not start here: $(grep -m 1 '[a-z]' "$scratch/why")"
fi
if [ -n "$lacking" ]; then
    skip "four ranks of mpirun share a folder" "$lacking"
    finish
fi
check "60 photos, and a single run over them" make_photos
check "four ranks of mpirun share a folder" ranks
if [ -x "$with_devices" ]; then
    check "and two devices" devices_are_shared mpi
else
    skip "and two devices" "no CPU runtime for CUDA"
fi
finish
