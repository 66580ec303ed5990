# -*- Python -*-
"""lit's configuration for the tests of kvfuse.

With `--param plugin=1`, `kvfuse-opt` in a test means the stock mlir-opt with
the kvfuse plugin, and the feature `plugin` is there. Tests of anything else
than dialects and passes say `UNSUPPORTED: plugin`.
"""

import glob
import os

import lit.formats
import lit.util

from lit.llvm import llvm_config
from lit.llvm.subst import FindTool, ToolSubst

through_plugin = lit_config.params.get("plugin", "0") not in ("", "0")

config.name = "kvfuse-plugin" if through_plugin else "kvfuse"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Exports", "Inputs", "Integration", "python"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.kvfuse_test_dir
if through_plugin:
    config.test_exec_root += "-plugin"

# ptxas is a part of the set-up: no test is skipped for its lack.
ptxas = os.environ.get("KVFUSE_PTXAS") or config.ptxas
if not lit.util.which(ptxas):
    lit_config.fatal(f"no ptxas at '{ptxas}': set KVFUSE_PTXAS, or run make setup")

config.environment["KVFUSE_PTXAS"] = ptxas
# glibc fills what is freed, so that a use after that does not pass by chance.
config.environment["MALLOC_PERTURB_"] = "165"
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)

config.available_features.add("ptxas")
if through_plugin:
    config.available_features.add("plugin")
if glob.glob("/dev/nvidia[0-9]*"):
    config.available_features.add("cuda")

roundtrip = "--verify-roundtrip"
if through_plugin:
    plugin = os.path.join(config.kvfuse_lib_dir, "KVFusePlugin.so")
    kvfuse_opt = ToolSubst(
        "kvfuse-opt",
        command=FindTool("mlir-opt"),
        extra_args=[
            roundtrip,
            f"--load-dialect-plugin={plugin}",
            f"--load-pass-plugin={plugin}",
        ],
        unresolved="fatal",
    )
else:
    kvfuse_opt = ToolSubst("kvfuse-opt", extra_args=[roundtrip], unresolved="fatal")

config.substitutions.append(("%python", config.python_executable))
llvm_config.use_default_substitutions()
llvm_config.add_tool_substitutions(
    [
        kvfuse_opt,
        ToolSubst("kvfuse-compile", unresolved="fatal"),
        ToolSubst("llvm-remarkutil", unresolved="fatal"),
        ToolSubst("split-file", unresolved="fatal"),
        ToolSubst("ptxas", command=ptxas),
    ],
    [config.kvfuse_bin_dir, config.llvm_tools_dir],
)
