// Tabs, theme, printing; draws the page.
const addPanel = (id, label, draw) => {
  const button = element("button", {type: "button", role: "tab", id: `tab-${id}`,
    "aria-controls": `panel-${id}`, onclick: () => { showTab(id); writeAddress(); }}, label);
  const panel = element("section", {role: "tabpanel", id: `panel-${id}`, tabindex: -1,
    "aria-labelledby": `tab-${id}`, hidden: true});
  byId("tabs").append(button);
  byId("panels").append(panel);
  panels.push({id, label, panel, button, draw, stale: true});
};

byId("tabs").addEventListener("keydown", (event) => {
  const at = panels.findIndex(({id}) => id === state.tab);
  const last = panels.length - 1;
  const next = {ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0,
    End: last}[event.key];
  if (next === undefined) return;
  event.preventDefault();
  showTab(panels[next].id, true);
  writeAddress();
});

// The user's earlier choice, else the system's setting.
const kThemeKey = "sinter-report-theme";
const systemDark = matchMedia("(prefers-color-scheme: dark)");
const storedTheme = () => {
  try { return localStorage.getItem(kThemeKey); } catch { return null; }
};
const applyTheme = (theme) => {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
};
const setTheme = (theme) => {
  applyTheme(theme);
  redraw();
};
byId("theme").addEventListener("click", () => {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem(kThemeKey, theme); } catch { /* not kept, that is all */ }
  setTheme(theme);
});
systemDark.addEventListener("change", () => {
  if (!storedTheme()) setTheme(systemDark.matches ? "dark" : "light");
});

// Paper is white.
let themeOnScreen = null;
addEventListener("beforeprint", () => {
  themeOnScreen = document.documentElement.dataset.theme;
  if (themeOnScreen === "dark") setTheme("light");
});
addEventListener("afterprint", () => {
  if (themeOnScreen === "dark") setTheme("dark");
});

addPanel("overview", "Overview", drawOverview);
addPanel("cases", "Cases", drawCases);
addPanel("roofline", "Roofline", drawRoofline);
addPanel("table", "Table", drawTable);
addPanel("plans", "Plans", drawPlans);
addEventListener("hashchange", () => { readAddress(); showTab(state.tab); redraw(); });

drawHeader();
readAddress();
applyTheme(storedTheme() || (systemDark.matches ? "dark" : "light"));
showTab(state.tab);
