#!/usr/bin/env bats
# Debug information in .dwo and .dwp files is shown as if it were in the program.
# shellcheck disable=SC2154 # repo is helper.bash's
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup() {
  load helper
  cd "$BATS_TEST_TMPDIR" || return 1
  pair="struct pair"
  cat >prog.c <<'C'
#include <stddef.h>
enum colour { RED, GREEN };
struct pair { short first; struct pair *next; enum colour colour : 3; union { long whole; char parts[8]; }; };
__thread int per_thread = 7;
static struct pair kept[2] = {{1, &kept[1], GREEN, {5}}, {2, NULL, RED, {6}}};
int *nowhere;
static inline __attribute__((always_inline)) int sum(const struct pair *from)
{
	int total = 0;
	for (; from; from = from->next)
		total += from->first;
	return total;
}
__attribute__((noinline)) int die(struct pair by_value, int many[], int count)
{
	int table[count];
	for (int i = 0; i < count; i++)
		table[i] = many[i] + per_thread;
	int total = sum(&by_value);
	static int calls = 3;
	*nowhere = table[count - 1] + total + ++calls;
	return table[0];
}
int main(void) { int many[3] = {10, 20, 30}; return die(kept[0], many, 3) + kept[1].colour; }
C
}

# twins CC FLAGS SPLIT: builds `prog` with split units and `plain` without, with the same build-id, and a core of prog.
twins() {
  local cc=$1 flags=$2 split=$3 id=-Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567
  # shellcheck disable=SC2086 # several words
  "$cc" $flags $split -c -o prog.o prog.c && "$cc" "$id" -o prog prog.o &&
    "$cc" $flags -c -o plain.o prog.c && "$cc" "$id" -o plain plain.o &&
    rm -f core && { "$repo/corpora/take-core" --out core -- ./prog >/dev/null 2>&1 || skip "no core can be taken here"; }
}

same_answers() {
  local file
  for file in prog plain; do
    "$XCORE" bt core --full --no-cache --format json --exe "$file" >"$file.json"
  done
  grep -q '"name": *"many"' prog.json
  cmp prog.json plain.json
  for file in prog plain; do
    "$XCORE" print core per_thread --no-cache --exe "$file"
    "$XCORE" print core kept --no-cache --exe "$file"
    "$XCORE" ptype core "$pair" --no-cache --exe "$file"
  done >answers
  head -n 1 answers | grep -qx 7
  [ "$(head -n $(($(wc -l <answers) / 2)) answers)" = "$(tail -n $(($(wc -l <answers) / 2)) answers)" ]
}

needs_llvm_dwp() {
  command -v llvm-dwp >/dev/null || skip "there is no llvm-dwp here"
}

@test "split units tell what whole ones tell" {
  local cc version level
  for cc in gcc clang; do
    for version in 4 5; do
      for level in 0 2; do
        twins "$cc" "-gdwarf-$version -O$level" -gsplit-dwarf
        [ -f prog.dwo ]
        same_answers
      done
    done
  done
}

@test "so do those in the object files" {
  local version
  for version in 4 5; do
    twins clang "-gdwarf-$version -O2" -gsplit-dwarf=single
    [ ! -e prog.dwo ]
    same_answers
  done
}

@test "so do those of a package" {
  needs_llvm_dwp
  local how
  for how in "gcc -gdwarf-4 dwp" "clang -gdwarf-4 llvm-dwp" "clang -gdwarf-5 llvm-dwp"; do
    read -ra how <<<"$how"
    twins "${how[0]}" "${how[1]} -O2" -gsplit-dwarf
    "${how[2]}" -e prog -o prog.dwp
    rm prog.dwo
    same_answers
    rm prog.dwp
  done
}

@test "so do type units" {
  needs_llvm_dwp
  local cc version
  for cc in g++ clang++; do
    for version in 4 5; do
      twins "$cc" "-xc++ -fpermissive -w -gdwarf-$version -O1 -fdebug-types-section" -gsplit-dwarf
      same_answers
      if [ "$cc" = clang++ ]; then
        llvm-dwp -e prog -o prog.dwp
        rm prog.dwo
        same_answers
        rm prog.dwp
      fi
    done
  done
}

@test "what is missing is told, and symbols and lines serve" {
  twins gcc -gdwarf-5 -gsplit-dwarf
  rm prog.dwo
  "$XCORE" modules core --no-cache | tr -s ' \n' ' ' | grep -q 'prog.dwo.* was not found'
  "$XCORE" bt core --full --no-cache | grep -q 'die .*prog.c:21'
}

@test "so is a unit far behind the first, once it is asked for" {
  local i
  printf 'void die(void);\nvoid f0(void) { die(); }\n' >f0.c
  for i in {1..12}; do
    printf 'void f%d(void);\nvoid f%d(void) { f%d(); }\n' $((i - 1)) "$i" $((i - 1)) >"f$i.c"
  done
  printf 'void die(void) { *(volatile int *)0 = 1; }\n' >zdie.c
  printf 'void f12(void);\nint main(void) { f12(); }\n' >amain.c
  gcc -g -gsplit-dwarf -c amain.c f{0..12}.c zdie.c
  gcc -o prog amain.o f{0..12}.o zdie.o
  rm zdie.dwo
  "$repo/corpora/take-core" --out core -- ./prog >/dev/null 2>&1 || skip "no core can be taken here"
  "$XCORE" analyze core --no-cache | tr -s ' \n' ' ' | grep -q 'zdie.dwo.* was not found'
}

@test "a pack carries .dwo files and packages" {
  needs_llvm_dwp
  local dwp
  for dwp in '' llvm-dwp; do
    rm -rf out one.pack
    twins clang -gdwarf-5 -gsplit-dwarf # llvm-dwp 14 may hang on gcc's files
    [ -z "$dwp" ] || { "$dwp" -e prog -o prog.dwp && rm prog.dwo; }
    "$XCORE" bt core --full --no-cache --format json >core.json
    "$XCORE" pack core -o one.pack
    "$XCORE" unpack one.pack out >/dev/null
    rm -f prog prog.dwo prog.dwp prog.o
    "$XCORE" bt one.pack --full --no-cache --format json >pack.json
    cmp core.json pack.json
    "$XCORE" bt out/core --sysroot out/root --full --no-cache --format json >unpacked.json
    grep -q '"name": *"many"' unpacked.json
  done
}

# 4,400 type units that share a table of 559 abbreviations: 2.5 million in all.
@test "thousands of type units are shown as well" {
  {
    printf '#include <%s>\n' string vector map unordered_map memory functional algorithm iostream
    for i in {1..1200}; do echo "struct S$i { int a$i; double b; S$i *next; };"; done
    echo 'struct all {'
    for i in {1..1200}; do echo "S$i s$i;"; done
    echo '}; int crash(all *a, int *p) { std::map<std::string, int> m; m["x"] = a->s1.a1; return *p + (int)m.size(); }'
    echo 'int main() { all *a = new all(); a->s7.a7 = 77; return crash(a, 0); }'
  } >many.cc
  g++ -g -gsplit-dwarf -fdebug-types-section -o many many.cc
  "$repo/corpora/take-core" --out many.core -- ./many >/dev/null 2>&1 || skip "no core can be taken here"
  [ "$("$XCORE" print many.core 'a->s7.a7' --no-cache)" = 77 ]
}
