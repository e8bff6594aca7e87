#!/usr/bin/env bats
# Frames of interpreted languages in `xcore profile`, against programs that measure themselves.
#	XCORE=build/release/xcore bats tests/live/languages.bats
# bats file_tags=long

bats_require_minimum_version 1.5.0
load live

setup() {
	local corpora=$BATS_TEST_DIRNAME/../../corpora # builds in the user's cache
	LUAJIT=$("$corpora/luajit/engine" --where openresty-o0 2>/dev/null || :)/build
	NGINX=$("$corpora/nginx/server" --where static-o0 2>/dev/null || :)/build
	PROGRAMS=$(realpath "$BATS_TEST_DIRNAME/languages")
	find_xcore
	"$XCORE" profile --for 10ms --no-plugins "pid:$$" >"$BATS_TEST_TMPDIR/err" 2>&1 || skip "$(head -n 1 "$BATS_TEST_TMPDIR/err")"
}

teardown() {
	finish
}

need_luajit() {
	[ -x "$LUAJIT/luajit" ] || skip "LuaJIT is not built: corpora/luajit/engine openresty-o0"
}

# shares COMMAND...: which runs for some seconds
shares() {
	start "$@"
	"$XCORE" profile --hz 499 --for 4s --top 1000 --format json "pid:$STARTED" >"$BATS_TEST_TMPDIR/profile.json"
	wait "$STARTED"
	STARTED=
	python3 "$PROGRAMS/check.py" "$BATS_TEST_TMPDIR/profile.json" "$BATS_TEST_TMPDIR/said"
}

@test "LuaJIT, interpreted: Lua functions have the shares that the program measures" {
	need_luajit
	shares "$LUAJIT/luajit" -joff "$PROGRAMS/shares.lua" 5
}

@test "LuaJIT, compiled: the same" {
	need_luajit
	shares "$LUAJIT/luajit" "$PROGRAMS/shares.lua" 5
}

@test "LuaJIT within a program without symbols, a VM in each of two threads: the same" {
	need_luajit
	local src=$LUAJIT/source/src
	[ -f "$src/libluajit.a" ] || skip "LuaJIT's library is not there"
	${CC:-cc} -O2 -I"$src" -s -o "$BATS_TEST_TMPDIR/host" "$PROGRAMS/host.c" "$src/libluajit.a" -lm -ldl -pthread
	shares "$BATS_TEST_TMPDIR/host" 2 "$PROGRAMS/shares.lua" 10
}

@test "LuaJIT within a C++ server without symbols, a coroutine a request: the same" {
	need_luajit
	local src=$LUAJIT/source/src
	[ -f "$src/libluajit.a" ] || skip "LuaJIT's library is not there"
	${CXX:-c++} -std=c++17 -O2 -I"$src" -s -o "$BATS_TEST_TMPDIR/host" "$PROGRAMS/host.cc" "$src/libluajit.a" -lm -ldl -pthread
	shares "$BATS_TEST_TMPDIR/host" 2 "$PROGRAMS/requests.lua" 10
	# A tail call has no frame: what sign() calls last is not named after it.
	jq -e '.sections[] | select(.key == "functions").tables.functions
		| (map(select(.function == "work"))[0].self | . > 0.6) and all(.[] | select(.function == "sign"); .self < 0.1)
		and (any(.[]; .function | startswith("<requests.lua:6>")) | not)' "$BATS_TEST_TMPDIR/profile.json"
}

@test "LuaJIT on a busy host: the same, and the account tells at which priority it was read, and what is missing" {
	need_luajit
	local busy=()
	for _ in 1 2; do
		timeout 30 sh -c 'while :; do :; done' 8>&- 3>&- &
		busy+=($!)
	done
	shares "$LUAJIT/luajit" "$PROGRAMS/shares.lua" 5
	kill "${busy[@]}"
	jq -e '.sections[] | select(.key == "profile") | .fields as $f | ($f.guest_priority | length > 0) and $f.torn_whole <= $f.torn
		and ($f.torn <= $f.guests / 20 or any(.messages[]; .text | test("totals of interpreted functions may be too low")))' "$BATS_TEST_TMPDIR/profile.json"
}

# puc VERSION: PUC Lua of this version within a program
puc() {
	local library
	library=$(${CC:-cc} -print-file-name="liblua$1.a")
	[ -f "$library" ] || skip "liblua$1.a is not installed"
	# shellcheck disable=SC2046 # flags
	${CC:-cc} -O2 -g $(pkg-config --cflags "lua$1") -o "$BATS_TEST_TMPDIR/host" "$PROGRAMS/host.c" "$library" -lm -ldl -pthread
	shares "$BATS_TEST_TMPDIR/host" 1 "$PROGRAMS/shares.lua" 5
}

@test "PUC Lua 5.4 within a program: the same" {
	puc 5.4
}

@test "PUC Lua 5.3, which keeps the next instruction in memory: the same" {
	puc 5.3
}

@test "PUC Lua 5.2: the same" {
	puc 5.2
}

@test "PUC Lua 5.1, whose calls are in an array: the same" {
	puc 5.1
}

@test "PUC Lua: a function has its callers, though the interpreter has kept that of an outer one, too" {
	local library host=$BATS_TEST_TMPDIR/host
	library=$(${CC:-cc} -print-file-name=liblua5.4.a)
	[ -f "$library" ] || skip "liblua5.4.a is not installed"
	# shellcheck disable=SC2046 # flags
	${CC:-cc} -O2 -g $(pkg-config --cflags lua5.4) -o "$host" "$PROGRAMS/host.c" "$library" -lm -ldl -pthread
	start "$host" 1 "$PROGRAMS/callers.lua" 30
	"$XCORE" profile --hz 499 --for 3s --lua-only --as folded "pid:$STARTED" >"$BATS_TEST_TMPDIR/folded"
	cat "$BATS_TEST_TMPDIR/folded"
	grep -q 'both;first;work ' "$BATS_TEST_TMPDIR/folded"
	grep -q 'both;second;work ' "$BATS_TEST_TMPDIR/folded"
	# Of the first samples few are known better; of all, it was told of the outer one alone.
	awk '{ all += $NF } /^main chunk [0-9]+$/ { outer = $NF } END { exit !(outer < all / 3) }' "$BATS_TEST_TMPDIR/folded"
}

@test "a recursion that is too deep is told as torn: its outer part is not known" {
	local library host=$BATS_TEST_TMPDIR/host
	library=$(${CC:-cc} -print-file-name=liblua5.4.a)
	[ -f "$library" ] || skip "liblua5.4.a is not installed"
	# shellcheck disable=SC2046 # flags
	${CC:-cc} -O2 -g $(pkg-config --cflags lua5.4) -o "$host" "$PROGRAMS/host.c" "$library" -lm -ldl -pthread
	start "$host" 1 "$PROGRAMS/deep.lua" 0
	"$XCORE" profile --for 1s --lua-only --as folded "pid:$STARTED" >"$BATS_TEST_TMPDIR/folded"
	grep -q 'deep;work ' "$BATS_TEST_TMPDIR/folded"
	! grep -q '^deep;' "$BATS_TEST_TMPDIR/folded"
}

@test "CPython: Python functions have the shares that the program measures" {
	[ -x /usr/bin/python3 ] || skip "the system has no Python"
	shares /usr/bin/python3 "$PROGRAMS/shares.py" 5
}

# unpacked VERSION: a packaged CPython of another release
unpacked() {
	local root libraries command=()
	root=$("$BATS_TEST_DIRNAME/../../corpora/python/root" "$1") || skip "CPython $1 cannot be had"
	libraries=$root/usr/lib/x86_64-linux-gnu
	[ ! -e "$libraries/ld-linux-x86-64.so.2" ] || command=("$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:$root/lib/x86_64-linux-gnu")
	[ "${command[*]}" ] || export LD_LIBRARY_PATH=$libraries
	shares "${command[@]}" "$root/usr/bin/python$1" -S -E -s "$PROGRAMS/shares.py" 5
}

@test "CPython 3.9, whose C frames have a frame object each: the same" {
	unpacked 3.9
}

@test "CPython 3.13: the same" {
	unpacked 3.13
}

@test "CPython 3.10, 3.12 and 3.14, where they are installed: the same" {
	local version tried=
	for version in 3.10 3.12 3.14; do
		PYENV_VERSION=$(pyenv versions --bare 2>/dev/null | grep "^$version\." | tail -n 1 || :)
		export PYENV_VERSION
		"python$version" -c '' 2>/dev/null || continue
		echo "CPython $version"
		shares "python$version" "$PROGRAMS/shares.py" 5
		tried=yes
	done
	[ "$tried" ] || skip "no python3.10, python3.12 or python3.14"
}

@test "--lua-only shows no native functions, --c-only no others" {
	[ -x /usr/bin/python3 ] || skip "the system has no Python"
	start /usr/bin/python3 "$PROGRAMS/shares.py" 30
	"$XCORE" profile --for 1s --as folded --lua-only "pid:$STARTED" >"$BATS_TEST_TMPDIR/lua"
	"$XCORE" profile --for 1s --as folded --c-only "pid:$STARTED" >"$BATS_TEST_TMPDIR/c"
	cat "$BATS_TEST_TMPDIR/lua" "$BATS_TEST_TMPDIR/c"
	grep -q 'alpha;numbers' "$BATS_TEST_TMPDIR/lua"
	run ! grep -q '_PyEval' "$BATS_TEST_TMPDIR/lua"
	run ! grep -q 'numbers' "$BATS_TEST_TMPDIR/c"
	grep -q '_PyEval' "$BATS_TEST_TMPDIR/c"
}

# compiled [DIRECTORY]: the shares and names of functions that a program has made, which runs then
compiled() {
	[ "$(uname -m)" = x86_64 ] || skip "the program is for x86-64"
	${CC:-cc} -O2 -g -o "$BATS_TEST_TMPDIR/compiled" "$PROGRAMS/compiled.c"
	start "$BATS_TEST_TMPDIR/compiled" "$@"
	"$XCORE" profile --hz 499 --for 2s --top 1000 --format json "pid:$STARTED" >"$BATS_TEST_TMPDIR/profile.json"
	"$XCORE" profile --for 500ms --as folded "pid:$STARTED" >"$BATS_TEST_TMPDIR/folded"
	cat "$BATS_TEST_TMPDIR/folded"
	rm -f "/tmp/perf-$STARTED.map"
	finish
	jq -r '.sections[] | select(.key == "functions").tables.functions[] | "\(.self) \(.function) \(.line)"' "$BATS_TEST_TMPDIR/profile.json"
	# Of the two: on a busy host the kernel has a part, too.
	jq -e '.sections[] | select(.key == "functions").tables.functions
		| map(select(.function == "Hot:long name /app.js:2"))[0].self as $hot
		| map(select(.function == "Lazy:short name /app.js:1"))[0].self as $lazy
		| $hot + $lazy > 0.8 and $hot / ($hot + $lazy) > 0.70 and $hot / ($hot + $lazy) < 0.80' "$BATS_TEST_TMPDIR/profile.json"
	grep -qF 'main;Hot:long name /app.js:2' "$BATS_TEST_TMPDIR/folded"
}

@test "code that a program compiles while it runs has the names of its perf map" {
	compiled
}

@test "the same by a jitdump, which has lines" {
	mkdir "$BATS_TEST_TMPDIR/dumps"
	compiled "$BATS_TEST_TMPDIR/dumps"
	jq -e '.sections[] | select(.key == "functions").tables.functions
		| (map(select(.function == "Hot:long name /app.js:2"))[0].line == "main.js:8")
		and (map(select(.function == "Lazy:short name /app.js:1"))[0].line == "main.js:6")' "$BATS_TEST_TMPDIR/profile.json"
}

@test "Node.js with --perf-prof: JavaScript functions have their names and lines" {
	command -v node >/dev/null || skip "no Node.js"
	cat >"$BATS_TEST_TMPDIR/app.js" <<-'END'
	function quick(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
	function slow(n) { let s = 0; for (let i = 0; i < 3 * n; i++) s += i % 7; return s; }
	function rounds(n) { for (let i = 0; i < n; i++) { quick(1e5); slow(1e5); } }
	rounds(300);
	// Node writes its dump in large pieces: the functions above are to be in one.
	for (let i = 0; i < 20000; i++) new Function("a", "return a * " + i + " + " + "a + ".repeat(20) + "1")(i);
	console.log("ready");
	rounds(1e9);
	END
	cd "$BATS_TEST_TMPDIR" # where it writes its dump
	start node --perf-prof --no-turbo-inlining "$BATS_TEST_TMPDIR/app.js"
	"$XCORE" profile --hz 499 --for 2s --top 1000 --format json "pid:$STARTED" >"$BATS_TEST_TMPDIR/profile.json"
	finish
	jq -r '.sections[] | select(.key == "functions").tables.functions[:10][] | "\(.self) \(.function) \(.line)"' "$BATS_TEST_TMPDIR/profile.json"
	jq -e '.sections[] | select(.key == "functions").tables.functions
		| (map(select(.function | test("slow"))) | map(.self) | add | . > 0.60 and . < 0.85)
		and (map(select(.function | test("quick"))) | map(.self) | add | . > 0.15 and . < 0.40)' "$BATS_TEST_TMPDIR/profile.json"
}

# plugin BODY: of its samples function
plugin() {
	mkdir -p "$BATS_TEST_TMPDIR/plugins"
	cat >"$BATS_TEST_TMPDIR/plugins/mine.lua" <<-END
	return { name = "mine", about = "a test", match = { modules = { "shares" } }, samples = function(t, samples) $1 end }
	END
	"$XCORE" profile --for 2s --plugin-path "$BATS_TEST_TMPDIR/plugins" "pid:$STARTED" >"$BATS_TEST_TMPDIR/out" 2>&1
	cat "$BATS_TEST_TMPDIR/out"
}

@test "a plugin adds frames; one that fails or does not end is told once, and the profile goes on without" {
	compile shares "$BATS_TEST_TMPDIR/shares" -O1
	start bash -c 'exec "$@" < <(sleep 60)' _ "$BATS_TEST_TMPDIR/shares"
	local watch='local main = t:symbol "main" samples:watch(main.addr, main.addr + main.size - 1)'
	plugin "$watch local place = samples:place { name = 'script', file = 'a.mine', line = 7 } return function() return { place } end"
	grep -q 'script .*a.mine:7' "$BATS_TEST_TMPDIR/out" || grep -q '→ script →' "$BATS_TEST_TMPDIR/out"
	plugin "$watch return function() while true do end end"
	grep -q 'it was not asked any more' "$BATS_TEST_TMPDIR/out"
	grep -q 'Hottest functions' "$BATS_TEST_TMPDIR/out"
	plugin "$watch return function() error 'no' end"
	[ "$(grep -cE 'samples: (it was not asked any more|a stack was not read)' "$BATS_TEST_TMPDIR/out")" = 1 ]
	plugin "error 'at once'"
	grep -q 'at once' "$BATS_TEST_TMPDIR/out"
	plugin "$watch local all = {} return function() for i = 1, 1e7 do all[#all + 1] = {} end end"
	grep -q 'it was not asked any more' "$BATS_TEST_TMPDIR/out"
	plugin "$watch return function() return { 77 } end"
	grep -q 'no place has the number 77' "$BATS_TEST_TMPDIR/out"
}

@test "nginx with its Lua module under load: the slow line is on top, by file and line" {
	local dir=$BATS_TEST_TMPDIR port worker
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	[ -x "$NGINX/nginx" ] || skip "nginx is not built: corpora/nginx/server static-o0"
	cat >"$dir/nginx.conf" <<-END
	daemon off; worker_processes 1; user $(id -un); error_log $dir/error.log; pid $dir/nginx.pid;
	events { worker_connections 64; }
	http {
		access_log off; client_body_temp_path $dir/body; proxy_temp_path $dir/proxy;
		lua_package_path "$PROGRAMS/?.lua;$(cat "$NGINX/lua")/?.lua;;";
		server { listen 127.0.0.1:$port; location / { content_by_lua_block { require("app").handle() } } }
	}
	END
	start bash -c 'echo begins; exec "$@"' _ "$NGINX/nginx" -p "$dir" -c "$dir/nginx.conf"
	for _ in $(seq 100); do
		worker=$(pgrep -P "$STARTED") && [ -n "$worker" ] && break
		sleep 0.1
	done
	"$NGINX/wrk" -t1 -c2 -d8 "http://127.0.0.1:$port/" >"$dir/wrk" 8>&- 3>&- &
	sleep 1
	"$XCORE" profile --hz 499 --for 4s --format json "pid:$worker" >"$dir/profile.json"
	kill "$STARTED" # quits, with its worker
	wait || true
	STARTED=
	jq -c '.sections[] | select(.key == "functions").tables.functions[:3][]' "$dir/profile.json"
	jq -e '.sections[] | select(.key == "functions").tables.functions[0] | .function == "slow" and .line == "app.lua:16" and .self > 0.5' \
		"$dir/profile.json"
}
