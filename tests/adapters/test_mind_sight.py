"""Counting objects in images, with tiny models of random weights: what is counted, and what is refused."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import obviate

from obviate.adapters.cli.mind import bench_mind
from obviate.adapters.mind.detection import Detector, Scan, draw, evaluate, experiment
from obviate.adapters.mind.images import Images
from obviate.adapters.mind.sight import THRESHOLDS, Model, ZeroShot, zero_shot
from obviate.adapters.procthor import House, shipped
from obviate.kb.errors import DataError, ObviateError
from obviate.kb.regions import Regions

LETTERS = "abcdefghijklmnopqrstuvwxyz"
PNG = b"\x89PNG\r\n\x1a\n"
NEEDS = "needs the extra: pip install 'obviate[vision]'"


def package(name: str) -> Any:
    return pytest.importorskip(name, reason=NEEDS)


@pytest.fixture(scope="module")
def owl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an OWLv2 with one layer of 16 units and a tokenizer of letters."""
    torch, tf = package("torch"), package("transformers")
    folder = tmp_path_factory.mktemp("weights") / "owl"
    words = ["!", "<|startoftext|>", "<|endoftext|>", *LETTERS, *(f"{letter}</w>" for letter in LETTERS)]
    tokenizer = tf.CLIPTokenizer(vocab={word: i for i, word in enumerate(words)}, merges=[], model_max_length=64)
    layer = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = {**layer, "vocab_size": len(words), "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2}
    vision = {**layer, "image_size": 32, "patch_size": 8}
    torch.manual_seed(0)
    network = tf.Owlv2ForObjectDetection(tf.Owlv2Config(text_config=text, vision_config=vision, projection_dim=16))
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.5)  # as initialized, it would see every picture alike
    network.save_pretrained(folder)
    processor = tf.Owlv2Processor(tf.Owlv2ImageProcessorPil(size={"height": 32, "width": 32}), tokenizer)
    processor.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def dino(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a Grounding DINO as small as it goes."""
    torch, tf = package("torch"), package("transformers")
    folder = tmp_path_factory.mktemp("weights") / "dino"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    tokenizer = tf.BertTokenizer(vocab={word: i for i, word in enumerate(words)}, model_max_length=64)
    layer = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    swin = {"image_size": 32, "embed_dim": 8, "depths": [1] * 4, "num_heads": [1] * 4, "window_size": 2}
    size = {"d_model": 32, "encoder_layers": 1, "decoder_layers": 2, "num_queries": 20, "max_text_len": 64}
    torch.manual_seed(0)
    config = tf.GroundingDinoConfig(
        backbone_config=tf.SwinConfig(**swin, out_features=["stage2", "stage3", "stage4"]),
        text_config=tf.BertConfig(**layer, vocab_size=len(words)),
        **size,
    )
    tf.GroundingDinoForObjectDetection(config).save_pretrained(folder)
    images = tf.GroundingDinoImageProcessorPil(size={"shortest_edge": 96, "longest_edge": 128})
    tf.GroundingDinoProcessor(images, tokenizer).save_pretrained(folder)
    return folder


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


def picture(file: Path, colour: int) -> None:
    """A file with a square on the upper left, which tells pictures of different colours apart."""
    image = package("PIL.Image")
    file.parent.mkdir(parents=True, exist_ok=True)
    drawn = image.new("RGB", (48, 32), (colour, 90, 200 - colour))
    drawn.paste((255 - colour, colour, 30), (4, 4, 20, 20))
    drawn.save(file)


def house(counts: Mapping[str, int], name: str = "house") -> House:
    regions = {
        region: {"label": "room", "inventory": {"chair": count} if count else {}} for region, count in counts.items()
    }
    return House(name, Regions.of({"regions": regions, "at": min(counts)}))


def scan(*regions: str, house_name: str = "house", moment: str = "before") -> Scan:
    return Scan(house_name, moment, house(dict.fromkeys(regions, 0)).regions)


def render(folder: Path, houses: Iterable[House], *, seed: int) -> None:
    """An image of each room before and after the removals: its colour tells how many of the type are there."""
    for removal in draw(houses, seed=seed):
        for seen in (removal.before, removal.after):
            for region, inventory in seen.state.inventories.items():
                picture(folder / seen.house / seen.moment / region / "0.png", 20 * inventory.get(removal.type, 0) % 200)


# -- what is counted ---------------------------------------------------------------------------------


@dataclass
class Scripted:
    """A model that finds what it is told to, in boxes of left, top, right and bottom."""

    found: Mapping[int, list[tuple[float, tuple[float, float, float, float]]]]  # by the red of the first pixel
    asked: int = 0

    def of(self, folder: Path) -> Model:
        return Model(folder, self, self)

    @property
    def config(self) -> SimpleNamespace:
        return SimpleNamespace(model_type="owlv2")

    def __call__(self, *, images: Any = None, red: int = 0, **_: object) -> Any:
        if images is not None:
            return {"red": images.getpixel((0, 0))[0]}
        self.asked += 1
        return red

    def post_process_grounded_object_detection(self, red: int, *, threshold: float) -> list[dict[str, Any]]:
        torch = package("torch")
        kept = [one for one in self.found[red] if one[0] > threshold]
        boxes = torch.tensor([box for _, box in kept]).reshape(-1, 4)
        return [{"scores": torch.tensor([score for score, _ in kept], dtype=torch.float64), "boxes": boxes}]


LEFT, RIGHT = (0.0, 0.0, 0.4, 0.4), (0.6, 0.6, 1.0, 1.0)
NEARLY_LEFT = (0.05, 0.0, 0.4, 0.4)


def counts(found: Any, tmp_path: Path, threshold: float, *colours: int) -> int:
    package("torch")
    for i, colour in enumerate(colours):
        picture(tmp_path / "house" / "before" / "hall" / f"{i}.png", colour)
    detector = ZeroShot(Images(tmp_path), Scripted(found).of(tmp_path), threshold)
    return detector.counts(scan("hall"), "chair")["hall"]


@pytest.mark.parametrize(("threshold", "count"), [(0.01, 3), (0.1, 2), (0.3, 2), (0.31, 1), (0.9, 1), (0.91, 0)])
def test_a_count_has_the_objects_that_score_the_threshold(tmp_path: Path, threshold: float, count: int) -> None:
    found = {1: [(0.3, RIGHT), (0.9, LEFT), (0.05, (0.0, 0.6, 0.3, 1.0))]}
    assert counts(found, tmp_path, threshold, 1) == count


def test_boxes_on_one_object_are_one(tmp_path: Path) -> None:
    assert counts({1: [(0.5, NEARLY_LEFT), (0.9, LEFT), (0.4, RIGHT)]}, tmp_path, 0.1, 1) == 2


def test_boxes_without_area_are_no_trouble(tmp_path: Path) -> None:
    assert counts({1: [(0.5, (0.2, 0.2, 0.2, 0.2)), (0.4, RIGHT)]}, tmp_path, 0.1, 1) == 2


def test_nothing_is_zero(tmp_path: Path) -> None:
    assert counts({1: []}, tmp_path, 0.1, 1) == 0


def test_views_of_a_room_add_up_so_that_a_loss_in_any_shows(tmp_path: Path) -> None:
    assert counts({1: [(0.9, LEFT), (0.9, RIGHT)], 2: [(0.9, LEFT)]}, tmp_path, 0.1, 1, 2) == 3


def test_an_image_is_looked_at_once_for_all_thresholds_and_moments(tmp_path: Path) -> None:
    package("torch")
    for moment in ("before", "after"):
        for region, colour in (("hall", 1), ("attic", 2)):
            picture(tmp_path / "house" / moment / region / "0.png", colour)
    script = Scripted({1: [(0.9, LEFT)], 2: []})
    model = script.of(tmp_path)
    for threshold in THRESHOLDS:
        for moment in ("before", "after"):
            seen = ZeroShot(Images(tmp_path), model, threshold).counts(scan("hall", "attic", moment=moment), "chair")
            assert seen == {"hall": 1, "attic": 0}
    assert script.asked == 2  # the images are the same before and after
    ZeroShot(Images(tmp_path), model, 0.1).counts(scan("hall"), "sofa")
    assert script.asked == 3


@pytest.mark.parametrize(
    ("type", "text"),
    [
        ("chair", "a photo of a chair"),
        ("alarm_clock", "a photo of an alarm clock"),
        ("AlarmClock", "a photo of an alarm clock"),
        ("tv_stand", "a photo of a tv stand"),
    ],
)
def test_a_type_is_asked_for_in_words(type: str, text: str) -> None:
    assert Scripted({}).of(Path("owl")).query(type) == text


def test_a_type_that_is_no_word_is_refused() -> None:
    with pytest.raises(ObviateError, match="cannot name a type"):
        Scripted({}).of(Path("owl")).query("mug. a person")


@pytest.mark.parametrize("threshold", [0.0, 0.009, 1.1, float("nan")])
def test_a_threshold_is_a_score(tmp_path: Path, threshold: float) -> None:
    with pytest.raises(ObviateError, match="no detection threshold") as caught:
        ZeroShot(Images(tmp_path), Scripted({}).of(tmp_path), threshold)
    assert (caught.value.code, caught.value.where) == ("bad-rate", "threshold")


# -- models of transformers --------------------------------------------------------------------------


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("name", ["owl", "dino"])
def test_a_model_counts_the_same_each_time_and_no_less_at_a_lower_threshold(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    weights = request.getfixturevalue(name)
    regions = [f"r{i}" for i in range(6)]
    for i, region in enumerate(regions):
        picture(tmp_path / "house" / "before" / region / "0.png", 35 * i)
    thresholds = [0.01, *(i / 20 for i in range(1, 21))]
    found = [
        [detector.counts(scan(*regions), "chair") for detector in zero_shot(tmp_path, weights, thresholds=thresholds)]
        for _ in range(2)
    ]
    assert found[0] == found[1]
    lists = [[seen[region] for region in regions] for seen in found[0]]
    for low, high in pairwise(lists):
        assert all(more >= less for more, less in zip(low, high, strict=True))
    assert sum(lists[0]) > 0
    assert lists[-1] == [0] * len(regions)


@pytest.mark.usefixtures("offline")
def test_what_else_a_scan_has_does_not_matter(owl: Path, tmp_path: Path) -> None:
    for i in range(4):
        picture(tmp_path / "house" / "before" / f"r{i}" / "0.png", 60 * i)
    (alone,) = zero_shot(tmp_path, owl, thresholds=[0.4])
    (together,) = zero_shot(tmp_path, owl, thresholds=[0.4])
    all_of_them = together.counts(scan("r0", "r1", "r2", "r3"), "chair")
    assert all_of_them == {f"r{i}": alone.counts(scan(f"r{i}"), "chair")[f"r{i}"] for i in range(4)}
    assert len(set(all_of_them.values())) > 1  # the pictures do matter


def test_a_model_that_scores_every_word_gets_no_others(dino: Path) -> None:
    assert Model.load(dino).query("AlarmClock") == "alarm clock"


@pytest.mark.usefixtures("offline")
def test_the_experiment_runs_on_images(owl: Path, tmp_path: Path) -> None:
    houses = [house({"a": i % 3 + 1, "b": i % 2, "c": 5}, f"house_{i}") for i in range(6)]
    render(tmp_path, houses, seed=0)
    thresholds = (0.5, 0.8, 0.81, 0.82, 0.83)  # this model's scores are about 0.8
    detectors: list[tuple[Detector, ...]] = [zero_shot(tmp_path, owl, thresholds=thresholds) for _ in range(2)]
    found = experiment(houses, seed=0, detectors=detectors[0])
    assert found == experiment(houses, seed=0, detectors=detectors[1])
    assert found.calibration.contained == found.calibration.events == 2
    assert found.held_out.events == 4
    assert found.held_out == evaluate(found.point, draw(houses, seed=0)[2:])
    assert found.to_json()["detector"].startswith("owl at threshold 0.")


def test_the_command_runs_on_images(owl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    render(tmp_path, shipped(), seed=0)
    assert bench_mind([], seed=0, policies=["ours"], footprints=False, sight=(tmp_path, owl), json=True)
    found = json.loads(capsys.readouterr().out)["detection"]
    assert found["detector"].startswith("owl at threshold 0.")
    assert found["held_out"]["events"] == 29


# -- what is refused ---------------------------------------------------------------------------------


def refused(error: pytest.ExceptionInfo[DataError], code: str, where: Path | str) -> None:
    assert (error.value.code, error.value.where) == (code, str(where))
    assert error.value.help


def test_a_room_without_an_image_is_told(tmp_path: Path) -> None:
    room = tmp_path / "house" / "before" / "hall"
    for others in (None, (), ("notes.txt", "0.png.txt")):
        if others is not None:
            room.mkdir(parents=True, exist_ok=True)
        for name in others or ():
            (room / name).touch()
        with pytest.raises(DataError, match="no image of this room") as caught:
            Images(tmp_path).of(scan("hall"))
        refused(caught, "images-unusable", room)


def test_images_of_a_room_are_in_order_and_of_any_case(tmp_path: Path) -> None:
    room = tmp_path / "house" / "before" / "hall"
    room.mkdir(parents=True)
    for name in ("b.PNG", "a.jpg", "c.txt"):
        (room / name).touch()
    assert Images(tmp_path).of(scan("hall")) == {"hall": (room / "a.jpg", room / "b.PNG")}


@pytest.mark.parametrize("name", ["..", "../secret", "/etc", "a/b", "a/", "./a", ".", "", "a\0b", "x" * 400, "\ud800"])
def test_names_lead_nowhere_else(tmp_path: Path, name: str) -> None:
    for part in ("secret", "images/house/before/a/b", "images/a/before/hall", "images/house/before/hall"):
        (tmp_path / part).mkdir(parents=True, exist_ok=True)
        (tmp_path / part / "0.png").write_bytes(PNG)
    images = Images(tmp_path / "images")
    inside = scan("hall")
    for hostile in (replace(inside, house=name), replace(inside, moment=name)):
        with pytest.raises(DataError) as caught:
            images.of(hostile)
        assert caught.value.code == "images-unusable"
    if name not in ("", "a\0b", "\ud800"):  # these are no names of regions
        with pytest.raises(DataError) as caught:
            images.of(scan(name))
        assert caught.value.code == "images-unusable"


@pytest.mark.parametrize("data", [b"", PNG, b"GIF89a", b"not an image"])
def test_what_is_no_image_is_told(tmp_path: Path, data: bytes) -> None:
    package("PIL.Image")
    file = tmp_path / "house" / "before" / "hall" / "0.png"
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    with pytest.raises(DataError, match="this is no image") as caught:
        ZeroShot(Images(tmp_path), Scripted({}).of(tmp_path), 0.1).counts(scan("hall"), "chair")
    refused(caught, "images-unusable", file)


def test_an_image_that_is_a_folder_is_told(tmp_path: Path) -> None:
    file = tmp_path / "house" / "before" / "hall" / "0.png"
    file.mkdir(parents=True)
    with pytest.raises(DataError, match="cannot be read") as caught:
        ZeroShot(Images(tmp_path), Scripted({}).of(tmp_path), 0.1).counts(scan("hall"), "chair")
    refused(caught, "images-unusable", file)


def test_missing_folders_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder") as caught:
        zero_shot(tmp_path / "images", tmp_path)
    refused(caught, "images-unusable", tmp_path / "images")
    for weights in (tmp_path / "weights", tmp_path):
        with pytest.raises(DataError, match=r"no config\.json") as caught:
            zero_shot(tmp_path, weights)
        refused(caught, "weights-unusable", weights)


def copied(owl: Path, folder: Path, **replaced: str | None) -> Path:
    """The model with files replaced, or left out."""
    folder.mkdir()
    for file in owl.iterdir():
        text = replaced.get(file.stem, "")
        if text:
            (folder / file.name).write_text(text, encoding="utf-8")
        elif text is not None:
            (folder / file.name).symlink_to(file)
    return folder


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(
    "replaced",
    [
        {"config": "{}"},
        {"config": "no json"},
        {"config": '{"model_type": "bert"}'},
        {"config": '{"model_type": "made_up", "auto_map": {"AutoConfig": "code.Config"}}'},
        {"model": None},
        {"model": "no weights"},
        {"processor_config": None},
        {"tokenizer": None, "tokenizer_config": None},
    ],
    ids=str,
)
def test_unusable_weights_are_told(owl: Path, tmp_path: Path, replaced: dict[str, str | None]) -> None:
    folder = copied(owl, tmp_path / "weights", **replaced)
    (folder / "code.py").write_text("raise SystemExit('a stranger runs code')", encoding="utf-8")
    with pytest.raises(DataError, match=r"no zero-shot detector|lacks its words") as caught:
        zero_shot(tmp_path, folder)
    refused(caught, "weights-unusable", folder)


def test_weights_are_never_made_up(owl: Path, tmp_path: Path) -> None:
    torch = package("safetensors.torch")
    folder = copied(owl, tmp_path / "weights", model=None)
    weights = torch.load_file(owl / "model.safetensors")
    del weights["class_head.dense0.weight"]
    torch.save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(DataError, match=r"lack 1 parameters, such as class_head\.dense0\.weight") as caught:
        zero_shot(tmp_path, folder)
    refused(caught, "weights-unusable", folder)


PACKAGES = ("torch", "transformers", "PIL.Image", "scipy.ndimage")


@pytest.mark.parametrize("absent", PACKAGES)
def test_without_the_extra_it_says_how_to_get_it(tmp_path: Path, absent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PACKAGES:
        monkeypatch.setitem(sys.modules, name, None if name == absent else SimpleNamespace())
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ObviateError) as caught:
        zero_shot(tmp_path, tmp_path)
    assert (caught.value.code, caught.value.where) == ("extra-missing", absent)
    assert caught.value.help == "pip install 'obviate[vision]'"


def test_images_and_weights_go_together(tmp_path: Path) -> None:
    done = obviate("bench", "mind", "--images", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert "go together" in done.stderr
    done = obviate("bench", "mind", "--images", ".", "--weights", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert "obviate: .: there is no config.json here [weights-unusable]" in done.stderr
