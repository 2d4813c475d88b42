// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>
#include <string>

#include "cli/experiment.hpp"
#include "io/file_text.hpp"

namespace carom::cli {
namespace {

/// An interactive figure before its script runs.
struct Play {
  const char* kind;
  const char* title;
  const char* hint;
};

constexpr Play plays[] = {
    {"cone", "Try it: drag the trial impulse",
     "Or focus the orange point and use the arrow keys. The dotted curve joins what is equally "
     "near in the metric of the contact: it grows until it touches the cone."},
    {"cradle", "Try it: choose the balls",
     "Any masses, any speeds. All gaps are closed at the instant of the blow; every way it can "
     "end, and why there is only one where there is, comes from the library in this page."},
    {"billiards", "Try it: the angle, and the mass of the cue ball",
     "The white ball touches the other two at once. Both possible futures run on one table."}};

/// The scripts in the order of their dependencies.
constexpr const char* scripts[] = {"draw.js",   "library.js",   "cone.js",  "order_tree.js",
                                   "cradle.js", "billiards.js", "start.js", "sections.js"};

}  // namespace

PlayParts read_play_parts(const std::string& folder) {
  PlayParts parts;
  parts.style = files::read_file(folder + "/play.css");
  for (const char* const name : scripts) {
    parts.script.append(files::read_file(std::string(folder).append("/").append(name)));
    parts.script += '\n';
  }
  parts.program = files::read_file(folder + "/page_program.wasm.base64");
  return parts;
}

std::string make_play(const std::string& kind) {
  for (const Play& play : plays) {
    if (kind != play.kind) continue;
    std::string html = "<figure class=\"try\" id=\"try-";
    html.append(kind).append("\" data-play=\"").append(kind).append("\">\n<h3>");
    html.append(play.title).append("</h3>\n<p class=\"hint\">").append(play.hint);
    html +=
        "</p>\n<p class=\"waiting\">This figure runs carom itself, as WebAssembly, and needs a "
        "browser that can.</p>\n</figure>\n";
    return html;
  }
  throw std::logic_error("no interactive figure of the kind " + kind);
}

}  // namespace carom::cli
