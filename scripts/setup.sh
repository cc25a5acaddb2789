#!/bin/bash
# Installs what is missing, and nothing else: quick when all is there.
#   setup.sh build      what building, running and plotting need
#   setup.sh test       also what the tests and the linters need
#   setup.sh cluster    what building and checking the launchers of docs/cluster.md need
# Works as root or through sudo. Asks first when a person is at the terminal.
set -eu

build=(gcc libc6-dev make libgsl-dev libinih-dev libjansson-dev uthash-dev gnuplot-nox fonts-dejavu-core help2man)
test=(libcmocka-dev bats datamash miller shellcheck clang clang-tidy clang-format cppcheck valgrind gcovr graphviz
    libclang-rt-dev)
cluster=(slurm-wlm munge parallel openmpi-bin mpich)

case "${1-}" in
build) wanted=("${build[@]}") ;;
test) wanted=("${build[@]}" "${test[@]}") ;;
cluster) wanted=("${build[@]}" "${cluster[@]}") ;;
*)
    echo "usage: scripts/setup.sh build|test|cluster" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "setup.sh knows Debian's packages only; here, see to the counterparts of: ${wanted[*]}" >&2
    exit 0
fi

installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
    grep -qx "installed $package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "missing: ${missing[*]}" >&2
        echo "not root, and no sudo here; as root: apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    root=(sudo)
fi

echo "missing: ${missing[*]}" >&2
if [ -t 0 ] && [ -t 2 ]; then
    read -r -p "install with apt-get? [Y/n] " answer || answer=n
    case "$answer" in
    '' | [Yy]*) ;;
    *)
        echo "nothing installed; later: scripts/setup.sh $1" >&2
        exit 1
        ;;
    esac
fi

apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
"${apt[@]}" update >&2 || echo "the lists of packages could not be renewed; trying with the old ones" >&2
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2
