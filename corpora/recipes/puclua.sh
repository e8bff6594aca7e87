# shellcheck shell=bash
# puclua.sh: what the recipes lua5.1 to lua5.4 share: the distribution's source of that Lua, -O2 -g, in a program of ours that embeds it.
# puclua VERSION ARGS…
# shellcheck source=SCRIPTDIR/lib.sh disable=SC1091
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# What luac and the interpreter have, and what is a part of another file (print.c of luac in 5.1), stays away.
build() {
	local files f
	rc_source "lua$PUCLUA" "$RC_BUILD/lua" >"$RC_BUILD/version"
	# Debian's build makes this one.
	echo '#define DEB_HOST_MULTIARCH "none"' >"$RC_BUILD/lua/src/lua$PUCLUA-deb-multiarch.h"
	files=()
	for f in "$RC_BUILD"/lua/src/*.c; do
		case ${f##*/} in lua.c | luac.c | print.c | ltests.c) ;; *) files+=("$f") ;; esac
	done
	rc_quietly "$RC_BUILD/puclua.log" gcc -O2 -g -DLUA_USE_POSIX -DLUA_COMPAT_ALL -DLUA_COMPAT_5_2 -I"$RC_BUILD/lua/src" \
		-o "$RC_BUILD/puclua" "$RC_HERE/puclua.c" "${files[@]}" -lm
}

take() {
	local count=2000
	[ -z "$RC_BIG" ] || count=1500000
	ln "$RC_BUILD/puclua" "$RC_CASE/exe"
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
