"""Ops that have a gradient function and are left out, each for a reason that can be checked.

Source: the kernels are those of TensorFlow 2.21, as listed by `get_registered_kernels_for_op`
in tensorflow/python/framework/kernels.py.
"""

from collections.abc import Mapping

NO_KERNEL = "has no CPU kernel: it is for GPUs, for TPUs or several devices"
NOT_RAW = "is not in tf.raw_ops: internal to XLA, DTensor or the eager runtime"
FORMER = "is refused by its own kernels, for an attr that they ask for and it has not"
FORMER_HANDLE = "reads a handle of TensorArray or TensorArrayV2, which are long since refused"
BY_DESIGN = "raises by design where it is differentiated"
INTEGERS = "has no outputs but integers or booleans, and None for its gradient"

_GROUPS: Mapping[str, str] = {
    NO_KERNEL: """
        AllToAll CTCLossV2 CollectivePermute CrossReplicaSum CudnnRNN CudnnRNNV2
        CudnnRNNV3 NcclAllReduce NcclBroadcast NcclReduce SparseMatrixAdd SparseMatrixMul
        SparseMatrixSoftmax TPUEmbeddingActivations
    """,
    NOT_RAW: """
        CopyToMesh CopyToMeshGrad Relayout RelayoutLike XlaClusterOutput _EagerConst
    """,
    FORMER: "TopK",
    FORMER_HANDLE: """
        TensorArrayConcat TensorArrayConcatV2 TensorArrayGather TensorArrayGatherV2
        TensorArrayRead TensorArrayReadV2 TensorArrayScatter TensorArrayScatterV2
        TensorArraySplit TensorArraySplitV2 TensorArrayWrite TensorArrayWriteV2
    """,
    BY_DESIGN: "PreventGradient",
    INTEGERS: "ArgMax ArgMin LoopCond",
}

# Functions of TensorFlow's gradient files, each with why it cannot run, beside the gradients of
# the op types above.
EXCLUDED_FUNCTIONS: Mapping[str, str] = dict.fromkeys(
    ("ops/sparse_grad.py:_SparseSparseMaximumGrad", "ops/sparse_grad.py:_SparseSparseMinimumGrad"),
    "takes 2 arguments and is given 3, so that its body is never reached: TensorFlow's own fault",
)

EXCLUDED: Mapping[str, str] = {op: why for why, ops in _GROUPS.items() for op in ops.split()}
