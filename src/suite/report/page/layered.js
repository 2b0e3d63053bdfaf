// A layered layout of a small directed graph, top to bottom. In: nodes {id, w, h, rank?} and edges
// {from, to, fromDx?, toDx?} by id. Out: positions of nodes and routes of edges, which get a
// slot in every layer they cross, so that they never cross a node.

// Longest path from a source; then sources move down to just above their first reader.
const ranksOf = (nodes, edges) => {
  const ranks = new Map(nodes.map((node) => [node.id, node.rank ?? 0]));
  const fixed = new Set(nodes.filter((node) => node.rank !== undefined).map((node) => node.id));
  for (let pass = 0; pass < nodes.length; ++pass) {
    let changed = false;
    for (const {from, to} of edges)
      if (!fixed.has(to) && ranks.get(to) <= ranks.get(from)) {
        ranks.set(to, ranks.get(from) + 1);
        changed = true;
      }
    if (!changed) break;
  }
  for (const {id} of nodes) {
    const below = edges.filter(({from}) => from === id).map(({to}) => ranks.get(to));
    if (!fixed.has(id) && below.length && !edges.some(({to}) => to === id))
      ranks.set(id, Math.max(ranks.get(id), Math.min(...below) - 1));
  }
  return ranks;
};

// The values closest to `wanted` (least squares) that keep their gaps: neighbours that would collide
// are pooled and placed at their weighted mean.
const spread = (wanted, weights, gaps) => {
  const offsets = [];
  wanted.forEach((_, i) => offsets.push(i ? offsets[i - 1] + gaps[i] : 0));
  const pools = [];
  wanted.forEach((value, i) => {
    pools.push({sum: (value - offsets[i]) * weights[i], weight: weights[i], count: 1});
    for (let last = pools.length - 1; last > 0; --last) {
      const [a, b] = [pools[last - 1], pools[last]];
      if (a.sum / a.weight < b.sum / b.weight) break;
      pools.splice(last - 1, 2,
        {sum: a.sum + b.sum, weight: a.weight + b.weight, count: a.count + b.count});
    }
  });
  return pools.flatMap(({sum, weight, count}) => Array(count).fill(sum / weight))
    .map((value, i) => value + offsets[i]);
};

// An edge over several layers becomes a chain of links through zero-size points.
const linksOf = (edges, ranks, addPoint) => {
  const links = [];
  const chains = edges.map(({from, to, fromDx = 0, toDx = 0}) => {
    const chain = [from];
    for (let rank = ranks.get(from) + 1; rank < ranks.get(to); ++rank) chain.push(addPoint(rank));
    chain.push(to);
    for (let i = 0; i + 1 < chain.length; ++i)
      links.push({from: chain[i], to: chain[i + 1], fromDx: i ? 0 : fromDx,
        toDx: i + 2 < chain.length ? 0 : toDx});
    return chain;
  });
  return {links, chains};
};

// Neighbours of each node with where on them the link ends, relative to where it ends here. Between
// two nodes that does not count: boxes in a column look better than links that are straight.
const neighboursOf = (links) => {
  const up = new Map();
  const down = new Map();
  const add = (map, id, entry) => map.set(id, [...(map.get(id) || []), entry]);
  for (const {from, to, ...link} of links) {
    const isPlain = typeof from !== "symbol" && typeof to !== "symbol";
    const {fromDx, toDx} = isPlain ? {fromDx: 0, toDx: 0} : link;
    add(up, to, {id: from, dx: fromDx - toDx});
    add(down, from, {id: to, dx: toDx - fromDx});
  }
  return {up, down};
};

// Weight of straightness: highest for long edges, so that they do not wobble.
const kStraight = {points: 8, mixed: 1, nodes: 3};
const straightness = (a, b) => {
  const points = (typeof a === "symbol") + (typeof b === "symbol");
  return points === 2 ? kStraight.points : points === 1 ? kStraight.mixed : kStraight.nodes;
};

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

const orderLayers = (layers, {up, down}) => {
  for (let sweep = 0; sweep < 12; ++sweep) {
    const sources = sweep % 2 ? down : up;
    const place = new Map(layers.flatMap((layer) =>
      layer.map((node, i) => [node.id, (i + 0.5) / layer.length])));
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      const key = new Map(layer.map((node) => {
        const near = sources.get(node.id) || [];
        const own = place.get(node.id);
        return [node.id, near.length ? mean(near.map(({id}) => place.get(id))) : own];
      }));
      layer.sort((a, b) => key.get(a.id) - key.get(b.id));
      layer.forEach((node, i) => place.set(node.id, (i + 0.5) / layer.length));
    }
  }
};

const placeAcross = (layers, {up, down}, gap) => {
  const x = new Map();
  for (const layer of layers) {
    let at = 0;
    for (const node of layer) {
      x.set(node.id, at + node.w / 2);
      at += node.w + gap;
    }
  }
  for (let sweep = 0; sweep < 60; ++sweep)
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      const wanted = [];
      const weights = [];
      for (const node of layer) {
        const near = [...(up.get(node.id) || []), ...(down.get(node.id) || [])]
          .map(({id, dx}) => ({at: x.get(id) + dx, weight: straightness(node.id, id)}));
        const weight = near.reduce((sum, each) => sum + each.weight, 0);
        weights.push(weight || 0.1);
        wanted.push(weight ? near.reduce((sum, each) => sum + each.at * each.weight, 0) / weight :
          x.get(node.id));
      }
      const gaps = layer.map((node, i) => i ? (node.w + layer[i - 1].w) / 2 + gap : 0);
      spread(wanted, weights, gaps).forEach((value, i) => x.set(layer[i].id, value));
    }
  const left = Math.min(...layers.flat().map((node) => x.get(node.id) - node.w / 2));
  for (const [id, value] of x) x.set(id, value - left);
  return x;
};

// gaps: horizontal between neighbours, vertical between layers.
const layeredLayout = (nodes, edges, gaps) => {
  const ranks = ranksOf(nodes, edges);
  const layers = [];
  const put = (node, rank) => (layers[rank] = layers[rank] || []).push(node);
  nodes.forEach((node) => put(node, ranks.get(node.id)));
  const addPoint = (rank) => {
    const point = {id: Symbol("point"), w: 0, h: 0, isPoint: true};
    put(point, rank);
    return point.id;
  };
  const {links, chains} = linksOf(edges, ranks, addPoint);
  const filled = layers.filter(Boolean);
  const near = neighboursOf(links);
  orderLayers(filled, near);
  const x = placeAcross(filled, near, gaps.across);

  const places = new Map();
  let y = 0;
  for (const layer of filled) {
    const height = Math.max(...layer.map((node) => node.h));
    for (const node of layer) {
      const top = node.isPoint ? y : y + (height - node.h) / 2;
      const bottom = node.isPoint ? y + height : top + node.h;
      places.set(node.id, {x: x.get(node.id), top, bottom, layerTop: y, layerBottom: y + height});
    }
    y += height + gaps.down;
  }
  const routes = edges.map(({fromDx = 0, toDx = 0}, i) => chains[i].flatMap((id, at) => {
    const {x: center, top, bottom, layerTop, layerBottom} = places.get(id);
    // Vertical through the whole layer, whose nodes may differ in height.
    if (at === 0)
      return [{x: center + fromDx, y: bottom}, {x: center + fromDx, y: layerBottom}];
    if (at === chains[i].length - 1)
      return [{x: center + toDx, y: layerTop}, {x: center + toDx, y: top}];
    return [{x: center, y: top}, {x: center, y: bottom}];
  }));
  const width = Math.max(...filled.flat().map((node) => x.get(node.id) + node.w / 2));
  return {places, routes, width, height: y - gaps.down};
};
