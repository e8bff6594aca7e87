# shellcheck shell=bash
# lua.sh: the interpreter of PUC-Rio's Lua in an old version: upstream's source, of which Debian made its package.
# lua RELEASE PACKAGE VERSION SHA256 INPUT.lua
# shellcheck source=SCRIPTDIR/lib.sh disable=SC1091
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

lua() {
	local files=() file
	bug_unpack "$OUT/source" bug_debian "$1" "$2" "$2_$3.orig.tar.gz" "$4"
	for file in "$OUT"/source/src/*.c; do [ "${file##*/}" = luac.c ] || files+=("$file"); done
	gcc -g -O2 -w -DLUA_USE_POSIX -DLUA_USE_DLOPEN -DLUA_COMPAT_5_2 -DLUA_COMPAT_5_3 -Wl,-E -o "$OUT/program" "${files[@]}" -ldl -lm
	bug_take -- "$OUT/program" "$BUG_HERE/$5"
}
