"use strict";
(() => {
  const data = (name) => {
    const node = document.getElementById("data-" + name);
    return node ? JSON.parse(node.textContent) : null;
  };
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const base = new URL("..", document.currentScript ? document.currentScript.src : location.href);

  function ruleFilters() {
    const form = document.getElementById("rule-filters");
    if (!form) return;
    const releases = data("releases");
    const rows = [...document.querySelectorAll("#rules tbody tr")];
    const fits = (row, wanted) => {
      const has = row.dataset;
      for (const name of ["severity", "impact"]) if (wanted[name] && has[name] !== wanted[name]) return false;
      if (wanted.engine && has.engine !== wanted.engine && has.engine !== "any") return false;
      if (wanted.version) {
        const at = (releases[has.engine] || []).indexOf(wanted.version.replace(/^v/, ""));
        const inside = has.runs.split(" ").some((run) => {
          const [first, last] = run.split("-").map(Number);
          return run && first <= at && at <= last;
        });
        if (has.engine !== "any" && !inside) return false;
      }
      const text = (row.textContent + " " + has.names).toLowerCase();
      return wanted.words.toLowerCase().replace(/(^|\s)--/g, "$1").split(/\s+/).every((word) => text.includes(word));
    };
    const show = () => {
      const wanted = Object.fromEntries(new FormData(form));
      let count = 0;
      for (const row of rows) {
        row.hidden = !fits(row, wanted);
        count += row.hidden ? 0 : 1;
      }
      document.getElementById("rule-count").textContent = count + (count === 1 ? " rule" : " rules");
    };
    form.addEventListener("input", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    show();
  }

  function nameFilter() {
    const input = document.getElementById("name-filter");
    if (!input) return;
    input.form.addEventListener("submit", (event) => event.preventDefault());
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase();
      for (const item of document.querySelectorAll(".names li")) item.hidden = !item.textContent.toLowerCase().includes(wanted);
    });
  }

  function logSearch() {
    const input = document.getElementById("log");
    if (!input) return;
    const rows = data("log").map(([id, title, engine, words, refusal]) => ({ id, title, engine, words: new Set(words.split(" ")), refusal }));
    const often = new Map();
    for (const row of rows) for (const word of row.words) often.set(word, (often.get(word) || 0) + 1);
    const list = document.getElementById("log-found");
    input.addEventListener("input", () => {
      const words = new Set((input.value.toLowerCase().match(/[a-z_][\w.-]{2,}/g) || []).flatMap((word) => [word, word.replace(/_/g, "-")]));
      const scored = rows.map((row) => {
        let score = 0;
        for (const word of words) if (row.words.has(word)) score += Math.log(rows.length / often.get(word));
        if (row.refusal && new RegExp(row.refusal, "i").test(input.value)) score += 1000;
        return [score / Math.sqrt(8 + row.words.size), row];
      });
      scored.sort((one, other) => other[0] - one[0]);
      list.replaceChildren(...scored.slice(0, 8).filter(([score]) => score > 0).map(([, row]) =>
        element("li", {}, element("a", { href: new URL("rules/" + row.id + "/", base).href }, row.id), ": " + row.title)));
    });
  }

  function compare() {
    const form = document.getElementById("compare");
    if (!form) return;
    const out = document.getElementById("compared");
    const loaded = {};
    const option = (value) => element("option", { value }, value);
    const at = (runs, index) => runs.find(([first, last]) => first <= index && index <= last);
    const list = (title, items) => items.length ? [element("h2", {}, title + " (" + items.length + ")"), element("ul", {}, ...items)] : [];
    const show = async (changed) => {
      const engine = form.elements.engine.value;
      loaded[engine] ||= await (await fetch(new URL("assets/data/" + engine + ".json", base))).json();
      const facts = loaded[engine];
      if (changed) {
        for (const name of ["from", "to"]) form.elements[name].replaceChildren(...facts.releases.slice().reverse().map(option));
        form.elements.from.selectedIndex = Math.min(1, facts.releases.length - 1);
      }
      const from = facts.releases.indexOf(form.elements.from.value), to = facts.releases.indexOf(form.elements.to.value);
      const link = (name) => element("a", { href: new URL("options/" + engine + "/" + name.replace(/^-+/, "").replace(/[^A-Za-z0-9_.-]/g, "-") + "/", base).href }, name);
      const came = [], went = [], other = [];
      for (const [name, runs] of Object.entries(facts.names)) {
        const one = at(runs, from), two = at(runs, to);
        if (!one && two) came.push(element("li", {}, link(name), ": " + facts.texts[two[2]]));
        else if (one && !two) went.push(element("li", {}, link(name)));
        else if (one && two && one[2] !== two[2]) other.push(element("li", {}, link(name), ": " + facts.texts[one[2]] + " → " + facts.texts[two[2]]));
      }
      const rule = ([id, title]) => element("li", {}, element("a", { href: new URL("rules/" + id + "/", base).href }, id), ": " + title);
      const holds = (runs, index) => Boolean(at(runs, index));
      out.replaceChildren(
        ...list("Gone", went), ...list("New", came), ...list("Changed", other),
        ...list("Known problems that begin", facts.rules.filter((one) => !holds(one[2], from) && holds(one[2], to)).map(rule)),
        ...list("Known problems that end", facts.rules.filter((one) => holds(one[2], from) && !holds(one[2], to)).map(rule)));
    };
    form.addEventListener("input", (event) => show(event.target.name === "engine"));
    show(true);
  }

  function matrix() {
    const form = document.getElementById("matrix-form");
    if (!form) return;
    const facts = data("matrix");
    const out = document.getElementById("matrix");
    const show = (changed) => {
      const one = facts[form.elements.engine.value];
      if (changed) form.elements.release.replaceChildren(...Object.keys(one.cells).reverse().map((value) => element("option", { value }, value)));
      const cells = one.cells[form.elements.release.value];
      const names = Object.values(one.groups).flat();
      const head = element("tr", {}, element("td"), ...names.map((name) => element("th", { scope: "col" }, name)));
      const rows = names.map((left) => element("tr", {}, element("th", { scope: "row" }, left), ...names.map((right) => {
        const found = cells[left + "|" + right] || cells[right + "|" + left];
        if (!found) return element("td", {}, left === right ? "·" : "");
        if (found[0][0] === "absent") return element("td", { title: "not in this release" }, "–");
        const links = found.slice(0, 3).map(([rule, severity], index) =>
          element("a", { href: new URL("rules/" + rule + "/", base).href, title: severity + ": " + rule, "aria-label": severity + ": " + rule }, severity[0].toUpperCase() + (index ? index + 1 : "")));
        return element("td", { class: found[0][1] }, ...links);
      })));
      out.replaceChildren(element("table", { class: "cells" }, element("thead", {}, head), element("tbody", {}, ...rows)));
    };
    form.addEventListener("input", (event) => show(event.target.name === "engine"));
    show(true);
  }

  for (const start of [ruleFilters, nameFilter, logSearch, compare, matrix]) start();
})();
