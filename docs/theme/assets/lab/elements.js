// The elements of a widget's tools: a tag with its properties and children, and its label.
export const make = (tag, values = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), values)
  made.append(...children)
  return made
}
export const choice = (name, choices) =>
  make("select", { name }, ...choices.map(([value, text]) => make("option", { value }, text)))
export const label = (text, field) => make("label", {}, text, " ", field)
