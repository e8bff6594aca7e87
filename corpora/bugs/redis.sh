# shellcheck shell=bash
# redis.sh: redis-server of an old version: upstream's source, of which Debian made its package; with the C library's malloc.
# redis RELEASE VERSION SHA256 COMMAND…: the shell commands that kill it, with $CLI a redis-cli that talks to it
# shellcheck source=SCRIPTDIR/lib.sh disable=SC1091
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The program is built once for all its bugs, where its debug information says that its source lies. CFLAGS is for the libraries that come with it.
redis_build() {
	local at
	at=$CACHE/redis-$2-$(cat "$BUG_CORPORA/bugs/redis.sh" <(gcc --version) | sha256sum | cut -c1-12)
	bug_alone "redis-$2" redis_build_at "$at" "$@" >&2
	echo "$at/src"
}

redis_build_at() {
	[ ! -e "$1/done" ] || return 0
	rm -rf "$1"
	bug_unpack "$1" bug_debian "$2" redis "redis_$3.orig.tar.gz" "$4"
	make -C "$1/src" -j2 MALLOC=libc CFLAGS='-w -g' redis-server redis-cli
	touch "$1/done"
}

redis() {
	local built
	built=$(redis_build "$@")
	cp "$built/redis-server" "$OUT/program"
	export CLI="timeout 20 $built/redis-cli -s socket"
	# The server is gone before it answers.
	bug_take --work "for i in \$(seq 100); do [ -S socket ] && break; sleep 0.1; done; $4 || true" -- \
		"$OUT/program" --port 0 --unixsocket socket --save '' --dir .
}
