"""Random rule packs of local rules: joins along relations, aggregates over neighbours, targets, hazards that are asked
of all bindings. Some are not local after all, for a reason that stands beside the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import strategies as st
from packs_strategies import HELPERS, INTENTS, NEEDS, OBJECTS, STATES, TAGS, Writer

__all__ = ["WIDE", "local_pack_texts"]

WIDE = (*OBJECTS, "bee2", "é日")  # objects of a scene in which walks lead somewhere

LOCAL_HELPERS = HELPERS | {
    "alike": "alike(X,Y) :- edge((ontop; inside),X,Z); edge(ontop,Y,Z); X != Y.",
    "even": "even(X) :- tag(X,function_surface).\neven(X) :- edge(ontop,X,Y); odd(Y).",
    "odd": "odd(X) :- edge(ontop,X,Y); even(Y).",
    "kept_cold": 'kept_cold("bee").\nkept_cold(X) :- edge(inside,X,Y); state(Y,wet).\nkept_cold(X) :- edge(_,X,"bee").',
    "matched": 'matched("ant","bee").\nmatched("cat","ant").',
    "tied": "tied(X,Y) :- edge(nextto,X,Y); X < Y.\ntied(X,Y) :- tied(Y,X).",
    "apart": "apart(X,Y) :- object(X); object(Y); not edge(nextto,X,Y); not beneath(X,Y).",
    "mates": "mates(X,Y) :- state(X,S); state(Y,S); not -state(X,open).",
    "burden": "burden(Y,S) :- object(Y); S = #sum{N,X : edge(ontop,X,Y), value(X,weight,N)}.",
    "least": "least(X,Y) :- object(X); Y = #min{Z : edge(nextto,Z,X)}; edge(nextto,X,Y).",
}
LOCAL_NEEDS = NEEDS | {"even": ("odd",), "odd": ("even",), "apart": ("beneath",)}

# From an object {x} to another {y}.
LINKS = (
    "edge(ontop,{x},{y})",
    "edge(ontop,{y},{x})",
    "edge((inside; ontop),{x},{y})",
    "edge(inside,{y},{x})",
    "edge(nextto,{x},{y})",
    "edge(near,{x},{y})",
    "edge(P{x}{y},{x},{y})",
    "edge(P{x}{y},V{y},{x}); edge(P{x}{y},V{y},{y})",
    "edge(nextto,{x},V{y}); edge(ontop,V{y},{y})",
    "beneath({x},{y})",
    "beneath({y},{x})",
    "joined({x},{y})",
    "alike({x},{y})",
    "alike({y},{x})",
    "tied({y},{x})",
    "least({x},{y})",
    "{y} = {x}",
    "V{y} = {x}; edge(nextto,{y},V{y})",
)
OF_ONE = (
    *3 * ("state({x},{s})",),
    "state({x},worst)",
    "not state({x},{s})",
    "-state({x},{s})",
    "not -state({x},{s})",
    "state({x},(dusty; wet))",
    "state({x},S{x}); not tag({x},{t})",
    "tag({x},{t})",
    "moved({x})",
    "value({x},weight,N{x}); 2*N{x}-1 > bound",
    "not value({x},weight,2)",
    "clean({x})",
    "not spoiled({x})",
    "even({x})",
    "not odd({x})",
    "kept_cold({x})",
    "not kept_cold({x})",
    "-sound({x})",
    "not crowded({x})",
    "burden({x},B{x}); B{x} < 3",
    "not matched({x},_)",
    'not edge(inside,{x},"bee")',
    'beneath({x},"cat")',
    "not edge(ontop,_,{x})",
    "edge(nextto,{x},_)",
    '{x} < "bee2"',
    'not {x} = "cat"',
    "#count{{Z : edge(ontop,Z,{x}), state(Z,{s})}} >= 1",
    "#count{{Z : beneath(Z,{x}), not state(Z,{s}); W : edge(nextto,W,{x}), W < {x}}} < 2",
    "#sum{{N,Z : edge(nextto,Z,{x}), value(Z,weight,N), Z != {x}}} > 2",
    "not #count{{Z : joined({x},Z)}} < 2",
    "1 {{ state(Z,{s}) : edge(nextto,Z,{x}) ; edge(inside,{x},_) }}",
    "#max{{N : edge(ontop,Z,{x}), burden(Z,N)}} > 1",
    "state(Z,{s}) : edge(ontop,Z,{x})",
    "not state(Z,{s}) : edge(nextto,Z,{x}), tag(Z,{t})",
    "rule(r0,_)",
)
OF_TWO = (
    "{x} != {y}",
    "{x} < {y}",
    "not edge(ontop,{x},{y})",
    "not edge(nextto,{x},{y})",
    "not beneath({y},{x})",
    "not joined({x},{y})",
    "apart({x},{y})",
    "mates({x},{y})",
    "not matched({x},{y})",
    "state({x},S{x}{y}); state({y},S{x}{y})",
    "edge(P{y}{x},{x},_); not edge(P{y}{x},{y},_)",
    "#count{{Z : edge(nextto,{x},Z), edge(nextto,Z,{y})}} < 1",
    "#count{{Z : edge(ontop,{x},{y}), edge(nextto,{x},Z)}} < 1",
    "not state({x},{s}) : edge(ontop,{x},{y})",
    "value({x},weight,A); value({y},weight,B); A < B+1",
)
_OPEN = ("intent(A)", "hazard(_", "menaced", "busy")  # which leave open what they read
LOCAL_INTENTS = {
    1: (
        *(text for text in INTENTS[1] if not any(word in text for word in _OPEN)),
        "intent(done); {h}",
        "touched(Z); {h}; not intent(open(X))",
        "intent(wipe(_,_)); {h}; #count{{1 : intent(open(X))}} < 1",
        "intent(wipe(Y,_)); edge(nextto,Y,X); not edge(ontop,X,Y)",
        'intent(place_inside(X,"bee"))',
    ),
    2: (
        *INTENTS[2],
        "intent(done); {h}",
        "touched(X); edge(ontop,X,Y)",
        "intent(open(Z)); beneath(X,Z); edge(nextto,X,Y)",
        'intent(place_inside(X,"bee")); edge(nextto,X,Y)',
        "intent(wipe(X,_)); {h}; not brought(Y,X)",
    ),
    3: (
        *(text for text in INTENTS[3] if not any(word in text for word in _OPEN)),
        "intent(wipe(X,Y)); edge(nextto,Y,Z)",
        "intent(open(_)); {h}",
    ),
}


class _LocalWriter(Writer):
    """Writes rules whose objects are linked."""

    arities = (1, 1, 1, 2, 2, 3)
    intents = LOCAL_INTENTS
    helpers = LOCAL_HELPERS
    needs = LOCAL_NEEDS

    def pack(self) -> str:
        text = super().pack()
        for name, value in (("near", "nextto"), ("worst", "dusty"), ("bound", "3")):
            if f"{name})" in text or f"{name}," in text or f"> {name}" in text:
                text = text.replace(f"#const {name} = {value}.", "") + f"#const {name} = {value}.\n"
        return text

    def hazard(self, variables: Sequence[str]) -> str:
        extra = self._draw(st.sampled_from(((), ("V",), ("V", "W")[: 3 - len(variables)])))
        known, body = ["X"], [self.domain("X")]
        for name in (*variables[1:], *extra):
            linked = self.chance(90) or name not in variables
            body.append(self.link(self.pick(known), name) if linked else self.domain(name))
            known.append(name)
        return "; ".join([*body, *self.conditions(known, self.number(0, 2))])

    def target(self, name: str, binding: str, variables: Sequence[str]) -> str:
        asked = f"pending({name},{binding})"
        body = [asked] if self.chance(80) else [asked, *(self.domain(x) for x in variables)]
        known = list(variables)
        if self.chance(40):
            body.append(self.link(self.pick(known), "V"))
            known.append("V")
        if self._targets and self.chance(10):
            body.append(f"resolved({self.pick(self._targets)},{self.pick(known)})")
        if len(variables) == 1 and self.chance(20):
            body.append(f"{self.pick(('', 'not '))}hazard({name},{self.pick(known)})")
        return "; ".join([*body, *self.conditions(known, self.number(1, 2))])

    def domain(self, variable: str) -> str:
        return self.pick((f"object({variable})", super().domain(variable), f"edge(_,{variable},_)"))

    def conditions(self, known: Sequence[str], count: int) -> Iterator[str]:
        for _ in range(count):
            if len(known) > 1 and self.chance(40):
                x, y = self._draw(st.permutations(known))[:2]
                yield self.said(self.pick(OF_TWO), x=x, y=y)
            elif self._hazards and self.chance(20):
                yield self.other_hazard(self.pick(known))
            else:
                yield self.condition(self.pick(known))

    def condition(self, variable: str) -> str:
        return self.said(self.pick(OF_ONE), x=variable)

    def link(self, known: str, new: str) -> str:
        """A condition that leads from one object to another; that may be a hazard of an earlier rule."""
        pairs = [name for name, arity in self._hazards.items() if arity == 2]
        if pairs and self.chance(20):
            ends = self._draw(st.permutations((known, new)))
            return f"hazard({self.pick(pairs)},({ends[0]},{ends[1]}))"
        return self.said(self.pick(LINKS), x=known, y=new)

    def said(self, template: str, **names: str) -> str:
        return template.format(**names, s=self.pick(STATES), t=self.pick(TAGS))


@st.composite
def local_pack_texts(draw: st.DrawFn) -> list[str]:
    """The text of a pack."""
    return [_LocalWriter(draw).pack()]
