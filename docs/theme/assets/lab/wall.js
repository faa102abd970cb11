// The wall: all answers of the world at once. A cell is as wide as what it stands for is
// likely, its green as high as the share of the floor below it that is green. The borders
// between cells can be dragged; a cell that is tapped opens to the full width.
import { address, againButton, aloud, copyButton, draggable, element, lang, onceAFrame, show, shown, styled, styles, svg, tick, write } from "./lab.js"
import { FLOOR, about, animate, drawCells, hide, nodeOf, opening, reach, text, word } from "./cells.js"
import { BORDERS, NODES, bordersOf, laidOpen, lay, probabilities } from "./cells_model.js"
import { set } from "./drawing.js"
import { BEGIN, MOST, VIEWS, best, draws, python, read, slide, written } from "./wall_model.js"
import { ANSWERS, path } from "./world.js"

const WORDS = {
  zh: {
    name: "一面墙：所有的回答", borders: "边界",
    after: (text, parts) => `${text ? `“${text}”之后` : "第一个 token"}：${parts.join("，")}。`,
    part: (token, p) => `“${token}” ${p}`,
    border: (left, right, text) => `“${left}”和“${right}”之间的边界${text ? `，在“${text}”之后` : ""}`,
    drop: "掉一个球", many: "掉一百个", drawn: (n, mean) => `抽了 ${n} 个，平均 ${mean}`,
    reference: "虚线：reference 的边界",
    try: "挪一条边界，想挪多远都行。再挪另一条，前一条会自己回去。",
    reached: (value) => `到过的最高：${value}`, most: "：再没有更高的了",
  },
  en: {
    name: "The wall: all answers", borders: "borders",
    after: (text, parts) => `${text ? `After "${text}"` : "First token"}: ${parts.join(", ")}.`,
    part: (token, p) => `"${token}" ${p}`,
    border: (left, right, text) => `The border between "${left}" and "${right}"${text ? ` after "${text}"` : ""}`,
    drop: "Drop a ball", many: "Drop 100", drawn: (n, mean) => `${n} drawn, mean ${mean}`,
    reference: "Dashed: the borders of the reference",
    try: "Move one border, as far as you like. If you move another, the first goes back.",
    reached: (value) => `Highest so far: ${value}`, most: ": nothing is higher",
  },
}[lang]

// Heights in pixels: of a row, and of what has been drawn, below the floor.
const ROW = 42, MARKS = 12
const GRIP = 30 // pixels of a cell whose borders a pointer can take

// The drawing. `look` is called with what a reader turns to, `open` with what is tapped;
// `share` and `move` are of border number i.
const drawWall = ({ look, open, share, move }) => {
  let dragged = false
  const wall = drawCells({ name: WORDS.name, row: ROW, below: MARKS, look, open, busy: () => dragged })
  const { root, cells, across, x, y, span, ground } = wall
  const borders = BORDERS.map(({ node, k }, i) => {
    const parts = { hit: svg("rect", { class: "hit" }), line: svg("rect", { class: "line", x: -1, width: 2, height: ROW - 1 }), grip: svg("rect", { class: "grip", rx: 3 }) }
    const group = svg("g", { class: "border" }, ...Object.values(parts))
    const label = WORDS.border(word(node.children[k]), word(node.children[k + 1]), text(node))
    return { node, k, i, group, label, room: 0, ...parts }
  })
  const lines = { reference: svg("path", { class: "reference" }), begun: svg("path", { class: "begun" }) }
  const ball = svg("circle", { class: "ball", r: 6, hidden: "" })
  root.append(...Object.values(lines),
    svg("g", { role: "group", "aria-label": WORDS.borders }, ...borders.map(({ group }) => group)), ball)

  let drawn
  // At the borders, too, Tab stops once: up and down go to another, left and right move it.
  for (const border of borders) {
    const { i, group, label } = border
    group.addEventListener("keydown", (event) => {
      const way = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      if (!way) return
      event.preventDefault()
      event.stopImmediatePropagation()
      const shown = borders.filter((other) => !other.hidden)
      shown[shown.indexOf(border) + way]?.group.focus()
    })
    group.addEventListener("pointerdown", () => { dragged = false })
    draggable(group, { min: 0, max: 1, step: 0.005, label, get: () => share(i),
      set: (value) => { dragged = true; move(i, value) }, way: () => Math.max(border.room, 120) })
    group.addEventListener("focus", () => { reach(borders, border); look({ border: i }) })
  }
  root.addEventListener("pointerdown", ({ target }) => { if (!target.closest(".border")) dragged = false })
  reach(borders, borders[0])

  const drawBorder = (border) => {
    const { node, k, group, hit, grip } = border
    const parent = drawn.cells.get(node.prefix), [from, to] = span(parent)
    const probs = probabilities(node, drawn.moved), at = x(parent.at + parent.width * bordersOf(probs)[k])
    border.room = to - from
    // What is above an opened cell moves it, and nothing of that could be seen.
    const above = parent.above || to - from > drawn.width + 1
    border.hidden = above || parent.width === 0 || to - from < 4 || at < -0.5 || at > drawn.width + 0.5
    hide(group, border.hidden)
    if (border.hidden) return
    const top = y(node.depth + 1), taken = border.room >= GRIP
    const reach = border.room >= 72 ? 12 : border.room / 4
    set(group, { class: `border drag${taken ? "" : " fixed"}${drawn.moved[node.prefix] ? " away" : ""}` })
    set(group, { transform: `translate(${Math.min(Math.max(at, 1), drawn.width - 1).toFixed(1)} ${top})` })
    set(hit, { x: -reach, width: 2 * reach, y: 1, height: ROW - 2 })
    hide(grip, !taken)
    // In a narrow cell it stands below the words.
    const broad = Math.min(probs[k], probs[k + 1]) * border.room >= 24, [thick, high] = broad ? [7, 18] : [6, 13]
    set(grip, { x: -thick / 2, width: thick, height: high, y: broad ? (ROW - 1 - high) / 2 : ROW - high - 1 })
  }
  const draw = ({ layout, moved, at, part, width, reference, balls }) => {
    wall.draw({ layout, at, part, width, balls })
    drawn = { cells: layout, moved, width }
    borders.forEach(drawBorder)
    set(lines.begun, { d: across((node) => moved[node.prefix], (node) => probabilities(node, {})) })
    set(lines.reference, { d: reference ? across(() => true, (node) => node.children.map((child) => child.reference)) : "" })
  }
  // Once it rests: what each cell and border is, for who goes by keyboard or ear.
  const label = (moved, named) => {
    wall.label(named)
    for (const { group, node, i } of borders) {
      set(group, { "aria-valuenow": share(i).toFixed(3), "aria-valuetext": parts(node, moved).join(", ") })
    }
  }
  // The ball passes what the answer is made of.
  const fall = (share, node) => {
    const passed = path(node)
    hide(ball, false)
    animate(900, (time) => {
      const height = time * time * (ground + FLOOR - 6)
      ball.setAttribute("cx", x(share).toFixed(1))
      ball.setAttribute("cy", height.toFixed(1))
      for (const cell of cells) cell.group.classList.toggle("passed", passed.includes(cell.node) && y(cell.node.depth) <= height)
    })
  }
  const lift = () => {
    hide(ball, true)
    for (const { group } of cells) group.classList.remove("passed")
  }
  return { root, draw, label, fall, lift }
}

const parts = (node, moved) => probabilities(node, moved).map((p, i) => WORDS.part(word(node.children[i]), shown(p, 3)))

export const mount = async (place, view = "free") => {
  await Promise.all([styled, styles("wall.css")])
  const { first } = VIEWS[view]
  const link = address("wall", { read: (sent, begin) => read(sent, begin, first), write: written })
  const begun = lay({}).get("").value, most = best()
  let state = link.read(BEGIN), looked = {}, width = 0, reached = begun
  const changed = onceAFrame(() => { draw(); link.write(state, BEGIN) })
  const alter = (change) => { state = { ...state, ...change }; changed() }
  const part = opening({ layout: () => laidOpen(state.moved, state.open), changed,
    get: () => state.open, set: (prefix) => alter({ open: prefix }) })
  const open = (node) => { wall.lift(); looked = {}; part.open(node) }
  const move = (i, share) => {
    const { node, k } = BORDERS[i]
    const others = first ? {} : state.moved // one alone is moved from where the actor has it
    wall.lift()
    alter({ drawn: 0, moved: { ...others, [node.prefix]: slide(node, others, k, share) } })
  }
  const drop = (count) => {
    const drawn = Math.min(state.drawn + count, MOST)
    if (drawn === state.drawn) return
    wall.lift()
    if (state.open) open(NODES[0])
    alter({ drawn })
    const { at, row } = draws(state).balls.at(-1)
    looked = { row }
    if (count === 1) wall.fall(at, ANSWERS[row].tokens.at(-1))
  }
  const wall = drawWall({
    look: (at) => { if (JSON.stringify(at.node?.prefix ?? at.border) !== JSON.stringify(looked.node?.prefix ?? looked.border)) { looked = at; changed() } },
    open, move,
    share: (i) => bordersOf(probabilities(BORDERS[i].node, state.moved))[BORDERS[i].k],
  })

  const goal = element("output", { class: "goal" }), change = element("span", { class: "change" }), record = element("p", { class: "hint" })
  const says = element("p", { class: "says" }), drawnSo = element("span", { class: "drawn" }), live = aloud()
  const reference = tick({ label: WORDS.reference, get: () => state.reference, set: (shown) => alter({ reference: shown }) })
  const again = () => { reached = begun; looked = {}; part.close(); wall.lift(); alter(structuredClone(BEGIN)) }
  const button = (label, act) => element("button", { type: "button", onclick: act }, label)
  const section = element("section", { class: "lab wall", "aria-label": WORDS.name },
    element("p", { class: "total" }, goal, change), ...(first ? [record] : []),
    part.trail, wall.root, says,
    element("div", { class: "answers" }, button(WORDS.drop, () => drop(1)), button(WORDS.many, () => drop(100)), drawnSo),
    ...(first ? [] : [reference.node]), live.node,
    element("div", { class: "answers" }, againButton(again), copyButton(() => python(state))))

  let labelled
  const draw = () => {
    const layout = laidOpen(state.moved, state.open), value = layout.get("").value
    const { balls, mean } = draws(state)
    wall.draw({ layout, moved: state.moved, width, reference: state.reference, balls, ...part.now() })
    reached = Math.max(reached, value)
    write(goal, `J = ${shown(value, 4)}`)
    write(change, Math.abs(value - begun) < 5e-5 ? "" : (value > begun ? "+" : "") + shown(value - begun, 4))
    change.className = `change ${value > begun ? "up" : "down"}`
    write(record, reached < begun + 5e-5 ? WORDS.try : WORDS.reached(shown(reached, 4)) + (reached > most - 5e-5 ? WORDS.most : ""))
    const { node, border, row } = looked, last = row === undefined ? null : ANSWERS[row].tokens.at(-1)
    const shownNode = last ?? node ?? nodeOf(state.open)
    write(says, border === undefined ? about(layout.get(shownNode.prefix), !first)
      : WORDS.after(text(BORDERS[border].node), parts(BORDERS[border].node, state.moved)))
    write(drawnSo, mean === null ? "" : WORDS.drawn(balls.length, shown(mean, 3)))
    live.say(`${goal.textContent} ${says.textContent} ${drawnSo.textContent}`)
    reference.update()
    part.draw(open)
    clearTimeout(labelled)
    labelled = setTimeout(() => wall.label(state.moved, !first), 150)
  }
  show(place, section)
  new ResizeObserver(() => {
    const now = section.clientWidth - 2 * parseFloat(getComputedStyle(section).paddingLeft)
    if (now <= 0 || now === width) return
    width = now
    draw()
    wall.label(state.moved, !first)
  }).observe(section)
}
