"""Random views of a picture as in SwAV (Caron et al. 2020): crops of two sizes, mirrored, with other colours, blurred.

All choices come from the generator that is passed in, so a seed repeats a view.
"""

import math
from dataclasses import dataclass

import torch
from torch.nn.functional import interpolate

_MEAN, _DEVIATION = (torch.tensor(values).view(3, 1, 1) for values in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
"""Of ImageNet's colours, by which all pictures are scaled."""
_GREY = torch.tensor((0.299, 0.587, 0.114)).view(3, 1, 1)
_ASPECT = (3 / 4, 4 / 3)
_JITTER = 0.8
"""Most change of brightness, contrast and saturation; of 80 % of the views."""


@dataclass(frozen=True)
class MultiCrop:
    """The views of one picture; sizes in pixels."""

    large: int
    small: int
    small_views: int
    large_share: tuple[float, float]
    """Least and most of the picture's area."""
    small_share: tuple[float, float]

    def views(self, picture: torch.Tensor, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """(2, 3, large, large) and (small views, 3, small, small), of bytes (3, height, width)."""
        pixels = picture.float() / 255
        large = [_view(pixels, self.large, self.large_share, generator) for _ in range(2)]
        small = [_view(pixels, self.small, self.small_share, generator) for _ in range(self.small_views)]
        return torch.stack(large), torch.stack(small) if small else pixels.new_zeros(0, 3, self.small, self.small)

    def plain(self, picture: torch.Tensor) -> torch.Tensor:
        """The picture's largest square in its middle, (3, large, large): no random choice."""
        side = min(picture.shape[1:])
        top, left = ((length - side) // 2 for length in picture.shape[1:])
        square = picture[:, top : top + side, left : left + side].float() / 255
        return _scaled(square, self.large)


def coloured(plain: torch.Tensor) -> torch.Tensor:
    """Colours of 0 to 1 of pictures as a network sees them."""
    return plain * _DEVIATION + _MEAN


def _view(pixels: torch.Tensor, size: int, share: tuple[float, float], generator: torch.Generator) -> torch.Tensor:
    view = _resized(_crop(pixels, share, generator), size)
    chances = torch.rand(4, generator=generator).tolist()
    if chances[0] < 0.5:
        view = view.flip(-1)
    if chances[1] < 0.8:
        view = _jittered(view, generator)
    if chances[2] < 0.2:
        view = (view * _GREY).sum(0, keepdim=True).expand(3, -1, -1)
    if chances[3] < 0.5:
        view = _blurred(view, generator)
    return (view - _MEAN) / _DEVIATION


def _crop(pixels: torch.Tensor, share: tuple[float, float], generator: torch.Generator) -> torch.Tensor:
    height, width = pixels.shape[1:]
    area, shape, down, right = torch.rand(4, generator=generator).tolist()
    wanted = (share[0] + area * (share[1] - share[0])) * height * width
    aspect = _ASPECT[0] * (_ASPECT[1] / _ASPECT[0]) ** shape
    tall = max(1, min(height, round(math.sqrt(wanted / aspect))))
    wide = max(1, min(width, round(math.sqrt(wanted * aspect))))
    top, left = int(down * (height - tall + 1)), int(right * (width - wide + 1))
    return pixels[:, top : top + tall, left : left + wide]


def _jittered(view: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    brightness, contrast, saturation = (1 + _JITTER * (2 * torch.rand(3, generator=generator) - 1)).tolist()
    view = (view * brightness).clamp(0, 1)
    view = (view.mean() + (view - view.mean()) * contrast).clamp(0, 1)
    grey = (view * _GREY).sum(0, keepdim=True)
    changed: torch.Tensor = grey + (view - grey) * saturation
    return changed.clamp(0, 1)


def _blurred(view: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Gaussian, with a standard deviation of 0.1 to 2 pixels, for views of 224 pixels; smaller ones in proportion."""
    sigma = (0.1 + 1.9 * torch.rand(1, generator=generator).item()) * view.shape[-1] / 224
    places = torch.arange(view.shape[-1], dtype=torch.float32)
    weights = torch.exp(-0.5 * ((places[:, None] - places) / sigma) ** 2)
    weights /= weights.sum(1, keepdim=True)
    blurred: torch.Tensor = weights @ view @ weights.T
    return blurred


def _resized(view: torch.Tensor, size: int) -> torch.Tensor:
    return interpolate(view.unsqueeze(0), size=(size, size), mode="bilinear", antialias=True).squeeze(0)


def _scaled(view: torch.Tensor, size: int) -> torch.Tensor:
    return (_resized(view, size) - _MEAN) / _DEVIATION
