#!/bin/bash
# The wheel of make wheel: what is in it, and its use in bare trees of Debian with Python alone. RELEASES: which ones.
# The example of a DataLoader, without torch and with that of Debian 13. And the wheel of make wheel-arm64, used by
# Debian's Python for aarch64 under qemu-user. make wheel-check runs this script, as root and with the network.
. tests/support/tap.sh
PROGRAM=$(realpath "${LAPEDGE:-./lapedge}")
tools=build/wheel-tools/bin machine=$(uname -m)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wheels=(build/wheels/lapedge-*_"$machine".whl)
wheel=${wheels[0]}
[ -e "$wheel" ] || { skip "the wheel" "not built; run make wheel"; finish; }

# One extension module, which names the C library alone and shows Python's entry alone.
needs_libc_alone()
{
    ! readelf -d "$module" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libm|libdl|librt|libpthread|ld-linux-[a-z0-9-]+)\.so' &&
        [ "$(cd "${module%/lapedge/*}" && find . -path './lapedge*.so*' | wc -l)" -eq 1 ]
}

shows_the_entry_alone()
{
    nm -D --defined-only "$module" | awk '{ print $3 }' | diff - <(echo PyInit__interface)
}

# The C library has functions for each processor; the linker has some of the same names.
copies_by_libc()
{
    nm -D --undefined-only "$module" >"$scratch/wanted" &&
        grep -q ' memcpy@' "$scratch/wanted" && grep -q ' memset@' "$scratch/wanted"
}

runs_on_old_systems()
{
    local floor
    PATH=$PWD/$tools:$PATH auditwheel show "$wheel" >"$scratch/audit" 2>&1 || return
    cat "$scratch/audit"
    floor=$(sed -n 's/.*manylinux_2_\([0-9]*\)_.*/\1/p' "$scratch/audit" | head -n 1)
    [[ $wheel == *-cp39-abi3-manylinux_2_"$floor"_* ]] && [ "$floor" -le 28 ]
}

has_notices_and_parts()
{
    local name information=("${module%/lapedge/*}"/lapedge-*.dist-info)
    cd "${information[0]}" || return
    for name in lapedge libjpeg-turbo libpng1.6 zlib xxhash stb; do
        [ -s "licenses/$name" ] || return
    done
    for name in stb_image_write libjpeg-turbo xxHash libpng zlib; do
        grep -q "\"name\": \"$name\"" sboms/lapedge.spdx.json || return
    done
    # The wheel for aarch64 is built without CUDA.
    [[ $wheel == *_aarch64.whl ]] || grep -q '"name": "CUDA' sboms/lapedge.spdx.json || return
    grep -q "$(sha256sum "$module" | cut -d' ' -f1)" sboms/lapedge.spdx.json
}

# install_into TREE: the wheel and what it depends on, by a pip outside of the tree, for the tree's Python.
install_into()
{
    local number
    number=$(python_in "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])') &&
        rm -rf "$1/lapedge" && mkdir -p "$1/lapedge/photos" &&
        "$tools/pip" install -q --disable-pip-version-check --target "$1/lapedge/modules" --only-binary=:all: \
            --python-version "$number" --platform "manylinux_2_36_$machine" --platform "manylinux_2_28_$machine" \
            --platform "manylinux2014_$machine" --platform "$platform" \
            "$wheel" &&
        cp samples/{astronaut,chelsea}.jpg "$1/lapedge/photos" && cp tests/package/install/wheel.py "$1/lapedge"
}

# python_in TREE ARGUMENTS: its Python, with no PATH. The semaphores of an old C library want a tmpfs.
python_in()
{
    unshare --mount bash -c 'mount -t tmpfs tmpfs "$2/dev/shm" && exec env -i PYTHONPATH=/lapedge/modules "$@"' - \
        "$(command -v chroot)" "$1" /usr/bin/python3 "${@:2}"
}

use_in()
{
    python_in "$1" /lapedge/wheel.py /lapedge/photos fork spawn >"$scratch/said" 2>&1 ||
        { cat "$scratch/said" && return 1; }
}

# dataloader_in TREE: the example of the documents.
dataloader_in()
{
    local method
    cp python/examples/dataloader.py "$1/lapedge" || return
    for method in fork spawn; do
        python_in "$1" /lapedge/dataloader.py /lapedge/photos $method >"$scratch/said" || return
        grep '^2 photos, mean ' "$scratch/said" >"$scratch/$method" || return # torch's libraries have words, too
    done
    cmp "$scratch/fork" "$scratch/spawn"
}

same_as_the_program()
{
    local photo
    for photo in astronaut chelsea; do
        "$PROGRAM" "samples/$photo.jpg" "$scratch/edges.jpg" &&
            cmp "$scratch/edges.jpg" "$1/lapedge/photos/$photo-edges.jpg" &&
            "$PROGRAM" --kernel=identity "samples/$photo.jpg" "$scratch/pixels.ppm" &&
            cmp "$scratch/pixels.ppm" "$1/lapedge/photos/$photo.ppm" || return
    done
}

# what_it_is WHEEL FOLDER [PREFIX]: tests of a wheel that is unpacked in FOLDER.
what_it_is()
{
    wheel=$1 module=$2/lapedge/_interface.abi3.so
    check "${3-}it needs nothing but libc" needs_libc_alone
    check "${3-}it shows Python's entry and nothing of its libraries" shows_the_entry_alone
    check "${3-}it copies memory by the C library's functions" copies_by_libc
    check "${3-}it is for every Python from 3.9, and glibc 2.28 or later" runs_on_old_systems
    check "${3-}notices and a parts list are in it" has_notices_and_parts
}

mkdir "$scratch/wheel"
(cd "$scratch/wheel" && "$OLDPWD/$tools/python" -m zipfile -e "$OLDPWD/$wheel" .)
what_it_is "$wheel" "$scratch/wheel"
platform=${wheel##*abi3-} platform=${platform%.whl}
for release in ${RELEASES:-bullseye bookworm trixie}; do
    tree=build/trees/$release-python
    if ! have debootstrap || [ "$(id -u)" -ne 0 ]; then
        skip "$release" "needs root and debootstrap"
        continue
    fi
    check "$release: a tree with Python alone" tools/test/bare-tree "$release" "$tree" python3
    check "$release: the wheel is installed" install_into "$tree"
    check "$release: the DataLoader's example without torch, by fork and by spawn" dataloader_in "$tree"
    check "$release: it decodes, filters and encodes, also in children; a device is an Error" use_in "$tree"
    sed 's/^/# /' "$scratch/said"
    check "$release: the program's pixels and bytes" same_as_the_program "$tree"
done
if [ "$release" = trixie ] && have debootstrap && [ "$(id -u)" -eq 0 ]; then
    tree=build/trees/trixie-torch
    check "trixie: a tree with torch" tools/test/bare-tree trixie "$tree" python3-torch
    check "trixie: torch is there" python_in "$tree" -c 'import torch'
    check "trixie: the wheel is installed beside it" install_into "$tree"
    check "trixie: torch's DataLoader, by fork and by spawn" dataloader_in "$tree"
fi

# ---- aarch64 ----------------------------------------------------------------------------------------

arm=(build/wheels/lapedge-*_aarch64.whl)
# Debian's Python for aarch64 in a separate folder, with the wheel and its dependencies.
python_for_arm()
{
    local package
    mkdir -p "$scratch/arm/packages" "$scratch/arm/modules" "$scratch/arm/photos"
    (cd "$scratch/arm/packages" && apt-get -qq download python3.11-minimal:arm64 libpython3.11-minimal:arm64 \
        libpython3.11-stdlib:arm64 libffi8:arm64 libexpat1:arm64 zlib1g:arm64 libc6:arm64 libstdc++6:arm64 \
        libgcc-s1:arm64) || return
    for package in "$scratch"/arm/packages/*.deb; do dpkg -x "$package" "$scratch/arm/root" || return; done
    "$tools/pip" install -q --disable-pip-version-check --target "$scratch/arm/modules" --only-binary=:all: \
        --python-version 3.11 --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 \
        --platform "$(sed 's/.*abi3-//; s/\.whl$//' <<<"${arm[0]}")" "${arm[0]}" &&
        cp samples/{astronaut,chelsea}.jpg "$scratch/arm/photos"
}

used_on_arm()
{
    env -i PYTHONHOME=/usr PYTHONPATH="$scratch/arm/modules" "$(command -v qemu-aarch64)" -L "$scratch/arm/root" \
        "$scratch/arm/root/usr/bin/python3.11" tests/package/install/wheel.py "$scratch/arm/photos" fork
}

same_on_arm()
{
    mkdir -p "$scratch/arm/lapedge" && mv "$scratch/arm/photos" "$scratch/arm/lapedge" &&
        same_as_the_program "$scratch/arm"
}

if ! [ -e "${arm[0]}" ] || ! have qemu-aarch64 || ! grep -q '^VERSION_CODENAME=bookworm' /etc/os-release; then
    skip "the wheel for aarch64" "needs make wheel-arm64, qemu-user and Debian 12"
else
    check "aarch64: Debian's Python with the wheel" python_for_arm
    what_it_is "${arm[0]}" "$scratch/arm/modules" "aarch64: "
    check "aarch64: it decodes, filters and encodes, also in a child; a device is an Error" used_on_arm
    check "aarch64: the program's pixels and bytes" same_on_arm
fi
finish
