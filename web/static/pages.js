// All pages but the floor: a table, jackpots, a past round, reports, and orders of people.
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
  post,
  s,
  say,
  tableRows,
} from "./core.js";
import {
  clause,
  dialog,
  hrefOf,
  icon,
  isOpen,
  namedSteps,
  nextOrder,
  nextWords,
  orderDialog,
  orderOf,
  refusal,
  printed,
  Shell,
  signatures,
  stepList,
  tag,
} from "./staff.js";

const [, page, given = "", ...more] = location.pathname.split("/").map(decodeURIComponent);
const paper = page === "reports" || page === "audit";
const { chipPicture, CHIPS, feltState, GAMES, hexOf, matrixOf, moduleOf } = paper
  ? {}
  : await import("./drawings.js");
const shell = new Shell(page, { table: page === "jackpots" ? "" : given });
const { tables } = await get("tables").catch(() => ({ tables: [] }));
let stream = null;
if (paper || page === "replay") {
  document.querySelector(".live").hidden = true;
}

// ==== a table: felt, displays, what it waits for, what happened ===================================

// Hands at a simulated table: chips, console keys, cards, the supervisor key, bots, trouble.
// Every order ends in a sentence: what came true, or why it was refused.

/** Keys of the console, each with the key of the keyboard that presses it; digits are their own. */
const keysOf = (text) => text.split(" ").map((one) => one.split(":"));
const NUMBERS = keysOf("1 8 2 9 3 0 4 ENTER:Enter 5 CLEAR:x 6 MENU:m 7 UNDO:u");
const GAME = keysOf(
  "OPEN:o PLAY:p CLOSE:c HANDLED:h COMM1:q SHOW:s COMM2:w PAID:d RIDE:r END:e BACK:b VOID:v " +
    "FOLD:f CALL:a",
);
const KEYS = [...NUMBERS, ...GAME];
const RED = ["VOID", "CALL"];
const OFF = "underfelt-shortcuts-off";
const FIELDS = "input:not([type=radio], [type=checkbox]), select, textarea, dialog *";

class Play {
  #table;
  #felt;
  #chip = 2500;
  #number = 0;
  #keys = new Map();
  #turned = false;
  #trouble;
  #takes = "draw";
  #offered = new Set();

  constructor(table, felt) {
    this.#table = table;
    this.#felt = felt;
    this.#trouble = new Trouble(KEYS.map(([key]) => key), (sentence, words) => this.order("fault", sentence, words));
  }

  start() {
    for (const id of ["chips", "console", "mischief"]) {
      byId(id).hidden = false;
    }
    this.#felt.toggleAttribute("playable", true);
    this.#felt.addEventListener("play", (event) => this.#played(event.detail));
    this.#drawChips();
    this.#drawKeys();
    this.#drawHands();
    document.addEventListener("keydown", (event) => this.#typed(event));
    this.#outcome("info", "Pause a bot to play its seat, or the dealer to press the keys.");
    get(`tables/${this.#table}/verbs`)
      .then((verbs) => this.#trouble.learn(verbs))
      .catch((error) => this.#outcome("bad", `The troubles are not known: ${error.message}`));
  }

  /** What the simulator says now. */
  draw(now) {
    const line = byId("prompt").dataset.text?.split("\n")[3] ?? "";
    this.#offered = new Set(line.trim().split(/\s+/));
    for (const [key, button] of this.#keys) {
      button.classList.toggle("lit", this.#offered.has(key));
    }
    this.#takes = "shuffler" in (now.lines ?? {}) ? "packet" : "draw";
    byId("deal")?.classList.toggle("primary", this.#offered.has("DEAL"));
    byId("people").hidden = !now.people || now.people.dealer === "none";
    if (now.people) {
      this.#drawPeople(now.people);
    }
    this.#turned = now.pins?.supervisor_key === false; // it closes to ground
    const key = byId("supervisor");
    if (key) {
      key.setAttribute("aria-pressed", this.#turned);
      say(key.querySelector("small"), this.#turned ? "turned" : "not turned");
    }
    this.#trouble.draw(now);
  }

  /** Send a sentence; say in words what became of it. True if it came true. */
  async order(kind, sentence, words) {
    this.#number += 1;
    const mine = this.#number;
    this.#outcome("clock", `${words} …`);
    try {
      await post(`tables/${this.#table}/${kind}`, { do: sentence });
      if (mine === this.#number) {
        this.#outcome("ok", `${words}: done`);
      }
      return true;
    } catch (error) {
      const code = error.code ? ` (${error.code})` : "";
      this.#outcome("bad", `${words}: refused. ${error.message}${code}`);
      return false;
    }
  }

  do(sentence, words) {
    return this.order("do", sentence, words);
  }

  #outcome(kind, text) {
    const line = byId("outcome");
    line.className = kind;
    line.replaceChildren(icon(kind), h("span", text));
  }

  // ---- chips and cards --------------------------------------------------------------------------

  #played({ act, seat, spot }) {
    const amount = money(this.#chip);
    const plain = (this.#chip / 100).toFixed(2);
    const where = spot.replace("_", " ");
    if (act === "place" && seat === 0) {
      this.do(`dealer pot ${plain}`, `The dealer puts ${amount} into the pot`);
    } else if (act === "place") {
      this.do(`seat ${seat} adds ${plain} on ${spot}`, `Seat ${seat} puts ${amount} on ${where}`);
    } else if (act === "take" && seat === 0) {
      this.do("dealer takes pot", "The dealer takes what lies in the pot");
    } else if (act === "take") {
      this.do(`seat ${seat} takes ${spot}`, `Seat ${seat} takes back what lies on ${where}`);
    } else if (act === "credit") {
      this.do(`seat ${seat} credits 1`, `Seat ${seat} puts a credit on the progressive`);
    } else {
      this.#deal();
    }
  }

  #deal() {
    this.do(this.#takes, "The next card");
  }

  #drawChips() {
    const made = CHIPS.map((cents) =>
      h(
        "label",
        { title: money(cents) },
        h("input", {
          type: "radio",
          name: "chip",
          value: cents,
          checked: cents === this.#chip,
          "aria-label": money(cents),
          onchange: () => (this.#chip = cents),
        }),
        chipPicture(cents),
      ),
    );
    document.querySelector("#chips div").replaceChildren(...made);
  }

  // ---- the console ------------------------------------------------------------------------------

  #drawKeys() {
    const make = ([key, letter]) => {
      const made = h(
        "button",
        {
          class: RED.includes(key) ? "red" : null,
          "data-key": key,
          "aria-keyshortcuts": letter ?? key,
          onclick: () => this.#press(key),
        },
        key,
        letter && h("kbd", { "aria-hidden": "true" }, letter.replace("Enter", "↵")),
      );
      this.#keys.set(key, made);
      return made;
    };
    byId("digits").append(...NUMBERS.map(make));
    byId("game").append(...GAME.map(make));
  }

  #press(key) {
    this.do(`press ${key}`, `Key ${key}`);
  }

  #drawHands() {
    const hand = (id, letter, text, below, act) =>
      h(
        "button.btn",
        { id, "aria-keyshortcuts": letter, onclick: act },
        h("span", h("b", text), h("small", below)),
        h("kbd", { "aria-hidden": "true" }, letter),
      );
    const key = hand("supervisor", "k", "Supervisor key", "not turned", () => this.#turn());
    key.prepend(h("span.cylinder", { "aria-hidden": "true" }));
    key.setAttribute("aria-pressed", "false");
    const letters = h("input", {
      type: "checkbox",
      checked: localStorage.getItem(OFF) === null,
      onchange: () => {
        localStorage[letters.checked ? "removeItem" : "setItem"](OFF, "1");
        this.#hints();
      },
    });
    byId("hands").append(
      hand("deal", "g", "Deal", "next card", () => this.#deal()),
      hand("next", "n", "Dealer", "one step", () => this.#step()),
      key,
      h("label.letters", letters, "Letter keys"),
    );
    this.#hints();
  }

  #step() {
    if (/^LOAD THE SHOE/m.test(byId("prompt").dataset.text ?? "")) {
      this.do("dealer until OPEN", "The dealer loads the shoe");
    } else if (this.#offered.has("WAIT")) {
      this.#outcome("info", "The dealer waits, as the prompt says.");
    } else {
      this.do("dealer plays 1", "The dealer does what the prompt asks");
    }
  }

  #hints() {
    byId("console").classList.toggle("no-letters", localStorage.getItem(OFF) !== null);
  }

  #turn() {
    const to = this.#turned ? "off" : "on";
    this.do(
      `key ${to}`,
      this.#turned ? "The supervisor takes the key away" : "The supervisor turns the key",
    );
  }

  #typed(event) {
    const busy = event.ctrlKey || event.altKey || event.metaKey || event.target.matches?.(FIELDS);
    if (busy || localStorage.getItem(OFF) !== null || document.querySelector("dialog[open]")) {
      return;
    }
    const onButton = event.target.matches?.("button, a, summary, [role=button], input");
    const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const acts = {
      g: () => this.#deal(),
      n: () => this.#step(),
      k: () => this.#turn(),
    };
    const [key] = KEYS.find(([one, typed = one]) => typed === letter) ?? [];
    if (letter === "[" || letter === "]") {
      this.#otherChip(letter === "]" ? 1 : -1);
    } else if (acts[letter]) {
      acts[letter]();
    } else if (key && !(letter === "Enter" && onButton)) {
      this.#press(key);
    } else {
      return;
    }
    event.preventDefault();
  }

  #otherChip(by) {
    const to = Math.max(0, Math.min(CHIPS.length - 1, CHIPS.indexOf(this.#chip) + by));
    this.#chip = CHIPS[to];
    byId("chips").querySelectorAll("input")[to].checked = true;
    this.#outcome("info", `Chips of ${money(this.#chip)}`);
  }

  // ---- people -----------------------------------------------------------------------------------

  #drawPeople({ dealer, seats }) {
    const rows = [["dealer", dealer], ...Object.entries(seats)];
    keyed(
      byId("people").querySelector("div"),
      rows,
      ([who]) => who,
      ([who, state]) => {
        const bot = state === "bot";
        const name = who === "dealer" ? "dealer" : `seat ${who}`;
        const sentence = `${bot ? "pause" : "resume"} ${name}`;
        const words = bot
          ? `The bot of ${name} pauses: yours to play`
          : `The bot plays ${name} again`;
        return h(
          "button",
          {
            class: bot ? "" : "yours",
            "aria-pressed": !bot,
            onclick: () => this.do(sentence, words),
          },
          h("b", who === "dealer" ? "Dealer" : [h("span.sr", "Seat "), who]),
          h("small", bot ? "bot" : "you"),
        );
      },
    );
  }
}

// Trouble at a simulated table: the usual ones as buttons, all of them in a dialog that is built
// from what the simulator says it can do.

/** Usual troubles: what to say to begin and to end one, and how to see that it is there. */
const USUAL = [
  [
    "Pull a chip reader",
    "Plug it in",
    "unplug chips-1",
    "replug chips-1",
    ({ lines }) => !lines["chips-1"],
  ],
  ["Jam the cards", "Clear the jam", "jam", "jam off", (now) => now.card_device?.jam],
  ["Foreign card", "", "foreign", "", null],
  [
    "Cut the link",
    "Plug the link in",
    "link cut",
    "link back",
    ({ lines }) => lines.link === false,
  ],
  ["Cut the power", "Power back", "powerfail", "powerfail off", null],
  ["Pull the shoe", "Plug the shoe in", "unplug shoe", "replug shoe", ({ lines }) => !lines.shoe],
  ["Dead prompt", "Revive prompt", "dead prompt", "dead prompt off", null],
  ["Open the door", "Close the door", "door open", "door closed", null],
];
const MOST = 6;
const BOARDS = ["keys-1", "keys-2", "lamps-1", "lamps-2", "sensors", "acceptors"];
const LITERAL = ["off", "open", "closed", "cut", "back"];

/** Values of an argument by its kind; a kind that is not here is typed. */
const CHOICES = {
  line: (now) => Object.keys(now.lines),
  pin: (now) => Object.keys(now.pins ?? {}),
  seat: (now) => now.table?.seats ?? [1, 2, 3, 4, 5, 6, 7],
  spot: (now) => now.table?.spots ?? [],
  board: (now) => [...Object.keys(now.displays?.boards ?? {}), ...BOARDS],
  level: () => ["0", "1"],
};

/** `[off]` as {name: "off", values: ["off"], optional: true} */
function argumentOf(given, now, keys) {
  const name = given.replace(/[[\]]/g, "");
  const words = name.split("/");
  const literal = words.every((one) => LITERAL.includes(one));
  const values = literal ? words : name === "key" ? keys : (CHOICES[name]?.(now) ?? []);
  return { name, values, optional: given.startsWith("[") };
}

class Trouble {
  #keys;
  #order;
  #verbs = [];
  #now = { lines: {} };
  #on = new Set();

  constructor(keys, order) {
    this.#keys = keys;
    this.#order = order;
  }

  /** The simulator's verbs: {verb, group, title, arguments}. */
  learn({ verbs }) {
    this.#verbs = verbs;
    byId("more").addEventListener("click", () => this.#all());
    this.draw(this.#now);
  }

  draw(now) {
    this.#now = { ...now, lines: now.lines ?? {} };
    const known = new Set(this.#verbs.map((one) => one.verb));
    const usable = ([, , begin]) => {
      const [verb, line] = begin.split(" ");
      return known.has(verb) && (verb !== "unplug" || line in this.#now.lines);
    };
    const rows = USUAL.filter(usable)
      .slice(0, MOST)
      .map(([title, undo, begin, end, is]) => {
        const on = is ? Boolean(is(this.#now)) : this.#on.has(begin);
        return {
          title: on && undo ? undo : title,
          sentence: on && end ? end : begin,
          begin,
          end,
          on,
        };
      });
    keyed(
      byId("faults"),
      rows,
      (one) => one.begin,
      (one) =>
        h(
          "button",
          { class: one.on ? "on" : "", onclick: () => this.#make(one) },
          one.title,
          h("small", one.on ? `on · ${one.sentence}` : one.sentence),
        ),
    );
  }

  async #make({ title, sentence, begin, end, on }) {
    if ((await this.#order(sentence, title)) && end) {
      this.#on[on ? "delete" : "add"](begin);
      this.draw(this.#now);
    }
  }

  #all() {
    const said = h("p.told", { role: "status" });
    const made = [...new Set(this.#verbs.map((one) => one.group))].map((group) => {
      const verbs = this.#verbs.filter((one) => one.group === group);
      return h("section", h("h3", group), verbs.map((verb) => this.#form(verb, said)));
    });
    dialog("Make trouble", said, h("div.verbs", made));
  }

  #form(verb, said) {
    const fields = verb.arguments.map((one) =>
      this.#field(verb, argumentOf(one, this.#now, this.#keys)),
    );
    const act = async (event) => {
      event.preventDefault();
      const sentence = [verb.verb, ...fields.map((one) => one.value)].join(" ").trim();
      said.textContent = `${sentence} …`;
      const done = await this.#order(sentence, verb.title);
      said.textContent = done ? `${sentence}: done` : byId("outcome").textContent;
    };
    return h(
      "form.verb",
      { onsubmit: act },
      h("span.what", verb.title, h("small", verb.verb)),
      fields,
      h("button.btn.small", { "aria-label": `do it: ${verb.title}` }, "Do it"),
    );
  }

  #field(verb, { name, values, optional }) {
    const label = `${verb.title}: ${name}`;
    if (!values.length) {
      return h("input", {
        "aria-label": label,
        placeholder: name,
        size: 8,
        required: !optional,
      });
    }
    const all = optional ? ["", ...values] : values;
    return h(
      "select",
      { "aria-label": label },
      all.map((one) => h("option", { value: one }, one === "" ? "—" : one)),
    );
  }
}

// ---- the page -----------------------------------------------------------------------------------

const LONGEST_LOG = 200;
const GOLD = /selection|lucky|magic|jackpot|award|mystery/;
const STOPS = { "the round is void": "void", "frozen for the supervisor": "frozen" };

const TABLE = `table:${given}`;
const SIM = `sim:${given}`;
let hands = null;
let log = [];

/** The latest value of a part: of the simulator's feed, or of the table's. */
const sim = (part) => stream.part(SIM, part);
const at = (part) => stream.part(TABLE, part);

function start(simulated) {
  for (const element of document.querySelectorAll("[data-of]")) {
    const names = element.dataset.of
      .split(" ")
      .map((kind) => (simulated && kind === "sim" ? SIM : TABLE));
    element.dataset.feed = [...new Set(names)].join(" ");
  }
  stream = follow(simulated ? [TABLE, SIM] : [TABLE], tableChanged);
  shell.follow(stream);
}

function tableChanged({ name: feed, parts, log: entries, reloaded }) {
  if (feed === TABLE) {
    if (reloaded) {
      log = [];
    }
    happened(entries);
  }
  drawFelt();
  if ("table" in parts || "status" in parts) {
    drawTitle();
  }
  if ("displays" in parts) {
    drawDisplays();
  }
  if ("why" in parts) {
    drawWhy(parts.why);
  }
  if ("lamps" in parts || "beacon" in parts || "status" in parts) {
    drawTags();
  }
  if (feed === SIM) {
    hands.draw({ ...stream.parts(SIM), table: at("table") });
  }
}

function drawFelt() {
  if (at("table")) {
    const simulator = sim("chips") ? stream.parts(SIM) : null;
    byId("felt").state = feltState({ ...stream.parts(TABLE), sim: simulator });
  }
}

function drawTitle() {
  const table = at("table");
  const status = at("status");
  if (!table || !status) {
    return;
  }
  const { min_cents: least, max_cents: most } = table.limits ?? {};
  document.title = `Table ${given}, round ${status.round}: ${status.phase} - Underfelt`;
  say(byId("title"), table.title);
  fill(
    "where",
    h("span", "Table ", h("b", given)),
    h("span", "round ", h("b", status.round)),
    least == null || most == null
      ? null
      : h("span.num.hide-s", `${money(least)} – ${money(most)}`),
    status.dealer ? h("span", "dealer ", h("b", status.dealer)) : null,
  );
  byId("replay").href = `/replay/${encodeURIComponent(given)}/${status.round || "last"}`;
  drawPhases(GAMES[table.game] ?? GAMES.MEGA, status.phase);
}

function drawPhases(layout, phase) {
  const stopped = STOPS[phase];
  const names = layout.phases.map(([word]) => word).concat(stopped ?? []);
  const now = stopped ? names.length - 1 : layout.phases.findIndex(([, one]) => one === phase);
  keyed(
    byId("phases"),
    names.map((word, n) => [word, n === now ? "now" : n < now && !stopped ? "done" : ""]),
    ([word]) => word,
    ([word, is]) => h("li", { class: is, "aria-current": is === "now" ? "step" : null }, word),
  );
  byId("phases").classList.toggle("stopped", Boolean(stopped));
}

/** A game without a progressive has no link to lose. */
function linkTag({ link_up: up, progressive }) {
  if (!progressive) {
    return null;
  }
  return up ? tag("ok", "link open") : tag("warn", icon("warn"), "link lost");
}

function drawTags() {
  const status = at("status");
  if (!status) {
    return;
  }
  const { ready = 0, of = 0, troubles = [] } = status.devices ?? {};
  const good = ready === of && !troubles.length;
  shell.tags(
    at("table")?.simulated && tag("info", "SIMULATED"),
    status.stopped && tag("bad", "STOPPED"),
    status.locked && tag("bad", "LOCKED"),
    status.test_mode && tag("warn", "TEST MODE"),
    status.safe_mode && tag("warn", "SAFE MODE"),
    at("beacon") && tag("warn", "supervisor called"),
    tag(good ? "ok hide-s" : "warn", good ? null : icon("warn"), `${ready} of ${of} devices`),
    linkTag(status),
  );
  shell.badge("jackpots", status.awards?.length ?? 0);
  byId("troubles").hidden = !troubles.length;
  keyed(
    byId("troubles").querySelector("ul"),
    troubles,
    (one) => one.code + one.device,
    (one) =>
      h(
        "li",
        icon("warn"),
        h("div", `${one.text} `, h("code", one.code), h("p.do", `→ ${one.do}`)),
      ),
  );
}

function drawDisplays() {
  const shown = sim("displays") ?? at("displays") ?? {};
  const boards = shown.boards ?? {};
  byId("jack").hidden = !shown.meter?.length;
  byId("magic-figure").hidden = !shown.magic;
  byId("duo").classList.toggle("alone", !shown.magic);
  if (shown.meter?.length) {
    const lit = shown.meter.map((_, n) => boards[`meter-${n + 1}`]?.on ?? true);
    byId("meter").show(shown.meter, { ...boards["meter-1"], on: lit });
  }
  if (shown.magic) {
    byId("magic").show(shown.magic, boards.magic);
  }
  if (shown.prompt) {
    byId("prompt").show(shown.prompt, boards.prompt);
  }
  const read = at("displays")?.meter;
  const same = read && shown.meter && read.join() === shown.meter.join();
  const back = byId("read-back");
  back.hidden = !read?.length;
  back.className = same ? "tag ok" : "tag warn";
  say(back, same ? "shown, read back" : "not confirmed");
}

function drawWhy(why) {
  fill(
    "why",
    h("b", "Waiting: "),
    `${why?.text || "for nothing."} `,
    why?.clause ? clause(why.clause) : null,
    why?.do ? h("span.next", `Next: ${why.do}.`) : null,
  );
}

function happened(entries) {
  log = [...entries].reverse().concat(log).slice(0, LONGEST_LOG);
  const cited = (one) => (one.clause ? [" ", clause(one.clause)] : []);
  const entry = (one) =>
    h(
      "li",
      h("time", clock(one.at_ms)),
      h(
        "div",
        h("div", { class: GOLD.test(one.kind ?? "") ? "gold" : "" }, one.text),
        h("span.how", one.how ?? "", cited(one)),
        (one.followed ?? []).map((then) =>
          h("div.then", `→ ${then.text}`, cited(then)),
        ),
      ),
    );
  keyed(byId("log"), log, (one) => one.n, entry);
}

/** Other tables that this server follows, to choose from. */
function chooser() {
  const here = tables.filter((row) => row.followed).map((row) => row.name);
  if (here.length < 2) {
    return;
  }
  const choose = h(
    "select",
    {
      "aria-label": "another table",
      onchange: () => location.assign(`/table/${encodeURIComponent(choose.value)}`),
    },
    here.map((one) => h("option", { selected: one === given }, one)),
  );
  byId("chooser").append(choose);
}

async function table() {
  const row = tables.find((one) => one.name === given);
  chooser();
  if (row && !row.followed) {
    say(
      byId("where"),
      row.url ? `Table ${given} is at ${row.url}` : `This server does not follow table ${given}.`,
    );
    return;
  }
  hands = new Play(given, byId("felt"));
  start(row?.simulated ?? false);
  if (row?.simulated) {
    hands.start();
  }
}

// ==== all jackpots, or one award: its steps, how the amount came about, orders, papers ============

const id = [given, ...more].filter(Boolean).join("/");
const path = `awards/${id.split("/").map(encodeURIComponent).join("/")}`;
const UNITS = 1000000;
const KINDS = { paid: "ok", rejected: "bad", withdrawn: "bad" };

/** The award as the feed has it, or as the command told it if it is too old for the feed. */
let award = null;
let told = null;
let notes = [];
let drawnSteps = "";

function changed({ parts }) {
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
  tag(KINDS[one.state] ?? "gold", KINDS[one.state] === "bad" && icon("bad"), one.state);

// ---- the list -----------------------------------------------------------------------------------

function drawList(all) {
  byId("list").hidden = false;
  byId("none").hidden = all.length > 0;
  const waits = stream.stale("link") ? "STALE" : `${all.filter(isOpen).length} waiting`;
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
  stream = follow(["link"], changed);
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

// ==== a past round: the felt of the live table, moment by moment, with what is behind each ========

const LANES = ["dealer", "chips", "cards", "link, draw", "displays"];
const SHAPES = [
  (x, y) => `M${x - 2} ${y}h4v10h-4Z`,
  (x, y) => `M${x - 4} ${y + 5}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`,
  (x, y) => `M${x} ${y}l4 5l-4 5l-4 -5Z`,
  (x, y) => `M${x - 4} ${y + 9}h8l-4 -8Z`,
  (x, y) => `M${x - 0.7} ${y}h1.4v10h-1.4Z`,
];
const LEFT = 66;
const ROW = 19;
const HEIGHT = 22 + LANES.length * ROW + 16;
const METER = 12;
const PACE_MS = 700;
const EDGE_MS = 1000;
const STEPS = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowDown: -1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
};

let rows = [];
let felted = {};
let place = 0;
let timer = 0;
let marks = null;
const texts = new Map();

const ddram = (line) => Array.from(line.padEnd(20), (one) => hexOf(one.charCodeAt(0))).join("");

/** "1 live, 2 off" of both lamp boards as the table's feed has it. */
function lampsOf(displays) {
  const said = `${displays["lamps-1"] ?? ""}, ${displays["lamps-2"] ?? ""}`.split(", ");
  return said
    .map((one) => one.match(/^(\d) (.+)$/))
    .filter(Boolean)
    .map(([, seat, lamp]) => ({ seat: Number(seat), lamp }));
}

function laneOf({ by }) {
  if (/^declared/.test(by ?? "")) {
    return 0;
  }
  if (/chips|acceptors/.test(by ?? "")) {
    return 1;
  }
  return /shoe|shuffler/.test(by ?? "") ? 2 : 3;
}

function showMoment(number) {
  place = Math.min(Math.max(number, 0), rows.length - 1);
  const now = rows[place];
  byId("felt").state = feltState({
    table: felted,
    status: { phase: now.phase, round: now.round },
    felt: { rows: now.felt, board: now.board, bonus: now.bonus, pot_cents: now.pot_cents },
    lamps: lampsOf(now.displays),
  });
  say(byId("number"), `Moment ${place + 1} of ${rows.length}`);
  say(byId("record"), now.seq ? `record ${now.seq}` : "");
  const from = rows.find((one) => one.marks.includes("bets opened")) ?? rows[0];
  const after = ((now.at_ms - from.at_ms) / 1000).toFixed(1);
  fill("clock", now.at, h("small", `${after < 0 ? "" : "+"}${after} s`));
  drawMoment(now);
  drawShown(now.displays);
  drawFrames(now);
  drawHead(now);
  say(byId("state"), now.state ?? "");
}

function drawMoment(now) {
  const cards = now.cards.map(({ where, card, public: open }) => `${where}: ${card}, ${open}`);
  const said = h("div.cited");
  fill(
    "moment",
    h("p.what", now.what),
    h("p.ink2", now.by ?? "", now.phase ? ` · ${now.phase}` : ""),
    now.clause && said,
    h(
      "ul",
      now.followed.map((one) =>
        h("li", `→ ${one.text} `, one.clause && clause(one.clause)),
      ),
      cards.map((text) => h("li", text)),
      now.trouble && h("li", tag("bad", icon("bad"), now.trouble)),
    ),
  );
  if (now.clause) {
    said.append(h("b.mono", now.clause));
    clauseText(now.clause).then((text) => said.append(h("p", text)));
  }
}

function clauseText(id) {
  if (!texts.has(id)) {
    const answer = get(`clauses/${encodeURIComponent(id)}`);
    texts.set(id, answer.then((found) => found.text).catch((error) => error.message));
  }
  return texts.get(id);
}

function drawShown(displays) {
  const meter = [1, 2, 3].map((n) => displays[`meter-${n}`] ?? "");
  const read = meter.join("").length >= METER && !meter.some((one) => one.includes("("));
  const magic = matrixOf(displays.magic ?? "");
  const prompt = displays.prompt?.split("\n");
  showBoard("meter", read && meter.map(moduleOf));
  showBoard("magic", magic);
  showBoard("prompt", prompt && { ddram: prompt.map(ddram) });
  const lines = [
    ["Jackpot meter", read ? "" : meter.join("").trim()],
    ["Sign", displays.sign],
    ["Magic card", magic ? "" : displays.magic],
  ];
  fill(
    "shown",
    lines
      .filter(([, text]) => text)
      .map(([word, text]) => h("div", h("dt", word), h("dd.mono", text))),
  );
}

function showBoard(id, memory) {
  byId(id).parentElement.hidden = !memory;
  if (memory) {
    byId(id).show(memory);
  }
}

function drawFrames({ frames, frames_more: more }) {
  const one = (frame) =>
    h(
      "div.frame",
      h("time", new Date(frame.at_ms).toISOString().slice(14, 23)),
      h("b", frame.label || frame.device),
      h("span.dim", frame.direction === "in" ? "device → table" : "table → device"),
      h("div", { class: frame.masked ? "dim" : "mono" }, frame.data),
    );
  fill(
    "frames",
    frames.map(one),
    h(
      "p.dim",
      more ? `${more} more frames.` : frames.length ? "" : "No frame belongs to this moment.",
    ),
  );
}

// ---- the time line ------------------------------------------------------------------------------

function drawTimeline() {
  const width = Math.max(byId("timeline").clientWidth - 24, 320);
  const at = (mark, other) => (rows.find((one) => one.marks.includes(mark)) ?? other).at_ms;
  const begin = at("bets opened", rows[0]) - EDGE_MS;
  const end = Math.max(at("round ended", rows.at(-1)), begin) + EDGE_MS;
  const inside = (ms) => Math.min(Math.max(ms, begin), end);
  const x = (ms) => LEFT + ((width - LEFT - 10) * (inside(ms) - begin)) / (end - begin);
  const y = (lane) => 20 + lane * ROW;
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${HEIGHT}`,
    height: HEIGHT,
    role: "slider",
    tabindex: 0,
    "aria-label": "moment of the round",
    "aria-valuemin": 1,
    "aria-valuemax": rows.length,
  });
  let start = 0;
  let odd = false;
  for (let n = 1; n <= rows.length; n++) {
    if (n === rows.length || rows[n].phase !== rows[start].phase) {
      const [a, b] = [x(rows[start].at_ms), x((rows[n] ?? rows.at(-1)).at_ms)];
      svg.append(
        s("rect", { x: a, y: 0, width: b - a, height: HEIGHT - 16, class: odd ? "odd" : "even" }),
      );
      if (b - a > 48) {
        const fits = Math.floor((b - a) / 6);
        svg.append(s("text", { x: a + 4, y: 12 }, rows[start].phase.slice(0, fits)));
      }
      start = n;
      odd = !odd;
    }
  }
  LANES.forEach((word, lane) => {
    svg.append(
      s("text", { x: 0, y: y(lane) + 11 }, word),
      s("rect.lane", { x: LEFT, y: y(lane), width: width - LEFT - 10, height: 15 }),
    );
  });
  rows.forEach((row) => {
    const lane = laneOf(row);
    svg.append(s("path", { d: SHAPES[lane](x(row.at_ms), y(lane) + 2.5), class: `l${lane}` }));
    for (const { at_ms: at } of row.shown) {
      svg.append(s("path.l4", { d: SHAPES[4](x(at), y(4) + 2.5) }));
    }
  });
  const seconds = (end - begin) / 1000;
  const step = [1, 2, 5, 10, 20, 60, 120, 300, 600].find((one) => seconds / one < 9) ?? 3600;
  for (let t = 0; t <= seconds; t += step) {
    svg.append(s("text.axis", { x: x(begin + t * 1000), y: HEIGHT - 3 }, `+${t} s`));
  }
  const head = s("path.head");
  svg.append(head);
  marks = { svg, head, x };
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const there = ((event.clientX - box.left) / box.width) * width;
    const far = rows.map((row) => Math.abs(x(row.at_ms) - there));
    showMoment(far.indexOf(Math.min(...far)));
  });
  svg.addEventListener("keydown", (event) => {
    const to = { Home: 0, End: rows.length - 1 }[event.key] ?? place + (STEPS[event.key] ?? NaN);
    if (!Number.isNaN(to)) {
      event.preventDefault();
      showMoment(to);
    }
  });
  fill("timeline", svg);
}

function drawHead(now) {
  const at = marks.x(now.at_ms);
  marks.head.setAttribute("d", `M${at} 0V${HEIGHT - 16}M${at - 6} 0h12l-6 8Z`);
  marks.svg.setAttribute("aria-valuenow", place + 1);
  marks.svg.setAttribute("aria-valuetext", `${now.at}: ${now.what}`);
}

function playback() {
  const stop = timer || place === rows.length - 1;
  clearInterval(timer);
  timer = stop && timer ? 0 : setInterval(goOn, PACE_MS);
  if (timer && place === rows.length - 1) {
    showMoment(0);
  }
  drawPlay();
}

function goOn() {
  showMoment(place + 1);
  if (place === rows.length - 1) {
    clearInterval(timer);
    timer = 0;
    drawPlay();
  }
}

function drawPlay() {
  say(byId("play"), timer ? "Pause" : "Play");
  byId("play").setAttribute("aria-pressed", Boolean(timer));
}

// ---- the round ----------------------------------------------------------------------------------

function drawVerdict(sound, end) {
  const good = sound && end.equal;
  const kind = good ? "ok" : "bad";
  const open = sound && end.equal === null;
  fill(
    "verdict",
    open ? tag("", end.status) : tag(kind, icon(kind), good ? "EQUAL" : "DIFFERENT"),
  );
  const lines = [end.compared, ...end.differences, end.diverged, end.note].filter(Boolean);
  fill(
    "proof",
    lines.map((text) => h("p", typeof text === "string" ? text : JSON.stringify(text))),
    h("p.ink2", "State at this moment: ", h("span.mono", { id: "state" })),
  );
}

function drawJumps() {
  const found = new Map();
  rows.forEach(({ marks: all, phase, what }, n) => {
    const words = all.filter((one) => one.match(/^(decision|settlement) \d$|^dispute ./));
    const stopped = /frozen|void/.test(phase) ? [`stopped: ${what}`] : [];
    for (const one of [phase, ...words.map((text) => text.replace(/ (\d)$/, " of seat $1")), ...stopped]) {
      if (one && !found.has(one)) {
        found.set(one, n);
      }
    }
  });
  const choose = byId("jump");
  choose.append(
    h("option", { value: "" }, "…"),
    ...[...found].map(([word, n]) => h("option", { value: n }, word)),
  );
  choose.addEventListener("change", () => {
    if (choose.value) {
      showMoment(Number(choose.value));
    }
  });
}

function drawRounds(list, here) {
  const choose = byId("round");
  const numbers = list.map((one) => one.round);
  const all = numbers.includes(here) ? numbers : [here, ...numbers];
  choose.append(...all.map((n) => h("option", { selected: n === here }, n)));
  choose.addEventListener("change", () => {
    location.assign(`/replay/${encodeURIComponent(given)}/${choose.value}`);
  });
}

async function replay() {
  const path = `tables/${encodeURIComponent(given)}`;
  const asked = [get(`${path}/rounds/${more[0] || "last"}`), get(path), get(`${path}/rounds?most=100`)];
  const [round, now, list] = await Promise.allSettled(asked);
  if (round.status === "rejected") {
    say(byId("where"), `This round cannot be replayed here: ${round.reason.message}`);
    return;
  }
  const { sound, rows: found } = round.value;
  const end = found.at(-1);
  rows = found.slice(0, -1);
  if (!rows.length) {
    say(byId("where"), "Nothing is recorded of this round.");
    return;
  }
  felted = { game: end.game, ...(now.value?.parts.table ?? {}) };
  const day = new Date(rows[0].at_ms).toLocaleDateString("en-GB", { dateStyle: "medium" });
  document.title = `Round ${end.round} of table ${given} - Underfelt`;
  fill("title", `Round ${end.round} `, h("span.dim", `of table ${given}`));
  const when = `${day}, ${rows[0].at.slice(0, 8)} to ${rows.at(-1).at.slice(0, 8)}`;
  say(byId("where"), [felted.title ?? end.game, when, end.status].join(" · "));
  drawVerdict(sound, end);
  drawTimeline();
  drawJumps();
  drawRounds(list.value?.rounds ?? [], end.round);
  byId("first").addEventListener("click", () => showMoment(0));
  byId("back").addEventListener("click", () => showMoment(place - 1));
  byId("on").addEventListener("click", () => showMoment(place + 1));
  byId("play").addEventListener("click", playback);
  addEventListener("resize", () => {
    drawTimeline();
    drawHead(rows[place]);
  });
  const settled = rows.findIndex((one) => one.marks.includes("settlement"));
  showMoment(Math.max(settled, 0));
}

// ==== papers: reports as the link server's command prints them ====================================

const DAY_MS = 86400000;
const LONGEST = 60;
const HIDES = ["what", "proofs"];

const form = byId("ask");

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
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list(true);
  });
  form.all.addEventListener("change", () => list(true));
  byId("more").addEventListener("click", () => list(false));
  form.from.value = new Date(Date.now() - 6 * DAY_MS).toLocaleDateString("en-CA");
  await list(true);
}

if (paper) {
  byId("print").addEventListener("click", () => window.print());
}
await { table, jackpots, replay, reports, audit }[page]();
