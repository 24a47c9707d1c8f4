(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Tables sort by the column whose head is clicked: numbers from the greatest, names from A.
  const value = (cell) => cell.firstChild === null ? "" : cell.textContent.trim();
  const numeric = (text) => Number.parseFloat(text.replace(/−/g, "-").replace(/[,<>]/g, ""));
  const compare = (a, b) => {
    const [x, y] = [numeric(a), numeric(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return x - y;
  };
  all(".sortable table").forEach((table) => {
    const body = table.tBodies[0];
    const fixed = [...body.rows].filter((row) => row.classList.contains("ruled"));
    all("thead th", table).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const words = head.classList.contains("t");
        const before = head.getAttribute("aria-sort");
        const descending = before ? before === "ascending" : !words;
        all("th", table).forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        const rows = [...body.rows].filter((row) => !fixed.includes(row));
        rows.sort((one, other) => {
          const [a, b] = [value(one.cells[column]), value(other.cells[column])];
          if (words) return descending ? b.localeCompare(a) : a.localeCompare(b);
          if (Number.isNaN(numeric(a)) || Number.isNaN(numeric(b))) return compare(a, b);
          return descending ? compare(b, a) : compare(a, b);
        });
        body.append(...rows, ...fixed);
      });
    });
  });

  // Curves: those of one data set are shown.
  const chosen = document.getElementById("curves-of");
  if (chosen) {
    const sections = all("section.decisions");
    const show = () => sections.forEach((section) => { section.hidden = section.id !== chosen.value; });
    chosen.closest(".choose").hidden = false;
    chosen.addEventListener("change", show);
    show();
  }
})();
