// Dies with secrets of its environment in what it panics with (GOTRACEBACK=crash); see planted.c.
package main

import (
	"errors"
	"os"
)

type refusal struct {
	user, password string
}

//go:noinline
func logIn(password string) int {
	if password != "" {
		panic("no such password: " + password) // dies: value
	}
	return 1
}

//go:noinline
func fail(password string) int {
	if password != "" {
		panic(errors.New(password)) // dies: error
	}
	return 1
}

//go:noinline
func refuse(password string) int {
	if password != "" {
		panic(refusal{"joe", password}) // dies: struct
	}
	return 1
}

//go:noinline
func again(password string) int {
	defer func() {
		panic(recover()) // dies: re-panic
	}()
	return logIn(password)
}

func main() {
	how := ""
	if len(os.Args) > 1 {
		how = os.Args[1]
	}
	planted := os.Getenv("PLANTED_TEXT")
	sum := 0
	switch how {
	case "value":
		sum = logIn(planted)
	case "error":
		sum = fail(planted)
	case "struct":
		sum = refuse(planted)
	case "re-panic":
		sum = again(planted)
	}
	os.Exit(2 + sum)
}
