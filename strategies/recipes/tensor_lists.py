"""Tensor lists: a tensor is made a list, the list is changed, and what it holds is read again."""

from typing import Any

from gradfuzz.registry import Recipe
from gradfuzz.runtime import tf

raw: Any = tf.raw_ops
Tensor = Any  # tf.Tensor: TensorFlow ships no types


def _element(tensor: Tensor) -> Tensor:
    """Return the shape of what a list of the slices of `tensor` holds."""
    return tf.shape(tensor)[1:]


def _list(tensor: Tensor) -> Tensor:
    return raw.TensorListFromTensor(tensor=tensor, element_shape=_element(tensor))


def _stacked(handle: Tensor, like: Tensor) -> Tensor:
    return raw.TensorListStack(
        input_handle=handle, element_shape=_element(like), element_dtype=like.dtype
    )


def stack(tensor: Tensor) -> Tensor:
    """Make a list and a tensor of it again."""
    return _stacked(_list(tensor), tensor)


def gather(tensor: Tensor, indices: Tensor) -> Tensor:
    """Read slices."""
    return raw.TensorListGather(
        input_handle=_list(tensor),
        indices=indices,
        element_shape=_element(tensor),
        element_dtype=tensor.dtype,
    )


def get_item(tensor: Tensor, index: Tensor) -> Tensor:
    """Read one slice."""
    return raw.TensorListGetItem(
        input_handle=_list(tensor),
        index=index,
        element_shape=_element(tensor),
        element_dtype=tensor.dtype,
    )


def set_item(tensor: Tensor, index: Tensor, item: Tensor) -> Tensor:
    """Replace one slice."""
    handle = raw.TensorListSetItem(input_handle=_list(tensor), index=index, item=item)
    return _stacked(handle, tensor)


def push_back(tensor: Tensor, item: Tensor) -> Tensor:
    """Append a slice."""
    return _stacked(raw.TensorListPushBack(input_handle=_list(tensor), tensor=item), tensor)


def pop_back(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Split off the last slice."""
    handle, last = raw.TensorListPopBack(
        input_handle=_list(tensor), element_shape=_element(tensor), element_dtype=tensor.dtype
    )
    return last, _stacked(handle, tensor)


def resize(tensor: Tensor, size: Tensor) -> Tensor:
    """Cut a list, or fill it up with zeros."""
    return _stacked(raw.TensorListResize(input_handle=_list(tensor), size=size), tensor)


def scatter(tensor: Tensor, indices: Tensor) -> Tensor:
    """Make a list of slices at places."""
    handle = raw.TensorListScatter(tensor=tensor, indices=indices, element_shape=_element(tensor))
    return _stacked(handle, tensor)


def scatter_v2(tensor: Tensor, indices: Tensor, num_elements: Tensor) -> Tensor:
    """Make a list, of so many elements, of slices at places."""
    handle = raw.TensorListScatterV2(
        tensor=tensor,
        indices=indices,
        element_shape=_element(tensor),
        num_elements=num_elements,
    )
    return _stacked(handle, tensor)


def scatter_into(tensor: Tensor, updates: Tensor, indices: Tensor) -> Tensor:
    """Replace slices at places."""
    handle = raw.TensorListScatterIntoExistingList(
        input_handle=_list(tensor), tensor=updates, indices=indices
    )
    return _stacked(handle, tensor)


def _split(tensor: Tensor, lengths: Tensor) -> Tensor:
    return raw.TensorListSplit(tensor=tensor, element_shape=_rows(tensor), lengths=lengths)


def _rows(tensor: Tensor) -> Tensor:
    """Return the shape of any number of rows of `tensor`."""
    return tf.concat([[-1], _element(tensor)], 0)


def concat(tensor: Tensor, lengths: Tensor) -> Tensor:
    """Split a tensor into a list of rows, and join them."""
    joined, _ = raw.TensorListConcat(
        input_handle=_split(tensor, lengths), element_dtype=tensor.dtype
    )
    return joined


def concat_v2(tensor: Tensor, lengths: Tensor) -> Tensor:
    """Split a tensor into a list of rows, and join them as of a shape known in part."""
    joined, _ = raw.TensorListConcatV2(
        input_handle=_split(tensor, lengths),
        element_shape=_rows(tensor),
        leading_dims=tf.zeros([0], tf.int64),
        element_dtype=tensor.dtype,
    )
    return joined


_ENDS = "TensorListFromTensor TensorListStack"

RECIPES = {
    "recipe.TensorListStack": Recipe(stack, _ENDS),
    "recipe.TensorListGather": Recipe(gather, "TensorListFromTensor TensorListGather"),
    "recipe.TensorListGetItem": Recipe(get_item, "TensorListFromTensor TensorListGetItem"),
    "recipe.TensorListSetItem": Recipe(set_item, f"{_ENDS} TensorListSetItem"),
    "recipe.TensorListPushBack": Recipe(push_back, f"{_ENDS} TensorListPushBack"),
    "recipe.TensorListPopBack": Recipe(pop_back, f"{_ENDS} TensorListPopBack"),
    "recipe.TensorListResize": Recipe(resize, f"{_ENDS} TensorListResize"),
    "recipe.TensorListScatter": Recipe(scatter, "TensorListScatter TensorListStack"),
    "recipe.TensorListScatterV2": Recipe(scatter_v2, "TensorListScatterV2 TensorListStack"),
    "recipe.TensorListScatterIntoExistingList": Recipe(
        scatter_into, f"{_ENDS} TensorListScatterIntoExistingList"
    ),
    "recipe.TensorListConcat": Recipe(concat, "TensorListSplit TensorListConcat"),
    "recipe.TensorListConcatV2": Recipe(concat_v2, "TensorListSplit TensorListConcatV2"),
}
