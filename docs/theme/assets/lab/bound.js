// Figures of the text that move with a drawing. Each carries the expression that the page's
// blocks compute it by; a drawing says what some of these are worth now, and which one may
// be dragged.
import { draggable, shown, write } from "./lab.js"

// The figures of one section, from its heading to the next.
const figuresOf = (id) => {
  const found = []
  for (let node = document.getElementById(id)?.nextElementSibling; node && !node.matches("h2"); node = node.nextElementSibling) {
    found.push(...node.querySelectorAll(".figure[data-is]"))
  }
  return found
}

// `moves` has, by expression, what `draggable` asks for.
export const bindFigures = (section, moves) => {
  const figures = figuresOf(section).map((node) => {
    const text = node.textContent, expression = node.dataset.is
    if (moves[expression]) draggable(node, moves[expression])
    return { node, text, expression, digits: text.split(".")[1]?.length ?? 0 }
  })
  return (values) => {
    for (const { node, text, expression, digits } of figures) {
      if (!(expression in values)) continue
      const now = shown(values[expression], digits)
      write(node, now)
      node.classList.toggle("altered", now !== text)
      if (moves[expression]) node.setAttribute("aria-valuenow", now)
    }
  }
}
