// Unpacks plotly, draws the figures and keeps their colours in step with the page: light, dark, or paper.
"use strict";
(async () => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const settings = { displaylogo: false, responsive: true,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };

  async function loadPlotly() {
    const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent),
      (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  }

  function colours(paper) {
    const light = paper || !dark.matches;
    const text = light ? "#1c2733" : "#e6ebf0", line = light ? "#d5dbe1" : "#38424d";
    const label = light ? "#ffffff" : "#232c35";
    return { "font.color": text, "xaxis.gridcolor": line, "yaxis.gridcolor": line,
      "hoverlabel.bgcolor": label, "hoverlabel.font.color": text,
      "modebar.color": line, "modebar.activecolor": text };
  }

  // Exact numbers, where the pointer rests.
  document.addEventListener("mouseover", (event) => {
    const cell = event.target.closest("td[data-value]");
    if (cell) cell.title = cell.dataset.value;
  });

  const figures = [...document.querySelectorAll("script.figure")];
  if (figures.length) await loadPlotly();
  const plots = figures.map((script) => {
    const figure = JSON.parse(script.textContent);
    const plot = document.getElementById(script.dataset.for);
    Plotly.newPlot(plot, figure.data, figure.layout, settings);
    return plot;
  });
  const recolour = (paper) => plots.forEach((plot) => Plotly.relayout(plot, colours(paper)));

  recolour(false);
  dark.addEventListener("change", () => recolour(false));
  window.addEventListener("beforeprint", () => recolour(true));
  window.addEventListener("afterprint", () => recolour(false));
  document.documentElement.dataset.drawn = plots.length;
})();
