"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const map = $("map"), panel = $("panel"), search = $("search");

  // -- The trees ------------------------------------------------------------------------------------------------------
  function grown(picture) {
    const nodes = picture.nodes.map((node, index) => ({ ...node, index, below: [], size: 1 }));
    for (const node of nodes) if (node.above >= 0) nodes[node.above].below.push(node);
    for (const node of [...nodes].reverse()) {
      node.size = 1 + node.below.reduce((sum, each) => sum + each.size, 0);
      node.below.sort((one, other) => other.size - one.size || (one.name < other.name ? -1 : 1));
    }
    for (const node of nodes) node.depth = node.above < 0 ? 1 : nodes[node.above].depth + 1;
    return { ...picture, nodes, names: new Map(nodes.map((node) => [node.name, node])) };
  }
  const trees = { before: grown(data.before), after: data.after && grown(data.after) };
  const kept = trees.after ? trees.after.names : trees.before.names;
  const state = { view: "before", focus: trees.before.nodes[0], chosen: null, active: trees.before.nodes[0], query: "", turn: -1 };
  const tree = () => trees[state.view];

  // -- Small words ----------------------------------------------------------------------------------------------------
  const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
  const counted = (modules, packages) =>
    [modules && plural(modules, "module"), packages && plural(packages, "package")].filter(Boolean).join(" and ") || "nothing counted";
  const going = (node) => !kept.has(node.name);
  const look = (node) =>
    (node.kind === "third-party" ? "third " : "") + (node.kind === "missing" ? "missing" : going(node) ? "goes" : "stays");
  const KINDS = {
    module: "module of the tree", folder: "namespace package", "third-party": "third-party package",
    missing: "not found in the tree: compiled, generated or optional",
  };
  function make(tag, options = {}, ...children) {
    const { cls, ...attributes } = options;
    const element = document.createElement(tag);
    if (cls) element.className = cls;
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }
  const milliseconds = (us) => `${(us / 1000).toLocaleString("en", { maximumFractionDigits: us < 10000 ? 1 : 0 })} ms`;

  // -- The map: squarified rectangles (Bruls, Huizing, van Wijk) ------------------------------------------------------
  function squarify(nodes, x, y, width, height, place) {
    let total = nodes.reduce((sum, node) => sum + node.size, 0);
    let start = 0;
    while (start < nodes.length && width > 0 && height > 0) {
      const side = Math.min(width, height), scale = (width * height) / total;
      let end = start, row = 0, worst = Infinity;
      while (end < nodes.length) {
        const next = row + nodes[end].size, area = next * scale, long = area / side;
        const ratio = Math.max((nodes[start].size * scale) / long / long, (long * long) / (nodes[end].size * scale));
        if (ratio > worst) break;
        worst = ratio; row = next; end += 1;
      }
      const thick = (row * scale) / side;
      let at = 0;
      for (const node of nodes.slice(start, end)) {
        const length = (node.size * scale) / thick;
        if (width >= height) place(node, x, y + at, thick, length);
        else place(node, x + at, y, length, thick);
        at += length;
      }
      if (width >= height) { x += thick; width -= thick; } else { y += thick; height -= thick; }
      total -= row; start = end;
    }
  }
  function layout(root) {
    const boxes = [];
    const todo = [[root, 0, 0, map.clientWidth, map.clientHeight]];
    while (todo.length) {
      const [node, x, y, width, height] = todo.pop();
      // A part too small for what lies in it is drawn closed; zooming in opens it.
      const closed = !node.below.length || (node !== root && (Math.min(width, height) < 12 || (width * height) / node.size < 40));
      const head = !closed && height >= 30 && width >= 44 ? 16 : 0;
      const form = closed ? " leaf" : head ? "" : " bare";
      boxes.push([node, x, y, width, height, form]);
      if (closed) continue;
      const side = Math.min(width, height), deep = node.depth - root.depth;
      const pad = side >= 60 && deep < 4 ? 3 : side >= 60 && deep < 8 ? 2 : side >= 5 ? 1 : 0;
      const found = [];
      squarify(node.below, x + pad, y + (head || pad), width - 2 * pad, height - (head || pad) - pad, (...box) => found.push(box));
      todo.push(...found.reverse());
    }
    return boxes;
  }
  function shortName(node, room) {
    const parts = node.name.split(".");
    let text = parts.pop();
    while (parts.length && parts[parts.length - 1].length + 1 + text.length <= room) text = `${parts.pop()}.${text}`;
    return text;
  }
  function broken(text) {
    const pieces = [];
    for (const piece of text.split(/(?<=[._])/)) pieces.push(piece, document.createElement("wbr"));
    return pieces;
  }
  function written(node, width, height, closed) {
    if (!closed || (node.below.length && width >= 60)) {
      const text = shortName(node, node === state.focus ? 999 : Math.floor((width - 34) / 6.4));
      return make("span", { cls: "label" }, make("span", {}, text), make("b", {}, node.modules.toLocaleString("en")));
    }
    // A long name is wrapped after dots and underscores where each piece fits, anywhere where one does not.
    const rows = Math.floor((height - 5) / 13), letters = Math.floor((width - 8) / 5.9);
    const text = shortName(node, letters);
    if (letters < Math.min(4, text.length)) return "";
    const words = make("span", {}, ...(rows > 1 ? broken(text) : [text]));
    if (rows > 1) {
      words.className = text.split(/(?<=[._])/).every((piece) => piece.length <= letters) ? "lines" : "lines anywhere";
      words.style.webkitLineClamp = rows;
    }
    return make("span", { cls: "label" }, words);
  }
  const cells = new Map();
  function draw() {
    const alive = new Set();
    const now = tree();
    let last = null;
    for (const [node, x, y, width, height, form] of layout(state.focus)) {
      const closed = form === " leaf";
      let cell = cells.get(node.name);
      if (!cell) {
        cell = make("div", { role: "treeitem", "data-name": node.name });
        cells.set(node.name, cell);
      }
      alive.add(node.name);
      cell.className = `cell ${look(node)}${form}${Math.min(width, height) < 12 ? " tiny" : ""}`;
      const siblings = node.above < 0 || node === state.focus ? [node] : now.nodes[node.above].below;
      cell.setAttribute("aria-level", node.depth);
      cell.setAttribute("aria-posinset", siblings.indexOf(node) + 1);
      cell.setAttribute("aria-setsize", siblings.length);
      if (node.below.length) cell.setAttribute("aria-expanded", String(!closed)); else cell.removeAttribute("aria-expanded");
      cell.setAttribute("aria-label", `${node.name}, ${node.below.length ? `with it ${counted(node.modules, node.packages)}` : KINDS[node.kind]}${trees.after && state.view === "before" && going(node) ? ", goes" : ""}`);
      Object.assign(cell.style, { left: `${x}px`, top: `${y}px`, width: `${Math.max(width, 1)}px`, height: `${Math.max(height, 1)}px` });
      cell.style.setProperty("--deep", `${1.2 * Math.min(node.depth - state.focus.depth, 12)}%`);
      cell.replaceChildren();
      if (form !== " bare" && width >= 30 && height >= 15) cell.append(written(node, width, height, closed));
      if (last ? last.nextSibling !== cell : map.firstChild !== cell) map.insertBefore(cell, last ? last.nextSibling : map.firstChild);
      last = cell;
    }
    for (const [name, cell] of cells) if (!alive.has(name)) { cell.remove(); cells.delete(name); }
    if (!alive.has(state.active.name)) state.active = state.focus;
    mark();
  }
  function mark() {
    const query = state.query.toLowerCase();
    map.classList.toggle("searching", query !== "");
    for (const [name, cell] of cells) {
      cell.tabIndex = name === state.active.name ? 0 : -1;
      cell.classList.toggle("hit", query !== "" && name.toLowerCase().includes(query));
      cell.classList.toggle("chosen", state.chosen !== null && name === state.chosen.name);
      cell.setAttribute("aria-selected", String(state.chosen !== null && name === state.chosen.name));
    }
  }

  // -- The panel ------------------------------------------------------------------------------------------------------
  function chain(node) {
    const steps = [];
    for (let at = node; at.via; at = tree().nodes[at.via.from]) steps.unshift([at, at.via]);
    return steps;
  }
  const where = (node, via) =>
    via.line > 0 ? `${via.path}:${via.line}` : via.line < 0 ? "after narrowing, imported where it is used"
      : `${tree().nodes[via.from].name} lies in this package`;
  function part(node, whole) {
    const button = make("button", { type: "button", cls: look(node), title: node.name, onclick: () => open(node) },
      make("span", {}, node.name), make("span", {}, node.below.length ? node.modules.toLocaleString("en") : ""));
    button.style.setProperty("--share", `${(100 * node.size) / whole}%`);
    return make("li", {}, button);
  }
  function show(node) {
    const fate = !trees.after ? "" : state.view === "after" ? (trees.before.names.has(node.name) ? "" : ", new") : going(node) ? ", goes" : ", stays";
    const steps = chain(node);
    const out = [make("h2", {}, ...broken(node.name)),
      make("p", { cls: "tag" }, make("span", { cls: `swatch ${look(node)}` }), KINDS[node.kind] + fate)];
    if (node.below.length) {
      out.push(make("p", {}, node.above < 0 ? "Loads " : "Only this brings in ", make("b", {}, counted(node.modules, node.packages)), ", itself included."));
    }
    if (node.above >= 0) out.push(make("p", {}, `Imported by ${plural(node.importers, "module")} of those that are loaded.`));
    if (data.times && data.times[node.name]) {
      const [self, all] = data.times[node.name];
      out.push(make("p", {}, make("b", {}, milliseconds(self)), " by itself", node.below.length ? `, ${milliseconds(all)} with all that only it brings in` : "", "."));
    }
    if (steps.length) {
      out.push(make("h3", {}, `Shortest chain (${plural(steps.length, "import")})`));
      out.push(make("ol", { cls: "chain" }, make("li", {}, ...broken(tree().start)),
        ...steps.map(([at, via]) => make("li", {}, ...broken(at.name), make("span", { cls: "at" }, ...broken(where(at, via))), via.text ? make("code", {}, via.text) : null))));
    }
    if (node.below.length) {
      out.push(make("h3", {}, "Directly inside"));
      out.push(make("ul", { cls: "parts" }, ...node.below.slice(0, 10).map((each) => part(each, node.size))));
      if (node.below.length > 10) out.push(make("p", { cls: "tag" }, `and ${plural(node.below.length - 10, "smaller one")}`));
      const packages = [];
      const todo = [node];
      while (todo.length) {
        const each = todo.pop();
        if (each !== node && each.kind === "third-party") packages.push(each);
        todo.push(...each.below);
      }
      if (packages.length) {
        packages.sort((one, other) => (one.name < other.name ? -1 : 1));
        out.push(make("h3", {}, "Third-party packages"));
        out.push(make("div", { cls: "chips" }, ...packages.map((each) => make("button", { type: "button", cls: look(each), onclick: () => open(each) }, each.name))));
      }
    }
    panel.dataset.name = node.name;
    panel.replaceChildren(...out);
    panel.scrollTop = 0;
  }
  const settled = () => show(state.chosen || state.focus);

  // -- Moving about ---------------------------------------------------------------------------------------------------
  function path(node) {
    const found = [node];
    while (found[0].above >= 0) found.unshift(tree().nodes[found[0].above]);
    return found;
  }
  function crumbs() {
    const steps = path(state.focus);
    const out = [];
    steps.forEach((node, index) => {
      if (index) out.push(make("span", { "aria-hidden": "true" }, "\u203a"));
      const text = index ? shortName(node, 0) : node.name;
      out.push(index === steps.length - 1 ? make("span", { cls: "here", "aria-current": "true", title: node.name }, text)
        : make("button", { type: "button", title: node.name, onclick: () => focus(node) }, text));
    });
    $("crumbs").replaceChildren(...out);
  }
  let settle = 0;
  function focus(node, keyboard = false) {
    if (cells.size && tree().nodes.length <= 1500) {
      map.classList.add("moving");
      clearTimeout(settle);
      settle = setTimeout(() => map.classList.remove("moving"), 300);
    }
    state.focus = node; state.chosen = null; state.active = node;
    crumbs(); draw(); settled();
    if (keyboard) cells.get(node.name).focus();
  }
  function choose(node) {
    state.chosen = node; state.active = node;
    mark(); settled();
  }
  function open(node) {
    if (node.below.length) focus(node); else { reveal(node); choose(node); }
  }
  function reveal(node) {
    if (!path(node).includes(state.focus)) focus(tree().nodes[0]);
    if (!cells.has(node.name)) focus(tree().nodes[node.above]);
  }
  function out(keyboard) {
    if (state.chosen) { const node = state.chosen; state.chosen = null; mark(); settled(); if (keyboard) activate(node); return; }
    if (state.focus.above < 0) return;
    const from = state.focus;
    focus(tree().nodes[from.above], keyboard);
    if (keyboard) activate(from);
  }
  function activate(node) {
    if (!node) return;
    if (!cells.has(node.name)) focus(node.above < 0 ? node : tree().nodes[node.above]);
    cells.get(state.active.name).tabIndex = -1;
    state.active = node;
    const cell = cells.get(node.name);
    cell.tabIndex = 0;
    cell.focus();
    show(node);
  }
  function view(name) {
    const at = state.focus.name;
    state.view = name; state.chosen = null; state.turn = -1;
    for (const button of $("views").children) {
      button.setAttribute("aria-checked", String(button.dataset.view === name));
      button.tabIndex = button.dataset.view === name ? 0 : -1;
    }
    $("stdlib").textContent = `The standard library (${plural(tree().stdlib, "module")}) is left out.`;
    focus(tree().names.get(at) || tree().nodes[0]);
    find(false);
  }
  function find(step) {
    const query = state.query.toLowerCase();
    const found = query ? tree().nodes.filter((node) => node.name.toLowerCase().includes(query)) : [];
    $("hits").textContent = query ? `${found.length.toLocaleString("en")} of ${tree().nodes.length.toLocaleString("en")}` : "";
    if (step && found.length) {
      state.turn = (state.turn + step + found.length) % found.length;
      reveal(found[state.turn]);
      choose(found[state.turn]);
    }
    mark();
  }
  const nodeAt = (target) => {
    const cell = target.closest && target.closest(".cell");
    return cell ? tree().names.get(cell.dataset.name) : null;
  };

  map.addEventListener("click", (event) => {
    const node = nodeAt(event.target);
    if (!node) return;
    if (node.below.length && node !== state.focus) focus(node, true); else { choose(node); activate(node); }
  });
  // A redraw moves cells under a pointer that rests: that is no pointing.
  let rests = "";
  map.addEventListener("pointermove", (event) => {
    const at = `${event.clientX} ${event.clientY}`, node = nodeAt(event.target);
    if (at !== rests && node && event.pointerType !== "touch" && panel.dataset.name !== node.name) show(node);
    rests = at;
  });
  map.addEventListener("pointerdown", (event) => { rests = `${event.clientX} ${event.clientY}`; });
  map.addEventListener("pointerleave", settled);
  map.addEventListener("keydown", (event) => {
    const node = nodeAt(event.target);
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    const order = [...map.children].map((cell) => tree().names.get(cell.dataset.name));
    const at = order.indexOf(node);
    const moves = {
      ArrowDown: () => order[at + 1], ArrowUp: () => order[at - 1], Home: () => order[0], End: () => order[order.length - 1],
      ArrowRight: () => node.below[0], ArrowLeft: () => (node === state.focus ? null : tree().nodes[node.above]),
    };
    if (moves[event.key]) activate(moves[event.key]());
    else if (event.key === "Enter" || event.key === " ") { if (node.below.length && node !== state.focus) focus(node, true); else choose(node); }
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (event.target === search && state.query) { search.value = ""; state.query = ""; state.turn = -1; find(0); return; }
      out(map.contains(document.activeElement));
    } else if (event.key === "/" && event.target !== search && !event.ctrlKey && !event.metaKey && !event.altKey) {
      search.focus();
      event.preventDefault();
    }
  });
  search.addEventListener("input", () => { state.query = search.value.trim(); state.turn = -1; find(0); });
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") { find(event.shiftKey ? -1 : 1); event.preventDefault(); } });

  // -- The head -------------------------------------------------------------------------------------------------------
  function head() {
    const whole = Math.max(trees.before.modules, trees.after ? trees.after.modules : 0);
    for (const name of trees.after ? ["before", "after"] : ["before"]) {
      const { modules, packages } = trees[name];
      const left = trees.after ? trees.before.nodes.filter((node) => node.kind === "module" && !going(node)).length : modules;
      const track = make("span", { cls: "track", "aria-hidden": "true" });
      for (const [cls, count] of name === "before" ? [["stays", left], ["goes", modules - left]] : [["stays", modules]]) {
        if (count) { const bar = make("i", { cls }); bar.style.width = `${(100 * count) / whole}%`; track.append(bar); }
      }
      $("views").append(make("button", { type: "button", role: "radio", cls: "view", "data-view": name, onclick: () => view(name) },
        make("span", { cls: "name" }, !trees.after ? "Loads" : name === "before" ? "Before" : "After"), track,
        make("span", { cls: "count" }, make("b", {}, modules.toLocaleString("en")), ` module${modules === 1 ? "" : "s"} `, make("span", {}, `and ${plural(packages, "package")}`))));
    }
    $("views").addEventListener("keydown", (event) => {
      const all = [...$("views").children], step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
      view(next.dataset.view); next.focus(); event.preventDefault();
    });
    const summary = $("summary");
    if (trees.after) {
      const gone = trees.before.nodes.filter(going);
      const modules = gone.filter((node) => node.kind === "module").length;
      const packages = gone.filter((node) => node.kind === "third-party").sort((one, other) => other.importers - one.importers).map((node) => node.name);
      const names = packages.slice(0, 4).join(", ") + (packages.length > 4 ? `, and ${packages.length - 4} more` : "");
      summary.append(...(data.narrowing ? ["Without ", ...broken(data.narrowing), " it no longer loads "] : ["Narrowed, it no longer loads "]),
        make("strong", {}, counted(modules, packages.length)), names ? `: ${names}.` : ".");
    } else summary.append("What Python loads for it in a fresh interpreter, read from the source; nothing was run.");
    const fate = trees.after ? [["stays", " that stays"], ["goes", " that goes"]] : [["stays", ""]];
    const classes = [...fate.map(([cls, text]) => [cls, `module${text}`]), ...fate.map(([cls, text]) => [`third ${cls}`, `third-party package${text}`]),
      ["missing", "compiled, generated or missing"]].filter(([cls]) => trees.before.nodes.some((node) => look(node) === cls));
    for (const [cls, text] of classes) $("legend").append(make("li", {}, make("span", { cls: `swatch ${cls}` }), text));
  }

  head();
  view("before");
  let width = map.clientWidth, height = map.clientHeight;
  new ResizeObserver(() => {
    if (map.clientWidth !== width || map.clientHeight !== height) { width = map.clientWidth; height = map.clientHeight; draw(); }
  }).observe(map);
})();
