(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
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

  // Figures of which one is shown.
  all(".switched").forEach((part) => {
    const [buttons, shapes] = [all(":scope > .buttons > button", part), all(":scope > figure", part)];
    buttons.forEach((button, chosen) => button.addEventListener("click", () => shapes.forEach((figure, at) => {
      figure.hidden = at !== chosen;
      buttons[at].setAttribute("aria-pressed", at === chosen);
    })));
  });

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

  // A learner that is pointed at in a figure of several is emphasised in all its pictures.
  const learnerOf = (node) => node?.closest("[data-l]")?.dataset.l;
  const figures = new Set([...points.keys()]
    .filter((svg) => new Set(points.get(svg).map(learnerOf)).size > 1).map((svg) => svg.closest("figure")));
  const emphasise = (figure, learner) => {
    if (!figures.has(figure)) return;
    learner ??= figure.dataset.pinned;
    figure.classList.toggle("picked", learner !== undefined);
    all("svg [data-l], .key [data-l]", figure).forEach((part) => part.classList.toggle("on", part.dataset.l === learner));
  };
  figures.forEach((figure) => all(".key [data-l]", figure).forEach((part) => {
    part.addEventListener("pointerenter", () => emphasise(figure, part.dataset.l));
    part.addEventListener("pointerleave", () => emphasise(figure));
  }));
  boxes.forEach((box) => {
    const show = () => figures.forEach((figure) => emphasise(figure, box.checked ? box.value : undefined));
    const end = () => figures.forEach((figure) => emphasise(figure));
    ["pointerenter", "focusin", "change"].forEach((name) => box.parentNode.addEventListener(name, show));
    ["pointerleave", "focusout"].forEach((name) => box.parentNode.addEventListener(name, end));
  });
  // Pinned, it stays emphasised until it is unpinned.
  const pin = (figure, learner) => {
    if (learner === undefined || figure.dataset.pinned === learner) delete figure.dataset.pinned;
    else figure.dataset.pinned = learner;
    emphasise(figure);
  };
  // The learner whose line, as its marks have it, passes within a few pixels.
  const lineAt = (svg, event) => {
    let found, least = 9, before = null;
    visible(svg).forEach((point) => {
      const here = [...place(svg, point), learnerOf(point)];
      if (before && before[2] === here[2]) {
        const [dx, dy] = [here[0] - before[0], here[1] - before[1]];
        const along = ((event.clientX - before[0]) * dx + (event.clientY - before[1]) * dy) / (dx * dx + dy * dy || 1);
        const share = Math.min(Math.max(along, 0), 1);
        const distance = Math.hypot(event.clientX - before[0] - share * dx, event.clientY - before[1] - share * dy);
        if (distance < least) { found = here[2]; least = distance; }
      }
      before = here;
    });
    return found;
  };

  let chosen = null;
  const choose = (svg, point, learner = learnerOf(point)) => {
    if (chosen) chosen.classList.remove("chosen");
    chosen = point;
    if (svg) emphasise(svg.closest("figure"), learner);
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
  // The marks at the size of the chosen one, from above; in a picture of one learner all marks.
  const atSameSize = (shown) => {
    const of = (learner) => shown.filter((point) => learnerOf(point) === learner);
    const learners = [...new Set(shown.map(learnerOf))];
    const index = of(learnerOf(chosen)).indexOf(chosen);
    if (learners.length < 2) return shown;
    return learners.map((learner) => of(learner)[index]).filter(Boolean).sort((a, b) => a.dataset.y - b.dataset.y);
  };
  points.forEach((_, svg) => {
    const nearest = (event) => {
      let best = null, least = 26;
      visible(svg).forEach((point) => {
        const [x, y] = place(svg, point);
        const distance = Math.hypot(event.clientX - x, event.clientY - y);
        if (distance < least) { best = point; least = distance; }
      });
      choose(svg, best, best ? learnerOf(best) : learnerOf(event.target) ?? lineAt(svg, event));
    };
    svg.addEventListener("pointermove", nearest);
    svg.addEventListener("pointerdown", nearest);
    svg.addEventListener("click", (event) => pin(svg.closest("figure"), learnerOf(event.target) ?? lineAt(svg, event)));
    svg.addEventListener("pointerleave", () => choose(svg, null));
    svg.addEventListener("blur", () => choose(svg, null));
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") choose(svg, null);
      if (event.key === "Enter") pin(svg.closest("figure"), learnerOf(chosen));
      if (!step) return;
      event.preventDefault();
      const shown = /Up|Down/.test(event.key) && chosen ? atSameSize(visible(svg)) : visible(svg);
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

  // On a small screen the panels of single learners, which can be read there, are unfolded.
  if (matchMedia("(max-width: 40rem)").matches) all("details.each").forEach((part) => { part.open = true; });

  // On paper nothing is folded away.
  window.addEventListener("beforeprint", () => all("details").forEach((part) => { part.open = true; }));
})();
