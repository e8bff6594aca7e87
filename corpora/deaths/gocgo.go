// Dies in C that Go called (GOTRACEBACK=crash).
package main

/*
#cgo CFLAGS: -g -O1
#include <stdlib.h>

struct box {
	int count, weight;
};

static int __attribute__((noinline)) weigh(struct box *box)
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

func main() {
	how := ""
	if len(os.Args) > 1 {
		how = os.Args[1]
	}
	sum := 0
	switch how {
	case "null":
		sum = weigh(nil)
	case "abort":
		sum = giveUp(len(os.Args))
	}
	os.Exit(2 + sum)
}
