// SPDX-License-Identifier: BSD-3-Clause
// The break shot under any angle: both ways it can end, and how far apart they are.

/** ξ by pencil, for any mass of the cue ball. With β = 1/(1 + m), c = ⟨u, v⟩ = β cos θ = cos φ, the
 * k-th of alternating reflections leaves the momentum at the angle k φ or π − k φ from where both
 * contacts open alike; the two orders mirror each other. Reflections end within π/2 − φ/2. */
function closedFormSpread(angle, cueMass) {
  const share = 1 / (1 + cueMass), product = share * Math.cos(angle), turn = Math.acos(product);
  let count = 0, place = Math.PI;
  while (Math.abs(place) > Math.PI / 2 - turn / 2 + 1e-12 && count < 1000) {
    ++count;
    place = count % 2 === 1 ? count * turn : Math.PI - count * turn;
    place = Math.atan2(Math.sin(place), Math.cos(place));
  }
  const part = Math.sqrt(share * (1 + Math.cos(angle)) / (1 + product));
  return 2 * part * Math.abs(Math.sin(count * turn));
}

/** The curve of ξ: a line by pencil, dots by the library, a ring at the chosen angle. */
class SpreadPlot {
  static width = 440;
  static height = 250;

  constructor(parent) {
    this.drawing = draw(parent, "svg", {role: "img", viewBox: `0 0 ${SpreadPlot.width} ${SpreadPlot.height}`,
                                        "aria-label": "How far apart the outcomes are, by the angle"});
    this.highest = 0.9;
    for (let degrees = 60; degrees <= 180; degrees += 30) {
      const x = this.toX(degrees);
      draw(this.drawing, "line", {class: "grid", x1: x, y1: 10, x2: x, y2: this.toY(0)});
      draw(this.drawing, "text", {class: "tick", x, y: this.toY(0) + 17, "text-anchor": "middle"},
           degrees + "°");
    }
    this.rows = draw(this.drawing, "g");
    this.marks = draw(this.drawing, "g");
    this.ring = draw(this.drawing, "circle", {class: "dot ring", r: 7});
  }
  toX(degrees) { return 40 + (degrees - 60) / 120 * (SpreadPlot.width - 60); }
  toY(spread) { return SpreadPlot.height - 30 - spread / this.highest * (SpreadPlot.height - 40); }

  drawRows() {
    empty(this.rows);
    for (const part of [0, 1 / 3, 2 / 3, 1]) {
      const y = this.toY(part * this.highest);
      draw(this.rows, "line", {class: "grid", x1: 40, y1: y, x2: SpreadPlot.width - 20, y2: y});
      draw(this.rows, "text", {class: "tick", x: 33, y: y + 4, "text-anchor": "end"},
           show(part * this.highest, 1));
    }
  }
  /** Draws the curve of a mass; returns the largest difference between line and dots. */
  show(library, cueMass) {
    empty(this.marks);
    const halves = Array.from({length: 241}, (_, k) => 120 + k);  // of degrees
    const line = halves.map(half => [half / 2, closedFormSpread(half * Math.PI / 360, cueMass)]);
    this.highest = Math.max(...line.map(([, spread]) => spread)) > 0.85 ? 1.8 : 0.9;
    this.drawRows();
    let largest = 0;
    draw(this.marks, "polyline", {class: "line s1", points: line.map(
      ([degrees, spread]) => `${this.toX(degrees).toFixed(1)},${this.toY(spread).toFixed(1)}`).join(" ")});
    for (let degrees = 60; degrees <= 180; degrees += 4) {
      const {spread} = library.billiards(degrees * Math.PI / 180, cueMass);
      largest = Math.max(largest, Math.abs(spread - closedFormSpread(degrees * Math.PI / 180, cueMass)));
      draw(this.marks, "circle", {class: "dot s2", cx: this.toX(degrees), cy: this.toY(spread), r: 3});
    }
    return largest;
  }
  mark(degrees, spread) {
    setAll(this.ring, {cx: this.toX(degrees), cy: this.toY(spread)});
  }
}

/** The table: three balls, and where each outcome sends them. */
class BreakPicture {
  static unit = 42;  // of a radius

  constructor(parent) {
    const unit = BreakPicture.unit;
    this.drawing = draw(parent, "svg", {class: "scene", role: "img", viewBox: "0 0 560 400"});
    draw(this.drawing, "rect", {class: "cloth", x: 0, y: 0, width: 560, height: 400, rx: 10});
    this.origin = {x: 205, y: 200};
    const ball = style => draw(this.drawing, "circle", {class: "ball " + style, r: unit});
    const colors = ["cue", "red", "yellow"];
    this.ghosts = [0, 1].map(k => colors.map(color => ball(`${color} ghost ghost-${k}`)));
    this.ways = [0, 1].map(k => [0, 1, 2].map(
      () => draw(this.drawing, "line", {class: `way way-${k}`})));
    this.balls = colors.map(ball);
    this.normals = draw(this.drawing, "polyline", {class: "normals"});
    this.arc = draw(this.drawing, "path", {class: "normals"});
    draw(this.drawing, "text", {class: "theta", x: this.origin.x + 44, y: this.origin.y + 5}, "θ");
  }
  places(angle) {
    const far = 2 * BreakPicture.unit, {x, y} = this.origin;
    const across = far * Math.cos(angle / 2), up = far * Math.sin(angle / 2);
    return [[x, y], [x + across, y - up], [x + across, y + up]];
  }
  /** The balls at `time`: before 0 the cue ball comes, after it every outcome goes its way. */
  show(angle, outcomes, time) {
    const start = this.places(angle), speed = 2.1 * BreakPicture.unit;
    const at = (k, velocity, t) => [start[k][0] + speed * t * velocity[2 * k],
                                    start[k][1] - speed * t * velocity[2 * k + 1]];
    const later = Math.max(time, 0);
    start.forEach((place, k) => {
      const come = k === 0 && time < 0 ? speed * time : 0;
      setAll(this.balls[k], {cx: place[0] + come, cy: place[1],
                             "fill-opacity": time > 0 ? 0.08 : 1});
      [0, 1].forEach(n => {
        const velocity = (outcomes[n] || outcomes[0]).velocity;
        const [x, y] = at(k, velocity, later), [endX, endY] = at(k, velocity, 1);
        setAll(this.ghosts[n][k], {cx: x, cy: y, visibility: time > 0 ? "visible" : "hidden"});
        setAll(this.ways[n][k], {x1: place[0], y1: place[1], x2: endX, y2: endY});
      });
    });
    const [[x, y], upper, lower] = start, radius = 34;
    setAll(this.normals, {points: [upper, [x, y], lower].map(place => place.join(",")).join(" ")});
    const across = radius * Math.cos(angle / 2), up = radius * Math.sin(angle / 2);
    setAll(this.arc, {d: `M${x + across} ${y - up} A${radius} ${radius} 0 0 1 ${x + across} ${y + up}`});
  }
}

function startBilliards(figure, library) {
  const state = {degrees: 75, cueMass: 1, time: 0.9, found: null, largest: 0};
  const board = add(figure, "div", {class: "board"});
  const left = add(board, "div"), side = add(board, "div", {class: "side"});
  const picture = new BreakPicture(left);
  const controls = add(left, "div", {class: "controls"});
  const key = add(controls, "span", {class: "legend"});
  const player = addPlayer(controls, figure, seconds => {
    state.time += 0.8 * seconds;
    if (state.time > 1.7) state.time = -1.4;
    picture.show(angle(), state.found.outcomes, Math.min(state.time, 1));
  });
  controls.append(key);
  for (const [style, text] of [["way-0", "one order"], ["way-1", "the other"]]) {
    const entry = add(key, "span");
    const mark = draw(entry, "svg", {viewBox: "0 0 22 10", "aria-hidden": "true"});
    draw(mark, "line", {class: "key " + style, x1: 1, y1: 5, x2: 21, y2: 5});
    entry.append(text);
  }
  const verdict = add(side, "p", {class: "verdict", "aria-live": "polite"});
  const plot = new SpreadPlot(side);
  const note = add(side, "p", {class: "small"});
  const sliders = add(side, "div", {class: "sliders"});
  const angle = () => state.degrees * Math.PI / 180;

  function update() {
    state.found = library.billiards(angle(), state.cueMass);
    const {spread, outcomes} = state.found;
    const pencil = closedFormSpread(angle(), state.cueMass);
    const one = outcomes.length === 1;
    empty(verdict).className = "verdict " + (one ? "good" : "bad");
    add(verdict, "b", {}, one ? "One outcome" : `${outcomes.length} outcomes, ξ = ${show(spread, 4)}`);
    add(verdict, "span", {}, one ? ": both orders send the balls the same way."
                                 : `; by pencil ${show(pencil, 4)}, difference ` +
                                   showError(Math.abs(spread - pencil)) + ".");
    plot.mark(state.degrees, spread);
    setAll(picture.drawing, {"aria-label": `Break shot at ${show(state.degrees, 1)}°: ` +
                                           verdict.textContent});
    picture.show(angle(), outcomes, Math.min(state.time, 1));
    Object.assign(figure.dataset, {spread, outcomes: outcomes.length});
  }
  function setMass(exponent) {
    state.cueMass = 2 ** exponent;
    const largest = plot.show(library, state.cueMass);
    note.textContent = "ξ by the angle between the balls: the line by pencil, the dots by carom; " +
                       `they differ by at most ${showError(largest)}.`;
  }
  addSlider(sliders, {name: "angle θ", low: 60, high: 180, step: 0.5, value: state.degrees,
                      text: value => show(value, 1) + "°",
                      change: value => {
                        state.degrees = value;
                        if (!player.playing()) state.time = 0.9;
                        update();
                      }});
  addSlider(sliders, {name: "mass of the cue ball", low: -4, high: 4, step: 0.25, value: 0,
                      text: value => show(2 ** value, 2),
                      change: value => { setMass(value); update(); }});
  setMass(0);
  update();
}
