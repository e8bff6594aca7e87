#!/usr/bin/env bats
# Two units of a program that lay out the same class of C++ in different ways, and objects that are not valid. The program is
# class_layouts.cc with class_layouts_store.cc, which is compiled with another option for each test.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  for level in 0 2; do
    compile $level "class_layouts.cc" "user$level.o" || return 1
    for how in same: extra:-DSTATS packed:-DPACKED base:-DBASE virtual:-DVIRTUAL swapped:-DSWAPPED bits:-DBITS \
      enum:-fshort-enums abi:-D_GLIBCXX_USE_CXX11_ABI=0; do
      # shellcheck disable=SC2086 # no option, or one
      compile $level class_layouts_store.cc "store$level.o" ${how#*:} || return 1
      "${CXX:-c++}" -o "${how%%:*}$level" "user$level.o" "store$level.o" || return 1
    done
  done
}

# compile LEVEL SOURCE OBJECT [OPTION]
compile() {
  "${CXX:-c++}" -std=c++17 -g -O"$1" -w -c -o "$3" "${@:4}" "$repo/tests/cli/$2"
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

# verdict LEVEL PROGRAM DEATH
verdict() {
  verdict_of "core$1-$2-$3" "./$2$1" "$3"
}

@test "a string that a library was given is named where it is not valid, and its layouts are the likely cause" {
  for level in 0 2; do
    verdict $level extra read
    says 'wild-read likely' '`e.body` has' 'not a valid std::string: elements at 0x1: not mapped' \
      'class shop::Entry has two layouts: ' ' bytes in class_layouts.cc, ' \
      ' bytes in class_layouts_store.cc (with `hits`, `served`): code of the two does not agree where `body` is' \
      'likely because class shop::Entry has two layouts, in class_layouts.cc and in class_layouts_store.cc'
    never 'null pointer plus an offset'
  done
}

@test "a packing is told" {
  for level in 0 2; do
    verdict $level packed read
    says 'class shop::Entry has two layouts: ' 'code of the two does not agree where `more` is'
  done
}

@test "another base class is told" {
  for level in 0 2; do
    verdict $level base read
    says 'class shop::Entry has two layouts: ' 'code of the two does not agree on the base class shop::Narrow'
  done
}

@test "a virtual function that only one unit has is told" {
  for level in 0 2; do
    verdict $level virtual check
    says 'class shop::Entry has two layouts: '
  done
}

@test "members in another order, bit-fields, sizes of enums and the ABI of std::string are told" {
  for level in 0 2; do
    verdict $level swapped check
    says 'abort ' 'class shop::Rank has two layouts: ' 'code of the two does not agree where `stamp` is'
    verdict $level bits check
    says 'class shop::Entry has two layouts: ' 'code of the two does not agree what `flags` is'
    verdict $level enum check
    says 'class shop::Entry has two layouts: ' 'code of the two does not agree what `kind` is'
    verdict $level abi read
    says 'class shop::Entry has two layouts: ' 'code of the two does not agree what `body` is'
  done
}

@test "equal layouts, hidden and local classes, instances of a template and declarations are not told" {
  for level in 0 2; do
    verdict $level same check
    says 'abort '
    never 'two layouts'
    never 'not a valid'
  done
}

@test "structs of C with the same tag are different types" {
  cat >one.c <<'C'
#include <stdlib.h>
struct item { int a; };
void *other(void);
static void check(struct item *item) { if (item->a == 1) abort(); }
int main(void) { struct item item = {1}; return other() ? check(&item), 0 : 1; }
C
  cat >two.c <<'C'
struct item { long a, b, c; };
void *other(void) { static struct item item = {1, 2, 3}; return &item; }
C
  "${CC:-cc}" -g -O0 -o two one.c two.c
  verdict_of core-c ./two
  says 'abort '
  never 'two layouts'
}

@test "a class of another module is another class" {
  cat >library.cc <<'C'
namespace app { struct Conf { long a, b, c, d; }; }
static app::Conf conf = {1, 2, 3, 4};
extern "C" __attribute__((visibility("default"))) long value() { return conf.a; }
C
  cat >program.cc <<'C'
#include <cstdlib>
namespace app { struct Conf { int a; }; }
extern "C" long value();
static void check(const app::Conf *c) { if (c->a == value()) std::abort(); }
int main() { app::Conf c = {1}; check(&c); }
C
  "${CXX:-c++}" -g -O0 -fPIC -shared -fvisibility=hidden -o libother.so library.cc
  "${CXX:-c++}" -g -O0 -o modules program.cc -L. -lother -Wl,-rpath,"$PWD"
  verdict_of core-modules ./modules
  says 'abort '
  never 'two layouts'
}

@test "an object of a plugin that was built with an older header, in C, too" {
  cat >codec.h <<'C'
struct codec { unsigned level, flags; const char *name; int (*open)(void);
#if LEVEL > 2
  int (*reset)(long);
#endif
};
C
  cat >plugin.c <<'C'
#include "codec.h"
static int opened(void) { return 3; }
static const struct codec codecs[] = {{2, 0, "mulaw", opened}, {2, 1, "alaw", opened}};
const struct codec *codec_entry(void) { return codecs; }
C
  cat >player.c <<'C'
#include "codec.h"
const struct codec *codec_entry(void);
static int rewinds(const struct codec *codec) { return codec->reset ? codec->reset(0) : 0; }
int main(void) { const struct codec *codec = codec_entry(); return codec->open() + rewinds(codec); }
C
  local compiler source
  for compiler in "${CC:-cc}" "${CXX:-c++} -x c++"; do
    source=$BATS_TEST_TMPDIR/${compiler%% *}
    mkdir "$source"
    # shellcheck disable=SC2086 # several words
    {
      $compiler -g -O0 -fPIC -shared -w -DLEVEL=2 -o "$source/libcodec.so" plugin.c
      $compiler -g -O0 -w -DLEVEL=3 -o "$source/player" player.c -L"$source" -lcodec -Wl,-rpath,"$source"
    }
    verdict_of "core-${compiler%% *}" "$source/player"
    says 'pc-control' 'codec has two layouts, in player and in libcodec.so' 'is an object of libcodec.so' '32 bytes in player' \
      '24 bytes in libcodec.so' '`reset`'
  done
}

@test "an object of a plugin that shows only the beginning of its struct is well" {
  cat >library.c <<'C'
struct handle { int level; const char *name; long secret[4]; };
static struct handle handles[2] = {{1, "one"}, {2, "two"}};
struct handle *open_handle(void) { return handles; }
C
  cat >user.c <<'C'
#include <stdlib.h>
struct handle { int level; const char *name; };
struct handle *open_handle(void);
static void use(const struct handle *handle, long *where) { where[0] = handle->level; }
int main(void) { use(open_handle(), (long *)(0x1122334455667700 + rand() % 2)); }
C
  "${CC:-cc}" -g -O0 -fPIC -shared -o libhandle.so library.c
  "${CC:-cc}" -g -O0 -o user user.c -L. -lhandle -Wl,-rpath,"$PWD"
  verdict_of core-user ./user
  says 'wild-write'
  never 'two layouts'
}
