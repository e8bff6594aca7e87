# shellcheck shell=bash
# redis.sh: what the recipes of redis share; sourced after lib.sh.
#
# The server holds every type and encoding of value, several databases, expiring keys, a stream
# with a consumer group, a cached script and a function library, and clients of every state;
# redis-drive.py puts all that there and takes the server's own account of it (the *.txt and
# *.json beside the core). The account is of the state that the core has: only the command that
# kills comes between, and what READERS clients do that read at full speed.

rc_member redis.sh redis-drive.py redis_talk.py redis-fill.lua redis-keys.lua

# redis_make MAKE-ARGUMENT…: as its own Makefile does it.
redis_make() {
	rc_source redis "$RC_BUILD/redis" >"$RC_BUILD/version"
	rc_quietly "$RC_BUILD/redis.log" make -j2 -C "$RC_BUILD/redis/src" OPTIMIZATION=-O2 DEBUG="-g" \
		USE_SYSTEMD=no BUILD_TLS=no V=1 "$@" redis-server
}

redis_start() {
	rc_doomed -- "$RC_BUILD/redis/src/redis-server" --port 0 \
		--unixsocket "$RC_SOCKETS/redis" --save '' --daemonize no \
		--enable-debug-command yes --crash-memcheck-enabled no --latency-monitor-threshold 1 \
		--slowlog-log-slower-than -1 --io-threads 2
}

# redis_take ORIGIN VERSION STRINGS OTHERS READERS
redis_take() {
	ln "$RC_BUILD/redis/src/redis-server" "$RC_CASE/exe"
	redis_start
	rc_quietly "$RC_RUN/drive.log" timeout 540 python3 "$RC_HERE/redis-drive.py" "$RC_SOCKETS/redis" "$RC_CASE" "$3" "$4" "$5"
	rc_collect
	rc_meta SIGSEGV "$1" "$2" \
		"DEBUG SEGFAULT with clients of every state; its crash handler reports and raises the signal again"
}

# redis_take_both ORIGIN VERSION: the small case, or --big for measuring; both under load.
redis_take_both() {
	local strings=4000 others=200
	if [ -n "$RC_BIG" ]; then strings=4600000 others=100000; fi
	redis_take "$1" "$2" "$strings" "$others" 12
}
