# shellcheck shell=bash
# puclua.sh: what the recipes lua5.1 to lua5.4 share: the distribution's source of that Lua in a program of ours that embeds it.
# puclua VERSION ARGS…
# shellcheck source=SCRIPTDIR/lib.sh disable=SC1091
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PUCLUA_FLAGS=(-DLUA_USE_POSIX -DLUA_COMPAT_ALL -DLUA_COMPAT_5_2)

# The program, and luac of the same objects, which lists the bytecode that the program's Lua makes. What stands on the
# stack when it dies is compiled as distributions do; the rest quickly.
build() {
	local stack files luac f src=$RC_BUILD/lua/src objects=$RC_BUILD/objects
	rc_source "lua$PUCLUA" "$RC_BUILD/lua" >"$RC_BUILD/version"
	# Debian's build makes this one.
	echo '#define DEB_HOST_MULTIARCH "none"' >"$src/lua$PUCLUA-deb-multiarch.h"
	stack=() files=() luac=()
	for f in "$src"/*.c; do
		f=${f##*/}
		case $f in
		lua.c | ltests.c) ;;
		luac.c | print.c) luac+=("$src/$f") ;;
		lapi.c | lauxlib.c | lbaselib.c | lcorolib.c | ldo.c | lstrlib.c | ltablib.c | ltm.c | lvm.c) stack+=("$src/$f") ;;
		*) files+=("$src/$f") ;;
		esac
	done
	mkdir "$objects"
	(
		cd "$objects" || exit
		rc_quietly "$RC_BUILD/stack.log" gcc -O2 -g -c "${PUCLUA_FLAGS[@]}" -I"$src" "$RC_HERE/puclua.c" "${stack[@]}"
		rc_quietly "$RC_BUILD/puclua.log" gcc -O0 -g -c "${PUCLUA_FLAGS[@]}" -I"$src" "${files[@]}"
		rc_quietly "$RC_BUILD/luac.log" gcc -O0 -c "${PUCLUA_FLAGS[@]}" -I"$src" "${luac[@]}"
	)
	files=("${stack[@]##*/}" "${files[@]##*/}") luac=("${luac[@]##*/}")
	files=("${files[@]/%.c/.o}") luac=("${luac[@]/%.c/.o}")
	gcc -o "$RC_BUILD/puclua" "$objects/puclua.o" "${files[@]/#/$objects/}" -lm
	gcc -o "$RC_BUILD/luac" "${luac[@]/#/$objects/}" "${files[@]/#/$objects/}" -lm
	rm -r "$objects"
}

take() {
	local count=2000
	[ -z "$RC_BIG" ] || count=1500000
	ln "$RC_BUILD/puclua" "$RC_CASE/exe"
	ln "$RC_BUILD/luac" "$RC_CASE/luac"
	cp "$RC_HERE/puclua.lua" "$RC_CASE/script.lua"
	rc_doomed -- "$RC_BUILD/puclua" "$RC_CASE/script.lua" "$RC_CASE/account.txt" "$count"
	rc_collect
	rc_meta SIGSEGV "Debian source lua$PUCLUA, -O2 -g, embedded" "$(cat "$RC_BUILD/version")" \
		"in a C function below gsub, pcall, a metamethod and a sort, in a coroutine"
}

puclua() {
	PUCLUA=$1
	shift
	rc_init "lua$PUCLUA" "$@"
	rc_member puclua.sh puclua.c puclua.lua
	rc_main
}
