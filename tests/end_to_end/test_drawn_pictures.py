"""A backbone and two volunteers, all real processes, learn to draw from captions; the backbone's page shows what."""

import base64
import io
import json
import re
import runpy
import shutil
import urllib.request

import pytest
from PIL import Image

from tests.end_to_end.machine import ROOT, Machine, wait_for
from tests.fakes.http_server import closed_port

SHAPES = ROOT / "resources" / "projects" / "shapes"
EPOCHS = 8
UNTRAINED = 4.6
"""Loss of a model that has learned nothing, of captions and codes."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def test_two_volunteers_learn_to_draw_and_the_page_shows_a_drawn_picture(machine: Machine) -> None:
    folder = machine.folder / "shapes"
    shutil.copytree(SHAPES, folder)
    runpy.run_path(str(SHAPES / "make_pictures.py"))["make"](folder)
    project = folder / "project.toml"
    text = project.read_text().replace("matchmaking_time = 5.0", "matchmaking_time = 1.0")
    project.write_text(text.replace("evaluate_every = 10", "evaluate_every = 2"))
    site = f"127.0.0.1:{closed_port()}"
    organiser = machine.profile("organiser")
    backbone = organiser.start("host", str(project), "--http", site, "--state", str(machine.folder / "state"))
    wait_for(lambda: "Serving" in backbone.said() or backbone.process.poll() is not None, 60.0, "the backbone serves")
    assert backbone.process.poll() is None, backbone.complained()

    volunteers = [machine.profile(name) for name in ("ann", "ben")]
    contribute = ("contribute", f"http://{site}/manifest.json", "--until-epoch", str(EPOCHS))
    programs = [volunteer.start(*contribute) for volunteer in volunteers]
    wait_for(lambda: all(program.process.poll() is not None for program in programs), 300.0, "the epochs")
    for program in programs:
        assert program.end() == 0, program.complained()
    for volunteer in volunteers:
        given = json.loads(volunteer.run("history", "--json").stdout)["totals"]
        assert given["samples"] > 0, "each took part"

    def read(page: str) -> str:
        with urllib.request.urlopen(f"http://{site}/{page}", timeout=10) as answer:
            return bytes(answer.read()).decode()

    def evaluated() -> dict[int, float]:
        points = json.loads(read("curve.json"))["points"]
        return {each["epoch"]: each["evaluation_loss"] for each in points if each["evaluation_loss"] is not None}

    wait_for(lambda: max(evaluated(), default=0) >= EPOCHS - 2, 60.0, "its evaluation")
    losses = evaluated()
    print(f"loss of captions and codes: {losses}")
    assert losses[max(losses)] < 0.8 * UNTRAINED
    assert losses[max(losses)] < losses[min(losses)]
    page = read("")
    assert "Pictures that it draws for this caption." in page
    shown = re.search(r'<section id="demonstration">.*?data:image/png;base64,([^"]+)', page, re.DOTALL)
    assert shown is not None
    with Image.open(io.BytesIO(base64.b64decode(shown[1]))) as drawn:
        assert min(drawn.size) >= 32
        assert len(drawn.convert("RGB").getcolors(1 << 20) or []) > 1, "no empty picture"

    backbone.process.terminate()
    assert backbone.end() == 0
    machine.wait_until_nothing_is_left()
