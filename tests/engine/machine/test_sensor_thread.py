"""What front ends are told of the sensors of an engine that has just started."""

import asyncio
import threading
from pathlib import Path

from core.api.message import Message
from core.api.sensors import GetSensors, SensorInfo
from core.client.profile import Profile
from core.conditions.machine import Machine
from core.conditions.power import Power
from core.engine.engine import Engine
from core.engine.machine.sensor_thread import SensorThread
from core.engine.server.commands import Commands
from core.engine.session.commands import Programs
from core.store.store import Store


class SlowSensor:
    """A service that takes its time."""

    name = "power"
    every = 60.0

    def __init__(self) -> None:
        self.answers = threading.Event()

    def read(self) -> Power:
        self.answers.wait(10)
        return Power(on_battery=False)

    def info(self) -> SensorInfo:
        return SensorInfo("power", Message("plugged_in" if self.answers.is_set() else "battery_unknown"), True)


def test_no_sensor_is_said_to_be_unknown_before_it_was_read(tmp_path: Path) -> None:
    async def scenario() -> None:
        sensor, store = SlowSensor(), Store(tmp_path / "home.sqlite")
        engine = Engine(Profile(tmp_path), store, Programs([], []), Machine({"power": sensor}), lambda: 1.0)
        engine.sensor_thread.start()
        asked = asyncio.ensure_future(Commands(engine, Profile(tmp_path)).carry_out(GetSensors()))
        await asyncio.sleep(0)
        sensor.answers.set()
        found = {each.name: each.value for each in await asked}
        assert found["power"] == Message("plugged_in")
        await engine.close()
        store.close()

    asyncio.run(scenario())


def test_the_event_loop_does_not_wait_for_a_sensor_that_hangs(tmp_path: Path) -> None:
    async def scenario() -> None:
        sensor = SlowSensor()
        thread = SensorThread(Machine({"power": sensor}), (), lambda: None)
        thread.start()

        def ask_often() -> None:
            for _ in range(10_000):
                thread._read_now()

        asked = threading.Thread(target=ask_often)
        asked.start()
        try:
            await asyncio.to_thread(asked.join, 5.0)
            assert not asked.is_alive(), "the socket is full, and nobody reads it"
        finally:
            sensor.answers.set()
            asked.join()
            thread.close()

    asyncio.run(scenario())
