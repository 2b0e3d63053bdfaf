// Labels of a chart: a legend that shows each line's style, and names inside the chart.
const kMarkers = {
  circle: "M9 6a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", rect: "M9.5 2.5h7v7h-7z",
  triangle: "M13 1.5L17.5 10h-9z", rectRot: "M13 1L18 6L13 11L8 6z",
  cross: "M13 2v8M9 6h8", star: "M13 2v8M9 6h8M10 3l6 6M16 3l-6 6",
};

const legendSample = (set) => svg("svg", {width: 26, height: 12, "aria-hidden": "true"},
  set.showLine ? svg("path", {d: "M0 6H26", stroke: set.borderColor, "stroke-width": 2,
    "stroke-dasharray": (set.borderDash || []).join(" ") || null}) : null,
  set.pointRadius ? svg("path", {d: kMarkers[set.pointStyle] || kMarkers.circle,
    stroke: set.borderColor, fill: set.backgroundColor}) : null);

// A click toggles a data set.
const chartLegend = (datasets, chart) => element("div", {class: "chart-legend"},
  datasets.map((set, i) => {
    const button = element("button", {type: "button", "aria-pressed": "true", onclick: () => {
      const shown = chart().isDatasetVisible(i);
      chart().setDatasetVisibility(i, !shown);
      chart().update();
      button.setAttribute("aria-pressed", String(!shown));
    }}, legendSample(set), set.label);
    return button;
  }));

const kLabelFont = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const kSlant = -Math.PI / 4;

// Names above a chart, each with a line down to its position on the axis. columns: [{x, text}], left
// to right.
const columnNames = (columns) => ({
  room: 16 + Math.max(0, ...columns.map(({text}) => text.length)) * 6.6 * Math.sin(-kSlant),
  plugin: {id: "columnNames", beforeDatasetsDraw: ({ctx, chartArea, scales}) => {
    ctx.save();
    ctx.font = kLabelFont;
    ctx.fillStyle = cssVariable("muted");
    ctx.strokeStyle = cssVariable("line-strong");
    ctx.lineWidth = 1;
    let last = -Infinity;
    for (const {x, text} of columns) {
      const at = scales.x.getPixelForValue(x);
      last = Math.max(at, last + 21);
      ctx.beginPath();
      ctx.setLineDash([1, 3]);
      ctx.moveTo(last, chartArea.top - 8);
      ctx.lineTo(at, chartArea.top);
      ctx.lineTo(at, chartArea.bottom);
      ctx.stroke();
      ctx.save();
      ctx.translate(last + 2, chartArea.top - 11);
      ctx.rotate(kSlant);
      ctx.fillText(text, 0, 0);
      ctx.restore();
    }
    ctx.restore();
  }},
});

// Names to the right of stacked points, as many as fit. points: [{x, y, text}].
const pointNames = (points) => ({
  plugin: {id: "pointNames", afterDatasetsDraw: ({ctx, scales}) => {
    ctx.save();
    ctx.font = kLabelFont;
    ctx.fillStyle = cssVariable("muted");
    const placed = points.map(({x, y, text}) => ({text, x: scales.x.getPixelForValue(x),
      y: scales.y.getPixelForValue(y)})).sort((a, b) => a.y - b.y);
    let last = -Infinity;
    for (const {x, y, text} of placed) {
      if (y < last + 14) continue;
      last = y;
      ctx.fillText(text, x + 9, y + 4);
    }
    ctx.restore();
  }},
});
