#!/usr/bin/env bats
# Job files of xcore triage: they keep every option that the user gave. tests/batch shows that the files work.

load helper

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
}

# The options listed by help, each with the word for its value.
options() {
  "$XCORE" triage --help | sed -nE 's/^  (-[a-z], )?--([a-z-]+)( ([A-Z=/.a-z]+))?(  .*)?$/\2 \4/p'
}

# given NAME WORD: the option as a user may give it.
given() {
  case $1,$2 in
    today,*) echo '--baseline=some/baseline --today=2026-11-22' ;;
    max-instructions,* | max-memory,* | max-time,*) echo "--policy=some/policy --$1=123" ;;
    update-baseline,) echo '--baseline=some/baseline --update-baseline' ;;
    *,) echo "--$1" ;;
    export,*) echo --export=json=other.json ;;
    format,*) echo --format=html ;;
    color,*) echo --color=never ;;
    fail-on,*) echo --fail-on=new ;;
    emit,* | shard,*) echo "--$1=0/2" ;;
    *,FILE | *,DIR | *,FILE.lua) echo "--$1=some/$1" ;;
    *) echo "--$1=123" ;;
  esac
}

# Options that job files set themselves or express otherwise; options of running processes and plugins, which triage
# does not have; and options of this command alone.
of_no_job='emit shards output jobs resume plugin-path no-plugins swap max-output max-read-rate max-read-time stats help version'
refused='debuginfod shard run plan plan-file merge prune dry-run'

# bats test_tags=long
@test "every option is in the job file, or refused" {
  local count=0
  while read -r name word; do
    count=$((count + 1))
    read -ra words < <(given "$name" "$word")
    option=${words[-1]}
    [[ " $of_no_job " != *" $name "* ]] || continue
    for system in slurm parallel k8s make; do
      if [[ " $refused " == *" $name "* ]]; then
        expect 2 "xcore: triage: *" "$XCORE" triage --emit "$system" crashes "${words[@]}"
      else
        "$XCORE" triage --emit "$system" crashes "${words[@]}" >job
        grep -qE -e "${option}[ \",]" job || { echo "$system: no $option"; return 1; }
      fi
    done
  done < <(options)
  [ "$count" -gt 45 ]
}

@test "no limit is a limit that was given" {
  "$XCORE" triage --emit make crashes --policy x.lua --max-time 0 --max-memory=0 >job
  grep -q -e '--max-memory=0 --max-time=0 ' job
  "$XCORE" triage --emit make crashes >job
  [ "$(grep -c -e --max- job)" -eq 0 ]
}

@test "the answer's name is that of its format" {
  for format in text:txt html:html json:json jsonl:jsonl; do
    for system in slurm parallel make; do
      "$XCORE" triage --emit "$system" crashes --format "${format%:*}" >job
      grep -qE -e "--output=\"?[^ ]*/triage\.${format#*:}\"? " job
    done
  done
}

@test "what only this process could read is refused" {
  expect 2 'xcore: triage: --journal*standard input*' "$XCORE" triage --emit slurm crashes --journal -
  expect 2 "xcore: triage: --emit slurm: '-' is standard input*" "$XCORE" triage --emit slurm -
}
