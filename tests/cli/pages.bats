#!/usr/bin/env bats
# The manual page and the completions are generated from tables; their readers (man, shells) must accept them.
# shellcheck disable=SC2016 # inner shells expand their own words
bats_require_minimum_version 1.5.0

setup() {
  load helper
}

@test "the manual page has no errors" {
  "$XCORE" help --man >"$BATS_TEST_TMPDIR/xcore.1"
  command -v mandoc >/dev/null || skip "no mandoc"
  run -0 mandoc -T lint -W warning "$BATS_TEST_TMPDIR/xcore.1"
  [ -z "$output" ]
}

@test "the manual page's examples can be copied" {
  command -v mandoc >/dev/null || skip "no mandoc"
  "$XCORE" help --man | mandoc -T ascii -O width=200 2>/dev/null | sed 's/.\x08//g' >"$BATS_TEST_TMPDIR/page.txt"
  grep -qF "xcore run -e '= t:var \"server\".port' core.1234" "$BATS_TEST_TMPDIR/page.txt"
}

@test "the manual page tells of every command and option" {
  "$XCORE" help --man >"$BATS_TEST_TMPDIR/xcore.1"
  for command in $("$XCORE" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p'); do
    echo ".Ss $command"
    "$XCORE" "$command" --help | sed -n 's/^  \(-., \)\{0,1\}--\([a-z-]*\).*/\2/; T; s/-/\\-/g; s/^/Fl \\-/; p'
  done | sort -u >"$BATS_TEST_TMPDIR/wanted"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/wanted")" -gt 100 ]
  python3 - "$BATS_TEST_TMPDIR/wanted" "$BATS_TEST_TMPDIR/xcore.1" <<'P'
import sys
wanted, page = (open(name, encoding="utf-8").read() for name in sys.argv[1:])
missing = [one for one in wanted.splitlines() if (one + "\n" if one[0] == "." else one) not in page]
sys.exit("not in the page: %s" % missing if missing else 0)
P
}

@test "bash completes commands, options and values" {
  "$XCORE" help --completion bash >"$BATS_TEST_TMPDIR/xcore.bash"
  run -0 bash -c 'source "$1"; complete -p xcore' - "$BATS_TEST_TMPDIR/xcore.bash"
  [[ $output == *'-F _xcore xcore'* ]]
  complete_line() {
    bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _xcore; printf "%s\n" "${COMPREPLY[@]}"' - \
      "$BATS_TEST_TMPDIR/xcore.bash" "$@"
  }
  [ "$(complete_line xcore ana)" = analyze ]
  [ "$(complete_line xcore bt core --fu)" = --full ]
  [ "$(complete_line xcore bt --format h)" = html ]
  [ "$(complete_line xcore bt --format = h)" = html ]
  [ "$(complete_line xcore bt --thread a)" = all ]
  [ "$(complete_line xcore flame s)" = stacks ]
  [ "$(complete_line xcore help pty)" = ptype ]
  cd "$BATS_TEST_TMPDIR"
  mkdir 'a dir'
  [ "$(complete_line xcore bt 'a d')" = 'a dir' ]
}

@test "completions parse in their shells" {
  "$XCORE" help --completion zsh >"$BATS_TEST_TMPDIR/_xcore"
  "$XCORE" help --completion fish >"$BATS_TEST_TMPDIR/xcore.fish"
  bash -n <("$XCORE" help --completion bash)
  head -n 1 "$BATS_TEST_TMPDIR/_xcore" | grep -qx '#compdef xcore'
  grep -q -- "-l full" "$BATS_TEST_TMPDIR/xcore.fish"
  if command -v zsh >/dev/null; then zsh -n "$BATS_TEST_TMPDIR/_xcore"; fi
  if command -v fish >/dev/null; then fish -n "$BATS_TEST_TMPDIR/xcore.fish"; fi
}

@test "the scripts pass shellcheck" {
  command -v shellcheck >/dev/null || skip "no shellcheck"
  "$XCORE" help --completion bash >"$BATS_TEST_TMPDIR/xcore.bash"
  run -0 shellcheck -s bash -S warning "$BATS_TEST_TMPDIR/xcore.bash"
}
