"""The state of a household: nodes with one parent each, and what every action does to them.

Food keeps its history: the movable objects that it stems from, what was done to it, and which
vessels each of them entered. Rules look at nothing else.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from benchmarks.systems.adapt.household.actions import (
    ASK,
    CHOP,
    CLOSE,
    COOK,
    DONE,
    FREE_IN,
    FREE_ON,
    HEAT,
    HEAT_VERBS,
    LOOK_FOR,
    MIX,
    MIX_VERBS,
    MOVE,
    MOVE_FROM,
    OPEN,
    POUR,
    SEARCH,
    TURN_OFF,
    TURN_ON,
    VERBS,
    Action,
    normalise,
    unread_message,
    without_article,
)
from benchmarks.systems.adapt.household.inventory import (
    CONTAINER,
    EDIBLE,
    FURNITURE,
    ROOM,
    Inventory,
)
from benchmarks.systems.adapt.household.nodes import (
    ActionResult,
    Change,
    Entry,
    HouseholdEvent,
    Node,
    is_vessel,
)

# Fewer letters are looked for as a whole word alone, where several things have them.
SHORTEST_PART = 3


class ActionRefused(Exception):
    """An action that fails; the text is what the agent is told."""


class World:
    """One household. ``step`` counts actions; ``version`` changes whenever food or places do.

    ``finds_parts``: looking for one or two letters finds everything that has them in its name, as
    it did for runs that are pinned to version 1 of the scorer.
    """

    def __init__(
        self,
        inventory: Inventory,
        present: Iterable[str],
        require_seen: bool = False,
        finds_parts: bool = False,
    ) -> None:
        self.inventory = inventory
        self.require_seen = require_seen
        self.finds_parts = finds_parts
        self.step = self.version = 0
        self.nodes: dict[str, Node] = {}
        self.known: dict[str, None] = {}
        # Food that the agent moved or made, packages left out, in order.
        self.touched: dict[str, None] = {}
        self._focus = ""
        self._numbers: dict[str, int] = {}
        self._changes: list[Change] = []
        wanted = set(present)
        fixed = (*inventory.rooms, *inventory.furniture)
        for thing in (*fixed, *(t for t in inventory.movable if t.id in wanted)):
            base = (thing.id,) if thing.type == EDIBLE else ()
            node = Node(thing.id, thing.id, thing, thing.place, base=base, package=thing.package)
            self.nodes[thing.id] = node
            if thing.place:
                self.nodes[thing.place].children.append(thing.id)
        self.present = frozenset(wanted) | {thing.id for thing in fixed}
        self.known.update(dict.fromkeys(thing.id for thing in fixed))

    # --- Looking ----------------------------------------------------------------------------------

    def chain(self, node: Node) -> Iterator[Node]:
        """Yield the node and everything that holds it, up to the room."""
        while True:
            yield node
            if not node.parent:
                return
            node = self.nodes[node.parent]

    def furniture_of(self, node: Node) -> Node:
        """Return the furniture that a node stands on or in (itself, if it is furniture)."""
        return next(n for n in self.chain(node) if n.thing.type in (FURNITURE, ROOM))

    def below(self, node: Node) -> Iterator[Node]:
        """Yield everything in or on a node, at any depth."""
        for name in node.children:
            child = self.nodes[name]
            yield child
            yield from self.below(child)

    def appliance_of(self, node: Node) -> str:
        """Return the id of the cooking appliance that a node is, or is on or in; '' if none."""
        return next((n.id for n in self.chain(node) if n.thing.appliance), "")

    def arrived(self, node: Node) -> int:
        """Return the step at which a node last came to the furniture on which it is; 0 if never."""
        latest = 0
        for held in self.chain(node):
            if held.thing.type in (FURNITURE, ROOM):
                break
            latest = max(latest, held.moved)
        return latest

    def place_words(self, node: Node) -> str:
        """Return where a node is: its holders from the inside out."""
        return ", ".join(n.name for n in list(self.chain(node))[1:])

    # --- Acting -----------------------------------------------------------------------------------

    def act(self, action: Action) -> ActionResult:
        """Carry out one action; one that fails changes nothing."""
        self.step += 1
        self._changes = []
        handler = _HANDLERS.get(action.kind)
        if handler is None:
            return ActionResult(False, unread_message(action.text))
        try:
            message = handler(self, action)
        except ActionRefused as refused:
            return ActionResult(False, str(refused))
        if self._changes:
            self.version += 1
        return ActionResult(True, message, tuple(self._changes))

    def find(self, name: str, inside: Node | None = None) -> Node:
        """Return the node that a name stands for, or refuse.

        Ids come before names, names before descriptions, and those before categories. Of several
        the nearest to what was handled last counts: same furniture, same room, order of the file.
        """
        wanted = normalise(name)
        shown = without_article(name)[:LONGEST_SHOWN]
        pool = [self.nodes[c] for c in inside.children] if inside else list(self.nodes.values())
        if inside is None and (named := self.nodes.get(wanted)) is not None:
            return self._seen(named)
        for fits in _FITS:
            if matches := [node for node in pool if fits(node, wanted)]:
                return self._seen(self._nearest(matches))
        if inside is not None:
            other = self.find(name)
            raise ActionRefused(f"{other.name} is not in {inside.name}.")
        raise ActionRefused(f"There is no {shown} here.")

    def _seen(self, node: Node) -> Node:
        if self.require_seen and node.id not in self.known:
            raise ActionRefused(f"You have not seen any {node.name} yet.")
        return node

    def _nearest(self, nodes: Sequence[Node]) -> Node:
        if len(nodes) == 1 or self._focus not in self.nodes:
            return nodes[0]
        here = self.furniture_of(self.nodes[self._focus])

        def distance(node: Node) -> int:
            there = self.furniture_of(node)
            return 0 if there is here else 1 if there.parent == here.parent else 2

        return min(nodes, key=distance)

    def _optional_tool(self, action: Action) -> str:
        return self.find(action.tool).id if action.tool else ""

    def _place(self, node: Node, target: Node) -> None:
        """Put a node to another place, whole."""
        before = node.parent
        self.nodes[before].children.remove(node.id)
        target.children.append(node.id)
        node.parent, node.moved = target.id, self.step
        self.known[node.id] = None
        self._focus = target.id
        self._changes.append(Change(node.name, "place", before, target.id))
        if node.edible and not node.package:
            self.touched[node.id] = None
            self._enter(node, target)

    def _enter(self, node: Node, target: Node) -> None:
        if is_vessel(target):
            new = tuple(Entry(self.step, target.id, base) for base in node.base)
            node.entries += new

    def _portion(self, package: Node, target: Node) -> Node:
        """Put a portion of a package somewhere; the package stays as it is."""
        name = package.thing.base_name
        node = Node(
            self._free_id(name), name, package.thing, target.id, moved=self.step, base=package.base
        )
        self._add(node, target)
        self._enter(node, target)
        self._changes.append(Change(node.name, "new", "", target.id))
        return node

    def _free_id(self, name: str) -> str:
        """Return an id for a new node: its name, with a count where that is taken."""
        if name not in self.nodes and name not in self._numbers:
            self._numbers[name] = 1
            return name
        while True:
            self._numbers[name] = number = self._numbers.get(name, 1) + 1
            if (free := f"{name}~{number}") not in self.nodes:
                return free

    def _add(self, node: Node, target: Node) -> None:
        self.nodes[node.id] = node
        target.children.append(node.id)
        self.known[node.id] = None
        self.touched[node.id] = None
        self._focus = target.id

    def _remove(self, node: Node) -> None:
        self.nodes[node.parent].children.remove(node.id)
        del self.nodes[node.id]
        self.known.pop(node.id, None)
        self.touched.pop(node.id, None)

    def _hold_portions(self, target: Node) -> bool:
        """Return whether a package that is moved here leaves a portion instead of coming whole."""
        if target.thing.type == CONTAINER:
            return target.thing.category != "tray"
        return target.thing.appliance and "container" in target.thing.attributes

    def _transform(
        self, inputs: Sequence[Node], target: Node, result: str, event: HouseholdEvent
    ) -> Node:
        """Make one node of several; bases unite, and histories are joined."""
        name = normalise(result)
        if not name:
            raise ActionRefused("Say what comes of it, after “to get”.")
        base = tuple(dict.fromkeys(b for node in inputs for b in node.base))
        events = tuple(dict.fromkeys(e for node in inputs for e in node.events))
        events = tuple(sorted(events, key=lambda e: e.t))
        entries = tuple(dict.fromkeys(e for node in inputs for e in node.entries))
        core = frozenset(base)
        if not (event.heat or event.verb in MIX_VERBS or event.verb == COOK):
            core = frozenset().union(*(node.core for node in inputs))
        first = max(inputs, key=lambda node: len(node.base)).thing
        for node in inputs:
            if not node.package:
                self._remove(node)
        made = Node(
            self._free_id(name),
            name,
            first,
            target.id,
            moved=self.step,
            base=base,
            core=core,
            events=(*events, event),
            entries=entries,
        )
        if event.heat:
            made.states.add("hot")
        self._add(made, target)
        names = ", ".join(node.name for node in inputs)
        self._changes.append(Change(made.name, "made", names, target.id))
        return made

    def _heat(self, nodes: Iterable[Node], verb: str, appliance: str) -> list[Node]:
        """Give food a heat event."""
        heated = [node for node in nodes if node.edible and not node.package]
        for node in heated:
            held = self.nodes[node.parent]
            container = held.id if is_vessel(held) else ""
            node.events += (HouseholdEvent(self.step, verb, True, container, "", appliance),)
            node.core = frozenset(node.base)
            self.touched[node.id] = None
            if "hot" not in node.states:
                node.states.add("hot")
            self._changes.append(Change(node.name, "state", "", "hot"))
        return heated

    # --- The actions ------------------------------------------------------------------------------

    def _open(self, action: Action) -> str:
        node = self.find(action.x)
        if "openable" not in node.thing.attributes and not node.package:
            raise ActionRefused(f"{node.name} cannot be opened.")
        if "open" in node.states:
            raise ActionRefused(f"{node.name} is already open.")
        node.states.add("open")
        self._changes.append(Change(node.name, "state", "closed", "open"))
        inside = node.thing.base_name if node.package else self._list(node)
        return f"You open {node.name}. Inside: {inside or 'nothing'}."

    def _close(self, action: Action) -> str:
        node = self.find(action.x)
        if "openable" not in node.thing.attributes and not node.package:
            raise ActionRefused(f"{node.name} cannot be closed.")
        if "open" not in node.states:
            raise ActionRefused(f"{node.name} is already closed.")
        node.states.discard("open")
        self._changes.append(Change(node.name, "state", "open", "closed"))
        return f"You close {node.name}."

    def _turn_on(self, action: Action) -> str:
        node = self.find(action.x)
        if not node.thing.appliance:
            raise ActionRefused(f"{node.name} is not a cooking appliance.")
        if "on" not in node.states:
            node.states.add("on")
            self._changes.append(Change(node.name, "state", "off", "on"))
        heated = self._heat(list(self.below(node)), "heat", node.id)
        return f"You turn on {node.name}.{_heated_words(heated)}"

    def _turn_off(self, action: Action) -> str:
        node = self.find(action.x)
        if not node.thing.appliance:
            raise ActionRefused(f"{node.name} is not a cooking appliance.")
        if "on" in node.states:
            node.states.discard("on")
            self._changes.append(Change(node.name, "state", "on", "off"))
        return f"You turn off {node.name}."

    def _heat_action(self, action: Action) -> str:
        node = self.find(action.x)
        appliance = self.appliance_of(node)
        if not appliance:
            raise ActionRefused(f"{node.name} must be on a cooking appliance to be heated.")
        heated = self._heat([node, *self.below(node)], "heat", appliance)
        if not heated and "hot" not in node.states:
            node.states.add("hot")
            self._changes.append(Change(node.name, "state", "", "hot"))
        return f"You heat {node.name}.{_heated_words(heated)}"

    def _search(self, action: Action) -> str:
        node = self.find(action.x)
        if node.thing.type == ROOM:
            parts = []
            for name in node.children:
                piece = self.nodes[name]
                closed = "openable" in piece.thing.attributes and "open" not in piece.states
                if not closed and (listed := self._list(piece)):
                    parts.append(f"on {piece.name}: {listed}")
            return f"You search {node.thing.description}. " + (
                "You see " + "; ".join(parts) + "." if parts else "You see nothing but furniture."
            )
        if node.thing.type not in (FURNITURE, CONTAINER):
            raise ActionRefused(f"{node.name} is not a container.")
        self._focus = node.id
        return f"You search {node.name}. You find: {self._list(node) or 'nothing'}."

    def _list(self, node: Node) -> str:
        """List what is in or on a node, and make it known."""
        parts = []
        for name in node.children:
            child = self.nodes[name]
            self.known[name] = None
            inside = self._list(child) if child.children else ""
            words = self.describe(child)
            parts.append(f"{words}, holding [{inside}]" if inside else words)
        return "; ".join(parts)

    def describe(self, node: Node) -> str:
        """Return a node as agents are shown it: its name, and its description where that adds."""
        states = [s for s in ("open", "on", "hot", "chopped") if s in node.states]
        more = [node.thing.description] if node.id == node.thing.id else []
        inside = ", ".join([*more, *states])
        return f"{node.name} ({inside})" if inside else node.name

    def _look_for(self, action: Action) -> str:
        wanted = normalise(action.x)
        words = wanted.replace("_", " ")
        nodes = [
            node
            for node in self.nodes.values()
            if node.thing.type != ROOM
            and (
                wanted in node.id
                or wanted == node.thing.category
                or words in node.thing.description.lower()
            )
        ]
        if not wanted or not nodes:
            return f"You look for {action.x[:LONGEST_SHOWN]} and find nothing."
        names = list(dict.fromkeys(node.name for node in nodes))
        whole = any(words in _words_of(node) for node in nodes)
        short = len(words) < SHORTEST_PART and not self.finds_parts
        if short and not whole and len(names) > 1:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            raise ActionRefused(
                f"{words} is ambiguous: it is part of {', '.join(names[:3])}{more}. "
                "Name what you look for."
            )
        for node in nodes:
            self.known[node.id] = None
        parts = [f"{self.describe(node)} in {self.place_words(node)}" for node in nodes]
        return f"You look for {words}. You find: " + "; ".join(parts) + "."

    def _move(self, action: Action) -> str:
        source = self.find(action.y) if action.kind == MOVE_FROM else None
        target = self.find(action.z if source else action.y)
        if source is not None and source.package:
            return self._pour_into(self._content(source, action.x), source, target)
        node = self.find(action.x, source)
        if node.thing.type in (FURNITURE, ROOM):
            raise ActionRefused(f"{node.name} cannot be moved.")
        if target.thing.type not in (FURNITURE, CONTAINER):
            raise ActionRefused(f"{target.name} is not a container.")
        if any(held is node for held in self.chain(target)):
            raise ActionRefused(f"{node.name} cannot be put into itself.")
        if node.package and self._hold_portions(target):
            return self._pour_into(node, node, target)
        source_name = self.nodes[node.parent].name
        self._place(node, target)
        return f"You move {node.name} from {source_name} to {target.name}."

    def _content(self, package: Node, name: str) -> Node:
        """Return a package if a name stands for its content, else refuse."""
        wanted = normalise(name)
        thing = package.thing
        if wanted not in (thing.base_name, thing.id, thing.category) and (
            wanted.replace("_", " ") not in thing.description.lower()
        ):
            other = self.find(name)
            raise ActionRefused(f"{other.name} is not in {package.name}.")
        return package

    def _pour(self, action: Action) -> str:
        source, target = self.find(action.y), self.find(action.z)
        if source.package:
            node = self._content(source, action.x)
        else:
            node = self.find(action.x, source)
        return self._pour_into(node, source, target)

    def _pour_into(self, node: Node, source: Node, target: Node) -> str:
        holds = target.thing.type == CONTAINER or "container" in target.thing.attributes
        if not holds:
            raise ActionRefused(f"{target.name} is not a container.")
        if node.thing.type in (FURNITURE, ROOM):
            raise ActionRefused(f"{node.name} cannot be moved.")
        if any(held is node for held in self.chain(target)):
            raise ActionRefused(f"{node.name} cannot be put into itself.")
        if node.package:
            portion = self._portion(node, target)
            self.known[node.id] = None
            return f"You add {portion.name} from {node.name} to {target.name}."
        self._place(node, target)
        return f"You add {node.name} from {source.name} to {target.name}."

    def _food_in(self, node: Node) -> list[Node]:
        if node.thing.type != CONTAINER and "container" not in node.thing.attributes:
            raise ActionRefused(f"{node.name} is not a container.")
        inside = [self.nodes[name] for name in node.children]
        food = [child for child in inside if child.edible and not child.package]
        if not food:
            raise ActionRefused(f"{node.name} contains nothing edible.")
        return food

    def _mix(self, action: Action) -> str:
        return self._transform_in(action, MIX, heat=False)

    def _cook(self, action: Action) -> str:
        node = self.find(action.x)
        if not self.appliance_of(node):
            raise ActionRefused(f"{node.name} must be on a cooking appliance to be heated.")
        return self._transform_in(action, COOK, heat=True)

    def _freeform_in(self, action: Action) -> str:
        _check_verb(action.verb)
        heat = action.verb in HEAT_VERBS and bool(self.appliance_of(self.find(action.x)))
        return self._transform_in(action, action.verb, heat=heat)

    def _transform_in(self, action: Action, verb: str, heat: bool) -> str:
        node = self.find(action.x)
        food = self._food_in(node)
        tool = self._optional_tool(action)
        event = HouseholdEvent(
            self.step, verb, heat, node.id, tool, self.appliance_of(node), normalise(action.result)
        )
        names = ", ".join(child.name for child in food)
        made = self._transform(food, node, action.result, event)
        return f"You {verb} {names} in {node.name} and get {made.name}."

    def _chop(self, action: Action) -> str:
        node = self._food(action)
        held = list(self.chain(node))[1:]
        # A vessel counts as the surface on which it stands.
        on = [h for h in held if h.thing.type != ROOM]
        if not any("chopping_ok" in h.thing.attributes for h in on[:2]):
            raise ActionRefused(f"{node.name} must be on a chopping surface.")
        made = self._transform_on(action, node, CHOP, heat=False)
        made.states.add("chopped")
        return f"You chop {node.name} and get {made.name}."

    def _freeform_on(self, action: Action) -> str:
        _check_verb(action.verb)
        node = self._food(action)
        heat = action.verb in HEAT_VERBS
        if heat and not self.appliance_of(node):
            raise ActionRefused(f"{node.name} must be on a cooking appliance to be heated.")
        made = self._transform_on(action, node, action.verb, heat=heat)
        return f"You {action.verb} {node.name} and get {made.name}."

    def _food(self, action: Action) -> Node:
        node = self.find(action.x)
        if not node.edible:
            raise ActionRefused(f"{node.name} is not edible.")
        return node

    def _transform_on(self, action: Action, node: Node, verb: str, heat: bool) -> Node:
        held = self.nodes[node.parent]
        tool = self._optional_tool(action)
        container = held.id if is_vessel(held) else ""
        appliance = self.appliance_of(node) if heat else ""
        event = HouseholdEvent(
            self.step, verb, heat, container, tool, appliance, normalise(action.result)
        )
        return self._transform([node], held, action.result, event)


LONGEST_SHOWN = 60
_FITS: tuple[Callable[[Node, str], bool], ...] = (
    lambda node, wanted: node.id == wanted or node.name == wanted,
    lambda node, wanted: node.thing.base_name == wanted and node.id == node.thing.id,
    lambda node, wanted: node.thing.plain_description == wanted,
    lambda node, wanted: node.thing.category == wanted,
)
_HANDLERS: Mapping[str, Callable[["World", Action], str]] = {
    OPEN: World._open,
    CLOSE: World._close,
    TURN_ON: World._turn_on,
    TURN_OFF: World._turn_off,
    HEAT: World._heat_action,
    SEARCH: World._search,
    LOOK_FOR: World._look_for,
    MOVE: World._move,
    MOVE_FROM: World._move,
    POUR: World._pour,
    MIX: World._mix,
    COOK: World._cook,
    CHOP: World._chop,
    FREE_IN: World._freeform_in,
    FREE_ON: World._freeform_on,
    # What the episode takes care of; it takes a step all the same.
    ASK: lambda world, action: "",
    DONE: lambda world, action: "You declare the task done.",
}


def _words_of(node: Node) -> list[str]:
    text = f"{node.id} {node.thing.category} {node.thing.description}"
    return text.lower().replace("_", " ").split()


def _check_verb(verb: str) -> None:
    if verb not in VERBS:
        raise ActionRefused(f"Unknown verb {verb[:40]}. Known verbs: {', '.join(VERBS)}.")


def _heated_words(heated: Sequence[Node]) -> str:
    return f" Now hot: {', '.join(node.name for node in heated)}." if heated else ""
