#!/usr/bin/env bats
# A mutex of Rust that a thread takes again while it holds it, with the functions inlined or not. The program is
# rust_relocks.rs.
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  command -v rustc >/dev/null || skip "there is no rustc here"
  for level in 0 3; do
    rustc -g -C "opt-level=$level" -o "rust_relocks$level" "$repo/tests/cli/rust_relocks.rs"
  done
}

setup() {
  load helper
  cd "$BATS_FILE_TMPDIR" || return 1
}

@test "who takes what its own function holds is told, and not the others that wait for it" {
  for level in 0 3; do
    hang_verdict rust_relocks $level nested
    says 'deadlock (self) likely' 'likely holds mutex ' 'and waits for it again in rust_relocks::Store::resume' \
      '3 threads wait for mutex '
  done
}

@test "who has given it back, or only tried to take it, does not hold it" {
  for level in 0 3; do
    for how in apart tried; do
      hang_verdict rust_relocks $level $how
      never 'deadlock (self)'
      never 'waits for it again'
    done
  done
}
