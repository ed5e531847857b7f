
"use strict";
(() => {
  const main = document.getElementById("transcript");
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const articles = Array.from(main.querySelectorAll("article"));
  const byId = new Map(articles.map((article) => [article.id, article]));
  // The entry of each one that was written last: a branch is followed to its newest end.
  const newest = new Map();
  for (const article of articles) newest.set(article.dataset.parent, article.id);
  let path = new Set();

  // Makes the path through an entry the one that is shown: up to its root, down to its newest end.
  const choose = (id) => {
    path = new Set();
    for (let at = id; at && !path.has(at); at = byId.get(at)?.dataset.parent) path.add(at);
    for (let at = newest.get(id); at && !path.has(at); at = newest.get(at)) path.add(at);
  };
  const show = () => {
    const words = search.value.trim().toLowerCase();
    let hits = 0;
    for (const article of articles) {
      const hit = words !== "" && article.textContent.toLowerCase().includes(words);
      article.hidden = words === "" ? !path.has(article.id) : !hit;
      hits += hit ? 1 : 0;
      for (const folded of article.querySelectorAll("details")) {
        if (hit) folded.open = folded.textContent.toLowerCase().includes(words);
      }
    }
    found.textContent = words === "" ? "" : `${hits} of ${articles.length} entries`;
    for (const link of document.querySelectorAll("#branches a")) {
      link.parentElement.classList.toggle("shown", path.has(link.hash.slice(1)));
    }
  };
  const follow = () => {
    const id = location.hash.slice(1);
    if (!byId.has(id)) return;
    if (!path.has(id)) choose(id);
    search.value = "";
    show();
    byId.get(id).scrollIntoView();
  };
  // Of links to the entry that is named already, the browser says nothing.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (link && link.hash === location.hash) follow();
  });
  window.addEventListener("hashchange", follow);
  search.addEventListener("input", show);
  search.hidden = false;
  choose(main.dataset.leaf);
  show();
  follow();
})();
