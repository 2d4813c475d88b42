// SPDX-License-Identifier: BSD-3-Clause
// Puts life into every figure that waits for the library; where it cannot run, each says why.

const plays = {cone: startCone, cradle: startCradle, billiards: startBilliards};

async function startPage() {
  const figures = [...document.querySelectorAll("figure[data-play]")];
  let library;
  try {
    if (typeof WebAssembly !== "object") throw new Error("this browser has no WebAssembly");
    library = await startLibrary();
  } catch (fault) {
    for (const figure of figures) {
      figure.querySelector(".waiting").textContent += ` It does not run here: ${fault.message}.`;
    }
    return;
  }
  for (const figure of figures) {
    figure.querySelector(".waiting").remove();
    plays[figure.dataset.play](figure, library);
    figure.dataset.ready = "yes";
  }
}
startPage();
