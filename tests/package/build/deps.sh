#!/bin/bash
# tools/install-deps: lists, refuses, and has nothing to do where all is there.
. tests/support/tap.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

refuses()
{
    local status=0
    tools/install-deps nonsense >/dev/null 2>"$scratch/said" || status=$?
    [ $status -eq 2 ] && grep -q nonsense "$scratch/said"
}

# As on a system without dpkg and apt: only the shell's own tools are on the path.
elsewhere()
{
    local status=0 tool
    mkdir "$scratch/bin"
    for tool in sh cat id uname; do
        ln -s "$(command -v "$tool")" "$scratch/bin/$tool"
    done
    PATH=$scratch/bin tools/install-deps >"$scratch/said" 2>&1 || status=$?
    cat "$scratch/said"
    [ $status -eq 1 ] && grep -q 'libjpeg-turbo' "$scratch/said"
}

# As on a fresh Debian: nothing is installed, and there are neither root nor sudo.
powerless()
{
    local status=0
    rm "$scratch/bin/id"
    ln -s "$(command -v sed)" "$scratch/bin/sed"
    printf '#!/bin/sh\nexit 1\n' | tee "$scratch/bin/dpkg-query" >"$scratch/bin/apt-get"
    printf '#!/bin/sh\necho 1000\n' >"$scratch/bin/id"
    chmod +x "$scratch"/bin/{dpkg-query,apt-get,id}
    PATH=$scratch/bin tools/install-deps build >"$scratch/said" 2>&1 || status=$?
    cat "$scratch/said"
    [ $status -eq 1 ] && grep -q 'neither root nor sudo.*libjpeg-dev' "$scratch/said"
}

# Each of debian/control's build dependencies, or one of its alternatives.
builds_packages()
{
    tools/install-deps --list build packages | sort >"$scratch/listed"
    sed -n '/^Build-Depends:/,/^[A-Z][A-Za-z-]*:/{/^Build-Depends:\|^ /p}' debian/control | sed 's/^Build-Depends://' |
        tr ',' '\n' | sed 's/([^)]*)//g; s/<[^>]*>//g; s/:any//g; s/debhelper-compat/debhelper/; s/ //g; /^$/d' |
        while IFS= read -r names; do
            tr '|' '\n' <<<"$names" | grep -qxFf - "$scratch/listed" || { echo "$names"; exit 1; }
        done
}

check "make deb installs what debian/control builds with" builds_packages
check "--list names the packages" bash -c 'tools/install-deps --list build | grep -qx libjpeg-dev'
check "an unknown argument is refused" refuses
check "other systems get a list of what to install" elsewhere
check "without root and sudo it says what is missing" powerless
finish
