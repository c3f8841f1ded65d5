"""SwAV's network (Caron et al. 2020): a residual network, a projection head, and prototypes.

The residual network is that of `transformers`. Batch normalisation uses the statistics of the microbatch, in evaluation
too, and keeps no running ones: peers average parameters only, so these would differ from peer to peer.
"""

from typing import Any

import torch
from torch import nn
from transformers.modeling_utils import PreTrainedModel
from transformers.models.resnet.configuration_resnet import ResNetConfig
from transformers.models.resnet.modeling_resnet import ResNetModel


class SwavConfig(ResNetConfig):  # type: ignore[no-untyped-call]  # transformers' classes have no types
    """Sizes of the residual network, and of what is above it."""

    model_type = "swav_resnet"

    def __init__(
        self, projection_hidden: int = 2048, projection_size: int = 128, prototypes: int = 3000, **resnet: Any
    ) -> None:
        super().__init__(**resnet)
        self.projection_hidden, self.projection_size, self.prototypes = projection_hidden, projection_size, prototypes


class SwavResNet(PreTrainedModel):  # type: ignore[no-untyped-call]  # likewise
    """Embeds pictures on the unit sphere."""

    config_class = SwavConfig
    base_model_prefix = "backbone"
    main_input_name = "large"

    def __init__(self, config: SwavConfig) -> None:
        super().__init__(config)
        self.backbone = ResNetModel(config)
        width = list(config.hidden_sizes or ())[-1]
        self.projection = nn.Sequential(
            nn.Linear(width, config.projection_hidden),
            nn.BatchNorm1d(config.projection_hidden),
            nn.ReLU(),
            nn.Linear(config.projection_hidden, config.projection_size),
        )
        self.prototypes = nn.Linear(config.projection_size, config.prototypes, bias=False)
        for module in self.modules():
            if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
                module.track_running_stats = False
                module.running_mean = module.running_var = module.num_batches_tracked = None
        self.post_init()  # type: ignore[no-untyped-call]  # likewise

    def features(self, pictures: torch.Tensor) -> torch.Tensor:
        """(pictures, width of the last stage), of (pictures, 3, height, width)."""
        # Convolutions are faster so, on processors and cards, and pass it on. Parameters stay as they are averaged.
        pictures = pictures.contiguous(memory_format=torch.channels_last)
        pooled: torch.Tensor = self.backbone(pictures).pooler_output.flatten(1)
        return pooled

    def forward(self, large: torch.Tensor, small: torch.Tensor) -> torch.Tensor:
        """Embeddings (views, pictures, projection size) of views (pictures, views, 3, height, width); large first."""
        pictures = len(large)
        views = [
            self.features(crops.flatten(0, 1)).unflatten(0, (pictures, -1)).transpose(0, 1)
            for crops in (large, small)
            if crops.shape[1]
        ]
        features = torch.cat(views)
        embeddings = self.projection(features.flatten(0, 1)).unflatten(0, features.shape[:2])
        return nn.functional.normalize(embeddings, dim=-1)

    def scores(self, embeddings: torch.Tensor, frozen: bool) -> torch.Tensor:
        """Cosines to the prototypes: (…, prototypes)."""
        # The paper sets the prototypes to length 1 before each step. Peers that change parameters outside their common
        # optimizer would differ, so the length is divided out here.
        weight = nn.functional.normalize(self.prototypes.weight, dim=-1)
        return embeddings @ (weight.detach() if frozen else weight).T
