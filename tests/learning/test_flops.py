"""What a microbatch costs, against what one works out by hand."""

import pytest
import torch

from core.learning.flops import counting


@pytest.mark.parametrize(("rows", "width", "outputs"), [(1, 3, 5), (16, 64, 10), (7, 1, 1)])
def test_a_linear_model_costs_what_one_works_out_by_hand(rows: int, width: int, outputs: int) -> None:
    model = torch.nn.Linear(width, outputs)
    with counting() as counted:
        model(torch.ones(rows, width)).sum().backward()
    forward = 2 * rows * width * outputs
    assert counted() == forward + 2 * rows * width * outputs, "the gradient of the weights; the input needs none"


def test_a_second_layer_also_costs_the_gradient_of_its_input() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 2))
    with counting() as counted:
        model(torch.ones(3, 4)).sum().backward()
    first, second = 2 * 3 * 4 * 8, 2 * 3 * 8 * 2
    assert counted() == 2 * first + 3 * second


def test_attention_on_the_processor_costs_as_much_as_the_products_it_is_made_of() -> None:
    heads, length, width = 2, 16, 8
    query, key, value = (torch.rand(1, heads, length, width, requires_grad=True) for _ in range(3))
    with counting() as fused:
        torch.nn.functional.scaled_dot_product_attention(query, key, value)
    with counting() as plain:
        torch.matmul(torch.softmax(torch.matmul(query, key.transpose(-1, -2)), -1), value)
    assert fused() == plain() == 2 * 2 * heads * length * length * width


def test_what_runs_outside_costs_nothing() -> None:
    with counting() as counted:
        pass
    torch.nn.Linear(4, 4)(torch.ones(1, 4)).sum().backward()
    assert counted() == 0
