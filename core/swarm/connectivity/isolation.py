"""Distinguishes a peer that is legitimately the only one of its run from one that was cut off."""

from core.swarm.connectivity.backbone_monitor import BackboneMonitor
from core.swarm.dht.progress.progress_tracker import SwarmProgressTracker
from core.swarm.errors import Isolated
from core.system import proxy


class IsolationGuard:
    """Of one peer. `client_mode`: it only calls others."""

    def __init__(self, tracker: SwarmProgressTracker, backbone: BackboneMonitor, *, client_mode: bool) -> None:
        self._tracker, self._backbone, self._client_mode = tracker, backbone, client_mode

    @property
    def is_connected(self) -> bool:
        """Whether another peer or the backbone can be reached; for one that only calls others, a peer that listens."""
        if self._client_mode:
            return self._tracker.others_can_be_reached
        return self._tracker.sees_others or self._backbone.is_near()

    def check_if_alone(self) -> bool:
        """Whether the run consists of this peer. Asks the backbone if no other peer is in sight.

        Raises:
            Isolated: the backbone does not answer; or this peer only calls others, and there is none to call. Alone,
                it would train for nobody: its state cannot be fetched.
        """
        if self._client_mode and not self._tracker.others_can_be_reached:
            self._tracker.refresh()
            if not self._tracker.others_can_be_reached:
                raise Isolated("no_peer_with_open_port")
        if self._tracker.sees_others:
            return False
        if not self._backbone.ask():
            raise Isolated(proxy.no_peers())
        # A peer that was cut off a moment ago sees the others only now.
        self._tracker.refresh()
        return not self._tracker.sees_others
