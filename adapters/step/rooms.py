"""What stands in the rooms of a made-up house: kinds of the tag table, by what they are for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CRATES", "ROOMS", "STOREROOM", "Room"]


@dataclass(frozen=True, slots=True)
class Room:
    """A sort of room: what it holds, in the order in which small rooms are furnished, and the things kept in it.

    `standing` is furniture on the floor or the wall, `placed` are appliances on the furniture; `shelved` things belong
    in storage or on surfaces, and `cold` ones in the refrigerator.
    """

    standing: tuple[str, ...]
    placed: tuple[str, ...]
    shelved: tuple[str, ...]
    cold: tuple[str, ...] = ()


KITCHEN = Room(
    standing=(
        *("countertop.n.01", "electric_refrigerator.n.01", "cabinet.n.01", "stove.n.01", "sink.n.01"),
        *("bottom_cabinet.n.01", "top_cabinet.n.01", "oven.n.01", "breakfast_table.n.01", "drawer.n.01"),
    ),
    placed=("microwave.n.02", "coffee_maker.n.01", "toaster_oven.n.01", "electric_kettle.n.01", "rice_cooker.n.01"),
    shelved=(
        *("plate.n.04", "bowl.n.01", "mug.n.04", "wineglass.n.01", "water_glass.n.02", "mixing_bowl.n.01"),
        *("frying_pan.n.01", "saucepan.n.01", "tupperware.n.01", "tray.n.01", "mason_jar.n.01", "sack.n.01"),
        *("apple.n.01", "potato.n.01", "bag__of__rice.n.01", "box__of__cereal.n.01", "can__of__beans.n.01"),
        *("tortilla.n.01", "walnut.n.01", "jar__of__jam.n.01", "bottle__of__oil.n.01", "bottle__of__vinegar.n.01"),
        *("carving_knife.n.01", "chopping_board.n.01", "paper_towel.n.01", "plastic_wrap.n.01"),
    ),
    cold=("peach.n.03", "chicken.n.01", "tofu.n.02", "feta.n.01", "raw_egg.n.01", "bacon.n.01", "spinach.n.02"),
)
BATHROOM = Room(
    standing=("sink.n.01", "cabinet.n.01", "bathtub.n.01", "toilet.n.02", "medicine_chest.n.01", "hamper.n.02"),
    placed=("hair_dryer.n.01", "electric_toothbrush.n.01"),
    shelved=(
        *("bottle__of__cleaner.n.01", "bottle__of__disinfectant.n.01", "liquid_soap__bottle.n.01", "sponge.n.01"),
        *("hand_towel.n.01", "rag.n.01", "scrub_brush.n.01", "shampoo.n.01", "cup.n.01", "toilet_tissue.n.01"),
    ),
)
LIVING_ROOM = Room(
    standing=("coffee_table.n.01", "sofa.n.01", "cabinet.n.01", "bookcase.n.01", "shelf.n.01", "desk.n.01"),
    placed=("table_lamp.n.01", "laptop.n.01", "electric_fan.n.01", "radio.n.01", "television.n.01", "router.n.01"),
    shelved=(
        *("hardback.n.01", "magazine.n.01", "vase.n.01", "violin.n.01", "pillow.n.01", "tennis_ball.n.01"),
        *("picture_frame.n.01", "newspaper.n.01", "candle.n.01", "wicker_basket.n.01", "baseball.n.02"),
    ),
)
BEDROOM = Room(
    standing=("bed.n.01", "wardrobe.n.01", "nightstand.n.01", "dresser.n.01", "drawer.n.01", "top_cabinet.n.01"),
    placed=("table_lamp.n.01", "iron.n.04", "clock.n.01", "humidifier.n.01"),
    shelved=(
        *("jersey.n.03", "sock.n.01", "blanket.n.01", "boot.n.01", "sweater.n.01", "perfume.n.01", "mirror.n.01"),
        *("hat.n.01", "bag.n.06", "shears.n.01", "teddy.n.01", "notebook.n.01"),
    ),
)
STOREROOM = Room(
    standing=(
        "shelf.n.01",
        "bottom_cabinet.n.01",
        "washer.n.03",
        "clothes_dryer.n.01",
        "workbench.n.01",
        "locker.n.01",
    ),
    placed=("vacuum.n.04", "drill.n.01", "power_strip.n.01"),
    shelved=(
        *("broom.n.01", "dustpan.n.02", "bucket.n.01", "bottle__of__solvent.n.01", "lubricant__bottle.n.01"),
        *(
            "paving_stone.n.01",
            "trowel.n.01",
            "emery_paper.n.01",
            "basket.n.01",
            "packing_box.n.02",
            "tennis_ball.n.01",
        ),
    ),
)
ROOMS = (KITCHEN, LIVING_ROOM, BEDROOM, KITCHEN, BATHROOM, STOREROOM)  # a house begins with its kitchen
# What stands in a warehouse by the hundred: on a shelf anything, on the floor what may stand there.
CRATES = ("packing_box.n.02", "basket.n.01", "sack.n.01", "crate.n.01", "carton.n.02")
