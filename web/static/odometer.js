// <uf-odometer>: an amount as rolling digits.
import { h, money } from "./core.js";

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

customElements.define("uf-odometer", Odometer);
