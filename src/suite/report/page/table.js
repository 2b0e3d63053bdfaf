// All rows with all metrics: sorted by a click on a header, filtered, drawn piece by piece so that
// thousands stay fast.
const kPiece = 150;

const farOfRow = (row) => row.provider === "fused" ? farOf(row) : undefined;

const amount = (field, label, format, title) => ({field, label, format, title,
  value: (row) => row[field]});
const kColumns = [
  {field: "case", label: "Case", text: true, value: (row) => row.case},
  {field: "shape", label: "Shape", text: true, value: (row) => row.shape,
    order: (row) => productOf(row.shape)},
  {field: "dtype", label: "Type", text: true, value: (row) => row.dtype},
  {field: "provider", label: "Provider", text: true, value: (row) => row.provider},
  amount("median_us", "Time", formatTime, "Median"),
  {field: "p20_us", label: "p20–p80", title: "Median of the samples",
    value: (row) => row.p20_us,
    format: (value, row) => formatTimes(value, row.p80_us)},
  amount("limit_us", "Limit", formatTime, "A copy of the minimal traffic"),
  {field: "share", label: "Of limit", value: limitShare, format: formatPercent, reason: "limit_us"},
  {field: "gain", label: "Over eager", title: "Eager's time / this one's", format: formatRatio,
    value: (row) => row.provider === "eager" ? null :
      speedUp(cellOf(row).byProvider.get("eager"), row), reason: "median_us"},
  {field: "far", label: "Probably bound by", text: true,
    title: "Of fused rows that are far from the copy", value: (row) => farOfRow(row) || null,
    order: (row) => farOfRow(row) ? farOfRow(row).causes[0].kind : null,
    format: (far) => unique(far.causes.map(({kind}) => kind)).join(", ")},
  amount("call_us", "Call", formatTime, "Host time of a call, at small shapes"),
  amount("bytes_min", "Least traffic", formatBytes, "Every input read once, every output written"),
  amount("bytes_planned", "Planned traffic", formatBytes, "What the plan's kernels read and write"),
  amount("bytes_measured", "Measured traffic", formatBytes, "By the memory controllers' counters"),
  amount("buffer_bytes", "Buffers", formatBytes, "Of intermediates, sharing memory"),
  amount("compile_ms", "Compile", formatMs),
  amount("kernels", "Kernels", String),
  {field: "max_rel_err", label: "Rel. error", value: (row) => row.max_rel_err,
    order: (row) => row.max_rel_err === null ? null : Number.isFinite(Number(row.max_rel_err)) ?
      Number(row.max_rel_err) : Infinity,
    format: (value, row) => formatError(value) + (isWrong(row) ? " !" : ""),
    title: "Against f64; the tolerance is in a cell's tooltip"},
  amount("max_abs_err", "Abs. error", formatError, "Against f64"),
  amount("flops", "FLOP", formatCount),
  amount("instructions", "Instructions", formatCount),
  amount("peak_bytes", "Peak memory", formatBytes, "Of one call: intermediates and outputs"),
];
if (compared)
  kColumns.splice(9, 0, {field: "before", label: "Over earlier run",
    title: "Time before / now; slower and faster are beyond the noise", reason: "median_us",
    value: (row) => gainSince(rowBefore(row), row),
    format: (value, row) => {
      const change = changeOf(row);
      return formatRatio(value) +
        (change && change.verdict !== "same" ? ` ${change.verdict}` : "");
    }});

// A column without a single value takes room and says nothing: the reasons below the table do.
// Nor does one that says the same of all rows.
const kShownColumns = kColumns.filter((column) =>
  column.field === "dtype" ? run.dtypes.length > 1 :
    ["case", "shape", "provider"].includes(column.field) ||
      run.rows.some((row) => (column.value(row) ?? null) !== null));

const kFilters = ["case", "provider", "shape", "dtype"];
const view = {column: null, descending: false, text: "", case: "", provider: "", shape: "",
  dtype: ""};

const orderOf = (column, row) => column.order ? column.order(row) : column.value(row);

const visibleRows = () => {
  const words = view.text.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = run.rows.filter((row) =>
    kFilters.every((name) => !view[name] || row[name] === view[name]) &&
    words.every((word) => [row.case, row.shape, row.dtype, row.provider, row.error, row.skipped]
      .join(" ").toLowerCase().includes(word)));
  if (!view.column) return rows;
  const keyed = rows.map((row) => ({row, key: orderOf(view.column, row)}));
  const sign = view.descending ? -1 : 1;
  keyed.sort((a, b) => {
    // What has no value stands last in either direction.
    if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
    return sign * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
  });
  return keyed.map(({row}) => row);
};

const whyNull = (column, row) => rowFailure(row) || row.skipped ||
  row.reasons[column.reason || column.field] ||
  (column.field === "gain" && row.provider === "eager" ? "this is eager" :
    column.field === "far" ? (row.provider === "fused" ? "near the copy" : "not a fused row") :
      "not measured");

const cellNote = (column, row) => {
  if (column.field === "far" && farOfRow(row)) return farText(farOfRow(row));
  if (column.field === "max_rel_err" && row.tolerance !== null)
    return `tolerance ${formatError(row.tolerance)}, ${row.checked_elements} elements checked`;
  if (column.field === "before" && changeOf(row))
    return `a change of less than ${formatPercent(changeOf(row).noise)} means nothing`;
  if (column.field === "compile_ms" && row.kernels_from_disk)
    return `${row.kernels_from_disk} of ${plural(row.kernels, "kernel")} out of the disk cache`;
  return null;
};

const dataCell = (column, row) => {
  if (column.field === "median_us") {
    const failure = rowFailure(row);
    if (failure || row.skipped)
      return element("td", {}, element("span", {class: failure ? "badge failed" : "badge",
        title: failure || row.skipped}, failure ? "failed" : "skipped"));
  }
  const value = column.value(row);
  if (value === null || value === undefined) {
    const why = whyNull(column, row);
    return element("td", {class: column.text ? "text" : null},
      element("abbr", {title: why, "aria-label": `none: ${why}`}, "–"));
  }
  if (column.field === "provider")
    return element("td", {class: "text"}, element("span", {class: "provider",
      style: `--mark:${providerColour(value)}`}, value));
  const change = column.field === "before" && changeOf(row);
  const mark = change && change.verdict !== "same" ? change.verdict : null;
  return element("td", {class: column.text ? "text" : mark, title: cellNote(column, row)},
    column.format ? column.format(value, row) : value);
};

const headerCell = (column, onSort) => element("th", {scope: "col", title: column.title,
  class: column.text ? "text" : null, "data-field": column.field, "aria-sort": "none"},
element("button", {type: "button", onclick: () => onSort(column)}, column.label));

// Why values are missing, each reason once: tooltips are out of reach on a phone.
const missingReasons = () => {
  const reasons = new Map();
  for (const row of run.rows)
    for (const [field, why] of Object.entries(row.reasons)) {
      const key = `${field}: ${why}`;
      reasons.set(key, (reasons.get(key) || 0) + 1);
    }
  if (!reasons.size) return "";
  return element("details", {class: "explained small", style: "margin-top:10px"},
    element("summary", {}, "Why some values are missing"), element("ul", {},
      [...reasons].map(([text, count]) => element("li", {}, `${text} (${plural(count, "row")})`))));
};

const filterControls = (update) => {
  const filter = (label, name, values) => selectBox(label, `filter-${name}`,
    [{value: "", label: "all"}, ...values.map((value) => ({value, label: value}))], view[name],
    (value) => { view[name] = value; update(); });
  return element("div", {class: "controls"},
    element("div", {class: "control"},
      element("label", {class: "name", for: "filter-text"}, "Search"),
      element("input", {type: "search", id: "filter-text", value: view.text,
        placeholder: "case, shape, error …",
        oninput: (event) => { view.text = event.target.value; update(); }})),
    filter("Case", "case", run.cases), filter("Provider", "provider", run.providers),
    filter("Shape", "shape", unique(run.rows.map((row) => row.shape)).sort(bySize)),
    filter("Type", "dtype", run.dtypes));
};

const drawTable = (panel) => {
  const body = element("tbody");
  const status = element("p", {class: "muted small", id: "row-count", "aria-live": "polite"});
  const more = element("button", {type: "button", class: "quiet more", style: "margin-top:8px"});
  const heads = kShownColumns.map((column) => headerCell(column, (chosen) => {
    view.descending = view.column === chosen && !view.descending;
    view.column = chosen;
    update();
  }));
  let rows = [];
  const append = (count) => {
    const from = body.rows.length;
    body.append(...rows.slice(from, from + count).map((row) =>
      element("tr", {}, kShownColumns.map((column) => dataCell(column, row)))));
    const left = rows.length - body.rows.length;
    more.hidden = left === 0;
    more.textContent = `Show the other ${plural(left, "row")}`;
  };
  const update = () => {
    rows = visibleRows();
    heads.forEach((head, i) => head.setAttribute("aria-sort",
      view.column !== kShownColumns[i] ? "none" : view.descending ? "descending" : "ascending"));
    status.textContent = `${rows.length} of ${plural(run.rows.length, "row")}`;
    body.replaceChildren();
    append(kPiece);
  };
  more.addEventListener("click", () => append(rows.length));
  const box = element("div", {class: "table-box", tabindex: 0, role: "region",
    "aria-label": "All rows"}, element("table", {class: "data", id: "rows"},
    element("thead", {}, element("tr", {}, heads)), body));
  box.addEventListener("scroll", () => {
    if (box.scrollTop + box.clientHeight > box.scrollHeight - 600 && !more.hidden) append(kPiece);
  }, {passive: true});
  panel.replaceChildren(filterControls(update), status, box, more, missingReasons());
  update();
};
