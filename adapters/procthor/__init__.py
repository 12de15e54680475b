"""ProcTHOR: houses as region maps for standing instructions."""

from obviate.adapters.procthor.files import asset_types, houses, ship, shipped
from obviate.adapters.procthor.house import House, read

__all__ = ["House", "asset_types", "houses", "read", "ship", "shipped"]
