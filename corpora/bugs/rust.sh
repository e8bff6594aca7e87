# shellcheck shell=bash
# rust.sh: crates of old versions, as Debian's development packages carry their source.
# shellcheck source=SCRIPTDIR/lib.sh disable=SC1091
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# bug_crate RELEASE FILE SHA256 DIR: unpacks a librust-*-dev package; prints where the crate's source is.
bug_crate() {
	bug_is "$CACHE/$2" "$3" || bug_alone "${2%%_*}" bug_fetch_crate "$@" >&2
	dpkg-deb -x "$CACHE/$2" "$4"
	echo "$4"/usr/share/cargo/registry/*
}

bug_fetch_crate() (
	package=${2%%_*}
	! bug_is "$CACHE/$2" "$3" || exit 0 # another recipe has fetched it meanwhile
	command -v apt-get >/dev/null || bug_skip "there is no apt here to fetch $package with"
	# shellcheck source=SCRIPTDIR/../recipes/lib.sh disable=SC1091
	. "$BUG_CORPORA/recipes/lib.sh"
	# shellcheck source=SCRIPTDIR/../releases.sh disable=SC1091
	. "$BUG_CORPORA/releases.sh"
	# shellcheck disable=SC2034
	RC_NAME=$package
	mkdir -p "$RC_CACHE" "$CACHE/fetch.$package"
	exec 9>"$RC_CACHE/lock"
	flock -w 900 9 || bug_skip "the package lists are in use"
	other_release "$1"
	rc_apt_ready
	cd "$CACHE/fetch.$package"
	rc_apt download "$package" || bug_skip "cannot fetch $package of $1"
	[ -e "$2" ] || bug_skip "$1 has $(ls), no longer $2"
	bug_keep "$2" "$3"
	rm -r "$CACHE/fetch.$package"
)
