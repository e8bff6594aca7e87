// Dies of SIGABRT by a fatal error of Go's runtime, which cannot be recovered (GOTRACEBACK=crash).
//
// build go-nodwarf: -ldflags=-w
// build go-trimmed: -trimpath
// build go-oall: "-gcflags=all=-N -l"
// build go-stripped: "-ldflags=-s -w"
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

type node struct {
	left, right *node
	weight      [64]int
}

var (
	sink   int
	one    = 1
	shared = map[int]int{}
	mutex  sync.Mutex
	both   sync.RWMutex
)

//go:noinline
func record(from int) {
	for i := from; ; i++ {
		shared[i&1023] = i // dies: map-writes
	}
}

//go:noinline
func look() int {
	sum := 0
	for i := 0; ; i++ {
		sum += shared[i&1023] // dies: map-read
	}
}

//go:noinline
func unlock() {
	mutex.Unlock() // dies: unlock
	sink++
}

//go:noinline
func unlockRead() {
	both.RUnlock() // dies: runlock
	sink++
}

//go:noinline
func wait(done chan int) {
	sink = <-done // dies: asleep asleep-many
}

//go:noinline
func lockTwice() {
	mutex.Lock()
	mutex.Lock() // dies: asleep-lock
	sink++
}

//go:noinline
func lockBoth(first, second *sync.Mutex, done *sync.WaitGroup) {
	defer done.Done()
	first.Lock()
	time.Sleep(5 * time.Millisecond)
	second.Lock() // dies: asleep-order
	sink++
}

//go:noinline
func depth(n *node, level int) int {
	room := n.weight
	room[level&63] = level
	if n.left == nil {
		return 1
	}
	return depth(n.left, level+1) + room[(level+1)&63]
}

//go:noinline
func reserve(count int) int {
	bytes := make([]byte, count) // dies: oom
	return len(bytes)
}

//go:noinline
func store(at uintptr) {
	*(*uint32)(unsafe.Pointer(at)) = 5 // dies: wild-write
	sink++
}

//go:noinline
func load(at uintptr) uint64 {
	return *(*uint64)(unsafe.Pointer(at)) + 1 // dies: wild-read wild-noncanonical
}

//go:noinline
func storeText(text string) {
	*(*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&text))) = 'x' // dies: write-constant
	sink++
}

func main() {
	how := ""
	if len(os.Args) > 1 {
		how = os.Args[1]
	}
	switch how {
	case "map-writes":
		go record(one)
		record(one + 1)
	case "map-read":
		go record(one)
		sink = look()
	case "unlock":
		unlock()
	case "runlock":
		unlockRead()
	case "asleep":
		wait(make(chan int))
	case "asleep-many":
		done := make(chan int)
		for i := 0; i < 2000*one; i++ {
			go wait(done)
		}
		wait(done)
	case "asleep-lock":
		lockTwice()
	case "asleep-order":
		var one, other sync.Mutex
		var done sync.WaitGroup
		done.Add(2)
		go lockBoth(&one, &other, &done)
		go lockBoth(&other, &one, &done)
		done.Wait()
	case "exited":
		runtime.Goexit()
	case "overflow":
		debug.SetMaxStack(1 << 20)
		loop := &node{}
		loop.left = loop
		sink = depth(loop, one)
	case "oom":
		limit := syscall.Rlimit{Cur: 1 << 30, Max: 1 << 30}
		_ = syscall.Setrlimit(syscall.RLIMIT_AS, &limit)
		sink = reserve(one << 31)
	case "wild-write":
		store(uintptr(one) * 0x123456789000)
	case "wild-read":
		sink = int(load(uintptr(one) * 0x123456789000))
	case "wild-noncanonical":
		sink = int(load(uintptr(one) * 0x1234567890abcde0))
	case "write-constant":
		storeText("constant")
	case "quit", "watched":
		fmt.Println("ready")
		time.Sleep(time.Hour)
	}
	os.Exit(2)
}
