#!/usr/bin/env bats
# Hangs at channels of Go: whether anybody is left who could receive or send, who else has the channel, and its name.
# shellcheck disable=SC2154 # helper.bash and bats set them
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  command -v go >/dev/null || skip "there is no go here"
}

program() {
  cat >channels.go <<'END'
package main

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

var sink int

type server struct {
	lock    sync.Mutex
	results chan int
	count   int
}

//go:noinline
func query(i int, out chan int, group *sync.WaitGroup) {
	defer group.Done()
	out <- i
}

// Only the first answer is taken.
//go:noinline
func first() {
	out := make(chan int)
	var group sync.WaitGroup
	for i := 0; i < 5; i++ {
		group.Add(1)
		go query(i, out, &group)
	}
	sink = <-out
	group.Wait()
}

//go:noinline
func worker(jobs <-chan int, group *sync.WaitGroup) {
	defer group.Done()
	for n := range jobs {
		sink += n
	}
}

// The channel is closed too late.
//go:noinline
func unclosed() {
	jobs := make(chan int, 8)
	var group sync.WaitGroup
	for i := 0; i < 3; i++ {
		group.Add(1)
		go worker(jobs, &group)
	}
	jobs <- 7
	group.Wait()
	close(jobs)
}

//go:noinline
func consume(in chan int) {
	for n := range in {
		if n == 2 {
			return
		}
	}
}

// The receiver has returned.
//go:noinline
func gone() {
	in := make(chan int, 1)
	go consume(in)
	for i := 0; i < 100; i++ {
		in <- i
	}
}

//go:noinline
func (s *server) drain() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.count += <-s.results
}

//go:noinline
func (s *server) put(n int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.results <- n
}

// Who could send needs the mutex of who receives.
//go:noinline
func locked() {
	s := &server{results: make(chan int)}
	go s.drain()
	time.Sleep(20 * time.Millisecond)
	s.put(1)
}

// ---- well ----

//go:noinline
func later() {
	items := make(chan int)
	go func() {
		time.Sleep(time.Hour)
		sink = <-items
	}()
	items <- 1
}

//go:noinline
func timer() {
	done := make(chan int)
	time.AfterFunc(time.Hour, func() { close(done) })
	<-done
}

// Its workers are idle.
//go:noinline
func serves() {
	jobs := make(chan int)
	var group sync.WaitGroup
	for i := 0; i < 3; i++ {
		group.Add(1)
		go worker(jobs, &group)
	}
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	go func() {
		client, _ := listener.Accept()
		client.Close()
		jobs <- 1
	}()
	group.Wait()
}

func main() {
	if len(os.Args) > 2 {
		go func() {
			time.Sleep(100 * time.Millisecond)
			fmt.Println("ready")
			time.Sleep(time.Hour)
		}()
	}
	map[string]func(){"first": first, "unclosed": unclosed, "gone": gone, "locked": locked,
		"later": later, "timer": timer, "serves": serves}[os.Args[1]]()
}
END
  export GOCACHE=${GOCACHE:-$BATS_FILE_TMPDIR/cache} GO111MODULE=off GOTRACEBACK=crash CGO_ENABLED=0 # with C, the runtime never notices that all sleep
  go build -gcflags='-N -l' -o plain channels.go
  go build -o fast channels.go
}

# hang BUILD CASE: the verdict on it, to the file `said`: of its core
hang() {
  "$repo/corpora/take-core" --kill ABRT --out core -- "./$1" "$2" beside >/dev/null 2>&1 || skip "no core can be taken here"
  judge
}

judge() {
  "$XCORE" analyze --format json --no-plugins core | jq -r '.verdict | "\(.class) \(.kind) \(.confidence) \(.function)", .headline, .cause, .evidence[]' >said
}

@test "who sends or receives for good, while others sleep" {
  program
  for build in plain fast; do
    hang $build first
    says 'deadlock goroutines likely main.query' "deadlock: main's goroutine and 4 others likely wait for good" \
      'so do 3 more; likely for good: no goroutine that could receive from it has the channel; it is known to goroutine 1 (`out`), which waits for a sync.WaitGroup, whose counter is 4'
    hang $build unclosed
    says 'deadlock goroutines likely main.unclosed' 'receives from a channel, `jobs` (0x' \
      'likely for good: no goroutine that could send to it, or close it, has the channel; it is known to goroutine 1 (`jobs`)'
    hang $build gone
    says 'deadlock goroutines likely main.gone' 'sends to a channel whose buffer of 1 is full, `in` (0x' 'no goroutine that could receive from it has the channel'
    never 'it is known to'
    hang $build locked
    says 'deadlock goroutines likely main.(*server).drain' 'receives from a channel, `s.results` (0x' \
      'which has it as `s.lock` in main.(*server).drain' 'it is known to goroutine 1 (`s.results`), which waits for a sync.Mutex'
  done
}

@test "who will go on by a timer, another goroutine or a client is not stuck" {
  program
  for build in plain fast; do
    for case in later timer serves; do
      hang $build $case
      says 'killed null certain'
      never 'for good'
    done
  done
}

@test "of a program whose goroutines all sleep: the channel, who has it, and who holds a mutex" {
  program
  for case in first locked; do
    "$repo/corpora/take-core" --out core -- ./plain $case >/dev/null 2>&1 || skip "no core can be taken here"
    judge
    says 'deadlock goroutines certain'
    case $case in
    first) says 'waits (chan send) in main.query, channels.go:' '; so do 3 more; the channel is `out`; it is known to goroutine 1 (`out`), which waits for a sync.WaitGroup' ;;
    locked) says 'in main.(*server).put, channels.go:' 'which has it as `s.lock` in main.(*server).drain' 'the channel is `s.results`; it is known to goroutine 1 (`s.results`)' ;;
    esac
  done
}
