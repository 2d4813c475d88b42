// SPDX-License-Identifier: BSD-3-Clause
// What the figures are drawn with.

const drawingSpace = document.querySelector("svg").namespaceURI;

function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** A new element of a drawing, put last into `parent`. */
function draw(parent, name, attributes = {}, text = "") {
  const element = setAll(document.createElementNS(drawingSpace, name), attributes);
  element.textContent = text;
  parent.append(element);
  return element;
}

/** A new element of the page, put last into `parent`. */
function add(parent, name, attributes = {}, text = "") {
  const element = setAll(document.createElement(name), attributes);
  element.textContent = text;
  parent.append(element);
  return element;
}

function empty(element) {
  element.replaceChildren();
  return element;
}

/** A number with `digits` places and a true minus sign; no "−0". */
function show(value, digits = 3) {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "−");
}

/** The size of a rounding error. */
function showError(value) {
  if (value === 0) return "nothing";
  const power = Math.floor(Math.log10(value));
  const digits = String(-power).replace(/\d/g, d => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]).replace("-", "");
  return `${Math.round(value / 10 ** power)} · 10${power < 0 ? "⁻" : ""}${digits}`;
}

/** A slider with its name and value; `change(value)` hears of each move. */
function addSlider(parent, {name, low, high, step, value, text, change}) {
  const row = add(parent, "label", {class: "slider"});
  add(row, "span", {}, name);
  const slider = add(row, "input", {type: "range", min: low, max: high, step, value});
  const output = add(row, "output");
  const put = () => {
    output.textContent = text(Number(slider.value));
    slider.setAttribute("aria-valuetext", output.textContent);
  };
  slider.addEventListener("input", () => { put(); change(Number(slider.value)); });
  put();
  return slider;
}

/** A list to choose from: [text, …]; `change(index)` hears of a choice. */
function addChoice(parent, name, texts, change) {
  const label = add(parent, "label", {class: "choice"});
  add(label, "span", {}, name);
  const list = add(label, "select");
  texts.forEach((text, k) => add(list, "option", {value: k}, text));
  list.addEventListener("change", () => change(Number(list.value)));
  return list;
}

const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/** A button that starts and stops `turn(seconds since the last frame)`; it rests out of sight. */
function addPlayer(parent, figure, turn) {
  const button = add(parent, "button", {type: "button", class: "play"}, "Play");
  let playing = false, seen = false, before = null;
  function frame(now) {
    if (!playing || !seen) { before = null; return; }
    if (before !== null) turn(Math.min(now - before, 100) / 1000);
    before = now;
    requestAnimationFrame(frame);
  }
  function set(on) {
    const idle = !(playing && seen);
    playing = on;
    button.textContent = on ? "Pause" : "Play";
    if (on && seen && idle) requestAnimationFrame(frame);
  }
  button.addEventListener("click", () => set(!playing));
  stillness.addEventListener("change", () => { if (stillness.matches) set(false); });
  new IntersectionObserver(entries => {
    const idle = !(playing && seen);
    seen = entries[entries.length - 1].isIntersecting;
    if (playing && seen && idle) requestAnimationFrame(frame);
  }).observe(figure);
  set(!stillness.matches);
  return {set, playing: () => playing};
}

/** Where a pointer is, in units of the drawing. */
function placeIn(drawing, event) {
  const place = new DOMPoint(event.clientX, event.clientY);
  return place.matrixTransform(drawing.getScreenCTM().inverse());
}

/** Calls `move(place)` while a pointer drags `handle`, then `end()`. */
function makeDraggable(drawing, handle, {begin = () => {}, move, end = () => {}}) {
  handle.addEventListener("pointerdown", event => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    handle.focus({preventScroll: true});
    begin(placeIn(drawing, event));
    const follow = e => move(placeIn(drawing, e));
    handle.addEventListener("pointermove", follow);
    const release = () => {
      handle.removeEventListener("pointermove", follow);
      end();
    };
    for (const name of ["pointerup", "pointercancel"]) {
      handle.addEventListener(name, release, {once: true});
    }
  });
}

/** How far the arrow keys move something: [right, up], or null for another key. */
function arrowOf(event) {
  const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
  return way ? way.map(part => part * (event.shiftKey ? 5 : 1)) : null;
}
