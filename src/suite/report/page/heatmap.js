// The grid of a case: a cell per shape, coloured by a metric. In: cells of one case and dtype.
// Out: a table with arrow key navigation, or a small version without text.
const gridOf = (list) => ({
  rows: unique(list.map((cell) => cell.rows)).sort(bySize),
  cols: unique(list.map((cell) => cell.cols)).sort(bySize),
  at: new Map(list.map((cell) => [`${cell.rows}|${cell.cols}`, cell])),
});

// Whether most combinations of rows and columns were not measured: a grid would be mostly empty.
const kSparse = 0.6;
const isSparse = (list) => {
  const shapes = unique(list.map((cell) => cell.shape)).length;
  const {rows, cols} = gridOf(list);
  return shapes < kSparse * rows.length * cols.length;
};
// In that case every shape gets a field in one row.
const shapesOf = (list) => ({
  rows: [""],
  cols: unique(list.map((cell) => cell.shape)).sort(bySize),
  at: new Map(list.map((cell) => [`|${cell.shape}`, cell])),
});
const layoutOf = (list) => isSparse(list) ? shapesOf(list) : gridOf(list);

const kStateText = {failed: "fail", skipped: "skip", missing: "–"};

const providerLine = (name, row) => {
  const {state: what, why} = rowState(row);
  if (what !== "ok") return why;
  const range = row.p20_us === null ? "" :
    ` (${formatTime(row.p20_us)} to ${formatTime(row.p80_us)})`;
  const kernels = row.kernels === null ? "" : `, ${plural(row.kernels, "kernel")}`;
  return `${name} ${formatTime(row.median_us)}${range}, ` +
    `${formatBandwidth(row.bytes_min / row.median_us * 1e6)}${kernels}`;
};

const cellDetails = (cell) => {
  const lines = [`${cell.case} ${cell.shape} ${cell.dtype}`];
  for (const name of run.providers)
    if (cell.byProvider.has(name)) lines.push(providerLine(name, cell.byProvider.get(name)));
  const fused = cell.byProvider.get("fused");
  if (fused && fused.limit_us !== null)
    lines.push(`limit ${formatTime(fused.limit_us)} for ${formatBytes(fused.bytes_min)}`);
  const far = farOf(cell);
  if (far) lines.push(farText(far));
  return lines;
};

const heatCell = (metric, cell) => {
  if (!cell) return element("td", {tabindex: -1, "data-state": "none"});
  const {state: what, value, why} = metricOf(metric, cell);
  const title = [...cellDetails(cell), why].filter(Boolean).join("\n");
  if (what !== "ok")
    return element("td", {tabindex: -1, title, class: `hatched ${what}`, "data-state": what},
      element("span", {}, kStateText[what]));
  return element("td", {tabindex: -1, title, "data-state": what, style: cellStyle(metric, value)},
    metricText(metric, value));
};

const kSteps = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};

// One cell is reachable with Tab, the others with arrow keys. The cell's details are shown below as
// text, for users who cannot hover.
const walkable = (table, detail, cellAt) => {
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1));
  const show = (cell) => {
    if (cell) detail.textContent = cellDetails(cell).join(" · ");
  };
  rows.forEach((row, r) => row.forEach((td, c) => {
    td.addEventListener("mouseenter", () => show(cellAt(r, c)));
    td.addEventListener("click", () => td.focus());
    td.addEventListener("focus", () => {
      rows.flat().forEach((each) => { each.tabIndex = -1; });
      td.tabIndex = 0;
      show(cellAt(r, c));
    });
    td.addEventListener("keydown", (event) => {
      const step = kSteps[event.key];
      const next = step && rows[r + step[0]] && rows[r + step[0]][c + step[1]];
      if (!step) return;
      event.preventDefault();
      if (next) next.focus();
    });
  }));
  if (rows[0] && rows[0][0]) rows[0][0].tabIndex = 0;
};

const heatMap = (metric, list) => {
  const grid = layoutOf(list);
  const cellAt = (r, c) => grid.at.get(`${grid.rows[r]}|${grid.cols[c]}`);
  const table = element("table", {class: "heat", role: "grid", style: `--cols:${grid.cols.length}`,
    "aria-label": `${metric.label} of ${state.case}, rows by columns`},
    element("thead", {}, element("tr", {}, element("th", {scope: "col"},
      isSparse(list) ? "shape" : "rows \\ cols"),
      grid.cols.map((cols) => element("th", {scope: "col"}, cols)))),
    element("tbody", {}, grid.rows.map((rows, r) => element("tr", {},
      element("th", {scope: "row"}, rows),
      grid.cols.map((_, c) => heatCell(metric, cellAt(r, c)))))));
  const detail = element("p", {class: "heat-detail", "aria-live": "polite"},
    "Hover over a cell, tap it, or use the arrow keys to see its times.");
  walkable(table, detail, cellAt);
  return element("div", {class: "card"}, element("div", {class: "scroll"}, table), detail,
    heatLegend(metric, list));
};

const heatLegend = (metric, list) => {
  const [from, to] = metric.unit === "share" ? ["0%", "100%"] :
    [`1/${2 ** kRatioSpan}×`, `${2 ** kRatioSpan}×`];
  const states = new Set(list.map((cell) => metricOf(metric, cell).state));
  const hatched = ["failed", "skipped", "missing"].filter((each) => states.has(each));
  return element("div", {class: "legend"},
    element("span", {}, from,
      element("span", {class: "bar", style: `background:${gradientOf(metric)}`}), to),
    element("span", {}, metric.unit === "share" ? `${metric.what}; more is better` :
      `${metric.what}; blue: fused is faster, orange: slower`),
    hatched.length ? element("span", {}, element("span", {class: "swatch hatched"}),
      hatched.join(", ").replace("missing", "not comparable")) : null);
};

// The same for a few shapes, with names and numbers.
const miniList = (metric, list) => element("div", {class: "mini listed", "aria-hidden": "true"},
  [...list].sort((a, b) => bySize(a.shape, b.shape)).map((cell) => {
    const {state: what, value} = metricOf(metric, cell);
    return element("i", {title: cell.shape, class: what === "ok" ? null : "hatched",
      style: what === "ok" ? cellStyle(metric, value) : null},
    element("span", {}, cell.shape),
    element("b", {}, what === "ok" ? metricText(metric, value) : kStateText[what]));
  }));

// Without text, for the overview; its label describes it in words.
const miniMap = (metric, list) => {
  if (isSparse(list)) return miniList(metric, list);
  const grid = gridOf(list);
  const marks = grid.rows.flatMap((rows) => grid.cols.map((cols) => {
    const cell = grid.at.get(`${rows}|${cols}`);
    const {state: what, value} = cell ? metricOf(metric, cell) : {state: "none"};
    const text = what === "ok" ? metricText(metric, value) : what;
    return element("i", {title: `${rows}x${cols}: ${text}`,
      class: what === "ok" || what === "none" ? null : "hatched",
      style: what === "ok" ? cellStyle(metric, value) : null});
  }));
  return element("div", {class: "mini", "aria-hidden": "true",
    style: `grid-template-columns:repeat(${grid.cols.length},1fr)`}, marks);
};
