"""Ops that have a gradient function and are left out, each for a reason that can be checked.

Source: the kernels are those of TensorFlow 2.21, as listed by `get_registered_kernels_for_op`
in tensorflow/python/framework/kernels.py.
"""

from collections.abc import Mapping

NO_KERNEL = "has no CPU kernel: it is for GPUs, for TPUs or several devices, or a pass replaces it"
NOT_RAW = "is not in tf.raw_ops: internal to XLA, DTensor or the eager runtime"
STATEFUL = "is stateful: it writes, calls back into Python or draws random numbers"
REFERENCE = "reads a reference (a mutable tensor of TensorFlow 1), which eager execution has not"
FORMER = "is refused since an early GraphDef version, or by the signature of its own kernels"
BY_DESIGN = "raises by design where it is differentiated, or outside of its debugger"
STRAIGHT_THROUGH = "quantises, and its gradient is declared to be that of no quantisation"
IMPLICIT = "samples, and its gradient is that of the distribution, not of the sampler"
INTEGERS = "has integer outputs only, and None for its gradient"
OF_FORWARD = "reads what its own forward op put out: other values for it mean nothing"
CONTROL_FLOW = "is a part of control flow, or takes functions, which no entry draws yet"
VARIABLE = "reads the handle of a variable, which no entry makes yet"
TENSOR_ARRAY = "reads the handle of a tensor array, which no entry makes yet"
TENSOR_LIST = "reads or returns the variant of a tensor list, which no entry makes yet"
CSR_MATRIX = "reads or returns the variant of a sparse matrix, which no entry makes yet"
VARIANT = "reads or returns another variant (ragged, composite, optional), which no entry makes yet"

_GROUPS: Mapping[str, str] = {
    NO_KERNEL: """
        AccumulateNV2 AllToAll CTCLossV2 CollectivePermute CrossReplicaSum CudnnRNN CudnnRNNV2
        CudnnRNNV3 NcclAllReduce NcclBroadcast NcclReduce SparseMatrixAdd SparseMatrixMul
        SparseMatrixSoftmax TPUEmbeddingActivations
    """,
    NOT_RAW: """
        CopyToMesh CopyToMeshGrad Relayout RelayoutLike XlaClusterOutput XlaEinsum XlaSharding
        XlaSpmdFullToShardShape XlaSpmdShardToFullShape _EagerConst
    """,
    STATEFUL: "DebugIdentityV2 EagerPyFunc Print RandomGamma",
    REFERENCE: """
        DebugGradientRefIdentity RefEnter RefExit RefIdentity RefMerge RefNextIteration RefSwitch
    """,
    FORMER: "BatchNormWithGlobalNormalization QuantizeAndDequantize TopK",
    BY_DESIGN: "DebugGradientIdentity PreventGradient",
    STRAIGHT_THROUGH: """
        FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel
        QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4
    """,
    IMPLICIT: """
        StatelessParameterizedTruncatedNormal StatelessRandomGammaV2 StatelessRandomGammaV3
    """,
    INTEGERS: "ArgMax ArgMin",
    OF_FORWARD: """
        MaxPool3DGrad MaxPool3DGradGrad MaxPoolGrad MaxPoolGradGrad MaxPoolGradV2
    """,
    CONTROL_FLOW: """
        Case Enter Exit If LoopCond Merge NextIteration StatelessCase StatelessIf StatelessWhile
        Switch While
    """,
    VARIABLE: "ReadVariableOp ResourceGather ResourceGatherNd",
    TENSOR_ARRAY: """
        TensorArrayConcat TensorArrayConcatV2 TensorArrayConcatV3 TensorArrayGather
        TensorArrayGatherV2 TensorArrayGatherV3 TensorArrayRead TensorArrayReadV2
        TensorArrayReadV3 TensorArrayScatter TensorArrayScatterV2 TensorArrayScatterV3
        TensorArraySplit TensorArraySplitV2 TensorArraySplitV3 TensorArrayWrite
        TensorArrayWriteV2 TensorArrayWriteV3
    """,
    TENSOR_LIST: """
        TensorListConcat TensorListConcatV2 TensorListFromTensor TensorListGather
        TensorListGetItem TensorListPopBack TensorListPushBack TensorListResize TensorListScatter
        TensorListScatterIntoExistingList TensorListScatterV2 TensorListSetItem TensorListSplit
        TensorListStack
    """,
    CSR_MATRIX: """
        CSRSparseMatrixToDense CSRSparseMatrixToSparseTensor DenseToCSRSparseMatrix
        SparseMatrixMatMul SparseMatrixSparseMatMul SparseMatrixTranspose
        SparseTensorToCSRSparseMatrix
    """,
    VARIANT: """
        CompositeTensorVariantFromComponents CompositeTensorVariantToComponents OptionalFromValue
        OptionalGetValue RaggedTensorFromVariant RaggedTensorToVariant
    """,
}

EXCLUDED: Mapping[str, str] = {op: why for why, ops in _GROUPS.items() for op in ops.split()}
