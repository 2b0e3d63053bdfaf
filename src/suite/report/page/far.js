// Cells that are far from the copy, with the probable causes found by src/suite/report/causes.cpp:
// counts, groups and describes them.
const farRows = JSON.parse(byId("far").textContent);
const farByCell = new Map(farRows.map((row) => [cellKey(row), row]));
const farOf = (cell) => farByCell.get(cellKey(cell));

// Only cells whose limit was timed in turns with them, as in src/suite/report/rules.cpp.
const nearCopy = (list) => {
  const limited = list.filter(({byProvider}) => isMeasured(byProvider.get("fused")) &&
    byProvider.get("fused").limit_ratio > 0);
  return {all: limited.length, near: limited.filter((cell) => !farOf(cell)).length};
};

const farText = (far) => {
  const causes = far.causes.map(({text}, i) =>
    i ? text.replace(/^Probably bound by/, "Perhaps also bound by") : text);
  return `${formatRatio(far.ratio)} the copy's time. ${causes.join(" ")}`;
};

// Cells by most likely cause, most frequent first: [[kind, rows, furthest first], ..]
const byCause = (rows) => {
  const groups = new Map();
  for (const row of rows) {
    const {kind} = row.causes[0];
    groups.set(kind, [...(groups.get(kind) || []), row]);
  }
  return [...groups].sort((a, b) => b[1].length - a[1].length)
    .map(([kind, list]) => [kind, [...list].sort((a, b) => b.ratio - a.ratio)]);
};

const causeSummary = (rows) =>
  byCause(rows).map(([kind, list]) => `${kind} ${list.length}`).join(", ");

// A list entry for each cause, with the furthest cell as its example.
const causeItems = (rows, withCase) => byCause(rows).map(([kind, list]) => {
  const name = (row) => withCase ? `${row.case} ${row.shape} ${row.dtype}` : row.shape;
  const others = list.slice(1, 6).map((row) => `${name(row)} (${formatRatio(row.ratio)})`);
  const more = list.length > 6 ? `, and ${list.length - 6} more` : "";
  return element("li", {}, element("b", {}, `${kind}: ${plural(list.length, "cell")}. `),
    `${name(list[0])} takes ${farText(list[0])}`,
    others.length ? ` Likewise ${others.join(", ")}${more}.` : "");
});
