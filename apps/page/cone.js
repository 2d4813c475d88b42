// SPDX-License-Identifier: BSD-3-Clause
// A trial impulse to drag, and the nearest impulse that the friction cone allows.

/** Normal part of the sliding point by pencil: (Rₙ yₙ + μ Rₜ |yₜ|)/(Rₙ + μ² Rₜ), Rₙ = 1. */
function closedFormNormal(friction, ratio, side, normal) {
  if (Math.abs(side) <= friction * normal) return normal;
  const drive = normal + friction * ratio * Math.abs(side);
  return drive <= 0 ? 0 : drive / (1 + friction * friction * ratio);
}

const regionMeanings = {
  stick: "the trial impulse is allowed: the bodies hold to each other",
  slide: "friction gives all it has: the nearest impulse lies on the cone",
  separate: "nothing that pushes is near: the bodies part",
};

function startCone(figure, library) {
  const reach = {side: 2.6, low: -1.5, high: 1.9};  // seen [N·s]
  const unit = 104, width = 2 * reach.side * unit, height = (reach.high - reach.low) * unit;
  const toX = side => (side + reach.side) * unit;
  const toY = normal => (reach.high - normal) * unit;
  const state = {friction: 0.6, ratio: 1, side: 1.5, normal: 0.35};

  const board = add(figure, "div", {class: "board"});
  const drawing = draw(add(board, "div"), "svg",
                       {viewBox: `0 0 ${width} ${height}`, role: "group", class: "scene",
                        "aria-label": "Friction cone with a trial impulse to move"});
  const inside = draw(draw(drawing, "clipPath", {id: "cone-view"}), "rect",
                      {x: 0, y: 0, width, height, rx: 8});
  inside.parentNode.parentNode.append(inside.parentNode);
  const view = draw(drawing, "g", {"clip-path": "url(#cone-view)"});
  const stick = draw(view, "polygon", {class: "stick"});
  const apart = draw(view, "polygon", {class: "separate"});
  draw(view, "line", {class: "grid", x1: 0, y1: toY(0), x2: width, y2: toY(0)});
  draw(view, "line", {class: "grid", x1: toX(0), y1: 0, x2: toX(0), y2: height});
  draw(view, "text", {class: "name", x: width - 10, y: toY(0) - 8, "text-anchor": "end"}, "sideways yₜ →");
  draw(view, "text", {class: "name", x: toX(0) + 9, y: height - 10}, "↑ normal yₙ");
  const border = draw(view, "polyline", {class: "line s3 dashed"});
  const surface = draw(view, "polyline", {class: "line s1"});
  const nearness = draw(view, "ellipse", {class: "line nearness"});
  const way = draw(view, "line", {class: "line s2"});
  const answer = draw(view, "circle", {class: "dot s1", r: 7});
  const notes = [["stick", 0, 1.62], ["slide", 2.05, 1.3], ["slide", -2.05, 1.3],
                 ["separate", 0, -0.85]].map(([text, side, normal]) =>
    draw(view, "text", {class: "note", x: toX(side), y: toY(normal), "text-anchor": "middle"}, text));
  const handle = draw(drawing, "g", {class: "handle", tabindex: 0, role: "slider",
                                     "aria-label": "Trial impulse; the arrow keys move it",
                                     "aria-valuemin": -reach.side, "aria-valuemax": reach.side});
  draw(handle, "circle", {class: "grip", r: 26});
  draw(handle, "circle", {class: "halo", r: 15});
  draw(handle, "circle", {class: "dot s2", r: 9});

  const side = add(board, "div", {class: "side"});
  const verdict = add(side, "p", {class: "verdict", "aria-live": "polite"});
  const rows = add(add(side, "table", {class: "readout"}), "tbody");
  const sliders = add(side, "div", {class: "sliders"});

  function readout(name, text, unitText = "") {
    const row = add(rows, "tr");
    add(row, "th", {scope: "row"}, name);
    const cell = add(row, "td", {}, text);
    if (unitText) add(cell, "span", {class: "unit"}, " " + unitText);
  }

  function update() {
    const {friction, ratio} = state;
    const answerOf = library.project(friction, ratio, 1, [state.side, 0, state.normal]);
    const [x, , z] = answerOf.point;
    const top = friction * reach.high;
    const far = 10 * reach.side;  // beyond the picture
    setAll(stick, {points: `${toX(-top)},0 ${toX(0)},${toY(0)} ${toX(top)},0`});
    setAll(surface, {points: `${toX(-top)},0 ${toX(0)},${toY(0)} ${toX(top)},0`});
    const fall = -friction * ratio * far;
    const edge = `${toX(-far)},${toY(fall)} ${toX(0)},${toY(0)} ${toX(far)},${toY(fall)}`;
    setAll(border, {points: edge});
    setAll(apart, {points: `${edge} ${toX(far)},${toY(-far)} ${toX(-far)},${toY(-far)}`});
    setAll(way, {x1: toX(state.side), y1: toY(state.normal), x2: toX(x), y2: toY(z)});
    setAll(answer, {cx: toX(x), cy: toY(z)});
    setAll(handle, {transform: `translate(${toX(state.side)} ${toY(state.normal)})`,
                    "aria-valuenow": state.side.toFixed(2),
                    "aria-valuetext": `sideways ${show(state.side, 2)}, normal ${show(state.normal, 2)}`});
    const distance = Math.sqrt(ratio * (x - state.side) ** 2 + (z - state.normal) ** 2);
    setAll(nearness, {cx: toX(state.side), cy: toY(state.normal), ry: distance * unit,
                      rx: distance * unit / Math.sqrt(ratio)});
    notes[0].style.visibility = friction < 0.25 ? "hidden" : "visible";
    notes[3].style.visibility = friction * ratio > 3 ? "hidden" : "visible";

    if (figure.dataset.region !== answerOf.region) {  // said aloud only when it changes
      empty(verdict).className = "verdict " + answerOf.region;
      add(verdict, "b", {}, answerOf.region[0].toUpperCase() + answerOf.region.slice(1));
      add(verdict, "span", {}, ": " + regionMeanings[answerOf.region]);
    }
    empty(rows);
    readout("trial y", `(${show(state.side, 2)}, ${show(state.normal, 2)})`, "N s");
    readout("project(y)", `(${show(x)}, ${show(z)})`, "N s");
    const pencil = closedFormNormal(friction, ratio, state.side, state.normal);
    readout("normal part by pencil", show(pencil), "N s");
    readout("difference", showError(Math.abs(pencil - z)), pencil === z ? "" : "N s");
    const slope = answerOf.slope;
    readout("slope dP/dy", `${show(slope[0][0], 2)}  ${show(slope[0][2], 2)}; ` +
                           `${show(slope[2][0], 2)}  ${show(slope[2][2], 2)}`);
    Object.assign(figure.dataset, {point: answerOf.point.join(" "), region: answerOf.region});
  }
  function moveTo(sideways, normal) {
    const held = (value, low, high) => Math.min(Math.max(Math.round(100 * value) / 100, low), high);
    state.side = held(sideways, -reach.side, reach.side);
    state.normal = held(normal, reach.low, reach.high);
    update();
  }
  const moveHere = place => moveTo(place.x / unit - reach.side, reach.high - place.y / unit);
  makeDraggable(drawing, handle, {move: moveHere});
  handle.addEventListener("keydown", event => {
    const arrow = arrowOf(event);
    if (!arrow) return;
    event.preventDefault();
    moveTo(state.side + 0.05 * arrow[0], state.normal + 0.05 * arrow[1]);
  });
  addSlider(sliders, {name: "friction μ", low: 0, high: 1.5, step: 0.05, value: state.friction,
                      text: value => show(value, 2),
                      change: value => { state.friction = value; update(); }});
  addSlider(sliders, {name: "softness Rₜ/Rₙ", low: -2, high: 1, step: 0.05, value: 0,
                      text: value => show(10 ** value, 2),
                      change: value => { state.ratio = 10 ** value; update(); }});
  update();
}
