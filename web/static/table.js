// The pages of a table: its felt and displays as they are now, and a past round.
import {
  byId,
  clock,
  fill,
  follow,
  get,
  h,
  keyed,
  money,
  post,
  s,
  say,
  short,
} from "./core.js";
import {
  clause,
  code,
  dialog,
  icon,
  Shell,
  tag,
} from "./staff.js";

const [, page, given, ...more] = location.pathname.split("/").map(decodeURIComponent);
const shell = new Shell(page, { table: given });
const { tables } = await get("tables").catch(() => ({ tables: [] }));
let stream = null;
document.querySelector(".live").hidden = page === "replay";

// ==== displays, felt ============================================================================

// The displays as they are: drawn from the memory of the display boards and from nothing else.
//   <uf-segments>  three HT16K33 modules of 16 bytes: twelve little-endian words (ht16k33.md 3)
//   <uf-matrix>    one HT16K33, 16 bytes: eight column words, bit 0 the top line (ht16k33.md 4)
//   <uf-lcd>       HD44780: 4 x 20 character codes and 64 bytes of own characters (hd44780.md 2)
// data-memory is the hex that is drawn. data-text is read back from the same bytes,
// blank where a board is off.

const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));

const hexOf = (byte) => byte.toString(16).padStart(2, "0");

function wordsOf(hex) {
  const bytes = bytesOf(hex);
  return Array.from(
    { length: bytes.length >> 1 },
    (_, n) => bytes[2 * n] | (bytes[2 * n + 1] << 8),
  );
}

/** A board: `show(memory, {on, blink, brightness})`. One that is off is drawn dark; `on` of the
 * meter is a list, by module. */
class Board extends HTMLElement {
  #unlit = s("path.unlit");
  #lit = s("path.lit");
  #drawn = "";

  show(memory, { on = true, blink = 0, brightness = 15 } = {}) {
    const hex = JSON.stringify([memory, on, blink, brightness]);
    if (hex === this.#drawn) {
      return;
    }
    this.#drawn = hex;
    if (!this.firstChild) {
      this.append(this.frame(this.#unlit, this.#lit));
      this.setAttribute("role", "img");
    }
    const drawn = ["", ""];
    this.draw(memory, on, (lit, path) => {
      drawn[lit ? 1 : 0] += path;
    });
    this.#unlit.setAttribute("d", drawn[0]);
    this.#lit.setAttribute("d", drawn[1]);
    this.#lit.setAttribute("opacity", (0.4 + (0.6 * brightness) / 15).toFixed(2));
    this.toggleAttribute("blinking", Boolean(blink));
    const text = this.words(memory, on);
    this.dataset.memory = this.hex(memory);
    this.dataset.text = text;
    this.dataset.on = [on].flat().every(Boolean) ? "on" : "off";
    const said = text.replace(/\s+/g, " ").trim() || "dark";
    this.setAttribute("aria-label", `${this.getAttribute("label") ?? this.localName}: ${said}`);
  }

  frame(...drawn) {
    return s("svg", { viewBox: this.box, "aria-hidden": "true" }, drawn);
  }

  /** One text of hex, or one for each module. */
  hex(memory) {
    return [memory].flat().join(" ");
  }
}

// ---- fourteen segments --------------------------------------------------------------------------

const CELL = 66;
const THICK = 4.1;
const [LEFT, MIDDLE, RIGHT] = [7, 27, 47];
const [UPPER, CENTRE, LOWER] = [7, 44, 81];

function across(from, to, y) {
  const length = to - from - 4 - 2 * THICK;
  return (x) =>
    `M${x + from + 2} ${y}l${THICK} ${-THICK}h${length}` +
    `l${THICK} ${THICK}l${-THICK} ${THICK}h${-length}Z`;
}

function down(at, from, to) {
  const length = to - from - 4 - 2 * THICK;
  return (x) =>
    `M${x + at} ${from + 2}l${THICK} ${THICK}v${length}` +
    `l${-THICK} ${THICK}l${-THICK} ${-THICK}v${-length}Z`;
}

function slant(x1, y1, x2, y2) {
  const right = Math.sign(x2 - x1);
  const below = Math.sign(y2 - y1);
  const [ax, ay] = [x1 + right * 6, y1 + below * 7];
  const [bx, by] = [x2 - right * 5.2, y2 - below * 7];
  return (x) =>
    `M${x + ax} ${ay}h${right * 3.4}L${x + bx} ${by - below * 5.5}V${by}h${-right * 3.4}` +
    `L${x + ax} ${ay + below * 5.5}Z`;
}

/** By bit: A B C D E F G1 G2 H J K L M N and the dot. */
const BARS = [
  across(LEFT, RIGHT, UPPER),
  down(RIGHT, UPPER, CENTRE),
  down(RIGHT, CENTRE, LOWER),
  across(LEFT, RIGHT, LOWER),
  down(LEFT, CENTRE, LOWER),
  down(LEFT, UPPER, CENTRE),
  across(LEFT, MIDDLE, CENTRE),
  across(MIDDLE, RIGHT, CENTRE),
  slant(LEFT, UPPER, MIDDLE, CENTRE),
  down(MIDDLE, UPPER + 3, CENTRE),
  slant(RIGHT, UPPER, MIDDLE, CENTRE),
  slant(LEFT, LOWER, MIDDLE, CENTRE),
  down(MIDDLE, CENTRE, LOWER - 3),
  slant(RIGHT, LOWER, MIDDLE, CENTRE),
  (x) => `M${x + 57} 84a4.2 4.2 0 1 0 .01 0Z`,
];
const DOT = 0x4000;

/** The forty characters and their words, so that memory becomes text again. */
const FOURTEEN = new Map(
  (
    "0C3F0 00061 00DB2 008F3 00E64 20695 00FD6 00077 00FF8 00EF9 00F7A 128FB 0039C 120FD " +
    "00F9E 0071F 00BDG 00F6H 1209I 001EJ 2470K 0038L 0536M 2136N 003FO 00F3P 203FQ 20F3R " +
    "00EDS 1201T 003EU 0C30V 2836W 2D00X 1500Y 0C09Z 00C0- 12ED$ 1083?"
  )
    .split(" ")
    .map((one) => [parseInt(one.slice(0, 4), 16), one[4]])
    .concat([[0, " "]]),
);

const MEMORY = new Map([...FOURTEEN].map(([word, letter]) => [letter, word]));

/** The memory of a module that shows this text. */
function moduleOf(text) {
  const words = [];
  for (const letter of text) {
    if (letter === ".") {
      words[words.length - 1] |= DOT;
    } else {
      words.push(MEMORY.get(letter) ?? 0);
    }
  }
  return words.map((word) => hexOf(word & 255) + hexOf(word >> 8)).join("");
}

class Segments extends Board {
  box = "-8 -2 806 94";

  frame(unlit, lit) {
    return super.frame(s("g", { transform: "skewX(-6)" }, unlit, lit));
  }

  /** The words of the cells; those of a module that is off are dark. */
  cells(modules, on) {
    const lit = (n) => (Array.isArray(on) ? on[n] : on);
    return modules.flatMap((hex, n) =>
      wordsOf(hex)
        .slice(0, 4)
        .map((word) => (lit(n) ? word : 0)),
    );
  }

  draw(modules, on, add) {
    this.cells(modules, on).forEach((word, n) => {
      BARS.forEach((bar, bit) => add((word >> bit) & 1, bar(n * CELL)));
    });
  }

  words(modules, on) {
    const one = (word) => (FOURTEEN.get(word & ~DOT) ?? "?") + (word & DOT ? "." : "");
    return this.cells(modules, on).map(one).join("");
  }
}

// ---- the matrix ---------------------------------------------------------------------------------

const RANKS = {
  "7c7e131111137e7c": "A",
  "6273515949494f46": "2",
  "2263414949497f36": "3",
  "10181c16137f7f10": "4",
  "2767454545457d39": "5",
  "3c7e4b4949497930": "6",
  "01010171790d0703": "7",
  "367f494949497f36": "8",
  "064f494949693f1e": "9",
  "427f403e7f417f3e": "T",
  "30704041417f3f01": "J",
  "3e7f415171613f5e": "Q",
  "7f7f08081c366341": "K",
};
const SUITS = {
  "383896ffff963838": "c",
  "183c7effff7e3c18": "d",
  "0e1f3f7e7e3f1f0e": "h",
  "383c9effff9e3c38": "s",
};

/** The memory of a matrix that shows this card; empty if it is none. */
function matrixOf(card) {
  const find = (shapes, name) => Object.keys(shapes).find((one) => shapes[one] === name);
  const [rank, suit] = [find(RANKS, card[0]), find(SUITS, card[1])];
  return rank && suit ? rank.replace(/../g, (byte, at) => byte + suit.slice(at, at + 2)) : "";
}

class Matrix extends Board {
  box = "-3 -3 86 169";

  draw(hex, on, add) {
    wordsOf(hex).forEach((column, x) => {
      for (let y = 0; y < 16; y++) {
        const dot = `M${x * 10 + 1.1} ${y * 10 + 5 + (y > 7 ? 3 : 0)}a3.9 3.9 0 1 1 0 .01Z`;
        add(on && (column >> y) & 1, dot);
      }
    });
  }

  /** The card, empty when dark, ? where the dots show no card. */
  words(hex, on) {
    const half = (from) => (hex.match(/../g) ?? []).filter((_, n) => n % 2 === from).join("");
    if (!on || /^0*$/.test(hex)) {
      return "";
    }
    const [rank, suit] = [RANKS[half(0)], SUITS[half(1)]];
    return rank && suit ? rank + suit : "?";
  }
}

// ---- the prompt ---------------------------------------------------------------------------------

/** ROM A00 from code 20: seven rows of five dots each, a digit in base 32 for a row. */
const ROM = (
  "00000004444404aaa0000aavavaa4fke5u4op248j38kk8lid4440000248884284222484level4044v440" +
  "0000c48000v00000000cc01248g0ehjlphe4c4444eeh1eggvv1261he26aiv22vgu11he78guhhev11248g" +
  "ehhehheehhf12s00404000040448124842100v0v008421248eh16404eh1dlleehhhvhhuhhuhhuehggghe" +
  "uhhhhhuvgguggvvggugggfhggjhfhhhvhhhe44444e72222ichikokihggggggvhrlllhhhhpljhhehhhhhe" +
  "uhhugggehhhliduhhukihehge1hevl44444hhhhhhehhhhha4hhhlllahha4ahhhha4444v12e8gvf88888f" +
  "hav4v44f11111f4ah0000000000v842000000c2eifggmphhu00ehghe11djhhf00ehvge254e4440fhhf1e" +
  "ggmphhh40c444e20622icggikokic44444e00qllll00mphhh00ehhhe00uhugg00djf1100mpggg00fge1u" +
  "44v445200hhhjd00hhha400hhlla00ha4ah00hhf1e00v248v244844244404448442448042v240048v840"
)
  .match(/.{7}/g)
  .map((shape) => Array.from(shape, (row) => parseInt(row, 32)));
const FIRST = 0x20;
/** Own characters by their eight rows. */
const OWN = {
  "0e0e041b1f1b040e": "♣",
  "040e0e1f1f0e0e04": "♦",
  "000a1f1f1f0e0400": "♥",
  "040e1f1f1f15040e": "♠",
  "06091c081c090600": "€",
  "0609081c08091600": "£",
  "0010080402010000": "\\",
  "0000081502000000": "~",
};

class Lcd extends Board {
  box = "-8 -8 375 127";

  /** memory: {ddram: four hex texts of 20 codes, cgram: one of 64 bytes} */
  draw({ ddram, cgram = "" }, on, add) {
    const own = bytesOf(cgram);
    ddram.forEach((hex, line) => {
      bytesOf(hex).forEach((code, column) => {
        for (let x = 0; x < 5; x++) {
          for (let y = 0; y < 8; y++) {
            const dot = `M${column * 18 + x * 3} ${line * 29 + y * 3}h2.6v2.6h-2.6Z`;
            add(on && isDark(code, x, y, own), dot);
          }
        }
      });
    });
  }

  words({ ddram, cgram = "" }, on) {
    const one = (code) => {
      if (!on) {
        return " ";
      }
      if (code < 0x10) {
        const at = 16 * (code & 7);
        return OWN[cgram.slice(at, at + 16)] ?? "?";
      }
      return code >= FIRST && code <= 0x7d && code !== 0x5c ? String.fromCharCode(code) : "?";
    };
    return ddram.map((hex) => Array.from(bytesOf(hex), one).join("")).join("\n");
  }

  hex({ ddram, cgram = "" }) {
    return `${ddram.join(" ")}/${cgram}`;
  }
}

/** A code without a shape is all dark. */
function isDark(code, x, y, own) {
  const rows = code < 0x10 ? own.slice(8 * (code & 7)) : ROM[code - FIRST];
  return rows ? (rows[y] >> (4 - x)) & 1 : 1;
}

customElements.define("uf-segments", Segments);
customElements.define("uf-matrix", Matrix);
customElements.define("uf-lcd", Lcd);

// ---- games ---------------------------------------------------------------------------------------

// What differs between the games on the felt, and what lies on it as <uf-felt> draws it.

/** Spots in the player's reading order: column from the left, row 0 nearest to the player. */
const LET_IT_RIDE = [
  { name: "1", label: "1", words: "wager 1", column: -1, row: 0 },
  { name: "2", label: "2", words: "wager 2", column: 0, row: 0 },
  { name: "$", label: "$", words: "wager $", column: 1, row: 0 },
];
const PAIR_PLUS = [
  { name: "pair_plus", label: "PP", words: "pair plus", column: -0.5, row: 1 },
  { name: "six_card", label: "6CB", words: "six card bonus", column: 0.5, row: 1 },
];
const RICOCHET = [
  { name: "ante", label: "ANTE", words: "ante", column: -0.5, row: 0 },
  { name: "play", label: "PLAY", words: "play", column: 0.5, row: 0 },
  { name: "rapid_fire", label: "RAPID", words: "rapid fire", column: -0.5, row: 1 },
  { name: "hedge", label: "HEDGE", words: "hedge bet", column: 0.5, row: 1 },
];

const OPENING = [
  ["between rounds", "between rounds"],
  ["bets open", "bets are open"],
  ["bets closed", "bets are closed"],
  ["deal", "dealing"],
];
const LET_IT_RIDE_PHASES = [
  ...OPENING,
  ["decision 1", "first decision"],
  ["decision 2", "second decision"],
  ["settle", "settlement"],
];
const RICOCHET_PHASES = [
  ...OPENING,
  ["confirm", "cards to be confirmed"],
  ["players act", "players act"],
  ["draw", "three cards to a player"],
  ["settle", "settlement"],
];

const letItRide = (more) => ({
  spots: LET_IT_RIDE,
  phases: LET_IT_RIDE_PHASES,
  board: 2,
  caption: "COMMUNITY CARDS",
  art: ["LET IT RIDE", "A PAIR OF TENS OR BETTER PAYS"],
  ...more,
});

const GAMES = {
  MBS3: letItRide({
    acceptor: true,
    art: ["LET IT RIDE", "A PAIR OF TENS OR BETTER PAYS  ·  PROGRESSIVE"],
  }),
  PP6: letItRide({
    spots: [...LET_IT_RIDE, ...PAIR_PLUS],
    board: 3,
    art: ["LET IT RIDE", "PAIR PLUS  ·  SIX CARD BONUS"],
  }),
  NSW: letItRide({}),
  MEGA: letItRide({
    acceptor: true,
    art: ["LET IT RIDE", "A PAIR OF TENS OR BETTER PAYS  ·  MEGALINK PROGRESSIVE"],
  }),
  RICO: {
    spots: RICOCHET,
    phases: RICOCHET_PHASES,
    board: 5,
    caption: "DEALER",
    pot: true,
    art: ["RICOCHET", ""],
  },
};

/** The spot a decision is about, by the phase. */
const ASKED = { "first decision": "1", "second decision": "2", "players act": "play" };

const RANK_WORDS = "two three four five six seven eight nine ten jack queen king ace".split(" ");
const SUIT_WORDS = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };

const HIDDEN = "??";

/** Td as ten of diamonds; a hidden card as face down. */
function cardWords(name) {
  if (name === HIDDEN) {
    return "face down";
  }
  return `${RANK_WORDS["23456789TJQKA".indexOf(name[0])] ?? name} of ${SUIT_WORDS[name[1]] ?? "?"}`;
}

const CHIPS = [100, 500, 1000, 2500, 10000, 50000, 100000];

/** An amount in chips as a dealer cuts them out, the largest at the bottom. */
function chipsFor(cents) {
  const chips = [];
  for (const value of [...CHIPS].reverse()) {
    while (cents >= value && chips.length < 30) {
      chips.push(value);
      cents -= value;
    }
  }
  return chips;
}

function spotsOf(layout, row, chips, number, asked) {
  const spots = {};
  for (const { name } of layout.spots) {
    const { cents = 0, decided: decision } = row?.wagers?.find((one) => one.spot === name) ?? {};
    const measured = decision === "back" ? [] : chipsFor(cents);
    const lying = chips ? (chips[`${number}/${name}`] ?? []) : measured;
    if (cents || lying.length || name === asked) {
      spots[name] = { cents, chips: lying, decision, asked: name === asked };
    }
  }
  return spots;
}

const sum = (amounts) => amounts.reduce((a, b) => a + b, 0);

/** What the table has measured, or what lies there before it has. */
const atStake = ({ cents, chips }) => cents || sum(chips);

function boardOf(layout, felt) {
  const board = [...(felt.board ?? [])];
  if (layout.board === 3 && board.length === 2) {
    board.splice(1, 0, felt.bonus ?? "");
  }
  while (board.length < layout.board) {
    board.push("");
  }
  return board;
}

function deviceOf({ jam, "lid open": lid, "cards left": left }, kind) {
  const trouble = jam ? "JAM" : lid ? "lid open" : "";
  return { kind, words: trouble || (left === undefined ? "" : `${left} left`), ok: !trouble };
}

/**
 * From feeds to what <uf-felt> draws, one form for live tables and past rounds.
 * `table`, `status`, `felt`, `lamps` as in the table's feed; `sim` the parts of the simulator's
 * (chips, acceptors, card_device, people), null at a real table and in the past.
 */
function feltState({ table, status = {}, felt = {}, lamps = [], sim = null }) {
  const layout = GAMES[table.game] ?? GAMES.MEGA;
  const phase = status.phase ?? "";
  const kind = table.card_device === "shuffler" ? "SHUFFLER" : "SHOE";
  const seats = (table.seats ?? [1, 2, 3, 4, 5, 6, 7]).map((number) => {
    const row = felt.rows?.find((one) => one.seat === number);
    const lamp = lamps.find((one) => one.seat === number)?.lamp ?? "off";
    const asked = lamp === "your turn" ? ASKED[phase] : "";
    const spots = spotsOf(layout, row, sim?.chips, number, asked);
    return {
      seat: number,
      lamp,
      note: row?.note ?? "",
      spots,
      stake: sum(Object.values(spots).map((one) => (one.decision === "back" ? 0 : atStake(one)))),
      credits: row?.credits,
      enabled: sim?.acceptors?.[number],
      cards: row?.cards ?? [],
      who: sim?.people?.seats?.[number],
    };
  });
  const pot = sim?.chips["0/pot"] ?? chipsFor(felt.pot_cents ?? 0);
  return {
    game: table.game ?? "MEGA",
    title: table.title ?? "",
    round: status.round ?? 0,
    phase,
    seats,
    board: boardOf(layout, felt),
    pot: { cents: felt.pot_cents ?? sum(pot), chips: pot },
    device: deviceOf(sim?.card_device ?? {}, kind),
  };
}

// ---- felt ----------------------------------------------------------------------------------------

// <uf-felt>: the table as a person behind the players sees it. The dealer is above; seat 1 is at
// the dealer's left, the viewer's right; seats run clockwise. `state` is made by feltState of
// this file. With the attribute `playable`, spots, acceptors and the card device are buttons: they
// send the event `play` with {act: "place" | "take" | "credit" | "deal", seat, spot}.

const CX = 600;
const CY = 92;
const RX = 530;
const RY = 622;
const RAIL = 46;
const ANGLES = [15, 39, 64.5, 90, 115.5, 141, 165];
const APART = 49;
const RADIANS = Math.PI / 180;

/** A point so deep inside the rail, before the seat at this angle; `aside` along the rail. */
function point(angle, depth, aside = 0) {
  const inside = 1 - depth / 535;
  const [x, y] = [Math.cos(angle * RADIANS), Math.sin(angle * RADIANS)];
  return [CX + RX * inside * x + y * aside, CY + RY * inside * y - x * aside];
}

const put = ([x, y], more = "") => `translate(${x.toFixed(1)} ${y.toFixed(1)})${more}`;

// ---- cards --------------------------------------------------------------------------------------

const PIPS = {
  h:
    "M12 21.5C-2.6 12.6.9 3 7.1 3 9.6 3 11.3 4.6 12 6.4 12.7 4.6 14.4 3 16.9 3 " +
    "23.1 3 26.6 12.6 12 21.5Z",
  d: "M12 1.5 20.3 12 12 22.5 3.7 12Z",
  s:
    "M12 1.8S2.6 9.6 2.6 14.9c0 3.1 2.4 4.8 4.9 4.8 1.9 0 3.2-1 3.8-2-.1 2-.9 3.6-2.5 4.6h6.4" +
    "c-1.6-1-2.4-2.6-2.5-4.6.6 1 1.9 2 3.8 2 2.5 0 4.9-1.7 4.9-4.8C21.4 9.6 12 1.8 12 1.8Z",
  c:
    "M12 1.8a4.8 4.8 0 0 1 3.5 8.1A4.8 4.8 0 1 1 12.8 17c.1 2.2.9 4 2.4 5.3H8.8c1.5-1.3 2.3-3.1 " +
    "2.4-5.3a4.8 4.8 0 1 1-2.7-7.1A4.8 4.8 0 0 1 12 1.8Z",
};
const CARD = { x: -23, y: -32, width: 46, height: 64, rx: 5 };
const INNER = { x: -19.5, y: -28.5, width: 39, height: 57, rx: 3 };

function corner(rank, suit) {
  const squeezed = rank === "10" ? { textLength: 13, lengthAdjust: "spacingAndGlyphs" } : {};
  return [
    s("text.rank", { x: -16.5, y: -15, ...squeezed }, rank),
    s("path", { d: PIPS[suit], transform: "translate(-21 -12) scale(.38)" }),
  ];
}

function card(name, transform, classes = "") {
  const shadow = s("rect.shadow", { ...CARD, transform: "translate(1.5 2.5)" });
  if (name === HIDDEN) {
    return s(
      "g",
      { transform, class: `card ${classes}` },
      shadow,
      s("rect", { ...CARD, fill: "#f7f4ec" }),
      s("rect.back", { ...INNER, fill: "url(#uf-back)" }),
    );
  }
  const rank = name[0] === "T" ? "10" : name[0];
  const suit = name[1];
  const colour = suit === "h" || suit === "d" ? "red" : "black";
  return s(
    "g",
    { transform, class: `card ${colour} ${classes}` },
    shadow,
    s("rect.paper", { ...CARD, fill: "url(#uf-paper)" }),
    corner(rank, suit),
    s("g", { transform: "rotate(180)" }, corner(rank, suit)),
    s("path", { d: PIPS[suit], transform: "translate(-11.5 -11.5) scale(.96)" }),
  );
}

// ---- chips --------------------------------------------------------------------------------------

/** Body, edge marks and print by value. */
const COLOURS = {
  100: ["#e9e4d6", "#8a8575", "#333"],
  500: ["#c8322f", "#fff3e6", "#fff"],
  1000: ["#2c63b8", "#fff3e6", "#fff"],
  2500: ["#1f8a4c", "#fff3e6", "#fff"],
  10000: ["#23262b", "#e8c36a", "#f3dc9f"],
  50000: ["#6b3fa0", "#fff3e6", "#fff"],
  100000: ["#e0a528", "#2a1c00", "#2a1c00"],
};
const OTHER = ["#777", "#fff", "#fff"];
const SHOWN = 7;
const RISE = 4.2;

function spokes(up) {
  let path = "";
  for (let n = 0; n < 8; n++) {
    const [x, y] = [Math.cos((n * Math.PI) / 4 + 0.3), Math.sin((n * Math.PI) / 4 + 0.3)];
    path += `M${(x * 12.2).toFixed(1)} ${(up + y * 8.3).toFixed(1)}`;
    path += `L${(x * 16.6).toFixed(1)} ${(up + y * 11.2).toFixed(1)}`;
  }
  return path;
}

/** What is on top of a chip that lies at this height. */
function face(cents, up) {
  const [, mark, print] = COLOURS[cents] ?? OTHER;
  return [
    s("path", { d: spokes(up), stroke: mark, "stroke-width": 3.6 }),
    s("ellipse.ring", { cy: up, rx: 10.5, ry: 7.1, stroke: mark }),
    s("text.value", { y: up + 3.3, fill: print }, short(cents)),
  ];
}

function stack(chips, place, classes = "") {
  const made = s("g", { transform: put(place), class: `chips ${classes}` });
  made.append(s("ellipse.shadow", { cx: 2.5, cy: 4, rx: 18, ry: 12.5 }));
  const shown = chips.slice(-SHOWN);
  shown.forEach((cents, n) => {
    const [body, mark] = COLOURS[cents] ?? OTHER;
    const up = -n * RISE;
    made.append(
      s("path.edge", { d: `M-17 ${up}v3.6a17 11.5 0 0 0 34 0v-3.6Z`, fill: body }),
      s("path", {
        d: `M-11.5 ${up + 8.2}v3.7M-3.5 ${up + 11}v3.7M4.5 ${up + 11}v3.7M12 ${up + 8}v3.7`,
        stroke: mark,
        "stroke-width": 3,
      }),
      s("ellipse.face", { cy: up, rx: 17, ry: 11.5, fill: body }),
    );
  });
  made.append(...face(shown.at(-1), (1 - shown.length) * RISE));
  return made;
}

/** One chip as a picture of its own, for choosing. */
function chipPicture(cents) {
  const [body, mark, print] = COLOURS[cents] ?? OTHER;
  const ring = Array.from({ length: 8 }, (_, n) => `rotate(${n * 45})`);
  return s(
    "svg.chip",
    { viewBox: "-20 -20 40 40", "aria-hidden": "true" },
    s("circle", { r: 18.5, fill: body, stroke: "#0008" }),
    ring.map((transform) =>
      s("path", { d: "M0-18.5V-13", stroke: mark, "stroke-width": 5, transform }),
    ),
    s("circle", { r: 11.5, fill: "none", stroke: mark, "stroke-opacity": 0.8 }),
    s("text", { y: 3.4, fill: print, class: cents >= 100000 ? "long" : null }, short(cents)),
  );
}

function pill(place, text, kind = "") {
  const width = 14 + text.length * 7.3;
  return s(
    "g",
    { transform: put(place), class: `pill ${kind}` },
    s("rect", { x: -width / 2, y: -10.5, width, height: 21, rx: 10.5 }),
    s("text", { y: 4.5 }, text),
  );
}

// ---- what never changes -------------------------------------------------------------------------

const outline = (more, top) =>
  `M${CX - RX - more} ${top}H${CX + RX + more}V${CY}` +
  `A${RX + more} ${RY + more} 0 0 1 ${CX - RX - more} ${CY}Z`;

/** `stops`: offset, colour and perhaps opacity of each, with commas between them. */
function gradient(kind, id, place, stops) {
  const made = stops.split(", ").map((stop) => {
    const [offset, colour, opacity] = stop.split(" ");
    return s("stop", { offset, "stop-color": colour, "stop-opacity": opacity });
  });
  return s(`${kind}Gradient`, { id: `uf-${id}`, ...place }, made);
}

function pattern(id, size, more, ...drawn) {
  const place = { id: `uf-${id}`, width: size, height: size, patternUnits: "userSpaceOnUse" };
  return s("pattern", { ...place, ...more }, drawn);
}

function defs(deck) {
  const [body, line] = deck === "blue" ? ["#1f3f8f", "#6f8fd8"] : ["#a51d24", "#d9646a"];
  const cloth = "0 #1c7a55, .45 #125c41, .8 #0b4230, 1 #073022";
  const leather = "0 #2c201a, .55 #3d2a20, .86 #4e3527, 1 #22170f";
  const light = "0 #ffe08a .34, .6 #ffe08a .12, 1 #ffe08a 0";
  return s(
    "defs",
    pattern(
      "back",
      7,
      { patternTransform: "rotate(45)" },
      s("rect", { width: 7, height: 7, fill: body }),
      s("path", { d: "M0 0H7M0 0V7", stroke: line, "stroke-width": 1.3 }),
      s("rect", { x: 2.5, y: 2.5, width: 2.2, height: 2.2, fill: line, opacity: 0.8 }),
    ),
    pattern(
      "weave",
      4,
      {},
      s("path", { d: "M0 0h2v2h-2ZM2 2h2v2h-2Z", opacity: 0.055 }),
      s("path", { d: "M2 0h2v2h-2Z", fill: "#fff", opacity: 0.018 }),
    ),
    gradient("radial", "cloth", { cy: 0.3, r: 0.8 }, cloth),
    gradient("linear", "leather", { x2: 0, y2: 1 }, leather),
    gradient("linear", "paper", { y2: 1 }, "0 #fff, 1 #efeadd"),
    gradient("linear", "round", {}, "0 #000 .5, .3 #fff .18, .6 #000 0, 1 #000 .55"),
    gradient("radial", "light", {}, light),
  );
}

function furniture(layout) {
  const inner = outline(0, 44);
  const [title, below] = layout.art;
  const high = layout.pot ? 158 : layout.spots.length > 3 ? 238 : 258;
  const arc = (id, rx, ry) =>
    s("path", {
      id: `uf-${id}`,
      d: `M${CX - rx} ${high}A${rx} ${ry} 0 0 0 ${CX + rx} ${high}`,
      fill: "none",
    });
  const along = (id, classes, text) =>
    s(
      "text",
      { class: classes },
      s("textPath", { href: `#uf-${id}`, startOffset: "50%", "text-anchor": "middle" }, text),
    );
  return s(
    "g",
    { "aria-hidden": "true" },
    s("path.floor", { d: outline(RAIL, 44) }),
    s("path", { d: outline(RAIL, 44), fill: "url(#uf-leather)" }),
    s("path.piping", {
      d: `M${CX - RX - 23} ${CY}A${RX + 23} ${RY + 23} 0 0 0 ${CX + RX + 23} ${CY}`,
    }),
    s("path", { d: inner, fill: "url(#uf-cloth)" }),
    s("path", { d: inner, fill: "url(#uf-weave)" }),
    s("path.inner", { d: inner }),
    s("path.line", { d: outline(-38, 60) }),
    arc("arc-1", 262, 106),
    arc("arc-2", 300, 134),
    along("arc-1", layout.pot ? "art-1 small" : "art-1", title),
    along("arc-2", "art-2", below),
    tray(),
  );
}

function tray() {
  const values = [100, 500, 500, 1000, 2500, 2500, 10000, 10000, 50000, 100000];
  const made = s("g", { transform: "translate(600 70)" });
  made.append(s("rect.tray", { x: -186, y: -18, width: 372, height: 40, rx: 7 }));
  values.forEach((cents, n) => {
    const [body, mark] = COLOURS[cents];
    const box = { x: -181.5 + n * 37, y: -13, width: 30, height: 30, rx: 3.5 };
    const rims = Array.from({ length: 8 }, (_, k) => `M${box.x} ${-10.8 + k * 3.8}h30`).join("");
    made.append(
      s("rect", { ...box, fill: body }),
      s("path", { d: rims, stroke: "#0005", "stroke-width": 0.8 }),
      s("path", {
        d: `M${box.x + 8} -13v30M${box.x + 22} -13v30`,
        stroke: mark,
        "stroke-width": 3,
        "stroke-opacity": 0.75,
      }),
      s("rect", { ...box, fill: "url(#uf-round)" }),
    );
  });
  return made;
}

// ---- the element --------------------------------------------------------------------------------

const DARK = new Set(["off", ""]);

function handWords(cards) {
  if (!cards.length) {
    return "";
  }
  const hidden = cards.filter((one) => one === HIDDEN).length;
  if (hidden === cards.length) {
    return `${hidden} cards face down`;
  }
  return `cards ${cards.map(cardWords).join(", ")}`;
}

/** What a person would say who looks at this seat. */
function seatWords(seat, layout) {
  const wagers = layout.spots
    .filter(({ name }) => seat.spots[name]?.cents || seat.spots[name]?.chips.length)
    .map(({ name, words }) => `${words} ${spotWords(seat.spots[name])}`);
  const found = [
    DARK.has(seat.lamp) ? "lamp off" : seat.lamp,
    ...wagers,
    seat.credits ? `${seat.credits} on the progressive` : "",
    handWords(seat.cards),
    seat.note,
    seat.who === "paused" ? "bot paused" : "",
  ];
  return `Seat ${seat.seat}: ${found.filter(Boolean).join(", ")}`;
}

function spotWords(spot) {
  if (!spot) {
    return "empty";
  }
  if (spot.decision === "back") {
    return "taken back";
  }
  const cents = atStake(spot);
  return [cents ? money(cents) : "empty", spot.decision].filter(Boolean).join(" ");
}

class Felt extends HTMLElement {
  #svg = null;
  #game = "";
  #groups = new Map();
  #drawn = new Map();
  #before = {};

  set state(state) {
    if (!this.#svg || this.#game !== state.game) {
      this.#build(state);
    }
    const label = `${state.title}, round ${state.round}: ${state.phase}`;
    this.#svg.setAttribute("aria-label", label);
    this.#draw("dealer", [state.board, state.pot, state.device], (old) =>
      this.#dealer(state, old),
    );
    for (const seat of state.seats) {
      this.#draw(`seat-${seat.seat}`, seat, (old) => this.#seat(seat, old));
    }
  }

  #build(state) {
    this.#game = state.game;
    this.layout = GAMES[state.game] ?? GAMES.MEGA;
    this.#drawn.clear();
    this.#before = {};
    this.#svg = s("svg", {
      viewBox: "-22 22 1244 768",
      preserveAspectRatio: "xMidYMid meet",
      role: "group",
    });
    this.#svg.append(defs(this.layout.pot ? "blue" : "red"), furniture(this.layout));
    for (const name of ["dealer", ...state.seats.map((seat) => `seat-${seat.seat}`)]) {
      const group = s("g", { class: name.split("-")[0] });
      this.#groups.set(name, group);
      this.#svg.append(group);
    }
    this.replaceChildren(this.#svg);
  }

  /** Draws a group again only if what it shows has changed; focus stays where it was. */
  #draw(name, value, make) {
    const said = JSON.stringify([value, this.playable]);
    if (this.#drawn.get(name) === said) {
      return;
    }
    this.#drawn.set(name, said);
    const group = this.#groups.get(name);
    const held = group.contains(document.activeElement) ? document.activeElement.dataset.at : "";
    group.replaceChildren(...make(this.#before[name]));
    this.#before[name] = structuredClone(value);
    if (held) {
      group.querySelector(`[data-at="${CSS.escape(held)}"]`)?.focus();
    }
  }

  get playable() {
    return this.hasAttribute("playable");
  }

  #play(act, seat, spot) {
    this.dispatchEvent(new CustomEvent("play", { detail: { act, seat, spot }, bubbles: true }));
  }

  /** A clear shape over the drawing: a button that does `act`, with Delete `other`. */
  #button(shape, key, label, act, other = null) {
    if (!this.playable) {
      return null;
    }
    const [name, place] = shape;
    return s(name, {
      ...place,
      class: "hit",
      role: "button",
      tabindex: 0,
      "data-at": key,
      "aria-label": label,
      onclick: (event) => (event.shiftKey && other ? other() : act()),
      oncontextmenu: (event) => {
        event.preventDefault();
        (other ?? act)();
      },
      onkeydown: (event) => {
        const chosen = { Enter: act, " ": act, Delete: other, Backspace: other }[event.key];
        if (chosen) {
          event.preventDefault();
          event.stopPropagation();
          chosen();
        } else {
          this.#step(event);
        }
      },
    });
  }

  /** Arrow keys walk from button to button as the eye does. */
  #step(event) {
    const to = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[
      event.key
    ];
    if (!to) {
      return;
    }
    event.preventDefault();
    const middle = (one) => {
      const box = one.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const [x, y] = middle(event.currentTarget);
    let best = null;
    let least = Infinity;
    for (const one of this.querySelectorAll("[data-at]")) {
      const [dx, dy] = [middle(one)[0] - x, middle(one)[1] - y];
      const ahead = dx * to[0] + dy * to[1];
      const beside = Math.abs(dx * to[1]) + Math.abs(dy * to[0]);
      if (ahead > 2 && ahead + 2 * beside < least) {
        least = ahead + 2 * beside;
        best = one;
      }
    }
    best?.focus();
  }

  // ---- the dealer's side ------------------------------------------------------------------------

  #dealer(state, old) {
    return [
      this.#board(state.board, old?.[0] ?? state.board),
      this.layout.pot && this.#pot(state.pot),
      this.#device(state.device),
      this.#discards(),
    ].filter(Boolean);
  }

  #board(cards, old) {
    const apart = cards.length > 3 ? 70 : 82;
    const names = cards.filter(Boolean).map(cardWords);
    const said = `${this.layout.caption.toLowerCase()}: ${names.join(", ") || "none"}`;
    const made = s("g", { role: "img", "aria-label": said });
    cards.forEach((name, n) => {
      const x = CX + (n - (cards.length - 1) / 2) * apart;
      made.append(s("rect.box", { x: x - 33, y: 118, width: 66, height: 90, rx: 7 }));
      if (name) {
        const fresh = old[n] !== name ? (name === HIDDEN ? "dealt" : "fresh") : "";
        made.append(card(name, `translate(${x} 163) scale(1.26)`, fresh));
      } else {
        made.append(s("text.ghost", { x, y: 172 }, n + 1));
      }
    });
    made.append(s("text.caption", { x: CX, y: 228 }, this.layout.caption));
    return made;
  }

  #pot({ cents, chips }) {
    const label = `pot ${money(cents)}`;
    const kinds = [...new Set(chips)].slice(0, 3);
    const made = s(
      "g",
      { role: "img", "aria-label": label },
      s("circle.spot.pot", { cx: CX, cy: 350, r: 44 }),
      s("text.caption", { x: CX, y: 410 }, "POT"),
      kinds.map((value, n) => {
        const same = chips.filter((one) => one === value);
        return stack(same, [CX + (n - (kinds.length - 1) / 2) * 36, 352]);
      }),
      cents ? pill([CX, 299], money(cents), "gold") : null,
    );
    const button = this.#button(
      ["circle", { cx: CX, cy: 350, r: 44 }],
      "pot",
      label,
      () => this.#play("place", 0, "pot"),
      () => this.#play("take", 0, "pot"),
    );
    return s("g", made, button);
  }

  #device({ kind, words, ok }) {
    const label = `${kind.toLowerCase()}, ${words || "ready"}: deal`;
    const body = "M-44-26h74l22 15v30l-22 15h-74a6 6 0 0 1-6-6v-48a6 6 0 0 1 6-6Z";
    return s(
      "g",
      { transform: "translate(848 96) rotate(12)" },
      s("path.shoe", { d: body }),
      s("path.mouth", { d: "M30-24 50-10v28L30 32Z" }),
      card(HIDDEN, "translate(46 4) rotate(78) scale(.5)"),
      s("path.gloss", { d: "M-40-20h64" }),
      s("text.name", { x: -9, y: 0 }, kind),
      s("text", { x: -9, y: 16, class: ok ? "count" : "count bad" }, words),
      ok
        ? s("circle.led", { cx: -40, cy: -16, r: 4 })
        : s("path.led.bad", { d: "M-44-12l4-8 4 8Z" }),
      this.#button(["path", { d: body }], "device", label, () => this.#play("deal", 0, "")),
    );
  }

  #discards() {
    return s(
      "g",
      { "aria-hidden": "true" },
      s(
        "g",
        { transform: "translate(354 98) rotate(-12)" },
        s("rect.rack", { x: -40, y: -34, width: 80, height: 66, rx: 6 }),
      ),
      s("text.count", { x: 362, y: 150 }, "discards"),
    );
  }

  // ---- a seat -----------------------------------------------------------------------------------

  #seat(seat, old) {
    const angle = ANGLES[seat.seat - 1];
    const group = this.#groups.get(`seat-${seat.seat}`);
    const lamp = seat.lamp.replace(" ", "-") || "off";
    group.setAttribute("class", `seat lamp-${lamp}`);
    group.setAttribute("role", this.playable ? "group" : "img");
    group.setAttribute("aria-label", seatWords(seat, this.layout));
    group.dataset.seat = seat.seat;
    const [lightX, lightY] = point(angle, 118);
    const light = {
      cx: lightX,
      cy: lightY,
      rx: 118,
      ry: 112,
      fill: "url(#uf-light)",
      class: "light",
    };
    return [
      seat.lamp === "your turn" && s("ellipse", light),
      ...this.layout.spots.map((spot) => this.#spot(seat, spot, angle, old)),
      this.layout.acceptor && this.#acceptor(seat, angle),
      this.#hand(seat, angle, old),
      this.#plate(seat, angle),
      seat.stake && this.#stake(seat, angle),
    ].filter(Boolean);
  }

  #spot(seat, { name, label, words, column, row }, angle, old) {
    const here = seat.spots[name];
    const back = here?.decision === "back";
    const classes = ["spot", here?.asked ? "asked" : "", back ? "back" : ""].join(" ");
    const said = `Seat ${seat.seat}, ${words}: ${spotWords(here)}`;
    const [x, y] = point(angle, 186 + row * 46, column * APART);
    const more = here?.chips.length > (old?.spots[name]?.chips.length ?? 0);
    const inward = Math.abs(Math.cos(angle * RADIANS)) > 0.5 ? 218 : 156;
    const [wordX, wordY] = back ? [x, y + 12] : point(angle, inward, column * APART);
    const made = s(
      "g",
      s("circle", { cx: x, cy: y, r: 22, class: classes }),
      s(
        "text",
        { x, y: y + (back ? 2 : 5.8), class: label.length > 2 ? "label long" : "label" },
        label,
      ),
      here?.chips.length ? stack(here.chips, [x, y - 1], old && more ? "put" : "") : null,
      here?.decision && s("text.tiny", { x: wordX, y: wordY + 3 }, here.decision),
    );
    const button = this.#button(
      ["circle", { cx: x, cy: y, r: 24 }],
      `${seat.seat}/${name}`,
      said,
      () => this.#play("place", seat.seat, name),
      () => this.#play("take", seat.seat, name),
    );
    return s("g", made, button);
  }

  #acceptor(seat, angle) {
    const [x, y] = point(angle, 30);
    const state = seat.credits ? "in" : seat.enabled ? "ready" : "";
    const label = `Seat ${seat.seat}, progressive: ${seat.credits || "no"} credit`;
    return s(
      "g",
      s(
        "g",
        s("circle", { cx: x, cy: y, r: 14, class: `acceptor ${state}` }),
        s("rect.slot", { x: x - 6.5, y: y - 1.3, width: 13, height: 2.6, rx: 1.3 }),
        seat.credits
          ? [
              s("circle.credit", { cx: x + 11, cy: y - 11, r: 9 }),
              s("text.credits", { x: x + 11, y: y - 7 }, seat.credits),
            ]
          : null,
      ),
      this.#button(["circle", { cx: x, cy: y, r: 18 }], `${seat.seat}/credit`, label, () =>
        this.#play("credit", seat.seat, ""),
      ),
    );
  }

  #hand(seat, angle, old) {
    const many = seat.cards.length;
    const step = many > 3 ? 27 : 37;
    const made = s("g.hand", {
      transform: put(point(angle, 104), ` rotate(${((angle - 90) * 0.86).toFixed(1)})`),
});
    seat.cards.forEach((name, n) => {
      const from = n - (many - 1) / 2;
      const before = old?.cards[n];
      const fresh = before === name || !old ? "" : before ? "fresh" : "dealt";
      const turn = `translate(${from * step} ${Math.abs(from) * 2}) rotate(${from * 4}) scale(1.06)`;
      made.append(card(name, turn, fresh));
    });
    return made;
  }

  #plate(seat, angle) {
    const word = DARK.has(seat.lamp) ? "" : seat.lamp;
    const more = seat.note && !word.includes(seat.note) ? seat.note : "";
    const text = [word, more].filter(Boolean).join(" · ");
    const width = text ? 50 + text.length * 7.4 : 44;
    const [x, y] = point(angle, -23);
    const side = Math.cos(angle * RADIANS);
    const inward = Math.abs(side) > 0.9 ? -Math.sign(side) * Math.max(0, width / 2 - 46) : 0;
    return s(
      "g.plate",
      { transform: put([x + inward, y]) },
      s("rect", { x: -width / 2, y: -14, width, height: 28, rx: 14 }),
      s("circle.lamp", { cx: -width / 2 + 13.5, r: 6 }),
      s("text.no", { x: -width / 2 + 25, y: 5 }, seat.seat),
      text && s("text.word", { x: -width / 2 + 39, y: 4.7 }, text),
    );
  }

  #stake(seat, angle) {
    const side = Math.cos(angle * RADIANS);
    const beside = Math.abs(side) > 0.9 ? 36 * Math.sign(side) : 0;
    // Farther in where the words of decisions are between it and the spots.
    const inward = Math.abs(side) > 0.5 ? 274 : 244;
    const place = this.layout.acceptor ? point(angle, inward) : point(angle, 34, beside);
    return pill(place, money(seat.stake), seat.lamp === "your turn" ? "gold" : "");
  }
}

customElements.define("uf-felt", Felt);

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

// ==== a past round: the felt of the live table, moment by moment, with what is behind each ========

const LANES = ["dealer", "chips", "cards", "link, draw", "displays"];
const SHAPES = [
  (x, y) => `M${x - 2} ${y}h4v10h-4Z`,
  (x, y) => `M${x - 4} ${y + 5}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`,
  (x, y) => `M${x} ${y}l4 5l-4 5l-4 -5Z`,
  (x, y) => `M${x - 4} ${y + 9}h8l-4 -8Z`,
  (x, y) => `M${x - 0.7} ${y}h1.4v10h-1.4Z`,
];
const MARGIN = 66;
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
  const x = (ms) => MARGIN + ((width - MARGIN - 10) * (inside(ms) - begin)) / (end - begin);
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
      s("rect.lane", { x: MARGIN, y: y(lane), width: width - MARGIN - 10, height: 15 }),
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

await { table, replay }[page]();
