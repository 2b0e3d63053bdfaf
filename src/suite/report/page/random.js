// The random set: its counts by src/suite/report/random_summary.cpp, and the cells outside of the
// rules with a command for each. Empty for runs of other sets.
const randomSet = JSON.parse(byId("random").textContent);
const kListedOutliers = 20;

const shareText = (share) => `${share.count} of ${share.of} ` +
  `(${formatPercent(share.count / share.of)})`;

const randomCounts = () => {
  const {not_slower: level, near_copy_large: large, near_copy: small} = randomSet;
  const item = (share, what) => share ? element("li", {}, element("b", {}, shareText(share)),
    ` ${what}; the worst is ${share.worst} (${formatRatio(share.worst_value)})`) : null;
  return [
    item(level, "cells are not slower than the best peer"),
    item(large, "large cells are near the copy"),
    item(small, "small cells are near the copy"),
  ].filter(Boolean);
};

const outlierText = ({gain, limit_ratio: ratio}) => [
  gain === null ? null : `${formatRatio(gain)} the best peer's speed`,
  ratio === null ? null : `${formatRatio(ratio)} the copy's time`].filter(Boolean).join(", ");

const outlierItem = (each) => element("li", {}, element("b", {}, each.cell),
  `: ${outlierText(each)}`, commandLine(each.command));

const drawRandomSet = () => {
  if (!randomSet) return;
  const {outliers} = randomSet;
  const more = outliers.length - kListedOutliers;
  byId("random-set").append(
    element("p", {}, `Random set, seed ${randomSet.seed}: ${plural(randomSet.measured, "cell")} ` +
      `of ${randomSet.cells} measured, ${randomSet.failed} failed, ${randomSet.skipped} skipped.`),
    element("ul", {}, randomCounts()));
  if (outliers.length)
    byId("random-set").append(element("details", {class: "explained", open: true},
      element("summary", {}, `${plural(outliers.length, "cell")} slower than the best peer or far ` +
        `from the copy, furthest first${more > 0 ? `, and ${more} more in the table` : ""}`),
      element("ol", {}, outliers.slice(0, kListedOutliers).map(outlierItem))));
};
