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

/// A title as the address of a place in the page: its letters and digits, in lower case.
std::string address_of(const std::string& title) {
  std::string address;
  for (const char c : title) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      address += upper ? char(c - 'A' + 'a') : c;
    } else if (c == ' ') {
      address += '-';
    }
  }
  while (!address.empty() && address.back() == '-') address.pop_back();
  return address;
}

/// The first sentence of a text, its end included.
std::string first_sentence(const std::string& text) {
  for (std::size_t k = 0; k + 1 < text.size(); ++k) {
    if ((text[k] == '.' || text[k] == '?') && text[k + 1] == ' ') return text.substr(0, k + 1);
  }
  return text;
}

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

std::string make_figure(const Panel& panel, const char* style) {
  return "<figure" + std::string(style) + ">\n<h3>" + panel.title + "</h3>" +
         make_legend(panel.legend) + "\n" + panel.svg + "</figure>\n";
}

/// What a folded section says of itself beside its title: what moves in it, and how its numbers
/// are.
std::string make_tags(const Experiment& experiment) {
  const auto moves = [](const Panel& panel) {
    return !panel.opens_page && panel.svg.find("class=\"player\"") != std::string::npos;
  };
  std::string html = "<span class=\"tags\">";
  if (std::any_of(experiment.panels.begin(), experiment.panels.end(), moves)) {
    html += "<span class=\"tag\">in motion</span>";
  }
  if (!experiment.play.empty()) html += "<span class=\"tag\">to try</span>";
  const std::size_t count = experiment.comparisons.size();
  const auto passed =
      std::size_t(std::count_if(experiment.comparisons.begin(), experiment.comparisons.end(),
                                [](const Comparison& c) { return c.passed(); }));
  return html + "<span class=\"" + (passed == count ? "good" : "bad") + "\">" +
         std::to_string(passed) + " of " + std::to_string(count) + " numbers right</span></span>";
}

std::string make_section(const Experiment& experiment) {
  std::string html = "<details class=\"section\">\n<summary><h2>" + experiment.title +
                     "</h2><span class=\"teaser\">" + first_sentence(experiment.text) + "</span>" +
                     make_tags(experiment) + "</summary>\n<section id=\"" +
                     address_of(experiment.title) + "\">\n<p>" + experiment.text + "</p>\n";
  if (!experiment.play.empty()) html += make_play(experiment.play);
  html += "<div class=\"panels\">\n";
  for (const Panel& panel : experiment.panels) {
    if (!panel.opens_page) html += make_figure(panel, "");
  }
  return html + "</div>\n<p class=\"caption\">" + experiment.caption +
         "</p>\n</section>\n</details>\n";
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

std::string make_table(const std::vector<Chapter>& chapters) {
  std::string html =
      "<h2 class=\"chapter\">Numbers</h2>\n<details class=\"section\">\n<summary><h2>Every "
      "number</h2><span class=\"teaser\">Each quantity whose value is known, and what the library "
      "computes.</span></summary>\n<section id=\"numbers\">\n<p>Each quantity whose value is known "
      "in closed form, and what the library computes. Errors are relative; where the closed form "
      "is "
      "zero, they are absolute, in the quantity’s unit.</p>\n<table>\n<thead><tr><th>quantity</th>"
      "<th>closed form</th><th>computed</th><th>error</th><th>allowed</th></tr></thead>\n<tbody>\n";
  for (const Chapter& chapter : chapters) {
    for (const Experiment& experiment : chapter.experiments) {
      html += "<tr class=\"group\"><td colspan=\"5\">" + experiment.title + "</td></tr>\n";
      for (const Comparison& c : experiment.comparisons) html += make_row(c);
    }
  }
  return html + "</tbody>\n</table>\n</section>\n</details>\n";
}

std::string make_fact(const std::string& number, const std::string& meaning, const char* style) {
  return "<div><b class=\"" + std::string(style) + "\">" + number + "</b>" + meaning + "</div>\n";
}

std::string make_facts(const std::vector<Chapter>& chapters) {
  std::size_t total = 0, passed = 0, close = 0, relative = 0;
  Comparison worst{"", "", 1, 1, 1};
  for (const Chapter& chapter : chapters) {
    for (const Experiment& experiment : chapter.experiments) {
      for (const Comparison& c : experiment.comparisons) {
        ++total;
        passed += c.passed() ? 1 : 0;
        if (c.expected == 0) continue;
        ++relative;
        close += c.error() <= 1e-8 ? 1 : 0;
        if (c.error() > worst.error()) worst = c;
      }
    }
  }
  const std::string all = " of " + std::to_string(relative);
  return "<div class=\"facts\">\n" +
         make_fact(std::to_string(passed) + " of " + std::to_string(total),
                   "quantities of known value are as close to it as "
                   "<a href=\"#numbers\">the table</a> asks of each",
                   passed == total ? "good" : "bad") +
         make_fact(std::to_string(close) + all,
                   "known values other than zero are met to a relative error of "
                   "10<sup>−8</sup> or less",
                   "") +
         make_fact(html_number(worst.error(), 2),
                   "is the largest relative error among these " + std::to_string(relative) +
                       ": of “" + worst.quantity + "”, where " + html_number(worst.tolerance, 2) +
                       " is allowed",
                   "") +
         "</div>\n";
}

std::string link_to(const std::string& address, const std::string& text) {
  return "<a href=\"" + address + "\">" + text + "</a>";
}

/// A bar that stays at the top: the list of all sections, and where else to go.
std::string make_menu(const std::vector<Chapter>& chapters, const std::string& docs) {
  std::string html =
      "<nav aria-label=\"This page and others\">\n<div class=\"strip\">" +
      std::string(
          "<a class=\"brand\" href=\"#top\">carom</a>\n<details class=\"menu\"><summary>"
          "Sections</summary>\n<div class=\"list\">\n");
  for (const Chapter& chapter : chapters) {
    html += "<div><b>" + chapter.title + "</b>\n";
    for (const Experiment& experiment : chapter.experiments) {
      html += link_to("#" + address_of(experiment.title), experiment.title) + "\n";
    }
    html += "</div>\n";
  }
  html += "<div><b>Numbers</b>\n" + link_to("#numbers", "Every number") +
          "\n</div>\n</div>\n</details>\n";
  if (!docs.empty()) {
    html += link_to(docs + "/board/index.html", "Board") + "\n" +
            link_to(docs + "/README.md", "Docs") + "\n" +
            link_to(docs + "/../README.md", "Source") + "\n";
  }
  return html + "</div>\n</nav>\n";
}

/// The picture that opens the page.
std::string make_stage(const std::vector<Chapter>& chapters) {
  std::string html;
  for (const Chapter& chapter : chapters) {
    for (const Experiment& experiment : chapter.experiments) {
      for (const Panel& panel : experiment.panels) {
        if (panel.opens_page) html += make_figure(panel, " class=\"stage\"");
      }
    }
  }
  return html;
}

/// What carom is, what it does, and where to go from here.
std::string make_opening(const std::vector<Chapter>& chapters, const std::string& docs) {
  std::string html =
      "<header>\n<div class=\"lead\"><h1>carom</h1>\n<p>Contact physics that you can include: a "
      "C++ "
      "library of headers, with a Python package, that takes masses, Jacobians and contact points, "
      "returns velocities and impulses, and says how good they are.</p></div>\n" +
      make_stage(chapters) + "<div class=\"next\"><p class=\"ways\">";
  if (!docs.empty()) html += link_to(docs + "/../README.md#install", "Install") + "\n";
  return html + link_to("#try-billiards", "Break shot") + "\n" + link_to("#try-cradle", "Cradle") +
         "\n" + link_to("#try-cone", "Cone") +
         "</p>\n<p class=\"hint\">Break shot, cradle and cone are to try: the library itself runs "
         "in "
         "this page.</p></div>\n</header>\n";
}

}  // namespace

std::string make_page(const std::vector<Chapter>& chapters, const PlayParts& parts,
                      const std::string& docs) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>carom: contact physics that you can include</title>\n<style>" +
      std::string(page_style) + parts.style +
      "</style>\n</head>\n<body id=\"top\">\n"
      "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>"
      "<marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" "
      "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 1 L10 5 L0 9 Z\"/></marker></defs></svg>\n" +
      make_menu(chapters, docs) + "<main>\n" + make_opening(chapters, docs) + make_facts(chapters) +
      "<div class=\"fold\"></div>\n";
  for (const Chapter& chapter : chapters) {
    html += "<h2 class=\"chapter\">" + chapter.title + "</h2>\n";
    for (const Experiment& experiment : chapter.experiments) html += make_section(experiment);
  }
  html += make_table(chapters);
  return html +
         "<footer>Written by <code>carom demo</code>, from numbers computed during its run. "
         "SI units throughout; gravity is 9.81 m/s².</footer>\n</main>\n<script>" +
         std::string(animation_script) +
         "</script>\n<script type=\"text/plain\" id=\"carom-program\">\n" + parts.program +
         "</script>\n<script>\n\"use strict\";\n(() => {\n" + parts.script +
         "})();\n</script>\n</body>\n</html>\n";
}

}  // namespace carom::cli
