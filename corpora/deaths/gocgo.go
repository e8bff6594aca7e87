// Dies in C that Go called, or beside it, as the system's linker makes such programs (GOTRACEBACK=crash).
//
// build go-pie: -buildmode=pie
// build go-piestripped: -buildmode=pie "-ldflags=-s -w"
// build go-exported: -buildmode=pie "-ldflags=-s -w -extldflags=-rdynamic"
package main

/*
#cgo CFLAGS: -g -O1
#include <stdlib.h>

struct box {
	int count, weight;
};

int __attribute__((noinline)) weigh(struct box *box)
{
	return box->weight + 1; // dies: null
}

static int __attribute__((noinline)) give_up(int state)
{
	if (state > 0)
		abort(); // dies: abort
	return state;
}
*/
import "C"
import "os"

//go:noinline
func weigh(box *C.struct_box) int {
	return int(C.weigh(box)) + 1
}

//go:noinline
func giveUp(state int) int {
	return int(C.give_up(C.int(state))) + 1
}

//go:noinline
func item(weights []int, i int) int {
	return weights[i] + 1 // dies: index
}

func main() {
	how := ""
	if len(os.Args) > 1 {
		how = os.Args[1]
	}
	sum := 0
	switch how {
	case "null":
		sum = weigh(nil)
	case "index":
		sum = item(make([]int, 3), 8+len(os.Args))
	case "abort":
		sum = giveUp(len(os.Args))
	}
	os.Exit(2 + sum)
}
