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
  const fine = 64 ** 3 - 1;
  const unpackFinely = (text) => text.match(/.../g).map((three) => [...three].reduce((sum, letter) => 64 * sum + letters.indexOf(letter), 0) / fine);
  const four = (value) => (value < -1e-12 ? `\u2212${four(-value)}` : value < 5e-5 && value > 1e-12 ? value.toPrecision(2) : value <= 1e-12 ? "0" : value.toFixed(4));
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

  // The area between two lines, in pieces where either is broken.
  const areaOf = (low, high) => {
    let path = "", piece = [];
    const close = () => {
      if (piece.length) path += `${route(piece.map(([, b]) => b).concat(piece.map(([a]) => a).reverse()))}Z`;
      piece = [];
    };
    low.forEach((a, i) => (Number.isNaN(a[1] + high[i][1]) ? close() : piece.push([a, high[i]])));
    close();
    return path;
  };

  document.querySelectorAll("section.decisions").forEach((section) => {
    const source = section.querySelector(".numbers");
    if (!source) return;
    const numbers = JSON.parse(source.textContent);
    const choice = (what) => section.querySelector(`[data-choice=${what}]`);
    const input = (what) => section.querySelector(`[data-cost=${what}]`);
    const now = () => numbers.choices[`${choice("class").value} ${choice("size").value}`];

    const values = () => ["prior", "benefit", "acting"].map((what) => input(what).valueAsNumber);
    const possible = ([prior, benefit, acting]) => prior >= 0 && prior <= 1 && benefit >= 0 && acting >= 0;
    // The lines of each learner, and last of the truth: heights, ends of the band, and places.
    const linesOf = (kind) => now().curves[kind === "profit" ? "lift" : kind].map((texts) => {
      if (!texts.length) return { y: [], x: [] };
      const every = texts.map(unpack);
      const x = kind === "reliability" ? every.pop() : every[0].map((_, i) => i / (every[0].length - 1));
      if (kind !== "profit") return { y: every[0], band: every.length > 2 ? every.slice(1) : null, x };
      const [prior, benefit, acting] = values();
      const [y, ...band] = every.map((line) => line.map((found, i) => benefit * prior * found - acting * x[i]));
      return { y, band: band.length ? band : null, x };
    });
    const reach = (curves) => {
      const every = curves.flatMap(({ y, band }) => [...y, ...(band || []).flat()]).filter(Number.isFinite).concat(0);
      const [low, high] = [Math.min(...every), Math.max(...every)];
      const room = Math.max(0.05 * (high - low), 1e-9 * Math.max(-low, high) || 1);
      return [high + room, low - room];
    };
    // Lines across at round numbers, of an axis whose limits the reader changes.
    const drawAxis = (axes, left, right, high, low, up) => {
      axes.querySelectorAll('.grid, text[text-anchor="end"]').forEach((old) => old.remove());
      const least = (high - low) / 6, power = 10 ** Math.floor(Math.log10(least));
      const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= least * (1 - 1e-9));
      const add = (name, attributes, text) => {
        const made = document.createElementNS("http://www.w3.org/2000/svg", name);
        Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
        made.textContent = text;
        axes.prepend(made);
      };
      for (let i = Math.ceil(low / step - 1e-9); i <= Math.floor(high / step + 1e-9); i += 1) {
        const y = up(i * step);
        add("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, short(i * step).replace("-", "\u2212"));
        add("path", { class: "grid", d: `M${left} ${y.toFixed(1)}H${right}` }, "");
      }
    };

    const drawKind = (part) => {
      const kind = part.dataset.kind, profit = kind === "profit";
      if (profit) {
        part.querySelector("svg").style.visibility = possible(values()) ? "" : "hidden";
        if (!possible(values())) return;
      }
      const frame = part.querySelector("[data-frame]");
      let [left, right, bottom, top, high, low] = frame.dataset.frame.split(" ").map(Number);
      const curves = linesOf(kind);
      if (profit) [high, low] = reach(curves);
      const across = (share) => left + share * (right - left);
      const up = (value) => bottom - (value - low) / (high - low) * (bottom - top);
      if (profit) {
        drawAxis(frame.querySelector(".axes"), left, right, high, low, up);
        const [prior, benefit, acting] = values();
        frame.querySelector(":scope > .zero").setAttribute("d", route([[left, up(0)], [right, up(benefit * prior - acting)]]));
      }
      const start = kind === "roc" ? [[left, bottom]] : [];
      curves.forEach(({ y: line, band, x: places }, index) => {
        const placed = (heights) => heights.map((value, i) => [across(places[i]), up(value)]);
        const path = (heights) => route(heights.length ? start.concat(placed(heights)) : []);
        const truth = index === numbers.labels.length;
        if (truth) {
          frame.querySelector(":scope > .ceiling")?.setAttribute("d", path(line));
          return;
        }
        frame.querySelectorAll(`[data-l="${index}"]`).forEach((group) => {
          group.querySelector(".line")?.setAttribute("d", path(line));
          const area = band ? areaOf(placed(band[0]), placed(band[1])) : "";
          group.querySelector(".spread")?.setAttribute("d", area);
          group.querySelectorAll(".pt").forEach((point, place, every) => {
            const middle = (2 * place + 1) / (2 * every.length);
            const at = kind === "reliability" ? place : Math.round(middle * (line.length - 1));
            const value = line.length ? line[at] : NaN;
            const share = kind === "reliability" ? places[at] : middle;
            point.style.display = Number.isNaN(value) ? "none" : "";
            if (Number.isNaN(value)) return;
            point.removeAttribute("display");
            const [x, y] = [across(share), up(value)];
            point.dataset.x = x;
            point.dataset.y = y;
            point.querySelector("path").setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(0.8)`);
            const half = band ? ` [${four(band[0][at])}, ${four(band[1][at])}]` : "";
            const [across_, up_] = numbers.axes[kind];
            point.dataset.tip = `${numbers.labels[index]}, ${across_} ${share.toFixed(4)}: ${up_} ${four(value)}${half}`;
          });
        });
      });
      if (kind === "precision_recall") {
        const prior = now().prior;
        frame.querySelector(":scope > .zero").setAttribute("d", route([[left, up(prior)], [right, up(prior)]]));
      }
    };

    // Cost and threshold, share and profit of each row of the table; null where there are none.
    const bestCost = (points, [missed, wrong], right) => {
      if (!points) return null;
      const [found, alarms] = [unpackFinely(points.p), unpackFinely(points.f)];
      const costs = points.t.map((_, i) => missed * (1 - found[i]) + wrong * alarms[i]);
      const least = Math.min(...costs);
      const at = costs.findIndex((value) => value <= least + 1e-12);
      const called = points.t[at] === null ? "none" : at === points.t.length - 1 ? "all" : short(points.t[at]);
      return [called, four(right + costs[at])];
    };
    // The least share of those that two letters do not tell apart.
    const bestShare = ({ y, x }) => {
      const [prior, benefit] = values();
      const close = benefit * prior / (missing - 1) + 1e-12;
      const at = y.findIndex((value) => value >= Math.max(...y) - close);
      return at < 0 ? null : [x[at].toFixed(2), four(y[at])];
    };
    const write = (row, texts, from) => [...row.querySelectorAll("td")].slice(from, from + 2).forEach((cell, i) => {
      cell.textContent = texts ? texts[i] : "\u2013";
    });
    const decide = (rows) => {
      const [prior, missed, wrong, hit, rejected] = ["prior", "missed", "false", "hit", "rejected"].map((what) => input(what).valueAsNumber);
      const valid = prior >= 0 && prior <= 1 && missed >= hit && wrong >= rejected;
      section.querySelector("[data-costs]").textContent = valid
        ? `Share of positive rows ${short(prior)}; a false negative costs ${short(missed)}, a false positive ${short(wrong)}, a true positive ${short(hit)}, a true negative ${short(rejected)}.`
        : "The share must be from 0 to 1, and a wrong decision must not cost less than the right one.";
      const right = prior * hit + (1 - prior) * rejected;
      const more = [prior * (missed - hit), (1 - prior) * (wrong - rejected)];
      rows.slice(0, -2).forEach((row, index) => write(row, valid ? bestCost(now().points[index], more, right) : null, 0));
      rows.slice(-2).forEach((row, index) => write(row, valid ? ["\u2013", four(right + more[index])] : null, 0));
    };
    const gain = (rows) => {
      const [prior, benefit, acting] = values(), valid = possible(values());
      const usual = benefit === 1 && acting === prior ? ", the share of positive rows, so that acting on rows at random earns 0" : "";
      section.querySelectorAll("[data-profit]").forEach((text) => {
        text.textContent = valid
          ? `Share of positive rows ${short(prior)}; each positive row acted on gains ${short(benefit)}, each row acted on costs ${short(acting)}${usual}.`
          : "For a profit, the share must be from 0 to 1; gain and cost must not be negative.";
      });
      const curves = linesOf("profit");
      rows.slice(0, -2).forEach((row, index) => write(row, valid ? bestShare(curves[index]) : null, 2));
      const all = benefit * prior - acting;
      rows.slice(-2).forEach((row, index) => write(row, valid ? [["0.00", "0"], ["1.00", four(all)]][index] : null, 2));
    };
    const fill = () => {
      const rows = [...section.querySelectorAll(".decided tbody tr")];
      decide(rows);
      gain(rows);
    };

    const showKind = () => section.querySelectorAll(".of-kind").forEach((part) => {
      part.hidden = !["all", part.dataset.kind].includes(choice("kind").value);
    });
    const follow = () => { if (!input("acting").dataset.set) input("acting").value = input("prior").value; };
    const show = () => {
      ["class", "size"].forEach((what) => {
        section.querySelector(`[data-now=${what}]`).textContent = choice(what).selectedOptions[0].textContent;
      });
      if (!input("prior").dataset.set) input("prior").value = short(now().prior);
      follow();
      section.querySelectorAll(".of-kind").forEach(drawKind);
      fill();
    };
    section.querySelectorAll(".choices, .decide").forEach((form) => {
      form.hidden = false;
      form.addEventListener("submit", (event) => event.preventDefault());
    });
    choice("size").selectedIndex = choice("size").options.length - 1;
    showKind();
    choice("kind").addEventListener("change", showKind);
    ["class", "size"].forEach((what) => choice(what).addEventListener("change", show));
    ["prior", "missed", "false", "hit", "rejected", "benefit", "acting"].forEach((what) => input(what).addEventListener("input", () => {
      input(what).dataset.set = "yes";
      follow();
      fill();
      drawKind(section.querySelector("[data-kind=profit]"));
    }));
  });
})();
