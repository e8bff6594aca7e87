# shellcheck shell=bash
# lib.sh: what every recipe shares; sourced, never run.
#
# A recipe names itself with rc_init, defines build() and take(), and ends with rc_main.
#   build   leaves the program in $RC_BUILD (kept, so that the paths in its debug info stay true)
#   take    starts it in $RC_RUN, puts it to work, makes it die, and fills $RC_CASE
#           with exe, core, meta.json and whatever else belongs to the case
# Both directories live in the user's cache under a key made of the recipe's files and of the
# versions of the installed packages that the process maps (rc_uses): an upgraded libc makes a
# new core, an unchanged tree makes none. The case is then hard-linked to --out.
#
# Packages come through apt, in a state directory of our own that lists the system's own mirrors
# with source packages added. Nothing of the system is written, nothing is installed.

set -euo pipefail

RC_HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RC_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/xcore/corpora
RC_APT=$RC_CACHE/apt
RC_MEMBERS=("$RC_HERE/lib.sh")
RC_TAKE_CORE=$RC_HERE/../take-core
RC_PACKAGES=(libc6 libgcc-s1)
RC_PIDS=()
RC_BIG=
RC_KEY_ONLY=

rc_die() { echo "$RC_NAME: $*" >&2; exit 1; }
rc_say() { echo "$RC_NAME: $*" >&2; }
# What this host lacks, which is no fault of ours: the last line says it.
rc_skip() { rc_say "$*"; exit 3; }

# rc_needs PROGRAM…: programs without which the case cannot be made.
rc_needs() { local p; for p; do command -v "$p" >/dev/null || rc_skip "there is no $p here"; done; }

# rc_init NAME ARGS…: reads the options every recipe has.
rc_init() {
	RC_NAME=$1
	RC_OUT=$RC_HERE/../../build/corpora
	RC_MEMBERS+=("$RC_HERE/$RC_NAME")
	shift
	while [ $# -gt 0 ]; do
		case $1 in
		--out) [ $# -gt 1 ] || rc_die "--out needs a directory"; RC_OUT=$2; shift ;;
		--big) RC_BIG=-big ;;
		--key) RC_KEY_ONLY=1 ;; # of what the case is made: for corpora/build-recipes
		-h | --help) echo "usage: $RC_NAME [--out DIR] [--big]"; exit 0 ;;
		*) rc_die "unknown argument '$1'; usage: $RC_NAME [--out DIR] [--big]" ;;
		esac
		shift
	done
	trap rc_stop_all EXIT
	trap 'exit 130' INT TERM HUP
}

# rc_member FILE…: further files of the recipe; a change in them makes a new key.
rc_member() { local f; for f; do RC_MEMBERS+=("$RC_HERE/$f"); done; }

# rc_uses PACKAGE…: installed packages whose libraries the process maps.
rc_uses() { RC_PACKAGES+=("$@"); }

# For a recipe that has nothing to measure.
rc_small_only() { [ -z "$RC_BIG" ] || rc_die "this recipe has no big case"; }

# For a recipe whose debug information alone is too much for every day.
rc_big_only() { [ -n "$RC_BIG" ] || rc_die "this recipe has no small case: --big"; }

rc_key() {
	local f
	{
		for f in "${RC_MEMBERS[@]}"; do [ ! -e "$f" ] || sha256sum <"$f"; done
		dpkg-query -W "${RC_PACKAGES[@]}" 2>/dev/null || true
		uname -m
	} | sha256sum | cut -c1-12
}

# ── processes ────────────────────────────────────────────────────────────────────────────────

# Ends, by pid, what this recipe started and what may still run; also the way out on failure.
rc_stop_all() {
	local p
	for p in "${RC_PIDS[@]}"; do kill "$p" 2>/dev/null || true; done
	for p in "${RC_PIDS[@]}"; do
		rc_wait_gone "$p" 15 || kill -KILL "$p" 2>/dev/null || true
	done
	RC_PIDS=()
	[ -z "${RC_SOCKETS:-}" ] || rm -rf "$RC_SOCKETS"
}

rc_alive() {
	[ -r "/proc/$1/stat" ] || return 1
	! grep -q '^State:[[:space:]]Z' "/proc/$1/status" 2>/dev/null
}

# rc_wait_gone PID SECONDS: a process that writes its core is still there, so gone means written.
rc_wait_gone() {
	local i
	for ((i = 0; i < $2 * 20; i++)); do
		rc_alive "$1" || return 0
		sleep 0.05
	done
	return 1
}

# rc_until SECONDS COMMAND…: repeats the command until it succeeds.
rc_until() {
	local i limit=$1
	shift
	for ((i = 0; i < limit * 20; i++)); do
		if "$@" >/dev/null 2>&1; then return 0; fi
		sleep 0.05
	done
	return 1
}

# rc_start LOG COMMAND…: a helper process in the background; its pid in RC_PID.
rc_start() {
	local log=$1
	shift
	"$@" >"$log" 2>&1 </dev/null 9>&- &
	RC_PID=$!
	RC_PIDS+=("$RC_PID")
}

# A free loopback port. Another process may take it before we do: callers check that they answer.
rc_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# ── cores ────────────────────────────────────────────────────────────────────────────────────

# take-core decides between the kernel's file and gdb's by a first try; a server that was already
# driven to its death cannot be run again, so the way is found out beforehand on a shell.
rc_way() {
	[ -z "${XCORE_TAKE_CORE:-}" ] || return 0
	# shellcheck disable=SC2016
	XCORE_TAKE_CORE=$("$RC_TAKE_CORE" --timeout 20 --out "$RC_RUN/probe" -- /bin/sh -c 'kill -SEGV $$' 2>"$RC_RUN/way.log") ||
		rc_skip "no core can be had on this system: $(tail -n 1 "$RC_RUN/way.log")"
	export XCORE_TAKE_CORE
	rm -f "$RC_RUN/probe"
}

# rc_doomed [TAKE-CORE-OPTION…] -- PROGRAM ARGS…: starts the program that is going to die.
# Its output is in $RC_RUN/output once it is dead.
rc_doomed() {
	rc_way
	rc_start "$RC_RUN/take-core.log" "$RC_TAKE_CORE" --timeout 540 --log "$RC_RUN/output" --out "$RC_RUN/core" "$@"
	RC_TAKER=$RC_PID
}

# Waits for the death of what rc_doomed started and moves its core to the case.
rc_collect() {
	wait "$RC_TAKER" || { cat "$RC_RUN/take-core.log" >&2; rc_die "no core"; }
	mv "$RC_RUN/core" "$RC_CASE/core"
	chmod 444 "$RC_CASE/core" # hard-linked: a test that damaged it would damage the cache
}

# rc_meta SIGNAL ORIGIN VERSION DEATH [OPTION…]: options are what xcore needs beside the core;
# those that name a file are relative to the case.
rc_meta() {
	local signal=$1 origin=$2 version=$3 death=$4 options='' o
	shift 4
	for o; do options+=${options:+, }\"$o\"; done
	cat >"$RC_CASE/meta.json" <<-END
	{
	  "name": "$RC_NAME$RC_BIG",
	  "exe": "exe",
	  "core": "core",
	  "signal": "$signal",
	  "origin": "$origin",
	  "version": "$version",
	  "dies": "$death",
	  "options": [$options]
	}
	END
}

# ── packages ─────────────────────────────────────────────────────────────────────────────────

# The system's package sources that carry its own release, with source packages added.
rc_apt_sources() {
	local release f dir=$RC_APT/sources
	# shellcheck disable=SC1091
	release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	mkdir -p "$dir"
	rm -f "$dir"/*
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -f "$f" ] || continue
		grep -E '^[[:space:]]*deb[[:space:]]' "$f" | grep -F -- "$release" |
			sed 'p; s/^[[:space:]]*deb\([[:space:]]\)/deb-src\1/' >"$dir/$(basename "$f")" || true
	done
	for f in /etc/apt/sources.list.d/*.sources; do
		[ -f "$f" ] || continue
		# Paragraph mode would lose the comment lines that may stand inside a stanza.
		grep -v '^#' "$f" | awk -v release="$release" 'BEGIN { RS = ""; ORS = "\n\n" }
			/(^|\n)Types:[^\n]*deb/ && index($0, release) { sub(/Types:[^\n]*/, "Types: deb deb-src"); print }' \
			>"$dir/$(basename "$f")"
	done
	find "$dir" -type f -empty -delete
	[ -n "$(ls "$dir")" ] || rc_skip "no package source for '$release' under /etc/apt"
}

# Without the caches, which the configuration of containers turns off, each call reads all lists: a second and a half.
RC_APT_OPTIONS=(-o "Dir::State=$RC_APT" -o "Dir::State::lists=$RC_APT/lists" -o "Dir::State::status=$RC_APT/status" -o "Dir::Cache=$RC_APT/cache"
	-o Dir::Cache::pkgcache=pkgcache.bin -o Dir::Cache::srcpkgcache=srcpkgcache.bin -o Dir::Etc::sourcelist=- -o "Dir::Etc::sourceparts=$RC_APT/sources")

rc_apt() {
	apt-get -qq "${RC_APT_OPTIONS[@]}" -o APT::Sandbox::User=root -o Acquire::Retries=3 "$@"
}

rc_apt_is_new() { [ -n "$(find "$RC_APT/updated" -mtime -1 2>/dev/null)" ]; }

# Fetches the lists once in a day at most; one recipe at a time. An empty status file: what is
# installed must not matter. Without any list the next recipe tries again.
rc_apt_ready() {
	[ -n "${RC_APT_READY:-}" ] && return
	mkdir -p "$RC_APT/lists/partial" "$RC_APT/cache/archives/partial"
	[ -e "$RC_APT/status" ] || : >"$RC_APT/status" # a newer one would void the caches
	if ! rc_apt_is_new; then
		(
			flock -w 600 7 || rc_die "another recipe has held $RC_APT/lock for ten minutes"
			rc_apt_is_new && exit
			rc_apt_sources
			rc_apt update >&2 || rc_say "some package lists were not fetched; going on with the others"
			[ -z "$(find "$RC_APT/lists" -maxdepth 1 -name '*_Packages*' -o -maxdepth 1 -name '*_Sources*')" ] || touch "$RC_APT/updated"
		) 7>"$RC_APT/lock" || exit
	fi
	RC_APT_READY=1
}

rc_apt_cache() {
	apt-cache "${RC_APT_OPTIONS[@]}" "$@"
}

# rc_fetch_source PACKAGE: the newest version that the mirror really has: one that it lists may not be there (yet, or any more).
rc_fetch_source() {
	local version
	rc_apt source --download-only "$1" >&2 && return
	for version in $(rc_apt_cache showsrc --only-source "$1" | sed -n 's/^Version: //p' | sort -Vr | uniq); do
		rm -f ./*
		rc_apt source --download-only "$1=$version" >&2 && return
	done
	return 1
}

# rc_source PACKAGE DIR: the unpacked, patched source; its version is printed.
rc_source() {
	local at
	at=$(mktemp -d "$RC_BUILD/fetch.XXXXXX")
	rc_apt_ready
	(cd "$at" && rc_fetch_source "$1") || rc_skip "cannot fetch the source of $1"
	# apt has verified the checksums against the signed list; the uploader's key need not be here.
	dpkg-source --no-check -x "$at"/*.dsc "$2" >"$RC_BUILD/unpack-$1.log" 2>&1 ||
		rc_die "cannot unpack the source of $1; see $RC_BUILD/unpack-$1.log"
	sed -n 's/^Version: //p' "$at"/*.dsc | head -n 1
	rm -r "$at"
}

# rc_unpack DIR PACKAGE…: binary packages, unpacked beside the system instead of installed.
rc_unpack() {
	local at deb dir=$1
	shift
	at=$(mktemp -d "$RC_BUILD/fetch.XXXXXX")
	mkdir -p "$dir"
	rc_apt_ready
	(cd "$at" && rc_apt download "$@" >&2) || rc_skip "cannot fetch $*"
	for deb in "$at"/*.deb; do dpkg-deb -x "$deb" "$dir"; done
	rm -r "$at"
}

# rc_version PACKAGE: the version rc_unpack takes.
rc_version() {
	rc_apt_ready
	rc_apt_cache policy "$1" | sed -n 's/^  Candidate: //p'
}

# rc_quietly LOG COMMAND…: the log's end is shown when the command fails.
rc_quietly() {
	local log=$1
	shift
	"$@" >"$log" 2>&1 </dev/null || { tail -n 20 "$log" >&2; rc_die "'$*' failed; see $log"; }
}

# ── the frame ────────────────────────────────────────────────────────────────────────────────

# Hard links where the file system allows, else copies that keep the holes.
rc_deliver() {
	local to=$RC_OUT/$RC_NAME$RC_BIG
	mkdir -p "$RC_OUT"
	rm -rf "$to.new" "$to"
	cp -al "$RC_CASE" "$to.new" 2>/dev/null || {
		rm -rf "$to.new"
		cp -a --sparse=always "$RC_CASE" "$to.new"
	}
	mv "$to.new" "$to"
}

# rc_once DIR STEP: runs the step in an emptied DIR unless it was completed before.
rc_once() {
	[ -e "$1.done" ] && return
	rm -rf "$1"
	mkdir -p "$1"
	"$2"
	touch "$1.done"
}

rc_take() {
	rm -rf "$RC_RUN"
	mkdir -p "$RC_RUN"
	RC_SOCKETS=$(mktemp -d "${TMPDIR:-/tmp}/xcore.XXXXXX") # a socket's path has 107 bytes at most
	take
	rc_stop_all
	local f
	for f in core exe meta.json; do [ -s "$RC_CASE/$f" ] || rc_die "the case lacks its $f"; done
	rm -rf "$RC_RUN"
}

rc_main() {
	local dir key
	key=$RC_NAME-$(rc_key)
	[ -z "$RC_KEY_ONLY" ] || { echo "$key$RC_BIG" && return; }
	dir=$RC_CACHE/$key
	RC_BUILD=$dir/build
	RC_RUN=$dir/run$RC_BIG
	RC_CASE=$dir/case$RC_BIG
	mkdir -p "$dir"
	# Other checkouts make the same case.
	exec 9>"$dir/lock"
	flock -w 1800 9 || rc_die "another recipe has held $dir/lock for half an hour"
	rc_once "$RC_BUILD" build
	rc_once "$RC_CASE" rc_take
	rc_deliver
}
