// SPDX-License-Identifier: BSD-3-Clause
// The tree of admissible orders as a drawing: every path from the top is one order.

const outcomeStyles = ["s1", "s2", "s3", "s4"];

function letterOf(outcome) {
  return outcome < 26 ? String.fromCharCode(65 + outcome) : String(outcome + 1);
}

/** Draws a tree; the order that leads to `chosen` stands out. */
function drawOrderTree(drawing, tree, chosen) {
  const depth = Math.max(...tree.nodes.map(node => node.level), 1);
  const width = 460, top = 16, bottom = 26, height = Math.min(250, top + bottom + 46 * depth);
  setAll(empty(drawing), {viewBox: `0 0 ${width} ${height}`});
  const x = node => width * (node.column - 0.5) / tree.orders;
  const y = node => top + (height - top - bottom) * node.level / depth;
  const onPath = new Set();
  let at = tree.nodes.findIndex(node => node.outcome === chosen);  // a shortest one: levels ascend
  for (; at >= 0; at = tree.nodes[at].parent) onPath.add(at);
  const few = tree.orders <= 32, fewer = tree.orders <= 16;
  const branches = draw(drawing, "g"), marks = draw(drawing, "g");
  tree.nodes.forEach((node, k) => {
    if (node.parent >= 0) {
      const parent = tree.nodes[node.parent];
      const style = onPath.has(k) ? `line ${outcomeStyles[chosen % 4]}` : "line branch";
      draw(branches, "line", {class: style, x1: x(parent), y1: y(parent), x2: x(node), y2: y(node)});
      if (fewer) {
        draw(marks, "text", {class: "tick", "text-anchor": "middle", x: (x(parent) + x(node)) / 2 +
                             (x(node) < x(parent) ? -7 : 7), y: (y(parent) + y(node)) / 2 + 4},
             node.contact + 1);
      }
    }
    if (node.outcome === -2) draw(marks, "circle", {class: "open", cx: x(node), cy: y(node), r: 2});
    if (node.outcome < 0) return;
    const size = Math.min(4.5, Math.max(2, 0.4 * width / tree.orders));
    draw(marks, "circle", {class: "dot " + outcomeStyles[node.outcome % 4], cx: x(node), cy: y(node),
                           r: size});
    if (few) {
      draw(marks, "text", {class: "tick", "text-anchor": "middle", x: x(node), y: y(node) + 19},
           letterOf(node.outcome));
    }
  });
}
