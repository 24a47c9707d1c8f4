"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const files = JSON.parse(document.getElementById("files").textContent);
  const tip = document.getElementById("tip");
  const hidden = document.getElementById("hidden-learners");

  all(".controls, .buttons, .hint").forEach((part) => { part.hidden = false; });

  // Learners: one rule hides all that carries a learner's number.
  const boxes = all("input[name=learner]");
  const showLearners = () => {
    const off = boxes.filter((box) => !box.checked);
    hidden.textContent = off.map((box) => `[data-l~="${box.value}"]{display:none!important}`).join("\n");
  };
  boxes.forEach((box) => box.addEventListener("change", showLearners));

  // The measure: all are on the page, one is shown.
  const select = document.getElementById("measure");
  const showMeasure = () => {
    all(".of-measure").forEach((part) => { part.hidden = part.dataset.measure !== select.value; });
  };
  showLearners();
  if (select) {
    select.addEventListener("change", showMeasure);
    showMeasure();
  }

  // Numbers of a point: beside the pointer, or by the arrow keys in a figure that has the focus.
  const points = new Map();
  all("svg").forEach((svg) => {
    const own = all(".pt", svg);
    own.forEach((point) => {
      const title = point.querySelector("title");
      point.dataset.tip = title.textContent;
      title.remove();
    });
    if (own.length) {
      points.set(svg, own);
      svg.setAttribute("tabindex", "0");
    }
  });
  const visible = (svg) => points.get(svg).filter((point) => point.getClientRects().length > 0);
  const place = (svg, point) => {
    const box = svg.getBoundingClientRect();
    const scale = box.width / svg.viewBox.baseVal.width;
    return [box.left + point.dataset.x * scale, box.top + point.dataset.y * scale];
  };
  let chosen = null;
  const choose = (svg, point) => {
    if (chosen) chosen.classList.remove("chosen");
    chosen = point;
    if (!point) { tip.hidden = true; return; }
    point.classList.add("chosen");
    tip.textContent = point.dataset.tip;
    tip.hidden = false;
    const [x, y] = place(svg, point);
    const width = tip.offsetWidth;
    const left = Math.min(Math.max(x - width / 2, 8), document.documentElement.clientWidth - width - 8);
    const above = y - tip.offsetHeight - 14;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 4 ? above : y + 16}px`;
  };
  points.forEach((_, svg) => {
    const nearest = (event) => {
      let best = null, least = 26;
      visible(svg).forEach((point) => {
        const [x, y] = place(svg, point);
        const distance = Math.hypot(event.clientX - x, event.clientY - y);
        if (distance < least) { best = point; least = distance; }
      });
      choose(svg, best);
    };
    svg.addEventListener("pointermove", nearest);
    svg.addEventListener("pointerdown", nearest);
    svg.addEventListener("pointerleave", () => choose(svg, null));
    svg.addEventListener("blur", () => choose(svg, null));
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") choose(svg, null);
      if (!step) return;
      event.preventDefault();
      const shown = visible(svg);
      if (!shown.length) return;
      const at = shown.indexOf(chosen);
      choose(svg, shown[(at < 0 ? (step > 0 ? 0 : shown.length - 1) : at + step + shown.length) % shown.length]);
    });
  });
  window.addEventListener("scroll", () => choose(null, null), { passive: true });

  // Tables: what is shown to the clipboard, all digits to a file.
  const shown = (node) => node.getClientRects().length > 0;
  const text = (part) => {
    const table = part.querySelector("table");
    if (!table) return part.querySelector("pre").textContent;
    return all("tr", table).filter(shown)
      .map((row) => all("th, td", row).filter(shown)
        .map((cell) => cell.textContent.trim().replace(/\s+/g, " ")).join("\t")).join("\n");
  };
  const say = (button, word) => {
    const before = button.textContent;
    button.textContent = word;
    setTimeout(() => { button.textContent = before; }, 1200);
  };
  all("button.copy").forEach((button) => button.addEventListener("click", () => {
    const area = document.createElement("textarea");
    area.value = text(button.closest(".table"));
    area.setAttribute("readonly", "");
    area.className = "away";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    button.focus();
    say(button, done ? "Copied" : "Failed");
  }));
  all("button.download").forEach((button) => button.addEventListener("click", () => {
    const name = button.dataset.file;
    const content = name in files ? files[name] : text(button.closest(".table"));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type: "text/plain;charset=utf-8" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }));

  // On paper nothing is folded away.
  window.addEventListener("beforeprint", () => all("details").forEach((part) => { part.open = true; }));
})();
