# shellcheck shell=bash
# sqlite.sh: the shell of an old SQLite, as the npm package sqlite3 carries its source, with what distributions switch on.
# sqlite PACKAGE-VERSION SHA256 SQLITE-VERSION INPUT.sql
# shellcheck source=SCRIPTDIR/lib.sh disable=SC1091
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SQLITE_FLAGS=(-DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_FTS3_TOKENIZER -DSQLITE_ENABLE_FTS4
	-DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_JSON1 -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_STAT4 -DSQLITE_THREADSAFE=1)

sqlite() {
	bug_unpack "$OUT/npm" bug_npm "sqlite3@$1" "$2"
	bug_unpack "$OUT/source" echo "$OUT/npm/deps/sqlite-autoconf-$3.tar.gz"
	rm -r "$OUT/npm"
	(cd "$OUT/source" && gcc -g -O2 -w "${SQLITE_FLAGS[@]}" -o ../program shell.c sqlite3.c -lpthread -ldl -lm)
	bug_take -- "$OUT/program" :memory: ".read $BUG_HERE/$4"
}
