// Search, filters and order of the ledger; the list itself is in the page.
"use strict";

const body = document.getElementById("claims");
const form = document.getElementById("ledger");
const rows = Array.from(body.rows);
const fields = ["search", "paper", "word", "kind"].map((id) => document.getElementById(id));
const texts = CLAIMS.map((c) => Object.values(c).join(" ").toLowerCase());
const order = ["fails", "mixed", "undecided", "holds", "not testable", "setting"];
let sorted = { by: "", down: false };

function chosen() {
  const [search, paper, word, kind] = fields.map((field) => field.value);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  CLAIMS.forEach((claim, i) => {
    const fits =
      (!paper || claim.paper === paper) &&
      (!word || claim.word === word) &&
      (!kind || claim.kind === kind) &&
      words.every((w) => texts[i].includes(w));
    rows[i].hidden = !fits;
    count += fits;
  });
  document.getElementById("count").textContent = `${count} of ${CLAIMS.length}`;
}

function key(i, by) {
  if (by !== "word") return CLAIMS[i][by];
  const place = order.indexOf(CLAIMS[i].word);
  return String(place < 0 ? order.length : place);
}

function sortBy(by) {
  sorted = { by, down: sorted.by === by && !sorted.down };
  const turn = sorted.down ? -1 : 1;
  const places = CLAIMS.map((_, i) => i);
  places.sort((i, j) => turn * key(i, by).localeCompare(key(j, by), "en", { numeric: true }) || i - j);
  body.append(...places.map((i) => rows[i]));
  for (const head of document.querySelectorAll("th[data-by]")) {
    const mine = head.dataset.by === by;
    head.setAttribute("aria-sort", mine ? (sorted.down ? "descending" : "ascending") : "none");
  }
}

form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
fields.forEach((field) => field.addEventListener("input", chosen));
for (const head of document.querySelectorAll("th[data-by]")) {
  head.tabIndex = 0;
  head.addEventListener("click", () => sortBy(head.dataset.by));
  head.addEventListener("keydown", (event) => {
    if (event.key === "Enter") sortBy(head.dataset.by);
  });
}
for (const link of document.querySelectorAll("a[data-paper]")) {
  link.addEventListener("click", () => {
    const [search, paper, word, kind] = fields;
    search.value = kind.value = "";
    paper.value = link.dataset.paper;
    word.value = link.dataset.word || "";
    chosen();
  });
}
const asked = new URLSearchParams(location.search);
fields.forEach((field) => {
  if (asked.has(field.id)) field.value = asked.get(field.id);
});
chosen();
