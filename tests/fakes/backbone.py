"""A backbone that is in reach or not, as a test says."""

from core.swarm.connectivity.backbone_monitor import BackboneMonitor


class ScriptedBackbone(BackboneMonitor):
    peers = ()

    def __init__(self) -> None:
        self.is_there = True

    def is_near(self) -> bool:
        return self.is_there

    def ask(self, *, heard_within: float = 0.0) -> bool:
        del heard_within
        return self.is_there
