// Hangs that Go's runtime does not notice, because one goroutine sleeps; and programs that only seem to hang. For
// tests/live/gohang.bats, which looks at the running process.
package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

var sink int

type account struct {
	name    string
	lock    sync.Mutex
	balance int
}

type registry struct {
	lock  sync.RWMutex
	names map[string]int
}

//go:noinline
func transfer(from, to *account) {
	from.lock.Lock()
	time.Sleep(50 * time.Millisecond)
	to.lock.Lock()
	to.balance, from.balance = to.balance+1, from.balance-1
	to.lock.Unlock()
	from.lock.Unlock()
}

//go:noinline
func (a *account) total() int {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.balance
}

//go:noinline
func (a *account) report() {
	a.lock.Lock()
	fmt.Println(a.name, a.total())
	a.lock.Unlock()
}

//go:noinline
func (r *registry) add(name string) {
	r.lock.Lock()
	r.names[name]++
	r.lock.Unlock()
}

//go:noinline
func (r *registry) look(name string) int {
	r.lock.RLock()
	defer r.lock.RUnlock()
	if r.names[name] == 0 {
		r.add(name)
	}
	return r.names[name]
}

//go:noinline
func (r *registry) count(name string) int {
	r.lock.RLock()
	defer r.lock.RUnlock()
	return r.names[name]
}

//go:noinline
func (r *registry) twice(name string, goes *sync.WaitGroup) int {
	r.lock.RLock()
	defer r.lock.RUnlock()
	goes.Wait()
	time.Sleep(50 * time.Millisecond) // the writer comes
	return r.count(name) * 2
}

// It sends while it has the lock; nobody receives.
//
//go:noinline
func (r *registry) tell(items chan int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.names["told"]++
	items <- len(r.names)
}

type settings struct {
	once  sync.Once
	names map[string]int
}

//go:noinline
func (s *settings) load() {
	s.names = map[string]int{"a": s.get("b")}
}

//go:noinline
func (s *settings) get(name string) int {
	s.once.Do(s.load)
	return s.names[name]
}

//go:noinline
func (r *registry) each(visit func(name string)) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for name := range r.names {
		time.Sleep(20 * time.Millisecond)
		visit(name)
	}
}

//go:noinline
func (a *account) visit(name string) {
	a.lock.Lock()
	a.balance += len(name)
	a.lock.Unlock()
}

//go:noinline
func (a *account) flush(r *registry) {
	a.lock.Lock()
	defer a.lock.Unlock()
	time.Sleep(20 * time.Millisecond)
	r.each(func(string) {})
}

// It holds the lock that the goroutine needs which it waits for.
//
//go:noinline
func (a *account) grow() {
	a.lock.Lock()
	for a.balance == 0 {
		runtime.Gosched() // yields
	}
	a.lock.Unlock()
}

//go:noinline
func produce(items chan int) {
	for i := 0; ; i++ {
		items <- i
	}
}

//go:noinline
func consume(items chan int) {
	for item := range items {
		sink += item
	}
}

//go:noinline
func heartbeat() {
	for range time.Tick(20 * time.Millisecond) {
		sink++
	}
}

//go:noinline
func spin() {
	for sink >= 0 {
		sink = sink&1023 + 1
	}
}

//go:noinline
func (a *account) work() {
	a.lock.Lock()
	spin()
	a.lock.Unlock()
}

//go:noinline
func wait(group *sync.WaitGroup) {
	group.Wait()
}

//go:noinline
func (a *account) await() {
	changed := sync.NewCond(&a.lock)
	a.lock.Lock()
	for a.balance == 0 {
		changed.Wait()
	}
	a.lock.Unlock()
}

//go:noinline
func choose(items, others chan int) {
	select {
	case sink = <-items:
	case sink = <-others:
	}
}

func hang(how string) {
	var group sync.WaitGroup
	items := make(chan int)
	one, other := &account{name: "one"}, &account{name: "other"}
	switch how {
	case "order":
		group.Add(2)
		go func() { transfer(one, other); group.Done() }()
		go func() { transfer(other, one); group.Done() }()
		go other.total()
		wait(&group)
	case "self":
		one.report()
	case "upgrade":
		(&registry{names: map[string]int{}}).look("x")
	case "readers", "reader":
		r := &registry{names: map[string]int{}}
		readers := map[string]int{"reader": 1, "readers": 3}[how]
		var ready sync.WaitGroup
		ready.Add(1)
		group.Add(readers)
		for i := 0; i < readers; i++ {
			go func() { sink = r.twice("x", &ready); group.Done() }()
		}
		time.Sleep(20 * time.Millisecond)
		ready.Done()
		go r.add("x")
		time.Sleep(20 * time.Millisecond)
		go r.add("y")
		wait(&group)
	case "tell":
		r := &registry{names: map[string]int{}}
		group.Add(3)
		for i := 0; i < 3; i++ {
			go func() { r.tell(items); group.Done() }()
		}
		for range make(chan int) {
			r.names["never"]++
		}
	case "once":
		sink = (&settings{}).get("a")
	case "callback":
		r := &registry{names: map[string]int{"x": 1}}
		group.Add(2)
		go func() { one.flush(r); group.Done() }()
		go func() { r.each(one.visit); group.Done() }()
		wait(&group)
	case "changes":
		group.Add(1)
		go func() { one.await(); group.Done() }()
		wait(&group)
	case "yields":
		runtime.GOMAXPROCS(1) // so that it is often off its thread
		go one.grow()
		go func() {
			for sink >= 0 {
				runtime.Gosched()
			}
		}()
		time.Sleep(20 * time.Millisecond)
		sink = one.total()
	case "group":
		group.Add(3)
		go func() { sink++; group.Done() }()
		wait(&group)
	case "condition":
		one.await()
	case "send":
		produce(items)
	case "full":
		items = make(chan int, 4)
		go produce(items)
		go produce(items)
		group.Add(1)
		wait(&group)
	case "receive":
		consume(items)
	case "nil":
		items = nil
		consume(items)
	case "select":
		choose(items, make(chan int))
	case "spin":
		go one.work()
		time.Sleep(20 * time.Millisecond)
		sink = one.total()
	}
}

// Locks that are never unlocked: an early return, a panic that is recovered, a reader.

//go:noinline
func (r *registry) put(name string, limit int) bool {
	r.lock.Lock()
	if len(r.names) >= limit {
		return false
	}
	r.names[name]++
	r.lock.Unlock()
	return true
}

//go:noinline
func (a *account) split(parts int) {
	defer func() { recover() }()
	a.lock.Lock()
	a.balance /= parts
	a.lock.Unlock()
}

//go:noinline
func (r *registry) peek(name string) int {
	r.lock.RLock()
	if count, has := r.names[name]; has {
		return count
	}
	r.lock.RUnlock()
	return -1
}

func leak(how string) {
	r := &registry{names: map[string]int{"a": 1}}
	one := &account{name: "one"}
	switch how {
	case "returned":
		r.put("b", 1)
		go r.look("a")
		r.put("c", 9)
	case "recovered":
		one.split(0)
		go one.total()
		one.report()
	case "read":
		sink = r.peek("a")
		go r.look("a")
		r.add("b")
	}
}

// Programs that are well: they wait for clients, signals, time.
func rest(how string) {
	items := make(chan int, 4)
	var group sync.WaitGroup
	group.Add(1)
	for i := 0; i < 3; i++ {
		go consume(items)
	}
	switch how {
	case "serves":
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			os.Exit(2)
		}
		go func() {
			for {
				client, _ := listener.Accept()
				client.Close()
			}
		}()
		group.Wait()
	case "signal":
		ends := make(chan os.Signal, 1)
		signal.Notify(ends, syscall.SIGTERM)
		<-ends
	case "naps":
		time.Sleep(time.Hour)
	case "busy":
		go spin()
		group.Wait()
	}
}

func main() {
	go func() {
		time.Sleep(300 * time.Millisecond)
		fmt.Println("ready")
		heartbeat()
	}()
	hang(os.Args[1])
	leak(os.Args[1])
	rest(os.Args[1])
}
