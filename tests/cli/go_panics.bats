#!/usr/bin/env bats
# Panics of Go: which variable or member is the nil or closed one, by the names in the line of the source.
# shellcheck disable=SC2154 # helper.bash and bats set them
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  command -v go >/dev/null || skip "there is no go here"
}

# program: each case has a function whose name is that of the case.
program() {
  cat >panics.go <<'END'
package main

import (
	"io"
	"os"
	"sync"
)

var sink int

type peer struct{ n int }

type conn struct {
	n    int
	peer *peer
}

type session struct {
	name        string
	other, conn *conn
	sink, more  io.Writer
	names, last map[string]int
	out, in     chan int
	items       []int
	lock        sync.Mutex
}

//go:noinline
func (s *session) field() { s.conn.n = 7 }

//go:noinline
func (s *session) deep() { s.conn.peer.n = s.conn.n }

//go:noinline
func local(s *session) {
	at := s.other
	sink = at.n
}

//go:noinline
func argument(p, q *peer) { sink = q.n }

//go:noinline
func (c *conn) alone() { c.peer.n = c.n }

//go:noinline
func (s *session) writer() { s.sink.Write(nil) }

//go:noinline
func (s *session) assign() { s.names[s.name]++ }

//go:noinline
func (s *session) send() { s.out <- 1 }

//go:noinline
func (s *session) twice() { close(s.out) }

//go:noinline
func (s *session) never() { close(s.in) }

//go:noinline
func (s *session) index(i int) { sink = s.items[i] }

//go:noinline
func first() { panic("first") }

//go:noinline
func second() { panic("second") }

//go:noinline
func both() {
	ready := make(chan bool)
	go func() {
		defer func() { ready <- true; select {} }()
		first()
	}()
	<-ready
	second()
}

func main() {
	s := &session{name: "atlas", out: make(chan int, 1), items: make([]int, 3)}
	close(s.out)
	switch os.Args[1] {
	case "field":
		s.field()
	case "deep":
		s.conn = &conn{n: 5}
		s.deep()
	case "alone":
		(&conn{n: 5}).alone()
	case "local":
		local(s)
	case "argument":
		argument(&peer{}, nil)
	case "writer":
		s.writer()
	case "assign":
		s.assign()
	case "send":
		s.send()
	case "twice":
		s.twice()
	case "never":
		s.never()
	case "index":
		s.index(9)
	case "both":
		both()
	}
}
END
  export GO111MODULE=off GOCACHE=${GOCACHE:-$PWD/cache}
  go build -o fast panics.go
  go build -gcflags='-N -l' -o plain panics.go
}

# evidence BUILD CASE [OPTION]...: of the core of a program that panics
evidence() {
  rm -f core
  GOTRACEBACK=crash "$repo/corpora/take-core" --out core -- "./$1" "$2" >/dev/null 2>&1
  "$XCORE" analyze --format json core "${@:3}" | jq -r '.verdict.class, .verdict.cause, .verdict.evidence[]'
}

# said CASE NAME STATE [EXPRESSION]: no other name is given. The optimized build has lost most variables; of a nil pointer
# both know what was read.
said() {
  local build got
  for build in fast plain; do
    got=$(evidence $build "$1" --source-root "$PWD")
    [ "$(head -n 1 <<<"$got")" = panic ]
    [ -z "$(grep -E '^`[^`]+` is (a )?(nil|closed)' <<<"$got" | grep -vxF -- "\`$2\` $3")" ]
    [ $build = fast ] || [ -z "$3" ] || grep -qxF -- "\`$2\` $3" <<<"$got"
    [ -z "${4:-}" ] || sed -n 2p <<<"$got" | grep -qE -- "dereferenced a nil pointer: \`($4)\` was nil(; (passed|read) .*)?$"
  done
}

@test "the nil or closed one of the source line" {
  program
  said field s.conn 'is nil' 's\.conn'
  said deep s.conn.peer 'is nil' 's\.conn\.peer'
  said local at 'is nil' 'at|s\.other'
  said argument q 'is nil' q
  said writer s.sink 'is a nil interface' 's\.sink\.tab'
  said assign s.names 'is nil'
  said send s.out 'is closed'
  said twice s.out 'is closed'
  said never s.in 'is nil'
}

@test "without the source only what is the only one" {
  program
  mv panics.go elsewhere.go
  evidence plain alone | grep -qxF 'of what its variables lead to, only `c.peer` is nil'
  [ -z "$(evidence plain field | grep -F 'is nil')" ]
}

@test "what the function was passed, unless it is redacted" {
  program
  evidence plain index --source-root "$PWD" | grep -F '`s` leads to a main.session: {name = "atlas", ' | grep -qF 'items = '
  [ -z "$(evidence plain index --source-root "$PWD" | grep -E '` is (nil|closed)')" ]
  evidence plain index --redact | grep -qxF '`s` leads to a main.session'
}

@test "another goroutine that panics" {
  program
  for build in fast plain; do
    evidence $build both | grep -qE '^goroutine [0-9]+ panics, too, in main.both.func1.1, panics.go:[0-9]+$'
    [ -z "$(evidence $build index | grep 'panics, too')" ]
  done
}
