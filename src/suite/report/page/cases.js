// One case: its grid, and each provider's rate over size compared with the copy's.
const kRates = {
  bytes: {label: "GB/s", scale: 1e9, axis: "GB/s (bytes that must move / time)",
    amount: (row) => row.bytes_min, format: formatBandwidth},
  flops: {label: "GFLOP/s", scale: 1e9, axis: "GFLOP/s", amount: (row) => row.flops,
    format: formatFlops},
};
const kAxes = {
  elements: {label: "elements", axis: "elements", of: (cell) => cell.elements},
  bytes: {label: "bytes", axis: "bytes that must move",
    of: (cell) => [...cell.byProvider.values()][0].bytes_min},
};

const optionsOf = (table) => Object.entries(table).map(([value, {label}]) => ({value, label}));

// The shapes in a plot: "square", "cols=128", "rows=128", "all".
const inFamily = (family, cell) => {
  if (family === "all") return true;
  if (family === "square") return cell.rows === cell.cols;
  const [side, size] = family.split("=");
  return cell[side] === size;
};

const families = (list) => {
  const count = (family) => list.filter((cell) => inFamily(family, cell)).length;
  const fixed = (side) => gridOf(list)[side].map((size) => `${side}=${size}`)
    .filter((family) => count(family) > 1)
    .map((value) => ({value, label: value.replace("=", " = ")}));
  const groups = [
    {group: "Fixed columns", options: fixed("cols")}, {group: "Fixed rows", options: fixed("rows")},
  ].filter(({options}) => options.length);
  const square = count("square") > 1 ? [{value: "square", label: "square shapes"}] : [];
  return [...square, ...groups, {value: "all", label: "all shapes"}];
};

// By default, the first that gives a line of at least three points.
const chosenFamily = (list) => {
  const options = families(list).flatMap((each) => each.options || [each]).map(({value}) => value);
  if (options.includes(state.family)) return state.family;
  const count = (family) => list.filter((cell) => inFamily(family, cell)).length;
  return options.find((family) => count(family) > 2) || "all";
};

const ratePoints = (list, rowOf, timeOf) => {
  const {amount, scale} = kRates[state.rate];
  return list.filter((cell) => isMeasured(rowOf(cell)) && timeOf(rowOf(cell)) > 0)
    .map((cell) => ({x: kAxes[state.axis].of(cell),
      y: amount(rowOf(cell)) / timeOf(rowOf(cell)) * 1e6 / scale, cell, row: rowOf(cell)}))
    .filter(({y}) => y > 0).sort((a, b) => a.x - b.x);
};

const rateTooltip = (context) => {
  const {cell, row, y} = context.raw;
  const rate = kRates[state.rate];
  const time = context.dataset.label === "copy limit" ? formatTime(row.limit_us) :
    formatTime(row.median_us);
  return `${context.dataset.label}, ${cell.shape}: ${rate.format(y * rate.scale)}, ${time}`;
};

const rateChart = (list, family) => {
  const shown = list.filter((cell) => inFamily(family, cell));
  const isLine = family !== "all";
  const sets = run.providers.map((name) => pointSet(name,
    ratePoints(shown, (cell) => cell.byProvider.get(name), (row) => row.median_us), isLine))
    .filter(({data: points}) => points.length);
  const limit = plainLine("copy limit",
    ratePoints(shown, (cell) => cell.byProvider.get("fused") || cell.byProvider.get("eager"),
      (row) => row.limit_us), [6, 4]);
  if (!isLine) Object.assign(limit, {showLine: false, pointRadius: 4, pointStyle: "cross"});
  if (limit.data.length) sets.push(limit);
  const {axis, label} = kRates[state.rate];
  return chartBox("rate-chart", `${label} of ${state.case} over size`, sets, {
    x: logAxis(kAxes[state.axis].axis, powerTick(
      withoutZeros(state.axis === "bytes" ? formatBytes : formatCount))),
    y: {...logAxis(axis), type: "linear", beginAtZero: true},
  }, rateTooltip);
};

const farList = (list) => {
  const far = list.map(farOf).filter(Boolean);
  const {near, all} = nearCopy(list);
  if (!far.length) return null;
  return element("div", {class: "far small", id: "far-cells"},
    element("p", {}, element("b", {}, `${near} of ${plural(all, "cell")} are near the copy. `),
      `What probably holds the other${far.length === 1 ? "" : "s"} back, likeliest cause first:`),
    element("ul", {}, causeItems(far, false)));
};

const drawCases = (panel) => {
  const available = dtypesOf(state.case);
  if (!available.includes(state.dtype)) state.dtype = available[0];
  const list = cellsOf(state.case, state.dtype);
  if (!list.length) {
    panel.replaceChildren(element("p", {class: "muted"}, "This run measured nothing."));
    return;
  }
  const family = chosenFamily(list);
  panel.replaceChildren(
    element("div", {class: "controls"}, caseControl(), dtypeControl(available) || "",
      metricControl()),
    heatMap(findMetric(state.metric), list), farList(list) || "",
    element("h2", {}, "Speed over size"),
    element("div", {class: "controls"},
      selectBox("Shapes", "family", families(list), family, (value) => choose({family: value})),
      chips("Rate", optionsOf(kRates), state.rate, (rate) => choose({rate})),
      chips("Size in", optionsOf(kAxes), state.axis, (axis) => choose({axis}))),
    element("div", {class: "card"}, rateChart(list, family)));
};
