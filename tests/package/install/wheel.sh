#!/bin/bash
# The wheel of make wheel: what is in it, and its use in bare trees of Debian with Python alone. RELEASES: which ones.
# And the wheel of make wheel-arm64, used by Debian's Python for aarch64 under qemu-user. make wheel-check runs this
# script, as root and with the network.
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
        [ "$(find "$scratch/wheel" -name '*.so*' | wc -l)" -eq 1 ]
}

shows_the_entry_alone()
{
    nm -D --defined-only "$module" | awk '{ print $3 }' | diff - <(echo PyInit__interface)
}

runs_on_old_systems()
{
    local floor
    PATH=$PWD/$tools:$PATH auditwheel show "$wheel" >"$scratch/audit" 2>&1 || return
    cat "$scratch/audit"
    floor=$(sed -n 's/.*manylinux_2_\([0-9]*\)_.*/\1/p' "$scratch/audit" | head -n 1)
    [[ $wheel == *-cp39-abi3-manylinux_2_"$floor"_* ]] && [ "$floor" -le 36 ]
}

has_notices_and_parts()
{
    local name information=("$scratch"/wheel/lapedge-*.dist-info)
    cd "${information[0]}" || return
    for name in lapedge libjpeg-turbo libpng1.6 zlib jansson xxhash stb; do
        [ -s "licenses/$name" ] || return
    done
    grep -q "$(sha256sum "$module" | cut -d' ' -f1)" sboms/lapedge.spdx.json &&
        [ "$(grep -c '"CONTAINS"' sboms/lapedge.spdx.json)" -ge 6 ]
}

# install_into TREE: the wheel and what it depends on, by a pip outside of the tree, for the tree's Python.
install_into()
{
    local number
    number=$(chroot "$1" /usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') &&
        rm -rf "$1/lapedge" && mkdir -p "$1/lapedge/photos" &&
        "$tools/pip" install -q --disable-pip-version-check --target "$1/lapedge/modules" --only-binary=:all: \
            --python-version "$number" --platform "manylinux_2_36_$machine" --platform "manylinux_2_28_$machine" \
            --platform "manylinux2014_$machine" --platform "$platform" \
            "$wheel" &&
        cp samples/{astronaut,chelsea}.jpg "$1/lapedge/photos" && cp tests/package/install/wheel.py "$1/lapedge"
}

use_in()
{
    env -i PYTHONPATH=/lapedge/modules "$(command -v chroot)" "$1" /usr/bin/python3 /lapedge/wheel.py /lapedge/photos \
        fork spawn >"$scratch/said" 2>&1 ||
        { cat "$scratch/said" && return 1; }
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

mkdir "$scratch/wheel"
(cd "$scratch/wheel" && "$OLDPWD/$tools/python" -m zipfile -e "$OLDPWD/$wheel" .)
module=$scratch/wheel/lapedge/_interface.abi3.so
platform=${wheel##*abi3-} platform=${platform%.whl}
check "it needs nothing but libc" needs_libc_alone
check "it shows Python's entry and nothing of its libraries" shows_the_entry_alone
check "it is for every Python from 3.9, and glibc 2.36 or older" runs_on_old_systems
check "notices and a parts list are in it" has_notices_and_parts
for release in ${RELEASES:-bookworm trixie}; do
    tree=build/trees/$release-python
    if ! have debootstrap || [ "$(id -u)" -ne 0 ]; then
        skip "$release" "needs root and debootstrap"
        continue
    fi
    check "$release: a tree with Python alone" tools/test/bare-tree "$release" "$tree" python3
    check "$release: the wheel is installed" install_into "$tree"
    check "$release: it decodes and filters, in children, too; without a driver a device is an Error" use_in "$tree"
    sed 's/^/# /' "$scratch/said"
    check "$release: the program's pixels and bytes" same_as_the_program "$tree"
done

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
    check "aarch64: it decodes and filters, in a child, too; a device is an Error" used_on_arm
    check "aarch64: the program's pixels and bytes" same_on_arm
fi
finish
