#!/usr/bin/env bash
# Counts the instructions of kernels and of whole models on arm64, at each level and in plain Go, by QEMU's plugin insn.
# No arm64 machine is needed:
#
#	apt-get install qemu-user libglib2.0-dev && apt-get source qemu
#	gcc -shared -fPIC -O2 -Iqemu-7.2+dfsg/include/qemu -o insn.so qemu-7.2+dfsg/tests/plugin/insn.c $(pkg-config --cflags --libs glib-2.0)
#	bench/instructions.sh insn.so [silero_vad_v5.onnx]
#
# A line has the case, the level, instructions for each element, step (one product and its sum) or run, and how many times as many plain Go takes.
# The counts of two programs are subtracted, of which one makes more calls, so the start isn't in the difference.
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: bench/instructions.sh PLUGIN [SILERO]" >&2; exit 2; }
plugin=$(realpath "$1")
silero=${2:+$(realpath "$2")}
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
for package in internal/bench onnx examples/voice; do
	GOARCH=arm64 go test -c -vet=off -o "$dir/${package##*/}" "./$package"
done

count() { # LEVEL PACKAGE BENCHMARK CALLS: instructions of a program that makes so many calls
	(cd "$2" && GOMAXPROCS=1 ASHLAR_CPU=$1 qemu-aarch64 -cpu max -plugin "$plugin,inline=on" -d plugin -D "$dir/log" \
		"$dir/${2##*/}" -test.run '^$' -test.bench "$3" -test.benchtime "$4x" ${silero:+$([ "$2" != examples/voice ] || echo "-model $silero")} >"$dir/out")
	grep -q '^Benchmark' "$dir/out" || { echo "no benchmark $3 in $2" >&2; exit 1; }
	sed -n 's/^insns: //p' "$dir/log"
}

# instructions NAME UNIT OF-A-CALL LEVELS PACKAGE BENCHMARK CALLS: prints lines. With 1 the other program makes two calls more, since a benchmark
# begins with one call. With more it makes three times as many.
instructions() {
	local level few many more=2 generic=
	[ "$7" = 1 ] || more=$((2 * $7))
	for level in generic $4; do
		few=$(count "$level" "$5" "$6" "$7")
		many=$(count "$level" "$5" "$6" $(($7 == 1 ? 2 : 3 * $7)))
		generic=${generic:-$((many - few))}
		awk -v name="$1" -v unit="$2" -v level="$level" -v n="$((many - few))" -v of="$((more * $3))" -v generic="$generic" \
			'BEGIN { printf "| %s | %s | %.*f a %s | %.1f |\n", name, level, n / of < 100 ? 2 : 0, n / of, unit, generic / n }'
	done
}

for row in add addrow mul gt where sqrt clip exp log tanh sigmoid gelu sin cast_bf16; do
	instructions "$row" element $((128 * 128)) neon internal/bench "Cases/ew/^$row\$/f32/128x128" 20
done
for row in sum_all sum_first sum_last max_last argmax_last softmax_last; do
	instructions "$row" element $((128 * 128)) neon internal/bench "Cases/red/^$row\$/f32/128x128" 20
done
instructions "product 256, float32" step $((256 * 256 * 256)) neon internal/bench 'Cases/gemm/f32/256x256x256' 2
instructions "product 256, float64" step $((256 * 256 * 256)) neon internal/bench 'Cases/gemm/f64/256x256x256' 2
instructions "product 256, int8" step $((256 * 256 * 256)) "neon dot i8mm" internal/bench 'Cases/gemm/i8/256x256x256' 2
instructions digits run 1 neon onnx Nets/digits 20
[ -z "$silero" ] || instructions "silero v5" run 1 neon examples/voice Silero 10
instructions "resnet18, 64×64" run 1 neon onnx Nets/resnet18 1
instructions encoder6 run 1 neon onnx Nets/encoder6 1
