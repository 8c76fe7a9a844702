// The pages of the link server: the floor, jackpots, reports, and orders of people.
import {
  answerOf,
  byId,
  clock,
  dayAndTime,
  fill,
  follow,
  get,
  h,
  keyed,
  money,
  s,
  say,
  tableRows,
} from "./core.js";
import "./odometer.js";
import {
  acknowledgeDialog,
  code,
  hrefOf,
  icon,
  isOpen,
  namedSteps,
  nextOrder,
  nextWords,
  orderDialog,
  orderOf,
  printed,
  refusal,
  Shell,
  signatures,
  stepList,
  tag,
} from "./staff.js";

const [, page, ...more] = location.pathname.split("/").map(decodeURIComponent);
const LINK = "link";
const shell = new Shell(page);
const { tables } = await get("tables").catch(() => ({ tables: [] }));
let stream = null;

// ==== the floor ==================================================================================

// PURE: what the floor says about a table, and the list of what needs people.

const GAMES = {
  MBS3: "Let It Ride 3",
  PP6: "Pair Plus, 6 cards",
  NSW: "NSW Let It Ride",
  MEGA: "Megalink",
  RICO: "Ricochet",
};
const PHASES = {
  "bets are open": "bets open",
  "bets are closed": "bets closed",
  "first decision": "decision 1",
  "second decision": "decision 2",
  "three cards to a player": "draw",
  "cards to be confirmed": "confirm",
};
const STOPPED = new Set(["frozen for the supervisor", "the round is void"]);
/** By the word of a lamp: a class for the colour, and a shape around 0 0. */
const LAMPS = {
  off: ["off", "M-3 0H3"],
  open: ["open", "M-3.4 0a3.4 3.4 0 1 1 0 .01Z"],
  live: ["live", "M-3.8 0a3.8 3.8 0 1 1 0 .01Z"],
  "your turn": ["turn", "M0-5 5 0 0 5-5 0Z"],
  pay: ["pay", "M-3.6-3.6H3.6V3.6H-3.6Z"],
  collect: ["pay", "M-4.4-3.6H4.4L0 4Z"],
  lucky: ["open", "M0-4V4M-4 0H4"],
  void: ["fault", "M-3-4.4V4.4L4.4 0Z"],
  fault: ["fault", "M-3.5-3.5 3.5 3.5M3.5-3.5-3.5 3.5"],
};
const AWAY_MS = 3600000;
const RANKS = { bad: 0, gold: 1, warn: 2, "": 3, shut: 4 };
const KINDS = ["bad", "warn", "info"];
const LINK_LOST = "E-TBL-003";

/** Seat 1 is at the dealer's left, so at the viewer's right. */
function seatWords(lamps) {
  const seats = [...lamps]
    .sort((a, b) => b.seat - a.seat)
    .map(({ seat, lamp }) => {
      const [kind, shape] = LAMPS[lamp] ?? LAMPS.live;
      return { kind, shape, text: `seat ${seat} ${lamp}` };
    });
  return { seats, text: seats.map((one) => one.text).join(", ") };
}

/** What is wrong at it: {kind, word, code, text, action, at_ms}. The worst is first. */
function problems(link, status, silent, meanings) {
  const found = [];
  const add = (kind, word, more = {}) => found.push({ kind, word, ...more });
  if (link?.state === "halted") {
    add("bad", "journal halted", { text: link.why, action: "two people resume it at the machine" });
  }
  if (status?.locked) {
    add("bad", "locked", { text: status.locked, action: "see the page of the table" });
  }
  if (status?.stopped || STOPPED.has(status?.phase ?? link?.phase)) {
    const text = status?.stopped || status?.phase || link.phase;
    add("bad", "stopped", { text, action: "the supervisor answers at the table" });
  }
  if (silent) {
    add("warn", "no answer", { text: "the table's process does not answer", action: "look at its machine" });
  }
  const away = link && !link.connected && (link.pool || link.heard_ms);
  const told = status?.devices?.troubles.some((one) => one.code === LINK_LOST);
  if (!told && (away || (status && !status.link_up && status.progressive))) {
    add("warn", "link lost", {
      code: LINK_LOST,
      text: meanings[LINK_LOST]?.meaning || "the link is lost",
      action: meanings[LINK_LOST]?.action,
      at_ms: link?.heard_ms,
    });
  }
  for (const one of status?.devices?.troubles ?? []) {
    const kind = { stopped: "bad", note: "info" }[one.level] ?? "warn";
    add(kind, one.level, { code: one.code, text: one.text, action: one.do });
  }
  if (!status) {
    for (const name of link?.troubles ?? []) {
      const { meaning, action } = meanings[name] ?? {};
      add("warn", "degraded", { code: name, text: meaning || "trouble", action });
    }
  }
  if (status?.test_mode || link?.test_mode) {
    add("warn", "test mode", { text: "test mode: nothing counts", action: "end it at the table" });
  }
  if (status?.safe_mode) {
    add("warn", "safe mode", { text: "safe mode", action: "see the page of the table" });
  }
  return found.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
}

function quietLines(link, status, rounds) {
  const { ready, of } = status?.devices ?? {};
  const waits = link?.waiting ?? 0;
  const said = [
    of === undefined ? "" : `${ready}/${of} devices`,
    rounds ? `${rounds} this hour` : "",
    !link?.connected ? "" : waits ? `${counted(waits, "event")} wait${waits === 1 ? "s" : ""}` : "no lag",
    link?.pool ? "" : "no progressive",
  ];
  return said.filter(Boolean).join(" · ");
}

function pendingWords(awards, here) {
  if (here) {
    return `Seat ${here.seat}: ${here.hand}. Leave cards and chips as they are.`;
  }
  const [{ seat, round, cents }] = awards;
  const many = awards.length === 1 ? "An award waits" : `${awards.length} awards wait`;
  return `${many}: seat ${seat} in round ${round}, ${money(cents)}.`;
}

function tableView(row, { table, status, lamps, silent, awards, rounds, meanings }) {
  const { link } = row;
  const wrong = problems(link, status, silent, meanings);
  const never = link && !link.connected && !link.heard_ms && !status;
  const gone =
    never || (link && !link.connected && !status && Date.now() - link.heard_ms > AWAY_MS);
  const phase = status?.phase ?? link?.phase ?? "";
  const award = awards[0];
  const round = status?.round ?? link?.round ?? null;
  const here = awards.find((one) => one.round === round);
  const worst = wrong[0]?.kind === "info" ? undefined : wrong[0]?.kind;
  const past = award && !here ? "gold" : "";
  const kind = gone ? "shut" : worst === "bad" ? "bad" : here ? "gold" : (worst ?? past);
  const state = {
    shut: never ? "never connected" : "not connected for",
    bad: wrong[0]?.word,
    gold: here ? `pending ${money(here.cents)}` : (PHASES[phase] ?? phase),
    warn: wrong[0]?.word,
    "": PHASES[phase] ?? (phase || "no word yet"),
  }[kind];
  const first = wrong[0];
  const said =
    kind === "gold"
      ? pendingWords(awards, here)
      : worst && !gone
        ? `${[first.code, first.text].filter(Boolean).join(" ")}. ${first.action ?? ""}`
        : quietLines(link, status, rounds);
  const game = table?.game ?? link?.game ?? "";
  return {
    name: row.name,
    followed: Boolean(row.followed),
    game: GAMES[game] ?? game,
    kind,
    rank: RANKS[kind],
    icon: { bad: "bad", gold: "clock", warn: "warn" }[kind],
    state,
    since: gone && !never ? link.heard_ms : kind === "warn" ? (first?.at_ms ?? null) : null,
    round,
    lamps: lamps ?? null,
    lines: [said],
    waiting: link?.waiting ?? null,
    problems: gone ? [] : wrong,
    href: `${row.url ?? ""}/table/${encodeURIComponent(row.name)}`,
  };
}

/** Rows of the attention list, the worst first. */
function attentionOf({ tables, alarms, server, meanings }) {
  const rows = [];
  if (server?.trouble) {
    rows.push({ key: "server", kind: "bad", text: server.trouble, action: "see the link server" });
  }
  if (server?.leading === false) {
    const text = `${server.name ?? "the link server"} does not lead: no amount is known here`;
    rows.push({ key: "leads", kind: "bad", text, action: "look at the server that leads" });
  }
  if (server?.clock_behind_ms) {
    const text = `the clock of the link server is ${server.clock_behind_ms / 1000} s behind`;
    rows.push({ key: "clock", kind: "warn", text, action: "check its time service" });
  }
  for (const table of tables) {
    table.problems.forEach((one, n) => {
      rows.push({ ...one, key: `${table.name}/${n}/${one.code}`, text: `${table.name}: ${one.text}` });
    });
  }
  for (const alarm of alarms) {
    const again = alarm.count > 1 ? ` (${alarm.count} times)` : "";
    rows.push({
      key: `alarm-${alarm.alarm}`,
      kind: "warn",
      text: [alarm.table, alarm.text + again].filter(Boolean).join(": "),
      code: alarm.code,
      at_ms: alarm.at_ms,
      action: meanings[alarm.code]?.action,
      acknowledged: alarm.acknowledged,
      alarm,
    });
  }
  const weight = (row) => (row.acknowledged ? 9 : KINDS.indexOf(row.kind));
  return rows.sort((a, b) => weight(a) - weight(b));
}

// The plots of the floor, and what the sums of the link server say about this hour.

const HOUR_MS = 3600000;
const HOURS = 24;
/** Hours between hits whose texts, whose marks have room beside each other; the larger stays. */
const APART = 6;
const TOUCHING = 0.7;

const label = (ms) => `${String(new Date(ms).getHours()).padStart(2, "0")}:00`;

/** A function: the sum of a column over the rows that agree with `wanted`; null without an hour. */
function reader({ columns }, hour) {
  return (column, wanted = {}) => {
    if (!hour) {
      return null;
    }
    const [at, ...fields] = [column, ...Object.keys(wanted)].map((one) => columns.indexOf(one));
    const values = Object.values(wanted);
    return hour.rows
      .filter((row) => fields.every((field, n) => row[field] === values[n]))
      .reduce((sum, row) => sum + +row[at], 0);
  };
}

/** The same for the hour that it is. */
const thisHour = (now) => (now ? reader(now, now.hour) : () => 0);

function marksOf(awards, first) {
  return awards
    .filter((award) => award.locked_ms >= first)
    .sort((a, b) => b.cents - a.cents)
    .map((award) => ({
      at: (award.locked_ms - first) / HOUR_MS,
      text: `${award.level} ${money(award.cents)}`,
    }))
    .reduce((kept, one) => {
      const near = Math.min(...kept.map(({ at }) => Math.abs(at - one.at)));
      return near < TOUCHING ? kept : [...kept, near < APART ? { ...one, text: "" } : one];
    }, []);
}

function drawPlots(moneyPlot, handsPlot, { sums, now, awards }) {
  if (!now) {
    return;
  }
  const known = new Map((sums?.hours ?? []).map((hour) => [hour.at_ms, hour]));
  known.set(now.hour.at_ms, now.hour);
  const first = now.hour.at_ms - (HOURS - 1) * HOUR_MS;
  const hours = Array.from({ length: HOURS }, (_, n) => first + n * HOUR_MS);
  const of = (ms, column) => reader(now, known.get(ms))(column);
  moneyPlot.bars({
    values: hours.map((ms) => of(ms, "in_units") / 1e8),
    labels: hours.map((ms, n) => (n % 4 === 3 ? label(ms) : "")),
    marks: marksOf(awards ?? [], first),
    unit: "$",
    label: `contributions per hour over the last ${HOURS} hours, with the hits`,
  });
  handsPlot.lines({
    series: [
      { name: "before", values: hours.map((ms) => of(ms - HOURS * HOUR_MS, "hands")) },
      { name: "now", values: hours.map((ms) => of(ms, "hands")), fill: true },
    ],
    labels: [0, 8, 16, 23].map((n) => [n, label(hours[n])]),
    label: `hands per hour over the last ${HOURS} hours and the ${HOURS} before`,
  });
}

// The hand-over sheet of a shift: made from what the floor shows when it is printed.

const SHIFT_MS = 8 * 3600000;

function grid(title, head, rows, none) {
  return h(
    "section",
    h("h2", title),
    rows.length
      ? h(
          "table",
          h("thead", h("tr", head.map((one) => h("th", { scope: "col" }, one)))),
          tableRows(rows),
        )
      : h("p", none),
  );
}

const AWARD = ["award", "amount", "where", "state", "who"];

function awardRow(award) {
  const steps = namedSteps(award);
  const said = steps
    .filter((step) => step.role && step.role !== "table")
    .map((step) => `${step.state} ${step.by} ${clock(step.at_ms)}`);
  return [
    award.award,
    money(award.cents),
    `${award.table}, round ${award.round}, seat ${award.seat}, ${award.hand}`,
    steps.at(-1)?.state ?? award.state,
    said.join("; ") || "nobody yet",
  ];
}

function sheet({
  server,
  pools = [],
  meters = [],
  awards = [],
  alarms = [],
  conservation,
  tables,
  stale,
}) {
  const now = Date.now();
  const open = awards.filter(isOpen);
  const over = awards.filter(
    (one) => !isOpen(one) && one.steps.some((step) => now - step.at_ms < SHIFT_MS),
  );
  const hits = (pool, level) =>
    pools.find((one) => one.pool === pool)?.levels.find((one) => one.level === level)?.hits ?? "";
  return [
    h(
      "header",
      h("h1", "Shift hand-over"),
      h("p", `${server?.name ?? "link server"}, epoch ${server?.epoch ?? "?"} · ${printed()}`),
      stale && h("p", h("b", "STALE: the link server does not answer or lead.")),
    ),
    grid(
      "Jackpots on display",
      ["pool", "level", "amount", "generation", "hits", "pending"],
      meters.map((one) => [
        one.pool,
        one.level,
        money(one.cents),
        one.generation,
        hits(one.pool, one.level),
        one.pending,
      ]),
      "no pools",
    ),
    grid(`Jackpots that wait: ${open.length}`, AWARD, open.slice(0, 12).map(awardRow), "none"),
    open.length > 12 && h("p", `and ${open.length - 12} more`),
    grid(`Settled in the last 8 hours: ${over.length}`, AWARD, over.slice(0, 8).map(awardRow), "none"),
    grid(
      "Tables",
      ["table", "game", "round", "state", "what to know"],
      tables.map((one) => [
        one.name,
        one.game,
        one.round ?? "",
        one.state,
        one.problems.map((two) => `${two.code ?? ""} ${two.text}`).join("; ") || one.lines.join(" "),
      ]),
      "none",
    ),
    grid(
      `Alarms: ${alarms.length}`,
      ["code", "what", "since", "times", "acknowledged"],
      alarms
        .slice(0, 10)
        .map((one) => [
          one.code,
          `${one.table} ${one.text}`,
          clock(one.at_ms),
          one.count,
          one.acknowledged ? `${one.acknowledged.by}: ${one.acknowledged.reason}` : "NO",
        ]),
      "none open",
    ),
    h(
      "p",
      !conservation
        ? "The sums of the link are not known."
        : conservation.difference === "0"
          ? `Every cent is where it belongs, checked at event ${conservation.event}.`
          : "THE SUMS OF THE LINK DIFFER: call the auditor.",
    ),
    h("section.notes", h("h2", "For the next shift"), h("p")),
    signatures("Handed over by", "Taken over by", "Time"),
  ];
}

// ---- the page -----------------------------------------------------------------------------------

const MOST_FOLLOWED = 60;
const MOST_AWARDS = 4;

const meanings = {};
const dirty = new Set();
let byName = false;
let silent = "";

const link = (part) => stream.part(LINK, part);

/** Draw once a frame, and only what a change touches. */
function changed({ name, parts }) {
  const named = name === LINK ? Object.keys(parts) : ["table"];
  if (!dirty.size) {
    requestAnimationFrame(draw);
  }
  named.forEach((part) => dirty.add(part));
}

const DRAWN = [
  [["server"], drawServer],
  [["meters", "pools", "sums_now"], drawPools],
  [["conservation"], drawProof],
  [["awards"], drawAwards],
  [["tables", "table", "awards", "alarms", "server"], drawTables],
  [["sums", "sums_now", "awards"], drawHours],
];

function draw() {
  const now = new Set(dirty);
  dirty.clear();
  for (const [parts, drawn] of DRAWN) {
    if (parts.some((part) => now.has(part))) {
      drawn();
    }
  }
}

function drawHours() {
  const [sums, now, awards] = ["sums", "sums_now", "awards"].map(link);
  drawPlots(byId("money"), byId("hands"), { sums, now, awards });
}

function drawServer() {
  const { name, leading, epoch } = link("server") ?? {};
  shell.tags(
    leading
      ? tag("ok", `${name} leads · epoch ${epoch}`)
      : tag("warn", icon("warn"), `${name ?? "the link server"} does not lead`),
  );
}

// ---- the meters ---------------------------------------------------------------------------------

function odometer(label) {
  return h("uf-odometer", { label });
}

const facts = (rows) =>
  rows.filter(Boolean).map(([strong, text]) => h("span", h("b", strong), ` ${text}`));

const counted = (n, word) => `${n.toLocaleString("en-US")} ${word}${n === 1 ? "" : "s"}`;

/** The elements of a pool stay, so that its digits can roll. */
function poolCard({ pool, tables, levels }) {
  const [first, ...others] = levels;
  const games = Object.keys(tables).length;
  return h(
    "article.pool",
    { "data-feed": LINK, id: `pool-${pool}` },
    h(
      "header",
      h("h2", pool, h("small", `${first?.level ?? ""} · ${counted(games, "table")}`)),
      h("span.age", { "data-age": LINK }),
    ),
    first && h("div", { "data-level": first.level }, odometer(`${pool} ${first.level}`)),
    h("div.facts.num"),
    h("div.shares"),
    others.map(({ level }) =>
      h(
        "div.second",
        { "data-level": level },
        h("span", level, h("small.must-hit")),
        odometer(`${pool} ${level}`),
        s("svg.must", { viewBox: "0 0 100 6", preserveAspectRatio: "none" }),
      ),
    ),
  );
}

/** Cards stay while a server that does not lead tells no pools: STALE stands in them. */
function drawPools() {
  const pools = link("pools");
  if (!pools) {
    return;
  }
  const shape = ({ pool, tables, levels }) => ({
    pool,
    tables,
    levels: levels.map(({ level }) => ({ level })),
  });
  keyed(byId("pools"), pools.map(shape), (one) => one.pool, poolCard);
  for (const { pool, closed, levels } of pools) {
    const card = byId(`pool-${pool}`);
    for (const level of levels) {
      drawLevel(card.querySelector(`[data-level="${CSS.escape(level.level)}"]`), pool, level);
    }
    drawFacts(card, pool, closed, levels[0]);
  }
}

function metered(pool, { level, cents }) {
  const found = (link("meters") ?? []).find((one) => one.pool === pool && one.level === level);
  return found?.cents ?? cents;
}

function drawLevel(row, pool, level) {
  const cents = metered(pool, level);
  row.querySelector("uf-odometer").cents = cents;
  const { must_hit: must } = level.terms;
  const words = row.querySelector(".must-hit");
  if (!words) {
    return;
  }
  const waits = level.pending ? ` · PENDING ${level.pending}` : "";
  const limit = must ? `, must hit by ${money(must.max_cents)}` : "";
  say(words, `${limit} · gen ${level.generation}${waits}`);
  const bar = row.querySelector(".must");
  bar.toggleAttribute("hidden", !must);
  if (must) {
    const from = level.terms.reset_cents;
    const share = Math.min(100, Math.max(0, (100 * (cents - from)) / (must.max_cents - from)));
    bar.replaceChildren(s("rect", { width: share.toFixed(1), height: 6 }));
  }
}

function drawFacts(card, pool, closed, level) {
  if (!level) {
    return;
  }
  const fresh = thisHour(link("sums_now"))("in_units", { pool, level: level.level });
  const rows = [
    closed && ["CLOSED", ""],
    [`+${money(fresh / 1e6)}`, "this hour"],
    [`gen ${level.generation}`, counted(level.hits, "hit")],
    [level.wagers.toLocaleString("en-US"), "wagers"],
    level.pending && ["PENDING", level.pending],
    level.reserve_cents && [money(level.reserve_cents), "reserve"],
  ];
  card.querySelector(".facts").replaceChildren(...facts(rows));
  const shares = Object.entries(level.terms.shares ?? {}).filter(([, percent]) => percent < 100);
  const cents = metered(pool, level);
  card.querySelector(".shares").replaceChildren(
    ...shares.map(([hand, percent]) =>
      h(
        "div.second",
        h("span", `${percent} % for a ${hand}`),
        h("b.num", money(Math.floor((cents * percent) / 100))),
      ),
    ),
  );
}

// ---- the proof ----------------------------------------------------------------------------------

const INTO = [
  ["in", "wagers in"],
  ["seeds", "house seeds"],
  ["deficit", "deficit"],
];
const WHERE = [
  ["display", "on display"],
  ["pending", "pending"],
  ["paid", "paid"],
  ["reserve", "reserve"],
  ["next", "next base"],
  ["revenue", "house"],
  ["envy", "envy"],
  ["transfer", "in transfer"],
];
const ALWAYS = new Set(["in", "seeds", "display", "pending", "paid", "reserve"]);

/** Eight digits of units; only the first two where the others are 0. */
function exact(units) {
  const sign = units < 0n ? "-" : "";
  const whole = units < 0n ? -units : units;
  const digits = String(whole).padStart(9, "0");
  const dollars = BigInt(digits.slice(0, -8)).toLocaleString("en-US");
  return `${sign}${dollars}.${digits.slice(-8).replace(/^(..\d*?)0*$/, "$1")}`;
}

function drawProof() {
  const said = link("conservation");
  if (!said) {
    say(byId("verdict"), "The sums are not known");
    byId("proof").classList.remove("bad");
    ["tick", "checked", "sums"].forEach((id) => fill(id));
    return;
  }
  const side = (rows) =>
    rows
      .map(([name, label]) => [label, BigInt(said[name] ?? "0"), ALWAYS.has(name)])
      .filter(([, units, always]) => always || units);
  const total = (rows) => rows.reduce((sum, [, units]) => sum + units, 0n);
  const [into, where] = [side(INTO), side(WHERE)];
  const difference = total(into) - total(where);
  const good = difference === 0n && said.difference === "0";
  byId("proof").classList.toggle("bad", !good);
  fill("tick", icon(good ? "ok" : "bad"));
  say(byId("verdict"), good ? "Every cent is where it belongs" : "THE SUMS DIFFER: call the auditor");
  const shown = `${difference < 0n ? "-" : ""}0.00000000`;
  fill(
    "checked",
    `checked at event ${said.event.toLocaleString("en-US")}, difference `,
    h("b.num", good ? shown : exact(difference || BigInt(said.difference))),
    ",",
  );
  const list = (rows) =>
    h(
      "dl",
      [...rows, ["=", total(rows)]].map(([label, units]) =>
        h(
          "div",
          { class: label === "=" ? "total" : "" },
          h("dt", label === "=" ? "together" : label),
          h("dd", exact(units)),
        ),
      ),
    );
  fill("sums", list(into), list(where));
}

// ---- jackpots -----------------------------------------------------------------------------------

function awardCard(award) {
  const next = nextOrder(award);
  const level = `${award.pool} ${award.level}`;
  return h(
    "li.award",
    { id: `award-${award.award.replaceAll("/", "-")}` },
    h(
      "div.h.num",
      h("a", { href: hrefOf(award) }, `$${money(award.cents)}`),
      h("span", `${award.table} seat ${award.seat} · ${level} · ${award.hand}`),
      award.at_ms && h("em", { "data-since": award.at_ms }),
    ),
    stepList(award, false),
    h("p", nextWords(award)),
    h(
      "div.acts",
      h("a.btn", { href: hrefOf(award) }, "Details"),
      next &&
        h("button.btn.primary", { onclick: () => orderDialog(award, next.what) }, next.label),
    ),
  );
}

/** What has waited longest is first. */
function waiting() {
  return (link("awards") ?? []).filter(isOpen).sort((a, b) => (a.at_ms ?? 0) - (b.at_ms ?? 0));
}

function drawAwards() {
  const open = waiting();
  const count = stream.stale(LINK) ? 0 : open.length;
  shell.badge("jackpots", count);
  byId("waiting").hidden = !count;
  say(byId("waiting"), String(count));
  byId("no-awards").hidden = open.length > 0;
  say(byId("all"), open.length > MOST_AWARDS ? `All ${open.length}` : "All");
  keyed(byId("awards"), open.slice(0, MOST_AWARDS), (one) => one.award, awardCard);
}

// ---- tables -------------------------------------------------------------------------------------

function views() {
  const rows = new Map(tables.map((row) => [row.name, { ...row, link: null }]));
  for (const row of link("tables") ?? []) {
    rows.set(row.table, { ...(rows.get(row.table) ?? { name: row.table }), link: row });
  }
  const open = waiting();
  const hour = thisHour(link("sums_now"));
  return [...rows.values()].map((row) => {
    const feed = `table:${row.name}`;
    const at = (part) => (row.followed ? stream.part(feed, part) : undefined);
    return tableView(row, {
      table: at("table"),
      status: at("status"),
      lamps: at("lamps"),
      silent: row.followed && stream.stale(feed),
      awards: open.filter((award) => award.table === row.name),
      rounds: hour("rounds", { table: row.name }),
      meanings,
    });
  });
}

/** Every state has its own shape, colour and word. */
function dots(lamps) {
  const words = seatWords(lamps);
  return s(
    "svg.dots",
    { viewBox: "0 0 69 10", role: "img", "aria-label": words.text },
    words.seats.map(({ kind, shape, text }, n) =>
      s(
        "g",
        { transform: `translate(${5 + n * 9.8} 5)`, class: kind },
        s("title", text),
        s("path", { d: shape }),
      ),
    ),
  );
}

function tableCard(view) {
  const feed = view.followed ? `table:${view.name}` : LINK;
  return h(
    "li",
    { "data-feed": feed, class: `tcard ${view.kind}` },
    h(
      "a",
      { href: view.href },
      h("span.n", h("b", view.name), h("span", view.game)),
      h(
        "span.st",
        view.icon && icon(view.icon),
        h("span", view.state),
        view.since && h("span.num", { "data-since": view.since }),
      ),
      h("span.tr.num", view.lines),
    ),
    h("em.num", view.round === null ? "" : `R ${view.round}`),
    view.lamps && dots(view.lamps),
    h("span.age", { "data-age": feed }),
  );
}

async function learn(wanted) {
  for (const name of wanted.filter((one) => !(one in meanings))) {
    meanings[name] = null;
    meanings[name] = await code(name);
    dirty.add("tables");
    requestAnimationFrame(draw);
  }
}

function drawTables() {
  const all = views();
  const order = byName
    ? (a, b) => a.name.localeCompare(b.name)
    : (a, b) => a.rank - b.rank || a.name.localeCompare(b.name);
  all.sort(order);
  keyed(byId("tables"), all, (one) => one.name, tableCard);
  const many = (kind) => all.filter((one) => one.kind === kind).length;
  const [bad, warn, gold, shut] = ["bad", "warn", "gold", "shut"].map(many);
  const playing = all.length - bad - warn - shut;
  fill(
    "counts",
    tag("ok", `${playing} playing`),
    bad ? tag("bad", icon("bad"), `${bad} stopped`) : null,
    warn ? tag("warn", icon("warn"), `${warn} degraded`) : null,
    shut ? tag("", `${shut} away`) : null,
  );
  drawAttention(all);
  const need = bad + warn + gold;
  const waits = stream.stale(LINK) ? "STALE" : `${counted(waiting().length, "jackpot")} waiting`;
  const title = `Floor: ${waits}, ${counted(need, "table")} in need`;
  say(byId("title"), title);
  document.title = `${title} - Underfelt`;
}

function drawAttention(all) {
  const alarms = link("alarms") ?? [];
  const rows = attentionOf({ tables: all, alarms, server: link("server"), meanings });
  learn([...new Set(rows.map((row) => row.code).filter(Boolean))]);
  const open = rows.filter((row) => !row.acknowledged).length;
  byId("open-alarms").hidden = !open;
  say(byId("open-alarms"), String(open));
  byId("quiet").hidden = rows.length > 0;
  keyed(byId("attention"), rows, (one) => one.key, attentionRow);
}

function attentionRow({ kind, text, code: name, at_ms: at, action, acknowledged, alarm }) {
  return h(
    "li",
    { class: acknowledged ? "seen" : "" },
    icon(acknowledged ? "ok" : kind),
    h("div", `${text} `, h("code", name ?? "")),
    at ? h("time", { "data-since": at }) : h("span"),
    action && h("p.do", action),
    acknowledged && h("p.by", `${acknowledged.by}: ${acknowledged.reason} (${clock(acknowledged.at_ms)})`),
    alarm &&
      !acknowledged &&
      h(
        "button.btn.small",
        {
          onclick: () => acknowledgeDialog(alarm),
          "aria-label": `Acknowledge ${alarm.code}`,
        },
        "Acknowledge…",
      ),
  );
}

function floor() {
  const followed = tables.filter((row) => row.followed).slice(0, MOST_FOLLOWED);
  stream = follow([LINK, ...followed.map((row) => `table:${row.name}`)], changed);
  shell.follow(stream);
  byId("order").addEventListener("click", (event) => {
    const pressed = event.target.closest("button");
    if (!pressed) {
      return;
    }
    byName = pressed.value === "name";
    for (const one of byId("order").children) {
      one.setAttribute("aria-pressed", String(one === pressed));
    }
    drawTables();
  });

  /** A table whose source falls silent needs somebody too; a count without its source is none. */
  stream.addEventListener("tick", () => {
    const now = stream.names.filter((name) => stream.stale(name)).join();
    if (now !== silent && link("tables")) {
      silent = now;
      drawAwards();
      drawTables();
    }
  });

  byId("hand-over").addEventListener("click", () => window.print());
  addEventListener("beforeprint", () => {
    fill("sheet", sheet({ ...stream.parts(LINK), tables: views(), stale: stream.stale(LINK) }));
  });
}

// ---- plots ---------------------------------------------------------------------------------------

// <uf-plot>: bars with marks, or lines, in plain SVG.
//   plot.bars({values, labels, marks: [{at, text}], unit, label})
//   plot.lines({series: [{name, values, fill}], labels: [[index, text]], label})
// A null value is a gap.

const FROM = 46;
const REST = 6;
const ABOVE = 14;
const BELOW = 22;
const LINES = 3;

/** A round number of which a third is round too. */
function scale(values) {
  const most = Math.max(1, ...values.filter((one) => one !== null));
  const size = 10 ** Math.floor(Math.log10(most));
  return (
    [0.3, 0.6, 1.2, 1.5, 3, 6, 9, 12].map((one) => one * size).find((one) => one >= most) ??
    12 * size
  );
}

class Plot extends HTMLElement {
  #draw = null;

  connectedCallback() {
    new ResizeObserver(() => this.#draw?.()).observe(this);
  }

  bars(data) {
    this.#draw = () => this.#bars(data);
    this.#draw();
  }

  lines(data) {
    this.#draw = () => this.#lines(data);
    this.#draw();
  }

  #frame(values, { label, unit = "" }) {
    const top = scale(values);
    const width = Math.max(200, this.clientWidth);
    const height = Math.max(90, this.clientHeight);
    const y = (value) => ABOVE + (height - ABOVE - BELOW) * (1 - value / top);
    const svg = s("svg", {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": label,
    });
    for (let n = 0; n <= LINES; n++) {
      const value = (top * n) / LINES;
      const text = n ? Math.round(value * 100) / 100 : unit;
      svg.append(
        s("path", { d: `M${FROM} ${y(value)}H${width - 4}`, class: n ? "grid" : "base" }),
        s("text.end", { x: FROM - 8, y: y(value) + 4 }, text.toLocaleString("en-US")),
      );
    }
    this.replaceChildren(svg);
    return { svg, width, height, y };
  }

  #bars({ values, labels, marks, ...more }) {
    const { svg, width, height, y } = this.#frame(values, more);
    const step = (width - FROM - REST) / values.length;
    values.forEach((value, n) => {
      const x = FROM + n * step;
      const tall = Math.max(0, y(0) - y(value ?? 0));
      const last = n === values.length - 1;
      svg.append(
        s("rect", {
          x: x + step * 0.14,
          y: y(0) - tall,
          width: step * 0.72,
          height: tall,
          rx: Math.min(2.5, tall / 2),
          class: last ? "bar now" : "bar",
        }),
      );
      if (labels[n]) {
        svg.append(s("text.middle", { x: x + step / 2, y: height - 6 }, labels[n]));
      }
    });
    for (const mark of marks) {
      const x = FROM + mark.at * step;
      const left = mark.at > values.length * 0.8;
      svg.append(
        mark.text ? s("path.hit", { d: `M${x} ${ABOVE - 4}V${y(0)}` }) : "",
        s("path.hit-mark", { d: `M${x} ${ABOVE - 9}l6 7-6 7-6-7Z` }),
        s(
          "text",
          {
            x: x + (left ? -10 : 10),
            y: ABOVE + 3,
            class: left ? "hit-text end" : "hit-text",
          },
          mark.text,
        ),
      );
    }
  }

  #lines({ series, labels, ...more }) {
    const all = series.flatMap((one) => one.values);
    const { svg, width, height, y } = this.#frame(all, more);
    const count = series[0].values.length;
    const x = (n) => FROM + ((width - FROM - REST) * n) / (count - 1);
    for (const { name, values, fill } of series) {
      let path = "";
      let down = false;
      values.forEach((value, n) => {
        if (value !== null) {
          path += `${down ? "L" : "M"}${x(n).toFixed(1)} ${y(value).toFixed(1)}`;
        }
        down = value !== null;
      });
      if (fill && path) {
        const under = `${path}L${x(values.length - 1)} ${y(0)}L${x(0)} ${y(0)}Z`;
        svg.append(s("path", { d: under, class: `area ${name}` }));
      }
      svg.append(s("path", { d: path, class: `curve ${name}` }));
    }
    for (const [n, text] of labels) {
      const side = n === 0 ? "" : n === count - 1 ? "end" : "middle";
      svg.append(s("text", { x: x(n), y: height - 6, class: side }, text));
    }
  }
}

customElements.define("uf-plot", Plot);

// ==== all jackpots, or one award: its steps, how the amount came about, orders, papers ============

const id = more.filter(Boolean).join("/");
const path = `awards/${id.split("/").map(encodeURIComponent).join("/")}`;
const UNITS = 1000000;
const COLOURS = { paid: "ok", rejected: "bad", withdrawn: "bad" };

/** The award as the feed has it, or as the command told it if it is too old for the feed. */
let award = null;
let told = null;
let notes = [];
let drawnSteps = "";

function awardsChanged({ parts }) {
  if (!("awards" in parts)) {
    return;
  }
  const all = parts.awards ?? [];
  shell.badge("jackpots", all.filter(isOpen).length);
  if (id) {
    award = all.find((one) => one.award === id) ?? award;
    drawAward();
  } else {
    drawList(all);
  }
}

const stateTag = (one) =>
  tag(COLOURS[one.state] ?? "gold", COLOURS[one.state] === "bad" && icon("bad"), one.state);

// ---- the list -----------------------------------------------------------------------------------

function drawList(all) {
  byId("list").hidden = false;
  byId("none").hidden = all.length > 0;
  const waits = stream.stale(LINK) ? "STALE" : `${all.filter(isOpen).length} waiting`;
  document.title = `Jackpots: ${waits} - Underfelt`;
  keyed(
    byId("rows"),
    all,
    (one) => one.award,
    (one) =>
      h(
        "tr",
        { class: isOpen(one) ? "open" : "" },
        h("td", h("a", { href: hrefOf(one) }, one.award)),
        h("td.n.num", `$${money(one.cents)}`),
        h("td.num", `${one.table}, round ${one.round}, seat ${one.seat}`),
        h("td", `${one.hand}, ${one.level}`),
        h("td", stateTag(one)),
        h("td.num", one.at_ms ? dayAndTime(one.at_ms) : ""),
      ),
  );
}

// ---- one award ----------------------------------------------------------------------------------

function drawAward() {
  if (!award) {
    return;
  }
  byId("one").hidden = false;
  byId("missing").hidden = true;
  document.title = `Award ${award.award}: ${award.state} - Underfelt`;
  say(byId("one-title"), `Award ${award.award}`);
  fill("state", stateTag(award));
  byId("amount").cents = award.cents;
  say(
    byId("where"),
    `${award.pool} ${award.level} · table ${award.table}, round ${award.round}, seat ${award.seat} · ` +
      `${award.hand} · jackpot ${money(award.jackpot_cents)}, starts again at ${money(award.reset_cents)}`,
  );
  fill("steps", stepList(award));
  const url = tables.find((row) => row.name === award.table)?.url ?? "";
  byId("replay").href = `${url}/replay/${encodeURIComponent(award.table)}/${award.round}`;
  drawNext();
  drawRecord();
  const version = JSON.stringify(award.steps);
  if (version !== drawnSteps) {
    drawnSteps = version;
    load();
  }
}

function drawNext() {
  const next = nextOrder(award);
  say(byId("next-words"), nextWords(award) ?? `This award is ${award.state}. Nobody has to act.`);
  keyed(
    byId("next"),
    next ? [{ ...next, steps: award.steps }] : [],
    (one) => one.what,
    (one) =>
      h(
        "button.btn.primary",
        { onclick: () => orderDialog(award, one.what) },
        one.label,
      ),
  );
  byId("refuse").hidden = !isOpen(award);
}

const named = (name, role) => (role ? `${name} (${role})` : name);

/** Steps and notes in the order of time. */
function drawRecord() {
  const rows = [...namedSteps(award), ...notes].sort((a, b) => a.at_ms - b.at_ms);
  keyed(
    byId("record"),
    rows,
    (one) => `${one.at_ms} ${one.state} ${one.by}`,
    (one) =>
      h(
        "li",
        h("time.num", dayAndTime(one.at_ms, { second: "2-digit" })),
        h("b", one.state),
        h("span", named(one.by, one.role)),
        h("span.ink2", one.note),
      ),
  );
}

const units = (value) => (value / UNITS / 100).toLocaleString("en-US", DIGITS);
const DIGITS = { minimumFractionDigits: 2, maximumFractionDigits: 8 };

function drawDerived() {
  const { award: found, sound } = told;
  fill(
    "sound",
    sound ? tag("ok", icon("ok"), "derived again: equal") : tag("bad", icon("bad"), "DIFFERS"),
  );
  fill("derived", tableRows(derivation(found)));
  byId("findings").hidden = sound;
  say(byId("findings"), found.findings.join(" "));
}

const derivation = (found) => found.derivation.map(([what, how, value]) => [what, how, units(value)]);

async function load() {
  try {
    told = await get(path);
    award ??= told.award;
    drawDerived();
    await loadNotes();
    drawAward();
  } catch (error) {
    const said = await refusal(error);
    if (award) {
      fill("sound", said);
    } else {
      fill("missing", said);
      byId("missing").hidden = false;
    }
  }
}

/** Notes are orders of people whose topic is the award. */
async function loadNotes() {
  const from = award.at_ms ?? award.steps[0]?.at_ms ?? 0;
  const found = [];
  let after = 0;
  do {
    const page = await get(`audit?from_ms=${from}&after=${after}`);
    for (const row of page.rows) {
      const { by, order } = orderOf(row);
      if (order.what === "note" && order.topic === id) {
        found.push({
          at_ms: row.received_ms,
          state: "note",
          by: by[0][0],
          role: by[0][1],
          note: order.text,
        });
      }
    }
    after = page.next;
  } while (after);
  notes = found;
}

// ---- papers -------------------------------------------------------------------------------------

function packed(kind, ...said) {
  byId("packed").className = `said ${kind}`;
  byId("packed").hidden = false;
  fill("packed", said);
}

async function evidence() {
  const button = byId("evidence");
  button.disabled = true;
  packed("warn", "Making the pack and checking it. This takes some seconds.");
  try {
    const answer = await answerOf(`${path}/evidence`);
    const file = URL.createObjectURL(await answer.blob());
    const saved = `evidence-${id.replaceAll("/", "-")}.zip`;
    h("a", { href: file, download: saved }).click();
    setTimeout(() => URL.revokeObjectURL(file), 60000);
    const sound = answer.headers.get("X-Underfelt-Sound") === "true";
    packed(
      sound ? "good" : "bad",
      icon(sound ? "ok" : "bad"),
      sound ? `${saved}: every check passes.` : `${saved}: a check FAILS. Do not pay, call the auditor.`,
    );
  } catch (error) {
    packed("bad", await refusal(error));
  }
  button.disabled = false;
}

/** What speaks against paying now. */
function against() {
  if (award.state === "paid") {
    return "ALREADY PAID: a copy";
  }
  return award.state === "approved" ? "" : `DO NOT PAY: ${award.state}, not approved by two people`;
}

function slip() {
  const said = namedSteps(award).map((step) => [
    step.state,
    `${named(step.by, step.role)}, ${dayAndTime(step.at_ms)}`,
  ]);
  const where = [
    ["Pool, level, generation", `${award.pool}, ${award.level}, ${award.generation}`],
    ["Table, round, seat", `${award.table}, ${award.round}, ${award.seat}`],
    ["Hand", award.hand],
  ];
  const verdict = told?.sound ? "Derived again from the wagers: equal." : "NOT DERIVED: do not pay.";
  const lines = ["Manifest hash of the evidence pack", "Paid by", "Time"];
  return [
    h("h1", "Hand-pay slip"),
    h("p", `Award ${award.award} · ${printed()}`),
    h("p.amount", `$ ${money(award.cents)}`),
    h("p.against", against()),
    h("table", tableRows([...where, ...said])),
    h("h2", "How the amount came about"),
    h("table", tableRows(told ? derivation(told.award) : [])),
    h("p", verdict),
    signatures(...lines, "Received by (player)", "Witness", "Camera"),
  ];
}

async function jackpots() {
  stream = follow([LINK], awardsChanged);
  shell.follow(stream);
  if (id) {
    byId("evidence").addEventListener("click", evidence);
    byId("slip").addEventListener("click", () => window.print());
    byId("note").addEventListener("click", () => {
      orderDialog(award, "note").addEventListener("close", () => loadNotes().then(drawRecord));
    });
    byId("reject").addEventListener("click", () => orderDialog(award, "reject"));
    addEventListener("beforeprint", () => award && fill("sheet", slip()));
    load();
  }
}

// ==== papers: reports as the link server's command prints them ====================================

const DAY_MS = 86400000;
const LONGEST = 60;
const HIDES = ["what", "proofs"];

const form = byId("ask");

/** What these pages share: a button that prints, and nothing that is live. */
function paper() {
  document.querySelector(".live").hidden = true;
  byId("print").addEventListener("click", () => window.print());
}

function cell(value, kind) {
  if (value === null) {
    return "";
  }
  if (kind === "cents") {
    return money(value);
  }
  return kind === "text" ? String(value) : Number(value).toLocaleString("en-US");
}

function section({ title, about, columns, rows, sums, note }) {
  const number = (kind) => (kind === "text" ? null : "n");
  const line = (row, n) =>
    h(
      "tr",
      { class: n >= rows.length - sums ? "sum" : null },
      row.map((value, k) => h("td", { class: number(columns[k].kind) }, cell(value, columns[k].kind))),
    );
  const named = Object.entries(about ?? {}).map(([word, value]) => `${word} ${value}`);
  return [
    h("h2", [title, ...named].join(" · ")),
    rows.length
      ? h(
          "div.wide",
          { tabindex: 0, role: "group", "aria-label": title },
          h(
            "table",
            h(
              "thead",
              h("tr", columns.map((one) => h("th", { scope: "col", class: number(one.kind) }, one.name))),
            ),
            h("tbody", rows.map(line)),
          ),
        )
      : h("p.ink2", "None."),
    note && h("p.ink2", note),
  ];
}

function drawReport({ sound, report }) {
  const findings = report.findings ?? [];
  const facts = Object.entries(report.facts).map(([word, value]) =>
    h("div", h("dt", word), h("dd", String(value))),
  );
  const verdict = sound ? tag("ok", icon("ok"), "everything adds up") : tag("bad", icon("bad"), "see the findings");
  fill(
    "paper",
    h("header", h("h1", report.title), verdict),
    h("dl", facts),
    report.sections.map(section),
    findings.length ? h("h2", "Findings") : null,
    h("ul", findings.map((one) => h("li", `${one.text} (${one.code})`))),
  );
  document.title = `${report.title} - Underfelt`;
}

async function showReport() {
  const given = new URLSearchParams(location.search);
  const kind = ["pool", "hits", "table"].find((one) => one === given.get("kind")) ?? "day";
  form.kind.value = kind;
  const query = new URLSearchParams();
  for (const name of ["from", "to"]) {
    form[name].value = given.get(name) ?? "";
    if (form[name].value) {
      query.set(name, form[name].value);
    }
  }
  form.pool.value = kind === "pool" ? (given.get("pool") ?? "") : "";
  if (form.pool.value) {
    query.set("pool", form.pool.value);
  }
  byId("pool").hidden = kind !== "pool";
  fill("paper", h("p.ink2", "The report is being made."));
  try {
    drawReport(await get(`reports/${kind}?${query}`));
  } catch (error) {
    fill("paper", h("p", `There is no report: ${error.message}.`));
  }
}

async function reports() {
  paper();
  form.kind.addEventListener("change", () => {
    byId("pool").hidden = form.kind.value !== "pool";
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    if (form.kind.value !== "pool") {
      query.delete("pool");
    }
    history.pushState(null, "", `/reports?${query}`);
    showReport();
  });
  addEventListener("popstate", showReport);
  const { parts } = await get("pools").catch(() => ({ parts: {} }));
  const names = (parts.pools ?? []).map((one) => one.pool);
  form.pool.append(h("option", { value: "" }, "all"), ...names.map((one) => h("option", one)));
  await showReport();
}

// ---- orders of people, oldest first, in pages as the link server gives them ---------------------

let following = 0;
let asked = 0;

function when(ms) {
  return `${new Date(ms).toLocaleDateString("en-CA")} ${clock(ms)}`;
}

function short(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function line(row) {
  const { by, order } = orderOf(row);
  const people = by.filter(([, role]) => role);
  if (!people.length && !form.all.checked) {
    return null;
  }
  const details = Object.entries(order).filter(([key]) => !HIDES.includes(key));
  return h(
    "tr",
    h("td.num", when(row.received_ms)),
    h("td.n", row.id),
    h("td", order.what),
    h("td", by.map(([name, role]) => named(name, role)).join(" and ")),
    h("td", details.map(([key, value]) => `${key}: ${short(value)}`).join(", ")),
  );
}

async function list(first) {
  const mine = ++asked;
  const query = new URLSearchParams();
  const midnight = ({ value }) => new Date(`${value}T00:00`).getTime();
  if (form.from.value) {
    query.set("from_ms", midnight(form.from));
  }
  if (form.to.value) {
    query.set("to_ms", midnight(form.to) + DAY_MS);
  }
  if (!first) {
    query.set("after", following);
  }
  let answer;
  try {
    answer = await get(`audit?${query}`);
  } catch (error) {
    say(byId("said"), `The orders cannot be read: ${error.message}.`);
    return;
  }
  if (mine !== asked) {
    return;
  }
  const made = answer.rows.map(line).filter(Boolean);
  fill("rows", first ? [] : [...byId("rows").children], made);
  following = answer.next;
  byId("more").hidden = !following;
  const many = byId("rows").children.length;
  say(byId("said"), `${many} ${many === 1 ? "order" : "orders"}${following ? "; there are more pages" : ""}.`);
}

async function audit() {
  paper();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list(true);
  });
  form.all.addEventListener("change", () => list(true));
  byId("more").addEventListener("click", () => list(false));
  form.from.value = new Date(Date.now() - 6 * DAY_MS).toLocaleDateString("en-CA");
  await list(true);
}

await { floor, jackpots, reports, audit }[page]();
