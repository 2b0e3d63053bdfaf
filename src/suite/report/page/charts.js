// Shared by all charts: theme colours, axes, and the placeholder without Chart.js.
const kPointStyles = {fused: "circle", eager: "rect", torch_compile: "triangle",
  torch_eager: "rectRot"};
const chartsByPanel = new Map();

const kNoCharts = "charts are missing: this build had no Chart.js (Debian: libjs-chart.js)";

const logAxis = (text, tick) => ({
  type: "logarithmic",
  title: {display: true, text, color: cssVariable("muted")},
  grid: {color: cssVariable("line")},
  ticks: {color: cssVariable("muted"), maxRotation: 0, autoSkipPadding: 14, callback: tick},
});

// Powers of ten, and intermediate values only if there is room.
const powerTick = (format) => function label(value) {
  const lead = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  return [1, 2, 5].some((each) => Math.abs(lead - each) < 1e-6) ? format(value) : null;
};

const pointSet = (provider, points, showLine) => ({
  label: provider, data: points, showLine,
  borderColor: providerColour(provider), backgroundColor: providerColour(provider),
  borderWidth: 2, pointRadius: 4, pointHoverRadius: 7,
  pointStyle: kPointStyles[provider] || "star",
});

const plainLine = (label, points, dash) => ({
  label, data: points, showLine: true, borderColor: cssVariable("limit"),
  backgroundColor: cssVariable("limit"), borderDash: dash, borderWidth: 2, pointRadius: 0,
  pointHitRadius: 6, pointStyle: "line",
});

// A chart with its legend, or a note in its place. Drawing again with the same `id` destroys the old
// one. `labels`: a plugin that draws labels, and the space it needs above.
const chartBox = (id, label, datasets, scales, tooltip, labels = {}) => {
  if (typeof Chart === "undefined") return element("div", {class: "no-chart", id}, kNoCharts);
  if (chartsByPanel.has(id)) chartsByPanel.get(id).destroy();
  const canvas = element("canvas", {id, role: "img", "aria-label": label});
  const box = element("div", {class: "chart"}, canvas);
  const chart = () => chartsByPanel.get(id);
  // Chart.js measures its box, which must already be in the page.
  queueMicrotask(() => chartsByPanel.set(id, new Chart(canvas, {
    type: "scatter",
    data: {datasets},
    plugins: labels.plugin ? [labels.plugin] : [],
    options: {
      layout: {padding: {top: labels.room || 0}},
      animation: false, maintainAspectRatio: false, responsive: true,
      interaction: {mode: "nearest", intersect: false, axis: "xy"},
      scales,
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {label: tooltip}, displayColors: false},
      },
    },
  })));
  return element("div", {}, box, chartLegend(datasets, chart));
};
