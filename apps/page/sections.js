// SPDX-License-Identifier: BSD-3-Clause
// Folded sections. Without this script they open by their titles and by links into them; with it the
// menu closes behind a link, older browsers open what a link leads to, too, and paper shows all.

/** Opens everything that `place` lies in. */
function unfold(place) {
  for (let e = place?.closest("details"); e; e = e.parentElement.closest("details")) e.open = true;
}

function startSections() {
  const menu = document.querySelector("details.menu");
  const sections = [...document.querySelectorAll("details.section")];

  function go() {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place?.closest("details.section")) return;
    unfold(place);
    place.scrollIntoView();
  }
  addEventListener("hashchange", go);
  go();

  document.addEventListener("click", event => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) go();  // a second time: no change is told
    if (link || !menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", event => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = sections.filter(section => !section.open);
    for (const section of folded) section.open = true;
  });
  addEventListener("afterprint", () => { for (const section of folded) section.open = false; });

  const all = add(document.querySelector(".fold"), "button", {type: "button"}, "Open all sections");
  all.addEventListener("click", () => {
    const open = sections.some(section => !section.open);
    for (const section of sections) section.open = open;
    all.textContent = open ? "Fold all sections" : "Open all sections";
  });
}
startSections();
