// SPDX-License-Identifier: BSD-3-Clause
// Newton's cradle with chosen masses: how it can end, whether it has to end so, in which orders.

const cradleStarts = [
  {name: "three equal balls, one comes in", masses: [1, 1, 1], velocities: [1, 0, 0]},
  {name: "five equal balls, two come in", masses: [1, 1, 1, 1, 1], velocities: [1, 1, 0, 0, 0]},
  {name: "both ends at once", masses: [1, 1, 1], velocities: [1, 0, -1]},
  {name: "a heavy ball in the middle", masses: [1, 2, 1], velocities: [1, 0, -1]},
  {name: "a light ball in the middle, √2 − 1", masses: [1, Math.SQRT2 - 1, 1], velocities: [1, 0, -1]},
  {name: "masses 1, 2, 1, 2 run into each other", masses: [1, 2, 1, 2], velocities: [1.5, 1, 0.5, 0]},
  {name: "four equal balls run into each other", masses: [1, 1, 1, 1], velocities: [1.5, 1, 0.5, 0]},
  {name: "six equal balls run into each other", masses: [1, 1, 1, 1, 1, 1],
   velocities: [1.25, 1, 0.75, 0.5, 0.25, 0]},
];

const outcomesListed = 6, ordersDrawn = 160;

/** What is drawn: balls on strings, all of one length, that touch at rest. */
class CradlePicture {
  static width = 720;
  static height = 292;
  static length = 196;  // of the strings

  constructor(parent) {
    this.drawing = draw(parent, "svg", {class: "scene", role: "group",
                                        "aria-label": "Newton’s cradle in motion",
                                        viewBox: `0 0 ${CradlePicture.width} ${CradlePicture.height}`});
  }

  /** New balls; `grab(ball)` gets what to do when one is pulled. */
  hang(masses, makeGrab) {
    empty(this.drawing);
    draw(this.drawing, "line", {class: "beam", x1: 60, y1: 14, x2: CradlePicture.width - 60, y2: 14});
    const wanted = masses.map(mass => 36 * Math.cbrt(mass));
    const shrink = Math.min(1, 420 / (2 * wanted.reduce((a, b) => a + b)));
    const radii = wanted.map(radius => Math.max(radius * shrink, 3));
    let x = CradlePicture.width / 2 - radii.reduce((a, b) => a + b);
    this.balls = radii.map((radius, k) => {
      const place = x + radius;
      x += 2 * radius;
      const group = draw(this.drawing, "g");
      draw(group, "line", {class: "string", x1: place, y1: 14, x2: place, y2: 14 + CradlePicture.length});
      const ball = draw(group, "g", {class: "bob"});
      const at = {cx: place, cy: 14 + CradlePicture.length};
      draw(ball, "circle", {class: "ball steel", ...at, r: radius});
      if (radius > 9) {
        draw(ball, "text", {class: "bob-name", x: place, y: at.cy + 6, "text-anchor": "middle"}, k + 1);
      }
      makeDraggable(this.drawing, ball, makeGrab(k));
      return {group, place};
    });
  }

  /** Where the balls are: how far each is off its rest, to the right. */
  show(offsets) {
    this.balls.forEach(({group, place}, k) => {
      const angle = Math.asin(Math.max(-0.95, Math.min(0.95, offsets[k] / CradlePicture.length)));
      setAll(group, {transform: `rotate(${(-angle * 180 / Math.PI).toFixed(3)} ${place} 14)`});
    });
  }
}

/** The motion: strings of one length bring all balls back to the bottom in the same instant, where
 * the library resolves the next impact. Phase 0 is the impact; the strings swing by sin(phase). */
class CradleMotion {
  constructor(library, masses, before, after) {
    Object.assign(this, {library, masses});
    const fastest = Math.max(...before.map(Math.abs), ...after.map(Math.abs), 1e-9);
    this.scale = Math.min(110, 165 / fastest);
    const comes = before.every((v, k) => k === 0 || before[k - 1] >= v);  // apart before the blow
    this.phase = comes ? -Math.PI / 2 : 0;
    this.velocities = comes ? before : after;
    this.after = after;
  }
  turn(seconds) {
    const was = this.phase;
    this.phase += 3.6 * seconds;
    if (was < 0 && this.phase >= 0) this.velocities = this.after;
    if (this.phase >= Math.PI) {
      this.phase -= Math.PI;
      this.velocities = this.library.impact(this.masses, this.velocities.map(v => -v));
    }
  }
  offsets() {
    return this.velocities.map(v => this.scale * v * Math.sin(this.phase));
  }
}

const reasonMeanings = {
  orthogonal: "no gap feels what closes the others",
  dihedral: "the reflections at the gaps repeat after m turns",
  Coxeter: "the reflections at the gaps generate this finite group",
};

/** The sentence above the list. */
function cradleVerdict(found) {
  const count = found.outcomes.length;
  if (found.unique) {
    return ["good", "One outcome, whatever the order and the speeds", ` (${found.reason}: ${
      reasonMeanings[found.reason.split(" ")[0]]}).`];
  }
  if (!found.complete) return ["bad", "Too many outcomes to list", ": the search stopped early."];
  if (count === 1) {
    return ["good", "One outcome at these speeds", ": every order was tried; others may divide it."];
  }
  return ["bad", `${count} outcomes`,
          `: the order decides. They differ by up to ξ = ${show(found.spread)} of the momentum.`];
}

/** The largest relative change of momentum and of energy among the outcomes. */
function conservationErrors(masses, before, outcomes) {
  const sum = (list, power) => list.reduce((all, v, k) => all + masses[k] * v ** power, 0);
  const size = before.reduce((all, v, k) => all + masses[k] * Math.abs(v), 0) || 1;
  const change = (power, scale) => Math.max(0, ...outcomes.map(
    outcome => Math.abs(sum(outcome.velocity, power) - sum(before, power)) / scale));
  return [change(1, size), change(2, sum(before, 2) || 1)];
}

function startCradle(figure, library) {
  const state = {masses: [], velocities: [], chosen: 0, found: null};
  const top = add(figure, "div", {class: "choices"});
  const starts = addChoice(top, "Start from", cradleStarts.map(start => start.name), begin);
  const sizes = addChoice(top, "Balls", ["3", "4", "5", "6"], k => resize(k + 3));
  const board = add(figure, "div", {class: "board wide"});
  const left = add(board, "div"), side = add(board, "div", {class: "side"});
  const picture = new CradlePicture(left);
  const fields = add(left, "div", {class: "fields"});
  const controls = add(left, "div", {class: "controls"});
  const verdict = add(side, "p", {class: "verdict", "aria-live": "polite"});
  const list = add(side, "div", {class: "outcomes", role: "radiogroup", "aria-label": "Outcomes"});
  const treeDrawing = draw(side, "svg", {role: "img", class: "tree"});
  const treeNote = add(side, "p", {class: "small"});
  let motion = null;
  const player = addPlayer(controls, figure, seconds => {
    motion.turn(seconds);
    picture.show(motion.offsets());
  });
  const again = add(controls, "button", {type: "button"}, "From the start");
  const note = add(controls, "span", {class: "small"}, "or pull a ball aside");
  note.setAttribute("aria-hidden", "true");
  again.addEventListener("click", () => { restart(); player.set(true); });

  function restart() {
    const after = (state.found.outcomes[state.chosen] || {velocity: library.impact(
      state.masses, state.velocities)}).velocity;
    motion = new CradleMotion(library, state.masses, state.velocities, after);
    picture.show(motion.offsets());
  }
  /** Pulling a ball takes those outside of it along. */
  function makeGrab(ball) {
    let from = 0, pulled = null;
    const move = place => {
      const offset = Math.max(-170, Math.min(170, place.x - from));
      const taken = k => offset < 0 ? k <= ball : k >= ball;
      pulled = state.masses.map((_, k) => taken(k) ? Math.round(-offset / 5) / 20 : 0);
      picture.show(pulled.map(v => -100 * v));
    };
    return {begin: place => { player.set(false); from = place.x; pulled = null; }, move,
            end: () => {
              if (!pulled) return;
              state.velocities = pulled;
              writeFields();
              ask();
              player.set(true);
            }};
  }

  function writeFields() {
    const count = state.masses.length;
    empty(fields).style.setProperty("--balls", count);
    const inputs = (name, key, lowest) => {
      add(fields, "span", {class: "row-name"}, name);
      state[key].forEach((value, k) => {
        const field = add(fields, "input", {type: "number", step: 0.1, min: lowest, max: 100,
                                            inputmode: lowest > 0 ? "decimal" : "text",
                                            value: Number(value.toPrecision(5)),
                                            "aria-label": `${name} of ball ${k + 1}`});
        field.addEventListener("change", () => {
          const given = field.valueAsNumber;
          const held = Math.min(Math.max(given, lowest), 100);
          if (Number.isFinite(given)) state[key][k] = held;
          field.value = Number(state[key][k].toPrecision(5));
          if (key === "masses") picture.hang(state.masses, makeGrab);
          ask();
        });
      });
    };
    inputs("mass", "masses", 0.01);
    inputs("speed before", "velocities", -100);
    add(fields, "span", {class: "row-name"}, "speed after");
    state.masses.forEach((_, k) => add(fields, "output", {"aria-label": `speed after of ball ${k + 1}`}));
  }

  function choose(k) {
    state.chosen = k;
    const outcome = state.found.outcomes[k];
    [...fields.querySelectorAll("output")].forEach((cell, ball) => {
      cell.textContent = outcome ? show(outcome.velocity[ball]) : "";
    });
    const tree = library.tree(state.masses, state.velocities, ordersDrawn);
    drawOrderTree(treeDrawing, tree, k);
    const many = tree.complete ? (tree.orders === 1 ? "One admissible order"
                                                    : `${tree.orders} admissible orders`)
                               : `More than ${ordersDrawn} orders, drawn as far as they are fewer`;
    setAll(treeDrawing, {"aria-label": `Tree of admissible orders: ${many}`});
    const [momentum, energy] =
      conservationErrors(state.masses, state.velocities, state.found.outcomes);
    treeNote.textContent = `${many}: every path from the top is one, gap after gap that closes. ` +
      `Of momentum ${showError(momentum)} is lost, of energy ${showError(energy)}.`;
    restart();
  }

  function listOutcomes() {
    empty(list);
    state.found.outcomes.slice(0, outcomesListed).forEach((outcome, k) => {
      const label = add(list, "label");
      const button = add(label, "input", {type: "radio", name: "cradle-outcome", value: k});
      button.checked = k === state.chosen;
      button.addEventListener("change", () => choose(k));
      add(label, "b", {class: "t" + outcomeStyles[k % 4]}, letterOf(k));
      add(label, "span", {}, outcome.velocity.map(v => show(v)).join("  "));
      const order = outcome.order.map(contact => contact + 1).join(" ");
      add(label, "i", {}, outcome.order.length === 0 ? "nothing closes"
                          : outcome.order.length > 8 ? `${outcome.order.length} reflections` : order);
    });
    const more = state.found.outcomes.length - outcomesListed;
    if (more > 0) add(list, "p", {class: "small"}, `and ${more} more`);
  }

  /** Asks the library anew, after any change. */
  function ask() {
    state.found = library.cradle(state.masses, state.velocities);
    const [style, first, rest] = cradleVerdict(state.found);
    empty(verdict).className = "verdict " + style;
    add(verdict, "b", {}, first);
    add(verdict, "span", {}, rest);
    state.chosen = 0;
    listOutcomes();
    choose(0);
    const {outcomes, unique, reason} = state.found;
    Object.assign(figure.dataset, {unique, reason, outcomes: outcomes.length,
                                   after: (outcomes[0] || {velocity: []}).velocity.join(" ")});
  }
  function begin(k) {
    state.masses = [...cradleStarts[k].masses];
    state.velocities = [...cradleStarts[k].velocities];
    sizes.value = state.masses.length - 3;
    rebuild();
  }
  function resize(count) {
    const fill = (list, value) => Array.from({length: count}, (_, k) => k < list.length ? list[k] : value);
    state.masses = fill(state.masses, 1);
    state.velocities = fill(state.velocities, 0);
    rebuild();
  }
  function rebuild() {
    picture.hang(state.masses, makeGrab);
    writeFields();
    ask();
  }
  starts.value = 0;
  begin(0);
}
