#!/usr/bin/env bash
# Usage: scripts/profile_write.sh FOLDER
# On a machine with a GPU, Nsight Compute and the CUDA Toolkit, writes to FOLDER:
# figures of ncu of one decode and one prefill kernel (NAME.csv, NAME.txt), from cold
# caches, their PTX, SASS and what ptxas says (NAME.ptx, NAME.sass, NAME.ptxas). Fails if the decode kernel has no 16-byte loads and stores,
# or uses local memory. kvfuse must be installed, or on PYTHONPATH.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
python=${PYTHON:-python3}
mkdir -p "$folder"
capability=$("$python" -c \
  'import torch; print("".join(map(str, torch.cuda.get_device_capability())))')

sections=(LaunchStats Occupancy SpeedOfLight MemoryWorkloadAnalysis WarpStateStats
  InstructionStats)

# Prints section, metric, unit and value of each figure in a file of ncu.
show() {
  "$python" - "$1" <<'EOF'
import csv, sys
with open(sys.argv[1]) as file:
    rows = csv.DictReader(line for line in file if line.startswith('"'))
    for row in rows:
        if row["Metric Name"]:
            section, name = row["Section Name"], row["Metric Name"]
            print(f"{section}: {name}: {row['Metric Value']} {row['Metric Unit']}")
EOF
}

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
  ncu --csv --page details --print-details all --clock-control none \
    --kernel-name "$kernel" --launch-skip 4 --launch-count 1 \
    "${sections[@]/#/--section=}" "${once[@]}" >"$folder/$name.csv"
  show "$folder/$name.csv" | tee "$folder/$name.txt"
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
