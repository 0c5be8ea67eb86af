"use strict";
// One episode, looked at closely.

let player = null;
const FEW = 8; // checks that are shown one by one; of more, those that hold are folded

function closeEpisode() {
  if (player) player.dispose();
  player = null;
  for (const place of document.querySelectorAll(".episode")) place.replaceChildren();
  for (const row of document.querySelectorAll(".list tr[aria-current]")) row.removeAttribute("aria-current");
}

function openEpisode(button) {
  closeEpisode();
  const row = button.closest("tr");
  const place = button.closest(".episodes").querySelector(".episode");
  const episode = parsed(`episode-${button.dataset.episode}`);
  row.setAttribute("aria-current", "true");
  place.append(heading(episode, row));
  if (episode.kind === "terminal") terminal(place, episode);
  else sequence(place, episode);
  if (episode.state_digest) place.append(element("p", { class: "note" }, "state digest ", element("code", {}, episode.state_digest)));
  place.scrollIntoView({ block: "start" });
  place.focus({ preventScroll: true });
}

function heading(episode, row) {
  const outcome = row.dataset.outcome === "success" ? ["good", "✓ success"] : ["bad", "✗ failure"];
  const [, , , score, total, steps, file] = [...row.children].map((cell) => cell.textContent.trim());
  return element("header", {},
    element("button", { type: "button", class: "quiet", on: { click: closeEpisode } }, "Close"),
    element("h4", {}, `${row.querySelector("th").textContent} on ${episode.variant}`),
    element("p", {}, element("b", { class: outcome[0] }, outcome[1]), ` · score ${score} · return ${total} · ${steps} step${steps === "1" ? "" : "s"} · `, element("code", {}, file)));
}

// ---- terminals

function terminal(place, episode) {
  if (episode.instruction) place.append(element("blockquote", {}, episode.instruction));
  if (episode.system) place.append(element("details", { class: "system" }, element("summary", {}, "What the interface tells beforehand"), element("pre", {}, episode.system)));
  const screen = element("div", { class: "player" });
  place.append(screen, element("p", { class: "note" }, "Played from the trajectory, at a pace to read by; how long a command took is not recorded."));
  player = AsciinemaPlayer.create({ data: episode.cast }, screen, {
    fit: "width", preload: true, theme: "asciinema", controls: true,
  });
  // The first screen to begin with. No `poster`: with one, player 3.18.0 shows an empty screen after a seek forward.
  player.seek(0);
  place.append(element("h5", {}, "Steps"), element("ol", { class: "steps" }, episode.steps.map((step, n) => terminalStep(step, n, screen))));
  if (episode.steps_left_out) place.append(element("p", { class: "warn" }, `${episode.steps_left_out} more steps are in the file alone.`));
  place.append(element("h5", {}, "What differs from the initial state"));
  if (episode.unknown) place.append(element("p", { class: "warn" }, `Not known: ${episode.unknown}`));
  else if (!episode.diff.length) place.append(element("p", { class: "note" }, "Nothing."));
  else place.append(table(["change", "path", "before", "after"], episode.diff.map(([path, kind, before, after]) => [kind, element("code", {}, path), before, after])));
  if (episode.diff_left_out) place.append(element("p", { class: "warn" }, `${episode.diff_left_out} more changes are in the file alone.`));
}

function terminalStep(step, number, screen) {
  const seek = () => {
    player.seek(step.at);
    player.play();
    screen.scrollIntoView({ block: "nearest" });
  };
  const good = step.event === "DONE" || step.event === "WAITING_INPUT";
  return element("li", { class: "step" },
    element("pre", { class: "command" }, element("span", { class: "cwd" }, `${step.cwd}$ `), step.command),
    step.stdout ? element("pre", { class: "stdout", tabindex: "0" }, step.stdout) : null,
    step.stderr ? element("pre", { class: "stderr", tabindex: "0" }, step.stderr) : null,
    element("div", { class: "told" },
      element("button", { type: "button", class: "seek", on: { click: seek }, "aria-label": `Play step ${number + 1}` }, `▶ ${number + 1}`),
      element("span", { class: `event ${good ? "good" : "warn-text"}` }, step.event),
      step.exit >= 0 ? element("span", {}, `exit ${step.exit}`) : null,
      element("b", { class: "reward" }, `reward ${signed(step.reward)}`),
      step.terms.length ? step.terms.map(([name, value]) => element("span", { class: "term" }, `${name} ${signed(value)}`)) : element("span", {}, "all terms 0")),
    [...step.charges, ...step.notes].map((words) => element("div", { class: "warn" }, words)),
    checks(step));
}

function checks(step) {
  const list = (all) => element("ul", { class: "checks" }, all.map(([words, passed]) =>
    element("li", { class: passed ? "good" : "bad" }, passed ? "✓ " : "✗ ", element("code", {}, words))));
  const left = step.checks_left_out ? element("div", { class: "warn" }, `${step.checks_left_out} more checks are in the file alone.`) : null;
  if (step.checks.length <= FEW) return [step.checks.length ? list(step.checks) : null, left];
  const [held, failed] = [step.checks.filter(([, passed]) => passed), step.checks.filter(([, passed]) => !passed)];
  return [
    failed.length ? list(failed) : null,
    held.length ? element("details", {}, element("summary", {}, `✓ ${held.length} of ${step.checks.length} checks hold`), list(held)) : null,
    left,
  ];
}

// ---- all others

function sequence(place, episode) {
  if (episode.note) place.append(element("p", { class: "warn" }, episode.note));
  const [timeline, rewards] = [element("div", { class: "timeline" }), element("div", { class: "rewards" })];
  place.append(element("h5", {}, "What was done, and what it was worth"), timeline, rewards);
  const done = episode.steps.map(([lane, words], step) => ({ step: step + 1, lane: episode.lanes[lane], words: episode.words[words], reward: episode.rewards[step] })).filter((each) => each.lane !== undefined);
  paintTimeline(timeline, episode, done);
  paintRewards(rewards, episode);
  if (episode.steps_left_out) place.append(element("p", { class: "warn" }, `${episode.steps_left_out} more steps are in the file alone.`));
  place.append(element("details", { class: "deeds-box" }, element("summary", {}, `All ${done.length} actions in words`),
    element("div", { class: "deeds" }, table(["step", "action", "reward"], done.map((each) => [String(each.step), each.words, signed(each.reward)])))));
  for (const block of episode.blocks) place.append(...blockOf(block));
  for (const chart of place.querySelectorAll("[data-block]")) chart.paint();
  if (episode.facts.length) place.append(element("h5", {}, "What the last step told"), table(["", ""], episode.facts));
}

const margin = (episode) => Math.max(46, widest(episode.lanes));

function paintTimeline(place, episode, done) {
  const room = margin(episode);
  draw(place, `Actions over ${episode.steps.length} steps, by kind`, () => ({
    height: Math.max(1, episode.lanes.length) * 24 + 30, marginLeft: room, marginRight: 20, marginTop: 4, marginBottom: 24,
    x: { domain: [1, Math.max(2, episode.steps.length)], label: null },
    y: { type: "band", domain: episode.lanes, label: null, padding: 0.25 },
  }), () => [
    Plot.ruleY(episode.lanes, { y: (d) => d, stroke: "var(--line)" }),
    Plot.tickX(done, { x: "step", y: "lane", stroke: "var(--accent)", strokeWidth: 1.5, ariaLabel: "words" }),
    Plot.axisY({ tickSize: 0, label: null }), Plot.axisX({ tickSize: 3, label: null }),
    Plot.tip(done, Plot.pointer({ x: "step", y: "lane", title: (d) => `step ${d.step}: ${d.words}\nreward ${signed(d.reward)}`, fill: "var(--raised)", stroke: "var(--line)" })),
  ]);
}

function paintRewards(place, episode) {
  let total = 0;
  const sums = episode.rewards.map((reward, step) => ({ step: step + 1, total: (total += reward ?? 0), reward }));
  draw(place, "Sum of rewards over steps", () => ({
    height: 170, marginLeft: margin(episode), marginRight: 20, marginTop: 24, marginBottom: 36,
    x: { domain: [1, Math.max(2, sums.length)] }, y: { label: null, nice: true, zero: true },
  }), () => [
    Plot.gridY({ ...GRID, ticks: 4 }), Plot.ruleY([0], { stroke: "var(--dim)" }),
    Plot.axisX({ label: "step", labelAnchor: "center", labelArrow: "none", tickSize: 3 }), Plot.axisY({ ticks: 4, tickSize: 0, label: null }),
    Plot.text(["return so far"], { frameAnchor: "top-left", dx: -36, dy: -24, text: (d) => d, fill: "var(--dim)" }),
    Plot.line(sums, { x: "step", y: "total", stroke: "var(--accent)", strokeWidth: 2, curve: "step-after", ariaLabel: () => "return so far" }),
    Plot.tip(sums, Plot.pointerX({ x: "step", y: "total", title: (d) => `step ${d.step}\nreward ${signed(d.reward)}\nreturn so far ${signed(d.total)}`, fill: "var(--raised)", stroke: "var(--line)" })),
  ]);
}

function blockOf(block) {
  if (block.type === "prose") return [element("p", {}, block.text)];
  if (block.type === "figures") return [element("div", { class: "figures" }, block.figures.map(([value, label, note]) => element("div", {}, element("b", {}, value), label, " ", element("span", { class: "dim" }, note))))];
  if (block.type === "table") {
    const made = [element("h5", {}, block.title), block.rows.length ? table(block.headings, block.rows, block.numbers) : element("p", { class: "note" }, "None.")];
    return block.left_out ? [...made, element("p", { class: "warn" }, `${block.left_out} more rows are left out.`)] : made;
  }
  const holders = block.charts.map((chart) => {
    const holder = element("div", { "data-block": true });
    holder.paint = () => paintChart(holder, chart);
    return element("div", {}, element("h4", {}, chart.title), holder);
  });
  return [element("div", { class: "grid blocks" }, holders)];
}

function paintChart(place, chart) {
  const inks = ["--ink-0", "--ink-1", "--ink-2", "--ink-3"];
  const series = chart.series.map((each, n) => ({
    label: each.name, ink: { colour: `var(${inks[n % inks.length]})`, dash: n ? "6 3" : "", symbol: "circle" },
    points: each.points.map(([x, y]) => ({ x, y, low: null, high: null, told: `${each.name}\n${x.toFixed(1)}: ${y}` })),
  }));
  const values = series.flatMap((each) => each.points.map((at) => at.y));
  const domain = [Math.min(chart.least ?? Infinity, ...values), Math.max(chart.most ?? -Infinity, ...values)];
  lines(place, chart.title, series, { across: chart.across, domain: domain[0] < domain[1] ? domain : [domain[0], domain[0] + 1], dots: false, height: 220, step: true });
}
