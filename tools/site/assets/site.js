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

  // the search of src/servelint/report/log_search.py; a test holds that both give the same answers
  function logSearch() {
    const input = document.getElementById("log");
    if (!input) return;
    const facts = data("log");
    const rules = facts.rules.map(([id, title, engine, refusals, words]) => ({ id, title, engine, refusals, words: words ? words.split(" ") : [] }));
    const split = (text) => text.toLowerCase().match(/[a-z][a-z0-9]*/g) || [];
    const features = (text) => {
      const words = split(text);
      return new Set([...words, ...words.slice(1).map((word, index) => words[index] + " " + word)]);
    };
    const put = (map, key, value) => map.has(key) ? map.get(key).push(value) : map.set(key, [value]);
    const count = new Map(), refusalsWith = new Map(), pagesWith = new Map(), ruleOf = [], texts = [];
    rules.forEach((rule, at) => {
      const own = new Set(rule.words);
      for (const word of rule.words) put(pagesWith, word, at);
      for (const text of rule.refusals) {
        const found = features(text);
        for (const one of found) {
          own.add(one);
          put(refusalsWith, one, texts.length);
        }
        ruleOf.push(at);
        texts.push(found);
      }
      for (const one of own) count.set(one, (count.get(one) || 0) + 1);
    });
    const weight = (one) => count.has(one) ? Math.log((rules.length + 1) / count.get(one)) : 0;
    const whole = texts.map((found) => [...found].reduce((sum, one) => sum + weight(one), 0));
    const add = (map, key, value) => map.set(key, (map.get(key) || 0) + value);
    const scores = (wanted) => {
      const hits = new Map(), found = new Map(), best = new Map();
      for (const one of wanted) {
        const value = weight(one);
        for (const at of refusalsWith.get(one) || []) add(hits, at, value);
        for (const at of pagesWith.get(one) || []) add(found, at, facts.page * value);
      }
      for (const [at, hit] of hits) best.set(ruleOf[at], Math.max(best.get(ruleOf[at]) || 0, hit * hit / whole[at]));
      for (const [rule, score] of best) add(found, rule, score);
      return found;
    };
    const order = Object.keys(facts.engines);
    const place = (engine) => order.includes(engine) ? order.indexOf(engine) : order.length;
    const search = (text) => {
      const lines = text.split(/\r?\n/), best = new Map(), words = " " + split(text).join(" ") + " ";
      const engines = order.filter((engine) => facts.engines[engine].some((name) => words.includes(" " + name + " ")));
      lines.forEach((line, at) => {
        if (!line.trim()) return;
        for (const [rule, score] of scores(features(lines.slice(at, at + facts.together).map((one) => one.slice(0, 2000)).join(" "))))
          if (score > (best.get(rule) || 0)) best.set(rule, score);
      });
      return [...best].map(([at, score]) => {
        const rule = rules[at], other = engines.length && rule.engine !== "any" && !engines.includes(rule.engine);
        return [score * (other ? facts.other : 1), rule];
      }).filter(([score]) => score >= facts.least).sort(([one, left], [two, right]) =>
        Math.round(two * 1e6) - Math.round(one * 1e6) || place(left.engine) - place(right.engine) || (left.id < right.id ? -1 : 1));
    };
    const list = document.getElementById("log-found"), state = document.getElementById("log-state");
    const show = () => {
      const found = search(input.value.slice(-400000)).slice(0, 8);
      list.replaceChildren(...found.map(([, rule]) =>
        element("li", {}, element("a", { href: new URL("rules/" + rule.id + "/", base).href }, rule.id), ": " + rule.title)));
      state.textContent = !input.value.trim() ? "" : found.length ? "The nearest rules:" : "No rule has these words.";
    };
    input.addEventListener("input", show);
    show();
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
        ...list("Removed", went), ...list("New", came), ...list("Changed", other),
        ...list("Known problems that start", facts.rules.filter((one) => !holds(one[2], from) && holds(one[2], to)).map(rule)),
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

  function codeButtons() {
    // several landmarks on a page need names of their own
    const label = () => document.querySelectorAll(".md-code__nav").forEach((nav, index) => {
      if (!nav.hasAttribute("aria-label")) nav.setAttribute("aria-label", "code " + (index + 1));
    });
    new MutationObserver(label).observe(document.body, { childList: true, subtree: true });
    label();
  }

  function headers() {
    // a table's empty corner is no header
    for (const cell of document.querySelectorAll("th:empty")) cell.replaceWith(document.createElement("td"));
  }

  for (const start of [headers, codeButtons, ruleFilters, nameFilter, logSearch, compare, matrix]) start();
})();
