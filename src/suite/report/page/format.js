// Number formatting: times, bytes, rates, ratios. In: a number. Out: text with its unit.
const digits3 = (value) => {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  return size >= 10 ? value.toFixed(1) : value.toFixed(2);
};

// Powers of 1000, as usual for bandwidths.
const scaled = (value, units) => {
  let at = 0;
  while (Math.abs(value) >= 999.5 && at + 1 < units.length) {
    value /= 1000;
    at += 1;
  }
  return `${at === 0 && Number.isInteger(value) ? value : digits3(value)} ${units[at]}`.trim();
};

const formatTime = (us) => us < 1 ? scaled(us * 1000, ["ns", "µs"]) : scaled(us, ["µs", "ms", "s"]);
// "3.84–4.10 µs": the unit appears once if both have the same.
const formatTimes = (low, high) => {
  const [from, to] = [formatTime(low), formatTime(high)];
  const unit = to.slice(to.indexOf(" "));
  return `${from.endsWith(unit) ? from.slice(0, -unit.length) : from}–${to}`;
};
const formatMs = (ms) => formatTime(ms * 1000);
const formatBytes = (bytes) => scaled(bytes, ["B", "kB", "MB", "GB", "TB"]);
const formatCount = (count) => scaled(count, ["", "k", "M", "G", "T", "P"]);
const formatBandwidth = (perSecond) => scaled(perSecond, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"]);
const formatFlops = (perSecond) =>
  scaled(perSecond, ["FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"]);
const formatRatio = (ratio) => `${ratio >= 99.5 ? ratio.toFixed(0) : ratio >= 9.95 ?
  ratio.toFixed(1) : ratio.toFixed(2)}×`;
const formatPercent = (share) => `${(share * 100).toFixed(0)}%`;
const formatError = (error) => typeof error === "string" ? error : error === 0 ? "0" :
  error.toExponential(1);

// Axis labels without trailing zeros.
const withoutZeros = (format) => (value) => format(value).replace(/\.0+(?= |$)/, "");

const plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

const median = (values) => {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
