// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace carom::cli {

/// The style sheet of the page: light and dark, from wide screens to phones.
inline constexpr const char* page_style = R"css(
:root {
  color-scheme: light dark;
  --paper: #f7f5f0; --card: #fffefb; --ink: #1f2430; --soft: #5c6474; --faint: #8d94a2;
  --rule: #e4e0d6; --grid: #ece8de; --frame: #a9adb6;
  --s1: #1f5fa8; --s2: #c4501b; --s3: #2c7a53; --s4: #8a4a9e; --stick: #1f5fa81c; --away: #2c7a5318;
  --good: #2c7a53; --bad: #b3261e; --felt: #2c7a53; --shadow: 0 1px 2px #1f243012, 0 6px 24px #1f24300d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171d; --card: #1b1f27; --ink: #e7e6e1; --soft: #a9afbb; --faint: #7d8491;
    --rule: #2c313b; --grid: #272c35; --frame: #606876;
    --s1: #78b0f0; --s2: #f0935f; --s3: #6cc398; --s4: #c79be0; --stick: #78b0f024; --away: #6cc3981c;
    --good: #6cc398; --bad: #ff8a80; --felt: #1f5a3d; --shadow: none;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 17px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 1080px; margin: 0 auto; padding: 0 24px 64px; }
h1, h2 {
  font-family: "Iowan Old Style", "Palatino Linotype", Palatino, "URW Palladio L", "P052", Georgia, serif;
  font-weight: 600; letter-spacing: -0.01em; line-height: 1.15; margin: 0;
}
h1 { font-size: clamp(44px, 8vw, 76px); letter-spacing: -0.03em; }
h2 { font-size: clamp(25px, 3.4vw, 32px); }
h3 { font-size: 15px; font-weight: 600; margin: 0 0 2px; line-height: 1.35; }
p { margin: 0; max-width: 44em; }
a { color: var(--s1); text-decoration-thickness: 1px; text-underline-offset: 3px; }
code { font: 0.88em ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
nav { position: sticky; top: 0; z-index: 5; background: var(--paper); border-bottom: 1px solid var(--rule); }
.strip { max-width: 1080px; margin: 0 auto; padding: 0 24px; height: 48px; display: flex; align-items: center;
  gap: 4px 22px; font-size: 15px; white-space: nowrap; }
.strip > a, .menu > summary { color: var(--ink); text-decoration: none; line-height: 48px; }
.strip > a:hover, .menu > summary:hover { text-decoration: underline; }
.strip .brand { font: 600 21px/48px "Iowan Old Style", "Palatino Linotype", Palatino, "URW Palladio L", "P052", Georgia, serif; }
.menu > summary { cursor: pointer; list-style: none; } .menu > summary::-webkit-details-marker { display: none; }
.menu > summary::after { content: " ▾"; color: var(--soft); } .menu[open] > summary::after { content: " ▴"; }
.strip > .menu { margin-right: auto; }
.list { position: absolute; left: 0; right: 0; top: 100%; background: var(--card); border-bottom: 1px solid var(--rule);
  box-shadow: var(--shadow); max-height: calc(100vh - 60px); overflow-y: auto; white-space: normal;
  padding: 18px max(24px, calc((100% - 1032px) / 2)) 22px; columns: 4 220px; column-gap: 28px; }
.list div { break-inside: avoid; padding-bottom: 14px; }
.list b { display: block; font-size: 13.5px; color: var(--soft); font-weight: 600; }
.list a { display: block; color: var(--ink); text-decoration: none; padding: 3px 0; line-height: 1.35; }
.list a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--s1); outline-offset: 2px; }
header { display: grid; grid-template: "lead stage" 1fr "next stage" 1fr / minmax(0, 1fr) minmax(0, 1.08fr); gap: 20px 48px;
  padding: 30px 0 26px; }
.lead { grid-area: lead; align-self: end; } .stage { grid-area: stage; } .next { grid-area: next; }
header p { font-size: 19px; line-height: 1.5; color: var(--soft); margin-top: 12px; }
.ways { display: flex; flex-wrap: wrap; gap: 10px; }
header .ways { margin-top: 0; }
.ways a { font-size: 16px; padding: 7px 16px; border: 1px solid var(--frame); border-radius: 9px; color: var(--ink);
  text-decoration: none; background: var(--card); }
.ways a:hover { border-color: var(--ink); } .ways a:first-child { background: var(--s1); border-color: var(--s1); color: var(--card); }
header p.hint { font-size: 15px; margin-top: 10px; }
.stage h3 { font-size: 14px; font-weight: 400; color: var(--soft); order: 1; padding-bottom: 4px; }
.stage .player { padding-top: 0; }
.facts { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 12px 36px; padding: 16px 0; margin: 0;
  border-top: 1px solid var(--rule); border-bottom: 1px solid var(--rule); }
.facts div { font-size: 15px; color: var(--soft); }
.facts b { display: block; font-size: 25px; line-height: 1.25; font-weight: 600; color: var(--ink);
  font-variant-numeric: tabular-nums; }
.facts b.good { color: var(--good); } .facts b.bad { color: var(--bad); }
.fold { height: 0; text-align: right; }
.fold button { font: inherit; font-size: 14.5px; margin-top: 20px; padding: 5px 12px; color: var(--ink); background: var(--card);
  border: 1px solid var(--frame); border-radius: 8px; cursor: pointer; position: relative; }
.fold button:hover { border-color: var(--ink); }
.chapter { font-size: 21px; padding: 26px 0 8px; }
details.section { border-top: 1px solid var(--rule); }
details.section > summary { display: grid; grid-template-columns: 20px minmax(0, 1fr) auto; gap: 0 8px; align-items: baseline;
  padding: 9px 0; cursor: pointer; list-style: none; }
details.section > summary::-webkit-details-marker { display: none; }
details.section > summary::before { content: "▸"; color: var(--soft); } details.section[open] > summary::before { content: "▾"; }
details.section > summary:hover h2 { text-decoration: underline; text-decoration-thickness: 1px; text-underline-offset: 4px; }
summary h2 { font: 600 17px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; letter-spacing: 0; }
.teaser { grid-column: 2 / 4; grid-row: 2; color: var(--soft); font-size: 15px; line-height: 1.45; }
details[open] > summary .teaser { display: none; }
.tags { font-size: 13.5px; color: var(--soft); display: flex; flex-wrap: wrap; gap: 2px 12px; justify-content: flex-end; }
.tag { color: var(--s1); border: 1px solid var(--s1); border-radius: 99px; padding: 0 8px; line-height: 1.45; }
section { padding: 4px 0 28px; scroll-margin-top: 100px; }
figure.try { scroll-margin-top: 60px; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr));
  gap: 18px; margin: 22px 0 14px; }
figure { margin: 0; background: var(--card); border: 1px solid var(--rule); border-radius: 12px;
  padding: 16px 16px 10px; box-shadow: var(--shadow); display: flex; flex-direction: column; }
figure > svg { width: 100%; height: auto; display: block; margin-top: auto; padding-top: 6px; }
.legend { display: flex; flex-wrap: wrap; gap: 0 16px; font-size: 13.5px; color: var(--soft); line-height: 1.6; }
.legend span { display: inline-flex; align-items: center; gap: 7px; }
.legend svg { width: 22px; height: 10px; margin: 0; flex: none; }
.caption { color: var(--soft); font-size: 15.5px; max-width: 50em; }
svg text { font-family: inherit; fill: var(--ink); }
.tick { font-size: 12.5px; fill: var(--soft); font-variant-numeric: tabular-nums; }
.value { font-size: 12.5px; fill: var(--ink); font-variant-numeric: tabular-nums; }
.name { font-size: 13px; fill: var(--soft); }
.note { font-size: 15px; font-style: italic; fill: var(--soft); } .note.small { font-size: 12.5px; }
.grid { stroke: var(--grid); stroke-width: 1; } .frame { stroke: var(--frame); stroke-width: 1.2; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.thin { stroke-width: 1.2; }
.dashed { stroke-dasharray: 5 5; } .dotted { stroke-dasharray: 0.1 5; } .faint { stroke: var(--frame); stroke-width: 1.2; }
.s1 { stroke: var(--s1); } .s2 { stroke: var(--s2); } .s3 { stroke: var(--s3); } .s4 { stroke: var(--s4); }
.dot { stroke: var(--card); stroke-width: 1; }
.dot.s1, .bar.s1 { fill: var(--s1); } .dot.s2, .bar.s2 { fill: var(--s2); } .dot.s3, .bar.s3 { fill: var(--s3); } .dot.s4 { fill: var(--s4); }
.dot.ring { fill: none; stroke: var(--s3); stroke-width: 1.8; }
.bar { stroke: none; opacity: 0.88; }
.arrow { stroke-width: 1.5; } #tip path { fill: var(--s2); }
.player { margin-top: auto; padding-top: 6px; }
.player > svg { width: 100%; height: auto; display: block; border-radius: 6px; }
.controls { display: flex; align-items: center; gap: 12px; padding: 10px 0 4px; }
.controls[hidden] { display: none; }
.controls button { font: inherit; font-size: 14.5px; min-width: 5.2em; padding: 5px 12px; color: var(--ink);
  background: var(--paper); border: 1px solid var(--frame); border-radius: 8px; cursor: pointer; }
.controls button:hover { border-color: var(--ink); }
.controls input { flex: 1; min-width: 0; accent-color: var(--s1); }
.controls :focus-visible { outline: 2px solid var(--s1); outline-offset: 2px; }
.controls output { font-size: 14.5px; color: var(--soft); min-width: 4.2em; text-align: right; font-variant-numeric: tabular-nums; }
.ball { stroke: var(--card); stroke-width: 1; }
.ball.s1 { fill: var(--s1); } .ball.s2 { fill: var(--s2); } .ball.s3 { fill: var(--s3); }
.ball.cue { fill: #fdfbf4; stroke: #00000033; } .ball.yellow { fill: #f2bf3c; }
.ball.body { fill-opacity: 0.22; stroke-width: 2; } .ball.body.s1 { stroke: var(--s1); } .ball.body.s2 { stroke: var(--s2); }
.limb { fill: none; stroke-width: 5; stroke-linecap: round; stroke-linejoin: round; } .limb.far { stroke-opacity: 0.45; }
.spoke { stroke: var(--card); stroke-width: 1.4; }
.wall { fill: var(--frame); } .cloth { fill: var(--felt); } .cushion { fill: #5a3d28; }
[class^="load"] { fill: var(--s2); fill-opacity: var(--load); stroke: var(--frame); stroke-width: 0.4; }
.opaque { fill: var(--card); }
.load0 { --load: 0.08; } .load1 { --load: 0.18; } .load2 { --load: 0.28; } .load3 { --load: 0.38; }
.load4 { --load: 0.48; } .load5 { --load: 0.58; } .load6 { --load: 0.68; } .load7 { --load: 0.78; } .load8 { --load: 0.88; } .load9 { --load: 0.98; }
.stick { fill: var(--stick); } .separate { fill: var(--away); }
table { border-collapse: collapse; width: 100%; font-size: 15px; margin-top: 20px; font-variant-numeric: tabular-nums; }
th { text-align: right; font-weight: 600; color: var(--soft); font-size: 13.5px; padding: 6px 10px; border-bottom: 1px solid var(--frame); }
td { text-align: right; padding: 5px 10px; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; }
tr.group td { font-weight: 600; padding-top: 20px; border-bottom-color: var(--frame); }
sup { line-height: 0; }
td sup { font-size: 0.72em; }
.unit { color: var(--faint); } .good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
footer { color: var(--soft); font-size: 14.5px; margin-top: 48px; padding-top: 18px; border-top: 1px solid var(--rule); }
@media print {
  nav, .fold, .ways, header p.hint { display: none; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
@media (prefers-reduced-motion: reduce) { * { transition: none; scroll-behavior: auto; } }
@media (max-width: 720px) {
  .controls button { padding: 9px 14px; }
  body { font-size: 16.5px; }
  main { padding: 0 16px 48px; }
  .strip { padding: 0 16px; gap: 4px 16px; }
  .list { padding: 14px 16px 18px; columns: auto; } .list a { padding: 8px 0; }
  header { grid-template: "lead" "stage" "next" / minmax(0, 1fr); gap: 16px; padding: 12px 0 18px; }
  header p { font-size: 17px; margin-top: 6px; } .ways { gap: 8px; } .ways a { padding: 8px 12px; font-size: 15.5px; }
  .chapter { padding: 22px 0 6px; }
  .fold { height: auto; text-align: left; } .fold button { padding: 9px 14px; margin-top: 14px; }
  details.section > summary { grid-template-columns: 16px minmax(0, 1fr); padding: 12px 0; }
  .teaser { grid-column: 2; } .tags { grid-column: 2; grid-row: 3; justify-content: flex-start; padding-top: 3px; }
  figure { padding: 13px 12px 8px; }
  .tick, .name { font-size: 14.5px; } .bar-name { font-size: 13px; } .value { font-size: 13.5px; }
  .facts { grid-template-columns: minmax(0, 1fr); gap: 10px; padding: 14px 0; }
  .facts b { font-size: 21px; }
  table, tbody, tr, td { display: block; } thead { display: none; }
  tr { padding: 10px 0; border-bottom: 1px solid var(--rule); }
  tr.group { padding: 22px 0 6px; border-bottom-color: var(--frame); }
  td, tr.group td { border: 0; padding: 1px 0; white-space: normal; }
  td:first-child { margin-bottom: 3px; font-weight: 500; }
  td[data-label] { display: flex; justify-content: space-between; gap: 16px; }
  td[data-label]::before { content: attr(data-label); color: var(--soft); }
}
@media (max-width: 370px) { .strip .brand { display: none; } }
)css";

}  // namespace carom::cli
