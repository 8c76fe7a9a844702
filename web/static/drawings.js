// The drawings: displays, felt, plots.
//
// The displays as they are: drawn from the memory of the display boards and from nothing else.
//   <uf-segments>  three HT16K33 modules of 16 bytes: twelve little-endian words (ht16k33.md 3)
//   <uf-matrix>    one HT16K33, 16 bytes: eight column words, bit 0 the top line (ht16k33.md 4)
//   <uf-lcd>       HD44780: 4 x 20 character codes and 64 bytes of own characters (hd44780.md 2)
//   <uf-odometer>  an amount as rolling digits; this one is no board's
// data-memory is the hex that is drawn. data-text is read back from the same bytes,
// blank where a board is off.
import { h, money, s, short } from "./core.js";

const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));

export const hexOf = (byte) => byte.toString(16).padStart(2, "0");

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
export function moduleOf(text) {
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
export function matrixOf(card) {
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

// ---- the odometer -------------------------------------------------------------------------------

const TURN = "01234567890";

class Odometer extends HTMLElement {
  #shape = "";
  #reels = [];

  /** An amount; digits that change roll. */
  set cents(value) {
    const text = money(Math.floor(value));
    const shape = text.replace(/\d/g, "0");
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.#build(text);
    }
    [...text]
      .filter((one) => one >= "0" && one <= "9")
      .forEach((digit, n) => roll(this.#reels[n], digit));
    this.dataset.text = text;
    this.setAttribute("role", "img");
    this.setAttribute("aria-label", `${this.getAttribute("label")} $${text}`);
  }

  #build(text) {
    this.#reels = [];
    const cells = [...text].map((one) => {
      if (one < "0" || one > "9") {
        return h("i.sep", one);
      }
      const reel = h("span", [...TURN].map((digit) => h("i", digit)));
      turn(reel, one);
      this.#reels.push(reel);
      return h("b", reel);
    });
    this.replaceChildren(h("span.reels", { "aria-hidden": "true" }, h("em", "$"), cells));
  }
}

function turn(reel, at) {
  reel.dataset.at = at;
  reel.style.setProperty("--at", at);
}

/** A reel turns upwards only: from 9 to the second 0, then unseen back to the first. */
function roll(reel, digit) {
  if (reel.dataset.at === "10") {
    reel.classList.add("still");
    turn(reel, "0");
    reel.getBoundingClientRect();
    reel.classList.remove("still");
  }
  if (reel.dataset.at !== digit) {
    turn(reel, reel.dataset.at === "9" && digit === "0" ? "10" : digit);
  }
}

customElements.define("uf-segments", Segments);
customElements.define("uf-matrix", Matrix);
customElements.define("uf-lcd", Lcd);
customElements.define("uf-odometer", Odometer);

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

export const GAMES = {
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

export const CHIPS = [100, 500, 1000, 2500, 10000, 50000, 100000];

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
export function feltState({ table, status = {}, felt = {}, lamps = [], sim = null }) {
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
// games.js. With the attribute `playable`, spots, acceptors and the card device are buttons: they
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
function at(angle, depth, aside = 0) {
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
export function chipPicture(cents) {
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
    const [lightX, lightY] = at(angle, 118);
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
    const [x, y] = at(angle, 186 + row * 46, column * APART);
    const more = here?.chips.length > (old?.spots[name]?.chips.length ?? 0);
    const inward = Math.abs(Math.cos(angle * RADIANS)) > 0.5 ? 218 : 156;
    const [wordX, wordY] = back ? [x, y + 12] : at(angle, inward, column * APART);
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
    const [x, y] = at(angle, 30);
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
      transform: put(at(angle, 104), ` rotate(${((angle - 90) * 0.86).toFixed(1)})`),
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
    const [x, y] = at(angle, -23);
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
    const place = this.layout.acceptor ? at(angle, inward) : at(angle, 34, beside);
    return pill(place, money(seat.stake), seat.lamp === "your turn" ? "gold" : "");
  }
}

customElements.define("uf-felt", Felt);

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
