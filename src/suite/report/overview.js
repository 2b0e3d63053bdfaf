// All cases at once: a small heat map each, and a table of their medians.
const caseCard = (metric, name) => {
  const list = cellsOf(name, state.dtype);
  const values = metricValues(metric, list);
  const summary = values.length ? `median ${metricText(metric, median(values))}, ` +
    `${metricText(metric, Math.min(...values))} to ${metricText(metric, Math.max(...values))}` :
    "nothing to show for this metric";
  return element("button", {type: "button", class: "card", "data-case": name,
    onclick: () => { choose({case: name, tab: "cases"}); showTab("cases", true); writeAddress(); }},
    element("h3", {}, name), element("p", {class: "muted"}, summary), miniMap(metric, list));
};

const spanText = (values) => {
  const low = Math.min(...values);
  const high = Math.max(...values);
  return low === high ? String(low) : `${low}–${high}`;
};

const summaryRow = (name) => {
  const list = cellsOf(name, state.dtype);
  const rowsOf = (provider) => list.map((cell) => cell.byProvider.get(provider)).filter(isMeasured);
  const medianCell = (metric) => {
    const values = metricValues(metric, list);
    return values.length ? metricText(metric, median(values)) : "–";
  };
  const kernels = ["eager", "fused"].map((provider) => {
    const counts = rowsOf(provider).map((row) => row.kernels).filter((count) => count !== null);
    return counts.length ? spanText(counts) : "–";
  });
  const compile = median(rowsOf("fused").map((row) => row.compile_ms).filter((ms) => ms !== null));
  const rows = list.flatMap((cell) => [...cell.byProvider.values()]);
  const failed = rows.filter(rowFailure).length;
  const skipped = rows.filter((row) => !rowFailure(row) && row.skipped).length;
  const eager = metricValues(kMetrics[0], list);
  const texts = [...kMetrics.filter((metric) => metric.value !== "peer" || run.peers.length)
    .map(medianCell), eager.length ? `${wins(eager)} of ${eager.length}` : "–", kernels.join(" → "),
  compile === null ? "–" : formatMs(compile), String(failed), String(skipped)];
  return element("tr", {}, element("th", {scope: "row", class: "text"}, name),
    texts.map((text) => element("td", {}, text)));
};

const summaryTable = (names) => {
  const titles = ["Case", ...kMetrics.filter((metric) => metric.value !== "peer" || run.peers.length)
    .map((metric) => metric.label), "Faster than eager in", "Kernels, eager → fused",
  "Compile, fused", "Failed", "Skipped"];
  return element("div", {class: "table-box"}, element("table", {class: "data"},
    element("thead", {}, element("tr", {}, titles.map((title, i) =>
      element("th", {scope: "col", class: i ? "plain" : "plain text"}, title)))),
    element("tbody", {}, names.map(summaryRow))));
};

const drawOverview = (panel) => {
  const metric = findMetric(state.metric);
  const names = run.cases.filter((name) => dtypesOf(name).includes(state.dtype));
  panel.replaceChildren(
    element("div", {class: "controls"}, metricControl(), dtypeControl() || ""),
    element("div", {class: "case-grid"}, names.map((name) => caseCard(metric, name))),
    element("div", {style: "margin-top:12px"},
      heatLegend(metric, run.cells.filter((cell) => cell.dtype === state.dtype)),
      element("p", {class: "muted small", style: "margin:6px 0 0"},
        "In each map rows grow downwards and columns to the right. Choose one for its numbers.")),
    element("h2", {}, `Medians by case, ${state.dtype}`), summaryTable(names));
};
