"""The house once more, in the plainest way: one dictionary per thing, loops, and no cleverness.

Written from the description of the skills alone, to be compared with ``world.py``.
"""

import math

from benchmarks.systems.sda_planner.house.affordances import ACCEPTS, type_words

HIDING = ("Fridge", "Cabinet", "Microwave", "Drawer", "Safe", "Box")
FOOD = ("Apple", "Bread", "Egg", "Lettuce", "Potato", "Tomato")
LISTS = ("open", "on", "sliced", "hot", "cold", "clean", "dirty")


class NaiveHouse:
    def __init__(self, task, quirks):
        trial = task.payload
        scene = task.shared["scenes"][trial["scene"]["floor_plan"]]
        self.quirks = quirks
        self.things = {}
        for row in scene["receptacles"]:
            self.add(row["id"], row["type"], row["pos"], None, row.get("nav"))
        for row in scene["toggleables"]:
            if row["id"] not in self.things:
                self.add(row["id"], row["type"], row["pos"], None, None)
        for row in trial["objects"]:
            self.add(row["id"], row["type"], row["pos"], row["parent"], None)
        self.me = (trial["scene"]["init_action"]["x"], trial["scene"]["init_action"]["z"])
        self.at = self.cur = self.hand = None

    def add(self, id, type, pos, parent, nav):
        self.things[id] = {
            "id": id, "type": type, "home": (pos[0], pos[2]), "height": pos[1], "parent": parent,
            "nav": tuple(nav[:2]) if nav else None, "moved": None,
            **dict.fromkeys(LISTS, False),
        }  # fmt: skip

    # --- looking

    def ancestors(self, id):
        found = []
        parent = self.things[id]["parent"]
        while parent is not None and parent not in ("hand", "Floor"):
            found.append(parent)
            parent = self.things[parent]["parent"]
        return found

    def carried(self, id):
        return self.hand is not None and (id == self.hand or self.hand in self.ancestors(id))

    def where(self, id):
        if self.carried(id):
            return self.me
        movable = [a for a in self.ancestors(id) if self.things[a]["parent"] is not None]
        for one in [*reversed(movable), id]:
            if self.things[one]["moved"] is not None:
                return self.things[one]["moved"]
        return self.things[id]["home"]

    def hidden_in(self, id):
        for one in self.ancestors(id):
            if self.things[one]["type"] in HIDING and not self.things[one]["open"]:
                return one
        return None

    def reachable(self, id):
        if self.carried(id):
            return True
        if self.at is not None:
            mine, its = self.ancestors(self.at), self.ancestors(id)
            if self.at == id or id in mine or self.at in its:
                return True
            if any(one in its for one in mine):
                return True
        here = self.where(id)
        return math.hypot(self.me[0] - here[0], self.me[1] - here[1]) < 1.5

    def in_sight(self):
        return sorted(
            id for id, one in self.things.items()
            if one["parent"] is not None and self.reachable(id) and self.hidden_in(id) is None
        )  # fmt: skip

    def nearest(self, type):
        costs = []
        for order, (id, one) in enumerate(self.things.items()):
            if one["type"] != type:
                continue
            here = self.where(id)
            cost = math.hypot(self.me[0] - here[0], self.me[1] - here[1])
            if self.hidden_in(id) is not None:
                cost += 100_000
            if type == "StoveBurner" and any(t["parent"] == id for t in self.things.values()):
                cost += 10_000
            if not self.reachable(id):
                cost += 1_000
            if one["sliced"]:
                cost -= 100
            costs.append((cost, order, id))
        return min(costs)[2] if costs else None

    # --- acting

    def execute(self, skill, type, id):
        name = type_words(type)
        if skill == "put down":
            return self.put()
        if id:
            target = id if id in self.things else None
        else:
            target = self.nearest(type)
        ok, message = getattr(self, "do_" + skill.replace(" ", "_"))(target, name)
        if ok and self.quirks and skill not in ("find", "open"):
            self.cur = None
        return ok, message, target or ""

    def do_find(self, id, name):
        if id is None:
            return False, f"Cannot find {name}"
        if not self.carried(id):
            spot = self.where(id)
            for one in [id, *self.ancestors(id)]:
                if self.things[one]["nav"] is not None:
                    spot = self.things[one]["nav"]
                    break
            self.me = spot
        self.at = self.cur = id
        return True, f"Found {name}"

    def do_pick_up(self, id, name):
        if id is None or not self.reachable(id):
            return False, f"Cannot find {name} to pick up"
        if self.hand is not None:
            held = type_words(self.things[self.hand]["type"])
            return False, f"Robot is currently holding {held}"
        around = self.hidden_in(id)
        if around is not None:
            inside = type_words(self.things[around]["type"])
            return False, f"{name} is not visible because it is in {inside}"
        if self.things[id]["parent"] is None:
            return False, f"Cannot pick up {name}"
        self.things[id]["parent"] = "hand"
        self.things[id]["moved"] = None
        self.hand = id
        return True, f"Picked up {name}"

    def fits(self, id, into):
        one, place = self.things[id], self.things[into]
        if into == id or id in self.ancestors(into):
            return False
        if one["type"] not in ACCEPTS.get(place["type"], ()):
            return False
        single = ("StoveBurner", "CoffeeMachine", "TowelHolder", "HandTowelHolder",
                  "ToiletPaperHanger")  # fmt: skip
        full = any(other["parent"] == into for other in self.things.values())
        return not (place["type"] in single and full)

    def put(self):
        if self.hand is None:
            return False, "Robot is not holding any object", ""
        held = self.hand
        target = self.cur
        if target is None and not self.quirks:
            target = self.at
        if target is None:
            if self.quirks:
                self.fall()
            return False, "put down failed", held
        type = self.things[target]["type"]
        others = []
        for id, one in self.things.items():
            if one["type"] == type and id != target:
                here = self.where(id)
                others.append((math.hypot(self.me[0] - here[0], self.me[1] - here[1]), id))
        for into in [target, *(id for _, id in sorted(others)[:1])]:
            shut = self.things[into]["type"] in HIDING and not self.things[into]["open"]
            if shut or self.hidden_in(into) is not None:
                continue
            if not self.reachable(into) or not self.fits(held, into):
                continue
            self.things[held]["parent"] = into
            self.things[held]["moved"] = self.where(into)
            self.hand = None
            if self.quirks:
                self.cur = into
            words = f"Put down {type_words(self.things[held]['type'])} on {type_words(type)}"
            return True, words, held
        if self.quirks:
            self.fall()
            self.cur = None
        return False, f"Putting the object on {type_words(type)} failed", held

    def fall(self):
        self.things[self.hand]["parent"] = "Floor"
        self.things[self.hand]["moved"] = self.me
        self.hand = None

    def do_open(self, id, name):
        if id is None or not self.reachable(id):
            return False, f"Cannot find {name} to open"
        one = self.things[id]
        if one["on"] or one["open"] or one["type"] not in (*HIDING, "Laptop"):
            return False, "Open action failed"
        one["open"] = True
        return True, f"Opened {name}"

    def do_close(self, id, name):
        if id is None or not self.reachable(id) or not self.things[id]["open"]:
            return False, "Close action failed"
        self.things[id]["open"] = False
        if self.things[id]["type"] == "Fridge":
            self.mark_inside(id, "cold", True)
        return True, f"Closed {name}"

    def mark_inside(self, id, name, value):
        for one in self.things:
            if id in self.ancestors(one):
                self.things[one][name] = value

    def do_turn_on(self, id, name):
        if id is None or not self.reachable(id):
            return False, f"Cannot find {name} to turn on"
        one = self.things[id]
        if one["type"] not in ("Microwave", "DeskLamp", "FloorLamp", "Faucet") or one["on"]:
            return False, "Turn on action failed"
        if one["type"] == "Microwave" and one["open"]:
            return False, "Turn on action failed"
        one["on"] = True
        if one["type"] == "Microwave":
            self.mark_inside(id, "hot", True)
        if one["type"] == "Faucet":
            tap, basins = self.where(id), []
            for other in self.things.values():
                if other["type"] == "SinkBasin":
                    here = self.where(other["id"])
                    basins.append((math.hypot(tap[0] - here[0], tap[1] - here[1]), other["id"]))
            if basins:
                self.mark_inside(min(basins)[1], "clean", True)
                self.mark_inside(min(basins)[1], "dirty", False)
        return True, f"Turned on {name}"

    def do_turn_off(self, id, name):
        if id is None or not self.reachable(id) or not self.things[id]["on"]:
            return False, "Turn off action failed"
        self.things[id]["on"] = False
        return True, f"Turned off {name}"

    def do_slice(self, id, name):
        if id is None or not self.reachable(id) or self.hidden_in(id) is not None:
            return False, "Slice action failed"
        if self.hand is None or self.things[self.hand]["type"] not in ("Knife", "ButterKnife"):
            return False, "Slice action failed"
        whole = self.things[id]
        if whole["type"] not in FOOD or whole["sliced"]:
            return False, "Slice action failed"
        whole["sliced"] = True
        for number in (1, 2, 3, 4):
            piece = f"{id}|{whole['type']}Sliced_{number}"
            self.things[piece] = {**whole, "id": piece, "dirty": False}
        return True, f"Sliced {name}"

    def snapshot(self):
        things = self.things
        return {
            "parent": {id: t["parent"] for id, t in sorted(things.items()) if t["parent"]},
            **{name: sorted(id for id, t in things.items() if t[name]) for name in LISTS},
            "hold": self.hand, "at": self.at, "cur": self.cur, "pos": list(self.me),
        }  # fmt: skip
