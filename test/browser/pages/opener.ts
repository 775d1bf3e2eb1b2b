/** A page whose speculation rules prerender others. It goes to one of them when the test says so. */
const parameters = new URLSearchParams(location.search);
const [control = "", prerender = ""] = ["control", "prerender"].map((name) => parameters.get(name) ?? "");

const rules = document.createElement("script");
rules.type = "speculationrules";
rules.textContent = JSON.stringify({ prerender: [{ urls: JSON.parse(prerender) }] });
document.head.append(rules);

// The answer comes when the test calls `show`.
location.href = await (await fetch(`${control}/next`)).text();
