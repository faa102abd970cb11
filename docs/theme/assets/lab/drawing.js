// What the drawings of the world share: their parts are made once, and at every frame only
// what is another than before is set, since what is set is laid out anew.
export const set = (node, attributes) => {
  const had = node.had ??= {}
  for (const [key, value] of Object.entries(attributes)) {
    const said = typeof value === "number" ? String(Math.round(value * 100) / 100) : value
    if (had[key] !== said) node.setAttribute(key, had[key] = said)
  }
}
