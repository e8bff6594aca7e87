# shellcheck shell=bash
# redis.sh: redis-server of an old version: upstream's source, of which Debian made its package; with the C library's malloc.
# redis RELEASE VERSION SHA256 COMMAND…: the shell commands that kill it, with $CLI a redis-cli that talks to it
# shellcheck source=SCRIPTDIR/lib.sh disable=SC1091
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

redis() {
	bug_unpack "$(bug_debian "$1" redis "redis_$2.orig.tar.gz" "$3")" "$OUT/source"
	make -C "$OUT/source/src" -j2 MALLOC=libc CFLAGS=-w redis-server redis-cli
	mv "$OUT/source/src/redis-server" "$OUT/program"
	export CLI="timeout 20 $OUT/source/src/redis-cli -s socket"
	# The server is gone before it answers.
	bug_take --work "for i in \$(seq 100); do [ -S socket ] && break; sleep 0.1; done; $4 || true" -- \
		"$OUT/program" --port 0 --unixsocket socket --save '' --dir .
}
