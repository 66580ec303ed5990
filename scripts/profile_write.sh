#!/usr/bin/env bash
# Usage: scripts/profile_write.sh FOLDER
# On a machine with a GPU, Nsight Compute and the CUDA Toolkit, writes to FOLDER:
# figures of ncu of one decode and one prefill kernel (NAME.csv), from cold caches,
# their PTX, SASS and what ptxas says (NAME.ptx, NAME.sass, NAME.ptxas). Fails if the decode kernel has no 16-byte loads and stores,
# or uses local memory. kvfuse must be installed, or on PYTHONPATH.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
python=${PYTHON:-python3}
mkdir -p "$folder"
capability=$("$python" -c \
  'import torch; print("".join(map(str, torch.cuda.get_device_capability())))')

metrics=(
  gpu__time_duration.sum
  dram__throughput.avg.pct_of_peak_sustained_elapsed
  dram__bytes_read.sum dram__bytes_write.sum
  lts__throughput.avg.pct_of_peak_sustained_elapsed
  sm__warps_active.avg.pct_of_peak_sustained_active
  launch__registers_per_thread launch__occupancy_limit_registers
  launch__grid_size launch__block_size launch__waves_per_multiprocessor
  smsp__inst_executed.sum smsp__cycles_active.avg
  smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio
  smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio
  smsp__average_warps_issue_stalled_wait_per_issue_active.ratio
  smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio
  smsp__average_warps_issue_stalled_drain_per_issue_active.ratio
  smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio
  smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio
)

# profile NAME ARGUMENTS...: leaves the name of the kernel in `kernel`.
profile() {
  local name=$1
  shift
  local once=("$python" benchmarks/write_once.py "$@")
  kernel=$("${once[@]}" --ptx "$folder/$name.ptx" | tail -n 1)
  ptxas "-arch=sm_$capability" -v -o "$folder/$name.cubin" "$folder/$name.ptx" \
    2>"$folder/$name.ptxas"
  cuobjdump -sass -fun "$kernel" "$folder/$name.cubin" >"$folder/$name.sass"
  rm "$folder/$name.cubin"
  ncu --csv --clock-control none --kernel-name "$kernel" --launch-skip 4 \
    --launch-count 1 --metrics "$(IFS=,; echo "${metrics[*]}")" \
    "${once[@]}" >"$folder/$name.csv"
  grep '^"0"' "$folder/$name.csv" |
    awk -F'","' '{ sub(/"$/, ""); print $(NF-2), $NF, $(NF-1) }'
}

echo "== prefill, T=8192, H=8, fp8"
profile prefill --tokens 8192 --heads 8 --type fp8
echo "== decode, T=64, H=4, fp8"
profile decode --tokens 64 --heads 4 --type fp8

count() { grep -cE "$1" "$folder/decode.sass" || true; }
echo "decode kernel $kernel: $(count 'LDG\.E[.A-Z]*\.128') 16-byte loads," \
  "$(count 'STG\.E[.A-Z]*\.128') 16-byte stores," \
  "$(count '\b(LDL|STL)') accesses to local memory"
[ "$(count 'LDG\.E[.A-Z]*\.128')" -gt 0 ] && [ "$(count 'STG\.E[.A-Z]*\.128')" -gt 0 ] &&
  [ "$(count '\b(LDL|STL)')" -eq 0 ]
