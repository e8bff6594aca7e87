// Dies of SIGABRT because a goroutine panics and nothing recovers (GOTRACEBACK=crash).
//
// build go-nodwarf: -ldflags=-w
// build go-trimmed: -trimpath
// build go-oall: "-gcflags=all=-N -l"
// build go-stripped: "-ldflags=-s -w"
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"unsafe"
)

type request struct {
	id       int
	location string
	next     *request
}

type queue struct {
	head  int
	items []uint32
	index map[string]int
	done  chan int
}

type badOrder struct {
	id  int
	why string
}

func (e *badOrder) Error() string {
	return fmt.Sprintf("order %d: %s", e.id, e.why)
}

type code int

func (c code) Error() string {
	return "a code"
}

type point struct {
	x, y int
}

type shape interface {
	area() float64
}

type square struct {
	side float64
}

func (s *square) area() float64 {
	return s.side * s.side
}

var (
	sink  int
	words []string
	one   = 1
	zero  = 0
	errIO = errors.New("the disk is full")
)

//go:noinline
func giveUp(state int) int {
	if state > 0 {
		panic("the state cannot be") // dies: text goroutine
	}
	return state
}

//go:noinline
func giveUpFormatted(state int) int {
	if state > 0 {
		panic(fmt.Sprintf("state %d cannot be", state)) // dies: formatted
	}
	return state
}

//go:noinline
func failPlain(state int) int {
	if state > 0 {
		panic(errIO) // dies: error
	}
	return state
}

//go:noinline
func failWrapped(state int) int {
	if state > 0 {
		panic(fmt.Errorf("cannot save state %d: %w", state, errIO)) // dies: wrapped
	}
	return state
}

//go:noinline
func failOwn(id int) int {
	if id > 1000 {
		panic(&badOrder{id, "too large"}) // dies: own
	}
	return id
}

//go:noinline
func readFar(at uintptr) int {
	debug.SetPanicOnFault(true)
	return *(*int)(unsafe.Pointer(at)) // dies: far-read
}

//go:noinline
func failCode(id int) int {
	if id > 1000 {
		panic(code(id)) // dies: code
	}
	return id
}

//go:noinline
func failNumber(id int) int {
	if id > 1000 {
		panic(id) // dies: number
	}
	return id
}

//go:noinline
func failFloat(part float64) float64 {
	if part > 0.5 {
		panic(part) // dies: float
	}
	return part
}

//go:noinline
func failStruct(x int) int {
	if x > 0 {
		panic(point{x, 2 * x}) // dies: struct
	}
	return x
}

//go:noinline
func failNil(x int) int {
	if x > 0 {
		panic(nil) // dies: nothing
	}
	return x
}

//go:noinline
func item(q *queue, i int) uint32 {
	return q.items[i] + 1 // dies: index
}

//go:noinline
func part(q *queue, from int) int {
	return len(q.items[from:2]) + 1 // dies: slice
}

//go:noinline
func ratio(sum, count int) int {
	return sum/count + 1 // dies: divide
}

//go:noinline
func shift(value, by int) int {
	return value<<by + 1 // dies: shift
}

//go:noinline
func remember(q *queue, key string) {
	q.index[key] = 4 // dies: nil-map
	sink++
}

//go:noinline
func secondID(r *request) int {
	return r.next.id + 1 // dies: nil-read
}

//go:noinline
func redirect(r *request) {
	r.location = "/moved" // dies: nil-write
	sink++
}

//go:noinline
func apply(callback func(int) int) int {
	return callback(3) + 1 // dies: nil-call
}

//go:noinline
func areaOf(s shape) float64 {
	return s.area() + 1 // dies: nil-interface
}

//go:noinline
func sideOf(s interface{}) float64 {
	return s.(*square).side // dies: assertion assertion-nil
}

//go:noinline
func shapeOf(s interface{}) shape {
	return s.(shape) // dies: assertion-method
}

//go:noinline
func send(q *queue) {
	q.done <- 1 // dies: closed-send
	sink++
}

//go:noinline
func finish(q *queue) {
	close(q.done) // dies: closed-close nil-close
	sink++
}

//go:noinline
func allocate(count int) []uint64 {
	return make([]uint64, count) // dies: make
}

//go:noinline
func count(seen map[interface{}]int, key interface{}) {
	seen[key]++ // dies: unhashable
	sink++
}

//go:noinline
func same(a, b interface{}) bool {
	return a == b // dies: uncomparable
}

//go:noinline
func repeat(text string, times int) string {
	return strings.Repeat(text, times) + "." // dies: library
}

//go:noinline
func sorted(numbers []int) {
	sort.Slice(numbers, func(i, j int) bool {
		return numbers[i] < numbers[j+10] // dies: callback
	})
	sink++
}

//go:noinline
func copyAll(from io.Reader) int64 {
	n, err := io.Copy(io.Discard, from) // dies: nil-reader
	if err != nil {
		return 0
	}
	return n
}

//go:noinline
func release(group *sync.WaitGroup) {
	group.Done() // dies: waitgroup
	sink++
}

//go:noinline
func again(state int) {
	defer func() {
		if got := recover(); got != nil {
			panic(fmt.Sprint("again: ", got)) // dies: again
		}
	}()
	giveUp(state)
}

//go:noinline
func worse(q *queue) {
	defer func() {
		sink += int(q.items[q.head]) // dies: in-defer
	}()
	giveUp(q.head)
}

// The first panic is recovered, and only the second one kills.
//
//go:noinline
func survive(q *queue) {
	func() {
		defer func() { _ = recover() }()
		giveUp(q.head)
	}()
	sink = int(item(q, q.head))
}

func (q *queue) pop() uint32 {
	return q.items[q.head] + 1 // dies: method
}

func inGoroutine() {
	done := make(chan int)
	go func() {
		giveUp(one)
		done <- 1
	}()
	<-done
}

func main() {
	how := ""
	if len(os.Args) > 1 {
		how = os.Args[1]
	}
	q := &queue{head: 7, items: []uint32{1, 2, 3}}
	words = append(words, how)
	switch how {
	case "text":
		sink = giveUp(one)
	case "formatted":
		sink = giveUpFormatted(one + 3)
	case "error":
		sink = failPlain(one)
	case "wrapped":
		sink = failWrapped(one + 3)
	case "own":
		sink = failOwn(one + 1000)
	case "code":
		sink = failCode(one + 1000)
	case "number":
		sink = failNumber(one + 1000)
	case "float":
		sink = int(failFloat(float64(one) * 0.75))
	case "struct":
		sink = failStruct(one)
	case "nothing":
		sink = failNil(one)
	case "index":
		sink = int(item(q, 9*one))
	case "slice":
		sink = part(q, 3*one)
	case "divide":
		sink = ratio(5, zero)
	case "shift":
		sink = shift(5, -one)
	case "nil-map":
		remember(q, "key")
	case "far-read":
		sink = readFar(uintptr(one) * 0x123456780000)
	case "nil-read":
		sink = secondID(&request{id: one})
	case "nil-write":
		var none *request
		redirect(none)
	case "nil-call":
		sink = apply(nil)
	case "nil-interface":
		sink = int(areaOf(nil))
	case "assertion":
		sink = int(sideOf(q))
	case "assertion-nil":
		sink = int(sideOf(nil))
	case "assertion-method":
		sink = int(shapeOf(q).area())
	case "closed-send":
		q.done = make(chan int, 1)
		close(q.done)
		send(q)
	case "closed-close":
		q.done = make(chan int, 1)
		close(q.done)
		finish(q)
	case "nil-close":
		finish(q)
	case "make":
		sink = len(allocate(-one))
	case "unhashable":
		count(map[interface{}]int{}, q.items)
	case "uncomparable":
		sink = len(words)
		if same(q.items, q.items) {
			sink = 3
		}
	case "library":
		sink = len(repeat("ab", -one))
	case "callback":
		sorted([]int{3, 2, 1})
	case "nil-reader":
		sink = int(copyAll(nil))
	case "waitgroup":
		release(&sync.WaitGroup{})
	case "again":
		again(one)
	case "in-defer":
		worse(q)
	case "recovered":
		survive(q)
	case "method":
		sink = int(q.pop())
	case "goroutine":
		inGoroutine()
	}
	os.Exit(2)
}
