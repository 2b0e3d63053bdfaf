// Colours of heat-map cells and providers, from CSS variables.
const cssVariable = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const triple = (name) => cssVariable(name).split(" ").map(Number);
const mix = (from, to, share) =>
  from.map((value, i) => Math.round(value + (to[i] - value) * share));
const rgb = (colour) => `rgb(${colour.join(" ")})`;

const luminance = (colour) => {
  const [r, g, b] = colour.map((value) => {
    const c = value / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
// Black or white, whichever has more contrast.
const inkOn = (colour) => (luminance(colour) + 0.05) ** 2 > 1.05 * 0.05 ? "#000000" : "#ffffff";

const kRatioSpan = 3;  // powers of two on either side of 1

// Blue if fused is faster, orange if slower, on a logarithmic scale around 1; fractions of the limit
// range from none to full.
const metricColour = (metric, value) => {
  const cold = triple("cold");
  if (metric.unit === "share")
    return mix(cold, triple("full"), Math.min(1, Math.max(0, value)) ** 1.3);
  const power = Math.log2(value) / kRatioSpan;
  // The exponent emphasizes small differences.
  const share = Math.min(1, Math.abs(power)) ** 0.7;
  return mix(cold, triple(power > 0 ? "high" : "low"), share);
};
const cellStyle = (metric, value) => {
  const colour = metricColour(metric, value);
  return `--cell:${rgb(colour)};--ink:${inkOn(colour)}`;
};

const gradientOf = (metric) => {
  const stops = [];
  for (let i = 0; i <= 16; ++i) {
    const at = i / 16;
    const value = metric.unit === "share" ? at : 2 ** ((2 * at - 1) * kRatioSpan);
    stops.push(rgb(metricColour(metric, value)));
  }
  return `linear-gradient(90deg, ${stops.join(", ")})`;
};

const providerColour = (name) => cssVariable(kProviderOrder.includes(name) ? name : "other");
