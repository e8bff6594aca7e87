# shellcheck shell=bash
# releases.sh: sources of other releases of Debian, from the system's own mirror; sourced after recipes/lib.sh.

# other_release NAME: what rc_source and rc_unpack fetch from here on is of that release; the package lists stand in a state of their own.
other_release() {
	local from
	RC_APT=$RC_CACHE/apt-$1
	# shellcheck disable=SC2034
	RC_APT_READY=
	from=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
		grep -oE '[a-z]+://[^ ]+/debian/?( |$)' | grep -v security | tr -d ' ' | sed -n 1p)
	[ -n "$from" ] || { rc_say "no mirror of Debian here" && exit 3; }
	mkdir -p "$RC_APT/sources"
	printf 'deb%s [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' '' "$from" "$1" -src "$from" "$1" \
		>"$RC_APT/sources/$1.list"
	# shellcheck disable=SC2317
	rc_apt_sources() { :; }
}

# source_or_tar PACKAGE DIR: as rc_source; where the mirror has lost Debian's part of a source, upstream's alone. Status 3 without either.
source_or_tar() {
	local at
	(rc_source "$1" "$2") 2>/dev/null && return
	at=$(mktemp -d "$RC_BUILD/fetch.XXXXXX")
	(cd "$at" && rc_apt source --download-only --tar-only "$1" >&2) || { rc_say "cannot fetch the source of $1" && exit 3; }
	mkdir -p "$2"
	tar -xf "$at"/*.orig.tar.* -C "$2" --strip-components=1
	basename "$at"/*.orig.tar.* | sed 's/^[^_]*_//; s/\.orig\.tar.*//'
	rm -r "$at"
}
