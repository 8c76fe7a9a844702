// Elements from JavaScript. Data only ever becomes text or an attribute, never markup.

/** `name` may have classes, "p.dim"; `given` are attributes, if there are any, and children. */
function make(name, given, space) {
  const [tag, ...classes] = name.split(".");
  const made = document.createElementNS(space, tag);
  const attributes = given[0]?.constructor === Object ? given.shift() : {};
  for (const [key, value] of Object.entries({ class: classes.join(" ") || null, ...attributes })) {
    if (typeof value === "function") {
      made.addEventListener(key.replace(/^on/, ""), value);
    } else if (some(value)) {
      made.setAttribute(key, value === true ? "" : value);
    }
  }
  made.append(...given.flat(Infinity).filter(some));
  return made;
}

const some = (value) => value !== null && value !== undefined && value !== false;

/** An HTML element; `onclick` takes a function, null leaves an attribute or a child out. */
export const h = (name, ...given) => make(name, given, "http://www.w3.org/1999/xhtml");

/** The same for SVG. */
export const s = (name, ...given) => make(name, given, "http://www.w3.org/2000/svg");

export const byId = (id) => document.getElementById(id);

/** Replaces what is in an element; null leaves a child out. */
export const fill = (id, ...children) =>
  byId(id).replaceChildren(...children.flat(Infinity).filter(some));

/** Children of `parent`, one per row: a row that did not change keeps its element and its focus. */
export function keyed(parent, rows, keyOf, make) {
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const wanted = rows.map((row) => {
    const key = String(keyOf(row));
    const said = JSON.stringify(row);
    const known = old.get(key);
    if (known?.drawnFrom === said) {
      return known;
    }
    const made = make(row);
    made.dataset.key = key;
    made.drawnFrom = said;
    return made;
  });
  if (
    wanted.length !== parent.children.length ||
    wanted.some((one, n) => parent.children[n] !== one)
  ) {
    const back = focused(parent);
    parent.replaceChildren(...wanted);
    back();
  }
}

const REACHED = "a, button, input, select, textarea";

/** Returns a function that gives the focus to what takes the place of the focused element. */
function focused(parent) {
  const held = document.activeElement;
  const child = [...parent.children].find((one) => one.contains(held));
  if (!child) {
    return () => {};
  }
  const place = [...child.querySelectorAll(REACHED)].indexOf(held);
  return () => {
    const now = [...parent.children].find((one) => one.dataset.key === child.dataset.key);
    (place < 0 ? now : now?.querySelectorAll(REACHED)[place])?.focus({ preventScroll: true });
  };
}

/** Rows of a table; the first cell of each names it. */
export function tableRows(rows) {
  const row = ([name, ...cells]) =>
    h("tr", h("th", { scope: "row" }, name), cells.map((cell) => h("td", cell)));
  return h("tbody", rows.map(row));
}

/** Change text only where it differs, so that nothing is read out or laid out again. */
export function say(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

const TWO = { minimumFractionDigits: 2, maximumFractionDigits: 2 };

/** 150000 as 1,500.00 */
export function money(cents) {
  return (cents / 100).toLocaleString("en-US", TWO);
}

/** 150000 as 1,500; cents only where there are any */
export function short(cents) {
  return cents % 100 ? money(cents) : (cents / 100).toLocaleString("en-US");
}

/** The time of day here: 03:12:46 */
export function clock(ms) {
  return new Date(ms).toLocaleTimeString("en-GB");
}

/** Now: Sat 03:14:07 */
export function dayAndClock() {
  const now = Date.now();
  return `${new Date(now).toLocaleDateString("en-GB", { weekday: "short" })} ${clock(now)}`;
}

/** The day and the time of day here: Sat 14 Mar, 03:12 */
export function dayAndTime(ms, more = {}) {
  return new Date(ms).toLocaleString("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    ...more,
  });
}

/** Since then, as people say it: 12 s, 11 min, 3 h 20 min, 2 days */
function since(ms) {
  const seconds = Math.max(0, Math.floor((Date.now() - ms) / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) {
    return `${seconds} s`;
  }
  if (minutes < 60) {
    return `${minutes} min`;
  }
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** 750 as 0.8 s, 75000 as 1 min 15 s */
export function lasting(ms) {
  const seconds = ms / 1000;
  if (seconds < 10) {
    return `${seconds.toFixed(1)} s`;
  }
  if (seconds < 60) {
    return `${Math.round(seconds)} s`;
  }
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    return `${minutes} min ${Math.floor(seconds % 60)} s`;
  }
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// ---- api -----------------------------------------------------------------------------------------

// Requests to our own server. A refusal becomes an Error whose message is the server's sentence.

/** The answer of the server as it came. */
export async function answerOf(path, options = {}) {
  const answer = await fetch(`/api/v1/${path}`, options).catch(() => null);
  if (!answer) {
    throw refused("the server does not answer", 0);
  }
  if (!answer.ok) {
    const { detail, title, code } = await answer.json().catch(() => ({}));
    const { status } = answer;
    throw refused(detail || title || `refused with status ${status}`, status, code);
  }
  return answer;
}

const refused = (said, status, code = "") => Object.assign(new Error(said), { status, code });

const request = async (path, options) =>
  (await answerOf(path, options)).json().catch(() => ({}));

export const get = (path) => request(path);

export const post = (path, body) =>
  request(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

export const remove = (path) => request(path, { method: "DELETE" });

// ---- stream-worker -------------------------------------------------------------------------------

// One stream of events for all pages of a browser: a shared worker, or a module of the page where
// there are none. A hub keeps a copy of each feed, so a page that comes later or comes back gets
// exactly what it has not seen, or everything and `reloaded`.

const LONGEST_LOG = 500;
const SILENT_MS = 9000;
const GONE_MS = 20000;
const LOOK_MS = 2000;
const LONGEST_PAUSE_MS = 8000;

class Copy {
  feed = "";
  n = 0;
  dropped = 0;
  parts = {};
  log = [];
  heard = -Infinity;

  take(changes) {
    if (changes.reloaded || changes.feed !== this.feed) {
      this.feed = changes.feed;
      this.n = 0;
      this.parts = {};
      this.log = [];
      this.dropped = changes.dropped ?? (changes.log[0]?.n ?? 1) - 1;
    }
    for (const [name, part] of Object.entries(changes.parts)) {
      if (!this.parts[name] || part[0] > this.parts[name][0]) {
        this.parts[name] = part;
      }
    }
    const newer = changes.log.filter((entry) => entry.n > this.n);
    this.log.push(...newer);
    while (this.log.length > LONGEST_LOG) {
      this.dropped = this.log.shift().n;
    }
    this.n = changes.n;
  }

  since([feed, after]) {
    const reloaded = feed !== this.feed || after < this.dropped || after > this.n;
    const from = reloaded ? -1 : after;
    return {
      feed: this.feed,
      n: this.n,
      reloaded,
      parts: Object.fromEntries(Object.entries(this.parts).filter(([, part]) => part[0] > from)),
      log: this.log.filter((entry) => entry.n > from),
    };
  }

  age() {
    return performance.now() - this.heard;
  }
}

class Hub {
  #pages = new Set();
  #copies = new Map();
  #refused = new Map();
  #source = null;
  #open = "";
  #heard = 0;
  #pause = 500;
  #retry = 0;

  constructor() {
    setInterval(() => this.#look(), LOOK_MS);
  }

  /** A page: `send` reaches it; what it says comes to `take`. */
  add(send) {
    const page = { send, names: new Set(), seen: {}, heard: performance.now() };
    this.#pages.add(page);
    return (message) => this.#take(page, message);
  }

  #take(page, message) {
    page.heard = performance.now();
    this.#pages.add(page);
    if (message.follow) {
      page.names = new Set(message.follow);
      page.seen = message.seen ?? {};
      for (const name of page.names) {
        this.#refused.delete(name);
        this.#bring(page, name);
      }
      this.#connect();
    } else if (message.bye) {
      this.#pages.delete(page);
      this.#connect();
    }
  }

  #bring(page, name) {
    const copy = this.#copies.get(name);
    if (!copy?.feed || !page.names.has(name)) {
      return;
    }
    const seen = page.seen[name] ?? ["", 0];
    if (seen[0] !== copy.feed || seen[1] !== copy.n) {
      page.seen[name] = [copy.feed, copy.n];
      page.send({ name, age_ms: copy.age(), ...copy.since(seen) });
    }
  }

  #wanted() {
    const names = new Set();
    for (const page of this.#pages) {
      for (const name of page.names) {
        if (!this.#refused.has(name)) {
          names.add(name);
        }
      }
    }
    return [...names].sort();
  }

  #connect(again = false) {
    const names = this.#wanted();
    const feeds = names.join(",");
    if (feeds === this.#open && !again) {
      return;
    }
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#source = null;
    this.#open = feeds;
    if (!names.length) {
      return;
    }
    const seen = names.filter((name) => this.#copies.get(name)?.feed);
    const after = seen.map(
      (name) => `${name}=${this.#copies.get(name).feed}.${this.#copies.get(name).n}`,
    );
    const query = new URLSearchParams({ feeds, after: after.join(";") });
    const source = new EventSource(`/api/v1/events?${query}`);
    this.#source = source;
    this.#heard = performance.now();
    source.addEventListener("changes", (event) => this.#changes(JSON.parse(event.data)));
    source.addEventListener("beat", (event) => this.#beat(JSON.parse(event.data).ages_ms));
    source.addEventListener("end", (event) => {
      if (JSON.parse(event.data).why === "session") {
        this.#tell({ end: "session" });
      }
    });
    source.addEventListener("error", () => {
      if (source === this.#source && source.readyState === EventSource.CLOSED) {
        this.#refusal(names);
      }
    });
  }

  #changes(changes) {
    this.#alive();
    const copy = this.#copies.get(changes.name) ?? new Copy();
    this.#copies.set(changes.name, copy);
    copy.take(changes);
    copy.heard = performance.now();
    for (const page of this.#pages) {
      this.#bring(page, changes.name);
    }
  }

  #beat(ages) {
    this.#alive();
    for (const [name, age] of Object.entries(ages)) {
      const copy = this.#copies.get(name);
      if (copy && age !== null) {
        copy.heard = performance.now() - age;
      }
    }
    this.#tell({ ages });
  }

  #alive() {
    this.#heard = performance.now();
    this.#pause = 500;
  }

  #tell(message) {
    for (const page of this.#pages) {
      page.send(message);
    }
  }

  /** The server closed the door. Ask for each feed alone, so that one wrong name stops no other. */
  async #refusal(names) {
    for (const name of names) {
      const status = await this.#statusOf(name);
      if (status === 401) {
        this.#refused.set(name, status);
        this.#tell({ end: "session", name });
      } else if (status === 404) {
        this.#refused.set(name, status);
        this.#tell({ missing: name });
      }
    }
    this.#retry = setTimeout(() => this.#connect(true), this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
  }

  async #statusOf(name) {
    const stop = new AbortController();
    try {
      const query = new URLSearchParams({ feeds: name });
      const answer = await fetch(`/api/v1/events?${query}`, { signal: stop.signal });
      return answer.status;
    } catch {
      return 0;
    } finally {
      stop.abort();
    }
  }

  /** Pages that ended without a word; a connection that is open and brings nothing. */
  #look() {
    const now = performance.now();
    for (const page of this.#pages) {
      if (now - page.heard > GONE_MS) {
        this.#pages.delete(page);
      }
    }
    const silent = this.#source && now - this.#heard > SILENT_MS;
    this.#connect(silent && this.#source.readyState === EventSource.OPEN);
  }
}

if ("onconnect" in globalThis) {
  const hub = new Hub();
  globalThis.onconnect = ({ ports: [port] }) => {
    const take = hub.add((message) => port.postMessage(message));
    port.onmessage = (said) => take(said.data);
  };
}

// ---- stream --------------------------------------------------------------------------------------

// What a page knows of the feeds it follows.
//
//   const stream = follow(["table:mega", "sim:mega"], (change) => draw(change));
//   stream.part("table:mega", "felt")   the latest value, undefined before the first
//   stream.parts("table:mega")          all of them, by name
//   stream.age("table:mega")            milliseconds since its source answered
//
// `change` is {name, parts, log, reloaded, first}: only what is new; a part that is gone since a
// reload is there as undefined. `reloaded` without `first` means that something may be missing: the
// page says so. Elements with data-feed="NAME ..." show STALE instead of their content while one of
// their feeds is silent, or belongs to a link server that does not lead. Elements with data-age="NAME"
// show the age of a feed, elements with data-since="MS" how long ago that was.

export const STALE_MS = 5000;
const TICK_MS = 250;
const PING_MS = 4000;

/** Something that takes messages for the hub; `heard` gets what the hub says. */
function connect(heard) {
  let send;
  try {
    const worker = new SharedWorker("/static/core.js", {
      type: "module",
      name: "underfelt",
    });
    worker.port.onmessage = (event) => heard(event.data);
    send = (message) => worker.port.postMessage(message);
    worker.onerror = () => {
      send = alone(heard);
      heard({ again: true });
    };
  } catch {
    send = alone(heard);
  }
  return (message) => send(message);
}

function alone(heard) {
  return new Hub().add((message) => queueMicrotask(() => heard(message)));
}

class Stream extends EventTarget {
  #names = [];
  #feeds = new Map();
  #missing = new Set();
  #send;

  constructor(names, changed) {
    super();
    this.changed = changed;
    this.#send = connect((message) => this.#heard(message));
    document.addEventListener("visibilitychange", () => this.#register());
    addEventListener("pagehide", () => this.#send({ bye: true }));
    addEventListener("pageshow", (event) => event.persisted && this.#register());
    setInterval(() => document.hidden || this.#send({ ping: true }), PING_MS);
    setInterval(() => this.#tick(), TICK_MS);
    this.also(names);
  }

  get names() {
    return this.#names;
  }

  /** Follow these feeds too. */
  also(names) {
    const more = names.filter((name) => !this.#names.includes(name));
    if (more.length) {
      this.#names = [...this.#names, ...more];
      this.#register();
    }
  }

  /** All parts of a feed as they are now. */
  parts(name) {
    return this.#feeds.get(name)?.parts ?? {};
  }

  part(name, part) {
    return this.parts(name)[part];
  }

  /** False where the server has no such feed. */
  exists(name) {
    return !this.#missing.has(name);
  }

  age(name) {
    return performance.now() - (this.#feeds.get(name)?.heard ?? 0);
  }

  /** The oldest of these, of all if none is named; feeds that do not exist do not count. */
  oldest(names = this.#names) {
    const ages = names.filter((name) => this.exists(name)).map((name) => this.age(name));
    return Math.max(0, ...ages);
  }

  /** A link server that does not lead, or has told no meters, answers but knows no amounts. */
  stale(name) {
    const { server, meters } = this.parts(name);
    const lost = server && (server.leading === false || !meters);
    return Boolean(lost) || this.age(name) > STALE_MS;
  }

  /** A hidden page lets its feeds go. */
  #register() {
    const seen = {};
    for (const [name, feed] of this.#feeds) {
      seen[name] = [feed.feed, feed.n];
    }
    this.#send({ follow: document.hidden ? [] : this.#names, seen });
  }

  #heard(message) {
    if (message.again) {
      this.#register();
    } else if (message.ages) {
      this.#ages(message.ages);
    } else if (message.end) {
      if (!message.name || this.#names.includes(message.name)) {
        this.dispatchEvent(new CustomEvent("end", { detail: message.end }));
      }
    } else if (message.missing) {
      this.#missing.add(message.missing);
      this.dispatchEvent(new CustomEvent("missing", { detail: message.missing }));
    } else if (message.name) {
      this.#change(message);
    }
  }

  #ages(ages) {
    const now = performance.now();
    for (const [name, age] of Object.entries(ages)) {
      const feed = this.#feeds.get(name);
      if (feed && age !== null) {
        feed.heard = now - age;
      }
    }
  }

  #change({ name, feed, n, reloaded, parts, log, age_ms: age }) {
    const known = this.#feeds.get(name);
    const first = !known;
    const now = known && !reloaded ? known : { parts: {} };
    this.#feeds.set(name, now);
    this.#missing.delete(name);
    now.feed = feed;
    now.n = n;
    now.heard = performance.now() - age;
    const lost = known === now ? {} : (known?.parts ?? {});
    const fresh = Object.fromEntries(Object.keys(lost).map((part) => [part, undefined]));
    for (const [part, [, value]] of Object.entries(parts)) {
      fresh[part] = value;
      now.parts[part] = value;
    }
    if (reloaded && !first) {
      this.dispatchEvent(new CustomEvent("reloaded", { detail: name }));
    }
    this.changed({ name, parts: fresh, log, reloaded, first });
  }

  #tick() {
    for (const element of document.querySelectorAll("[data-feed]")) {
      const names = element.dataset.feed.split(" ").filter((name) => this.exists(name));
      const stale = names.some((name) => this.stale(name));
      if (element.hasAttribute("data-stale") !== stale) {
        mark(element, stale);
      }
    }
    for (const element of document.querySelectorAll("[data-age]")) {
      say(element, lasting(this.age(element.dataset.age)));
    }
    for (const element of document.querySelectorAll("[data-since]")) {
      say(element, since(Number(element.dataset.since)));
    }
    this.dispatchEvent(new Event("tick"));
  }
}

function mark(element, stale) {
  element.toggleAttribute("data-stale", stale);
  if (stale) {
    element.append(h("b.stale-word", "STALE"));
  } else {
    element.querySelector(":scope > .stale-word")?.remove();
  }
}

export function follow(names, changed) {
  return new Stream(names, changed);
}
