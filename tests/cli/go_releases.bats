#!/usr/bin/env bats
# Locks and WaitGroups of Go that were released once too often: who else releases them.
# shellcheck disable=SC2154 # helper.bash and bats set them
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  command -v go >/dev/null || skip "there is no go here"
}

# program: each case releases twice.
program() {
  cat >twice.go <<'EOF'
package main

import (
	"fmt"
	"os"
	"sync"
)

type store struct {
	mu   sync.Mutex
	rw   sync.RWMutex
	data map[string]int
}

func (s *store) get(k string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.data[k]
	if !ok {
		s.mu.Unlock()
		return -1
	}
	return v
}

func (s *store) peek(k string) int {
	s.rw.RLock()
	v, ok := s.data[k]
	if !ok {
		s.rw.RUnlock()
	}
	s.rw.RUnlock()
	return v
}

func (s *store) put(k string, v int) {
	s.rw.Lock()
	s.data[k] = v
	s.drop()
	s.rw.Unlock()
}

func (s *store) drop() {
	if len(s.data) > 1 {
		s.rw.Unlock()
	}
}

type pool struct {
	wg  sync.WaitGroup
	bad int
}

func (p *pool) run(fail bool) {
	defer p.wg.Done()
	if fail {
		p.bad++
		p.wg.Done()
	}
}

func main() {
	s := &store{data: map[string]int{"a": 1}}
	switch os.Args[1] {
	case "mutex":
		fmt.Println(s.get("a"), s.get("b"))
	case "read":
		fmt.Println(s.peek("a"), s.peek("b"))
	case "group":
		p := &pool{}
		for i := 0; i < 3; i++ {
			p.wg.Add(1)
			p.run(i == 2)
		}
	case "write":
		s.put("a", 2)
		s.put("b", 2)
	}
}
EOF
  go build -o twice twice.go
}

# said CASE: class, kind, function; then the evidence.
said() {
  rm -f core
  GOTRACEBACK=crash "$repo/corpora/take-core" --out core -- ./twice "$1" >/dev/null 2>&1 || skip "no core can be taken here"
  "$XCORE" analyze --format json --no-plugins core | jq -r '.verdict | "\(.class) \(.kind) \(.function)", .evidence[]' >said
}

@test "who released it before: the function itself" {
  program
  said mutex
  has '^panic unlock main\.\(\*store\)\.get' '^Unlock\(\) is called in main\.\(\*store\)\.get, twice\.go:20, too: likely it released twice$'
  said read
  has '^panic unlock main\.\(\*store\)\.peek' '^RUnlock\(\) is called in main\.\(\*store\)\.peek, twice\.go:30, too'
  lacks '^Unlock\(\) is called'
  said group
  has '^panic explicit main\.\(\*pool\)\.run' '^Done\(\) is called in main\.\(\*pool\)\.run, twice\.go:[0-9]+, too'
}

@test "who released it before: another function" {
  program
  said write
  has '^panic unlock main\.\(\*store\)\.put' '^Unlock\(\) is called in main\.\(\*store\)\.drop, twice\.go:[0-9]+$'
  lacks 'likely it released twice'
}
