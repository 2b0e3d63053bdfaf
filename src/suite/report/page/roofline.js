// The roofline: operations per second over operations per byte, below the limits set by a copy and by
// this machine's peak FMA rate. In: rows of the chosen cases. Out: a log-log chart.
const intensityOf = (row) => row.flops / row.bytes_min;

// All shapes of a case have about the same intensity: providers are drawn side by side, not on top of
// each other.
const kAside = 1.045;

const roofPoints = (provider, at) => run.rows
  .filter((row) => row.provider === provider && row.dtype === state.dtype && isMeasured(row) &&
    row.flops > 0 && row.bytes_min > 0 && (!state.roofcase || row.case === state.roofcase))
  .map((row) => ({x: intensityOf(row) * kAside ** (at - (run.providers.length - 1) / 2),
    y: row.flops / row.median_us / 1e3, row}));

// Axis ranges: all points, and the ridge where both roofs meet.
const spanOf = (points) => {
  const {copy_bytes_per_s: copy, peak_flops_per_s: peak} = run.meta;
  const ridge = peak && copy ? peak / copy : null;
  const xs = points.map(({x}) => x);
  return {ridge, low: Math.min(...xs) / 2, high: Math.max(...xs, ridge || 0) * 2.5};
};

// The copy's slope up to the FMA peak.
const roofs = (points) => {
  const {copy_bytes_per_s: copy, peak_flops_per_s: peak} = run.meta;
  const {ridge, low, high} = spanOf(points);
  const sets = [];
  const end = ridge || high;
  if (copy)
    sets.push(plainLine(`what memory allows: a large copy, ${formatBandwidth(copy)}`,
      [{x: low, y: copy * low / 1e9}, {x: end, y: copy * end / 1e9}], [6, 4]));
  if (peak)
    sets.push(plainLine(`what arithmetic allows: multiply-adds, ${formatFlops(peak)}`,
      [{x: ridge || low, y: peak / 1e9}, {x: high, y: peak / 1e9}], [2, 3]));
  return sets;
};

// Labels: the cases at their intensities, or one case's shapes.
const roofNames = (points) => {
  if (state.roofcase) {
    const right = Math.max(...points.map(({x}) => x));
    return pointNames(points.filter(({row}) => row.provider === points[0].row.provider)
      .map(({y, row}) => ({x: right, y, text: row.shape})));
  }
  const columns = unique(points.map(({row}) => row.case)).map((name) => ({text: name,
    x: median(points.filter(({row}) => row.case === name).map(({row}) => intensityOf(row)))}));
  return columnNames(columns.sort((a, b) => a.x - b.x));
};

const roofTooltip = (context) => {
  const {row, y} = context.raw;
  if (!row) return context.dataset.label;
  const share = limitShare(row);
  return [`${row.case} ${row.shape}, ${row.provider}`,
    `${formatFlops(y * 1e9)} at ${digits3(intensityOf(row))} FLOP/byte, ` +
    formatTime(row.median_us) +
    (share === null ? "" : `, ${formatPercent(share)} of the copy limit`)];
};

const caseChips = () => {
  const options = run.cases.filter((name) => dtypesOf(name).includes(state.dtype)).map((name) => {
    const rows = run.rows.filter((row) => row.case === name && row.dtype === state.dtype &&
      row.bytes_min > 0);
    const intensity = median(rows.map(intensityOf));
    return {value: name, label: intensity === null ? name : `${name} · ${digits3(intensity)}`};
  });
  return chips("Case · FLOP/byte", [{value: "", label: "all cases"}, ...options], state.roofcase,
    (roofcase) => choose({roofcase}));
};

const drawRoofline = (panel) => {
  const sets = run.providers.map((name, i) => ({...pointSet(name, roofPoints(name, i), false),
    pointRadius: 3.5, backgroundColor: `${providerColour(name)}b0`, borderWidth: 1}))
    .filter(({data: points}) => points.length);
  const points = sets.flatMap((set) => set.data);
  const controls = element("div", {class: "controls"}, caseChips(), dtypeControl() || "");
  if (!points.length) {
    panel.replaceChildren(controls, element("p", {class: "muted"}, "No measured rows to place."));
    return;
  }
  const {peak_flops_per_s: peak} = run.meta;
  const {low, high} = spanOf(points);
  panel.replaceChildren(controls,
    element("div", {class: "card"}, chartBox("roof-chart", "Roofline of the measured rows",
      [...sets, ...roofs(points)], {
        x: {...logAxis("FLOP for each byte that must move",
          powerTick((x) => String(+x.toPrecision(3)))), min: low, max: high},
        y: logAxis("GFLOP/s", powerTick((y) => String(+y.toPrecision(3)))),
      }, roofTooltip, roofNames(points))),
    element("p", {class: "muted small", style: "margin-top:10px"},
      "Each point is a shape of the case named above it. A point on the slope moves bytes as " +
      "fast as a large copy; points above it found their data in the cache, and points far below " +
      "it are too small to fill the machine, or leave something to gain. Providers stand side by " +
      "side, though their intensity is the same.",
      peak ? "" : " The flat roof is missing: this run did not measure multiply-adds."));
};
