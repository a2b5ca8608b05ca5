// What a page does besides being read: light or dark, the list of chapters on small screens,
// and a search through all headings. Without it everything can still be read.

const FOUND_MAX = 30;

// Before anything is drawn, so that nothing flashes.
const wanted = () => {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
};
const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
document.documentElement.dataset.theme = wanted() ?? system;

/** How well a heading fits: the smaller the better, or null. */
function score(heading, words) {
  const text = heading[0].toLowerCase();
  const page = heading[1].toLowerCase();
  if (!words.every((word) => text.includes(word) || page.includes(word))) {
    return null;
  }
  const whole = words.join(" ");
  if (text === whole) return 0;
  if (text.startsWith(whole)) return 1;
  return words.every((word) => text.includes(word)) ? 2 : 3;
}

/** The headings that fit, best first. */
function find(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const scored = HEADINGS.map((heading) => [score(heading, words), heading]);
  const fitting = scored.filter(([points]) => points !== null);
  fitting.sort((left, right) => left[0] - right[0]);
  return fitting.slice(0, FOUND_MAX).map(([, heading]) => heading);
}

/** An entry of the list; headings are text and never markup. */
function entry([text, page, address]) {
  const link = document.createElement("a");
  link.href = document.body.dataset.root + address;
  link.append(text, " ");
  const where = document.createElement("small");
  where.textContent = page;
  link.append(where);
  const item = document.createElement("li");
  item.append(link);
  return item;
}

document.addEventListener("DOMContentLoaded", () => {
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const show = () => {
    found.replaceChildren(...find(search.value).map(entry));
    found.hidden = found.children.length === 0;
  };
  search.addEventListener("input", show);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") found.querySelector("a")?.click();
    if (event.key === "Escape") {
      search.value = "";
      show();
    }
  });
  document.getElementById("menu").addEventListener("click", () => {
    document.body.classList.toggle("menu");
  });
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // A browser that keeps nothing still switches.
    }
  });
  document.querySelector("#chapters [aria-current]")?.scrollIntoView({ block: "center" });
});
