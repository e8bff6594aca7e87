#!/usr/bin/env bats
# Semaphores of Go whose places were not given back, or are had by somebody. The program is go_semaphores.go.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  command -v go >/dev/null || skip "there is no Go here"
  export HOME=$BATS_FILE_TMPDIR GOTRACEBACK=crash
  cp "$repo/tests/cli/go_semaphores.go" .
  go build -o semaphores0 go_semaphores.go
  go build -gcflags '-N -l' -o semaphores1 go_semaphores.go
}

setup() {
  load helper
  export GOTRACEBACK=crash
  cd "$BATS_FILE_TMPDIR" || return 1
}

@test "places that were not given back are told where they are taken" {
  for level in 0 1; do
    for what in lost asleep; do
      hang_verdict semaphores $level $what
      says 'all places of the semaphore ' ' are taken, and no goroutine is seen beyond main.(*client).fetch, go_semaphores.go:' \
        'perhaps they were not given back'
    done
  done
}

@test "places that a goroutine has, or a channel that somebody else reads, are not told so" {
  for level in 0 1; do
    for what in had helped deferred notices nested shared counted; do
      hang_verdict semaphores $level $what
      never 'not given back'
    done
  done
}
