// Draws a plan with two layouts: the operations inside each kernel, beside its description, then the
// kernels with their inputs. In: an entry of `plans`. Out: an SVG element.
const kNodeHeight = 42;
const kLineHeight = 16;
const kHeadLetters = 34;  // per line of a kernel's description
const kPad = 16;
const kInnerGaps = {across: 18, down: 24};
const kOuterGaps = {across: 36, down: 46};

const textWidth = (text, size) => text.length * size * 0.58;
const nodeWidth = (node) =>
  Math.max(56, textWidth(node.op, 13.5), textWidth(nodeDetail(node), 11)) + 20;
const nodeDetail = (node) => node.output ? `${node.detail} · output` : node.detail;

// Wraps text; kernel names break at underscores.
const wrapped = (text) => {
  const lines = [""];
  for (const word of text.split(/(?<=[ _])/)) {
    if (lines[lines.length - 1].length + word.trimEnd().length > kHeadLetters) lines.push("");
    lines[lines.length - 1] += word;
  }
  return lines.map((line) => line.trimEnd()).filter(Boolean);
};

const kernelLines = (kernel) => [
  ...wrapped(kernel.name).map((text) => ({text, kind: "title"})),
  ...[`reads ${formatBytes(kernel.bytes_read)}, writes ${formatBytes(kernel.bytes_written)}`,
    `predicted ${formatTime(kernel.predicted_us)}`, kernel.tiles].flatMap(wrapped)
    .map((text) => ({text, kind: "sub"}))];

// The inside of a kernel, to the right of its description, so that no edge runs behind that. External
// values enter at the top, one slot per edge; values that others read leave at the bottom, one slot
// per node.
const layOutKernel = (plan, index) => {
  const members = plan.nodes.filter((node) => node.kernel === index);
  const inside = new Set(members.map((node) => node.id));
  const nodes = members.map((node) => ({id: node.id, w: nodeWidth(node), h: kNodeHeight}));
  const edges = [];
  plan.edges.forEach((edge, i) => {
    if (inside.has(edge.from) && inside.has(edge.to)) edges.push({...edge, index: i});
  });
  const depth = Math.max(0, ...ranksOf(nodes, edges).values());
  const last = depth + 2;
  const ports = [];
  plan.edges.forEach((edge, i) => {
    if (inside.has(edge.to) && !inside.has(edge.from)) {
      ports.push({id: `in${i}`, w: 8, h: 0, rank: 0});
      edges.push({from: `in${i}`, to: edge.to, entry: i});
    }
  });
  for (const node of members)
    if (plan.edges.some((edge) => edge.from === node.id && !inside.has(edge.to))) {
      ports.push({id: `out${node.id}`, w: 8, h: 0, rank: last});
      edges.push({from: node.id, to: `out${node.id}`, exit: node.id});
    }
  const layout = layeredLayout([...nodes, ...ports], edges, kInnerGaps);
  const lines = kernelLines(plan.kernels[index]);
  const head = Math.max(...lines.map(({text, kind}) =>
    textWidth(text, kind === "sub" ? 12 : 13.5)));
  const dx = head + 2 * kPad;
  const hasEntry = edges.some(({entry}) => entry !== undefined);
  const hasExit = edges.some(({exit}) => exit !== undefined);
  const dy = hasEntry ? 0 : kPad;
  const insideHeight = dy + layout.height + (hasExit ? 0 : kPad);
  return {members, edges, layout, lines, dx, dy, w: dx + layout.width + kPad,
    h: Math.max(insideHeight, lines.length * kLineHeight + kPad)};
};

const moved = (points, dx, dy) => points.map(({x, y}) => ({x: x + dx, y: y + dy}));

// Positions in the picture: boxes, nodes, and the points of every edge.
const layOutPlan = (plan) => {
  const kernels = plan.kernels.map((_, i) => layOutKernel(plan, i));
  const given = plan.nodes.filter((node) => node.kernel === null &&
    plan.edges.some((edge) => edge.from === node.id));
  const units = [...kernels.map(({w, h}, i) => ({id: `k${i}`, w, h})),
    ...given.map((node) => ({id: `n${node.id}`, w: nodeWidth(node), h: kNodeHeight}))];
  const home = new Map(plan.nodes.map((node) =>
    [node.id, node.kernel === null ? `n${node.id}` : `k${node.kernel}`]));
  const portDx = (unit, port) => {
    if (unit[0] === "n") return 0;
    const kernel = kernels[Number(unit.slice(1))];
    return kernel.layout.places.get(port).x + kernel.dx - kernel.w / 2;
  };
  const crossing = plan.edges.map((edge, index) =>
    ({index, source: edge.from, from: home.get(edge.from), to: home.get(edge.to)}))
    .filter(({from, to}) => from !== to)
    .map((edge) => ({...edge, fromDx: portDx(edge.from, `out${edge.source}`),
      toDx: portDx(edge.to, `in${edge.index}`)}));
  const outer = layeredLayout(units, crossing, kOuterGaps);

  const routes = plan.edges.map(() => []);
  const exits = new Map();
  const boxes = kernels.map((kernel, i) => {
    const place = outer.places.get(`k${i}`);
    const box = {...kernel, x: place.x - kernel.w / 2, y: place.top};
    box.innerX = box.x + kernel.dx;
    box.innerY = box.y + kernel.dy;
    kernel.edges.forEach((edge, at) => {
      const points = moved(kernel.layout.routes[at], box.innerX, box.innerY);
      if (edge.exit !== undefined)
        exits.set(edge.exit, [...points, {x: points[points.length - 1].x, y: box.y + box.h}]);
      else routes[edge.entry ?? edge.index] = points;
    });
    return box;
  });
  crossing.forEach((edge, at) => {
    routes[edge.index] = [...(exits.get(edge.source) || []), ...outer.routes[at],
      ...routes[edge.index]];
  });
  return {boxes, routes, crossing,
    given: given.map((node) => ({node, place: outer.places.get(`n${node.id}`)})),
    width: outer.width, height: outer.height};
};

// A straight line if it goes straight down, else an S with vertical ends.
// A repeated point would leave the arrowhead without a direction.
const withoutRepeats = (points) => points.filter(({x, y}, i) =>
  i === 0 || Math.abs(points[i - 1].x - x) + Math.abs(points[i - 1].y - y) > 0.1);
const pathOf = (all) => withoutRepeats(all).map(({x, y}, i, points) => {
  const words = (...numbers) => numbers.map((number) => number.toFixed(1)).join(" ");
  if (i === 0) return `M${words(x, y)}`;
  const before = points[i - 1];
  if (Math.abs(before.x - x) < 0.5) return `L${words(x, y)}`;
  const middle = (before.y + y) / 2;
  return `C${words(before.x, middle, x, middle, x, y)}`;
}).join("");

const nodeBox = (node, x, top) => {
  const width = nodeWidth(node);
  const kind = node.kernel === null ? "given" : node.output ? "output" : "";
  return svg("g", {class: `node ${kind}`, transform: `translate(${x - width / 2} ${top})`},
    svg("title", {}, `${node.op} ${nodeDetail(node)}`),
    svg("rect", {width, height: kNodeHeight, rx: node.kernel === null ? kNodeHeight / 2 : 5}),
    svg("text", {class: "op", x: width / 2, y: 18, "text-anchor": "middle"}, node.op),
    svg("text", {class: "detail", x: width / 2, y: 33, "text-anchor": "middle"}, nodeDetail(node)));
};

const kernelBack = (box) => svg("g", {class: "kernel"},
  svg("rect", {x: box.x, y: box.y, width: box.w, height: box.h, rx: 10}));

const kernelHead = (box) => svg("g", {class: "kernel"},
  box.lines.map(({text, kind}, i) => svg("text", {class: kind, x: box.x + kPad,
    y: box.y + 21 + kLineHeight * i}, text)));

const arrow = (id, kind) => svg("marker", {id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8,
  markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto"},
svg("path", {class: `arrow ${kind}`, d: "M0 0L8 4L0 8z"}));

const edgeText = (plan, edge) => {
  const nameOf = (id) => plan.nodes.find((node) => node.id === id).op;
  const ends = `${nameOf(edge.from)} → ${nameOf(edge.to)}`;
  return `${ends}: ${edge.reason}, costs ${formatBytes(edge.bytes)}`;
};

const edgeShape = (plan, edge, points, number) => {
  const kind = edge.fused ? "" : "unfused";
  const d = pathOf(points);
  return svg("g", {class: "edge-group", "data-number": number},
    number === null ? null : svg("title", {}, edgeText(plan, edge)),
    svg("path", {class: `edge ${kind}`, d, "marker-end": `url(#arrow-${kind || "fused"})`}),
    number === null ? null : svg("path", {class: "edge-hit", d}));
};

// A number just above the box that reads the value, where each edge has its own slot.
const edgeNumber = (layout, at, number) => {
  const crossing = layout.crossing.find(({index}) => index === at);
  const points = layout.routes[at];
  const box = crossing && layout.boxes[Number(crossing.to.slice(1))];
  const near = points.find(({y}) => box && y >= box.y - 0.5) || points[points.length - 1];
  return svg("g", {class: "number", transform: `translate(${near.x} ${near.y - 15})`},
    svg("circle", {r: 9}), svg("text", {y: 4}, String(number)));
};

const planGraph = (plan) => {
  const layout = layOutPlan(plan);
  const numbers = new Map();
  plan.edges.forEach((edge, i) => { if (!edge.fused) numbers.set(i, numbers.size + 1); });
  const margin = 8;
  const width = layout.width + 2 * margin;
  const height = layout.height + 2 * margin;
  const insides = layout.boxes.flatMap((box) => box.members.map((node) => {
    const place = box.layout.places.get(node.id);
    return nodeBox(node, box.innerX + place.x, box.innerY + place.top);
  }));
  return svg("svg", {class: "plan", width, height,
    viewBox: `${-margin} ${-margin} ${width} ${height}`, role: "img",
    "aria-label": `${plural(plan.kernels.length, "kernel")} of ${plan.case}, ` +
      `${plural(numbers.size, "edge")} not fused`},
  svg("defs", {}, arrow("arrow-fused", ""), arrow("arrow-unfused", "unfused")),
  layout.boxes.map(kernelBack),
  plan.edges.map((edge, i) => layout.routes[i].length < 2 ? null :
    edgeShape(plan, edge, layout.routes[i], numbers.get(i) ?? null)),
  layout.boxes.map(kernelHead),
  layout.given.map(({node, place}) => nodeBox(node, place.x, place.top)), insides,
  [...numbers].map(([at, number]) => edgeNumber(layout, at, number)));
};
