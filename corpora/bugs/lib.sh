# shellcheck shell=bash
# lib.sh: what the recipes of real bugs share; sourced, never run. README.md has the contract.
#
# A recipe is given OUT (an empty directory), CACHE (sources that were fetched) and TAKE (take-core); `OUT=DIR ./recipe` runs one alone.
# Sources come through npm and apt as they are set up here, in states of their own: nothing of the system is written.

set -euo pipefail
shopt -s inherit_errexit # what fails in $(…) ends the recipe

BUG_HERE=$(cd "$(dirname "$0")" && pwd)
BUG_CORPORA=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/xcore/sources}
TAKE=${TAKE:-$BUG_CORPORA/take-core}
: "${OUT:?OUT=DIRECTORY is missing}"
mkdir -p "$OUT" "$CACHE"
OUT=$(cd "$OUT" && pwd)
export BUG_HERE

bug_die() { echo "$*" >&2 && exit 1; }
# The source is not to be had here: the last line tells why.
bug_skip() { echo "$*" >&2 && exit 3; }

# bug_alone NAME COMMAND…: runs the command when no other recipe runs one of this name.
bug_alone() (
	exec 7>"$CACHE/lock.$1"
	flock 7
	"${@:2}"
)

# bug_is FILE SHA256
bug_is() { [ -s "$1" ] && [ "$(sha256sum <"$1" | cut -d' ' -f1)" = "$2" ]; }

# bug_keep FILE SHA256: a fetched file goes to the cache; prints where it is.
bug_keep() {
	bug_is "$1" "$2" || bug_die "$(basename "$1") is not what is wanted: sha256 $(sha256sum <"$1" | cut -d' ' -f1)"
	mv -f "$1" "$CACHE/"
	echo "$CACHE/$(basename "$1")"
}

# bug_npm PACKAGE@VERSION SHA256: prints the path of the package's archive.
bug_npm() {
	local at file name
	name=$(tr -d @ <<<"${1%@*}" | tr / -)-${1##*@}.tgz # as npm names it
	! bug_is "$CACHE/$name" "$2" || { echo "$CACHE/$name" && return; }
	command -v npm >/dev/null || bug_skip "there is no npm here to fetch $1 with"
	at=$(mktemp -d "$CACHE/fetch.XXXXXX")
	file=$(cd "$at" && npm pack --silent "$1" 2>"$at/said") || { rm -r "$at" && bug_skip "cannot fetch $1 with npm"; }
	[ "$file" = "$name" ] || bug_die "npm made $file of $1"
	bug_keep "$at/$name" "$2"
	rm -r "$at"
}

# bug_debian RELEASE PACKAGE FILE SHA256: upstream's archive of that release's source package (pack_1.2.orig.tar.xz), without
# Debian's patches; prints its path. A release moves on: when the version is no longer there, the bug is skipped.
bug_debian() {
	! bug_is "$CACHE/$3" "$4" || { echo "$CACHE/$3" && return; }
	command -v apt-get >/dev/null || bug_skip "there is no apt here to fetch $2 with"
	bug_alone "$2" bug_fetch_debian "$@" >&2
	echo "$CACHE/$3"
}

bug_fetch_debian() (
	local part
	! bug_is "$CACHE/$3" "$4" || exit 0 # another recipe has fetched it meanwhile
	# shellcheck source=SCRIPTDIR/../recipes/lib.sh disable=SC1091
	. "$BUG_CORPORA/recipes/lib.sh"
	# shellcheck source=SCRIPTDIR/../releases.sh disable=SC1091
	. "$BUG_CORPORA/releases.sh"
	# shellcheck disable=SC2034
	RC_NAME=$2
	mkdir -p "$RC_CACHE"
	exec 9>"$RC_CACHE/lock"
	flock -w 900 9 || bug_skip "the package lists are in use"
	other_release "$1"
	rc_apt_ready
	rm -rf "$CACHE/fetch.$2"
	mkdir -p "$CACHE/fetch.$2"
	cd "$CACHE/fetch.$2"
	case $3 in *.orig.tar.*) part=--tar-only ;; *) part=--download-only ;; esac # of an old release, the mirror may have lost Debian's part
	rc_apt source --download-only "$part" --only-source "$2" || bug_skip "cannot fetch the source of $2 of $1"
	[ -e "$3" ] || bug_skip "$1 has $(ls), no longer $3"
	bug_keep "$3" "$4"
	rm -r "$CACHE/fetch.$2"
)

# bug_unpack DIR COMMAND…: the archive whose path the command prints, without the archive's own top directory.
bug_unpack() {
	local archive
	archive=$("${@:2}")
	mkdir -p "$1"
	tar -xf "$archive" -C "$1" --strip-components=1
}

# bug_take [TAKE-CORE-OPTION…] -- PROGRAM ARGS…: runs it until it dies, and keeps its core.
bug_take() { "$TAKE" --timeout 60 --log "$OUT/output" --out "$OUT/core" "$@"; }
