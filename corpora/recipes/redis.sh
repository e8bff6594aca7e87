# shellcheck shell=bash
# redis.sh: what the recipes redis and redis-libc share; sourced after lib.sh.
#
# The server holds every type and encoding of value, several databases, expiring keys, a stream
# with a consumer group, a cached script and a function library; at its death some clients read at
# full speed, some wait in BLPOP, SUBSCRIBE and MULTI, and some hold writes that CLIENT PAUSE has
# stopped. The pause makes redis's own account (the *.txt beside the core) agree with the core.

# Bounded: a command that the pause holds back must not hold us.
redis_cli() { timeout 600 "$RC_BUILD/redis/src/redis-cli" -s "$RC_SOCKETS/redis" "$@"; }

# redis_build MAKE-ARGUMENT…
redis_build() {
	rc_source redis "$RC_BUILD/redis" >"$RC_BUILD/version"
	rc_quietly "$RC_BUILD/redis.log" make -j2 -C "$RC_BUILD/redis/src" OPTIMIZATION=-O2 DEBUG="-g" \
		USE_SYSTEMD=no BUILD_TLS=no V=1 "$@" redis-server redis-cli redis-benchmark
}

redis_start() {
	rc_doomed -- "$RC_BUILD/redis/src/redis-server" --port 0 \
		--unixsocket "$RC_SOCKETS/redis" --save '' --daemonize no \
		--enable-debug-command yes --crash-memcheck-enabled no --latency-monitor-threshold 1 \
		--slowlog-log-slower-than 500 --io-threads 2
	rc_until 30 redis_cli ping || rc_die "redis-server does not answer"
}

# redis_fill STRINGS OTHERS: that many strings, and that many of each other type.
redis_fill() {
	{
		redis_cli debug populate "$1" key 44 # the longest value that lies in one block with its object
		redis_cli --eval "$RC_HERE/redis-fill.lua" , "$2"
		redis_cli -n 5 set elsewhere 'a second database' ex 86400
		redis_cli function load "$(printf '#!lua name=corpus\n%s' \
			"redis.register_function('answer', function() return 42 end)")"
		redis_cli script load 'return redis.call("GET", KEYS[1])'
		redis_cli acl setuser reader on nopass '~key:*' +@read
		redis_fill_lists
	} >"$RC_RUN/fill.log"
	! grep -i '^(error\|^ERR' "$RC_RUN/fill.log" >&2 || rc_die "redis-server refused the data"
}

# Lists whose inner nodes are compressed, and lists of elements too large for a listpack.
redis_fill_lists() {
	redis_cli config set list-compress-depth 1
	redis_cli debug quicklist-packed-threshold 2kb
	redis_cli eval 'for i = 1, 5 do
		for j = 1, 60 do redis.call("RPUSH", "compressed:" .. i, ("row " .. j .. " of " .. i .. "; "):rep(40)) end
		for j = 1, 3 do redis.call("RPUSH", "plain:" .. i, ("element " .. j .. " "):rep(300)) end
	end' 0
	redis_cli debug quicklist-packed-threshold 0
	redis_cli config set list-compress-depth 0
}

# Clients of every state, until they are ended; a FIFO that stays open keeps a redis-cli from leaving.
redis_load() {
	local benchmark=("$RC_BUILD/redis/src/redis-benchmark" -s "$RC_SOCKETS/redis" -q -l -r 1000)
	rc_start "$RC_RUN/blocked.log" redis_cli blpop nothing:1 nothing:2 0
	rc_start "$RC_RUN/subscribed.log" redis_cli subscribe news weather
	mkfifo "$RC_RUN/multi"
	redis_cli <"$RC_RUN/multi" >"$RC_RUN/multi.log" 2>&1 9>&- &
	RC_PIDS+=($!)
	exec 8>"$RC_RUN/multi"
	printf 'CLIENT SETNAME transaction\nMULTI\nSET multi:1 one\nINCR multi:2\n' >&8
	rc_start "$RC_RUN/write.log" "${benchmark[@]}" -c 8 -P 4 -t set,incr,lpush,sadd,hset,zadd,spop
	rc_start "$RC_RUN/read.log" "${benchmark[@]}" -c 12 -t get,lrange_100
	sleep 1.5
}

# One in BLPOP, and the eight of the benchmark that writes.
redis_writers_wait() { redis_cli info clients | grep -q '^blocked_clients:9'; }

# Order matters: what is asked adds to the slow log and to the clients, so those come last.
redis_account() {
	local db keys=100000
	[ -z "$RC_BIG" ] || keys=5000
	redis_cli client pause 600000 write >/dev/null
	rc_until 60 redis_writers_wait || rc_die "clients that write are not held back"
	redis_cli config get '*' >"$RC_CASE/config.txt"
	[ -n "$RC_BIG" ] || redis_cli eval_ro "$(cat "$RC_HERE/redis-count.lua")" 0 >"$RC_CASE/types.txt"
	for db in 0 5; do
		echo "db$db $(redis_cli -n "$db" dbsize)"
		redis_cli -n "$db" eval_ro "$(cat "$RC_HERE/redis-keys.lua")" 0 "$keys" "$db" >>"$RC_CASE/keys.txt"
	done >"$RC_CASE/dbsize.txt"
	redis_cli memory stats >"$RC_CASE/memory-stats.txt"
	redis_cli info everything >"$RC_CASE/info.txt"
	redis_cli client list >"$RC_CASE/clients.txt"
	redis_cli slowlog get 128 >"$RC_CASE/slowlog.txt"
}

# redis_take ORIGIN VERSION STRINGS OTHERS
redis_take() {
	ln "$RC_BUILD/redis/src/redis-server" "$RC_CASE/exe"
	ln "$RC_BUILD/redis/src/redis-cli" "$RC_BUILD/redis/src/redis-benchmark" "$RC_CASE/"
	redis_start
	redis_fill "$3" "$4"
	redis_load
	redis_account
	redis_cli debug segfault >"$RC_RUN/death.log" 2>&1 || true
	exec 8>&-
	rc_collect
	rc_meta SIGSEGV "$1" "$2" \
		"DEBUG SEGFAULT under load; its crash handler reports and raises the signal again"
}
