#!/usr/bin/env bats
# Channels of Go that were closed before they were used: which object has it, and who closes it.
# shellcheck disable=SC2154 # helper.bash and bats set them
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  command -v go >/dev/null || skip "there is no go here"
}

# program: each case panics in a function of its name.
program() {
  cat >closed.go <<'EOF'
package main

import (
	"os"
	"time"
)

type member struct {
	id   int
	name string
	out  chan int
	quit chan int
}

// its quit is where a member has its out
type other struct {
	id   int
	name string
	quit chan int
	out  chan int
}

type room struct {
	members map[int]*member
	jobs    chan int
}

//go:noinline
func (r *room) list() []*member {
	all := make([]*member, 0, len(r.members))
	for _, m := range r.members {
		all = append(all, m)
	}
	return all
}

//go:noinline
func (r *room) send() (n int) {
	for _, m := range r.list() {
		m.out <- n
		n++
	}
	return n
}

//go:noinline
func (r *room) kick(id int) {
	m := r.members[id]
	delete(r.members, id)
	close(m.quit)
	close(m.out)
}

//go:noinline
func (r *room) reap() {
	for id := range r.members {
		r.kick(id)
		time.Sleep(time.Hour)
	}
}

//go:noinline
func (o *other) stop() {
	close(o.quit)
	close(o.out)
}

//go:noinline
func (r *room) twice() { close(r.jobs) }

//go:noinline
func (r *room) choose(m *member) {
	select {
	case m.out <- 1:
	case <-m.quit:
	}
}

//go:noinline
func (m *member) never() { close(m.quit) }

func main() {
	r := &room{members: map[int]*member{}, jobs: make(chan int)}
	m := &member{id: 7, name: "cid", out: make(chan int, 2), quit: make(chan int)}
	r.members[7] = m
	switch os.Args[1] {
	case "send":
		m.out <- 1
		m.out <- 2
		time.AfterFunc(100*time.Millisecond, r.reap)
		r.send()
	case "twice":
		r.twice()
		r.twice()
	case "choose":
		close(m.out)
		r.choose(m)
	case "never":
		m.quit = nil
		m.never()
	case "other":
		(&other{out: make(chan int), quit: make(chan int)}).stop()
	}
}
EOF
  export GO111MODULE=off GOCACHE=${GOCACHE:-$PWD/cache}
  go build -o fast closed.go && go build -gcflags='-N -l' -o plain closed.go
}

# said BUILD CASE [OPTION]...: cause and evidence of its core, to the file `said`
said() {
  rm -f core
  GOTRACEBACK=crash "$repo/corpora/take-core" --out core -- "./$1" "$2" >/dev/null 2>&1 || skip "no core can be taken here"
  "$XCORE" analyze --format json --no-plugins core "${@:3}" |
    jq -r '.verdict | "\(.class) \(.kind) \(.function)", .cause, .evidence[]' >said
}

line_of() {
  grep -nF -m 1 -- "$1" closed.go | cut -d: -f1
}

@test "a send on a closed channel: the object that has it, and who closes it" {
  program
  for build in fast plain; do
    said $build send --source-root "$PWD"
    has '^panic channel main\.\(\*room\)\.send$' 'sent on a closed channel: `m\.out`$' \
      '^the channel \(0x[0-9a-f]+\) is closed, its buffer has 2 of 2 items$' \
      '^`m` (leads to a main\.member|likely led to the only main\.member that has the channel as `out` .*): \{id = 7, name = "cid"' \
      "^\`close\(m\.out\)\` stands in main\.\(\*room\)\.kick, closed\.go:$(line_of '	close(m.out)')\$" \
      '^goroutine [0-9]+ is in main\.\(\*room\)\.reap now, which calls main\.\(\*room\)\.kick at closed\.go:[0-9]+$'
    lacks 'close\(.*quit\)' 'other\)\.stop' 'stands in main.*twice'
  done
}

@test "redacted: without the object's content" {
  program
  said fast send --redact --source-root "$PWD"
  has '^`m` likely led to the only main\.member that has the channel as `out`$'
  lacks 'cid'
}

@test "a channel that is closed twice" {
  program
  for build in fast plain; do
    said $build twice --source-root "$PWD"
    has 'closed a closed channel: `r\.jobs`$' 'no other close\(\) of a channel of this name was found in the program'
    lacks 'stands in'
  done
}

@test "a select that sends" {
  program
  for build in fast plain; do
    said $build choose --source-root "$PWD"
    has '^panic channel main\.\(\*room\)\.choose$' \
      "^\`close\(m\.out\)\` stands in main\.\(\*room\)\.kick, closed\.go:$(line_of '	close(m.out)')\$"
  done
}

@test "without sources: what closes a channel at the same offset" {
  program
  mkdir hidden && mv closed.go hidden/
  for build in fast plain; do
    said $build send
    has 'sent on a closed channel(: `m\.out`)?$'
    lacks 'stands in' 'other\)\.stop'
  done
}

@test "nobody closed a nil channel" {
  program
  for build in fast plain; do
    said $build never --source-root "$PWD"
    has 'closed a nil channel: `m\.quit`$'
    lacks 'stands in' 'is closed, ' 'closed it'
  done
}
