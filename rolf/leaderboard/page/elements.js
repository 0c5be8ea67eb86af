"use strict";
// Elements are made of text alone: nothing of a submission is ever read as HTML.

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key === "class") made.className = value;
    else if (key === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

function parsed(id) {
  const holder = document.getElementById(id);
  return holder ? JSON.parse(holder.textContent) : null;
}

// A true minus, and none before a zero.
function figure(value, digits = 3) {
  if (value === null) return "–";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

function signed(value, digits = 3) {
  const text = figure(value, digits);
  return /^[0-9]/.test(text) ? `+${text}` : text;
}

const interval = (each) => (each.low === null || each.high === null ? "no interval" : `${figure(each.low)} to ${figure(each.high)}`);

function table(headings, rows, numbers = []) {
  const cell = (kind, content, place) => element(kind, { class: numbers.includes(place) ? "number" : null }, content);
  return element("div", { class: "scroll", tabindex: "0" },
    element("table", { class: "plain" },
      element("thead", {}, element("tr", {}, headings.map((heading) => element("th", { scope: "col" }, heading)))),
      element("tbody", {}, rows.map((row) => element("tr", {}, row.map((content, place) => cell("td", content, place)))))));
}
