// The wall: all answers of the world at once. A cell is as wide as what it stands for is
// likely, its green as high as the share of the floor below it that is green. The borders
// between cells can be dragged; a cell that is tapped opens to the full width.
import { address, againButton, aloud, copyButton, draggable, element, lang, onceAFrame, show, shown, styled, styles, svg, tick, write } from "./lab.js"
import { set } from "./drawing.js"
import { BEGIN, BORDERS, MOST, NODES, VIEWS, best, bordersOf, draws, laidOpen, lay, probabilities, python, read, slide, vanished, written } from "./wall_model.js"
import { ANSWERS, EOS, LIMIT, PROMPT, path, sentence } from "./world.js"

const WORDS = {
  zh: {
    name: "一面墙：所有的回答", end: "结束", path: "展开到哪里", never: "概率为 0：", all: "全部", tree: "格子", borders: "边界",
    cut: `写满 ${LIMIT} 个 token 还没结束，`,
    root: (value) => `一个字没写：平均得 ${value} 分，这就是 J。`,
    prefix: (text, reach, value, named) => `“${text}”：写出它的概率是 ${reach}；从这里写下去，平均得 ${value} 分${named ? "，这就是 V" : ""}。`,
    answer: (text, reach, cut, score) => `“${text}”，整个回答：概率 ${reach}，${cut}得 ${score} 分。`,
    after: (text, parts) => `${text ? `“${text}”之后` : "第一个 token"}：${parts.join("，")}。`,
    part: (token, p) => `“${token}” ${p}`,
    border: (left, right, text) => `“${left}”和“${right}”之间的边界${text ? `，在“${text}”之后` : ""}`,
    drop: "掉一个球", many: "掉一百个", drawn: (n, mean) => `抽了 ${n} 个，平均 ${mean}`,
    reference: "虚线：reference 的边界",
    try: "挪一条边界，想挪多远都行。再挪另一条，前一条会自己回去。",
    reached: (value) => `到过的最高：${value}`, most: "：再没有更高的了",
  },
  en: {
    name: "The wall: all answers", end: "end", path: "What is open", never: "Probability 0:", all: "all", tree: "cells", borders: "borders",
    cut: `no end within ${LIMIT} tokens, `,
    root: (value) => `Nothing is written yet: the mean score is ${value}, and that is J.`,
    prefix: (text, reach, value, named) => `"${text}": written with probability ${reach}; the mean score from here on is ${value}${named ? ", and that is V" : ""}.`,
    answer: (text, reach, cut, score) => `"${text}", a whole answer: probability ${reach}, ${cut}score ${score}.`,
    after: (text, parts) => `${text ? `After "${text}"` : "First token"}: ${parts.join(", ")}.`,
    part: (token, p) => `"${token}" ${p}`,
    border: (left, right, text) => `The border between "${left}" and "${right}"${text ? ` after "${text}"` : ""}`,
    drop: "Drop a ball", many: "Drop 100", drawn: (n, mean) => `${n} drawn, mean ${mean}`,
    reference: "Dashed: the borders of the reference",
    try: "Move one border, as far as you like. If you move another, the first goes back.",
    reached: (value) => `Highest so far: ${value}`, most: ": nothing is higher",
  },
}[lang]

const word = (node) => node[lang] === EOS ? WORDS.end : node[lang]
const text = (node) => sentence(path(node), lang)

// Heights in pixels: the prompt and six rows of tokens, the floor, and below it what has
// been drawn.
const ROW = 42, FLOOR = 14, MARKS = 12
const y = (depth) => depth * ROW
const GROUND = y(LIMIT + 1), HEIGHT = GROUND + FLOOR + MARKS
const GRIP = 30 // pixels of a cell whose borders a pointer can take
const NEAR = 7 // pixels within which a tap finds a cell that is too narrow to hit

const hide = (node, hidden) => { if (node.hidden_ !== hidden) node.toggleAttribute("hidden", node.hidden_ = hidden) }

// How a word stands in a cell so wide and high: along it, down it, or not at all.
const wide = (letters) => [...letters].reduce((all, letter) => all + (letter > "\u2fff" ? 13 : 7.6), 0)
const lie = (letters, width, height) => {
  if (wide(letters) + 5 <= width) return "along"
  if (wide(letters) * 0.85 + 3 <= width) return "along tight"
  return width >= 15 && wide(letters) + 4 <= height ? "down" : "none"
}

const still = matchMedia("(prefers-reduced-motion: reduce)")
// Calls draw with the share of the time that has passed, until all of it has.
const animate = (time, draw) => {
  if (still.matches) return draw(1)
  const begun = performance.now()
  const step = (now) => {
    const share = Math.min(Math.max(now - begun, 0) / time, 1)
    draw(share)
    if (share < 1) requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
}

// The drawing. `look` is called with what a reader turns to, `open` with what is tapped;
// `share` and `move` are of border number i.
const drawWall = ({ look, open, share, move }) => {
  const cells = NODES.map((node) => {
    const frame = svg("rect", { class: "frame" }), letters = { word: svg("text", { class: "word" }), number: svg("text", { class: "number" }) }
    return { node, frame, ...letters, letters: svg("g", {}, ...Object.values(letters)),
      group: svg("g", { class: "cell", role: "button", tabindex: -1 }, frame) }
  })
  // All rectangles of one colour are one shape: at every frame a browser has six to place.
  const shapes = Object.fromEntries(["boxes", "green", "right", "missed", "floor right", "floor missed"]
    .map((name) => [name, svg("path", { class: name })]))
  const borders = BORDERS.map(({ node, k }, i) => {
    const parts = { hit: svg("rect", { class: "hit" }), line: svg("rect", { class: "line", x: -1, width: 2, height: ROW - 1 }), grip: svg("rect", { class: "grip", rx: 3 }) }
    const group = svg("g", { class: "border" }, ...Object.values(parts))
    const label = WORDS.border(word(node.children[k]), word(node.children[k + 1]), text(node))
    return { node, k, i, group, label, room: 0, ...parts }
  })
  const lines = { reference: svg("path", { class: "reference" }), begun: svg("path", { class: "begun" }) }
  const marks = { right: svg("path", { class: "marks right" }), missed: svg("path", { class: "marks missed" }) }
  const ball = svg("circle", { class: "ball", r: 6, hidden: "" })
  const root = svg("svg", { class: "wall", height: HEIGHT, role: "group", "aria-label": WORDS.name },
    ...Object.values(shapes),
    svg("g", { role: "group", "aria-label": WORDS.tree }, ...cells.map(({ group }) => group)),
    svg("g", { class: "letters", "aria-hidden": true }, ...cells.map(({ letters }) => letters)),
    ...Object.values(lines), ...Object.values(marks),
    svg("g", { role: "group", "aria-label": WORDS.borders }, ...borders.map(({ group }) => group)), ball)

  let drawn = { width: 0, at: 0, part: 1, cells: new Map(), reached: NODES[0] }
  const x = (share) => (share - drawn.at) / drawn.part * drawn.width
  const span = ({ at, width }) => [x(at), x(at + width)]

  // What one points at: a cell too narrow to be hit goes before the one around it.
  const pointed = ({ clientX, clientY }) => {
    const { left, top } = root.getBoundingClientRect(), px = clientX - left, py = clientY - top
    const here = NODES.map((node) => drawn.cells.get(node.prefix)).filter(({ node, width }) => {
      const row = node.children.length ? node.depth : LIMIT
      return width > 0 && py >= y(node.depth) && py < y(row + 1) + (row === LIMIT ? FLOOR + MARKS : 0)
    })
    const away = (cell) => { const [from, to] = span(cell); return Math.abs((from + to) / 2 - px) }
    const narrow = here.filter((cell) => { const [from, to] = span(cell); return to - from < 10 && away(cell) < NEAR })
    narrow.sort((one, other) => away(one) - away(other))
    return (narrow[0] ?? here.find((cell) => { const [from, to] = span(cell); return from <= px && px <= to }))?.node
  }

  let dragged = false
  root.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse" && !event.buttons) look({ node: pointed(event) ?? null })
  })
  root.addEventListener("pointerleave", () => look({}))
  root.addEventListener("click", (event) => {
    const own = event.detail === 0 && cells.find(({ group }) => group.contains(event.target))
    if (dragged) return
    const node = own ? own.node : pointed(event)
    if (node) open(node)
  })
  // Tab stops once at the cells, where arrows go through the tree, and once at the
  // borders, where up and down go to another and left and right move it.
  const reach = (all, one) => { for (const { group } of all) group.setAttribute("tabindex", group === one.group ? 0 : -1) }
  const cellOf = (node) => cells[NODES.indexOf(node)]
  for (const cell of cells) {
    const { node, group } = cell
    group.addEventListener("focus", () => { reach(cells, cell); look({ node }) })
    group.addEventListener("keydown", (event) => {
      const row = cells.filter((other) => other.node.depth === node.depth && !other.hidden)
      const at = row.indexOf(cell)
      const there = { ArrowLeft: row[at - 1], ArrowRight: row[at + 1], ArrowUp: node.parent && cellOf(node.parent),
        ArrowDown: node.children.map(cellOf).find((child) => !child.hidden) }[event.key]
      if (there) there.group.focus()
      else if (event.key === "Enter" || event.key === " ") open(node)
      else if (!event.key.startsWith("Arrow")) return
      event.preventDefault()
    })
  }
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
  reach(cells, cells[0])
  reach(borders, borders[0])

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
    const top = y(node.depth), height = (node.children.length ? y(node.depth + 1) : GROUND) - top
    const gap = width > 3 ? 1 : 0
    cell.place = { x: left, y: top, width: width - gap, height: height - 1 }
    add("boxes", rect(left, top, width - gap, height - 1))
    if (!node.children.length) {
      add(value ? "right" : "missed", rect(left, top, width - gap, height))
      add(value ? "floor right" : "floor missed", rect(left, GROUND, width - gap, FLOOR))
    } else if (value) add("green", rect(left, top + height * (1 - value), width - gap, Math.max(height * value - 1, 0)))
    const name = node.parent ? word(node) : PROMPT[lang]
    const room = Math.min(height, node.parent ? 3 * ROW : ROW), numbered = width > 32
    const how = lie(name, width, numbered && room === ROW ? ROW - 2 : room)
    const middle = left + (width - gap) / 2
    hide(letters, how === "none")
    const along = how.startsWith("along")
    hide(number, !numbered || how === "down")
    if (how !== "none") {
      write(letters, name)
      set(letters, { class: `word ${how}` })
      set(letters, along ? { x: Math.round(middle), y: top + (numbered ? 18 : 26) } : { x: Math.round(middle), y: top + 4 })
    }
    if (numbered) {
      set(number, { x: Math.round(middle), y: along ? top + 34 : top + 26 })
      write(number, node.children.length ? shown(value) : value)
    }
  }
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
  // Borders of another actor within the cells that are drawn, as one line.
  const across = (moves, where) => BORDERS.filter(({ node }) => moves(node)).map(({ node, k }) => {
    const parent = drawn.cells.get(node.prefix), [from, to] = span(parent)
    const at = x(parent.at + parent.width * bordersOf(where(node))[k])
    return parent.above || to - from < 4 || at < 0 || at > drawn.width ? "" : `M${at.toFixed(1)} ${y(node.depth + 1)}v${ROW - 1}`
  }).join("")

  const draw = ({ layout, moved, at, part, width, reference, balls }) => {
    drawn = { cells: layout, moved, at, part, width }
    set(root, { width, viewBox: `0 0 ${width} ${HEIGHT}` })
    const parts = Object.fromEntries(Object.keys(shapes).map((name) => [name, []]))
    for (const cell of cells) drawCell(cell, (name, shape) => parts[name].push(shape))
    for (const [name, shape] of Object.entries(shapes)) set(shape, { d: parts[name].join("") })
    borders.forEach(drawBorder)
    set(lines.begun, { d: across((node) => moved[node.prefix], (node) => probabilities(node, {})) })
    set(lines.reference, { d: reference ? across(() => true, (node) => node.children.map((child) => child.reference)) : "" })
    const dots = (score) => balls.filter(({ row }) => ANSWERS[row].score === score).map(({ at }) => x(at))
      .filter((at) => at >= 0 && at <= width).map((at) => `M${at.toFixed(1)} ${GROUND + FLOOR + 2}v${MARKS - 2}`).join("")
    set(marks.right, { d: dots(1) })
    set(marks.missed, { d: dots(0) })
  }
  // Once it rests: what each cell is, and its frame, for who goes by keyboard or ear.
  const label = (moved, named) => {
    for (const { node, group, frame, hidden, place } of cells) {
      set(group, { "aria-label": about(drawn.cells.get(node.prefix), named) })
      if (!hidden) set(frame, place)
    }
    for (const { group, node, i } of borders) {
      set(group, { "aria-valuenow": share(i).toFixed(3), "aria-valuetext": parts(node, moved).join(", ") })
    }
  }
  // The ball passes what the answer is made of.
  const fall = (share, node) => {
    const passed = path(node)
    hide(ball, false)
    animate(900, (time) => {
      const height = time * time * (GROUND + FLOOR - 6)
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
const about = ({ node, reach, value }, named) => {
  if (!node.parent) return WORDS.root(shown(value, 4))
  if (node.children.length) return WORDS.prefix(text(node), shown(reach, 4), shown(value, 4), named)
  return WORDS.answer(text(node), shown(reach, 4), node.en === EOS ? "" : WORDS.cut, value)
}

export const mount = async (place, view = "free") => {
  await Promise.all([styled, styles("wall.css")])
  const { first } = VIEWS[view]
  const link = address("wall", { read: (sent, begin) => read(sent, begin, first), write: written })
  const begun = lay({}).get("").value, most = best()
  let state = link.read(BEGIN), looked = {}, width = 0, reached = begun
  let from = { at: 0, part: 1 }, come = 1 // how far the drawing has come to what is open
  const nodeOf = (prefix) => NODES.find((node) => node.prefix === prefix)

  const changed = onceAFrame(() => { draw(); link.write(state, BEGIN) })
  const alter = (change) => { state = { ...state, ...change }; changed() }
  const openPart = (layout) => {
    const { at, width: part } = layout.get(state.open)
    return { at, part }
  }
  const open = (node) => {
    wall.lift()
    const to = openPart(laidOpen(state.moved, state.open))
    from = { at: from.at + (to.at - from.at) * come, part: from.part + (to.part - from.part) * come }
    come = 0
    looked = {}
    alter({ open: node.prefix === state.open && node.parent ? node.parent.prefix : node.prefix })
    animate(260, (time) => { come = 1 - (1 - time) ** 3; changed() })
  }
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
  const trail = element("nav", { class: "trail", "aria-label": WORDS.path })
  const says = element("p", { class: "says" }), drawnSo = element("span", { class: "drawn" }), live = aloud()
  const reference = tick({ label: WORDS.reference, get: () => state.reference, set: (shown) => alter({ reference: shown }) })
  const again = () => { reached = begun; looked = {}; from = { at: 0, part: 1 }; come = 1; wall.lift(); alter(structuredClone(BEGIN)) }
  const button = (label, act) => element("button", { type: "button", onclick: act }, label)
  const section = element("section", { class: "lab wall", "aria-label": WORDS.name },
    element("p", { class: "total" }, goal, change), ...(first ? [record] : []),
    trail, wall.root, says,
    element("div", { class: "answers" }, button(WORDS.drop, () => drop(1)), button(WORDS.many, () => drop(100)), drawnSo),
    ...(first ? [] : [reference.node]), live.node,
    element("div", { class: "answers" }, againButton(again), copyButton(() => python(state))))

  let trailed, labelled
  const drawTrail = () => {
    const at = nodeOf(state.open), never = vanished(at, state.moved), now = [at, ...never].map(({ prefix }) => prefix).join("/")
    if (trailed === now) return
    trailed = now
    const opens = (node) => element("button", {
      type: "button", "aria-current": node === at ? "true" : null,
      onclick: () => { if (node !== at) open(node) },
    }, node.parent ? word(node) : WORDS.all)
    trail.replaceChildren(...[NODES[0], ...path(at)].map(opens),
      ...never.length ? [element("span", { class: "never" }, WORDS.never, never.map(opens))] : [])
  }
  const draw = () => {
    const layout = laidOpen(state.moved, state.open), to = openPart(layout), value = layout.get("").value
    const { balls, mean } = draws(state)
    wall.draw({ layout, moved: state.moved, width, reference: state.reference, balls,
      at: from.at + (to.at - from.at) * come, part: from.part + (to.part - from.part) * come })
    if (come === 1) from = to
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
    drawTrail()
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
