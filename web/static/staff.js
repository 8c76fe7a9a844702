// The bar at the top, the same on every page; notices; icons; clauses.
import {
  byId,
  clock,
  dayAndClock,
  dayAndTime,
  get,
  h,
  lasting,
  money,
  post,
  remove,
  s,
  say,
  STALE_MS,
} from "./core.js";

const OPEN_TO_ALL = /^\/(login|sign)\b/;

/** Who is signed in here. A page that needs somebody waits here while the login page loads. */
const session = await get("session").catch(() => ({}));
if (session.login_required && !session.signed_in && !OPEN_TO_ALL.test(location.pathname)) {
  location.replace(toLogin());
  await new Promise(() => {});
}

function toLogin() {
  return `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
}

const PAGES = [
  ["floor", "Floor"],
  ["table", "Table"],
  ["jackpots", "Jackpots"],
  ["replay", "Replay"],
  ["reports", "Reports"],
  ["audit", "Audit"],
];
const ICONS = {
  ok: "M3 8.5 6.5 12 13 4.5",
  warn: "M8 3v6M8 12.2v.6",
  bad: "M4 4l8 8M12 4l-8 8",
  info: "M8 4.2v.6M8 7v5.5",
  clock: "M8 4v4.5l3 2",
};
const HERE_MS = 60000;

export function icon(name) {
  return s(
    "svg",
    { viewBox: "0 0 16 16", class: `ico ${name}`, "aria-hidden": "true" },
    s("circle", { cx: 8, cy: 8, r: 7.2 }),
    s("path", { d: ICONS[name] }),
  );
}

export const tag = (kind, ...children) => h("span", { class: `tag ${kind}` }, children);

function brand() {
  const picture = h("img", { src: "/static/favicon.svg", alt: "" });
  return h("a.brand", { href: "/" }, picture, "Underfelt");
}

/** Fills <header class="top">. `table`: where the links Table and Replay lead. */
export class Shell {
  #links = {};
  #tags = h("div.tags");
  #live = h("span.live", { role: "status", "aria-live": "off" }, "connecting");
  #time = h("time.num.ink2.hide-s");
  #who = h("a.who", { href: "/login" });

  constructor(current, { table = "" } = {}) {
    const nav = h("nav", { "aria-label": "pages" });
    for (const [name, text] of PAGES) {
      const here = name === current ? "page" : null;
      this.#links[name] = h("a", { href: `/${name}`, "aria-current": here }, text);
      nav.append(this.#links[name]);
    }
    this.#lead(table);
    document
      .querySelector("header.top")
      .append(
        h("a.skip", { href: "#page" }, "To the content"),
        brand(),
        nav,
        h("span.grow"),
        this.#tags,
        this.#live,
        this.#time,
        this.#who,
      );
    this.#session();
    this.#stayHere();
  }

  tags(...made) {
    this.#tags.replaceChildren(...made.filter(Boolean));
  }

  /** A number beside a page's name; 0 takes it away. */
  badge(page, count) {
    const link = this.#links[page];
    link.querySelector(".badge")?.remove();
    if (count) {
      link.append(h("b.badge", count));
    }
  }

  /** Say how old the stream's feeds are, that one reloaded, that the session ended. */
  follow(stream) {
    stream.addEventListener("tick", () => {
      const age = stream.oldest();
      const stale = age > STALE_MS;
      say(this.#live, stale ? `STALE ${lasting(age)}` : `live ${lasting(age)}`);
      say(this.#time, dayAndClock());
      this.#live.dataset.state = stale ? "stale" : "live";
      this.#tags.classList.toggle("stale", stale);
    });
    stream.addEventListener("reloaded", (event) => {
      notice(`Reloaded ${event.detail}: some events before this moment are not listed here.`);
    });
    stream.addEventListener("end", () => {
      location.assign(toLogin());
    });
    stream.addEventListener("missing", (event) => {
      notice(`This server does not follow ${event.detail}.`);
    });
  }

  /** Where Table and Replay lead: to this page's table, or to the first that is followed here. */
  async #lead(table) {
    const { tables } = table ? {} : await get("tables").catch(() => ({ tables: [] }));
    const name = table || tables.find((row) => row.followed)?.name;
    this.#links.table.href = name ? `/table/${encodeURIComponent(name)}` : "/floor";
    this.#links.replay.href = name ? `/replay/${encodeURIComponent(name)}/last` : "/floor";
  }

  #session() {
    const { signed_in: known, role } = session;
    const name = known ? session.name : "visitor";
    this.#who.replaceChildren(
      h("i", { "aria-hidden": "true" }, name.match(/\b\w/g).slice(0, 2).join("").toUpperCase()),
      h("span.sr-s", known ? `${name} · ${role}` : name),
      h("span.sr", known ? ": your session" : ": sign in"),
    );
  }

  /** A session lasts while a person is there; an open page alone does not keep it. */
  #stayHere() {
    let last = performance.now();
    const touched = () => {
      if (session.signed_in && performance.now() - last > HERE_MS) {
        last = performance.now();
        get("session?here=yes").catch(() => null);
      }
    };
    addEventListener("pointerdown", touched, { passive: true });
    addEventListener("keydown", touched, { passive: true });
  }
}

/** A sentence across the page until somebody has read it, or for a while. */
function notice(text, ms = 0) {
  const said = document.querySelector(".notice") ?? h("div.notice", { role: "status" });
  const shut = h(
    "button.btn.small",
    { onclick: () => said.remove() },
    "Read",
  );
  said.replaceChildren(icon("info"), h("span", text), shut);
  document.body.append(said);
  clearTimeout(said.timer);
  said.timer = ms && setTimeout(() => said.remove(), ms);
}

/** A dialog that the Escape key and a button close; removed when it closes. */
export function dialog(title, ...children) {
  const made = h(
    "dialog",
    { "aria-label": title, onclose: () => made.remove() },
    h("header", h("h2", title), h("button.btn.small", { onclick: () => made.close() }, "Close")),
    h("div.body", children),
  );
  document.body.append(made);
  made.showModal();
  return made;
}

/** A clause's id; its text on request. */
export function clause(id) {
  const path = `clauses/${encodeURIComponent(id)}`;
  const open = async (event) => {
    event.preventDefault();
    const found = await get(path).catch((error) => ({ text: error.message }));
    dialog(id, h("p", found.text));
  };
  return h("a.clause", { href: `/api/v1/${path}`, onclick: open }, id);
}

// ---- orders --------------------------------------------------------------------------------------

// Awards and orders of people: the five steps, and the dialog that asks for names and passwords.
// Nothing is sent before the dialog is answered; the link server judges roles and people.

const OPEN = ["claimed", "locked", "verified", "approved"];
export const isOpen = (award) => OPEN.includes(award.state);
export const hrefOf = (award) => `/jackpots/${award.award}`;
const TWO_ROLES = "Two people with different roles must approve.";

// ---- codes --------------------------------------------------------------------------------------

const codes = new Map();

/** What a code means and what to do: {meaning, action}; asked once. */
export function code(name) {
  if (!codes.has(name)) {
    codes.set(
      name,
      get(`codes/${encodeURIComponent(name)}`).catch(() => ({ meaning: "", action: "" })),
    );
  }
  return codes.get(name);
}

/** A refusal in words, with its code and what to do. */
export async function refusal(error) {
  const known = error.code?.startsWith("E-") && error.status ? await code(error.code) : {};
  return h(
    "span",
    icon("bad"),
    h("b", "Refused: "),
    `${error.message} `,
    error.code && h("code", error.code),
    known.action && h("span.do", known.action),
  );
}

// ---- an award -----------------------------------------------------------------------------------

/** Who approved what stands now; an amount that changed needs both again. */
function approvals(steps) {
  let found = [];
  let before = "";
  for (const step of steps) {
    const again = step.state === "verified" && before === "verified";
    if (again && !step.role) {
      found = [];
    } else if (step.state === "approved" || again) {
      found.push(step);
    }
    before = step.state;
  }
  return found;
}

/** The five steps: {name, is: "did" | "now" | "", who, when}. */
function fiveSteps(award) {
  const steps = award.steps ?? [];
  const at = (state) => steps.find((step) => step.state === state);
  const approved = approvals(steps);
  const reached = OPEN.indexOf(award.state);
  const over = reached < 0 && award.state !== "paid";
  const done = (state, name, now, wanted) => {
    const step = at(state);
    const next = !step && !over && OPEN[reached + 1] === state;
    return {
      name: step ? name : now,
      is: step ? "did" : next ? "now" : "",
      who: step ? step.by : wanted,
      when: step ? step.at_ms : null,
    };
  };
  const half = award.state === "verified" && approved.length === 1;
  const both = approved.map((step) => step.by).join(", ");
  const approve = done("approved", "Approved", "Approve", "2 people");
  const end = over
    ? { ...done(award.state, award.state === "rejected" ? "Rejected" : "Withdrawn", ""), is: "did" }
    : {
        ...done("paid", "Paid", "Pay", ""),
        is: at("paid") ? "did" : award.state === "approved" ? "now" : "",
      };
  return [
    done("claimed", "Claimed", "Claim", ""),
    done("locked", "Locked", "Lock", "server"),
    done("verified", "Verified", "Verify", "1 person"),
    half
      ? { name: "1 of 2", is: "now", who: both, when: approved[0].at_ms }
      : { ...approve, who: both || approve.who },
    end,
  ];
}

/** People and order of a row of the audit trail; one that cannot be read is listed all the same. */
export function orderOf(row) {
  try {
    const { by = [], order = {} } = JSON.parse(row.body);
    // An order of the office is a text of JSON inside the order.
    return { by, order: order.what === "office" ? JSON.parse(order.text) : order };
  } catch {
    return { by: [], order: { what: "unreadable" } };
  }
}

const SAID = { did: "done", now: "next", "": "to come" };

/** Steps with the first approval named as one: the record has it as a second `verified`. */
export function namedSteps(award) {
  const first = approvals(award.steps).find((step) => step.state === "verified");
  return award.steps.map((step) => (step === first ? { ...step, state: "approved, 1 of 2" } : step));
}

export function stepList(award, times = true) {
  return h(
    "ol.steps",
    { "aria-label": "steps" },
    fiveSteps(award).map(({ name, is, who, when }) =>
      h(
        "li",
        { class: is, "aria-current": is === "now" ? "step" : null },
        h("b", name),
        h("span.sr", `, ${SAID[is]}`),
        h("small", who),
        when && times && h("small.num", clock(when)),
      ),
    ),
  );
}

/** What people have to do next with it, in words; empty if nothing. */
export function nextWords(award) {
  const first = approvals(award.steps ?? [])[0];
  return {
    claimed: "The server waits for ties before it locks the amount.",
    locked: "Touch nothing. Compare deck, cards and wager.",
    verified: first
      ? `${first.by} (${first.role}) approved. A person with another role must too.`
      : TWO_ROLES,
    approved: "Pay against the signed slip, then record the payment.",
  }[award.state];
}

/** The next order: {what, label}; null if people have nothing to do. */
export function nextOrder(award) {
  const one = approvals(award.steps ?? []).length === 1;
  return {
    locked: { what: "verify", label: "Verify…" },
    verified: { what: "approve", label: one ? "Second approval…" : "Approve…" },
    approved: { what: "pay", label: "Record payment…" },
  }[award.state];
}

// ---- the dialog ---------------------------------------------------------------------------------

const BRIEF_MS = 8000;
let last = 0;

function field(label, attributes, name = "input") {
  const id = `field-${++last}`;
  const input = h(name, { id, ...attributes });
  return [input, h("div.field", h("label", { for: id }, label), input)];
}

function person(legend, known, required) {
  const [name, first] = field("Name", {
    name: "name",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    maxlength: 64,
    required,
    value: known,
  });
  const [password, second] = field("Password", {
    name: "password",
    type: "password",
    autocomplete: "off",
    maxlength: 1024,
    required,
  });
  return {
    box: h("fieldset.person", h("legend", legend), first, second),
    value: () => [name.value.trim(), password.value],
    clear: () => {
      password.value = "";
    },
    first: name.value ? password : name,
  };
}

/**
 * Ask who orders it. `people`: their legends; `optional`: the last one may be left out; `text`:
 * {label, required} of the reason; `final`: why it cannot be taken back. `send(by, text)` returns
 * what to say when it is done.
 */
function ask({ title, lead, people, optional = false, text = null, final = "", act, send }) {
  const asked = people.map((legend, n) =>
    person(legend, n ? "" : (session.name ?? ""), !(optional && n === people.length - 1)),
  );
  const [reason, reasonBox] = text
    ? field(
        text.label,
        { name: "text", rows: 2, maxlength: 500, required: text.required },
        "textarea",
      )
    : [];
  const refused = h("p.said.bad", { role: "alert", hidden: true });
  const button = h("button", { class: `btn ${final ? "danger" : "primary"}` }, act);
  const submit = async (event) => {
    event.preventDefault();
    if (!forms.every((form) => form.reportValidity())) {
      return;
    }
    button.disabled = true;
    refused.hidden = true;
    const by = asked.map((one) => one.value()).filter(([name]) => name);
    try {
      notice(await send(by, reason?.value.trim() ?? ""), BRIEF_MS);
      made.close();
    } catch (error) {
      refused.replaceChildren(await refusal(error));
      refused.hidden = false;
      asked.forEach((one) => one.clear());
      asked[0].first.focus();
    }
    button.disabled = false;
  };
  // Browsers expect one password in a form. The last one has the button.
  const forms = asked.map((one) => h("form.order", { onsubmit: submit }, one.box));
  forms.at(-1).append(
    ...[
      reasonBox,
      final && h("p.said.warn", icon("warn"), h("b", final)),
      refused,
      session.notice && h("p.dim", session.notice),
      button,
    ].filter(Boolean),
  );
  forms.slice(0, -1).forEach((form) => {
    form.addEventListener("keydown", (event) => event.key === "Enter" && submit(event));
  });
  const made = dialog(title, h("div.order", h("p", lead), forms));
  asked[0].first.focus();
  return made;
}

const NOTE = { label: "Note for the record (optional)", required: false };
const named = (award) =>
  `$${money(award.cents)}, award ${award.award}: table ${award.table}, round ${award.round}, ` +
  `seat ${award.seat}, ${award.hand}.`;

/** Gives one order; `key` names the field of the text. */
const order = (award, what, done, key = "note") => async (by, text) => {
  const more = text ? { [key]: text } : {};
  await post("orders", { by, order: { what, award: award.award, ...more } });
  return `Award ${award.award}: ${done} by ${by.map(([name]) => name).join(" and ")}.`;
};

/** Each person gives an own order. What one gave stands if the next is refused, and is not given
 * again at the next attempt. */
function approve(award) {
  const given = [];
  return async (by, text) => {
    for (const one of by.filter(([name]) => !given.includes(name))) {
      try {
        await order(award, "approve", "approved")([one], text);
      } catch (error) {
        const stands = given.length ? `; the approval by ${given[0]} stands` : "";
        error.message = `${one[0]}: ${error.message}${stands}`;
        throw error;
      }
      given.push(one[0]);
    }
    return `Award ${award.award}: approved by ${given.join(" and ")}.`;
  };
}

async function note(award, by, text) {
  await post("orders", { by, order: { what: "note", topic: award.award, text } });
  return `Noted for award ${award.award}.`;
}

export function orderDialog(award, what) {
  const first = approvals(award.steps ?? []).length === 1;
  const made = {
    verify: {
      title: "Verify a jackpot",
      lead: "You compared deck, cards and wager with the record of the round.",
      people: ["Who verified"],
      act: "Verified",
      send: order(award, "verify", "verified"),
    },
    approve: {
      title: first ? "Second approval" : "Approve a jackpot",
      lead: nextWords(award),
      people: first ? ["Second person"] : ["First person", "Second person: now, or later"],
      optional: !first,
      act: "Approve",
      send: approve(award),
    },
    pay: {
      title: "Record the payment",
      lead: "The money was handed over against the signed slip.",
      people: ["Who paid"],
      final: "A payment cannot be taken back.",
      act: `Paid $${money(award.cents)}`,
      send: order(award, "pay", "paid"),
    },
    reject: {
      title: "Reject a jackpot",
      lead: "It was no jackpot: the money goes back into the jackpot.",
      people: ["First person", "Second person, with another role"],
      text: { label: "Why", required: true },
      final: "A rejection cannot be taken back.",
      act: "Reject this award",
      send: order(award, "reject", "rejected", "why"),
    },
    note: {
      title: "Note for the record",
      lead: "A note changes nothing and cannot be removed.",
      people: ["Who notes it"],
      text: { label: "Note", required: true },
      act: "Write the note",
      send: (by, text) => note(award, by, text),
    },
  }[what];
  return ask({ text: NOTE, ...made, lead: `${named(award)} ${made.lead}` });
}

/** Somebody looks after an alarm; it is silent until it clears. */
export function acknowledgeDialog(alarm) {
  return ask({
    title: "Acknowledge an alarm",
    lead: `${[alarm.table, alarm.text].filter(Boolean).join(": ")} (${alarm.code}). It stays listed, silent, until it clears.`,
    people: ["Who looks after it"],
    text: { label: "Reason", required: true },
    act: "Acknowledge",
    send: async (by, why) => {
      await post(`alarms/${alarm.alarm}/acknowledge`, { by, why });
      return `Alarm ${alarm.code} is acknowledged by ${by[0][0]}.`;
    },
  });
}

// ---- papers to sign ------------------------------------------------------------------------------

export const printed = () =>
  `printed ${dayAndTime(Date.now())} by ${session.name || "a visitor"}`;

export const signatures = (...lines) =>
  h("div.signatures", lines.map((text) => h("p", text)));

// ---- signing in and out: a session only looks; accounts are made elsewhere ----------------------

const ENDED = {
  idle: "nobody used it for 15 minutes",
  longest: "it lasted 12 hours",
  replaced: "you signed in on many other browsers",
  "signed out": "you signed out",
  changed: "your account was changed",
  unknown: "this server was restarted, or it ended long ago",
};

/** Only a page of ours. */
function after() {
  const given = new URLSearchParams(location.search).get("next") ?? "";
  return /^\/[a-z]/.test(given) ? given : "/";
}

function tell() {
  const { ended, ended_s: ago } = session;
  if (!ended) {
    return;
  }
  const at = ago === null ? "" : ` at ${clock(Date.now() - ago * 1000)}`;
  say(byId("ended"), `Your session ended${at}: ${ENDED[ended]}. Nothing was changed by it.`);
  byId("ended").hidden = false;
}

/** Asks for a session, or for the way to one; then goes to `url` of the answer, or to `next`. */
async function begin(path, body) {
  byId("refused").hidden = true;
  try {
    const { url } = await post(path, body);
    location.replace(url ?? after());
  } catch (error) {
    byId("refused").replaceChildren(await refusal(error));
    byId("refused").hidden = false;
  }
}

async function enter(event) {
  event.preventDefault();
  const [name, password] = [byId("name"), byId("password")];
  byId("enter").disabled = true;
  await begin("session", { name: name.value.trim(), password: password.value });
  password.value = "";
  password.focus();
  byId("enter").disabled = false;
}

async function leave() {
  await remove("session").catch(() => null);
  location.assign("/login");
}

function login(name) {
  byId("brand").append(brand());
  byId("sign-in").addEventListener("submit", enter);
  byId("leave").addEventListener("click", leave);
  byId("go").addEventListener("click", () => begin("session/challenge", { next: after() }));
  say(byId("notice"), session.notice ?? "");
  byId("notice").hidden = !session.notice;
  const { hash, search } = location;
  if (name === "ticket") {
    begin("tickets", Object.fromEntries(new URLSearchParams(search)));
    return;
  }
  if (session.floor && hash) {
    begin("session/ticket", { ticket: hash.slice(8) });
  }
  if (session.signed_in) {
    byId("inside").hidden = false;
    say(byId("who"), `${session.name}, ${session.role}`);
    const [idle, latest] = [session.left_s, session.latest_s].map((s) => Date.now() + s * 1000);
    const rest = `It ends at ${clock(idle)} if nobody uses it, and on ${dayAndTime(latest)} in any case.`;
    say(byId("until"), `This session only looks. ${rest}`);
  } else {
    byId("free").hidden = session.login_required !== false;
    tell();
    const at = session.floor;
    say(byId("floor"), at);
    byId(at ? "away" : "sign-in").hidden = false;
    byId(at ? "go" : "name").focus();
  }
}

// ---- the page -----------------------------------------------------------------------------------

/** Makes the page of this address from its template, and loads what moves it. */
function open() {
  const [, name] = location.pathname.split("/");
  const template = byId(name) ?? byId("login");
  document.body.className = template.className || name;
  document.title = `${name[0].toUpperCase()}${name.slice(1)} - Underfelt`;
  document.body.replaceChildren(template.content);
  if (template.id === "login") {
    login(name);
  } else {
    import(name === "table" || name === "replay" ? "./table.js" : "./floor.js");
  }
}

open();
