// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/animation.hpp"
#include "cli/experiment.hpp"
#include "cli/page_style.hpp"
#include "io/number_text.hpp"

namespace carom::cli {
namespace {

/// A number with a true minus sign and a superscript power of ten.
std::string html_number(double value, int digits) {
  std::string text = files::format_rounded(value, digits);
  const std::size_t e = text.find('e');
  std::string power;
  if (e != std::string::npos) {
    std::string exponent = std::to_string(std::stoi(text.substr(e + 1)));
    if (exponent.front() == '-') exponent.replace(0, 1, "−");
    text.resize(e);
    power = "10<sup>" + exponent + "</sup>";
    if (text == "1") return power;
    power.insert(0, " × ");
  }
  if (text.front() == '-') text.replace(0, 1, "−");
  return text + power;
}

/// A carom shot: the cue ball hits the other two after the cushions.
constexpr const char* hero_picture = R"svg(<svg viewBox="0 0 420 230" role="img"
 aria-label="A billiard shot that meets two balls by way of three cushions">
<rect x="6" y="6" width="408" height="218" rx="16" fill="var(--felt)" opacity="0.92"/>
<rect x="20" y="20" width="380" height="190" rx="6" fill="none" stroke="#ffffff" stroke-opacity="0.25" stroke-width="1.5"/>
<polyline points="82,168 222,92 340,30 390,86 276,200 150,126 108,66" fill="none" stroke="#ffffff" stroke-opacity="0.75" stroke-width="1.8" stroke-dasharray="1 7" stroke-linecap="round"/>
<g stroke="#00000033"><circle cx="82" cy="168" r="11" fill="#fdfbf4"/>
<circle cx="226" cy="110" r="11" fill="#d9472b"/><circle cx="102" cy="47" r="11" fill="#f2bf3c"/></g>
<g fill="#ffffff" fill-opacity="0.45"><circle cx="78" cy="164" r="3"/><circle cx="222" cy="106" r="3"/><circle cx="98" cy="43" r="3"/></g>
</svg>)svg";

std::string make_legend(const std::vector<LegendEntry>& entries) {
  if (entries.empty()) return "";
  std::string html = "<div class=\"legend\">";
  for (const LegendEntry& e : entries) {
    html += "<span><svg viewBox=\"0 0 22 10\" aria-hidden=\"true\">";
    if (e.mark == "dot" || e.mark == "ring") {
      html += "<circle class=\"dot " + e.style + (e.mark == "ring" ? " ring" : "") +
              "\" cx=\"11\" cy=\"5\" r=\"3.8\"/>";
    } else if (e.mark == "fill") {
      html += "<path class=\"" + e.style + "\" d=\"M3 0h16v10h-16z\"/>";
    } else {
      html += "<line class=\"line " + e.style + (e.mark == "dash" ? " dashed" : "") +
              "\" x1=\"1\" y1=\"5\" x2=\"21\" y2=\"5\"/>";
    }
    html += "</svg>" + e.text + "</span>";
  }
  return html + "</div>";
}

std::string make_section(const Experiment& experiment) {
  std::string html =
      "<section>\n<h2>" + experiment.title + "</h2>\n<p>" + experiment.text + "</p>\n";
  if (!experiment.play.empty()) html += make_play(experiment.play);
  html += "<div class=\"panels\">\n";
  for (const Panel& panel : experiment.panels) {
    html += "<figure>\n<h3>" + panel.title + "</h3>" + make_legend(panel.legend) + "\n" +
            panel.svg + "</figure>\n";
  }
  return html + "</div>\n<p class=\"caption\">" + experiment.caption + "</p>\n</section>\n";
}

std::string make_row(const Comparison& c) {
  const std::string unit = c.unit.empty() ? "" : " <span class=\"unit\">" + c.unit + "</span>";
  const std::string verdict = c.passed() ? "<td class=\"good\" data-label=\"error\">"
                                         : "<td class=\"bad\" data-label=\"error\">";
  return "<tr><td>" + c.quantity + "</td><td data-label=\"closed form\"><span>" +
         html_number(c.expected, 7) + unit + "</span></td><td data-label=\"computed\"><span>" +
         html_number(c.computed, 7) + unit + "</span></td>" + verdict + "<span>" +
         html_number(c.error(), 2) + "</span></td><td data-label=\"allowed\"><span>" +
         html_number(c.tolerance, 2) + "</span></td></tr>\n";
}

std::string make_table(const std::vector<Experiment>& experiments) {
  std::string html =
      "<section id=\"numbers\">\n<h2>Every number</h2>\n<p>Each quantity that has a closed form, "
      "and what the library computes. Errors are relative; where the closed form is zero, they are "
      "absolute.</p>\n<table>\n<thead><tr><th>quantity</th><th>closed form</th><th>computed</th>"
      "<th>error</th><th>allowed</th></tr></thead>\n<tbody>\n";
  for (const Experiment& experiment : experiments) {
    html += "<tr class=\"group\"><td colspan=\"5\">" + experiment.title + "</td></tr>\n";
    for (const Comparison& c : experiment.comparisons) html += make_row(c);
  }
  return html + "</tbody>\n</table>\n</section>\n";
}

std::string make_fact(const std::string& number, const std::string& meaning, const char* style) {
  return "<div><b class=\"" + std::string(style) + "\">" + number + "</b>" + meaning + "</div>\n";
}

std::string make_facts(const std::vector<Experiment>& experiments) {
  std::size_t total = 0, passed = 0;
  double worst = 0;
  for (const Experiment& experiment : experiments) {
    for (const Comparison& c : experiment.comparisons) {
      ++total;
      passed += c.passed() ? 1 : 0;
      if (c.expected != 0) worst = std::max(worst, c.error());
    }
  }
  return "<div class=\"facts\">\n" +
         make_fact(std::to_string(passed) + " of " + std::to_string(total),
                   "quantities as they should be", passed == total ? "good" : "bad") +
         make_fact(html_number(worst, 2), "largest relative error of a closed form", "") +
         make_fact(std::to_string(experiments.size()), "experiments", "") +
         "<div><b><a href=\"#numbers\">The table</a></b>of every number</div>\n"
         "<div><b><a href=\"#try-cone\">Cone</a>, <a href=\"#try-cradle\">cradle</a>, "
         "<a href=\"#try-billiards\">billiards</a></b>to try: the library runs in this page</div>\n"
         "</div>\n";
}

}  // namespace

std::string make_page(const std::vector<Experiment>& experiments, const PlayParts& parts) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>carom: experiments in contact</title>\n<style>" +
      std::string(page_style) + parts.style +
      "</style>\n</head>\n<body>\n"
      "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>"
      "<marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" "
      "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 1 L10 5 L0 9 Z\"/></marker></defs></svg>\n"
      "<main>\n<header><div><h1>carom</h1>\n<p>Contact physics you can include. This page ran "
      "the library on questions whose answers are known, and shows how close it came.</p></div>\n" +
      std::string(hero_picture) + "</header>\n" + make_facts(experiments);
  for (const Experiment& experiment : experiments) html += make_section(experiment);
  html += make_table(experiments);
  return html +
         "<footer>Written by <code>carom demo</code>, from numbers computed during its run. "
         "SI units throughout; gravity is 9.81 m/s².</footer>\n</main>\n<script>" +
         std::string(animation_script) +
         "</script>\n<script type=\"text/plain\" id=\"carom-program\">\n" + parts.program +
         "</script>\n<script>\n\"use strict\";\n(() => {\n" + parts.script +
         "})();\n</script>\n</body>\n</html>\n";
}

}  // namespace carom::cli
