
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const main = byId("transcript");
  const side = byId("side");
  const search = byId("search");
  const found = byId("found");
  const articles = Array.from(main.querySelectorAll(":scope > article"));
  const entries = new Map(articles.map((article) => [article.id, article]));
  const links = Array.from(side.querySelectorAll("#contents a"), (link) => [link.hash.slice(1), link]);
  const lines = new Map(links);
  const forks = Array.from(main.querySelectorAll("article > nav a"));

  // Branches: the page shows one path through the tree.

  // The newest child of each entry; a branch continues to its newest end.
  const newest = new Map();
  for (const article of articles) newest.set(article.dataset.parent, article.id);
  let path = new Set();
  // Visible entries that have a line in the contents.
  let prompts = [];
  // Shows the path through an entry: up to its root, down to its newest end.
  const choose = (id) => {
    path = new Set();
    for (let at = id; at && !path.has(at); at = entries.get(at)?.dataset.parent) path.add(at);
    for (let at = newest.get(id); at && !path.has(at); at = newest.get(at)) path.add(at);
    for (const [at, link] of links) link.parentElement.classList.toggle("shown", path.has(at));
    for (const link of forks) link.toggleAttribute("aria-current", path.has(link.hash.slice(1)));
  };

  // Search all branches and folded text. Opens matches, and folds them again afterwards.

  const hits = globalThis.Highlight && CSS.highlights ? new Highlight() : null;
  const now = hits ? new Highlight() : null;
  if (hits) {
    now.priority = 1;
    CSS.highlights.set("hits", hits);
    CSS.highlights.set("hit", now);
  }
  const MOST = 5000;
  // Keeps the length, or ranges would be off.
  const lower = (text) => {
    const low = text.toLowerCase();
    return low.length === text.length ? low : text;
  };
  const texts = new Map();
  const textOf = (article) => {
    if (!texts.has(article)) texts.set(article, lower(article.textContent));
    return texts.get(article);
  };
  const opened = new Set();
  let ranges = [];
  let at = -1;
  // The matches of `words` in an article, as ranges over its text nodes.
  const rangesIn = (article, words) => {
    const text = textOf(article);
    const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    const out = [];
    let node = walker.nextNode();
    let start = 0;
    const place = (offset, end) => {
      while (node && offset > start + node.length - (end ? 0 : 1)) {
        start += node.length;
        node = walker.nextNode();
      }
      return node && [node, offset - start];
    };
    for (let from = text.indexOf(words); from >= 0 && out.length < MOST; from = text.indexOf(words, from + words.length)) {
      const begin = place(from, false);
      const end = begin && place(from + words.length, true);
      if (!end) break;
      const range = new Range();
      range.setStart(...begin);
      range.setEnd(...end);
      out.push(range);
    }
    return out;
  };
  const fold = () => {
    for (const folded of opened) folded.open = false;
    opened.clear();
  };
  const show = () => {
    const words = lower(search.value.trim());
    fold();
    ranges = [];
    at = -1;
    hits?.clear();
    now?.clear();
    let count = 0;
    for (const article of articles) {
      const hit = words !== "" && textOf(article).includes(words);
      article.hidden = words === "" ? !path.has(article.id) : !hit;
      if (!hit) continue;
      count += 1;
      if (ranges.length < MOST) ranges.push(...rangesIn(article, words));
    }
    prompts = articles.filter((article) => lines.has(article.id) && !article.hidden);
    for (const range of ranges) {
      hits?.add(range);
      for (let up = range.startContainer.parentElement; up !== main; up = up.parentElement) {
        if (up.tagName !== "DETAILS" || up.open) continue;
        up.open = true;
        opened.add(up);
      }
    }
    found.textContent = words === "" ? "" : count === 0 ? "No match" : `${count} of ${articles.length} entries · Enter next`;
  };
  const step = (by) => {
    if (ranges.length === 0) return;
    at = (at + by + ranges.length) % ranges.length;
    now?.clear();
    now?.add(ranges[at]);
    ranges[at].startContainer.parentElement.scrollIntoView({ block: "center" });
    found.textContent = `${at + 1} of ${ranges.length} matches`;
  };
  // Ends the search at the last visited match.
  const endSearch = () => {
    const last = ranges[at]?.startContainer.parentElement.closest("article");
    search.value = "";
    if (last) go(last.id);
    else show();
  };
  // Searching a long session takes a moment, so wait until the user stops typing.
  let waiting = 0;
  const searchNow = () => {
    if (waiting === 0) return;
    clearTimeout(waiting);
    waiting = 0;
    show();
  };
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(searchNow, 80);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      searchNow();
      step(event.shiftKey ? -1 : 1);
      // In a small window the contents cover the match.
      if (side.matches(":popover-open")) side.hidePopover();
    } else if (event.key === "Escape") {
      searchNow();
      endSearch();
      search.blur();
    } else return;
    event.preventDefault();
  });

  // Go to an entry on any branch.

  const go = (id) => {
    if (!path.has(id)) choose(id);
    search.value = "";
    show();
    const article = entries.get(id);
    article.scrollIntoView();
    article.focus({ preventScroll: true });
  };
  const follow = () => {
    const id = location.hash.slice(1);
    if (entries.has(id)) go(id);
  };
  document.addEventListener("click", (event) => {
    if (event.target.matches?.("img.picture")) event.target.classList.toggle("full");
    const link = event.target.closest?.('a[href^="#"]');
    if (!link) return;
    if (side.matches(":popover-open")) side.hidePopover();
    // The browser fires no event for a link to the current hash.
    if (link.hash === location.hash) follow();
  });
  window.addEventListener("hashchange", follow);

  // Mark the current prompt in the contents.

  // The last one above a third of the window; prompts are in order.
  const reading = () => {
    const edge = innerHeight / 3;
    let [low, high] = [0, prompts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (prompts[middle].getBoundingClientRect().top > edge) high = middle;
      else low = middle + 1;
    }
    return prompts[low - 1];
  };
  let marked = null;
  const mark = () => {
    const line = lines.get(reading()?.id) ?? null;
    if (line === marked) return;
    marked?.removeAttribute("aria-current");
    line?.setAttribute("aria-current", "true");
    if (line?.checkVisibility()) line.scrollIntoView({ block: "nearest" });
    marked = line;
  };
  let scrolled = 0;
  document.addEventListener("scroll", () => {
    cancelAnimationFrame(scrolled);
    scrolled = requestAnimationFrame(mark);
  }, { passive: true });

  // Keys.

  const walk = (by) => {
    const focused = prompts.indexOf(document.activeElement);
    const from = focused >= 0 ? focused : prompts.indexOf(reading());
    const target = prompts[by > 0 ? from + 1 : Math.max(0, from - 1)];
    if (!target) return;
    target.scrollIntoView();
    target.focus({ preventScroll: true });
  };
  const toggleAll = () => {
    const folded = articles.filter((article) => !article.hidden)
      .flatMap((article) => Array.from(article.querySelectorAll(":scope > details")));
    const open = folded.some((it) => !it.open);
    for (const it of folded) it.open = open;
  };
  const find = () => {
    if (!side.checkVisibility()) side.showPopover();
    search.focus();
  };
  const keys = { "/": find, j: () => walk(1), k: () => walk(-1), o: toggleAll };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input:not([type=radio])");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });

  // Colors: remember the choice if the browser allows it.

  const choices = Array.from(document.querySelectorAll("[name=theme]"));
  const stored = (value) => {
    try {
      if (value) localStorage.setItem("tiller-theme", value);
      return localStorage.getItem("tiller-theme");
    } catch {
      return null;
    }
  };
  for (const choice of choices) {
    if (choice.value === stored()) choice.checked = true;
    choice.addEventListener("change", () => stored(choice.value));
  }

  document.documentElement.classList.add("live");
  byId("find").hidden = false;
  byId("keys").hidden = false;
  choose(main.dataset.leaf);
  show();
  follow();
  mark();
})();
