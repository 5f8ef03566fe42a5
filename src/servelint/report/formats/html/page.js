
"use strict";
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const count = document.getElementById("count");
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const quiet = document.getElementById("quiet");
  const findings = all(".finding").map((node) => ({
    node, launch: node.closest(".launch"), file: node.closest(".file"), said: null, ...node.dataset,
  }));
  const launches = all(".file .launch");
  const files = all(".file");
  const others = quiet ? all(".launch", quiet).map((node) => ({ node, said: null, ...node.dataset })) : [];
  const silent = others.reduce((sum, other) => sum + Number(other.launches), 0);
  const texts = ["path", "text"], choices = ["severity", "impact", "engine"];

  const chosen = () => {
    const data = new FormData(form), state = new URLSearchParams();
    for (const name of choices) if (data.has(name)) state.set(name, data.getAll(name).join(","));
    for (const name of texts) if (data.get(name).trim()) state.set(name, data.get(name).trim());
    return state;
  };

  // what a text filter looks at: the finding with its path and its launch's card
  const words = (one) => {
    if (one.said === null) {
      const card = one.launch ? all(":scope > .fold > summary > h4, :scope > .fold > .facts", one.launch).map((node) => node.textContent).join("\n") : "";
      one.said = [one.file ? one.file.dataset.path : "", card, one.node.textContent].join("\n").toLowerCase();
    }
    return one.said;
  };

  const show = () => {
    const state = chosen();
    const any = (name) => (state.has(name) ? new Set(state.get(name).split(",")) : null);
    const [severities, impacts, engines] = choices.map(any);
    const path = (state.get("path") || "").toLowerCase(), text = (state.get("text") || "").toLowerCase();
    const good = (one, where) =>
      (!engines || engines.has(one.engine)) && where.toLowerCase().includes(path) && (!text || words(one).includes(text));
    const shown = new Set();
    let number = 0, still = 0;
    for (const one of findings) {
      const here =
        (!severities || severities.has(one.severity)) && (!impacts || impacts.has(one.impact)) && good(one, one.file.dataset.path);
      one.node.hidden = !here;
      if (!here) continue;
      number += 1;
      shown.add(one.launch).add(one.file);
    }
    for (const node of [...launches, ...files]) node.hidden = !shown.has(node);
    for (const one of others) {
      const here = !severities && !impacts && good(one, one.path);
      one.node.hidden = !here;
      if (here) still += Number(one.launches);
    }
    if (quiet) quiet.hidden = !still;
    const of = (some, whole, one, many) => `${some === whole ? some : `${some} of ${whole}`} ${whole === 1 ? one : many}`;
    const rest = silent ? `; ${of(still, silent, "launch", "launches")} without a finding` : "";
    count.value = of(number, findings.length, "finding", "findings") + rest;
  };

  const keep = () => {
    try {
      history.replaceState(null, "", `#${chosen()}`);
    } catch {
      // a viewer that embeds the page may not let it change its address
    }
  };

  const reveal = (id) => {
    const node = document.getElementById(id);
    if (!node || !node.matches(".finding, .rule")) return;
    if (node.closest("[hidden]")) {
      form.reset();
      show();
    }
    for (let fold = node.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    for (const fold of all("details", node)) fold.open = true;
    node.scrollIntoView();
  };

  // an address names filters (#severity=error) or a place in the page (#finding-0123)
  const follow = () => {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) return reveal(decodeURIComponent(hash));
    const state = new URLSearchParams(hash);
    for (const name of choices) {
      const values = new Set((state.get(name) || "").split(","));
      for (const box of all(`input[name="${name}"]`, form)) box.checked = values.has(box.value);
    }
    for (const name of texts) form.elements[name].value = state.get(name) || "";
    show();
  };

  let waiting = 0;
  form.addEventListener("input", (event) => {
    clearTimeout(waiting);
    const typed = texts.includes(event.target.name);
    waiting = setTimeout(() => { show(); keep(); }, typed ? 120 : 0);
  });
  form.addEventListener("reset", () => setTimeout(() => { show(); keep(); }));
  form.addEventListener("submit", (event) => event.preventDefault());
  const fold = (open) => () => {
    if (open) for (const one of all(".launch > .fold")) one.open = true;
    for (const one of findings) if (!one.node.hidden) one.node.querySelector("details").open = open;
  };
  document.getElementById("open-all").addEventListener("click", fold(true));
  document.getElementById("close-all").addEventListener("click", fold(false));
  for (const link of all("a[data-filter]")) {
    link.href = `#${link.dataset.filter}`;
    link.addEventListener("click", () => document.getElementById("results").focus());
  }
  window.addEventListener("hashchange", follow);
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = all("details:not([open])");
    for (const one of folded) one.open = true;
  });
  window.addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
  document.getElementById("filters-fold").open = !matchMedia("(max-width: 61.99rem)").matches;
  form.hidden = false;
  show();
  if (location.hash) follow();
})();
