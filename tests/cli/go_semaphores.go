// Goroutines that wait for a place of a semaphore, a channel. Argument: what has the places.
package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

var errMany = errors.New("too many redirects")

type gate struct{ slots chan struct{} }

func (g *gate) take() { g.slots <- struct{}{} }
func (g *gate) give() { <-g.slots }

type client struct {
	g       *gate
	updates chan struct{}
	what    string
	done    int
}

func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// One way leads out of it without giving the place back, if so asked.
func (c *client) fetch(n int) error {
	slot := c.g.slots
	slot <- struct{}{}
	if (c.what == "lost" || c.what == "asleep") && n%4 == 1 {
		return errMany
	}
	if c.what == "had" && n < 2 {
		forever()
	}
	time.Sleep(time.Millisecond)
	c.done++
	<-slot
	return nil
}

// The functions that take and give a place return while it is taken.
func (c *client) helped(n int) error {
	c.g.take()
	if n < 2 {
		forever()
	}
	c.g.give()
	return nil
}

func (c *client) deferred(n int) error {
	c.g.take()
	defer c.g.give()
	if n < 2 {
		forever()
	}
	return nil
}

// Each level takes one: those that wait have the places.
func (c *client) nested(n int) error {
	slot := c.g.slots
	slot <- struct{}{}
	if n < 1000 {
		time.Sleep(50 * time.Millisecond)
		c.nested(n + 1000)
	}
	<-slot
	return nil
}

// Other functions take places of the same semaphore.
func (c *client) shared(n int) error {
	slot := c.g.slots
	slot <- struct{}{}
	<-slot
	return nil
}

func (c *client) upload() {
	c.g.slots <- struct{}{}
	forever()
	<-c.g.slots
}

// Nobody takes anything: each tells that it has ended.
func (c *client) counted(n int) error {
	defer func() { c.done++ }()
	c.updates <- struct{}{}
	return nil
}

// A channel of notices: who reads it is busy.
func (c *client) notify(int) error {
	c.updates <- struct{}{}
	return nil
}

func (c *client) listen() {
	<-c.updates
	forever()
}

// The runtime does not notice that the others hang.
func (c *client) progress() {
	for range time.Tick(100 * time.Millisecond) {
		if c.done < 0 {
			fmt.Println(c.done)
		}
	}
}

//go:noinline
func newClient(what string) *client {
	return &client{g: &gate{make(chan struct{}, 2)}, updates: make(chan struct{}, 2), what: what}
}

// What was on the stack is gone.
//
//go:noinline
func overwrite(n int) (sum int) {
	var room [512]int
	for i := range room {
		room[i] = n + i
		sum += room[i]
	}
	return sum
}

func main() {
	c := newClient(os.Args[1])
	overwrite(len(os.Args))
	work := map[string]func(int) error{"helped": c.helped, "deferred": c.deferred, "notices": c.notify,
		"nested": c.nested, "shared": c.shared, "counted": c.counted}[c.what]
	if work == nil {
		work = c.fetch
	}
	go c.listen()
	if c.what == "shared" {
		go c.upload()
		go c.upload()
		time.Sleep(50 * time.Millisecond)
	}
	if c.what != "asleep" {
		go c.progress()
	}
	var all sync.WaitGroup
	for w := 0; w < 4; w++ {
		all.Add(1)
		go func(w int) {
			defer all.Done()
			for n := w; n < 100; n += 4 {
				if err := work(n); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
			}
		}(w)
	}
	time.Sleep(700 * time.Millisecond)
	fmt.Println("ready")
	all.Wait()
}
