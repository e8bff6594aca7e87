#!/usr/bin/env bats
# triage: the suggested next command runs and shows the same result.
# shellcheck disable=SC2154 # helper.bash and bats set them
bats_require_minimum_version 1.5.0

setup_file() {
  load helper
  make_core
}

setup() {
  load helper
  needs_core
  alone
  mkdir cores bin
  ln -s "$XCORE" bin/xcore
  PATH=$PWD/bin:$PATH
  cp "$CORE" "cores/core of it's"
}

# next ANSWER COMMAND: the suggested line, verbatim.
next() {
  grep -E "^ *xcore $2 " "$1" | sed 's/  *# .*//'
}

@test "commands of what is next see the files that the answer saw" {
  mkdir -p "sys root$(dirname "$PROGRAM")" debug
  mv "$PROGRAM" "sys root$PROGRAM"
  "$XCORE" triage --quiet --sysroot 'sys root' --debug-dir debug --timeout 50 cores >answer
  mv "sys root$PROGRAM" aside
  "$XCORE" triage --quiet --sysroot 'sys root' --debug-dir debug --timeout 50 cores >without
  mv aside "sys root$PROGRAM"
  grep -q crasher.c:5 answer
  run ! grep -q crasher.c:5 without
  next answer analyze >line
  run -0 bash line
  [[ "$output" == *crasher.c:5* ]]
  next answer 'triage --explain' >line
  grep -q -e --timeout=50 line
  run -0 bash line
  grep -qE '0  kept +set ' <<<"$output"
  cp "sys root$PROGRAM" "$PROGRAM"
}

@test "commands of what is next classify and name as the answer did" {
  cat >rules <<'END'
[SKIP]
the_set
END
  cat >'my policy.lua' <<'END'
function class() return "shop-null", "high" end
function name(frame) return "the_" .. frame.name end
END
  "$XCORE" triage --quiet cores --frames rules --policy 'my policy.lua' --max-instructions 50 >answer
  grep -q shop-null answer
  next answer 'triage --explain' >line
  grep -q -e --max-instructions=50 line
  run -0 --separate-stderr bash line
  [[ "$output" == *shop-null* && "$output" == *the_main* && "$output" == *rules:2* ]]
  mkdir parts
  "$XCORE" triage --quiet --shard 0/1 -o parts cores
  "$XCORE" triage --quiet --merge parts --frames "$PWD/rules" --policy "$PWD/my policy.lua" >answer
  next answer 'triage --explain' >"cores/line"
  cd cores
  run -0 --separate-stderr bash line
  [[ "$output" == *shop-null* && "$output" == *the_main* && "$output" == *rules:2* ]]
}

@test "analyze is told to hide and to refuse what the answer did" {
  "$XCORE" triage --quiet --redact --strict --exe "$PROGRAM" cores >answer
  next answer analyze >line
  grep -q -e --strict line
  run -0 --separate-stderr bash line
  [[ "$output" == *crasher.c:5* && "$output" != *"value=42"* ]]
  CI=true "$XCORE" triage --quiet --no-redact --exe "$PROGRAM" cores >answer
  next answer analyze >line
  CI=true run bash line
  [[ "$output" == *"value=42"* ]]
}

@test "a name that no terminal shows can be pasted all the same" {
  rm cores/*
  cp "$CORE" "$(printf "cores/core.\033[31m\377'\\\\#")"
  "$XCORE" triage --quiet cores >answer
  run ! grep -q "$(printf '\033')" answer
  next answer analyze >line
  run -0 --separate-stderr bash line
  [[ "$output" == *crasher.c:5* ]]
}

@test "no shell runs what a name says, nor one that does not know such escapes" {
  rm cores/*
  cp "$CORE" "$(printf "cores/core.\001'\`touch ran\`")"
  "$XCORE" triage --quiet cores >answer
  { next answer analyze; echo "'"; } >line # like a user who answers the prompt for a closing quote
  for shell in bash dash zsh ksh sh; do
    type "$shell" >/dev/null 2>&1 || continue
    run "$shell" line
    [ ! -e ran ]
  done
}
