"use strict";
// What each view draws: from a split's data, for the policies that the reader left on, of the measure that he chose.

const figures = {
  profiles(place, entries) {
    const series = entries.map(({ label, ink, profile }) => ({
      label, ink,
      points: profile.thresholds.map((x, n) => {
        const [y, low, high] = [profile.values[n], profile.low[n], profile.high[n]];
        return { x, y, low, high, told: `${label}\n${figure(y)} of episodes score above ${figure(x, 2)}\n${interval({ low, high })}` };
      }),
    }));
    lines(place, "Share of episodes whose score is above each threshold, by policy", series, {
      across: "score above", domain: [0, 1], dots: false, height: 380, up: "share of episodes", beside: true,
    });
  },

  attempts(place, entries, { attempts }) {
    const ticks = Array.from({ length: attempts }, (_, n) => n + 1);
    const kinds = [["any", "At least one of k succeeds (pass@k)"], ["all", "All of k succeed (pass^k)"]];
    grid(place, kinds.map(([key, heading]) => [heading, (part) => {
      const series = entries.map(({ label, ink, chances }) => ({
        label, ink, points: chances.map((chance) => point(label, chance.attempts, `k = ${chance.attempts}`, chance[key])),
      }));
      lines(part, `${heading}, by policy`, series, { across: "attempts k", domain: [0, 1], ticks, height: 250 });
    }]));
  },

  families: (place, entries, { measure }) => groups(place, entries, measure, "families"),
  styles: (place, entries, { measure }) => groups(place, entries, measure, "styles"),
  intensity: (place, entries, { measure }) => curves(place, entries, measure, "levels", "level"),
  adaptivity: (place, entries, { measure }) => curves(place, entries, measure, "adaptivity", null),

  failures(place, entries) {
    const looked = entries.filter((entry) => entry.attribution?.examined);
    const names = [...new Set(looked.flatMap((entry) => Object.keys(entry.attribution.shares)))];
    const share = (entry, name) => (name === null ? entry.attribution.unexplained : entry.attribution.shares[name] ?? 0);
    if (!looked.length) return place.replaceChildren();
    const most = Math.max(0.1, ...looked.flatMap((entry) => [...names, null].map((name) => share(entry, name))));
    grid(place, [...names, null].map((name) => [name ?? "no family explains it", (part) => {
      const rows = looked.map((entry) => {
        const value = share(entry, name);
        return { label: entry.label, ink: entry.ink, value, told: `${entry.label}: ${(value * 100).toFixed(1)} %\nof what ${entry.attribution.examined} failures lost` };
      });
      whiskers(part, `Share of losses explained by ${name ?? "no family"}, by policy`, rows, { domain: [0, Math.min(1, most)], bars: true, percent: true });
    }]));
  },
};

function point(label, x, where, estimate, more = "") {
  return { x, y: estimate.value, low: estimate.low, high: estimate.high, told: `${label}, ${where}\n${figure(estimate.value)} (${interval(estimate)})${more}` };
}

function grid(place, parts) {
  place.classList.add("grid");
  const made = parts.map(([heading, paint]) => {
    const part = element("div", { class: "chart-part" });
    return { paint, part, box: element("div", {}, element("h4", {}, heading), part) };
  });
  place.replaceChildren(...made.map((each) => each.box));
  for (const each of made) each.paint(each.part);
}

function span(estimates) {
  const ends = estimates.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
  return [Math.min(0, ...ends), Math.max(1, ...ends)];
}

function groups(place, entries, measure, key) {
  const names = [...new Set(entries.flatMap((entry) => entry[key].map((group) => group.name)))];
  const domain = span(entries.flatMap((entry) => entry[key].map((group) => group[measure])));
  grid(place, names.map((name) => [name, (part) => {
    const rows = entries.flatMap(({ label, ink, [key]: all }) => all.filter((group) => group.name === name).map((group) => ({
      label, ink, ...group[measure], told: `${label}\n${measure} ${figure(group[measure].value)} (${interval(group[measure])})\n${group.variants} variants`,
    })));
    whiskers(part, `${measure} on ${name}, by policy`, rows, { domain });
  }]));
}

function curves(place, entries, measure, key, across) {
  const names = [...new Set(entries.flatMap((entry) => entry[key].map((curve) => curve.name)))];
  const domain = span(entries.flatMap((entry) => entry[key].flatMap((curve) => curve.points.map((each) => each[measure]))));
  grid(place, names.map((name) => [name, (part) => {
    const series = entries.flatMap(({ label, ink, [key]: all }) => all.filter((curve) => curve.name === name).map((curve) => ({
      label, ink,
      points: curve.points.map((each) => point(label, each.at, `${across ?? name} ${each.at}`, each[measure], `\n${each.variants} variants`)),
    })));
    const ticks = key === "levels" ? [...new Set(series.flatMap((each) => each.points.map((at) => at.x)))].sort((a, b) => a - b) : undefined;
    const label = across ? `${across} of ${name}` : name;
    lines(part, `${measure} against ${label}, by policy`, series, { across, domain, ticks, height: 230 });
  }]));
}
