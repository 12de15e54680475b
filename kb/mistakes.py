"""What people and language models write instead of ASP, told from the tokens around the place where reading stopped.

Each recogniser looks at one broken statement and answers with a `Mistake` or None. They are tried in order; one that
comes with a replacement counts only if the statement can then be read further (see `syntax`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from obviate.kb.scan import code_of
from obviate.kb.tokens import Token

__all__ = ["RECOGNISERS", "Broken", "Mistake", "wrappings"]


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong between the offsets `start` and `end` of a statement, and what belongs there instead.

    The edit replaces `edit`, two offsets, or what is wrong itself.
    """

    code: str
    message: str
    start: int
    end: int
    help: str
    replacement: str | None = None
    edit: tuple[int, int] | None = None
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Broken:
    """A statement that cannot be read: its text, what means something in it, and the offset where reading stopped."""

    text: str
    tokens: Sequence[Token]
    stopped: int

    @property
    def at(self) -> int:
        """The index of the token where reading stopped; the number of tokens at the end."""
        return next((i for i, token in enumerate(self.tokens) if token.end > self.stopped), len(self.tokens))

    def token(self, index: int) -> Token:
        """The token at an index, or one without text."""
        return self.tokens[index] if 0 <= index < len(self.tokens) else Token("space", "", len(self.text))

    def line(self, offset: int) -> tuple[int, int]:
        """The offsets where the line around `offset` begins and ends."""
        end = self.text.find("\n", offset)
        return self.text.rfind("\n", 0, offset) + 1, len(self.text) if end < 0 else end

    def depth(self, index: int) -> int:
        """How many round brackets are open before a token."""
        texts = [token.text for token in self.tokens[:index]]
        return texts.count("(") - texts.count(")")

    def literal(self, index: int) -> int:
        """The index where the literal before a token begins."""
        depth = 0
        for i in range(index - 1, -1, -1):
            text = self.tokens[i].text
            depth += (text in (")", "]", "}")) - (text in ("(", "[", "{"))
            if depth < 0 or (depth == 0 and text in (",", ";", ":-")):
                return i + 1
        return 0


def _foreign_comment(broken: Broken) -> Mistake | None:
    start, end = broken.line(broken.token(broken.at).offset)
    match = re.match(r"\s*(#(?!\w)|//+|--+)", broken.text[start:end])
    if match is None:
        return None
    where = start + match.start(1), start + match.end(1)
    return Mistake("foreign-comment", "this is no comment in ASP", *where, "a comment begins with %", "%")


def _natural_language(broken: Broken) -> Mistake | None:
    for index in (broken.at, broken.at - 1):
        start, end = broken.line(broken.token(index).offset)
        words = [token for token in broken.tokens if start <= token.offset < end]
        if not words or _longest_run(broken.text, words) < 3 - broken.text[start:end].rstrip().endswith(":"):
            continue
        first = words[0].offset
        alone = words[0] is broken.tokens[0] and not any(token.text in (":-", "(") for token in words)
        return Mistake(
            "natural-language",
            "this line is no rule" if alone else "these words are no ASP",
            first,
            start + len(broken.text[start:end].rstrip()),
            'put % before what is meant for people, or write it as principle(R, "...")',
            "% " if alone else None,  # within a rule it may be a condition
            (first, first),
        )
    return None


def _longest_run(text: str, tokens: Sequence[Token]) -> int:
    """The most words in a row, with nothing but space between them."""
    longest = 0
    run: list[str] = []
    last: Token | None = None
    for token in tokens:
        word = token.kind in ("name", "variable") or token.text == "not"
        joined = last is not None and text[last.end : token.offset].isspace()
        run = [*(run if joined else []), token.text] if word else []
        last = token if word else None
        if sum(len(each) > 2 for each in run) > 1:  # unlike M is N
            longest = max(longest, len(run))
    return longest


def _list_marker(broken: Broken) -> Mistake | None:
    match = re.compile(r"(\d+[.)](?:\s|\Z)|[-*+]\s)").match(broken.text, broken.token(0).offset)
    if match is None or broken.at > 2:
        return None
    return Mistake(
        "list-marker",
        "a list marker is no ASP",
        match.start(1),
        match.start(1) + len(match[1].rstrip()),
        "rules stand one after the other",
        "",
        (match.start(1), match.end(1)),
    )


def _dotted(broken: Broken) -> Mistake | None:
    for match in re.finditer(r"(?<![\w.\"])(\d+\.\d+(?!\w)|[a-z]\w*(?:\.\w+)+)", broken.text):
        if match.start() <= broken.stopped <= match.end():
            if match[0][0].isdigit():
                return Mistake(
                    "decimal", f"{match[0]} is no integer", *match.span(), "clingo has integers only: use smaller units"
                )
            return Mistake(
                "dotted-id",
                f"{match[0]} is not one name",
                *match.span(),
                "ids of objects are strings, in double quotes",
                f'"{match[0]}"',
            )
    return None


def _prolog_list(broken: Broken) -> Mistake | None:
    index = next((i for i in (broken.at, broken.at - 1) if broken.token(i).text == "["), None)
    if index is None:
        return None
    begin = broken.token(index).offset
    end = broken.text.find("]", begin) + 1
    inner = broken.text[begin + 1 : end - 1] if end else ""
    plain = end and not re.search(r"[|\[]", inner)
    names = re.fullmatch(r"\s*[a-z]\w*(\s*,\s*[a-z]\w*)*\s*", inner)
    return Mistake(
        "prolog-list",
        "ASP has no lists",
        begin,
        end or begin + 1,
        "write a tuple (X,Y) or a pool (a;b); for a list of any length, a relation such as next(X,Y)",
        f"({inner.strip().replace(',', ';') if names else inner.strip()})" if plain else None,
        safe=not names,
    )


_OPERATORS = {
    "\\+": ("not ", "ASP negates with not"),
    "=<": ("<=", "ASP writes <="),
    "=>": (">=", "ASP writes >="),
    "\\=": ("!=", "ASP writes !="),
    "=/=": ("!=", "ASP writes !="),
    "<>": ("!=", "ASP writes !="),
    "\\==": ("!=", "ASP writes !="),
    "=\\=": ("!=", "ASP writes !="),
    "=:=": ("=", "ASP writes ="),
    "is": ("=", "ASP writes ="),
    "!": ("not ", "ASP negates with not"),
    "~": ("not ", "ASP negates with not"),
    "and": (",", "ASP joins conditions with a comma"),
    "&": (",", "ASP joins conditions with a comma"),
    "or": (None, "ASP has no 'or' in a body: write one rule for each alternative"),
    "|": (None, "ASP has no 'or' in a body: write one rule for each alternative"),
    "->": (None, "ASP has no if-then in a body: write one rule for each case"),
    "if": (":-", "ASP writes :-"),
    "when": (":-", "ASP writes :-"),
    "=": (":-", "ASP writes :-"),
}


def _foreign_operator(broken: Broken) -> Mistake | None:
    for index in (broken.at, broken.at - 1, broken.literal(broken.at)):
        before, token, after = (broken.token(index + i) for i in (-1, 0, 1))
        start, end = token.offset, token.end
        if token.text == "!" and after.kind not in ("name", "variable"):
            return Mistake("foreign-operator", "ASP has no cut", start, end, "leave it out: rules have no order")
        if token.text in ("&", "|"):  # one or two of them
            start = before.offset if before.text == token.text else start
            end = after.end if after.text == token.text else end
        if token.text == "=":
            start = before.offset if before.text == ":" else end  # := for :-
        new, help = _OPERATORS.get(token.text, (None, ""))
        if token.text == "is" and before.kind != "variable":
            continue
        if new == ":-" and any(other.text == ":-" for other in broken.tokens[: broken.tokens.index(token)]):
            new, help = None, "a rule has one :-; join conditions with commas"
        if help and start < end:
            edit = (len(broken.text[:start].rstrip()) if new == "," else start, after.offset if new == "not " else end)
            what = f"{broken.text[start:end]} is no operator of ASP"
            return Mistake("foreign-operator", what, start, end, help, new, edit)
    return None


def _nested_body(broken: Broken) -> Mistake | None:
    begin = broken.literal(broken.at)
    negated = broken.token(begin).text == "not"
    first = begin + negated
    if broken.token(first).text != "(" or first >= broken.at:
        return None
    start, end = broken.token(first), broken.token(broken.at - 1)
    if end.text != ")":
        return None
    inside, outer = range(first + 1, broken.at - 1), broken.depth(first + 1)
    alone = not any(broken.token(i).text in (",", ";") and broken.depth(i) == outer for i in inside)
    text = broken.text[start.end : end.offset].strip()
    return Mistake(
        "nested-body",
        "a body is a plain list of literals",
        start.offset,
        end.end,
        "write the literal without brackets" if alone else "write one rule for each alternative, or a helper predicate",
        (" " if negated and broken.token(begin).end == start.offset else "") + text if alone else None,
    )


def _stray_separator(broken: Broken) -> Mistake | None:
    before, here = broken.token(broken.at - 1), broken.token(broken.at)
    if before.text in (",", ";") and here.text in (".", ",", ";", ")"):
        return Mistake(
            "stray-separator",
            f"nothing stands between {before.text!r} and {here.text!r}",
            before.offset,
            before.end,
            "remove it",
            "",
        )
    return None


def _comma(broken: Broken) -> Mistake | None:
    here, end = broken.token(broken.at), broken.token(broken.at - 1).end
    if not here.text or not _two_parts(broken):
        return None
    help = "conditions and arguments are separated by commas"
    return Mistake("missing-comma", "a comma is missing here", end, end, help, ",")


def _period(broken: Broken) -> Mistake | None:
    end = broken.token(broken.at - 1).end
    if broken.depth(broken.at) or not _two_parts(broken):
        return None
    return Mistake("missing-period", "a period is missing here", end, end, "every rule and fact ends in a period", ".")


def _two_parts(broken: Broken) -> bool:
    """Whether one thing ends where reading stopped and another begins."""
    before, here = broken.token(broken.at - 1), broken.token(broken.at)
    ends = before.kind in ("name", "variable", "number", "string") or before.text in (")", "}")
    if {before.text, here.text} & {"if", "when", "and", "or", "then", "is"}:
        return False
    return ends and (here.kind in ("name", "variable", "string") or here.text in ("not", "#const", "-", ":-", ""))


def _period_at_a_new_line(broken: Broken) -> Mistake | None:
    here = broken.token(broken.at)
    start, _ = broken.line(here.offset)
    first = broken.token(0).offset - broken.line(broken.token(0).offset)[0]
    new_line = not here.text or (broken.text[start : here.offset].isspace() or start == here.offset)
    if new_line and (not here.text or here.offset - start <= first) and broken.at > 0:
        return _period(broken)
    return None


def _unbalanced(broken: Broken) -> Mistake | None:
    here = broken.token(broken.at)
    depth = broken.depth(broken.at)
    if here.text == ")" and depth <= 0:
        return Mistake("unbalanced", "this bracket closes nothing", here.offset, here.end, "remove it", "", safe=False)
    if depth <= 0:
        return None
    opened = [token for token in broken.tokens[: broken.at] if token.text in ("(", ")")]
    stack: list[Token] = []
    for token in opened:
        stack = [*stack, token] if token.text == "(" else stack[:-1]
    close = broken.token(broken.at - 1).end
    return Mistake(
        "unbalanced",
        "this bracket is never closed",
        stack[-1].offset,
        stack[-1].end,
        "close it with )",
        ")" * depth,
        (close, close),
        safe=False,
    )


RECOGNISERS: Sequence[Callable[[Broken], Mistake | None]] = (
    _foreign_comment,
    _natural_language,
    _dotted,
    _list_marker,
    _prolog_list,
    _foreign_operator,
    _nested_body,
    _stray_separator,
    _period_at_a_new_line,
    _comma,
    _period,
    _unbalanced,
)


def wrappings(text: str) -> Iterator[Mistake]:
    """The Markdown fences that a text was pasted with, and comments of C, which periods would cut in pieces."""
    for match in re.finditer(r"^[ \t]*(```[^\n]*)", text, re.MULTILINE):
        yield Mistake("markdown-fence", "a Markdown fence is no ASP", *match.span(1), "remove it", "")
    for match in re.finditer(r"/\*.*?\*/", code_of(text), re.DOTALL):
        inside = text[match.start() + 2 : match.end() - 2]
        new = f"%*{inside}*%" if not re.search("[*%]", inside) else None
        where = match.start(), match.start() + 2
        yield Mistake(
            "foreign-comment", "this is no comment in ASP", *where, "write %* ... *%", new, (match.start(), match.end())
        )
