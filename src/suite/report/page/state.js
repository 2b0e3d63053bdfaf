// The selection: tab, case, dtype, metric, plan. Kept in the URL, so that a view can be linked to:
// #cases?case=softmax&dtype=f32&metric=limit. Panels are drawn when they are first looked at.
const kDefaults = {tab: "overview", case: run.cases[0] || "", dtype: run.dtypes[0] || "",
  metric: firstMetric, axis: "elements", rate: "bytes", family: "", roofcase: "", plan: "0"};
const state = {...kDefaults};
const panels = [];  // {id, label, panel, button, draw, stale}

const readAddress = () => {
  const [tab, query] = location.hash.slice(1).split("?");
  Object.assign(state, kDefaults);
  if (panels.some(({id}) => id === tab)) state.tab = tab;
  for (const [name, value] of new URLSearchParams(query || ""))
    if (Object.hasOwn(kDefaults, name) && name !== "tab") state[name] = value;
  // A link from another run's page may name something this one does not have.
  const known = {case: run.cases, dtype: run.dtypes, roofcase: run.cases,
    metric: shownMetrics().map(({value}) => value),
    rate: Object.keys(kRates), axis: Object.keys(kAxes)};
  for (const [name, values] of Object.entries(known))
    if (!values.includes(state[name])) state[name] = kDefaults[name];
};

const writeAddress = () => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(state))
    if (name !== "tab" && value !== kDefaults[name]) query.set(name, value);
  const text = query.toString();
  history.replaceState(null, "", `#${state.tab}${text ? `?${text}` : ""}`);
};

const drawIfShown = (each) => {
  if (!each.stale || each.id !== state.tab) return;
  each.stale = false;
  each.draw(each.panel);
};

const redraw = () => {
  for (const each of panels) {
    each.stale = true;
    drawIfShown(each);
  }
};

// Drawing replaces the used control: the focus moves to its replacement.
const choose = (changes) => {
  const focused = document.activeElement;
  const id = focused && focused.id;
  const value = focused && focused.dataset.value;
  const group = focused && focused.closest("[aria-label]")?.getAttribute("aria-label");
  Object.assign(state, changes);
  writeAddress();
  redraw();
  const next = id ? byId(id) : value === undefined ? null : document.querySelector(
    `[role="tabpanel"]:not([hidden]) [aria-label="${CSS.escape(group || "")}"] ` +
    `[data-value="${CSS.escape(value)}"]`);
  if (next) next.focus({preventScroll: true});
};

const showTab = (id, focus = false) => {
  state.tab = id;
  for (const each of panels) {
    const chosen = each.id === id;
    each.panel.hidden = !chosen;
    each.button.setAttribute("aria-selected", String(chosen));
    each.button.tabIndex = chosen ? 0 : -1;
    if (chosen && focus) each.button.focus();
    drawIfShown(each);
  }
};

// The controls that several panels share.
const dtypeControl = (available = run.dtypes) => run.dtypes.length < 2 ? null :
  chips("Type", run.dtypes.map((value) => ({value, label: value,
    disabled: !available.includes(value)})), state.dtype, (dtype) => choose({dtype}));
const metricControl = () =>
  chips("Metric", kMetricOptions, state.metric, (metric) => choose({metric}));
const caseControl = (names = run.cases) => selectBox("Case", `case-${state.tab}`,
  names.map((value) => ({value, label: value})), state.case, (name) => choose({case: name}));
