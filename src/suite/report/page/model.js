// The page's model of a run: cells (case, dtype, shape) with their providers' rows, and metrics of a
// cell. In: results.json, and perhaps an earlier run's with the comparison. Out: `run`.
const data = JSON.parse(byId("data").textContent);
const compared = JSON.parse(byId("compared").textContent);
const comparison = JSON.parse(byId("comparison").textContent);  // of both runs, beyond the noise
const rules = JSON.parse(byId("rules").textContent);  // what "not slower" and "near" mean

const isWrong = (row) => row.tolerance !== null && row.max_rel_err !== null &&
  !(row.max_rel_err <= row.tolerance);
const rowFailure = (row) => row.error ? row.error : isWrong(row) ?
  `wrong result: relative error ${formatError(row.max_rel_err)}, tolerance ` +
  formatError(row.tolerance) : null;
const isMeasured = (row) => row && !rowFailure(row) && !row.skipped && row.median_us > 0;

const cellKey = (row) => JSON.stringify([row.case, row.dtype, row.shape]);
const unique = (values) => [...new Set(values)];

const productOf = (text) => text.split("x").reduce((product, part) => product * Number(part), 1);

// "8x128x512" has 8x128 rows of 512 columns; a vector is one row.
const splitShape = (shape) => {
  const at = shape.lastIndexOf("x");
  return at < 0 ? {rows: "1", cols: shape} : {rows: shape.slice(0, at), cols: shape.slice(at + 1)};
};
const bySize = (a, b) => productOf(a) - productOf(b) || (a < b ? -1 : a > b ? 1 : 0);

const makeCells = (rows) => {
  const cells = new Map();
  for (const row of rows) {
    const key = cellKey(row);
    if (!cells.has(key))
      cells.set(key, {case: row.case, dtype: row.dtype, shape: row.shape, ...splitShape(row.shape),
        elements: productOf(row.shape), byProvider: new Map()});
    cells.get(key).byProvider.set(row.provider, row);
  }
  return cells;
};

const kProviderOrder = ["fused", "eager", "torch_compile", "torch_eager"];
const providerRank = (name) =>
  kProviderOrder.includes(name) ? kProviderOrder.indexOf(name) : kProviderOrder.length;

const cells = makeCells(data.rows);
const cellsBefore = compared ? makeCells(compared.rows) : new Map();
const run = {
  meta: data.meta,
  rows: data.rows,
  plans: data.plans,
  cells: [...cells.values()],
  cases: unique(data.rows.map((row) => row.case)),
  dtypes: unique(data.rows.map((row) => row.dtype)),
  providers: unique(data.rows.map((row) => row.provider))
    .sort((a, b) => providerRank(a) - providerRank(b)),
};
run.peers = run.providers.filter(
  (name) => !["eager", "fused", "batch_invariant"].includes(name));

const cellOf = (row) => cells.get(cellKey(row));
const cellsOf = (caseName, dtype) =>
  run.cells.filter((cell) => cell.case === caseName && cell.dtype === dtype);
const dtypesOf = (caseName) =>
  unique(run.cells.filter((cell) => cell.case === caseName).map((cell) => cell.dtype));

// A rival's time: the median, or a lower quantile if its samples vary widely (it was disturbed).
const steadyUs = (row) =>
  row.p20_us > 0 && row.p80_us > rules.far_apart * row.p20_us ? row.p20_us : row.median_us;

const bestPeer = (cell) => {
  const peers = run.peers.map((name) => cell.byProvider.get(name));
  const measured = peers.filter(isMeasured).sort((a, b) => steadyUs(a) - steadyUs(b));
  return measured[0] || peers.find((row) => row);
};
const rowBefore = (row) => {
  const cell = cellsBefore.get(cellKey(row));
  return cell && cell.byProvider.get(row.provider);
};
const changeKey = (row) => JSON.stringify([row.case, row.dtype, row.shape, row.provider]);
const changes = new Map(comparison ? comparison.rows.map((row) => [changeKey(row), row]) : []);
const changeOf = (row) => changes.get(changeKey(row));
const speedUp = (rival, row) =>
  isMeasured(rival) && isMeasured(row) ? steadyUs(rival) / row.median_us : null;
const gainSince = (before, row) =>
  isMeasured(before) && isMeasured(row) ? before.median_us / row.median_us : null;
// scripts/results_table.py has the same rule, a test compares both.
const isNotSlower = (gain) => gain * rules.noise >= 1;
const notSlower = (gains) => gains.filter(isNotSlower).length;
// Sample by sample if both were timed in turns; a peer was not.
const limitShare = (row) => {
  if (!isMeasured(row)) return null;
  if (row.limit_ratio > 0) return 1 / row.limit_ratio;
  return row.limit_us > 0 ? row.limit_us / row.median_us : null;
};

// Metrics for heat maps. `other` is the row that the fused one is compared with, `rival` its name in
// a sentence, `why` the reason if a run has no such numbers.
const kMetrics = [
  {value: "eager", label: "Fused over eager", unit: "ratio", what: "eager time / fused time",
    other: (cell) => cell.byProvider.get("eager"), gain: speedUp, rival: "eager",
    why: "This run has no eager rows to compare with."},
  {value: "peer", label: "Fused over best peer", unit: "ratio",
    what: "best peer's time / fused time", other: bestPeer, gain: speedUp,
    rival: run.peers.length > 1 ? `the best of ${run.peers.join(" and ")}` : run.peers[0],
    why: "This run has no peers, e.g. PyTorch, to compare with."},
  {value: "limit", label: "Fraction of limit", unit: "share", what: "copy's time / fused time",
    other: null, why: "This run has no limits: the copy was not timed."},
  {value: "before", label: "Against the earlier run", unit: "ratio",
    what: "fused time before / now", other: (cell) => rowBefore(cell.byProvider.get("fused")),
    gain: gainSince, why: "The earlier run has none of these rows."},
].filter((metric) => metric.value !== "before" || compared);

const rowState = (row) => {
  if (!row) return {state: "missing", why: "not measured"};
  const failure = rowFailure(row);
  if (failure) return {state: "failed", why: `${row.provider}: ${failure}`};
  if (row.skipped) return {state: "skipped", why: `${row.provider}: ${row.skipped}`};
  if (!isMeasured(row))
    return {state: "missing", why: `${row.provider}: ${row.reasons.median_us || "not measured"}`};
  return {state: "ok"};
};

// {state: ok | failed | skipped | missing, value, why}
const metricOf = (metric, cell) => {
  const fused = cell && cell.byProvider.get("fused");
  const state = rowState(fused);
  if (state.state !== "ok") return state;
  if (!metric.other) {
    const share = limitShare(fused);
    return share === null ? {state: "missing", why: fused.reasons.limit_us || "no limit measured"} :
      {state: "ok", value: share};
  }
  const other = metric.other(cell);
  const otherState = rowState(other);
  // The fused one ran: a failure of its rival is not a failure of this cell.
  if (otherState.state !== "ok") return {state: "missing", why: otherState.why};
  return {state: "ok", value: metric.gain(other, fused)};
};
const metricValues = (metric, list) =>
  list.map((cell) => metricOf(metric, cell)).filter(({state}) => state === "ok")
    .map(({value}) => value);
const metricText = (metric, value) =>
  metric.unit === "share" ? formatPercent(value) : formatRatio(value);
const findMetric = (value) => kMetrics.find((metric) => metric.value === value);

// The metrics this run has numbers for; the first is the default.
const kMetricOptions = kMetrics.map((metric) => metricValues(metric, run.cells).length ?
  {...metric, why: undefined} : {...metric, disabled: true});
const shownMetrics = () => kMetricOptions.filter(({disabled}) => !disabled);
const rivalMetrics = () => shownMetrics().filter(({rival}) => rival);
const firstMetric = (shownMetrics()[0] || kMetrics[0]).value;
