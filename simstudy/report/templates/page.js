(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const tip = document.getElementById("tip");
  const hidden = document.getElementById("hidden-learners");
  const note = document.getElementById("hidden-note");

  all(".controls, .buttons, .hint").forEach((part) => { part.hidden = false; });

  // Learners: one rule hides all that carries a learner's number.
  const boxes = all("input[name=learner]");
  const nameOf = (box) => box.parentNode.textContent.trim();
  const showLearners = () => {
    const off = boxes.filter((box) => !box.checked);
    hidden.textContent = off.map((box) => `[data-l~="${box.value}"]{display:none!important}`).join("\n");
    if (note) note.textContent = off.length ? `Not shown: ${off.map(nameOf).join(", ")}. ${note.dataset.all}` : "";
  };
  boxes.forEach((box) => box.addEventListener("change", showLearners));

  // The measure: all are on the page, one is shown.
  const select = document.getElementById("measure");
  const showMeasure = () => {
    all(".of-measure").forEach((part) => { part.hidden = part.dataset.measure !== select.value; });
  };
  if (select) {
    select.addEventListener("change", showMeasure);
    showMeasure();
  }

  // Figures of which one is shown.
  const switches = all(".switched").map((part) => {
    const [buttons, shapes] = [all(":scope > .buttons > button", part), all(":scope > figure", part)];
    const show = (chosen) => shapes.forEach((figure, at) => {
      figure.hidden = at !== chosen;
      buttons[at]?.setAttribute("aria-pressed", at === chosen);
    });
    const names = buttons.map((button) => button.textContent), start = shapes.findIndex((figure) => !figure.hidden);
    buttons.forEach((button, at) => button.addEventListener("click", () => { show(at); write(); }));
    return { key: part.dataset.key, names, start, show, now: () => shapes.findIndex((figure) => !figure.hidden) };
  });

  // What is chosen stands in the address, by its name; what is not known is ignored.
  const selects = all("select"), starts = new Map();
  const keyOf = (choice) => choice.id || `${choice.closest("[id]").id}-${choice.dataset.choice}`;
  const write = () => {
    const query = new URLSearchParams();
    selects.filter((choice) => choice.selectedIndex !== starts.get(choice))
      .forEach((choice) => query.set(keyOf(choice), choice.selectedOptions[0].text));
    switches.filter((part) => part.now() !== part.start).forEach((part) => query.set(part.key, part.names[part.now()]));
    boxes.filter((box) => !box.checked).forEach((box) => query.append("hide", nameOf(box)));
    const search = `${query}` && `?${query}`;
    if (search !== location.search) history.pushState(null, "", location.pathname + search + location.hash);
  };
  const read = () => {
    const query = new URLSearchParams(location.search), off = query.getAll("hide");
    boxes.forEach((box) => { box.checked = !off.includes(nameOf(box)); });
    showLearners();
    switches.forEach(({ key, names, start, show }) => show(names.includes(query.get(key)) ? names.indexOf(query.get(key)) : start));
    selects.forEach((choice) => {
      const place = [...choice.options].findIndex((option) => option.text === query.get(keyOf(choice)));
      const index = place < 0 ? starts.get(choice) : place;
      if (index === choice.selectedIndex) return;
      choice.selectedIndex = index;
      choice.dispatchEvent(new Event("change"));
    });
  };
  queueMicrotask(() => { // when all scripts have set what they start with
    selects.forEach((choice) => starts.set(choice, choice.selectedIndex));
    read();
    window.addEventListener("popstate", read);
    document.addEventListener("change", write);
  });
  all("button.only").forEach((button) => button.addEventListener("click", () => {
    boxes.forEach((box) => { box.checked = !button.value || box.value === button.value; });
    showLearners();
    write();
  }));

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
    const at = new DOMPoint(point.dataset.x, point.dataset.y).matrixTransform(svg.getScreenCTM());
    return [at.x, at.y];
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

  // The chosen mark; one that was tapped or clicked stays until the next tap, or Escape.
  let chosen = null, pinned = false, lit = null;
  const choose = (svg, point, learner = learnerOf(point)) => {
    if (chosen) chosen.classList.remove("chosen");
    chosen = point;
    pinned = false;
    if (lit) emphasise(lit);
    lit = svg?.closest("figure");
    if (lit) emphasise(lit, learner);
    tip.hidden = !point;
    if (!point) return;
    point.classList.add("chosen");
    tip.textContent = point.dataset.tip;
    placeTip();
  };
  const leave = () => { if (!pinned) choose(null, null); };
  const placeTip = () => {
    const [x, y] = place(chosen.ownerSVGElement, chosen);
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
    svg.addEventListener("pointermove", (event) => { if (!pinned && event.pointerType === "mouse") nearest(event); });
    svg.addEventListener("click", (event) => {
      nearest(event);
      pinned = chosen !== null;
      pin(svg.closest("figure"), learnerOf(chosen) ?? learnerOf(event.target) ?? lineAt(svg, event));
    });
    svg.addEventListener("pointerleave", leave);
    svg.addEventListener("blur", leave);
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Enter") pin(svg.closest("figure"), learnerOf(chosen));
      if (!step) return;
      event.preventDefault();
      const shown = /Up|Down/.test(event.key) && chosen ? atSameSize(visible(svg)) : visible(svg);
      if (!shown.length) return;
      const at = shown.indexOf(chosen);
      choose(svg, shown[(at < 0 ? (step > 0 ? 0 : shown.length - 1) : at + step + shown.length) % shown.length]);
    });
  });
  document.addEventListener("click", (event) => { if (!event.target.closest("svg[tabindex]")) choose(null, null); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") choose(null, null); });
  const follow = () => { if (pinned) placeTip(); else choose(null, null); };
  window.addEventListener("scroll", follow, { passive: true, capture: true });
  window.addEventListener("resize", follow);

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
