// Bias and variance: a critic's errors by hand, lambda by hand; the exact curve, and
// sampled estimates that come in beside it.
import { address, againButton, between, copyButton, cropped, draggable, element, lang, onceAFrame, show, shown, slider, styled, svg, write } from "./lab.js"
import { set } from "./drawing.js"
import { BEGIN, CRITICS, MOST, TOKENS, best, curve, drawn, estimates, moments, monteCarlo, node, placesAfter, python, read, truth, value, written } from "./variance_model.js"
import { path, sentence } from "./world.js"

const WORDS = {
  zh: {
    name: "偏差和方差", lambda: "λ", gamma: "γ",
    critics: { exact: "准的 critic", wrong: "“没”之后说 0.90", course: "课程里的 critic" },
    tokens: "看哪个 token 的优势", after: (text) => `在“${text}”之后，critic 说`, judge: (token, before) => before ? `“${before}”后的“${token}”` : `“${token}”`,
    tree: "critic 说的，左右拖动；空心的是准的。右边是 V 和它的误差。", drag: "拖动 λ",
    bias2: "偏差²", variance: "方差", mc: "MC 的方差", truth: "真值", runs: "抽样均值", exact: "精确：均值 ± 标准差", at: "第几个样本",
    sample: "接着抽", stop: "停", other: "换一批样本",
    sums: { bias: "偏差", variance: "方差", squared: "均方误差", best: "最好的 λ（圈）" },
    dots: { count: "样本数", mean: "它们的均值", spread: "它们的方差" },
    says: {
      gamma: "γ < 1：后面的得分打了折，目标变了；这里的偏差仍按 γ = 1 的优势算，所以 critic 再准也有偏差。",
      last: "λ = 1：critic 再差也没有偏差，但后面所有 token 的运气都在里面。",
      right: "critic 准：λ 取多少都没有偏差，λ = 0 噪声最小。",
      wrong: "critic 有误差：λ 小于 1，误差就成了偏差；到 1 就没有了。", lucky: "这里的误差在平均里恰好抵消，但它们仍是噪声。",
    },
  },
  en: {
    name: "Bias and variance", lambda: "λ", gamma: "γ",
    critics: { exact: "exact critic", wrong: "0.90 after \"No\"", course: "the course's critic" },
    tokens: "Whose advantage is judged", after: (text) => `What the critic says after "${text}"`, judge: (token, before) => before ? `"${token}" after "${before}"` : `"${token}"`,
    tree: "What the critic says, to be dragged left or right; hollow is exact. At the right V, and its error.", drag: "drag λ",
    bias2: "bias²", variance: "variance", mc: "Monte Carlo variance", truth: "truth", runs: "mean so far", exact: "exact ± deviation", at: "samples",
    sample: "Sample on", stop: "Stop", other: "Other samples",
    sums: { bias: "bias", variance: "variance", squared: "squared error", best: "best λ (the ring)" },
    dots: { count: "samples", mean: "their mean", spread: "their variance" },
    says: {
      gamma: "γ < 1: later scores count for less, so the goal is another one. The bias is still measured against the advantage at γ = 1; even an exact critic has some.",
      last: "λ = 1: no bias, whatever the critic; but all the luck of later tokens is in it.",
      right: "The critic is exact: no λ has a bias, and λ = 0 has the least noise.",
      wrong: "The critic errs, and below λ = 1 its errors become bias; at 1 none is left.", lucky: "These errors cancel on average here; they are noise all the same.",
    },
  },
}[lang]
const text = (prefix) => sentence(path(node(prefix)), lang)
const W = 340, H = 200, LEFT = 24, TOP = 24, LOW = 182
const HIGHEST = 0.3 // of the chart of squared errors; the variance of Monte Carlo is at most 0.25
const across = (share) => LEFT + share * (W - LEFT - 6)
const up = (share) => LOW - between(share, -1, 2) * (LOW - TOP)
const FROM = 116, TO = 250, ROW = 30 // of the rows on which the critic's values lie
const line = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("")
const SCALES = [1, 2, 4, 8, 16, 32, 64]

export const mount = async (place) => {
  await styled
  const link = address("variance", { read, write: written })
  let state = link.read(BEGIN)
  const parts = []
  const add = (part) => { parts.push(part); return part.node }
  const changed = onceAFrame(() => { draw(); link.write(state, BEGIN) })
  const alter = (change) => { state = { ...state, ...change }; changed() }
  const knob = (key, max, step) => add(slider({ label: WORDS[key], min: 0, max, step, get: () => state[key], set: (x) => alter({ [key]: x }) }))
  const same = (one, other) => placesAfter(state.token).every(({ prefix, exact }) => (one[prefix] ?? exact) === (other[prefix] ?? exact))
  const pressed = (button, is) => { parts.push({ update: () => button.setAttribute("aria-pressed", is()) }); return button }
  const critics = Object.entries(CRITICS).map(([key, says]) =>
    pressed(element("button", { type: "button", onclick: () => alter({ says: { ...says } }) }, WORDS.critics[key]), () => same(says, state.says)))
  const tokens = TOKENS.map((token) => pressed(element("button", { type: "button", onclick: () => alter({ token }) },
    WORDS.judge(node(token)[lang], node(token).depth > 1 ? text(node(token).parent.prefix) : "")), () => token === state.token))

  // What the critic says: a row for each place after the token where there is a choice.
  const rows = ["No", "Yes"].flatMap(placesAfter).map((place) => {
    const said = () => value(state, place)
    const parts = { hit: svg("rect", { class: "hit", width: W, height: ROW }), words: svg("text", { x: 0, y: 20, class: "start" }, text(place.prefix)),
      axis: svg("path", { class: "axis", d: `M${FROM} 16H${TO}` }), error: svg("path", { class: "gap" }),
      exact: svg("circle", { class: "exact", r: 5, cx: FROM + place.exact * (TO - FROM), cy: 16 }), knob: svg("circle", { class: "dot", r: 7, cy: 16 }),
      number: svg("text", { x: W, y: 20, class: "end" }) }
    const group = svg("g", { class: "place" }, ...Object.values(parts))
    draggable(group, { min: 0, max: 1, step: 0.01, label: WORDS.after(text(place.prefix)), get: said,
      set: (x) => alter({ says: { ...state.says, [place.prefix]: x } }), way: () => (TO - FROM) / W * tree.clientWidth })
    return { place, group, said, ...parts }
  })
  const tree = svg("svg", { class: "plot", role: "group", "aria-label": WORDS.tree }, ...rows.map(({ group }) => group))

  const stroke = (kind) => svg("path", { class: kind })
  const note = (x, y, words, kind = "start") => svg("text", { x, y, class: kind }, words)
  const bias2 = stroke("area bias"), noise = stroke("area noise"), total = stroke("total"), mc = stroke("plain"), here = stroke("axis")
  const dot = svg("circle", { r: 6, class: "dot" }), ring = svg("circle", { r: 8, class: "least" }), above = note(W / 2, TOP + 10, "", "")
  const plot = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "plot", "aria-hidden": "true" },
    stroke("axis"), cropped(W, TOP, LOW, bias2, noise, total), mc, here, ring, dot, above,
    svg("rect", { x: LEFT, y: 5, width: 8, height: 8, class: "area bias" }), note(LEFT + 12, 13, WORDS.bias2),
    svg("rect", { x: 84, y: 5, width: 8, height: 8, class: "area noise" }), note(96, 13, WORDS.variance),
    svg("path", { class: "plain", d: "M160 9h14" }), note(178, 13, WORDS.mc),
    note(LEFT, H - 4, "0"), note(across(1), H - 4, "1", "end"), note(across(0.5), H - 4, "λ", ""),
    ...[0, 0.1, 0.2, 0.3].map((y) => note(LEFT - 3, up(y / HIGHEST) + 3, String(y).replace("0.", "."), "end")))
  plot.querySelector(".axis").setAttribute("d", `M${LEFT} ${TOP}V${LOW}H${W}`)
  const handle = element("div", { class: "handle" }, plot)
  draggable(handle, { min: 0, max: 1, step: 0.01, label: WORDS.drag, share: (across(1) - LEFT) / W, get: () => state.lambda, set: (x) => alter({ lambda: x }) })

  const band = svg("rect", { x: LEFT, class: "range" }), middle = stroke("mean"), right = stroke("plain"), dots = stroke("dots"), running = stroke("running"), gap = stroke("gap")
  const scale = [0, 1, 2].map((i) => note(LEFT - 3, up(i / 2) + 3, "", "end"))
  const sampled = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "plot", "aria-hidden": "true" },
    band, svg("path", { class: "axis", d: `M${LEFT} ${TOP}V${LOW}H${W}` }), right, middle, dots, running, gap, ...scale,
    svg("path", { class: "plain", d: `M${LEFT} 9h14` }), note(LEFT + 18, 13, WORDS.truth),
    svg("rect", { x: 84, y: 5, width: 12, height: 8, class: "range" }), note(100, 13, WORDS.exact),
    svg("path", { class: "running", d: "M234 9h14" }), note(252, 13, WORDS.runs),
    note(LEFT, H - 4, "0"), note(across(1), H - 4, String(MOST), "end"), note(across(0.5), H - 4, WORDS.at, ""))

  // Samples come one a frame, or all at once where motion is not wanted.
  let coming = false
  const come = () => {
    if (!coming) return
    alter({ count: matchMedia("(prefers-reduced-motion: reduce)").matches ? MOST : state.count + 1 })
    coming = state.count < MOST
    if (coming) requestAnimationFrame(come)
  }
  const start = element("button", { type: "button", onclick: () => {
    coming = !coming
    if (state.count >= MOST) alter({ count: 0 })
    come()
    changed()
  } })
  const other = element("button", { type: "button", onclick: () => alter({ seed: (state.seed + 1) % 2 ** 31 }) }, WORDS.other)
  parts.push({ update: () => {
    start.textContent = coming ? WORDS.stop : WORDS.sample
    other.disabled = !state.count
  } })

  const outputs = (of) => Object.fromEntries(Object.keys(of).map((key) => [key, element("output")]))
  const listed = (of, made) => element("p", { class: "sums" }, Object.entries(of).map(([key, label]) => element("span", {}, `${label} `, made[key])))
  const sums = outputs(WORDS.sums), tally = outputs(WORDS.dots)
  const says = element("p", { class: "says", role: "status" })

  const drawTree = () => {
    const shownRows = rows.filter(({ place }) => placesAfter(state.token).includes(place))
    for (const { group } of rows) group.toggleAttribute("hidden", true)
    shownRows.forEach(({ place, group, said, error, knob, number }, i) => {
      const x = said(), at = (v) => FROM + v * (TO - FROM), off = x - place.exact
      group.removeAttribute("hidden")
      set(group, { transform: `translate(0 ${i * ROW})`, "aria-valuenow": x.toFixed(2) })
      set(knob, { cx: at(x) })
      set(error, { d: `M${at(place.exact)} 16H${at(x)}` })
      write(number, `${shown(x)} ${Math.abs(off) < 0.005 ? "" : (off > 0 ? "+" : "") + shown(off)}`)
    })
    set(tree, { viewBox: `0 0 ${W} ${shownRows.length * ROW}` })
  }

  const drawCurve = () => {
    const points = curve(state)
    const at = (of) => points.map((point) => [across(point.lambda), up(of(point) / HIGHEST)])
    const bottom = `L${across(1)} ${LOW}H${LEFT}Z`
    const squares = at(({ bias }) => bias ** 2), all = at(({ squared }) => squared)
    bias2.setAttribute("d", line(squares) + bottom)
    noise.setAttribute("d", line(all) + line([...squares].reverse()).replace("M", "L") + "Z")
    total.setAttribute("d", line(all))
    mc.setAttribute("d", `M${LEFT} ${up(monteCarlo(state.token) / HIGHEST)}H${W - 6}`)
    const least = best(points)
    set(ring, { cx: across(least.lambda), cy: up(Math.min(least.squared / HIGHEST, 1)) })
    return least
  }

  const drawSamples = (all, exactly) => {
    const picked = drawn(state).map((n) => all[n].advantage)
    const full = SCALES.find((most) => all.every(({ advantage }) => Math.abs(advantage) <= most)) ?? SCALES.at(-1)
    const y = (x) => up((x / full + 1) / 2)
    const deviation = Math.sqrt(exactly.variance)
    band.setAttribute("y", y(exactly.mean + deviation))
    band.setAttribute("height", Math.max(y(exactly.mean - deviation) - y(exactly.mean + deviation), 1))
    band.setAttribute("width", W - 6 - LEFT)
    middle.setAttribute("d", `M${LEFT} ${y(exactly.mean)}H${W - 6}`)
    right.setAttribute("d", `M${LEFT} ${y(truth(state.token))}H${W - 6}`)
    gap.setAttribute("d", `M${W - 3} ${y(exactly.mean)}V${y(truth(state.token))}`)
    const x = (i) => across((i + 1) / MOST)
    dots.setAttribute("d", picked.map((a, i) => `M${x(i).toFixed(1)} ${y(a).toFixed(1)}h0`).join(""))
    let sum = 0
    running.setAttribute("d", line(picked.map((a, i) => [x(i), y((sum += a) / (i + 1))])))
    scale.forEach((label, i) => { label.textContent = String((i - 1) * full).replace("-", "−") })
    const { mean, variance } = picked.length ? moments(picked.map((advantage) => ({ advantage, weight: 1 / picked.length })), 0) : {}
    tally.count.textContent = picked.length
    tally.mean.textContent = picked.length ? shown(mean, 3) : "–"
    tally.spread.textContent = picked.length ? shown(variance, 3) : "–"
  }

  const draw = () => {
    const all = estimates(state), exactly = moments(all, truth(state.token))
    drawTree()
    const least = drawCurve()
    drawSamples(all, exactly)
    here.setAttribute("d", `M${across(state.lambda)} ${TOP}V${LOW}`)
    dot.setAttribute("cx", across(state.lambda))
    dot.setAttribute("cy", up(Math.min(exactly.squared / HIGHEST, 1)))
    const beyond = exactly.squared > HIGHEST
    above.textContent = beyond ? `↑ ${shown(exactly.squared, 2)}` : ""
    above.setAttribute("x", between(across(state.lambda) + 24, LEFT, W - 24))
    for (const key of ["bias", "variance", "squared"]) sums[key].textContent = shown(exactly[key], 4)
    sums.best.textContent = shown(least.lambda)
    const biased = Math.abs(exactly.bias) > 1e-9
    const erring = placesAfter(state.token).some((place) => Math.abs(value(state, place) - place.exact) > 1e-9)
    says.textContent = WORDS.says[state.gamma < 1 ? "gamma" : state.lambda === 1 ? "last" : !erring ? "right" : biased ? "wrong" : "lucky"]
    handle.setAttribute("aria-valuenow", state.lambda)
    handle.setAttribute("aria-valuetext", `λ ${state.lambda}, ${Object.entries(WORDS.sums).map(([key, label]) => `${label} ${sums[key].textContent}`).join(", ")}`)
    parts.forEach(({ update }) => update())
  }

  show(place, element("section", { class: "lab variance", "aria-label": WORDS.name },
    element("div", { class: "answers", role: "group", "aria-label": WORDS.tokens }, tokens),
    element("div", { class: "answers", role: "group" }, critics),
    element("div", { class: "knobs" }, knob("lambda", 1, 0.01), knob("gamma", 1, 0.01)),
    says,
    element("div", { class: "plates" },
      element("div", {}, element("p", { class: "hint" }, WORDS.tree), tree),
      element("div", { class: "tall" }, handle, listed(WORDS.sums, sums)),
      element("div", {}, element("div", { class: "answers" }, start, other), sampled, listed(WORDS.dots, tally))),
    element("div", { class: "answers" },
      againButton(() => { coming = false; alter(structuredClone(BEGIN)) }),
      copyButton(() => python(state)))))
  draw()
}
