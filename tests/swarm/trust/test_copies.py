"""What is left of parts in few bits a number."""

import pytest
import torch

from core.swarm.trust.copies import Copies


@pytest.mark.parametrize(("is_coarse", "error"), [(True, 0.08), (False, 0.003)])
@pytest.mark.parametrize("size", [1e-30, 1.0, 1e14])
def test_numbers_of_every_size_come_back_nearly(is_coarse: bool, error: float, size: float) -> None:
    copies, part = Copies(is_coarse=is_coarse), torch.randn(10_000, generator=torch.Generator().manual_seed(0)) * size
    copies.add(1, part)
    ((number, copy),) = copies.by_number()
    assert number == 1
    assert float((copy.double() - part).norm()) < error * float(part.double().norm())


@pytest.mark.parametrize("is_coarse", [True, False])
def test_nothing_and_zeros_come_back(is_coarse: bool) -> None:
    copies = Copies(is_coarse=is_coarse)
    copies.add(0, torch.zeros(5))
    copies.add(1, torch.empty(0))
    assert [copy.tolist() for _number, copy in copies.by_number()] == [[0.0] * 5, []]
