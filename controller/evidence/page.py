"""The page: a hand-pay slip on its first sheet, then how the amount came about. Prints on A4.

Figures that the verifier compares with the data carry ``data-figure``. Nothing is loaded from
anywhere: no script, no link, no picture.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

from controller.evidence.clock import HouseClock
from controller.evidence.parts import PackParts
from controller.rules.explain import Why, explain
from record.kit.words import counted
from record.link.notes import shown_note
from record.rounds import reason
from record.verify_evidence import drawn_seeds, exact, figures, money, trigger

LAST_LINES: Final = 40
MOST_SHOWN: Final = 120
SHORT: Final = frozenset(("when", "what", "table", "display", "device", "state", "card", "cards"))
"""Columns that are never broken."""
NOT_YET: Final = "Not verified yet: do not pay."
NEVER: Final = "Nothing is to be paid."
TO_DO: Final = {
    "claimed": NOT_YET, "locked": NOT_YET, "rejected": NEVER, "withdrawn": NEVER,
    "verified": "Not approved yet: pay only when two people have approved and signed.",
    "paid": "Paid already: for the file, not for the cage.",
}  # fmt: skip
"""What a slip tells its reader to do. That of an approved award says nothing: it is to be paid."""
SUITS: Final = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
STYLE: Final = """
:root{--ink:#16161a;--soft:#5d5c58;--line:#cfccc4;--paper:#fff;--red:#a3231c}
*{box-sizing:border-box}
body{margin:0 auto;padding:10mm;max-width:210mm;background:var(--paper);color:var(--ink);
font:10pt/1.4 system-ui,"Segoe UI","Liberation Sans",sans-serif}
h1{font-size:13pt;margin:0}h2{font-size:11pt;margin:7mm 0 1.5mm;break-after:avoid}
.slip{border:.5mm solid var(--ink);padding:7mm 8mm}
.slip header{display:flex;justify-content:space-between;align-items:baseline}
.amount{font-size:38pt;font-weight:700;letter-spacing:-.02em;margin:5mm 0 1mm;
font-variant-numeric:tabular-nums lining-nums}
.state{display:inline-block;border:.3mm solid;padding:.3mm 2mm;text-transform:uppercase;
font-size:8.5pt;letter-spacing:.06em}
.cards{display:flex;gap:2mm;margin:4mm 0}
.card{border:.3mm solid var(--line);border-radius:1.2mm;min-width:11mm;padding:1.5mm 1mm;
text-align:center;font-size:14pt;font-weight:600}.card.red{color:var(--red)}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.5mm 6mm;margin:2mm 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.write{margin-top:6mm;padding-bottom:9mm;border-bottom:.3mm solid var(--ink);font-size:8.5pt;
color:var(--soft)}
.sign{display:grid;grid-template-columns:repeat(3,1fr);gap:8mm;margin-top:16mm}
.sign div{border-top:.3mm solid var(--ink);padding-top:1mm;font-size:8.5pt;color:var(--soft)}
table{border-collapse:collapse;width:100%}thead{display:table-header-group}
th,td{padding:.5mm 3mm .5mm 0;text-align:left;border-bottom:.2mm solid var(--line);
vertical-align:top;overflow-wrap:anywhere}th{font-weight:500;color:var(--soft)}tr{break-inside:avoid}
td:last-child,th:last-child{padding-right:0}
.n{text-align:right;font-variant-numeric:tabular-nums lining-nums;white-space:nowrap}
.w{white-space:nowrap}
.sum td{font-weight:600;border-top:.3mm solid var(--ink);border-bottom:0}
.mono{font-family:ui-monospace,"Liberation Mono",monospace;font-size:8pt;overflow-wrap:anywhere;
white-space:pre-wrap}
.warn{border:.4mm solid var(--red);color:var(--red);padding:2mm 3mm;margin:4mm 0}
.soft{color:var(--soft)}.keep,dl{break-inside:avoid}
@page{size:A4;margin:14mm 14mm 16mm;@bottom-right{content:counter(page) " / " counter(pages);
font:8pt sans-serif}}
@media print{body{padding:0;max-width:none}.slip{break-after:page}
.slip .sign{margin-top:26mm}}
"""

Row = dict[str, Any]


def page_html(parts: PackParts, clock: HouseClock) -> str:
    name = parts.claim["award"]
    body = [
        _slip(parts, clock),
        *(_derivation(parts, clock) if parts.server else ()),
        *(_steps(parts, clock) if parts.server else ()),
        *_draws(parts),
        *(_round(parts, clock) if parts.table else ()),
        _identity(parts),
        _how(parts),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Evidence {escape(name)}</title><style>{STYLE}</style></head><body>\n"
        + "\n".join(part for part in body if part)
        + "\n</body></html>\n"
    )


def _said(parts: PackParts) -> dict[str, str]:
    server = None
    if parts.server is not None:
        events = parts.server.events
        server = {"award": parts.server.award, "lines": parts.server.lines,
                  "steps": parts.steps, "last": events[-1]["id"],
                  "chain": events[-1]["chain"]}  # fmt: skip
    table = {"cards": parts.cards} if parts.cards else None
    return figures(server, table, {"claim": parts.claim})


def _fig(name: str, said: dict[str, str], tag: str = "span", more: str = "") -> str:
    text = said.get(name, "not known here")
    mark = f' data-figure="{name}"' if name in said else ""
    return f"<{tag}{mark}{more}>{escape(text)}</{tag}>"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{v}</dd>" for k, v in rows) + "</dl>"


def rows_of(head: Sequence[str], rows: Iterable[Sequence[str]], sums: int = 0) -> str:
    """Columns whose name ends with ``:n`` are numbers."""
    kinds = [
        ' class="n"' if name.endswith(":n") else ' class="w"' if name in SHORT else ""
        for name in head
    ]
    top = "".join(f"<th{k}>{escape(h.removesuffix(':n'))}</th>"
                  for k, h in zip(kinds, head, strict=True))  # fmt: skip
    lines, listed = [], list(rows)
    for place, row in enumerate(listed):
        cells = "".join(f"<td{k}>{escape(c)}</td>" for k, c in zip(kinds, row, strict=True))
        mark = ' class="sum"' if place >= len(listed) - sums else ""
        lines.append(f"<tr{mark}>{cells}</tr>")
    return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _slip(parts: PackParts, clock: HouseClock) -> str:
    said, when = _said(parts), clock.text(parts.at_ms)
    faces = "".join(
        f'<div class="card{" red" if card[1] in "dh" else ""}">{card[0].replace("T", "10")}'
        f"{SUITS[card[1]]}</div>"
        for card in parts.cards
        if card
    )
    listed = [
        ("award", _fig("award", said)), ("table", _fig("table", said)),
        ("seat", _fig("seat", said)), ("round", _fig("round", said)),
        ("hand", _fig("hand", said)),
    ]  # fmt: skip
    if "cards" in said:
        listed.append(("cards", _fig("cards", said)))
    listed += [("date", escape(f"{when} ({clock.name})")), ("jackpot", _fig("jackpot", said))]
    if "approved" in said:
        listed.append(("approved by", _fig("approved", said)))
    state = _fig("state", said, more=' class="state"') if parts.server else ""
    amount = '<div class="amount">amount not known here</div>'
    told = list(parts.missing)
    if parts.server is not None:
        before = f"{escape(parts.currency)} " if parts.currency else ""
        amount = f'<div class="amount">{before}{_fig("amount", said)}</div>'
        told = [TO_DO[said["state"]], *told] if said["state"] in TO_DO else told
    warn = "".join(f'<div class="warn">{escape(text)}</div>' for text in told)
    lines = ("Verified and approved by, role", "Approved by, role", "Player")
    signs = "".join(f"<div>{line}<br>Name, date, signature</div>" for line in lines)
    return (
        f'<section class="slip"><header><h1>Jackpot hand-pay slip</h1>{state}</header>'
        f'{amount}<div class="cards">{faces}</div>{facts(listed)}{warn}'
        '<div class="write">SHA-256 of evidence.json, as underfelt evidence printed it</div>'
        f'<div class="sign">{signs}</div></section>'
    )


def _derivation(parts: PackParts, clock: HouseClock) -> Iterable[str]:
    assert parts.server is not None
    lines, award, said = parts.server.lines, parts.server.award, _said(parts)
    if not lines:
        yield '<h2>Amount</h2><p class="soft">The award was not locked: it has no amount yet.</p>'
        return
    yield "<h2>How the amount came about</h2>"
    yield rows_of(("what", "how", "amount:n"), _summed(lines, clock), 1)
    rule = parts.server.stated["terms"].get("meter_rule", "sequential")
    share = f"{award['percent'] or 100} % for {award['hand']}, {rule}, ties {award['policy']}"
    yield facts([
        ("in the jackpot before this award", _fig("held", said)),
        ("of it from wagers", _fig("contributed", said)),
        ("jackpot of record", escape(money(award["jackpot_cents"]))),
        ("share", escape(share)),
        ("amount of record", escape(money(award["cents"]))),
    ])  # fmt: skip
    others = parts.server.stated["awards"][1:]
    if others:
        yield "<h2>Awards of the same round or lock</h2>"
        head = ("award", "table", "seat:n", "hand", "share:n", "state", "amount:n")
        yield rows_of(head, [
            (o["award"], o["table"], str(o["seat"]), o["hand"], f"{o['percent'] or 100} %",
             o["state"], money(o["cents"])) for o in (award, *others)
        ])  # fmt: skip
    shown = min(LAST_LINES, len(lines))
    yield f"<h2>The last {shown} of {counted(len(lines), 'line')} in full</h2>"
    head = ("event:n", "when", "table", "what", "how", "amount:n", "jackpot:n")
    yield rows_of(head, [_line(line, clock) for line in lines[-LAST_LINES:]])


def rate_text(ppm: int) -> str:
    whole, places = divmod(ppm, 10_000)
    return f"{whole}.{places:04}".rstrip("0").rstrip(".") + " %"


def _over(units: int) -> str:
    """What a full jackpot did not take, so that rate times wager can be checked by hand."""
    return f", {exact(units)} of it over the ceiling" if units else ""


def _line(line: Row, clock: HouseClock) -> tuple[str, ...]:
    how = line["how"]
    if line["why"] == "contribution":
        how = f"round {line['round']}, seat {line['seat']}: {money(line['cents'])}"
        how += f" at {rate_text(line['rate'])}"
        how += _over(line.get("over") or 0)
    when = clock.text(line["at_ms"]) if line["at_ms"] else ""
    return (str(line["event"]), when, line["table"], line["why"], how, exact(line["units"]),
            exact(line["after"]))  # fmt: skip


def _summed(lines: Sequence[Row], clock: HouseClock) -> list[tuple[str, str, str]]:
    """Contributions by gaming day, table and rate; everything else line by line."""
    put: Counter[tuple[str, str, int]] = Counter()
    units: Counter[tuple[str, str, int]] = Counter()
    over: Counter[tuple[str, str, int]] = Counter()
    others: list[tuple[str, str, str]] = []
    for line in lines:
        if line["why"] == "contribution":
            key = (clock.day(line["at_ms"]), line["table"], line["rate"])
            put[key] += line["cents"]
            units[key] += line["units"]
            over[key] += line.get("over") or 0
        else:
            others.append((line["why"], line["how"], exact(line["units"])))
    begins = [row for row in others if row[0] in ("base", "seed", "carried over", "stated")]
    rest = [row for row in others if row not in begins]
    days = [
        (f"{key[0]} {key[1]}",
         f"{money(put[key])} at {rate_text(key[2])}" + _over(over[key]), exact(units[key]))
        for key in sorted(put)
    ]  # fmt: skip
    total = exact(sum(line["units"] for line in lines))
    return [*begins, *days, *rest, ("in the jackpot at the lock", "", total)]


def _steps(parts: PackParts, clock: HouseClock) -> Iterable[str]:
    assert parts.server is not None
    yield "<h2>Who decided what, and when</h2>"
    head = ("event:n", "when", "state", "by", "role", "note")
    yield rows_of(head, [
        (str(s["event"]), clock.text(s["at_ms"]), s["state"], s["by"], s["role"],
         shown_note(s["role"], s["note"]))
        for s in parts.steps
    ])  # fmt: skip


def _draws(parts: PackParts) -> Iterable[str]:
    """What chance decided: the commitment that was written before, and the seed that opened it."""
    rows = [*_selection(parts), *_mystery(parts)]
    if rows:
        yield "<h2>Draws and their commitments</h2>"
    for name, where, commitment, seed, result in rows:
        yield facts([
            (name, escape(result)),
            (f"commitment in {where}", f'<span class="mono">{escape(commitment)}</span>'),
            ("seed that opened it", f'<span class="mono">{escape(seed)}</span>'),
        ])  # fmt: skip


def _selection(parts: PackParts) -> Iterable[tuple[str, ...]]:
    where, commitment = "", ""
    for row in parts.table.own if parts.table else ():
        if row["kind"] != "selection":
            continue
        body = json.loads(row["body"])
        if body.get("round") != parts.claim["round"]:
            continue
        if body["what"] in ("committed", "server committed"):
            where, commitment = f"record {row['seq']}", body["committed"]
        elif body["what"] in ("revealed", "server revealed"):
            card, seat = body["magic_card"] or "none", body["lucky_seat"] or "none"
            told = f"magic card {card}, lucky seat {seat}"
            yield "magic card, lucky player", where, commitment, body["seed"], told


def _mystery(parts: PackParts) -> Iterable[tuple[str, ...]]:
    """The draw in force when the jackpot was hit."""
    if parts.server is None or parts.claim["hand"] != "mystery":
        return
    award, found = parts.server.award, None
    for row in parts.server.events:
        if not row["table"] and row["body"] is not None and row["id"] < award["event"]:
            order = json.loads(row["body"])["order"]
            if (order["what"], order.get("pool"), order.get("level")) == (
                "draw", award["pool"], award["level"],
            ):  # fmt: skip
                found = (row["id"], order)
    if found is None:
        return
    event, order = found
    seed = drawn_seeds(parts.server.events).get(order["commitment"])
    hit = f"hit at {money(trigger(order, bytes.fromhex(seed)))}" if seed else "not opened yet"
    yield "mystery", f"event {event}", order["commitment"], seed or "", hit


def _round(parts: PackParts, clock: HouseClock) -> Iterable[str]:
    assert parts.table is not None
    bodies = [(row, json.loads(row["body"])) for row in parts.table.own if "body" in row]
    yield f"<h2>The round at table {escape(parts.claim['table'])}</h2>"
    if parts.played:
        yield _wagers(parts.played)
    told = [
        (str(row["seq"]), clock.text(row["at_ms"]), card["card"], card["moment"],
         f"record {card['seq']}, place {card['index']}")
        for row, body in bodies if row["kind"] == "revealed" for card in body["cards"]
    ]  # fmt: skip
    if told:
        yield "<h2>Cards as they became public</h2>"
        yield rows_of(("record:n", "when", "card", "why", "sealed in"), told)
    shown = [
        (str(row["seq"]), clock.text(row["at_ms"]), str(body.get("device", "meter")), _shown(body))
        for row, body in bodies
        if row["kind"] in ("shown", "odometer")
    ]
    if shown:
        yield f"<h2>What the displays showed</h2>{_more(len(shown))}"
        yield rows_of(("record:n", "when", "display", "content"), shown[-MOST_SHOWN:])
    framed = [f for f in parts.frames if f["cards"]]
    if framed:
        yield "<h2>Cards as the device sent them</h2>"
        yield rows_of(("frame:n", "device", "cards", "bytes"), [
            (str(f["number"]), f["device"], " ".join(f["cards"]), f["hex"]) for f in framed
        ])  # fmt: skip


def _more(many: int) -> str:
    if many <= MOST_SHOWN:
        return ""
    return f'<p class="soft">The last {MOST_SHOWN} of {many}; all are in table.jsonl.</p>'


def _shown(body: Row) -> str:
    if "content" in body:
        return " | ".join(part.rstrip() for part in str(body["content"]).split("\n"))
    return f"counts from {money(body['from'])} to {money(body['to'])} in {body['over_ms']} ms"


def _wagers(played: Row) -> str:
    """Wager by wager what a player disputes: the cards, the hand in words and the clause."""
    rows = []
    for seat in played["result"].get("seats", ()):
        why = _explained(played, seat["seat"])
        for spot, wager in seat["wagers"].items():
            win = "" if wager["win"] is None else money(wager["win"])
            one = why.get(spot)
            said = reason(one.cards, one.text) if one else seat["hand"] or ""
            rows.append((str(seat["seat"]), spot, money(wager["placed"]), wager["status"],
                         wager["odds"] or "", win, said, one.clause if one else ""))  # fmt: skip
    head = ("seat:n", "spot", "wager:n", "result", "odds", "win:n", "cards and hand", "clause")
    return rows_of(head, rows)


def _explained(played: Row, seat: int) -> Mapping[str, Why]:
    """Nothing for a record that this program cannot explain; the verifier judges it."""
    try:
        return explain(played["record"], played["result"], seat)
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}


def _identity(parts: PackParts) -> str:
    rows = [(name.replace("_", " "), f'<span class="mono">{escape(text)}</span>')
            for name, text in parts.identity.items()]  # fmt: skip
    return f"<h2>Program, rules and configuration</h2>{facts(rows)}" if rows else ""


def _how(parts: PackParts) -> str:
    said, chains = _said(parts), list[tuple[str, str]]()
    if "chain" in said:
        chains.append(("chain of the server's events", _fig("chain", said, more=' class="mono"')))
    if parts.table is not None:
        last = parts.table.rows[-1]
        told = f'<span class="mono">{last["seq"]}:{escape(last["hash"])}</span>'
        chains.append(("chain of the table's journal", told))
    chain = facts(chains)
    return (
        '<section class="keep"><h2>Checking this</h2>'
        "<p>Everything on these sheets is in this folder. "
        "<code>python3 verify.py</code> computes it again from the tables' wagers alone and checks "
        "every hash; it needs Python and nothing else. Take the verifier from a place you trust."
        f"</p>{chain}</section>"
    )
