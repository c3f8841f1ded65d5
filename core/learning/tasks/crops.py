"""Random views of a picture as in SwAV (Caron et al. 2020): crops of two sizes, mirrored, with other colours, blurred.

All choices come from the generator that is passed in, so a seed repeats a view.
"""

import math
from collections.abc import Iterable
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

    def views(self, pictures: Iterable[torch.Tensor], generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """(pictures, 2, 3, large, large) and (pictures, small views, 3, small, small), of bytes (3, height, width).

        Each picture is let go before the next one is taken: photographs take far more memory than their views.
        """
        large, small, count = _Views(self.large, self.large_share), _Views(self.small, self.small_share), 0
        for picture in pictures:
            pixels, count = picture.float() / 255, count + 1
            for views in [large] * 2 + [small] * self.small_views:
                views.add(pixels, generator)
            del picture, pixels
        return large.of(count), small.of(count)

    def plain(self, picture: torch.Tensor) -> torch.Tensor:
        """The picture's largest square in its middle, (3, large, large): no random choice."""
        side = min(picture.shape[1:])
        top, left = ((length - side) // 2 for length in picture.shape[1:])
        square = picture[:, top : top + side, left : left + side].float() / 255
        return _scaled(square, self.large)


def coloured(plain: torch.Tensor) -> torch.Tensor:
    """Colours of 0 to 1 of pictures as a network sees them."""
    return plain * _DEVIATION + _MEAN


class _Views:
    """Views of one size. What is random is chosen for one after the other, and computed for all at once: for each by
    itself, small operations take most of the time."""

    def __init__(self, size: int, share: tuple[float, float]) -> None:
        self._size, self._share = size, share
        self._views = list[torch.Tensor]()
        self._mirrored, self._grey = list[int](), list[int]()
        self._jitter, self._blur = dict[int, list[float]](), dict[int, float]()

    def add(self, pixels: torch.Tensor, generator: torch.Generator) -> None:
        number = len(self._views)
        self._views.append(_resized(_crop(pixels, self._share, generator), self._size))
        mirrored, jittered, grey, blurred = torch.rand(4, generator=generator).tolist()
        if mirrored < 0.5:
            self._mirrored.append(number)
        if jittered < 0.8:
            self._jitter[number] = (1 + _JITTER * (2 * torch.rand(3, generator=generator) - 1)).tolist()
        if grey < 0.2:
            self._grey.append(number)
        if blurred < 0.5:
            self._blur[number] = 0.1 + 1.9 * torch.rand(1, generator=generator).item()

    def of(self, pictures: int) -> torch.Tensor:
        """(pictures, views of each, 3, size, size)."""
        if not self._views:
            return torch.zeros(pictures, 0, 3, self._size, self._size)
        views = torch.stack(self._views)
        views[self._mirrored] = views[self._mirrored].flip(-1)
        views[[*self._jitter]] = _jittered(views[[*self._jitter]], torch.tensor([*self._jitter.values()]))
        views[self._grey] = (views[self._grey] * _GREY).sum(1, keepdim=True).expand(-1, 3, -1, -1)
        views[[*self._blur]] = _blurred(views[[*self._blur]], torch.tensor([*self._blur.values()]))
        return ((views - _MEAN) / _DEVIATION).view(pictures, -1, *views.shape[1:])


def _crop(pixels: torch.Tensor, share: tuple[float, float], generator: torch.Generator) -> torch.Tensor:
    height, width = pixels.shape[1:]
    area, shape, down, right = torch.rand(4, generator=generator).tolist()
    wanted = (share[0] + area * (share[1] - share[0])) * height * width
    aspect = _ASPECT[0] * (_ASPECT[1] / _ASPECT[0]) ** shape
    tall = max(1, min(height, round(math.sqrt(wanted / aspect))))
    wide = max(1, min(width, round(math.sqrt(wanted * aspect))))
    top, left = int(down * (height - tall + 1)), int(right * (width - wide + 1))
    return pixels[:, top : top + tall, left : left + wide]


def _jittered(views: torch.Tensor, jitter: torch.Tensor) -> torch.Tensor:
    """By brightness, contrast and saturation, (views, 3)."""
    brightness, contrast, saturation = jitter.view(-1, 3, 1, 1, 1).unbind(1)
    views = (views * brightness).clamp(0, 1)
    mean = views.mean((1, 2, 3), keepdim=True)
    views = (mean + (views - mean) * contrast).clamp(0, 1)
    grey = (views * _GREY).sum(1, keepdim=True)
    changed: torch.Tensor = grey + (views - grey) * saturation
    return changed.clamp(0, 1)


def _blurred(views: torch.Tensor, sigma: torch.Tensor) -> torch.Tensor:
    """Gaussian, with standard deviations of 0.1 to 2 pixels, for views of 224 pixels; smaller ones in proportion."""
    places = torch.arange(views.shape[-1], dtype=torch.float32)
    scaled = (sigma * views.shape[-1] / 224).view(-1, 1, 1, 1)
    weights = torch.exp(-0.5 * ((places[:, None] - places) / scaled) ** 2)
    weights /= weights.sum(-1, keepdim=True)
    blurred: torch.Tensor = weights @ views @ weights.mT
    return blurred


def _resized(view: torch.Tensor, size: int) -> torch.Tensor:
    return interpolate(view.unsqueeze(0), size=(size, size), mode="bilinear", antialias=True).squeeze(0)


def _scaled(view: torch.Tensor, size: int) -> torch.Tensor:
    return (_resized(view, size) - _MEAN) / _DEVIATION
