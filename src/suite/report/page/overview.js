// All cases: a small heat map each, and a table of their medians.
const caseCard = (metric, name) => {
  const list = cellsOf(name, state.dtype);
  const values = metricValues(metric, list);
  const summary = values.length ? `median ${metricText(metric, median(values))}, ` +
    `${metricText(metric, Math.min(...values))} to ${metricText(metric, Math.max(...values))}` :
    "nothing to show for this metric";
  return element("button", {type: "button", class: "card", "data-case": name,
    onclick: () => { choose({case: name}); showTab("cases", true); writeAddress(); }},
    element("h3", {}, name), element("p", {class: "muted"}, summary), miniMap(metric, list));
};

const spanText = (values) => {
  const low = Math.min(...values);
  const high = Math.max(...values);
  return low === high ? String(low) : `${low}–${high}`;
};

// Kernels from the disk cache were not compiled: such rows count only if there are no others.
const compileText = (rows) => {
  const compiled = rows.filter((row) => row.kernels_from_disk === 0);
  const of = (list) => formatMs(median(list.map((row) => row.compile_ms)));
  if (compiled.length) return of(compiled);
  return rows.length ? `${of(rows)} (from cache)` : "–";
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
  const compile = compileText(rowsOf("fused").filter((row) => row.compile_ms !== null));
  const rows = list.flatMap((cell) => [...cell.byProvider.values()]);
  const failed = rows.filter(rowFailure).length;
  const skipped = rows.filter((row) => !rowFailure(row) && row.skipped).length;
  const {near, all} = nearCopy(list);
  const texts = [...shownMetrics().map(medianCell), ...rivalMetrics().map((metric) => {
    const gains = metricValues(metric, list);
    return gains.length ? `${notSlower(gains)} of ${gains.length}` : "–";
  }), all ? `${near} of ${all}` : "–", causeSummary(list.map(farOf).filter(Boolean)) || "–",
  kernels.filter((text) => text !== "–").join(" → ") || "–", compile,
  ...(failedRows.length ? [String(failed)] : []), ...(skippedRows.length ? [String(skipped)] : [])];
  return element("tr", {}, element("th", {scope: "row", class: "text"}, name),
    texts.map((text) => element("td", {}, text)));
};

const summaryTable = (names) => {
  const kernels = run.providers.includes("eager") ? "Kernels, eager → fused" : "Kernels";
  const titles = ["Case", ...shownMetrics().map((metric) => metric.label),
    ...rivalMetrics().map(({value}) => `Not slower than ${value === "peer" ? "best peer" : value}`),
    "Near the copy", "Far cells, probably bound by", kernels, "Compile, fused",
    ...(failedRows.length ? ["Failed"] : []), ...(skippedRows.length ? ["Skipped"] : [])];
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
        isSparse(run.cells) ? "Each field is a shape. Choose a case for its numbers." :
          "In each map rows grow downwards and columns to the right. Choose one for its numbers.")),
    element("h2", {}, `Medians by case, ${state.dtype}`), summaryTable(names));
};
