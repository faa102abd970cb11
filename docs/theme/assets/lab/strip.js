// The strip: the words of one answer as columns, V as posts between them, TD errors as the
// steps from post to post, advantages as those steps carried back. All of it is in the unit
// of the score and has one scale. What a reader looks at lights what it is made of.
import { address, againButton, along, aloud, copyButton, draggable, element, lang, onceAFrame, show, shown, slider, styled, styles, svg, write } from "./lab.js"
import { bindFigures } from "./bound.js"
import { set } from "./drawing.js"
import { pictureButton } from "./picture.js"
import { PRESETS, VIEWS, choices, estimate, figures, meanSquare, overAnswers, python, read, values, written } from "./strip_model.js"
import { ANSWERS, EOS, sentence } from "./world.js"

const WORDS = {
  zh: {
    name: { critic: "一个回答：V、回报减 V", delta: "一个回答：V、δ", gae: "一个回答：V、δ、优势", free: "十四个回答：V、δ、优势" }, presets: "从哪个 critic 开始", critics: { course: "课程里的 critic", high: "“没”之后说 0.90", exact: "准的 critic", mean: "处处说 J" }, end: "结束", answer: "回答", score: (x) => `得分 ${x}`,
    panels: { values: "V：实心的是 critic 说的，拖得动；空心的是准的", returns: "V：critic 说的，拖得动；箭头指向得分", advantages: "Â：δ 加上 λ 乘以右边那个 token 的 Â" },
    value: (word) => word ? `写完“${word}”以后的 V` : "一个字没写时的 V",
    delta: (word) => `“${word}”的 δ`, advantage: (word) => `“${word}”的优势`,
    over: (word) => `所有以“${word}”开头的回答，各自给“${word}”的优势（圆越大越常见）`,
    mean: "平均", truth: "真值",
    verdict: (word, rival, mean, other) => mean > other
      ? `平均下来，“${word}”得 ${shown(mean)}，“${rival}”得 ${shown(other)}：actor 会更常写“${word}”。`
      : `平均下来，“${word}”得 ${shown(mean)}，“${rival}”得 ${shown(other)}：actor 会少写“${word}”。`,
    error: (text, error, least) => `${text ? `“${text}”之后，` : ""}(V − 得分)² 平均：${error}${least ? "，最小了" : ""}`,
  },
  en: {
    name: { critic: "One answer: V, and return minus V", delta: "One answer: V and δ", gae: "One answer: V, δ and the advantage", free: "Fourteen answers: V, δ and the advantage" }, presets: "Begin with this critic", critics: { course: "the course's critic", high: "0.90 after \"No\"", exact: "an exact critic", mean: "J everywhere" }, end: "end", answer: "Answer", score: (x) => `score ${x}`,
    panels: { values: "V: solid is what the critic says, to be dragged; hollow is exact", returns: "V: what the critic says, to be dragged; arrows: to the score", advantages: "Â: δ plus λ times the Â of the token to its right" },
    value: (word) => word ? `V after "${word}"` : "V before the first word",
    delta: (word) => `δ of "${word}"`, advantage: (word) => `advantage of "${word}"`,
    over: (word) => `What each answer that begins with "${word}" says of its advantage (larger is more frequent)`,
    mean: "mean", truth: "truth",
    verdict: (word, rival, mean, other) => mean > other
      ? `On average "${word}" gets ${shown(mean)} and "${rival}" ${shown(other)}: the actor will write "${word}" more often.`
      : `On average "${word}" gets ${shown(mean)} and "${rival}" ${shown(other)}: the actor will write "${word}" less often.`,
    error: (text, error, least) => `Mean of (V − score)²${text ? ` after "${text}"` : ""}: ${error}${least ? ", the least" : ""}`,
  },
}[lang]

const word = (token) => token[lang] === EOS ? WORDS.end : token[lang]

// Heights in pixels. One unit of the score is as high in every panel.
const UNIT = 92
const HEAD = 30 // below the words
const TOP = HEAD + 34 + UNIT // where V is 0
const BELOW = TOP + 44 // where the advantages begin
const ZERO = BELOW + 30 + UNIT // where an advantage is 0
const HEIGHT = ZERO + UNIT + 22
const GUTTER = 22, END = 40 // left of the first post, right of the last

const line = (name, attributes = {}) => svg("line", { class: name, ...attributes })
const text = (name, attributes = {}) => svg("text", { class: name, ...attributes })
const signed = (x) => (x > 0.004999 ? "+" : "") + shown(x)
const sign = (x) => x > 0.004999 ? "up" : x < -0.004999 ? "down" : "none"
// In an equation a negative number stands in brackets.
const term = (x) => x < -0.004999 ? `(${shown(x)})` : shown(x)

// The drawing of one answer, with its advantages or without; `toScore` has the steps lead
// to the score, and no exact values. `look` is called with what a reader turns to, `move`
// with a value that he drags.
const drawStrip = ({ name, whole, toScore, look, get, move }) => {
  const high = whole ? HEIGHT : BELOW - 20
  const slots = [0, 1, 2, 3, 4, 5]
  const part = (attributes, ...children) => svg("g", attributes, ...children)
  const posts = slots.map((t) => {
    const nodes = {
      hit: svg("rect", { class: "hit", y: HEAD, height: TOP - HEAD + 20 }), post: line("post"), exact: svg("circle", { class: "exact", r: 4, ...(toScore ? { hidden: "" } : {}) }),
      knob: svg("circle", { class: "knob", r: 7 }), number: text("number"),
    }
    const group = part({ class: "value" }, ...Object.values(nodes))
    draggable(group, { min: 0, max: 1, step: 0.01, label: "", upright: true, way: () => UNIT, get: () => get(t), set: (v) => move(t, v) })
    return { group, ...nodes }
  })
  const steps = slots.map((t) => {
    const nodes = {
      hit: svg("rect", { class: "hit", y: HEAD, height: TOP - HEAD }), tread: line("tread"), riser: svg("path", { class: "riser" }),
      number: text("number"), weight: text("weight"),
    }
    return { group: part({ class: "delta", role: "img" }, ...Object.values(nodes)), ...nodes }
  })
  const bars = slots.map((t) => {
    const nodes = {
      hit: svg("rect", { class: "hit", y: BELOW + 8, height: HEIGHT - BELOW - 8 }), own: svg("rect", { class: "own" }), back: svg("rect", { class: "back" }),
      arrow: svg("path", { class: "arrow" }), net: line("net"), number: text("number"),
    }
    return { group: part({ class: "advantage", role: "img" }, ...Object.values(nodes)), ...nodes }
  })
  const words = slots.map(() => text("word", { y: 18 }))
  const outcome = { post: line("post"), flag: svg("circle", { class: "flag", r: 7 }), number: text("number") }
  const axes = [0, 1].map((v) => part({}, line("axis", { x1: GUTTER - 6, y1: TOP - v * UNIT, y2: TOP - v * UNIT }),
    text("tick", { x: GUTTER - 8, y: TOP - v * UNIT + 4 })))
  axes.forEach((axis, v) => { axis.lastChild.textContent = v })
  const zero = line("axis", { x1: GUTTER - 6, y1: ZERO, y2: ZERO })
  const heads = [toScore ? "returns" : "values", ...(whole ? ["advantages"] : [])].map((key, i) => {
    const head = text("head", { x: 0, y: i ? BELOW + 2 : HEAD + 10 })
    head.textContent = WORDS.panels[key]
    return head
  })
  const root = svg("svg", { class: "strip", role: "group", "aria-label": name, height: high },
    ...heads, ...axes, ...words, outcome.post, outcome.flag, outcome.number,
    ...[...posts, ...steps].map(({ group }) => group))
  if (whole) root.append(zero, ...bars.map(({ group }) => group))
  for (const row of [posts, steps, bars]) along(row.map(({ group }) => group))
  for (const [kind, row] of Object.entries({ V: posts, d: steps, A: bars })) {
    row.forEach(({ group }, t) => {
      for (const event of ["pointerenter", "focus", "click"]) group.addEventListener(event, () => look({ kind, t }))
    })
  }

  const place = (width) => {
    const column = (width - GUTTER - END) / 6
    const x = (t) => GUTTER + t * column
    set(root, { width, viewBox: `0 0 ${width} ${high}` })
    for (const axis of [...axes.map((axis) => axis.firstChild), zero]) set(axis, { x2: width - 4 })
    return { x, column }
  }

  const draw = (numbers, { decay, lit, width }) => {
    const { x, column } = place(width)
    const { tokens, score, values: V, exact, deltas, gains, advantages, carried } = numbers
    const n = V.length, moved = toScore ? gains : deltas
    const height = (v) => TOP - v * UNIT
    const level = (a) => ZERO - a * UNIT
    slots.forEach((t) => {
      const there = t < n
      for (const { group } of [posts[t], steps[t], bars[t]]) group.toggleAttribute("hidden", !there)
      words[t].toggleAttribute("hidden", !there)
      if (!there) return
      write(words[t], word(tokens[t]))
      set(words[t], { x: x(t) + column / 2 })
      // A post: what is expected before the token.
      const post = posts[t]
      set(post.hit, { x: x(t) - column * 0.36, width: column * 0.72 })
      set(post.post, { x1: x(t), x2: x(t), y1: TOP, y2: height(V[t]) })
      set(post.exact, { cx: x(t), cy: height(exact[t]) })
      set(post.knob, { cx: x(t), cy: height(V[t]) })
      set(post.number, { x: x(t), y: TOP + 15 })
      write(post.number, shown(V[t]))
      // A step: how far the token moved it.
      const step = steps[t], from = height(V[t]), to = height(V[t] + moved[t]), edge = x(t + 1) - 11
      set(step.hit, { x: x(t) + column * 0.36, width: column * 0.28 })
      set(step.tread, { x1: x(t) + 8, x2: edge + 6, y1: from, y2: from })
      const barb = Math.abs(to - from) > 7 ? 6 : 0, way = Math.sign(to - from)
      const head = barb ? `M${edge - 4} ${to - way * barb}L${edge} ${to}L${edge + 4} ${to - way * barb}` : ""
      set(step.riser, { d: `M${edge} ${from}V${to}${head}` })
      set(step.group, { "data-sign": sign(moved[t]) })
      // Beside the step; above it where it would lie on the post or among its numbers.
      const beside = Math.abs(to - from) > (toScore ? 24 : 16) ? (from + to) / 2 + 4 : from + 15
      set(step.number, { x: edge - 6, y: toScore && to === TOP && TOP - from < 30 ? from - 9 : beside })
      write(step.number, signed(moved[t]))
      set(step.weight, { x: x(t) + column / 2, y: TOP + 29 })
      // A bar: the step itself, and what is carried back to it.
      const bar = bars[t], left = x(t) + column * 0.16, thick = column * 0.3
      const span = (a, b) => ({ y: Math.min(level(a), level(b)), height: Math.abs(level(a) - level(b)) })
      set(bar.hit, { x: x(t), width: column })
      set(bar.own, { x: left, width: thick, ...span(0, deltas[t]) })
      set(bar.back, { x: left + thick + 2, width: thick, ...span(deltas[t], advantages[t]) })
      set(bar.own, { "data-sign": sign(deltas[t]) })
      set(bar.back, { "data-sign": sign(carried[t]) })
      set(bar.net, { x1: left - 4, x2: left + 2 * thick + 6, y1: level(advantages[t]), y2: level(advantages[t]) })
      const below = advantages[t] < -0.004999
      set(bar.number, { x: left + thick, y: level(advantages[t]) + (below ? 16 : -6) })
      write(bar.number, signed(advantages[t]))
      const carries = t < n - 1 && Math.abs(carried[t]) > 0.004999
      bar.arrow.toggleAttribute("hidden", !carries)
      if (carries) {
        const [x1, y1] = [x(t + 1) + column * 0.16 - 6, level(advantages[t + 1])]
        const [x2, y2] = [left + 2 * thick + 4, (level(deltas[t]) + level(advantages[t])) / 2]
        set(bar.arrow, { d: `M${x1} ${y1}C${x1 - 8} ${y1} ${x2 + 8} ${y2} ${x2} ${y2}m4 -3l-4 3l4 3` })
      }
    })
    const end = x(n)
    set(outcome.post, { x1: end, x2: end, y1: TOP, y2: height(score) })
    set(outcome.flag, { cx: end, cy: height(score) })
    outcome.flag.classList.toggle("right", score === 1)
    set(outcome.number, { x: end, y: TOP + 15 })
    write(outcome.number, WORDS.score(score))
    light(numbers, decay, lit)
  }

  const light = ({ deltas }, decay, { kind, t }) => {
    const n = deltas.length
    slots.forEach((s) => {
      const weight = kind === "A" && s >= t ? decay ** (s - t) : 0
      const in_ = {
        V: kind === "V" ? s === t : kind === "d" ? s === t || (!toScore && s === t + 1) : false,
        d: kind === "d" ? s === t : weight > 0,
        A: kind === "A" && (s === t || s === t + 1),
      }
      posts[s].group.classList.toggle("lit", in_.V)
      steps[s].group.classList.toggle("lit", in_.d)
      bars[s].group.classList.toggle("lit", in_.A)
      bars[s].group.classList.toggle("at", kind === "A" && s === t)
      set(steps[s].group, { opacity: whole ? (0.35 + 0.65 * (in_.d ? weight || 1 : 0.15)).toFixed(2) : 1 })
      write(steps[s].weight, kind === "A" && s >= t && s < n ? `×${shown(weight)}` : "")
    })
    outcome.flag.classList.toggle("lit", kind === "d" && (toScore || t === n - 1))
  }
  const label = ({ tokens, values: V, deltas, gains, advantages }) => {
    tokens.forEach((token, t) => {
      set(posts[t].group, { "aria-label": WORDS.value(t ? word(tokens[t - 1]) : ""), "aria-valuenow": V[t].toFixed(2) })
      set(steps[t].group, { "aria-label": toScore ? `${WORDS.advantage(word(token))} ${shown(gains[t])}` : `${WORDS.delta(word(token))} ${shown(deltas[t])}` })
      set(bars[t].group, { "aria-label": `${WORDS.advantage(word(token))} ${shown(advantages[t])}` })
    })
  }
  return { root, draw, label }
}

// What a reader looks at, with its numbers put in.
const SUB = "₀₁₂₃₄₅"
const equation = ({ score, values: V, deltas, gains, advantages }, { gamma, lambda }, { kind, t }, toScore) => {
  const last = t === V.length - 1
  if (kind === "V") return `V(s${SUB[t]}) = ${shown(V[t])}`
  if (toScore) return `G${SUB[t]} − V(s${SUB[t]}) = ${score} − ${term(V[t])} = ${shown(gains[t])}`
  if (kind === "d") {
    return last ? `δ${SUB[t]} = ${WORDS.score("")}− V(s${SUB[t]}) = ${score} − ${term(V[t])} = ${shown(deltas[t])}`
      : `δ${SUB[t]} = ${gamma < 1 ? "γ " : ""}V(s${SUB[t + 1]}) − V(s${SUB[t]}) = ${gamma < 1 ? `${shown(gamma)} × ` : ""}${shown(V[t + 1])} − ${term(V[t])} = ${shown(deltas[t])}`
  }
  return last ? `Â${SUB[t]} = δ${SUB[t]} = ${shown(advantages[t])}`
    : `Â${SUB[t]} = δ${SUB[t]} + ${gamma < 1 ? "γ" : ""}λ Â${SUB[t + 1]} = ${shown(deltas[t])} + ${gamma < 1 ? `${shown(gamma)} × ` : ""}${shown(lambda)} × ${term(advantages[t + 1])} = ${shown(advantages[t])}`
}

// How far off the value before a token is, over all answers that go through it.
const miss = (answer, t, { tokens, values: V, exact }) => WORDS.error(sentence(tokens.slice(0, t), lang),
  shown(meanSquare(answer, t, V[t]), 4), Math.abs(V[t] - exact[t]) < 0.005001)

// One token's advantage over all answers that begin with it, on one line.
const drawOver = () => {
  const H = 96, AXIS = 58, [LOW, HIGH] = [-1, 1]
  const dots = [0, 1, 2, 3, 4].map(() => svg("circle", { class: "dot" }))
  const axis = line("axis", { y1: AXIS, y2: AXIS }), zero = line("zero", { y1: 22, y2: AXIS + 12 })
  const mean = svg("path", { class: "mean" }), truth = line("truth", { y1: AXIS - 16, y2: AXIS + 16 }), rival = line("rival", { y1: 20, y2: AXIS + 14 })
  const names = { mean: text("number"), truth: text("soft", { y: AXIS + 30 }), rival: text("soft", { y: 14 }) }
  const root = svg("svg", { class: "over", height: H, role: "img" }, axis, zero, ...dots, truth, rival, mean, ...Object.values(names))
  const draw = (own, other, rivalWord, width) => {
    const x = (a) => 12 + (a - LOW) / (HIGH - LOW) * (width - 24)
    set(root, { width, viewBox: `0 0 ${width} ${H}` })
    set(axis, { x1: 12, x2: width - 12 })
    set(zero, { x1: x(0), x2: x(0) })
    dots.forEach((dot, i) => {
      dot.toggleAttribute("hidden", !own.each[i])
      if (own.each[i]) set(dot, { cx: x(own.each[i].advantage), cy: AXIS, r: Math.max(2.5, 17 * Math.sqrt(own.each[i].weight)) })
    })
    for (const [node, at] of [[truth, own.truth], [rival, other.mean]]) set(node, { x1: x(at), x2: x(at) })
    set(mean, { d: `M${x(own.mean)} ${AXIS - 22}V${AXIS + 22}` })
    set(names.mean, { x: x(own.mean), y: AXIS - 27 })
    set(names.truth, { x: x(own.truth) })
    set(names.rival, { x: x(other.mean) })
    set(root, { "aria-label": `${WORDS.mean} ${shown(own.mean)}, ${WORDS.truth} ${shown(own.truth)}, ${rivalWord} ${shown(other.mean)}` })
    write(names.mean, `${WORDS.mean} ${shown(own.mean)}`)
    write(names.truth, `${WORDS.truth} ${shown(own.truth)}`)
    write(names.rival, `${rivalWord} ${shown(other.mean)}`)
  }
  return { root, draw }
}

export const mount = async (place, view = "gae") => {
  await Promise.all([styled, styles("strip.css")])
  const { begin, atFirst, first, toScore, section: text, all } = VIEWS[view], rows = choices(VIEWS[view])
  const link = address("strip", { read: (sent, begin) => read(sent, begin, VIEWS[view]), write: written })
  let state = link.read(begin)
  let lit = atFirst, width = 0
  const changed = onceAFrame(() => { draw(); link.write(state, begin) })
  const alter = (change) => { state = { ...state, ...change }; changed() }
  const strip = drawStrip({
    name: WORDS.name[view], whole: Boolean(first), toScore,
    look: (at) => { lit = at; changed() },
    get: (t) => values(state.answer, state)[t],
    move: (t, v) => alter({ says: { ...state.says, [ANSWERS[state.answer].before[t].prefix]: v } }),
  })
  const lambda = slider({ label: "λ", min: 0, max: 1, step: 0.01, get: () => state.lambda, set: (x) => alter({ lambda: x }) })
  const gamma = all && slider({ label: "γ", min: 0, max: 1, step: 0.01, get: () => state.gamma, set: (x) => alter({ gamma: x }) })
  const critics = all ? Object.keys(PRESETS).map((key) => element("button", { type: "button", onclick: () => alter(structuredClone(PRESETS[key])) }, WORDS.critics[key])) : []
  const inText = bindFigures(text, { lam: {
    min: 0, max: 1, step: 0.01, label: "λ", get: () => state.lambda, set: (x) => alter({ lambda: x }) } })
  const chips = rows.map((row) => element("button", { type: "button", class: all && (ANSWERS[row].score ? "right" : "missed"), onclick: () => { lit = atFirst; alter({ answer: row }) } }, sentence(ANSWERS[row].tokens, lang)))
  const says = element("p", { class: "equation" }), verdict = element("p", { class: "says" }), live = aloud()
  const words = first?.map((en) => word(ANSWERS.find(({ tokens }) => tokens[0].en === en).tokens[0]))
  const over = first && drawOver()
  const section = element("section", { class: "lab strip", "aria-label": WORDS.name[view] },
    element("div", { class: "answers", role: "group", "aria-label": WORDS.answer }, chips),
    all ? element("div", { class: "answers", role: "group", "aria-label": WORDS.presets }, critics) : [],
    strip.root, says,
    first ? [lambda.node, gamma ? gamma.node : [], element("p", { class: "head" }, WORDS.over(words[0])), over.root] : [], first || toScore ? verdict : [], live.node,
    element("div", { class: "answers" }, againButton(() => { lit = atFirst; alter(structuredClone(begin)) }), copyButton(() => python(state)),
      pictureButton(() => first ? [strip.root, over.root] : [strip.root], () => [says.textContent, verdict.textContent])))
  const draw = () => {
    const numbers = estimate(state)
    lit = { ...lit, t: Math.min(lit.t, numbers.values.length - 1) }
    strip.draw(numbers, { decay: state.gamma * state.lambda, lit, width })
    strip.label(numbers)
    write(says, equation(numbers, state, lit, toScore))
    if (toScore) write(verdict, miss(state.answer, lit.t, numbers))
    if (first) {
      const [own, other] = first.map((en) => overAnswers(en, state))
      over.draw(own, other, words[1], width)
      write(verdict, WORDS.verdict(...words, own.mean, other.mean))
    }
    live.say(`${says.textContent} ${verdict.textContent}`)
    chips.forEach((chip, i) => chip.setAttribute("aria-pressed", rows[i] === state.answer))
    critics.forEach((button, i) => {
      const { critic, says } = Object.values(PRESETS)[i]
      button.setAttribute("aria-pressed", critic === state.critic && JSON.stringify(says) === JSON.stringify(state.says))
    })
    gamma?.update?.()
    lambda.update()
    inText(figures(state, begin))
  }
  show(place, section)
  new ResizeObserver(() => {
    const now = strip.root.parentElement.clientWidth - 2 * parseFloat(getComputedStyle(section).paddingLeft)
    if (now > 0 && now !== width) { width = now; draw() }
  }).observe(section)
}
