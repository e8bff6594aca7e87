#!/usr/bin/env bats
# Registers of AVX: $ymm0, and variables of 32 bytes that live in one, have all of their bytes or no value.
# shellcheck disable=SC2016,SC2154 # registers begin with $; helper.bash and bats set the variables
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  grep -qw avx /proc/cpuinfo || skip "this processor has no AVX"
  cat >wide.c <<'END'
typedef float floats __attribute__((vector_size(32)));
typedef int ints __attribute__((vector_size(32)));
typedef float four __attribute__((vector_size(16)));
volatile int *none;
__attribute__((noinline)) float f(floats a, ints b, four c) {
  floats twice = a + a;
  ints more = b + 100;
  four half = c / 2;
  __asm__ volatile("" : "+x"(twice), "+x"(more), "+x"(half));
  *none = 1;
  __asm__ volatile("" : "+x"(twice), "+x"(more), "+x"(half));
  return twice[7] + more[7] + half[3];
}
int main(void) {
  floats a = {1, 2, 3, 4, 5, 6, 7, 8};
  ints b = {1, 2, 3, 4, 5, 6, 7, 8};
  four c = {2, 4, 6, 8};
  return (int)f(a, b, c);
}
END
  gcc -g -O2 -mavx -o wide wide.c
  "$repo/corpora/take-core" --out core -- ./wide >/dev/null 2>&1
  readelf -n core | grep -q NT_X86_XSTATE || skip "cores have no extended registers here"
}

shown() {
  run "$XCORE" print core "$1"
  [ "$output" = "$2" ]
}

@test "variables in them, and the registers, have all of their bytes" {
  shown twice 'twice = {2, 4, 6, 8, 10, 12, 14, 16}'
  shown more 'more = {101, 102, 103, 104, 105, 106, 107, 108}'
  shown half 'half = {1, 2, 3, 4}'
  shown 'twice[7] + more[7]' 'twice[7] + more[7] = 124'
  shown 'sizeof($ymm15)' 'sizeof($ymm15) = 32'
  "$XCORE" regs core --format json | jq -e '[.. | .high? // empty] | length == 16'
}

@test "gdb has the same" {
  command -v gdb >/dev/null || skip "there is no gdb here"
  for what in v8_float v4_double v16_int16 v8_int32 v4_int64; do
    for register in 0 1 2 15; do
      theirs=$(gdb -nx --batch -ex "print \$ymm$register.$what" wide core 2>/dev/null | sed -n 's/^\$1 = //p')
      [[ $theirs != *repeats* ]] || continue
      shown "\$ymm$register.$what" "\$ymm$register.$what = $theirs"
    done
  done
}

@test "without the high halves there is no value, not half of one" {
  # the bits that say which registers are in the note: AVX is not
  python3 - <<'END'
import struct
data = bytearray(open("core", "rb").read())
at = data.index(struct.pack("<I", 0x202) + b"LINUX\0")
data[at + 12 + 464:at + 12 + 472] = struct.pack("<Q", 3)
open("core", "wb").write(data)
END
  shown twice 'twice = <larger than its register>'
  shown '$ymm0' '$ymm0 = <$ymm0: the high half was not saved>'
  shown half 'half = {1, 2, 3, 4}'
  shown '$xmm0.v4_float' '$xmm0.v4_float = {2, 4, 6, 8}'
}

@test "calls do not preserve them" {
  run "$XCORE" print core --frame 1 '$ymm0'
  [[ $output == *'is not known in frame 1: calls do not preserve it'* ]]
}
