// Curves: other classes and sizes are drawn from embedded numbers; decisions for given costs.
(() => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const missing = 64 * 64 - 1;
  const unpack = (text) => {
    const found = [];
    for (let i = 0; i < text.length; i += 2) {
      const value = 64 * letters.indexOf(text[i]) + letters.indexOf(text[i + 1]);
      found.push(value === missing ? NaN : value / (missing - 1));
    }
    return found;
  };
  const four = (value) => (value < 5e-5 && value > 1e-12 ? value.toPrecision(2) : value <= 1e-12 ? "0" : value.toFixed(4));
  const short = (value) => String(Number(value.toPrecision(4)));
  const route = (points) => {
    let path = "", pen = "M";
    points.forEach(([x, y]) => {
      if (Number.isNaN(y)) { pen = "M"; return; }
      path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = "L";
    });
    return path;
  };

  document.querySelectorAll("section.decisions").forEach((section) => {
    const source = section.querySelector(".numbers");
    if (!source) return;
    const numbers = JSON.parse(source.textContent);
    const choice = (what) => section.querySelector(`[data-choice=${what}]`);
    const input = (what) => section.querySelector(`[data-cost=${what}]`);
    const now = () => numbers.choices[`${choice("class").value} ${choice("size").value}`];

    const drawKind = (part) => {
      const frame = part.querySelector("[data-frame]");
      const [left, right, bottom, top, high] = frame.dataset.frame.split(" ").map(Number);
      const curves = now().curves[part.dataset.kind];
      const across = (share) => left + share * (right - left);
      const up = (value) => bottom - value / high * (bottom - top);
      const start = part.dataset.kind === "roc" ? [[left, bottom]] : [];
      const path = (heights) => route(heights.length ? start.concat(placed(heights)) : []);
      const placed = (heights) => heights.map((value, i) => [across(i / (heights.length - 1)), up(value)]);
      curves.forEach((texts, index) => {
        const line = texts.length ? unpack(texts[0]) : [];
        const truth = index === numbers.labels.length;
        if (truth) {
          frame.querySelector(":scope > .ceiling")?.setAttribute("d", path(line));
          return;
        }
        frame.querySelectorAll(`[data-l="${index}"]`).forEach((group) => {
          group.querySelector(".line")?.setAttribute("d", path(line));
          const band = texts.length > 2 ? texts.slice(1).map(unpack) : null;
          const area = band ? `${route(placed(band[1]).concat(placed(band[0]).reverse()))}Z` : "";
          group.querySelector(".spread")?.setAttribute("d", area);
          group.querySelectorAll(".pt").forEach((point, place, every) => {
            const share = (2 * place + 1) / (2 * every.length);
            const at = Math.round(share * (line.length - 1));
            const value = line.length ? line[at] : NaN;
            point.style.display = Number.isNaN(value) ? "none" : "";
            if (Number.isNaN(value)) return;
            const [x, y] = [across(share), up(value)];
            point.dataset.x = x;
            point.dataset.y = y;
            point.querySelector("path").setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(0.8)`);
            const half = band ? ` [${four(band[0][at])}, ${four(band[1][at])}]` : "";
            const [across_, up_] = numbers.axes[part.dataset.kind];
            point.dataset.tip = `${numbers.labels[index]}, ${across_} ${share.toFixed(4)}: ${up_} ${four(value)}${half}`;
          });
        });
      });
      if (part.dataset.kind === "precision_recall") {
        const prior = now().prior;
        frame.querySelector(":scope > .zero").setAttribute("d", route([[left, up(prior)], [right, up(prior)]]));
      }
    };

    const decide = () => {
      const [prior, missed, wrong] = ["prior", "missed", "false"].map((what) => input(what).valueAsNumber);
      const status = section.querySelector("[data-costs]");
      const valid = prior >= 0 && prior <= 1 && missed >= 0 && wrong >= 0 && missed + wrong < Infinity;
      status.textContent = valid
        ? `Share of positive rows ${short(prior)}; a false negative costs ${short(missed)}, a false positive ${short(wrong)}.`
        : "The share must be from 0 to 1, and costs must not be negative.";
      const [none, every] = [prior * missed, (1 - prior) * wrong];
      const points = now().points;
      const rows = [...section.querySelectorAll(".decided tbody tr")];
      rows.forEach((row, index) => {
        const [threshold, cost] = row.querySelectorAll("td");
        const trivial = rows.length - index;
        const own = points[index];
        threshold.textContent = "\u2013";
        cost.textContent = "\u2013";
        if (!valid) return;
        if (trivial <= 2) { cost.textContent = four(trivial === 2 ? none : every); return; }
        if (!own) return;
        const costs = own.t.map((_, i) => none * (1 - own.p[i]) + every * own.f[i]);
        const least = Math.min(...costs);
        const best = costs.findIndex((value) => value <= least + 1e-12);
        cost.textContent = four(costs[best]);
        threshold.textContent = own.t[best] === null ? "none" : best === own.t.length - 1 ? "all" : short(own.t[best]);
      });
    };

    const showKind = () => section.querySelectorAll(".of-kind").forEach((part) => {
      part.hidden = part.dataset.kind !== choice("kind").value;
    });
    const show = () => {
      ["class", "size"].forEach((what) => {
        section.querySelector(`[data-now=${what}]`).textContent = choice(what).selectedOptions[0].textContent;
      });
      if (!input("prior").dataset.set) input("prior").value = short(now().prior);
      section.querySelectorAll(".of-kind").forEach(drawKind);
      decide();
    };
    section.querySelectorAll(".choices, .decide").forEach((form) => {
      form.hidden = false;
      form.addEventListener("submit", (event) => event.preventDefault());
    });
    choice("size").selectedIndex = choice("size").options.length - 1;
    showKind();
    choice("kind").addEventListener("change", showKind);
    ["class", "size"].forEach((what) => choice(what).addEventListener("change", show));
    ["prior", "missed", "false"].forEach((what) => input(what).addEventListener("input", () => {
      if (what === "prior") input("prior").dataset.set = "yes";
      decide();
    }));
  });
})();
