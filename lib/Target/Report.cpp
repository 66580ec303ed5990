//===- Report.cpp - What was fused, what was not, and why -----------------===//
//
// Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kvfuse/Target/Report.h"

#include "ReportCalls.h"
#include "kvfuse/Dialect/KV/Transforms/Passes.h"
#include "kvfuse/Fusion/Passes.h"
#include "kvfuse/Layout/Passes.h"
#include "kvfuse/Lowering/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace kvfuse;

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

void RemarkRecorder::streamOptimizationRemark(
    const remark::detail::Remark &remark) {
  RecordedRemark record{
      remark.getRemarkName().str(), remark.getFunction().str(), {}, {}, {}, 0,
      remark.getLocation()};
  for (const auto &arg : remark.getArgs()) {
    if (arg.key == "Reason")
      record.reason = arg.val;
    else if (arg.key == "Suggestion")
      record.suggestion = arg.val;
    else if (arg.key == "Outlined")
      record.outlined = arg.val;
    else if (arg.key == "Destinations")
      StringRef(arg.val).getAsInteger(10, record.destinations);
  }
  remarks.push_back(std::move(record));
}

void kvfuse::recordRemarks(MLIRContext &context,
                           std::vector<RecordedRemark> &remarks, bool print) {
  // The engine records only the kinds whose filter is set.
  std::string filter = kRemarkCategory.str();
  remark::RemarkCategories categories{filter, filter, filter, filter, filter};
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<RemarkRecorder>(remarks),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories, print);
}

std::string kvfuse::stringifyLocation(Location loc) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    os << file.getFilename().getValue() << ':' << file.getLine() << ':'
       << file.getColumn();
  else
    os << loc;
  return text;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Is `op` a kernel of an unfused chain: a write, or what computes the elements
/// of a tensor?
static bool isUnfusedLaunch(Operation *op) {
  if (isa<kv::WriteOp, tensor::SplatOp, tensor::GenerateOp, linalg::LinalgOp>(
          op))
    return true;
  return OpTrait::hasElementwiseMappableTraits(op) &&
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

LaunchCounts kvfuse::countUnfusedLaunches(ModuleOp module) {
  // A fused write counts as the chain that it stands for.
  OwningOpRef<ModuleOp> chain = module.clone();
  PassManager pm(module.getContext());
  pm.addPass(kv::createKVDecomposeWrites());
  LaunchCounts counts;
  if (failed(pm.run(*chain)))
    return counts;
  for (auto func : chain->getOps<func::FuncOp>()) {
    unsigned launches = 0;
    bool hasWrite = false;
    func.walk([&](Operation *op) {
      launches += isUnfusedLaunch(op);
      hasWrite |= isa<kv::WriteOp>(op);
    });
    if (hasWrite)
      counts[func.getNameAttr()] = launches;
  }
  return counts;
}

namespace {
/// A buffer as the entry function sees it: one of its arguments, a part of one,
/// or, without a number, a temporary.
struct Operand {
  std::optional<unsigned> argument;
  bool isPart = false;
};

struct Launch {
  gpu::LaunchFuncOp op;
  SmallVector<Operand> operands;
  /// Is it on the path through the first version of each write?
  bool isStraight;
};

} // namespace

/// The memref that `value` is, with nothing but more in its type: a cast to its
/// own sizes, strides and offset. A launch may pass the descriptor of the
/// memref, since a kernel that relies on a static stride does not read it.
static Value getRestatedSource(Value value) {
  auto cast = value.getDefiningOp<memref::ReinterpretCastOp>();
  if (!cast)
    return {};
  memref::ExtractStridedMetadataOp metadata;
  for (Value operand : cast->getOperands())
    if (auto op = operand.getDefiningOp<memref::ExtractStridedMetadataOp>())
      metadata = op;
  if (!metadata || (cast.getSource() != metadata.getSource() &&
                    cast.getSource() != metadata.getBaseBuffer()))
    return {};
  // Only the stride of the last dimension may say more than the type did.
  SmallVector<OpFoldResult> strides = cast.getConstifiedMixedStrides();
  SmallVector<OpFoldResult> known = metadata.getConstifiedMixedStrides();
  if (!strides.empty() && isConstantIntValue(strides.back(), 1))
    known.back() = strides.back();
  if (!isEqualConstantIntOrValueArray(strides, known) ||
      !isEqualConstantIntOrValueArray(cast.getConstifiedMixedSizes(),
                                      metadata.getConstifiedMixedSizes()) ||
      !isEqualConstantIntOrValue(cast.getConstifiedMixedOffset(),
                                 metadata.getConstifiedMixedOffset()))
    return {};
  return metadata.getSource();
}

namespace {
/// Lists the launches of a function, those of functions that it calls included.
class LaunchLister {
public:
  explicit LaunchLister(ModuleOp module) : symbols(module) {}

  std::vector<Launch> list(func::FuncOp func) {
    std::vector<Launch> launches;
    Arguments arguments;
    for (BlockArgument argument : func.getArguments())
      arguments[argument] = {argument.getArgNumber()};
    visit(func, arguments, launches);
    return launches;
  }

private:
  using Arguments = DenseMap<Value, Operand>;

  static Operand find(const Arguments &arguments, Value value) {
    if (auto known = arguments.find(value); known != arguments.end())
      return known->second;
    if (Value source = getRestatedSource(value))
      return find(arguments, source);
    auto memref = dyn_cast<MemrefValue>(value);
    if (!memref)
      return {};
    Operand whole = arguments.lookup(memref::skipViewLikeOps(memref));
    return {whole.argument, true};
  }

  static bool isStraight(gpu::LaunchFuncOp launch) {
    Operation *op = launch;
    for (auto branches = op->getParentOfType<scf::IfOp>(); branches;
         branches = branches->getParentOfType<scf::IfOp>())
      if (branches->hasAttr(kVersionsAttr) &&
          branches.getElseRegion().isAncestor(op->getParentRegion()))
        return false;
    return true;
  }

  void visit(func::FuncOp func, const Arguments &arguments,
             std::vector<Launch> &launches) {
    func.walk([&](Operation *op) {
      if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
        Launch entry{launch, {}, isStraight(launch)};
        for (Value operand : launch.getKernelOperands())
          entry.operands.push_back(find(arguments, operand));
        launches.push_back(std::move(entry));
      } else if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        if (!callee || callee.isExternal())
          return;
        Arguments inner;
        for (auto [argument, operand] :
             llvm::zip(callee.getArguments(), call.getOperands()))
          inner[argument] = find(arguments, operand);
        visit(callee, inner, launches);
      }
    });
  }

  SymbolTable symbols;
};
} // namespace

/// Adds what whoever launches the kernel has to know of its grid and block.
static void describeShape(gpu::LaunchFuncOp launch,
                          llvm::json::Object &kernel) {
  auto addConstant = [&](StringRef key, Value size) {
    if (std::optional<int64_t> constant = getConstantIntValue(size))
      kernel[key] = *constant;
  };
  auto func = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      launch, launch.getKernelAttr());
  auto tokensPerThread =
      func ? func->getAttrOfType<IntegerAttr>(kTokenKernelAttr) : IntegerAttr();
  kernel["grid"] = tokensPerThread ? "tokens" : "elements";
  addConstant("block_size", launch.getBlockSizeX());
  if (!tokensPerThread)
    return;
  kernel["tokens_per_thread"] = tokensPerThread.getInt();
  addConstant("blocks_per_token", launch.getGridSizeY());
  if (auto minTokens = launch->getAttrOfType<IntegerAttr>(kMinTokensAttr))
    kernel["min_tokens"] = minTokens.getInt();
}

static llvm::json::Object describeKernel(StringRef function, Launch &launch) {
  llvm::json::Array arguments;
  for (const Operand &operand : launch.operands) {
    if (!operand.argument)
      arguments.push_back("temp");
    else if (operand.isPart)
      arguments.push_back(llvm::json::Object{{"part_of", *operand.argument}});
    else
      arguments.push_back(*operand.argument);
  }
  llvm::json::Object kernel{{"name", launch.op.getKernelName().getValue()},
                            {"function", function},
                            {"arguments", std::move(arguments)}};
  describeShape(launch.op, kernel);
  if (auto branch = launch.op->getAttrOfType<StringAttr>(kBranchAttr))
    kernel["branch"] = branch.getValue();
  return kernel;
}

/// The counters of branches, in order.
static llvm::json::Array describeBranches(ModuleOp module) {
  llvm::json::Array branches;
  auto global = module.lookupSymbol<memref::GlobalOp>(kBranchesGlobal);
  if (!global)
    return branches;
  for (auto names : global->getAttrOfType<ArrayAttr>(kBranchesAttr)
                        .getAsRange<DictionaryAttr>())
    branches.push_back(llvm::json::Object{
        {"function", names.getAs<StringAttr>("function").getValue()},
        {"location", stringifyLocation(names.getAs<LocationAttr>("location"))},
        {"branch", names.getAs<StringAttr>("branch").getValue()}});
  return branches;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

/// The conditions that pick versions in `function` at run time.
static llvm::json::Array listGuards(StringRef function,
                                    ArrayRef<RecordedRemark> remarks) {
  llvm::json::Array guards;
  for (const RecordedRemark &remark : remarks)
    if (remark.name == kGuardedRemark && remark.function == function)
      for (StringRef guard : llvm::split(StringRef(remark.reason), "; "))
        guards.push_back(guard);
  return guards;
}

/// What the remarks say of `function`.
static void addRemarks(StringRef function, ArrayRef<RecordedRemark> remarks,
                       llvm::json::Object &report) {
  llvm::json::Array fused, refused;
  for (const RecordedRemark &remark : remarks) {
    if (remark.function != function)
      continue;
    std::string location = stringifyLocation(remark.loc);
    std::optional<Refusal> refusal = symbolizeRefusal(remark.name);
    if (remark.name == kFusedRemark)
      fused.push_back(
          llvm::json::Object{{"destinations", remark.destinations},
                             {"location", location},
                             {"guards", listGuards(remark.outlined, remarks)}});
    else if (refusal && isMissed(*refusal))
      refused.push_back(llvm::json::Object{
          {"location", location},
          {"reason", remark.name},
          {"detail", remark.suggestion.empty()
                         ? remark.reason
                         : remark.reason + "; " + remark.suggestion}});
  }
  report["fused"] = std::move(fused);
  report["refused"] = std::move(refused);
}

llvm::json::Value kvfuse::makeReport(ModuleOp module,
                                     const LaunchCounts &unfused,
                                     ArrayRef<RecordedRemark> remarks,
                                     ArrayRef<std::string> assumptions) {
  auto nested = module.lookupSymbol<ModuleOp>(kWritesModule);
  llvm::json::Array functions, kernels, branches;

  // Functions with writes, then those in which nothing but refusals was found.
  LaunchCounts listed = unfused;
  for (const RecordedRemark &remark : remarks)
    if (auto refusal = symbolizeRefusal(remark.name);
        refusal && isMissed(*refusal))
      listed.try_emplace(StringAttr::get(module->getContext(), remark.function),
                         0);
  for (auto &[name, before] : listed) {
    unsigned after = 0;
    func::FuncOp func;
    if (nested) {
      LaunchLister lister(nested);
      func = nested.lookupSymbol<func::FuncOp>(name);
      if (!func)
        func = module.lookupSymbol<func::FuncOp>(name);
      if (func)
        after = llvm::count_if(lister.list(func), [](const Launch &launch) {
          return launch.isStraight;
        });
    }
    llvm::json::Object report;
    if (auto caller = module.lookupSymbol<func::FuncOp>(name))
      if (llvm::json::Array calls = describeCalls(caller); !calls.empty()) {
        report["calls"] = std::move(calls);
        report["repeated"] = listRepeated(caller);
      }
    report["name"] = name.getValue();
    report["launches_unfused"] = before;
    report["launches"] = after;
    addRemarks(name, remarks, report);
    functions.push_back(std::move(report));
  }

  if (nested) {
    branches = describeBranches(nested);
    llvm::SmallDenseSet<StringAttr> called;
    nested.walk([&](func::CallOp call) {
      called.insert(call.getCalleeAttr().getAttr());
      // A caller that makes a function's checks itself calls the rest of it.
      auto callee = nested.lookupSymbol<func::FuncOp>(call.getCallee());
      auto whole = callee
                       ? callee->getAttrOfType<FlatSymbolRefAttr>(kRestOfAttr)
                       : FlatSymbolRefAttr();
      auto caller = call->getParentOfType<func::FuncOp>();
      if (whole && whole.getAttr() != caller.getNameAttr())
        called.insert(whole.getAttr());
    });
    LaunchLister lister(nested);
    for (auto func : nested.getOps<func::FuncOp>())
      if (!called.contains(func.getNameAttr()))
        for (Launch &launch : lister.list(func))
          kernels.push_back(describeKernel(func.getName(), launch));
  }
  return llvm::json::Object{{"assumptions", llvm::json::Array(assumptions)},
                            {"branches", std::move(branches)},
                            {"functions", std::move(functions)},
                            {"kernels", std::move(kernels)}};
}
