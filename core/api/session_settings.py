"""The settings of a session.

The trainer gets a preference if a field here has its name.
"""

import msgspec

GIB = 1 << 30


class Limits(msgspec.Struct, frozen=True):
    """Ceilings: lower is stricter; 0 is no ceiling where the preference has a word for 0."""

    threads: int = 0
    """Processor threads of the trainer; 0 leaves the choice to Idlehive."""
    processor_share: int = 100
    """Percent of the time that the allowed threads may compute."""
    memory_limit: int = 0
    """Bytes that all processes of a session may hold; 0 leaves the choice to Idlehive."""
    gpu_share: int = 80
    """Percent of the time that the GPU may compute."""
    gpu_temperature: int = 80
    """Degrees Celsius."""
    gpu_power: int = 0
    """Watts; 0 is no ceiling."""
    gpu_memory: int = 0
    """Bytes of the GPU's memory; 0 is no ceiling."""
    cache_size: int = 10 * GIB
    """Most bytes of data shards kept on disk."""
    upload_limit: int = 0
    """Bytes per second that all processes of a session send together; 0 is no ceiling."""
    download_limit: int = 0
    """Bytes per second that they receive together; 0 is no ceiling."""

    def threads_on(self, cores: int) -> int:
        """Threads that compute; half of the cores if the choice is Idlehive's."""
        return self.threads or max(1, cores // 2)


class SessionSettings(msgspec.Struct, frozen=True):
    """What applies to a session now: preferences, schedule and conditions combined."""

    limits: Limits = Limits()
    gpu: str = ""
    """UUID of the GPU to compute on; empty: the processor."""
    listen_port: int = 0
    """TCP port on which other peers reach this one; 0: none. Applies from the next session."""
    port_mapping: str = "ask"
    """Whether the router is asked to map a port: `yes`, `no`, or `ask` as long as the volunteer has not answered.
    Applies from the next session."""
    latency_target: int = 0
    """Milliseconds that a microbatch may take; 0 is no target. Set while the volunteer uses the computer."""
    publish_contributions: bool = True
    """Publish signed contributions to the run."""
    display_name: str = ""
    """The volunteer's name in published contributions; empty: none."""
