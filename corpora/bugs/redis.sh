# shellcheck shell=bash
# redis.sh: redis-server of an old version: upstream's source, of which Debian made its package; with the C library's malloc.
# redis RELEASE VERSION SHA256 COMMAND…: the shell commands that kill it, with $CLI a redis-cli that talks to it
# shellcheck source=SCRIPTDIR/lib.sh disable=SC1091
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The program is built once for all its bugs, where its debug information says that its source lies. CFLAGS is for the libraries that come with it.
redis_build() {
	local at
	at=$CACHE/redis-$2-$(cat "$BUG_CORPORA/bugs/redis.sh" <(gcc --version) | sha256sum | cut -c1-12)
	if [ ! -e "$at/done" ]; then
		rm -rf "$at"
		bug_unpack "$(bug_debian "$1" redis "redis_$2.orig.tar.gz" "$3")" "$at" >&2
		make -C "$at/src" -j2 MALLOC=libc CFLAGS='-w -g' redis-server redis-cli >&2
		touch "$at/done"
	fi
	echo "$at/src"
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
