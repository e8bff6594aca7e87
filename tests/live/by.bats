#!/usr/bin/env bats
# `xcore profile --by`: samples told apart by thread, processor and what plugins tell, against programs that measure themselves.
#	XCORE=build/release/xcore bats tests/live/by.bats

bats_require_minimum_version 1.5.0
load live

# server NAME: where it was built, in the user's cache
server() {
	"$BATS_TEST_DIRNAME/../../corpora/nginx/server" --where "$1" 2>/dev/null | sed 's,$,/build,'
}

setup() {
	NGINX=$(server static-o0)
	PACKAGED=$(server packaged)
	PROGRAMS=$(realpath "$BATS_TEST_DIRNAME/by")
	find_xcore
	need_perf
}

teardown() {
	finish
	[ -z "${WORKER:-}" ] || kill "$WORKER" 2>/dev/null || true # whose master was killed by a test that failed
}

# kinds KINDS...: starts the program, and makes a plugin that tells what it serves
kinds() {
	${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -g -o "$BATS_TEST_TMPDIR/kinds" "$PROGRAMS/kinds.c"
	begin "$BATS_TEST_TMPDIR/kinds" "$@"
	mkdir -p "$BATS_TEST_TMPDIR/plugins"
	plugin 'local r = frame:var "r" return r and xcore.str(r.kind), "sample"' # on the stack, and words of the command line
}

# Ends the program, which says what it has measured.
account() {
	echo >&8
	wait "$STARTED"
	STARTED=
}

# plugin BODY: of the function that tells the value
plugin() {
	cat >"$BATS_TEST_TMPDIR/plugins/mine.lua" <<-LUA
	local xcore = require "xcore"
	return { name = "mine", about = "a test", match = { modules = { "kinds" } }, samples = function(t, samples)
		samples:dimension("size", function() return "large" end)
		if samples:dimension("kind", function(frame, sample) $1 end) then
			local serve = t:symbol "serve"
			samples:watch(serve.addr, serve.addr + serve.size - 1)
		end
	end }
	LUA
}

# profile OPTIONS...: of $STARTED, with that plugin
profile() {
	"$XCORE" profile --plugin-path "$BATS_TEST_TMPDIR/plugins" "$@" "pid:$STARTED"
}

# values FILE: the table of values, "VALUE SAMPLES"
values() {
	jq -r '.sections[] | select(.key == "values").tables.values[] | "\(.value) \(.samples)"' "$1"
}

# bats test_tags=long
@test "a plugin tells the values of its dimension: they have the shares that the program measures" {
	kinds one two three
	profile --hz 999 --for 3s --by mine.kind -o all.xprof
	account
	"$XCORE" profile all.xprof --by mine.kind --top 1000 --format json >profile.json
	python3 "$PROGRAMS/check.py" profile.json said --spins
	# The file keeps the values beside the stacks; where it is asked for them, they are the roots.
	"$XCORE" profile all.xprof --as folded >plain
	"$XCORE" profile all.xprof --by mine.kind --as folded >rooted
	"$XCORE" profile all.xprof --by thread --as folded >threads
	head -n 3 plain rooted threads
	grep -q 'main;serve;burn ' plain
	run ! grep -qE '^(one|two|three|\(none\)|\(not read\))[; ]' plain
	grep -q '^two;.*main;serve;burn ' rooted
	grep -q '^(none);.*main;burn ' rooted
	run ! grep -qvE '^(one|two|three|\(none\)|\(not read\))[; ]' rooted
	run ! grep -qv '^kinds [0-9]*;' threads
	[ "$(awk '{ n += $NF } END { print n }' plain)" = "$(awk '{ n += $NF } END { print n }' rooted)" ]
	awk -F'[;]' '{ sub(/.* /, "", $NF); n[$1] += $NF } END { for (v in n) print v, n[v] }' rooted | sort >a
	values profile.json | sort >b
	diff a b
}

# bats test_tags=long
@test "what cannot be read is not guessed, a plugin that fails is told, and more values than are kept are others" {
	kinds $(seq -f 'kind%g' 300)
	plugin 'return false'
	profile --for 1s --by mine.kind --format json >profile.json
	values profile.json | grep -q '^(not read) [1-9]'
	run ! grep -q large profile.json
	plugin 'error "no"'
	profile --for 1s --by mine.kind >out 2>&1
	cat out
	grep -q '(not read)' out
	grep -q 'plugin mine' out
	plugin 'return "later", 4e9' # it began after the sample
	profile --for 1s --by mine.kind --format json >profile.json
	run ! grep -q '"later"' profile.json
	plugin 'while true do end'
	profile --for 2s --by mine.kind >out 2>&1
	grep -q 'it was not asked any more' out
	plugin 'return xcore.str(frame:var "r".kind), "sample"'
	profile --hz 999 --for 3s --by mine.kind --top 1000 --format json >profile.json
	values profile.json >found
	grep -q '^(others) ' found
	[ "$(grep -c '^kind' found)" = 200 ]
}

# bats test_tags=long
@test "a dimension that there is not is refused, with those that there are" {
	kinds one
	local by
	for by in mine.colour nobody.kind colour; do
		run -2 profile --for 1s --by "$by"
		echo "$output"
		[[ $output == *"$by"* ]]
	done
	run -2 profile --for 1s --by mine.colour
	[[ $output == *mine.size*mine.kind* ]]
	profile --for 200ms -o plain.xprof
	run -2 "$XCORE" profile plain.xprof --by mine.kind
	[[ $output == *"no values of it"* ]]
}

# bats test_tags=long
@test "by processor: the shares are those of the processors that the program was put on" {
	[ "$(nproc)" -gt 1 ] || skip "one processor"
	local cpus
	cpus=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
	kinds one
	taskset -pc "$cpus" "$STARTED" >/dev/null
	"$XCORE" profile --for 1s --by cpu --no-plugins --format json "pid:$STARTED" >profile.json
	values profile.json
	values profile.json | grep -q "^cpu $cpus "
	[ "$(values profile.json | wc -l)" = 1 ]
}

# serve BUILD PROGRAM: an nginx of one worker, $WORKER, on $PORT
serve() {
	local dir=$BATS_TEST_TMPDIR build=$1
	PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	mkdir -p "$dir/root"
	seq 60000 | awk '{ printf "%x %d\n", $1 * 2654435761 % 4294967296, $1 }' >"$dir/root/text"
	cat >"$dir/nginx.conf" <<-CONF
	$(cat "$build/modules")
	daemon off; worker_processes 1; user $(id -un); error_log $dir/error.log; pid $dir/nginx.pid;
	events { worker_connections 64; }
	http {
		access_log off; $(sed "s,[a-z_][a-z_]*,&_temp_path $dir/&;,g" "$build/writers")
		lua_package_path "$PROGRAMS/?.lua;$(cat "$build/lua")/?.lua;;";
		gzip_types *; gzip_min_length 1;
		server {
			listen 127.0.0.1:$PORT; server_name shop; root $dir/root;
			location = /account { content_by_lua_block { require("app").account() } }
			location /slow { content_by_lua_block { require("app").slow(300000) } }
			location /quick { content_by_lua_block { require("app").quick(100000) } }
			location /best/ { alias $dir/root/; gzip on; gzip_comp_level 9; }
			location /fast/ { alias $dir/root/; gzip on; gzip_comp_level 1; }
		}
	}
	CONF
	# shellcheck disable=SC2046 # several words
	start env $(cat "$build/environment") bash -c 'echo begins; exec "$@"' _ "$2" -p "$dir" -c "$dir/nginx.conf"
	for _ in $(seq 100); do
		WORKER=$(pgrep -P "$STARTED") && [ -n "$WORKER" ] && break
		sleep 0.1
	done
}

# Quits, with its worker.
stop() {
	kill "$STARTED"
	wait || true
	STARTED=
	WORKER=
}

# told_in_time HZ TIME: profiles the worker: are there samples enough whose location was read?
told_in_time() {
	"$XCORE" profile --hz "$1" --for "$2" --by nginx.location -o all.xprof "pid:$WORKER"
	"$XCORE" profile -q all.xprof --by nginx.location --top 1000 --format json >profile.json
	[ "$(values profile.json | awk '!/^[(]/ { n += $2 } END { print n + 0 }')" -ge 400 ]
}

# by_lua: two locations whose handlers measure themselves; on a busy host for longer
by_lua() {
	python3 "$PROGRAMS/drive.py" "$PORT" 60 /slow /quick /quick 8>&- 3>&- &
	local driver=$!
	told_in_time 999 1600ms || told_in_time 499 4s || true
	kill "$driver"
	wait "$driver" || true
	python3 -c "import urllib.request as u; print(u.urlopen('http://127.0.0.1:$PORT/account').read().decode())" >spent
	stop
	python3 "$PROGRAMS/check.py" profile.json spent --of-told
	# The innermost Lua function, which registers prove, is of the location in the same sample. The second to be seen has its line.
	"$XCORE" profile all.xprof --by nginx.location --as folded >stacks
	awk '{ all += $NF } /^\/slow;.*;x_quick[; ]/ || /^\/quick;.*;x_slow[; ]/ { wrong += $NF } /^\/(slow|quick);.*;x_(quick|slow)[; ]/ { told += $NF }
		END { print all, told, wrong + 0; exit !(told > all / 20 && wrong <= told / 100) }' stacks
}

@test "nginx with its Lua module: locations have the shares that their handlers measure" {
	[ -x "$NGINX/nginx" ] || skip "nginx is not built: corpora/nginx/server static-o0"
	serve "$NGINX" "$NGINX/nginx"
	by_lua
}

@test "the distribution's nginx, without debug information: the same" {
	[ -x "$PACKAGED/nginx" ] || skip "nginx is not built: corpora/nginx/server packaged"
	serve "$PACKAGED" "$PACKAGED/nginx"
	by_lua
}

# bats test_tags=long
@test "nginx without Lua: locations have the shares of the worker's CPU time while each is asked for" {
	[ -x "$NGINX/nginx" ] || skip "nginx is not built: corpora/nginx/server static-o0"
	serve "$NGINX" "$NGINX/nginx"
	python3 "$PROGRAMS/drive.py" --in-turn "$PORT" 6 "$WORKER" /best/text /fast/text >driven 8>&- 3>&- &
	local driver=$!
	"$XCORE" profile --hz 499 --for 4s --by nginx.location -o all.xprof "pid:$WORKER"
	"$XCORE" profile --for 1s --by nginx.host --format json "pid:$WORKER" >host.json
	wait "$driver"
	stop
	sed 's,/text,/,' driven >spent
	"$XCORE" profile all.xprof --by nginx.location --top 1000 --format json >profile.json
	python3 "$PROGRAMS/check.py" profile.json spent --of-told
	"$XCORE" profile all.xprof --by nginx.location --as folded >stacks
	grep -q '^/best/;.*ngx_http_gzip_' stacks
	values host.json | grep -q '^shop '
}
