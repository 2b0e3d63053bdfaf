// Draws the lines of a performance report: sizes to the right, the measured value upwards.
"use strict";
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const box = document.querySelector(".chart");
  if (typeof Chart === "undefined") {
    box.style.height = "auto";
    box.textContent = "The chart is missing: this build of Sinter had no Chart.js.";
    return;
  }
  // Told apart by the colour-blind too.
  const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
  const dashes = [[], [6, 3], [2, 2], [8, 3, 2, 3]];
  const style = getComputedStyle(document.documentElement);
  const sizes = report.lines.flatMap((line) => line.points.map((point) => point.size));
  const wide = Math.max(...sizes) >= 16 * Math.max(1, Math.min(...sizes));
  Chart.defaults.color = style.getPropertyValue("--text").trim();
  Chart.defaults.borderColor = style.getPropertyValue("--line").trim();
  new Chart(document.getElementById("plot"), {
    type: "line",
    data: {
      datasets: report.lines.map((line, i) => ({
        label: line.name,
        borderColor: colours[i % colours.length],
        backgroundColor: colours[i % colours.length],
        borderDash: dashes[Math.floor(i / colours.length) % dashes.length],
        data: line.points.filter((point) => !point.error).map((point) => ({
          x: point.size, y: point.value, time: point,
        })),
      })),
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: "nearest", intersect: false },
      scales: {
        x: { type: wide ? "logarithmic" : "linear", title: { display: true, text: report.x_name } },
        y: { beginAtZero: true, title: { display: true, text: report.unit } },
      },
      plugins: {
        tooltip: {
          callbacks: {
            label: ({ dataset, raw }) => `${dataset.label}: ${raw.y.toPrecision(4)} ${report.unit}, ` +
              `${raw.time.median_us} us (${raw.time.p20_us} to ${raw.time.p80_us})`,
          },
        },
      },
    },
  });
})();
