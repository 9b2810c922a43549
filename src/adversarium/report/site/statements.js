// Search, filters and order of the list of statements; the list itself is in the page.
"use strict";

const list = document.getElementById("claims");
const form = document.getElementById("ledger");
const rows = Array.from(list.children);
const fields = ["search", "paper", "verdict", "kind", "order"].map((id) => document.getElementById(id));
const texts = CLAIMS.map((claim) => Object.values(claim).join(" ").toLowerCase());
const verdicts = ["fails", "mixed", "undecided", "holds", "not testable", "setting"];
const letters = {
  alpha: "α", beta: "β", gamma: "γ", delta: "δ", eps: "ε", epsilon: "ε", varepsilon: "ε", zeta: "ζ",
  eta: "η", theta: "θ", kappa: "κ", lambda: "λ", mu: "μ", nu: "ν", xi: "ξ", pi: "π", rho: "ϱ",
  sigma: "σ", tau: "τ", phi: "φ", chi: "χ", psi: "ψ", omega: "ω", nabla: "∇", ell: "ℓ", infty: "∞",
};
const spelled = { "thm": "theorem", "cor": "corollary", "prop": "proposition", "sec": "section" };

function matches(text, word) {
  const plain = word.replace(/^\\/, "").replace(/[.]$/, "");
  if (plain === "rho") return /ϱ|ρ/.test(text);
  if (letters[plain]) return text.includes(letters[plain]) || new RegExp(`\\b${plain}\\b`).test(text);
  return text.includes(spelled[plain] || plain) || text.includes(word);
}

function place(verdict) {
  const found = verdicts.indexOf(verdict);
  return found < 0 ? verdicts.length : found;
}

function chosen() {
  const [search, paper, verdict, kind, order] = fields.map((field) => field.value);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  let restated = 0;
  CLAIMS.forEach((claim, i) => {
    const fits =
      (!paper || claim.paper === paper) &&
      (!verdict || claim.verdict === verdict) &&
      (!kind || claim.kind === kind) &&
      words.every((word) => matches(texts[i], word));
    rows[i].hidden = !fits;
    count += fits;
    restated += fits && Boolean(claim.restates);
  });
  const places = CLAIMS.map((_, i) => i);
  if (order === "verdict") {
    places.sort((i, j) => place(CLAIMS[i].verdict) - place(CLAIMS[j].verdict) || i - j);
  }
  list.append(...places.map((i) => rows[i]));
  const other = restated ? `; ${restated} of them restate${restated > 1 ? "" : "s"} another` : "";
  document.getElementById("count").textContent = `${count} of ${CLAIMS.length} entries${other}`;
  const asked = fields.filter((field) => field.value).map((f) => [f.id, f.value]);
  const query = new URLSearchParams(asked).toString();
  try {
    history.replaceState(null, "", query ? `?${query}` : location.pathname);
  } catch {
    // a browser may forbid this for a file; the list is right without it
  }
}

form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
fields.forEach((field) => field.addEventListener("input", chosen));
const asked = new URLSearchParams(location.search);
fields.forEach((field) => {
  if (!asked.has(field.id)) return;
  const value = asked.get(field.id);
  const same = (option) => option.value.toLowerCase() === value.toLowerCase();
  field.value = Array.from(field.options || []).find(same)?.value ?? value;
});
addEventListener("pageshow", chosen); // also after Back, when the browser restores the fields
chosen();
