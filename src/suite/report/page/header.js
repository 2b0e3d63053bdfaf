// The head of the page: the result in one sentence, the machine, and errors.
const failedRows = run.rows.filter(rowFailure);
const skippedRows = run.rows.filter((row) => !rowFailure(row) && row.skipped);

// "a", "a and b", "a, b and c".
const listed = (parts) => parts.length < 2 ? parts.join("") :
  `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;

const headlineOf = () => {
  const rivals = rivalMetrics().map((metric, i) => {
    const gains = metricValues(metric, run.cells);
    return `${metric.rival} in ${notSlower(gains)} of ` +
      `${i ? gains.length : plural(gains.length, "cell")} (median gain ` +
      `${formatRatio(median(gains))})`;
  });
  const {near, all} = nearCopy(run.cells);
  const parts = [rivals.length ? `Fused is not slower than ${listed(rivals)}` : null,
    all ? `${rivals.length ? "it" : "Fused"} is near the copy in ${near} of ` +
      (rivals.length ? all : plural(all, "cell")) : null].filter(Boolean);
  if (parts.length) return `${parts.join("; ")}.`;
  return run.rows.some(isMeasured) ? "This run has no fused rows." : "This run measured nothing.";
};

const rulesText = () => [rivalMetrics().length ? rules.not_slower : null,
  !nearCopy(run.cells).all ? null : run.meta.random ? rules.near_random : rules.near]
  .filter(Boolean).join(" ");

const figure = (value, text) => element("div", {class: "figure"}, element("b", {}, value),
  element("span", {}, text));

const figures = () => kMetrics.flatMap((metric) => {
  const values = metricValues(metric, run.cells);
  if (!values.length) return [];
  const worst = metricText(metric, Math.min(...values));
  const best = metricText(metric, Math.max(...values));
  return [figure(metricText(metric, median(values)),
    `${metric.label.toLowerCase()}, median of ${values.length} (${worst} to ${best})`)];
}).concat(figure(String(run.rows.length), [
  `rows: ${plural(run.cases.length, "case")}, ${plural(run.providers.length, "provider")}`,
  failedRows.length ? `, ${failedRows.length} failed` : ", none failed",
  skippedRows.length ? `, ${skippedRows.length} skipped` : ""].join("")));

const commandLine = (text) => {
  const code = element("code", {}, text);
  const button = element("button", {type: "button", class: "quiet copy", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    } catch {  // not allowed here: select the text, so that a key press copies it
      getSelection().selectAllChildren(code);
    }
  }}, "Copy");
  return element("div", {class: "command"}, code, button);
};

// The comparison's result, with the cases that got slower.
const verdictText = () => {
  const count = (list, verdict) => list.filter((each) => each.verdict === verdict).length;
  const slow = comparison.cases.filter((each) => each.verdict === "slower")
    .map((each) => `${each.case} ${each.dtype} ${each.provider} takes ${formatRatio(each.change)}`);
  return `${plural(count(comparison.rows, "slower"), "row")} slower, ` +
    `${count(comparison.rows, "faster")} faster, ${count(comparison.rows, "same")} the same; ` +
    `noise between the runs ${formatPercent(comparison.noise)}` +
    (comparison.rows.some((row) => row.undecided) ?
      `; ${comparison.rows.filter((row) => row.undecided).length} of the same could not be judged` :
      "") +
    (slow.length ? `; over all shapes ${slow.join(", ")}` : "");
};

const facts = () => {
  const {meta} = run;
  const limits = [`copy ${formatBandwidth(meta.copy_bytes_per_s)}`,
    meta.peak_flops_per_s ? `peak ${formatFlops(meta.peak_flops_per_s)} (f32)` : null];
  const commit = meta.commit ? [", commit ", element("code", {title: meta.commit},
    meta.commit.slice(0, 12))] : [];
  const versions = Object.entries(meta.versions).map(([name, version]) => `${name} ${version}`);
  const rows = [
    ["Machine", [`${meta.device}: ${meta.description}`]],
    ["Measured limits", [limits.filter(Boolean).join(", ")]],
    ["Sinter", [meta.version, ...commit]],
    ["With", [versions.join(", ")]],
    ["When", [`${meta.date.replace("T", " ").replace("Z", " UTC")}` +
      (meta.seconds ? `, ${meta.seconds} s a cell` : "")]],
    ["Command", [commandLine(meta.command_line)], true],
    compared ? ["Compared with", [`${compared.meta.date.slice(0, 10)}, version ` +
      `${compared.meta.version}, commit ${(compared.meta.commit || "unknown").slice(0, 12)}, on ` +
      compared.meta.description], true] : null,
    comparison ? ["Since then", [verdictText()], true] : null,
  ];
  return rows.filter((row) => row && row[1][0]).flatMap(([name, value, isWide]) => {
    const attributes = isWide ? {class: "wide"} : {};
    return [element("dt", attributes, name), element("dd", attributes, value)];
  });
};

// Equal messages once, with the number and names of rows.
const grouped = (rows, messageOf) => {
  const groups = new Map();
  for (const row of rows) {
    const message = messageOf(row);
    groups.set(message, [...(groups.get(message) || []), row]);
  }
  return [...groups].map(([message, list]) => {
    const names = list.slice(0, 3)
      .map((row) => `${row.case} ${row.shape} ${row.dtype} ${row.provider}`);
    const more = list.length > 3 ? `, and ${list.length - 3} more` : "";
    return element("li", {}, element("b", {}, message), ` (${names.join(", ")}${more})`);
  });
};

const remark = (summary, items, open = false) => items.length ? element("details", {open},
  element("summary", {}, summary), element("ul", {}, items)) : null;

const drawHeader = () => {
  const {meta} = run;
  byId("headline").textContent = headlineOf();
  byId("rules-text").textContent = rulesText();
  if (meta.interrupted)
    byId("banners").append(element("p", {class: "banner", role: "status"},
      "This run was interrupted: the results below are incomplete."));
  byId("figures").append(...figures());
  byId("facts").append(...facts());
  const remarks = [
    remark(`${plural(meta.notes.length, "note")} on the run`,
      meta.notes.map((note) => element("li", {}, note)), true),
    remark(`${plural(failedRows.length, "row")} failed`, grouped(failedRows, rowFailure)),
    remark(`${plural(skippedRows.length, "row")} skipped`,
      grouped(skippedRows, (row) => row.skipped)),
    remark(`Why ${plural(farRows.length, "cell is", "cells are")} far from the copy`,
      causeItems(farRows, true)),
    remark(`${plural(meta.not_run.length, "case")} cannot run yet`,
      meta.not_run.map((each) =>
        element("li", {}, element("b", {}, each.case), `: ${each.reason}`))),
  ];
  byId("remarks").append(...remarks.filter(Boolean));
  drawRandomSet();
};
