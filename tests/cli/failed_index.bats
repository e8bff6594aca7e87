#!/usr/bin/env bats
# The index or bound that a check of Go, Rust or C++ has refused: what the source calls it, and where it comes from.
# shellcheck disable=SC2016,SC2154 # backticks of what is said; helper.bash and bats set variables
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
}

# said PROGRAM CASE [ARGUMENT]...: the evidence about the index, to the file `said`
said() {
  rm -f core
  GOTRACEBACK=crash "$repo/corpora/take-core" --out core -- "./$1" "${@:2}" >/dev/null 2>&1 || skip "no core can be taken here"
  "$XCORE" analyze --format json --no-plugins core |
    jq -r '.verdict.evidence[] | select(test("^the (index|upper|lower|bound|start|end|key)"))' |
    grep -v '^the index is [0-9]*, the length' >said || true
}

# is PROGRAM CASE PATTERN: the only sentence
is() {
  # shellcheck disable=SC2086 # words
  said "$1" $2
  if [ "$(grep -c '' said)" != 1 ] || ! grep -qE -- "$3" said; then
    echo "$1 $2: not said: $3" && cat said && return 1
  fi
}

# lacks TEXT: it is not in what was said last
lacks() {
  if grep -F -- "$1" said; then return 1; fi
}

# at_most PROGRAM CASE PATTERN: nothing else
at_most() {
  # shellcheck disable=SC2086 # words
  said "$1" $2
  if grep -vE -- "$3" said; then echo "$1 $2: more than $3" && return 1; fi
}

# line FILE TEXT
line() {
  grep -nF -m 1 -- "$2" "$1" | cut -d: -f1
}

go_program() {
  command -v go >/dev/null || skip "there is no go here"
  cat >a.go <<'END'
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

type order struct {
	slot  int
	lanes []string
}

type book struct {
	orders []order
	lanes  [4]int
}

//go:noinline
func parse(line string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(line))
	return n
}

//go:noinline
func (b *book) direct(at int) order { return b.orders[at] }

//go:noinline
func (b *book) viaMember(o *order) string { return o.lanes[o.slot] }

//go:noinline
func (b *book) viaCall(line string) order { return b.orders[parse(line)] }

//go:noinline
func (b *book) head(n int) []order { return b.orders[:n] }

//go:noinline
func (b *book) loop() int {
	sum := 0
	for i := 0; i <= len(b.orders); i++ {
		sum += b.orders[i].slot
	}
	return sum
}

//go:noinline
func (b *book) minus(at int) order { return b.orders[at-3] }

func main() {
	b := &book{orders: make([]order, 2)}
	switch os.Args[1] {
	case "direct":
		fmt.Println(b.direct(len(os.Args) + 7))
	case "member":
		fmt.Println(b.viaMember(&order{slot: len(os.Args) + 3, lanes: []string{"a"}}))
	case "call":
		fmt.Println(b.viaCall(os.Args[2]))
	case "head":
		fmt.Println(b.head(len(os.Args) + 7))
	case "loop":
		fmt.Println(b.loop())
	case "minus":
		fmt.Println(b.minus(len(os.Args)))
	}
}
END
  cat >b.go <<'END'
package main

import (
	"fmt"
	"os"
	"strings"
)

type ring struct {
	items []int
	head  uint8
	table [8]string
}

var current = 7
var rows = make([]string, 3)

//go:noinline
func (r *ring) last() int { return r.items[len(r.items)-1] }

//go:noinline
func (r *ring) past() int { return r.items[len(r.items)] }

//go:noinline
func (r *ring) small() string { return r.table[r.head] }

//go:noinline
func global() string { return rows[current] }

//go:noinline
func text(s string, at int) byte { return s[at] }

//go:noinline
func part(s string, from, to int) string { return s[from:to] }

//go:noinline
func three(v []int, n, m int) []int { return v[1:n:m] }

//go:noinline
func words(line string) string { f := strings.Fields(line); return f[2] }

//go:noinline
func find(s string) string { i := strings.IndexByte(s, ':'); return s[i:] }

//go:noinline
func moved(v []int, n int) int {
	at := n * 3
	return v[at]
}

//go:noinline
func captured(v []int, at int) func() int { return func() int { return v[at] } }

//go:noinline
func each(v, w []int) (sum int) {
	for i := range v {
		sum += w[i]
	}
	return
}

func main() {
	r := &ring{head: 9}
	n := len(os.Args)
	switch os.Args[1] {
	case "last":
		fmt.Println(r.last())
	case "past":
		fmt.Println(r.past())
	case "small":
		fmt.Println(r.small())
	case "global":
		fmt.Println(global())
	case "text":
		fmt.Println(text("abc", n+9))
	case "part":
		fmt.Println(part("abcdef", n+3, n))
	case "part2":
		fmt.Println(part("abcdef", n, n+20))
	case "three":
		fmt.Println(three(make([]int, 4), n+9, n+10))
	case "words":
		fmt.Println(words("a b"))
	case "find":
		fmt.Println(find("abc"))
	case "moved":
		fmt.Println(moved(make([]int, 4), n))
	case "captured":
		fmt.Println(captured(make([]int, 4), n+5)())
	case "each":
		fmt.Println(each(make([]int, 4), make([]int, n)))
	}
}
END
  export GO111MODULE=off GOCACHE=${GOCACHE:-$PWD/cache}
  for name in a b; do
    go build -o "$name-fast" $name.go && go build -gcflags='-N -l' -o "$name-plain" $name.go
  done
}

rust_program() {
  command -v "$1" >/dev/null || return 1
  cat >a.rs <<'END'
use std::env;
struct Order { slot: usize, lanes: Vec<String> }
struct Book { orders: Vec<Order>, table: [u32; 4] }
#[inline(never)]
fn parse(line: &str) -> usize { line.trim().parse().unwrap_or(77) }
impl Book {
    #[inline(never)]
    fn direct(&self, at: usize) -> &Order { &self.orders[at] }
    #[inline(never)]
    fn member<'a>(&self, o: &'a Order) -> &'a str { &o.lanes[o.slot] }
    #[inline(never)]
    fn call(&self, line: &str) -> u32 { self.table[parse(line)] }
    #[inline(never)]
    fn head(&self, n: usize) -> &[Order] { &self.orders[..n] }
    #[inline(never)]
    fn tail(&self, n: usize) -> usize { self.orders[n..].len() }
    #[inline(never)]
    fn looped(&self) -> usize { let mut s = 0; for i in 0..=self.orders.len() { s += self.orders[i].slot; } s }
}
fn main() {
    let a: Vec<String> = env::args().collect();
    let b = Book { orders: vec![Order { slot: a.len() + 5, lanes: vec!["a".into()] }], table: [1, 2, 3, 4] };
    match a[1].as_str() {
        "direct" => println!("{}", b.direct(a.len() + 7).slot),
        "member" => println!("{}", b.member(&b.orders[0])),
        "call" => println!("{}", b.call(&a[2])),
        "head" => println!("{}", b.head(a.len() + 7).len()),
        "tail" => println!("{}", b.tail(a.len() + 7)),
        _ => println!("{}", b.looped()),
    }
}
END
  cat >b.rs <<'END'
use std::collections::VecDeque;
struct Pool { rows: Vec<u64>, next: usize, text: String, queue: VecDeque<u64>, grid: [[u8; 4]; 4] }
static mut CURSOR: usize = 12;
#[inline(never)] fn past(p: &Pool) -> u64 { p.rows[p.rows.len()] }
#[inline(never)] fn last(p: &Pool) -> u64 { p.rows[p.rows.len().wrapping_sub(4)] }
#[inline(never)] fn member(p: &Pool) -> u64 { p.rows[p.next] }
#[inline(never)] fn global(p: &Pool) -> u64 { p.rows[unsafe { CURSOR }] }
#[inline(never)] fn remove(p: &mut Pool, at: usize) -> u64 { p.rows.remove(at) }
#[inline(never)] fn insert(p: &mut Pool, at: usize) { p.rows.insert(at, 5) }
#[inline(never)] fn text(p: &Pool, from: usize) -> &str { &p.text[from..] }
#[inline(never)] fn within(p: &Pool, from: usize, to: usize) -> &str { &p.text[from..to] }
#[inline(never)] fn queue(p: &Pool, at: usize) -> u64 { p.queue[at] }
#[inline(never)] fn grid(p: &Pool, x: usize, y: usize) -> u8 { p.grid[y][x] }
#[inline(never)] fn range(p: &Pool, from: usize, to: usize) -> &[u64] { &p.rows[from..to] }
#[inline(never)] fn small(p: &Pool, at: u8) -> u64 { p.rows[at as usize] }
#[inline(never)] fn position(p: &Pool) -> u64 { let at = p.text.find('z').unwrap_or(p.rows.len()); p.rows[at] }
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n = a.len();
    let mut p = Pool { rows: vec![1, 2], next: n + 5, text: "aéb".into(), queue: VecDeque::new(), grid: [[0; 4]; 4] };
    match a[1].as_str() {
        "past" => println!("{}", past(&p)),
        "last" => println!("{}", last(&p)),
        "member" => println!("{}", member(&p)),
        "global" => println!("{}", global(&p)),
        "remove" => println!("{}", remove(&mut p, n + 7)),
        "insert" => insert(&mut p, n + 7),
        "text" => println!("{}", text(&p, n + 7)),
        "within" => println!("{}", within(&p, n - 2, n)),
        "queue" => println!("{}", queue(&p, n + 7)),
        "grid" => println!("{}", grid(&p, n - 2, n + 3)),
        "range" => println!("{:?}", range(&p, n, n - 1)),
        "small" => println!("{}", small(&p, n as u8 + 7)),
        _ => println!("{}", position(&p)),
    }
}
END
  for name in a b; do
    "$1" -A warnings -g --edition 2021 -C panic=abort -C opt-level=0 -o "$name-plain" $name.rs &&
      "$1" -A warnings -g --edition 2021 -C panic=abort -C opt-level=2 -o "$name-fast" $name.rs
  done
}

cxx_program() {
  cat >a.cc <<'END'
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
struct Order { size_t slot; std::vector<std::string> lanes; };
struct Book {
	std::vector<Order> orders;
	std::array<int, 4> table{};
	__attribute__((noinline)) Order &direct(size_t at) { return orders.at(at); }
	__attribute__((noinline)) const char *member(const Order &o) { return o.lanes.at(o.slot).c_str(); }
	__attribute__((noinline)) static size_t parse(const char *text) { return strtoul(text, nullptr, 10); }
	__attribute__((noinline)) int call(const char *text) { return table.at(parse(text)); }
	__attribute__((noinline)) std::string tail(const std::string &s, size_t from) { return s.substr(from); }
	__attribute__((noinline)) char letter(const std::string &s, int at) { return s.at(at - 5); }
};
int main(int argc, char **argv)
{
	Book b;
	b.orders.push_back(Order{(size_t)argc + 5, {"a"}});
	const char *how = argv[1];
	if (!strcmp(how, "direct")) printf("%zu\n", b.direct(argc + 7).slot);
	if (!strcmp(how, "member")) puts(b.member(b.orders[0]));
	if (!strcmp(how, "call")) printf("%d\n", b.call(argv[2]));
	if (!strcmp(how, "tail")) puts(b.tail("abc", argc + 7).c_str());
	if (!strcmp(how, "letter")) printf("%c\n", b.letter("abc", argc));
}
END
  cat >b.cc <<'END'
#include <array>
#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
struct Pool {
	std::deque<int> jobs{1, 2, 3};
	std::vector<long> rows{1, 2};
	std::map<std::string, int> names{{"Beta", 1}, {"gamma", 2}};
	std::unordered_map<int, int> ids;
	int next = 5;
};
static size_t cursor = 12;
#define N __attribute__((noinline))
N int deq(Pool &p, size_t i) { return p.jobs.at(i); }
N long past(Pool &p) { return p.rows.at(p.rows.size()); }
N long last(Pool &p) { return p.rows.at(p.rows.size() - 4); }
N long member(Pool &p) { return p.rows.at(p.next); }
N long global(Pool &p) { return p.rows.at(cursor); }
N int key(Pool &p, const std::string &k) { return p.names.at(k); }
N int id(Pool &p, int k) { return p.ids.at(k); }
N bool bits(size_t bit) { std::bitset<8> b; return b.test(bit); }
N char view(std::string_view v, size_t at) { return v.at(at); }
N std::string cut(std::string s, size_t from) { return s.erase(from); }
N int opt(int n) { std::optional<int> o; if (n > 90) o = n; return o.value(); }
N long loop(Pool &p) { long s = 0; for (size_t i = 0; i <= p.rows.size(); i++) s += p.rows.at(i); return s; }
N long product(Pool &p, size_t n) { return p.rows.at(n * 3); }
int main(int argc, char **argv)
{
	Pool p;
	const char *h = argv[1];
	size_t n = argc;
	if (!strcmp(h, "deq")) printf("%d\n", deq(p, n + 6));
	if (!strcmp(h, "past")) printf("%ld\n", past(p));
	if (!strcmp(h, "last")) printf("%ld\n", last(p));
	if (!strcmp(h, "member")) printf("%ld\n", member(p));
	if (!strcmp(h, "global")) printf("%ld\n", global(p));
	if (!strcmp(h, "key")) printf("%d\n", key(p, "beta"));
	if (!strcmp(h, "id")) printf("%d\n", id(p, argc + 40));
	if (!strcmp(h, "bits")) printf("%d\n", bits(n + 9));
	if (!strcmp(h, "view")) printf("%c\n", view("abc", n + 9));
	if (!strcmp(h, "cut")) puts(cut("abc", n + 9).c_str());
	if (!strcmp(h, "opt")) printf("%d\n", opt(argc));
	if (!strcmp(h, "loop")) printf("%ld\n", loop(p));
	if (!strcmp(h, "product")) printf("%ld\n", product(p, n));
}
END
  for name in a b; do
    ${CXX:-g++} -std=c++17 -g -O0 -o "$name-plain" $name.cc && ${CXX:-g++} -std=c++17 -g -O2 -o "$name-fast" $name.cc
  done
}

@test "Go: the index is an argument, a member, a result, a sum" {
  go_program
  for build in fast plain; do
    is a-$build direct "^the index is \`at\`, passed by main.main\(\) at a.go:$(line a.go 'b.direct(len')\$"
    is a-$build member '^the index is `o\.slot`, read at 0x[0-9a-f]+$'
    is a-$build 'call 99' "^the index is what was returned by main.parse\(\) at a.go:$(line a.go 'b.orders[parse')\$"
    is a-$build head "^the upper bound is \`n\`, passed by main.main\(\) at a.go:$(line a.go 'b.head(len')\$"
    is a-$build loop '^the index is `i`$'
    is a-$build minus "^the index is \`at - 3\`, passed by main.main\(\) at a.go:$(line a.go 'b.minus(len')\$"
    is b-$build last '^the index is `len\(r\.items\) - 1`'
    is b-$build past '^the index is `len\(r\.items\)`'
    is b-$build small '^the index is `r\.head`, read at'
    is b-$build global '^the index is `main\.current`, read at'
    is b-$build text '^the index is `at`, passed by main.main\(\)'
    is b-$build part '^the lower bound is `from`, passed by main.main\(\)'
  done
}

@test "Go: nothing that the source does not have" {
  go_program
  for build in fast plain; do
    at_most b-$build words '^$'
    at_most b-$build each '^the index is `i`$'
    at_most b-$build moved '^the index is `at`$'
    at_most b-$build captured '^the index is `at`$'
    at_most b-$build three '^the bound of the capacity is `m`'
    at_most b-$build part2 '^the upper bound is `to`'
    at_most b-$build find '^the lower bound is (`i`|what was returned by strings.IndexByte\(\) at b.go:[0-9]+)$'
  done
}

# Both versions, where there are two.
rust_cases() {
  for build in fast plain; do
    is a-$build direct "^the index is \`at\`, passed by a::main\(\) at a.rs:$(line a.rs 'b.direct(a.len')\$"
    is a-$build member '^the index is `o\.slot`(, read at 0x[0-9a-f]+)?$'
    is a-$build 'call 99' "^the index is what was returned by a::parse\(\) at a.rs:$(line a.rs 'self.table[parse')\$"
    is a-$build head "^the end of the slice is \`n\`, passed by a::main\(\) at a.rs:$(line a.rs 'b.head(a.len')\$"
    is a-$build tail "^the start of the slice is \`n\`, passed by a::main\(\) at a.rs:$(line a.rs 'b.tail(a.len')\$"
    at_most a-$build loop '^the index is (`i`|what was read from `self\.orders\.len\(\)` at a.rs:[0-9]+)$'
    is b-$build past '^the index is (`p\.rows\.len\(\)`|what was returned by alloc::vec::Vec<.*>::len\(\) at b.rs)'
    at_most b-$build last '^the index is `p\.rows\.len\(\) - 4`'
    is b-$build member '^the index is `p\.next`, read at 0x'
    is b-$build remove '^the index is `at`, passed by b::main\(\)'
    is b-$build insert '^the index is `at`, passed by b::main\(\)'
    at_most b-$build text '^the start of the slice is `from`'
    at_most b-$build within '^the end of the slice is `to`'
    is b-$build grid '^the index is `y`, passed by b::main\(\)'
    is b-$build range '^the start of the slice is `from`, passed by b::main\(\)'
    lacks 'never set'
    at_most b-$build small '^the index is `at`'
    at_most b-$build position '^the index is (`at`|what was returned by core::option::Option<T>::unwrap_or\(\))'
    at_most b-$build queue '^$'
  done
}

@test "Rust: the index is an argument, a member, a result, a length" {
  rust_program rustc || skip "there is no rustc here"
  rust_cases
}

@test "Rust, the compiler of the system" {
  rust_program /usr/bin/rustc || skip "there is no /usr/bin/rustc here"
  rust_cases
}

@test "C++: the index is an argument, a member, a result, a size" {
  cxx_program
  for build in fast plain; do
    is a-$build direct "^the index is \`at\`, passed by main\(\) at a.cc:$(line a.cc 'b.direct(argc')\$"
    is a-$build member '^the index is `o\.slot`, read at 0x[0-9a-f]+$'
    is a-$build 'call 99' "^the index is what was returned by Book::parse\(\) at a.cc:$(line a.cc 'table.at(parse')\$"
    is a-$build tail "^the index is \`from\`, passed by main\(\) at a.cc:$(line a.cc 'b.tail(')\$"
    is a-$build letter "^the index is \`at - 5\`, passed by main\(\) at a.cc:$(line a.cc 'b.letter("abc", argc')"
    lacks __libc_start
    is b-$build deq '^the index is `i`, passed by main\(\)'
    is b-$build member '^the index is `p\.next`, read at'
    is b-$build bits '^the index is `bit`, passed by main\(\)'
    is b-$build view '^the index is `at`, passed by main\(\)'
    is b-$build cut '^the index is `from`, passed by main\(\)'
    at_most b-$build past '^the index is `p\.rows\.size\(\)`$'
    at_most b-$build last '^the index is `p\.rows\.size\(\) - 4`$'
    at_most b-$build global '^the index is `cursor`'
    at_most b-$build loop '^the index is `i`$'
    at_most b-$build product '^$'
    at_most b-$build opt '^$'
  done
}

@test "C++: the key that a map does not have, unless it is redacted" {
  cxx_program
  for build in fast plain; do
    at_most b-$build key '^the key that it does not have: .*"beta"|^the keys that it has: "Beta", "gamma"$'
    at_most b-$build id '^the key that it does not have: .*42$'
  done
  said b-plain key
  grep -q '"beta"' said
  grep -qx 'the keys that it has: "Beta", "gamma"' said
  "$XCORE" analyze --format json --no-plugins --redact core | jq -r '.verdict.evidence[]' >said
  grep -qx 'it does not have the key' said
  grep -qx 'it has other keys' said
  lacks beta
  lacks gamma
}
