"use strict";
// Which split is shown, which policies, which measure.

const boards = [...document.querySelectorAll(".board")];
const tabs = [...document.querySelectorAll("#tabs [role=tab]")];
const states = new Map();

function stateOf(board) {
  const number = board.dataset.number;
  if (!states.has(number)) {
    const data = parsed(`data-${number}`);
    states.set(number, { data, off: new Set(), measure: "score" });
    legend(board, states.get(number));
    filters(board);
  }
  return states.get(number);
}

function show(number, focus = false) {
  closeEpisode();
  boards.forEach((board, n) => { board.hidden = n !== number; });
  tabs.forEach((tab, n) => {
    tab.setAttribute("aria-selected", String(n === number));
    tab.tabIndex = n === number ? 0 : -1;
    if (n === number && focus) tab.focus();
  });
  if (boards[number]) paint(boards[number]);
}

function paint(board) {
  const state = stateOf(board);
  const entries = state.data.entries.filter((entry) => !state.off.has(entry.name));
  for (const place of board.querySelectorAll("[data-chart]")) {
    figures[place.dataset.chart](place, entries, { measure: state.measure, attempts: state.data.attempts });
  }
}

// ---- what is drawn

function swatch(ink) {
  const made = Plot.plot({
    className: "figure", width: 26, height: 12, margin: 0, axis: null, x: { domain: [0, 2] }, y: { domain: [0, 2] }, style: { background: "transparent" },
    marks: [
      Plot.line([[0, 1], [2, 1]], { stroke: ink.colour, strokeWidth: 2.5, strokeDasharray: ink.dash || null }),
      Plot.dot([[1, 1]], { fill: ink.colour, symbol: ink.symbol, r: 3.6 }),
    ],
  });
  made.setAttribute("aria-hidden", "true");
  return made;
}

function legend(board, state) {
  const box = board.querySelector(".legend");
  const toggle = (event, name) => {
    const on = state.off.delete(name);
    if (!on) state.off.add(name);
    event.currentTarget.setAttribute("aria-pressed", String(on));
    paint(board);
  };
  box.querySelector(".chips").append(...state.data.entries.map((entry) => element("button",
    { type: "button", class: "chip", "aria-pressed": "true", "data-entry": entry.name, on: { click: (event) => toggle(event, entry.name) } },
    swatch(entry.ink), entry.label)));
  for (const button of box.querySelectorAll("[data-measure]")) {
    button.addEventListener("click", () => {
      state.measure = button.dataset.measure;
      for (const each of box.querySelectorAll("[data-measure]")) each.setAttribute("aria-pressed", String(each === button));
      paint(board);
    });
  }
  box.hidden = false;
}

// ---- episodes

function filters(board) {
  const form = board.querySelector(".filters");
  if (!form) return;
  const rows = [...board.querySelectorAll(".list tbody tr")];
  const apply = () => {
    const wanted = Object.fromEntries(new FormData(form));
    const fits = (row) => Object.entries(wanted).every(([key, value]) => !value || row.dataset[key] === value);
    for (const row of rows) row.hidden = !fits(row);
    form.querySelector("output").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  };
  form.addEventListener("change", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  apply();
  for (const button of board.querySelectorAll(".open")) button.addEventListener("click", () => openEpisode(button));
}

// ---- where in the page

function numberOf(hash) {
  const target = hash.length > 1 ? document.getElementById(decodeURIComponent(hash.slice(1))) : null;
  const board = target?.closest(".board");
  return board ? boards.indexOf(board) : 0;
}

function follow() {
  const number = numberOf(location.hash);
  if (!states.has(String(number)) || boards[number].hidden) show(number);
  const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  if (target && !target.classList.contains("board")) target.scrollIntoView();
}

tabs.forEach((tab, n) => {
  tab.addEventListener("click", (event) => {
    event.preventDefault();
    history.replaceState(null, "", tab.hash);
    show(n);
  });
  tab.addEventListener("keydown", (event) => {
    const to = { ArrowRight: n + 1, ArrowLeft: n - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const number = (to + tabs.length) % tabs.length;
    history.replaceState(null, "", tabs[number].hash);
    show(number, true);
  });
});
window.addEventListener("hashchange", follow);

// ---- how it looks

const theme = document.getElementById("theme");
const themes = [["system", "light dark"], ["light", "light"], ["dark", "dark"]];
let chosen = 0;
theme.addEventListener("click", () => {
  chosen = (chosen + 1) % themes.length;
  document.documentElement.style.colorScheme = themes[chosen][1];
  theme.querySelector("span").textContent = themes[chosen][0];
});
theme.hidden = false;

let width = document.documentElement.clientWidth;
let waiting = 0;
window.addEventListener("resize", () => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => {
    if (document.documentElement.clientWidth === width) return;
    width = document.documentElement.clientWidth;
    const shown = boards.find((board) => !board.hidden);
    if (shown) paint(shown);
  });
});

if (boards.length) follow();
