// A public sign: the amounts of one pool, and who won. It only shows; it never advises a play.
import { byId, follow, h, keyed, money, say } from "./core.js";
import "./odometer.js";

const WON_MS = 600000;
/** What the sign itself says, in the languages of the house's texts as far as it knows them. */
const WORDS = {
  en: { pending: "PENDING", win: "WIN", table: "Table", checked: "is being verified" },
  de: { pending: "IN PRÜFUNG", win: "GEWINN", table: "Tisch", checked: "wird geprüft" },
};
const WAITS = ["claimed", "locked", "verified"];
const WON = ["approved", "paid"];

const pool = decodeURIComponent(location.pathname.split("/")[2] ?? "");
const FEED = `sign:${pool}`;
let stream = null;
const words = (name) => name.replace(/[-_.]+/g, " ");

say(byId("pool"), words(pool));
document.title = `${words(pool)} jackpot - Underfelt`;
for (const id of ["amount", "levels", "won"]) {
  byId(id).dataset.feed = FEED;
}

/** A word in every language, with its own `lang`. */
function said(word) {
  const known = Object.keys(stream?.part(FEED, "texts") ?? {}).filter((lang) => lang in WORDS);
  return (known.length ? known : ["en"]).flatMap((lang, n) => [
    n ? " · " : "",
    h("span", { lang }, WORDS[lang][word]),
  ]);
}

const waiting = (meter) => (meter.pending ? h("b.pending", said("pending")) : null);

function drawMeters([first, ...others] = []) {
  byId("grand").hidden = !first;
  if (first) {
    byId("grand").cents = first.cents;
  }
  const parts = others.length ? [words(first.level), waiting(first)] : [first && waiting(first)];
  byId("first").replaceChildren(...parts.filter(Boolean));
  const known = new Map([...byId("levels").children].map((one) => [one.dataset.level, one]));
  byId("levels").replaceChildren(
    ...others.map((meter) => {
      const made = known.get(meter.level) ?? levelBox(meter);
      made.querySelector("uf-odometer").cents = meter.cents;
      made.querySelector("small").replaceChildren(waiting(meter) ?? "");
      return made;
    }),
  );
}

function levelBox({ level }) {
  const title = words(level);
  return h(
    "li",
    { "data-level": level },
    h("span", title),
    h("uf-odometer", { label: title }),
    h("small"),
  );
}

/** The latest award: being verified, or won by the word of two people. */
function drawAwards(awards) {
  const fresh = awards.filter(
    (one) => WAITS.includes(one.state) || (WON.includes(one.state) && Date.now() - one.locked_ms < WON_MS),
  );
  const [latest] = fresh.sort((a, b) => b.at_ms - a.at_ms);
  byId("won").hidden = !latest;
  if (!latest) {
    return;
  }
  const won = WON.includes(latest.state);
  keyed(byId("won"), [latest], (one) => one.award, (one) =>
    h(
      "span",
      { class: won ? "win" : "pending" },
      h("b", said(won ? "win" : "pending")),
      h("span", said("table"), ` ${one.table}`),
      one.cents ? h("span.num", `$${money(one.cents)}`) : null,
      h("i", won ? words(one.level) : said("checked")),
    ),
  );
}

function drawTexts(texts) {
  const made = Object.entries(texts).map(([lang, text]) => h("span", { lang }, text));
  byId("texts").replaceChildren(...made);
}

stream = follow([FEED], ({ parts }) => {
  if (parts.texts) {
    drawTexts(parts.texts);
  }
  if ("meters" in parts) {
    drawMeters(parts.meters);
  }
  if ("awards" in parts) {
    drawAwards(parts.awards ?? []);
  }
});
stream.addEventListener("missing", () => {
  say(byId("first"), `There is no pool ${pool} here.`);
  byId("amount").hidden = true;
});
setInterval(() => drawAwards(stream.part(FEED, "awards") ?? []), 10000);
drawAwards([]);
