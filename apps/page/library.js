// SPDX-License-Identifier: BSD-3-Clause
// carom itself, compiled from the C++ headers (page_program.cpp), as functions of plain numbers.

/** Starts the program that the page carries; resolves to the functions below. */
async function startLibrary() {
  const code = document.getElementById("carom-program").textContent.replace(/\s/g, "");
  const bytes = Uint8Array.from(atob(code), letter => letter.charCodeAt(0));
  const stop = () => { throw new Error("carom refused its input"); };
  const {instance} = await WebAssembly.instantiate(bytes, {
    env: {emscripten_notify_memory_growth() {}},
    wasi_snapshot_preview1: {proc_exit: stop, fd_write: stop, fd_close: stop, fd_seek: stop},
  });
  instance.exports._initialize();
  return makeLibrary(instance.exports);
}

function makeLibrary(program) {
  // Views are made for each call: memory that has grown leaves old ones empty.
  function give(...lists) {
    const numbers = lists.flat();
    new Float64Array(program.memory.buffer, program.page_input(), numbers.length).set(numbers);
  }
  function take(count) {
    if (count < 0) throw new RangeError("expected masses within [0.001, 1000]");
    return [...new Float64Array(program.memory.buffer, program.page_output(), count)];
  }
  function words() {
    const bytes = new Uint8Array(program.memory.buffer, program.page_text());
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  return {
    /** Nearest impulse that friction allows: point, slope (3 rows) and region. */
    project(friction, tangentWeight, normalWeight, trial) {
      const all = take(program.page_project(friction, tangentWeight, normalWeight, ...trial));
      return {point: all.slice(0, 3),
              slope: [all.slice(3, 6), all.slice(6, 9), all.slice(9, 12)],
              region: words()};
    },
    /** Every way an impact of balls in line can end, and whether it has to be one. */
    cradle(masses, velocities) {
      give(masses, velocities);
      const [count, complete, unique, spread, states, ...rest] =
        take(program.page_cradle(masses.length));
      const outcomes = [];
      for (let k = 0; k < count; ++k) {
        const velocity = rest.splice(0, masses.length);
        const [length] = rest.splice(0, 1);
        outcomes.push({velocity, order: rest.splice(0, length)});
      }
      return {outcomes, complete: complete === 1, unique: unique === 1, spread, states,
              reason: words()};
    },
    /** The tree of admissible orders, down to where more than `limit` would be told apart. */
    tree(masses, velocities, limit) {
      give(masses, velocities);
      const [orders, complete, ...rest] = take(program.page_tree(masses.length, limit));
      const nodes = [];
      for (let k = 0; k < rest.length; k += 5) {
        const [parent, contact, level, outcome, column] = rest.slice(k, k + 5);
        nodes.push({parent, contact, level, outcome, column});
      }
      return {orders, complete: complete === 1, nodes};
    },
    /** One impact, the contact that closes fastest first: the velocities after it. */
    impact(masses, velocities) {
      give(masses, velocities);
      return take(program.page_impact(masses.length)).slice(0, masses.length);
    },
    /** The break shot under an angle [rad]: how far apart its outcomes are, and what they are. */
    billiards(angle, cueMass) {
      const [spread, ...rest] = take(program.page_billiards(angle, cueMass));
      const reason = words();
      const outcomes = [];
      for (let k = 0; k < rest.length; k += 7) {
        outcomes.push({velocity: rest.slice(k, k + 6), first: rest[k + 6]});
      }
      return {spread, outcomes, reason};
    },
  };
}
