// What draws the world as cells: a cell is as wide as what it stands for is likely, its
// green as high as the share of the floor below it that is green. A cell that is tapped
// opens to the full width. The wall moves its borders; `train` has them moved by updates.
import { element, lang, shown, svg, write } from "./lab.js"
import { set } from "./drawing.js"
import { BORDERS, NODES, bordersOf, vanished } from "./cells_model.js"
import { ANSWERS, EOS, LIMIT, PROMPT, path, sentence } from "./world.js"

const WORDS = {
  zh: {
    end: "结束", path: "展开到哪里", never: "概率为 0：", all: "全部", tree: "格子",
    cut: `写满 ${LIMIT} 个 token 还没结束，`,
    root: (value) => `一个字没写：平均得 ${value} 分，这就是 J。`,
    prefix: (text, reach, value, named) => `“${text}”：写出它的概率是 ${reach}；从这里写下去，平均得 ${value} 分${named ? "，这就是 V" : ""}。`,
    answer: (text, reach, cut, score) => `“${text}”，整个回答：概率 ${reach}，${cut}得 ${score} 分。`,
  },
  en: {
    end: "end", path: "What is open", never: "Probability 0:", all: "all", tree: "cells",
    cut: `no end within ${LIMIT} tokens, `,
    root: (value) => `Nothing is written yet: the mean score is ${value}, and that is J.`,
    prefix: (text, reach, value, named) => `"${text}": written with probability ${reach}; the mean score from here on is ${value}${named ? ", and that is V" : ""}.`,
    answer: (text, reach, cut, score) => `"${text}", a whole answer: probability ${reach}, ${cut}score ${score}.`,
  },
}[lang]

export const word = (node) => node[lang] === EOS ? WORDS.end : node[lang]
export const text = (node) => sentence(path(node), lang)
export const about = ({ node, reach, value }, named) => {
  if (!node.parent) return WORDS.root(shown(value, 4))
  if (node.children.length) return WORDS.prefix(text(node), shown(reach, 4), shown(value, 4), named)
  return WORDS.answer(text(node), shown(reach, 4), node.en === EOS ? "" : WORDS.cut, value)
}

export const FLOOR = 14 // pixels
const NEAR = 7 // pixels within which a tap finds a cell that is too narrow to hit

// One of a row of stops is where Tab stops.
export const reach = (all, one) => { for (const { group } of all) group.setAttribute("tabindex", group === one.group ? 0 : -1) }
export const hide = (node, hidden) => { if (node.hidden_ !== hidden) node.toggleAttribute("hidden", node.hidden_ = hidden) }

// How a word stands in a cell so wide and high: along it, down it, or not at all.
const wide = (letters) => [...letters].reduce((all, letter) => all + (letter > "\u2fff" ? 13 : 7.6), 0)
const lie = (letters, width, height) => {
  if (wide(letters) + 5 <= width) return "along"
  if (wide(letters) * 0.85 + 3 <= width) return "along tight"
  return width >= 15 && wide(letters) + 4 <= height ? "down" : "none"
}

const still = matchMedia("(prefers-reduced-motion: reduce)")
// Calls draw with the share of the time that has passed, until all of it has.
export const animate = (time, draw) => {
  if (still.matches) return draw(1)
  const begun = performance.now()
  const step = (now) => {
    const share = Math.min(Math.max(now - begun, 0) / time, 1)
    draw(share)
    if (share < 1) requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
}

// The drawing. `look` is called with what a reader turns to, `open` with what is tapped,
// unless it is `busy`. A row is so many pixels high; `below` the floor there is room.
export const drawCells = ({ name, row, below = 0, look, open, busy = () => false }) => {
  const y = (depth) => depth * row
  const ground = y(LIMIT + 1), height = ground + FLOOR + below
  const cells = NODES.map((node) => {
    const frame = svg("rect", { class: "frame" }), letters = { word: svg("text", { class: "word" }), number: svg("text", { class: "number" }) }
    return { node, frame, ...letters, letters: svg("g", {}, ...Object.values(letters)),
      group: svg("g", { class: "cell", role: "button", tabindex: -1 }, frame) }
  })
  // All rectangles of one colour are one shape: at every frame a browser has six to place.
  const shapes = Object.fromEntries(["boxes", "green", "right", "missed", "floor right", "floor missed"]
    .map((name) => [name, svg("path", { class: name })]))
  const marks = { right: svg("path", { class: "marks right" }), missed: svg("path", { class: "marks missed" }) }
  const root = svg("svg", { class: "wall", height, role: "group", "aria-label": name },
    ...Object.values(shapes),
    svg("g", { role: "group", "aria-label": WORDS.tree }, ...cells.map(({ group }) => group)),
    svg("g", { class: "letters", "aria-hidden": true }, ...cells.map(({ letters }) => letters)), ...Object.values(marks))

  let drawn = { width: 0, at: 0, part: 1, cells: new Map() }
  const x = (share) => (share - drawn.at) / drawn.part * drawn.width
  const span = ({ at, width }) => [x(at), x(at + width)]

  // What one points at: a cell too narrow to be hit goes before the one around it.
  const pointed = ({ clientX, clientY }) => {
    const { left, top } = root.getBoundingClientRect(), px = clientX - left, py = clientY - top
    const here = NODES.map((node) => drawn.cells.get(node.prefix)).filter(({ node, width }) => {
      const last = node.children.length ? node.depth : LIMIT
      return width > 0 && py >= y(node.depth) && py < y(last + 1) + (last === LIMIT ? FLOOR + below : 0)
    })
    const away = (cell) => { const [from, to] = span(cell); return Math.abs((from + to) / 2 - px) }
    const narrow = here.filter((cell) => { const [from, to] = span(cell); return to - from < 10 && away(cell) < NEAR })
    narrow.sort((one, other) => away(one) - away(other))
    return (narrow[0] ?? here.find((cell) => { const [from, to] = span(cell); return from <= px && px <= to }))?.node
  }

  root.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse" && !event.buttons) look({ node: pointed(event) ?? null })
  })
  root.addEventListener("pointerleave", () => look({}))
  root.addEventListener("click", (event) => {
    const own = event.detail === 0 && cells.find(({ group }) => group.contains(event.target))
    if (busy()) return
    const node = own ? own.node : pointed(event)
    if (node) open(node)
  })
  // Tab stops once at the cells, where arrows go through the tree.
  const cellOf = (node) => cells[NODES.indexOf(node)]
  for (const cell of cells) {
    const { node, group } = cell
    group.addEventListener("focus", () => { reach(cells, cell); look({ node }) })
    group.addEventListener("keydown", (event) => {
      const beside = cells.filter((other) => other.node.depth === node.depth && !other.hidden)
      const at = beside.indexOf(cell)
      const there = { ArrowLeft: beside[at - 1], ArrowRight: beside[at + 1], ArrowUp: node.parent && cellOf(node.parent),
        ArrowDown: node.children.map(cellOf).find((child) => !child.hidden) }[event.key]
      if (there) there.group.focus()
      else if (event.key === "Enter" || event.key === " ") open(node)
      else if (!event.key.startsWith("Arrow")) return
      event.preventDefault()
    })
  }
  reach(cells, cells[0])

  const rect = (x, y, width, height) => `M${x.toFixed(1)} ${y.toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h${(-width).toFixed(1)}z`
  const drawCell = (cell, add) => {
    const { node, word: letters, number } = cell
    const { width: share, value } = drawn.cells.get(node.prefix)
    const ends = span(drawn.cells.get(node.prefix))
    cell.hidden = share === 0 || ends[1] < 0.01 || ends[0] > drawn.width - 0.01
    hide(cell.group, cell.hidden)
    hide(cell.letters, cell.hidden)
    if (cell.hidden) return
    // Never less than a hairline, and within the drawing.
    const left = Math.max(Math.min(ends[0], drawn.width - 1), 0)
    const width = Math.max(Math.min(ends[1], drawn.width) - left, 1)
    const top = y(node.depth), height = (node.children.length ? y(node.depth + 1) : ground) - top
    const gap = width > 3 ? 1 : 0
    cell.place = { x: left, y: top, width: width - gap, height: height - 1 }
    add("boxes", rect(left, top, width - gap, height - 1))
    if (!node.children.length) {
      add(value ? "right" : "missed", rect(left, top, width - gap, height))
      add(value ? "floor right" : "floor missed", rect(left, ground, width - gap, FLOOR))
    } else if (value) add("green", rect(left, top + height * (1 - value), width - gap, Math.max(height * value - 1, 0)))
    const name = node.parent ? word(node) : PROMPT[lang]
    const room = Math.min(height, node.parent ? 3 * row : row), numbered = width > 32
    const how = lie(name, width, numbered && room === row ? row - 2 : room)
    const middle = left + (width - gap) / 2
    hide(letters, how === "none")
    const along = how.startsWith("along")
    hide(number, !numbered || how === "down")
    if (how !== "none") {
      write(letters, name)
      set(letters, { class: `word ${how}` })
      set(letters, along ? { x: Math.round(middle), y: top + Math.round(row * (numbered ? 0.43 : 0.62)) } : { x: Math.round(middle), y: top + 4 })
    }
    if (numbered) {
      set(number, { x: Math.round(middle), y: along ? top + Math.round(row * 0.81) : top + 26 })
      write(number, node.children.length ? shown(value) : value)
    }
  }
  // Borders of another actor within the cells that are drawn, as one line.
  const across = (moves, where) => BORDERS.filter(({ node }) => moves(node)).map(({ node, k }) => {
    const parent = drawn.cells.get(node.prefix), [from, to] = span(parent)
    const at = x(parent.at + parent.width * bordersOf(where(node))[k])
    return parent.above || to - from < 4 || at < 0 || at > drawn.width ? "" : `M${at.toFixed(1)} ${y(node.depth + 1)}v${row - 1}`
  }).join("")

  // `balls` are answers that were drawn: where each has fallen, and its row.
  const draw = ({ layout, at, part, width, balls = [] }) => {
    drawn = { cells: layout, at, part, width }
    set(root, { width, viewBox: `0 0 ${width} ${height}` })
    const parts = Object.fromEntries(Object.keys(shapes).map((name) => [name, []]))
    for (const cell of cells) drawCell(cell, (name, shape) => parts[name].push(shape))
    for (const [name, shape] of Object.entries(shapes)) set(shape, { d: parts[name].join("") })
    const dots = (score) => balls.filter(({ row }) => ANSWERS[row].score === score).map(({ at }) => x(at))
      .filter((at) => at >= 0 && at <= width).map((at) => `M${at.toFixed(1)} ${ground + FLOOR + 2}v${below - 2}`).join("")
    set(marks.right, { d: dots(1) })
    set(marks.missed, { d: dots(0) })
  }
  // Once it rests: what each cell is, and its frame, for who goes by keyboard or ear.
  const label = (named) => {
    for (const { node, group, frame, hidden, place } of cells) {
      set(group, { "aria-label": about(drawn.cells.get(node.prefix), named) })
      if (!hidden) set(frame, place)
    }
  }
  return { root, cells, draw, label, across, x, y, span, ground }
}

export const nodeOf = (prefix) => NODES.find((node) => node.prefix === prefix)
// Which part of the drawing is open: that below a prefix. `layout` has the cells as they
// are, `get` and `set` the prefix; what leads back to the whole are buttons.
export const opening = ({ layout, get, set, changed }) => {
  let from = { at: 0, part: 1 }, come = 1, trailed // how far the drawing has come
  const trail = element("nav", { class: "trail", "aria-label": WORDS.path })
  const to = () => {
    const cells = layout()
    let node = nodeOf(get())
    while (cells.get(node.prefix).width < 1e-9) node = node.parent
    const { at, width: part } = cells.get(node.prefix)
    return { at, part }
  }
  const now = (end = to()) => {
    if (come === 1) return from = end
    return { at: from.at + (end.at - from.at) * come, part: from.part + (end.part - from.part) * come }
  }
  const open = (node) => {
    from = now()
    come = 0
    set(node.prefix === get() && node.parent ? node.parent.prefix : node.prefix)
    animate(260, (time) => { come = 1 - (1 - time) ** 3; changed() })
  }
  const draw = (opened) => {
    const at = nodeOf(get()), never = vanished(at, layout()), now = [at, ...never].map(({ prefix }) => prefix).join("/")
    if (trailed === now) return
    trailed = now
    const opens = (node) => element("button", {
      type: "button", "aria-current": node === at ? "true" : null,
      onclick: () => { if (node !== at) opened(node) },
    }, node.parent ? word(node) : WORDS.all)
    trail.replaceChildren(...[NODES[0], ...path(at)].map(opens),
      ...never.length ? [element("span", { class: "never" }, WORDS.never, never.map(opens))] : [])
  }
  const close = () => { from = { at: 0, part: 1 }; come = 1 }
  return { trail, now, open, draw, close }
}
