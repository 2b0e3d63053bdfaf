// Creates elements. Text is always inserted as text: no data is ever parsed as HTML.
const kSvg = "http://www.w3.org/2000/svg";

const setAttributes = (node, attributes) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
};

const element = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  setAttributes(node, attributes);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
};

const svg = (tag, attributes = {}, ...children) => {
  const node = document.createElementNS(kSvg, tag);
  setAttributes(node, attributes);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
};

const byId = (id) => document.getElementById(id);

// options: [{value, label, disabled, why}]. A group of buttons with one pressed.
const chips = (name, options, chosen, onChoose) => {
  const group = element("div", {class: "chips", role: "group", "aria-label": name});
  for (const {value, label, disabled, why} of options)
    group.append(element("button", {type: "button", "data-value": value, disabled, title: why,
      "aria-pressed": String(value === chosen), onclick: () => onChoose(value)}, label));
  const whys = options.filter((option) => option.disabled && option.why).map(({why}) => why);
  return element("div", {class: "control"}, element("span", {class: "name"}, name), group,
    whys.length ? element("span", {class: "why"}, whys.join(" ")) : null);
};

// options: [{value, label}] or [{group, options}].
const selectBox = (name, id, options, chosen, onChoose) => {
  const option = ({value, label}) => element("option", {value, selected: value === chosen}, label);
  const box = element("select", {id, onchange: (event) => onChoose(event.target.value)},
    options.map((each) => each.group ?
      element("optgroup", {label: each.group}, each.options.map(option)) : option(each)));
  return element("div", {class: "control"}, element("label", {class: "name", for: id}, name), box);
};
