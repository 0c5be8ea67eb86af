"use strict";
// The kinds of charts. Each puts one SVG into a place, in the reader's colours and at the width that there is, and keeps
// what Plot made of it as `place.plot`.

const FONT = 12;
const GRID = { strokeOpacity: 0.14 };

function draw(place, label, options, marks) {
  const width = Math.max(260, Math.floor(place.clientWidth || 640));
  const plot = Plot.plot({
    className: "figure",
    width,
    ariaLabel: label,
    style: { background: "transparent", color: "var(--text)", fontSize: `${FONT}px`, fontFamily: "inherit", overflow: "visible" },
    ...options(width),
    marks: marks(width),
  });
  plot.setAttribute("role", "img");
  place.replaceChildren(plot);
  place.plot = plot;
}

const widest = (texts) => Math.min(170, Math.max(30, ...texts.map((text) => text.length * FONT * 0.56 + 14)));
const clipped = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// A point without an interval is hollow: too few variants to tell one.
const filled = (d) => (d.low === null ? "var(--paper)" : d.ink.colour);

// Names at the ends of lines, moved apart so that none covers another.
function apart(ends, pixels, [low, high], gap = FONT + 2) {
  const sorted = ends.map((end) => ({ ...end, at: pixels(end.y) })).sort((a, b) => a.at - b.at);
  for (let round = 0; round < 60; round++) {
    let moved = false;
    for (let n = 1; n < sorted.length; n++) {
      const overlap = gap - (sorted[n].at - sorted[n - 1].at);
      if (overlap > 0.1) {
        sorted[n - 1].at -= overlap / 2;
        sorted[n].at += overlap / 2;
        moved = true;
      }
    }
    if (!moved) break;
  }
  const beyond = Math.max(0, low - (sorted[0]?.at ?? low));
  const below = Math.max(0, (sorted.at(-1)?.at ?? high) + beyond - high);
  return sorted.map((end) => ({ ...end, at: end.at + beyond - below }));
}

// Where the names of lines that all fall from left to right stand: each beside its own, one lower than the other.
function along(series, [low, high]) {
  return series.filter((each) => each.points.length).map((each, n, all) => {
    const level = high - (high - low) * (0.14 + (0.66 * n) / Math.max(1, all.length - 1));
    const found = each.points.findIndex((point) => point.y <= level);
    const at = found < 0 ? each.points.length - 1 : found;
    return { ...each.points[at], label: each.label, ink: each.ink, late: at > each.points.length * 0.8 };
  });
}

// Lines with bands: series is [{label, ink, points: [{x, y, low, high, told}]}].
function lines(place, label, series, { across, up, domain, ticks, dots = true, height = 300, beside = false, step = false }) {
  const points = series.flatMap((each) => each.points.map((point) => ({ ...point, label: each.label, ink: each.ink })));
  const curve = step ? "step-after" : "linear";
  const margin = { top: up ? 22 : 12, bottom: 40, left: 46, right: beside ? 20 : widest(series.map((each) => clipped(each.label, 24))) };
  const pixels = (y) => margin.top + (1 - (y - domain[0]) / (domain[1] - domain[0])) * (height - margin.top - margin.bottom);
  const ends = series.filter((each) => each.points.length).map((each) => ({ ...each.points.at(-1), label: each.label, ink: each.ink }));
  const names = apart(beside ? along(series, domain) : ends, pixels, [margin.top - 4, height - margin.bottom + 8]);
  draw(place, label, () => ({
    height, marginTop: margin.top, marginBottom: margin.bottom, marginLeft: margin.left, marginRight: margin.right,
    x: { label: null }, y: { label: null, domain },
  }), () => [
    Plot.gridY({ ...GRID, ticks: 5 }),
    Plot.axisX({ ...(ticks ? { ticks, tickFormat: (d) => String(d) } : {}), tickSize: 3, label: across, labelAnchor: "center", labelArrow: "none" }),
    Plot.axisY({ tickSize: 0, label: null, ticks: 5 }),
    up ? Plot.text([up], { frameAnchor: "top-left", dx: -40, dy: -20, text: (d) => d, fill: "var(--dim)" }) : null,
    series.map((each) => Plot.areaY(each.points, { x: "x", y1: "low", y2: "high", fill: each.ink.colour, fillOpacity: 0.15, curve, clip: true, ariaLabel: () => `interval of ${each.label}` })),
    series.map((each) => Plot.line(each.points, { x: "x", y: "y", stroke: each.ink.colour, strokeWidth: 2, strokeDasharray: each.ink.dash || null, curve, ariaLabel: () => `line of ${each.label}` })),
    dots ? Plot.dot(points, { x: "x", y: "y", fill: filled, stroke: (d) => d.ink.colour, strokeWidth: 1.5, symbol: (d) => d.ink.symbol, r: 3.2, ariaLabel: "told" }) : null,
    names.map((end) => Plot.text([end], {
      x: "x", y: "y", text: (d) => clipped(d.label, 24), fill: end.ink.colour, textAnchor: end.late ? "end" : "start", dx: end.late ? -7 : 7, dy: end.at - pixels(end.y), fontWeight: 600,
      stroke: "var(--paper)", strokeWidth: 4,
    })),
    Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: "told", fill: "var(--raised)", stroke: "var(--line)", maxRadius: 30 })),
  ]);
}

// Points with whiskers, a row each: rows is [{label, ink, value, low, high, told}].
function whiskers(place, label, rows, { domain, across = null, bars = false, percent = false }) {
  const room = widest(rows.map((row) => clipped(row.label, 22)));
  const show = (value) => (percent ? `${Math.round(value * 100)} %` : figure(value, 2));
  const scale = { marginLeft: room, marginRight: 48, marginTop: 4, marginBottom: across ? 36 : 22 };
  draw(place, label, () => ({
    height: rows.length * 19 + scale.marginTop + scale.marginBottom, ...scale,
    x: { domain, label: across, labelAnchor: "center", labelArrow: "none" },
    y: { type: "band", domain: rows.map((row) => row.label), label: null, padding: 0.3 },
  }), () => [
    Plot.gridX({ ...GRID, ticks: 4 }), Plot.axisY({ ticks: [] }),
    Plot.axisX({ ticks: 4, tickSize: 0, label: across, labelAnchor: "center", labelArrow: "none", ...(percent ? { tickFormat: (d) => `${Math.round(d * 100)} %` } : {}) }),
    Plot.text(rows, { y: "label", frameAnchor: "left", dx: -8, textAnchor: "end", text: (d) => clipped(d.label, 22), fill: (d) => d.ink.colour, fontWeight: 600 }),
    bars ? Plot.barX(rows, { x: "value", y: "label", fill: (d) => d.ink.colour, fillOpacity: 0.8, ariaLabel: "told" }) : [
      Plot.link(rows, { x1: "low", x2: "high", y1: "label", y2: "label", stroke: (d) => d.ink.colour, strokeWidth: 2.5, strokeLinecap: "round", strokeOpacity: 0.55 }),
      Plot.dot(rows, { x: "value", y: "label", fill: filled, stroke: (d) => d.ink.colour, strokeWidth: 1.5, symbol: (d) => d.ink.symbol, r: 4, ariaLabel: "told" }),
    ],
    Plot.text(rows, { y: "label", frameAnchor: "right", dx: 44, textAnchor: "end", text: (d) => show(d.value), fontVariant: "tabular-nums" }),
    Plot.tip(rows, Plot.pointerY({ x: "value", y: "label", title: "told", fill: "var(--raised)", stroke: "var(--line)" })),
  ]);
}
