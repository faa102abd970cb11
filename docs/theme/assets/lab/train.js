// The wall while the actor is trained: its borders after so many updates, where they began
// dashed, and beneath it what becomes of J. Every scene has its own batch or goal.
import { address, againButton, aloud, copyButton, element, lang, onceAFrame, show, shown, slider, styled, styles, svg, tick, write } from "./lab.js"
import { about, drawCells, hide, nodeOf, opening, text, word } from "./cells.js"
import { NODES, lay } from "./cells_model.js"
import { set } from "./drawing.js"
import { pictureButton } from "./picture.js"
import { ACTOR, BASES, BATCHES, BETAS, EPSILON, LONG, PROXY, REFERENCE, SCENES, TRUE, answersOf, edgeAt, entropyOf, meanOf, movedBy, promisedOf, read, sampler, sharesOf, stopAt, tokenWeight, updatesAt, walk, written } from "./train_model.js"
import { ANSWERS, sentence } from "./world.js"

const answer = (row) => sentence(ANSWERS[row].tokens, lang)
const first = word(ANSWERS[0].tokens[0])
const signed = (x, digits = 4) => (x > 0.5 * 10 ** -digits ? "+" : "") + shown(x, digits)
const { WORDS } = await import(`./train_${lang}.js`)

const ROW = 42, LOW_ROW = 34, MARKS = 12, CURVES = 112 // heights in pixels
const PAD = 8 // half of a slider's thumb: a stop lies above its place in the curves

const quoted = (node) => WORDS.token("", word(node))
const token = (node) => WORDS.token(text(node.parent), word(node))
const four = (x) => shown(x, 4)
let peak
const best = () => {
  if (!peak) {
    const scores = walk("leash", { beta: 0 }).map((logs) => meanOf(logs)), most = Math.max(...scores)
    peak = { most, at: scores.indexOf(most) }
  }
  return peak
}

// Curves over the stops of the slider, whose marker they share; the heights that they lie
// between are written where a corner is free.
const drawCurves = ({ scene, ticks, low, high, free, classes, move }) => {
  const top = 8, bottom = CURVES - 20
  const paths = classes.map((name) => svg("path", { class: `curve ${name}` })), dots = classes.map((name) => svg("circle", { class: name, r: 4 }))
  const marker = svg("path", { class: "marker" }), grid = svg("path", { class: "grid" }), level0 = svg("path", { class: "level0" })
  const levels = [low, high].map((level, i) => ({ level, right: free[i] === "right", node: svg("text", { class: `at-${free[i]}` }) }))
  const names = ticks.map((n) => ({ n, node: svg("text", { class: "tick" }) }))
  const root = svg("svg", { class: "curves", height: CURVES, role: "img" }, grid, level0, ...paths, marker, ...dots,
    ...[...levels, ...names].map(({ node }) => node))
  let drawn
  const y = (value) => bottom - (value - low) / (high - low) * (bottom - top)
  const x = (stop) => PAD + stop / scene.stops * (drawn - 2 * PAD)
  root.addEventListener("click", (event) => move(Math.round((event.clientX - root.getBoundingClientRect().left - PAD) / (drawn - 2 * PAD) * scene.stops)))
  const draw = ({ width, stop, lines }) => {
    drawn = width
    set(root, { width, viewBox: `0 0 ${width} ${CURVES}` })
    set(grid, { d: [low, high].map((level) => `M0 ${y(level)}H${width}`).join("") })
    for (const { level, right, node } of levels) { set(node, { x: right ? width : 0, y: y(level) + (level === low ? -3 : 11) }); write(node, level) }
    names.forEach(({ n, node }, i) => { set(node, { x: Math.min(Math.max(x(stopAt(scene, n)), i ? 0 : 4), width - 4), y: CURVES - 4 }); write(node, n) })
    lines.forEach((values, i) => {
      set(paths[i], { d: values ? values.map((value, s) => `${s ? "L" : "M"}${x(s).toFixed(1)} ${y(value).toFixed(1)}`).join("") : "" })
      hide(dots[i], !values)
      if (values) set(dots[i], { cx: x(stop), cy: y(values[stop]) })
    })
    const start = lines.find(Boolean)[0]
    set(level0, { d: `M${PAD} ${y(start).toFixed(1)}H${width - PAD}` })
    set(marker, { d: `M${x(stop).toFixed(1)} ${top - 6}V${bottom}` })
  }
  return { root, draw }
}

// By stop, once, as far as it is asked for: what the curves show of a way.
const kept = new Map()
const along = (name, state, what, of, last = SCENES[name].stops) => {
  const key = [name, state.clip, state.beta, what].join()
  if (!kept.has(key)) kept.set(key, [])
  const values = kept.get(key)
  while (values.length <= last) {
    const n = updatesAt(SCENES[name], values.length)
    values.push(of(walk(name, state, n)[n]))
  }
  return values
}

// What is special about each scene: which actor is shown, what is said, which curves.
const trained = (name) => (state) => walk(name, state, state.n)[state.n]
const ratioOf = (logs, edge) => Math.exp(logs[edge] - ACTOR[edge])
const saidOfRatio = (node, logs) => {
  const edge = edgeAt(node)
  return WORDS.ratio(token(node), four(Math.exp(logs[edge])), four(Math.exp(ACTOR[edge])), shown(ratioOf(logs, edge), 3))
}
const saidOfMove = (begun) => (node, logs) => {
  const edge = edgeAt(node)
  return WORDS.moved(token(node), four(Math.exp(logs[edge])), four(Math.exp(begun[edge])))
}
const goalJ = ({ logs }) => ({ goal: `J = ${four(meanOf(logs))}`, value: meanOf(logs), from: meanOf(ACTOR) })
const VIEWS = {
  ratio: {
    actor: trained("ratio"), begun: ACTOR, goal: goalJ, look: "No",
    curves: { low: 0.82, high: 0.84, free: ["right", "left"], ticks: [0, 1, 2, 3, 4, 5], names: ["true", "promised"],
      lines: (state) => [along("ratio", state, "J", meanOf), along("ratio", state, "promised", promisedOf)] },
    said: saidOfRatio, wide: true,
    says: ({ logs, state }) => WORDS.promise(state.n, four(meanOf(logs)), four(promisedOf(logs))),
  },
  clip: {
    actor: trained("clip"), begun: ACTOR, goal: goalJ,
    curves: { low: 0.6, high: 0.85, free: ["left", "right"], ticks: [0, 20, 40, 60, 80, 100], names: ["plain", "clipped"],
      lines: () => [false, true].map((clip) => along("clip", { clip }, "J", meanOf)) },
    said: saidOfRatio,
    says: ({ logs, state }) => WORDS.ratios(state.n, ANSWERS[8].tokens.map((node) => {
      const ratio = ratioOf(logs, edgeAt(node))
      return `${quoted(node)} ${shown(ratio, 2)}${state.clip && ratio < 1 - EPSILON ? ` ${WORDS.out}` : ""}`
    })),
    ticks: ANSWERS[8].tokens,
  },
  leash: {
    actor: trained("leash"), begun: REFERENCE,
    goal: ({ logs, state }) => state.stopped < 0 ? { goal: WORDS.proxy(shown(meanOf(logs, PROXY), 3)) }
      : { goal: `J = ${four(meanOf(logs))}`, value: meanOf(logs), from: meanOf(REFERENCE) },
    frozen: ({ stopped }) => stopped < 0,
    curves: { low: 0, high: 2, free: ["left", "left"], ticks: [0, 100, 300, 700, 1500], names: ["score", "proxy"],
      // Until a reader stops, there is no true score and no future.
      lines: (state) => {
        const stopped = state.stopped >= 0, here = stopAt(SCENES.leash, state.n)
        const proxy = along("leash", state, "proxy", (logs) => meanOf(logs, PROXY), stopped ? undefined : here)
        return stopped ? [along("leash", state, "J", meanOf), proxy] : [null, proxy.slice(0, here + 1)]
      } },
    said: saidOfMove(REFERENCE),
    says: ({ logs, state: { n, stopped } }) => {
      if (stopped < 0) return WORDS.unstopped(n, shown(meanOf(logs, PROXY), 3))
      const there = walk("leash", { beta: 0 })[stopped], { most, at } = best()
      return WORDS.stopped(stopped, shown(meanOf(there, PROXY), 3), shown(meanOf(there), 3), shown(most, 3), at) + WORDS.long(answer(LONG), four(answersOf(logs)[LONG]))
    },
  },
  entropy: {
    actor: trained("entropy"), begun: ACTOR, goal: goalJ,
    curves: { low: 0, high: 1, free: ["left", "left"], ticks: [0, 20, 100, 250, 500], names: ["J", "others", "entropy"],
      lines: (state) => [along("entropy", state, "J", meanOf), along("entropy", state, "others", (logs) => sharesOf(logs).others), along("entropy", state, "entropy", entropyOf)] },
    said: saidOfMove(ACTOR),
    says: ({ logs, state }) => {
      const { first, others } = sharesOf(logs)
      return WORDS.shares(state.n, four(meanOf(logs)), answer(0), four(first), four(others), four(entropyOf(logs)))
    },
  },
  sampling: {
    actor: sampler, begun: ACTOR,
    goal: ({ logs }) => ({ goal: WORDS.log(shown(meanOf(logs), 3)), value: meanOf(logs), from: meanOf(ACTOR) }),
    said: (node, logs) => {
      const edge = edgeAt(node), q = Math.exp(logs[edge]), p = Math.exp(ACTOR[edge])
      return WORDS.weight(token(node), four(q), four(p), q ? shown(p / q, 3) : null)
    },
    says: ({ logs }) => WORDS.sampled(shown(meanOf(logs), 3), shown(meanOf(ACTOR), 3), shown(tokenWeight(logs), 3)),
  },
  push: {
    actor: () => ACTOR, begun: ACTOR,
    goal: ({ pushed, batches: { TRUTH } }) => ({ goal: WORDS.yes(first, signed(pushed[0])), note: WORDS.truth(signed(TRUTH[0])) }),
    said: (node, _, { pushed, batches: { TRUTH } }) => WORDS.pushes(token(node), signed(pushed[edgeAt(node)]), signed(TRUTH[edgeAt(node)])),
    says: ({ state, rows, batches: { baseline, downsOf } }) => WORDS.pushed(first, rows.filter((row) => TRUE[row]).length, shown(baseline(rows, state.base), state.base === "0" ? 0 : 3), state.batch, ...downsOf(state.base)[state.batch - 1]),
    arrows: true,
  },
}
VIEWS.baseline = VIEWS.push

const chips = (label, options, get, choose) => {
  const buttons = options.map(([value, name]) => element("button", { type: "button", onclick: () => choose(value) }, name))
  return {
    node: element("div", { class: "chips", role: "group", "aria-label": label }, element("span", {}, label), buttons),
    update: () => options.forEach(([value], i) => buttons[i].setAttribute("aria-pressed", value === get())),
  }
}

const code = () => import("./train_python.js")

export const mount = async (place, name = "clip") => {
  await Promise.all([styled, styles("wall.css"), styles("train.css")])
  const scene = SCENES[name], view = VIEWS[name], begin = scene.begin
  const batches = view.arrows && await import("./train_push.js")
  const link = address("train", { read: (sent) => read(sent, scene), write: written })
  let state = link.read(begin), width = 0, looked = view.look ? { node: nodeOf(view.look) } : {}, playing = 0
  const changed = onceAFrame(() => { draw(); link.write(state, begin) })
  const alter = (change) => { state = { ...state, ...change }; changed() }
  const shownLogs = () => view.frozen?.(state) ? view.begun : view.actor(state)
  const part = opening({ layout: () => layout, changed, get: () => state.open, set: (open) => alter({ open }) })
  const open = (node) => { looked = node.parent ? { node } : {}; part.open(node) }
  let layout = lay(movedBy(shownLogs()))

  const row = view.curves ? LOW_ROW : ROW // a wall, its slider and its curves are seen at once
  const wall = drawCells({ name: WORDS.names[name], row, below: view.arrows ? MARKS : 0, open,
    look: (at) => { if (at.node !== looked.node) { looked = at; changed() } } })
  const dashed = svg("path", { class: "begun" }), bounds = svg("path", { class: "bounds" })
  const arrows = { batch: svg("path", { class: "arrows batch" }), truth: svg("path", { class: "arrows truth" }) }
  wall.root.append(dashed, bounds, ...Object.values(arrows))

  const stop = () => stopAt(scene, state.n)
  const go = (to) => alter({ n: updatesAt(scene, Math.min(Math.max(to, 0), scene.stops)) })
  const updates = slider({ label: WORDS.updates, min: 0, max: scene.stops, step: 1, get: stop, text: () => state.n,
    set: (to) => { pause(); go(to) } })
  updates.node.classList.add("updates")
  const button = (label, act) => element("button", { type: "button", onclick: act }, label)
  const pause = () => { playing = 0; write(playButton, WORDS.play) }
  const play = () => {
    if (playing) return pause()
    const from = stop() === scene.stops ? 0 : stop(), begun = performance.now(), run = playing = begun
    const each = Math.max(6000 / scene.stops, 60)
    write(playButton, WORDS.pause)
    const step = (now) => {
      if (playing !== run) return
      const to = from + Math.floor(Math.max(now - begun, 0) / each)
      if (to !== stop()) go(to)
      if (to >= scene.stops) pause()
      else requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
  }
  const playButton = button(WORDS.play, play)
  const curves = view.curves && drawCurves({ scene, ...view.curves, classes: view.curves.names, move: (to) => { pause(); go(to) } })
  const keys = view.curves?.names.map((line) => ({ line, node: element("span", { class: line }), number: element("output") }))
  for (const { line, node, number } of keys ?? []) node.append(WORDS.lines[line], " ", number)

  const goal = element("output", { class: "goal" }), change = element("span", { class: "change" })
  const says = element("p", { class: "says" }), live = aloud()
  const knob = (label, key, min, max) => slider({ label, min, max, step: 0.01, get: () => state[key], set: (x) => alter({ [key]: x }) })
  const stopButton = button(WORDS.stop, () => { pause(); alter({ stopped: state.n }); playButton.focus({ preventScroll: true }) })
  // One stops without a leash; only then is there one to try.
  const onceStopped = ({ node, update }) => ({ node, update: () => { node.inert = state.stopped < 0; update() } })
  const controls = {
    clip: () => [tick({ label: WORDS.clip, get: () => state.clip, set: (clip) => alter({ clip }) })],
    leash: () => [{ node: stopButton, update: () => { stopButton.hidden = state.stopped >= 0 } },
      onceStopped(chips(WORDS.beta, BETAS.map((beta) => [beta, beta]), () => state.beta, (beta) => alter({ beta })))],
    sampling: () => [knob(WORDS.temperature, "temperature", 0.5, 1.5), knob(WORDS.topP, "topP", 0.8, 1)],
    push: () => [chips(WORDS.base, BASES.map((base) => [base, WORDS.bases[base]]), () => state.base, (base) => alter({ base })),
      ...[[WORDS.again, 1], [WORDS.many, 100]].map(([label, count]) => ({ node: button(label, () => more(count)), update: () => {} }))],
  }
  controls.baseline = controls.push
  const more = (count) => alter({ batch: state.batch + count > BATCHES ? 1 : state.batch + count })
  const own = controls[name]?.() ?? []
  const again = () => { pause(); looked = view.look ? { node: nodeOf(view.look) } : {}; part.close(); alter({ ...begin }) }
  const section = element("section", { class: `lab wall train ${name}`, "aria-label": WORDS.names[name] },
    element("p", { class: "total" }, goal, change), part.trail, wall.root,
    view.arrows ? element("p", { class: "hint" }, WORDS.arrows) : [],
    curves ? [updates.node, curves.root, element("p", { class: "key" }, keys.map(({ node }) => node))] : [], says,
    element("div", { class: "run" }, curves ? playButton : [], own.map(({ node }) => node)), live.node,
    element("div", { class: "answers" }, againButton(again), copyButton(async () => (await code()).python(name, state)),
      pictureButton(() => curves ? [wall.root, curves.root] : [wall.root], () => [`${goal.textContent} ${change.textContent}`, ...(keys ? [keys.map(({ node }) => node.textContent).join(", ")] : []), says.textContent])))

  // Where the borders of a place would stand, were they pushed: a move of logits from the
  // one side of a border to the other.
  const arrowsOf = (gradient, at) => NODES.filter(({ children }) => children.length > 1).flatMap((node) => {
    const cell = layout.get(node.prefix), [from, to] = wall.span(cell)
    let moved = 0, right = cell.at
    return node.children.slice(0, -1).map((child) => {
      moved += gradient[edgeAt(child)]
      right += layout.get(child.prefix).width
      const x = wall.x(right), long = Math.sign(moved) * Math.min(Math.abs(moved) * 700, 40)
      if (to - from < 12 || x < 0 || x > width || Math.abs(long) < 2) return ""
      const y = wall.y(node.depth + 1) + row * at, end = Math.min(Math.max(x + long, 1), width - 1), barb = Math.sign(long) * Math.min(4, Math.abs(long))
      return `M${x.toFixed(1)} ${y}H${end.toFixed(1)}m${-barb} -3.5l${barb} 3.5l${-barb} 3.5`
    })
  }).join("")
  // How far the token's own border may go before the clip holds it: from where its cell
  // begins, or, where it is the last, from where it ends.
  const boundsOf = (tokens) => tokens.flatMap((node) => {
    const family = node.parent.children, parent = layout.get(node.parent.prefix), old = Math.exp(ACTOR[edgeAt(node)])
    const { at, width: wide } = layout.get(node.prefix)
    return [1 - EPSILON, 1 + EPSILON].filter((bound) => bound * old < 1).map((bound) => {
      const share = bound * old * parent.width, x = wall.x(node === family.at(-1) ? at + wide - share : at + share)
      const y = wall.y(node.depth)
      return x < 0 || x > width ? "" : `M${x.toFixed(1)} ${y}v7M${x.toFixed(1)} ${y + row - 1}v-7`
    })
  }).join("")

  let labelled
  const draw = () => {
    const logs = view.actor(state), rows = batches?.batchesUntil(state.batch).at(-1), pushed = batches?.push(rows, state.base)
    const now = { logs, state, rows, pushed, batches }
    layout = lay(movedBy(shownLogs()))
    const ends = rows && rows.map((row) => { const { at, width } = layout.get(ANSWERS[row].tokens.at(-1).prefix); return { at: at + width / 2, row } })
    wall.draw({ layout, width, balls: ends || [], ...part.now() })
    set(dashed, { d: rows ? "" : wall.across(() => true, (node) => node.children.map((child) => Math.exp(view.begun[edgeAt(child)]))) })
    set(bounds, { d: view.ticks ? boundsOf(view.ticks) : "" })
    if (rows) {
      set(arrows.batch, { d: arrowsOf(pushed, 0.11) })
      set(arrows.truth, { d: arrowsOf(batches.TRUTH, 0.89) })
    }
    if (curves) {
      const lines = view.curves.lines(state)
      curves.draw({ width, stop: stop(), lines })
      keys.forEach(({ number, node }, i) => { write(number, lines[i] ? shown(lines[i][stop()], 4) : "?"); node.classList.toggle("now", name !== "clip" || Boolean(i) === state.clip) })
      updates.update()
    }
    const { goal: large, value, from, note } = view.goal(now)
    write(goal, large)
    write(change, note ?? (value === undefined || Math.abs(value - from) < 5e-5 ? "" : signed(value - from)))
    goal.className = `goal ${note ? pushed[0] > 0 ? "up" : "down" : ""}`
    change.className = `change ${note ? "" : value > from ? "up" : "down"}`
    const { node } = looked
    write(says, view.frozen?.(state) ? `${view.says(now)} ${WORDS.frozen}`
      : node?.parent?.children.length > 1 ? view.said(node, logs, now) + (view.wide ? WORDS.wide(four(answered(view.begun, node)), four(layout.get(node.prefix).width)) : "")
      : node?.parent ? about(layout.get(node.prefix), true) : view.says(now))
    live.say(`${goal.textContent} ${says.textContent}`)
    for (const { update } of own) update()
    part.draw(open)
    clearTimeout(labelled)
    labelled = setTimeout(() => wall.label(true), 150)
    curves?.root.setAttribute("aria-label", `${WORDS.curve}: ${keys.map(({ node }) => node.textContent).join(", ")}`)
  }
  const answered = (logs, node) => node.parent ? Math.exp(logs[edgeAt(node)]) * answered(logs, node.parent) : 1
  for (const sign of ["pointerenter", "focusin"]) section.addEventListener(sign, code, { once: true })
  show(place, section, place.matches("p"))
  new ResizeObserver(() => {
    const now = section.clientWidth - 2 * parseFloat(getComputedStyle(section).paddingLeft)
    if (now <= 0 || now === width) return
    width = now
    draw()
    wall.label(true)
  }).observe(section)
}
