// A case's fusion plan as a graph, and each value that goes through memory between two kernels, with
// the reason.
const plansOf = () => {
  const ofCase = run.plans.filter((plan) => plan.case === state.case);
  const ofType = ofCase.filter((plan) => plan.dtype === state.dtype);
  return ofType.length ? ofType : ofCase;
};

const planLabel = (plan) => plan.shapes.length === 1 ? plan.shapes[0] :
  `${plan.shapes[0]} and ${plan.shapes.length - 1} more`;

const planFacts = (plan) => {
  const predicted = plan.kernels.reduce((sum, kernel) => sum + kernel.predicted_us, 0);
  const cell = cells.get(cellKey({case: plan.case, dtype: plan.dtype, shape: plan.shapes[0]}));
  const fused = cell && cell.byProvider.get("fused");
  const operations = plan.nodes.filter((node) => node.kernel !== null).length;
  const times = [`predicted ${formatTime(predicted)}`,
    isMeasured(fused) ? `measured ${formatTime(fused.median_us)}` : null,
    fused && fused.limit_us !== null ? `copy limit ${formatTime(fused.limit_us)}` : null];
  return `${plural(operations, "operation")} in ${plural(plan.kernels.length, "kernel")}. At ` +
    `${plan.shapes[0]} (${plan.dtype}): ${times.filter(Boolean).join(", ")}.`;
};

// The list below the graph; hovering over an entry highlights its edge, and vice versa.
const unfusedList = (plan, graph) => {
  const edges = plan.edges.filter((edge) => !edge.fused);
  if (!edges.length)
    return element("p", {class: "muted"}, "Every value between operations stays in its kernel.");
  const items = edges.map((edge, i) => element("li", {},
    element("span", {class: "no"}, String(i + 1)), edgeText(plan, edge)));
  items.forEach((item, i) => {
    const drawn = graph.querySelector(`[data-number="${i + 1}"]`);
    if (!drawn) return;
    for (const each of [item, drawn])
      for (const [event, lit] of [["mouseenter", true], ["mouseleave", false]])
        each.addEventListener(event, () => {
          for (const one of [item, drawn]) one.classList.toggle("lit", lit);
        });
  });
  return element("ol", {class: "unfused-list"}, items);
};

const planLegend = () => element("div", {class: "legend"},
  element("span", {}, "Boxes are kernels; what is inside one never goes through memory."),
  element("span", {}, "Round: given. Thick border: an output. Dashed: written by one kernel, " +
    "read back by another."));

const drawPlans = (panel) => {
  const names = unique(run.plans.map((plan) => plan.case));
  if (!names.length) {
    panel.replaceChildren(element("p", {class: "muted"}, "This run has no plans."));
    return;
  }
  if (!names.includes(state.case)) state.case = names[0];
  const list = plansOf();
  const plan = list[Number(state.plan)] || list[0];
  const graph = planGraph(plan);
  const unfused = plan.edges.filter((edge) => !edge.fused).length;
  panel.replaceChildren(
    element("div", {class: "controls"},
      selectBox("Case", "case-plans", names.map((value) => ({value, label: value})), state.case,
        (name) => choose({case: name, plan: "0"})),
      dtypeControl(unique(run.plans.filter((each) => each.case === state.case)
        .map((each) => each.dtype))) || "",
      list.length < 2 ? "" : chips("Plan for", list.map((each, i) => ({value: String(i),
        label: planLabel(each), why: each.shapes.join(", ")})), String(list.indexOf(plan)),
      (chosen) => choose({plan: chosen}))),
    element("p", {}, planFacts(plan)),
    element("div", {class: "plan-box", tabindex: 0, role: "region", "aria-label": "Plan graph"},
      graph),
    planLegend(),
    element("h2", {}, unfused ? `Not fused: ${plural(unfused, "edge")}` : "Not fused: nothing"),
    unfusedList(plan, graph),
    element("details", {class: "explained small"},
      element("summary", {}, `The same for ${plural(plan.shapes.length, "shape")}`),
      element("p", {class: "muted"}, plan.shapes.join(", "))));
};
