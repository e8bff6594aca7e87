#!/usr/bin/env bats
# Exports of xcore triage on real cores with hostile names; tests/batch/check validates each format.

load helper

setup_file() {
  export CORES=$BATS_FILE_TMPDIR/cores
  mkdir "$CORES"
  cp "$repo"/corpora/golden/*.pack "$CORES"
  local one=("$CORES"/*.pack)
  cp "${one[0]}" "$CORES/"$'core.\e[31m\n::error::owned ##[error]x|`$(id)\'<b>'
  head -c 3000 "${one[0]}" >"$CORES/core.short"
}

# has_no PATTERN FILE
has_no() {
  [ "$(grep -cP "$1" "$2")" -eq 0 ]
}

triage() {
  "$XCORE" triage "$CORES" --no-host-files --quiet "$@"
}

kinds() {
  "$XCORE" triage --help | grep -A3 -e --export | tr -d '\n' | grep -oE 'json|jsonl|sarif|junit|github|summary|gitlab|markdown|html|text' | sort -u
}

@test "every kind of export is what its readers take" {
  [ "$(kinds | wc -l)" -eq 10 ]
  local options=()
  for kind in $(kinds); do options+=(--export "$kind=$BATS_TEST_TMPDIR/$kind"); done
  triage "${options[@]}" --source-root /build --manifest README.md >"$BATS_TEST_TMPDIR/text.out"
  local files=()
  for kind in $(kinds); do files+=("$kind" "$BATS_TEST_TMPDIR/$kind"); done
  "$repo/tests/batch/check" "${files[@]}"
  for kind in $(kinds); do
    has_no '\x1b|^::error::owned|##\[|##vso\[' "$BATS_TEST_TMPDIR/$kind"
  done
  has_no '\x1b|^ *::|##\[' "$BATS_TEST_TMPDIR/text.out"
  grep -q '::error::owned' "$BATS_TEST_TMPDIR/jsonl"
}

@test "what it says to do next can be pasted into a shell" {
  cd "$BATS_TEST_TMPDIR"
  triage >text
  grep '^  xcore ' text >commands
  [ "$(wc -l <commands)" -eq 2 ]
  while read -r _ rest; do
    eval "\"\$XCORE\" $rest" >/dev/null
  done <commands
}

# pasted WORD...: the command that triage of the words suggests next reads a core.
pasted() {
  "$XCORE" triage --no-host-files --quiet "$@" >text
  grep '^  xcore ' text >commands
  [ "$(wc -l <commands)" -eq 2 ]
  while read -r _ rest; do
    eval "\"\$XCORE\" $rest" >/dev/null
  done <commands
}

# bats test_tags=long
@test "also when the cores were given as files, several directories or a list" {
  cd "$BATS_TEST_TMPDIR"
  mkdir -p far/one "far/tw o"
  cp "$repo/corpora/golden/null-write.pack" far/one/core.1
  cp "$repo/corpora/golden/null-write.pack" "far/tw o/core.'2'"
  cp "$repo/corpora/golden/null-write.pack" ./@core
  pasted far/one "far/tw o"
  pasted far/one/core.1
  pasted far/tw*/*
  pasted ./@core
  find far -name '*core*' >list
  pasted @list
  pasted - <list
  "$XCORE" triage --no-host-files --quiet --shard 0/1 far -o parts
  "$XCORE" triage --merge parts -o merged
  "$XCORE" triage --no-host-files --quiet far -o whole
  cmp merged whole
  cd far
  grep -q 'run where the cores are$' ../merged
  eval "\"\$XCORE\" $(sed -n 's/^  xcore //p' ../merged | head -1)" >/dev/null
}

@test "colours only where they are wanted" {
  triage --color=always | grep -q $'\e\\['
  triage >"$BATS_TEST_TMPDIR/plain"
  has_no '\x1b' "$BATS_TEST_TMPDIR/plain"
}

# bats test_tags=long
@test "files for others are for whom the umask lets, and a step may say more than its summary" {
  cd "$BATS_TEST_TMPDIR"
  echo before >summary
  umask 022
  for option in "" --no-redact; do
    GITHUB_STEP_SUMMARY=$PWD/summary triage --export sarif=sarif$option --export summary=summary \
      --baseline known$option --update-baseline -o answer$option $option
    "$XCORE" triage "$CORES" --no-host-files --quiet --shard 0/1 -o parts$option $option
    echo old >merged-old$option
    "$XCORE" triage --merge parts$option --quiet --export json=merged$option -o merged-old$option
  done
  [ "$(stat -c %a sarif answer known parts/part* known--no-redact merged merged-old | sort -u)" = 644 ]
  [ "$(stat -c %a sarif--no-redact answer--no-redact parts--no-redact/part* merged*--no-redact | sort -u)" = 600 ]
  [ "$(stat -c %a parts parts--no-redact | xargs)" = "755 700" ]
  [ "$(head -n 1 summary)" = before ]
  [ "$(grep -c '^| *cluster\|^## ' summary)" -ge 2 ]
}

@test "the summary of a step is no longer than is shown, with what the step said itself" {
  cd "$BATS_TEST_TMPDIR"
  export GITHUB_STEP_SUMMARY=$PWD/summary
  yes | head -c 1017000 >summary
  triage --export summary=summary --export summary=whole >/dev/null
  [ "$(stat -c %s summary)" -lt $((1017000 + $(stat -c %s whole))) ]
  [ "$(stat -c %s summary)" -le 1024000 ]
  grep -q '^… and [0-9]* more ' summary
}

# The runners of GitHub and Azure execute such log lines.
@test "what every command prints of a hostile program is no command of a CI system" {
  make_core
  needs_core
  local hostile="$BATS_TEST_TMPDIR/"$'::error::x ##[error]y ##vso[z]'
  mkdir "$hostile"
  cp "$PROGRAM" "$hostile/##[group]a"
  cd "$hostile"
  "$repo/corpora/take-core" --out "$BATS_TEST_TMPDIR/hostile.core" -- "$hostile/##[group]a"
  for command in analyze bt threads maps modules info; do
    for format in text json html; do
      "$XCORE" "$command" "$BATS_TEST_TMPDIR/hostile.core" --format "$format" >"$BATS_TEST_TMPDIR/out"
      has_no '##\[|##vso\[|^\s*::' "$BATS_TEST_TMPDIR/out"
    done
  done
  "$XCORE" info "$BATS_TEST_TMPDIR/hostile.core" --format json | grep -qF '#\u0023[group]a'
  "$XCORE" analyze "$hostile/##[no]" 2>"$BATS_TEST_TMPDIR/err" && return 1
  has_no '##\[' "$BATS_TEST_TMPDIR/err"
}

@test "an answer and exports go to standard output one after the other" {
  cd "$BATS_TEST_TMPDIR"
  (echo before && triage --export github=- --export junit=/dev/stdout && echo after) >log
  [ "$(head -n 1 log)" = before ]
  [ "$(tail -n 1 log)" = after ]
  grep -q '^::' log
  grep -q '<testsuites' log
  grep -q 'clusters' log
}
