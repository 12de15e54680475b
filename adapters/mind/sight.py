"""Seeing by a zero-shot detector: counts of a type of object in images of rooms (MIND paper, Section VI-D).

The detector is a model of transformers that finds what a text names, such as OWLv2, OWL-ViT or Grounding DINO. Its
weights are a folder on this machine; nothing is downloaded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from obviate.adapters.mind.detection import Scan
from obviate.adapters.mind.images import LAYOUT, Images
from obviate.kb.errors import DataError, ObviateError
from obviate.kb.extras import module
from obviate.kb.regions import constant

__all__ = ["LEAST", "THRESHOLDS", "Model", "ZeroShot", "zero_shot"]

THRESHOLDS = (0.02, 0.05, 0.1, 0.2, 0.3)  # to calibrate over; the paper's calibration settled on 0.05
LEAST = 0.01  # no threshold is lower: with a score below, a box is noise
OVERLAP = 0.5  # boxes of one type whose intersection is more than this of their union show one object

_PACKAGES = ("torch", "transformers", "PIL.Image", "scipy.ndimage")  # transformers asks for the last two only later


@dataclass(frozen=True, slots=True)
class Model:
    """A zero-shot detector as transformers loads it, from a folder as ``save_pretrained`` writes it."""

    folder: Path
    processor: Any = field(repr=False, compare=False)
    network: Any = field(repr=False, compare=False)
    _known: dict[tuple[bytes, str], tuple[float, ...]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def load(cls, folder: Path) -> Model:
        """The model in `folder`. Raises `DataError` (``weights-unusable``) or `ObviateError` (``extra-missing``).

        Only safetensors are read, and no code that lies beside them: the folder may be a stranger's.
        """
        help = "give a folder with config.json, model.safetensors and the processor's files, such as a copy of OWLv2"
        if not (folder / "config.json").is_file():
            raise DataError("weights-unusable", "there is no config.json here", where=str(folder), help=help)
        torch, transformers, *_ = (module(name, extra="vision") for name in _PACKAGES)
        try:
            processor = transformers.AutoProcessor.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
            network, report = transformers.AutoModelForZeroShotObjectDetection.from_pretrained(
                folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
                dtype=torch.float32,
            )
        except Exception as error:  # a malformed folder makes the libraries raise anything
            message = f"no zero-shot detector: {type(error).__name__}: {error}"
            raise DataError("weights-unusable", f"{message:.500}", where=str(folder), help=help) from error
        if absent := sorted(report["missing_keys"]):
            # transformers makes them up at random, and only warns.
            message = f"the weights lack {len(absent)} parameters, such as {absent[0]}"
            raise DataError("weights-unusable", message, where=str(folder), help=help)
        chair, table = (processor.tokenizer(word)["input_ids"] for word in ("chair", "table"))
        if chair == table:  # without its files, transformers makes a tokenizer that reads all letters alike
            raise DataError("weights-unusable", "the tokenizer lacks its words", where=str(folder), help=help)
        return cls(folder, processor, network.eval())

    def query(self, type: str) -> str:
        """The text that finds a type: for ``alarm_clock`` or ``AlarmClock``, ``a photo of an alarm clock``.

        The models named OWL learned from such phrases. Others, like Grounding DINO, would also look for a photo, so
        they get the words of the type alone. Raises `ObviateError` (``bad-constant``).
        """
        words = constant(type, "type").replace("_", " ")
        if not self.network.config.model_type.startswith("owl"):
            return words
        return f"a photo of {'an' if words[0] in 'aeiou' else 'a'} {words}"

    def scores(self, file: Path, text: str) -> tuple[float, ...]:
        """The scores, ascending from `LEAST`, of the distinct objects in the image that `text` names.

        Worked out once for an image of the same bytes. Images go through the model one by one, so that what is seen
        in one cannot depend on another: a room that stayed as it was is seen as it was. Raises `DataError`
        (``images-unusable``).
        """
        try:
            data = file.read_bytes()
        except OSError as error:
            raise DataError(
                "images-unusable", f"cannot be read: {error.strerror}", where=str(file), help=LAYOUT
            ) from error
        key = sha256(data).digest(), text
        if key not in self._known:
            self._known[key] = self._scores(_picture(data, file), text)
        return self._known[key]

    def _scores(self, picture: Any, text: str) -> tuple[float, ...]:
        torch = module("torch", extra="vision")
        inputs = self.processor(images=picture, text=[[text]], truncation=True, return_tensors="pt")
        with torch.inference_mode():
            outputs = self.network(**inputs)
        (found,) = self.processor.post_process_grounded_object_detection(outputs, threshold=LEAST)
        return _distinct(found["boxes"], found["scores"])


@dataclass(frozen=True, slots=True)
class ZeroShot:
    """A detector that counts, in the images of a scan, the objects that the model scores at `threshold` or more.

    The count of a region is the sum over its images. Views that overlap count an object twice, before and after alike;
    a maximum would not change when an object vanishes from any view but the fullest. A lower threshold never counts
    less. Raises `ObviateError` (``bad-rate``) for a threshold that is not from `LEAST` to 1.
    """

    images: Images
    model: Model
    threshold: float

    def __post_init__(self) -> None:
        if not LEAST <= self.threshold <= 1:
            message = f"{self.threshold} is no detection threshold"
            raise ObviateError("bad-rate", message, where="threshold", help=f"use a number from {LEAST} to 1")

    def __str__(self) -> str:
        return f"{self.model.folder.resolve().name} at threshold {self.threshold:g}"

    def counts(self, scan: Scan, type: str) -> Mapping[str, int]:
        """How many objects of `type` it detects in each region. Raises `DataError` (``images-unusable``)."""
        text = self.model.query(type)
        scores = {
            region: [self.model.scores(file, text) for file in files] for region, files in self.images.of(scan).items()
        }
        return {
            region: sum(len(found) - bisect_left(found, self.threshold) for found in views)
            for region, views in scores.items()
        }


def zero_shot(images: Path, weights: Path, *, thresholds: Iterable[float] = THRESHOLDS) -> tuple[ZeroShot, ...]:
    """The model in `weights` on `images`, at each of the `thresholds`; it looks at an image once for all of them.

    Raises as `Images`, `Model.load` and `ZeroShot`.
    """
    seen = Images(images)
    model = Model.load(weights)
    return tuple(ZeroShot(seen, model, threshold) for threshold in thresholds)


def _picture(data: bytes, file: Path) -> Any:
    pillow = module("PIL.Image", extra="vision")
    try:
        return pillow.open(BytesIO(data)).convert("RGB")
    except Exception as error:  # decoders raise anything for malformed bytes
        raise DataError("images-unusable", f"this is no image: {error}", where=str(file), help=LAYOUT) from error


def _distinct(boxes: Any, scores: Any) -> tuple[float, ...]:
    """Greedy non-maximum suppression, which transformers leaves out: the scores of the boxes kept, ascending.

    Whether a box is kept depends on boxes of higher scores only, so any threshold may be applied afterwards.
    """
    order = scores.argsort(descending=True, stable=True)
    boxes, scores = boxes[order], scores[order]
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(dim=1)
    kept = []
    while len(scores):
        kept.append(float(scores[0]))
        corner, opposite = boxes[:, :2].maximum(boxes[0, :2]), boxes[:, 2:].minimum(boxes[0, 2:])
        shared = (opposite - corner).clamp(min=0).prod(dim=1)
        apart = shared <= OVERLAP * (areas + areas[0] - shared)
        apart[0] = False  # kept, whatever its area
        boxes, scores, areas = boxes[apart], scores[apart], areas[apart]
    return tuple(reversed(kept))
