// Unpacks plotly and draws the figures, those in sight first; keeps their colours in step with the page (light, dark
// or paper); moves them by keys; filters tables.
"use strict";
(async () => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const settings = { displaylogo: false, responsive: true,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };
  const PAPER_WIDTH = 680;  // of A4 between its margins

  async function unpack(element) {
    const letters = atob(element.textContent), bytes = new Uint8Array(letters.length);
    for (let at = 0; at < letters.length; ++at) bytes[at] = letters.charCodeAt(at);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  async function unpackAll(scripts) {
    const [plotly, ...figures] = await Promise.all([document.getElementById("plotly"), ...scripts].map(unpack));
    const script = document.createElement("script");
    script.textContent = plotly;
    document.head.append(script);
    return new Map(scripts.map((element, index) => [element, figures[index]]));
  }

  function colours(paper) {
    const light = paper || !dark.matches;
    const text = light ? "#1c2733" : "#e6ebf0", line = light ? "#d5dbe1" : "#38424d";
    const label = light ? "#ffffff" : "#232c35", icons = light ? "#56636f" : "#a3b0bc";
    return { "font.color": text, "xaxis.gridcolor": line, "yaxis.gridcolor": line,
      "hoverlabel.bgcolor": label, "hoverlabel.font.color": text,
      "modebar.color": icons, "modebar.activecolor": text };
  }

  function put(object, path, value) {  // put({}, "a.b", 1) makes {a: {b: 1}}
    const [key, ...rest] = path.split(".");
    object[key] = rest.length ? put(object[key] ?? {}, rest.join("."), value) : value;
    return object;
  }

  const undrawn = [...document.querySelectorAll("script.figure")];
  const plots = [];
  let figures;  // their JSON, unpacked

  function draw(script) {
    undrawn.splice(undrawn.indexOf(script), 1);
    const figure = JSON.parse(figures.get(script));
    const plot = document.getElementById(script.dataset.for);
    for (const [path, value] of Object.entries(colours(false))) put(figure.layout, path, value);
    Plotly.newPlot(plot, figure.data, figure.layout, settings);
    plot.dataset.whole = JSON.stringify(plot.layout.xaxis.range);
    plot.addEventListener("keydown", (event) => moveByKey(plot, event));
    plots.push(plot);
  }

  // + and - zoom the time or launch axis about its middle, arrows move it, 0 shows all.
  function moveByKey(plot, event) {
    const [left, right] = plot.layout.xaxis.range.map(Number), width = right - left;
    const ranges = { "+": [left + width / 4, right - width / 4], "-": [left - width / 2, right + width / 2],
      ArrowLeft: [left - width / 5, right - width / 5], ArrowRight: [left + width / 5, right + width / 5],
      0: JSON.parse(plot.dataset.whole) };
    const wanted = ranges[event.key === "=" ? "+" : event.key];
    if (!wanted || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    Plotly.relayout(plot, { "xaxis.range": wanted });
  }

  function drawRest() {
    while (undrawn.length) draw(undrawn[0]);
  }

  function drawWhenIdle() {
    if (!undrawn.length) {
      document.documentElement.dataset.complete = plots.length;
      return;
    }
    draw(undrawn[0]);
    setTimeout(drawWhenIdle);
  }

  // Only rows that contain every word; the box says how many there are.
  function filter(box) {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...document.querySelectorAll(`#${box.dataset.filters} tbody tr`)];
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    box.closest("p").querySelector("output").textContent = words.length ? `${shown} of ${rows.length}` : "";
    const folded = document.getElementById(box.dataset.filters).closest("details");
    if (folded && words.length) folded.open = true;
  }

  for (const box of document.querySelectorAll("input[data-filters]")) {
    box.addEventListener("input", () => filter(box));
  }

  // Exact numbers, where the pointer rests.
  document.addEventListener("mouseover", (event) => {
    const cell = event.target.closest("td[data-value]");
    if (cell) cell.title = cell.dataset.value;
  });

  if (undrawn.length) {
    try {
      figures = await unpackAll(undrawn);
    } catch (error) {
      for (const script of undrawn) {
        document.getElementById(script.dataset.for).textContent =
          "This browser cannot unpack the pictures; the tables have the numbers.";
      }
      throw error;
    }
  }
  const inSight = (script) =>
    document.getElementById(script.dataset.for).getBoundingClientRect().top < window.innerHeight;
  undrawn.filter(inSight).forEach(draw);
  document.documentElement.dataset.drawn = plots.length;
  setTimeout(drawWhenIdle);

  dark.addEventListener("change", () => plots.forEach((plot) => Plotly.relayout(plot, colours(false))));
  window.addEventListener("beforeprint", () => {
    drawRest();
    plots.forEach((plot) => Plotly.relayout(plot, { ...colours(true), width: PAPER_WIDTH }));
  });
  window.addEventListener("afterprint", () =>
    plots.forEach((plot) => Plotly.relayout(plot, { ...colours(false), width: null, autosize: true })));
})();
