// Bias and variance: a critic's errors by hand, lambda by hand; the exact curve, and
// sampled estimates that come in beside it.
import { address, againButton, between, copyButton, cropped, cutNote, draggable, drawBar, element, lang, onceAFrame, shown, slider, styled, svg } from "./lab.js"
import { ANSWERS, BEGIN, PREFIXES, SWAY, best, curve, drawn, errors, estimates, exact, moments, monteCarlo, python, score, truth } from "./variance_model.js"

const WORDS = {
  zh: {
    name: "偏差和方差", lambda: "λ", gamma: "γ", times: "误差放大到几倍",
    critics: { exact: "准的 critic", noisy: "有误差", junk: "乱猜" }, score: "再写 0 / 1，得分",
    cell: (prefix) => `critic 在前缀 ${prefix || "（空）"} 处的误差`, held: "准", judge: (prefix) => `${prefix.at(-1)}：看 ${prefix} 的最后一个 token 的优势`,
    tree: "左右拖动格子，改 critic 在那里的误差；灰色小字是准确的 V。点 0 或 1，换一个 token 来看它的优势。", drag: "拖动 λ",
    bias2: "偏差²", variance: "方差", mc: "MC 的方差", truth: "真值", runs: "抽样均值", exact: "精确：均值 ± 标准差", at: "第几个样本",
    sample: "开始抽样", stop: "停", other: "换一批样本",
    sums: { bias: "偏差", variance: "方差", squared: "均方误差", best: "最好的 λ" },
    dots: { count: "样本数", mean: "它们的均值", spread: "它们的方差" },
    says: {
      gamma: "γ < 1：后面的得分打了折，目标变了；这里的偏差仍按 γ = 1 的优势算，所以 critic 再准也有偏差。",
      last: "λ = 1：critic 再差也没有偏差，但后面所有 token 的运气都在里面。",
      right: "critic 准：λ 取多少都没有偏差，λ = 0 噪声最小。",
      wrong: "critic 有误差：λ 小于 1，误差就成了偏差；到 1 就没有了。", lucky: "这里的误差在平均里恰好抵消，但它们仍是噪声。",
    },
  },
  en: {
    name: "Bias and variance", lambda: "λ", gamma: "γ", times: "errors times",
    critics: { exact: "exact critic", noisy: "noisy", junk: "junk" }, score: "score after 0 / 1",
    cell: (prefix) => `the critic's error at prefix ${prefix || "(none)"}`, held: "exact", judge: (prefix) => `${prefix.at(-1)}: judge the last token of ${prefix}`,
    tree: "Drag a cell left or right: that is the critic's error there; the small grey number is the exact V. Press a 0 or 1 to judge that token's advantage instead.", drag: "drag λ",
    bias2: "bias²", variance: "variance", mc: "Monte Carlo variance", truth: "truth", runs: "mean so far", exact: "exact ± deviation", at: "samples",
    sample: "Sample", stop: "Stop", other: "Other samples",
    sums: { bias: "bias", variance: "variance", squared: "squared error", best: "best λ" },
    dots: { count: "samples", mean: "their mean", spread: "their variance" },
    says: {
      gamma: "γ < 1: later scores count for less, so the goal is another one. The bias is still measured against the advantage at γ = 1; even an exact critic has some.",
      last: "λ = 1: no bias, whatever the critic; but all the luck of later tokens is in it.",
      right: "The critic is exact: no λ has a bias, and λ = 0 has the least noise.",
      wrong: "The critic errs, and below λ = 1 its errors become bias; at 1 none is left.", lucky: "These errors cancel on average here; they are noise all the same.",
    },
  },
}[lang]
const MOST = 200 // samples
const W = 340, H = 200, LEFT = 24, TOP = 24, LOW = 182
const HIGHEST = 0.5 // of the chart of squared errors; the variance of Monte Carlo is at most half of it
const across = (share) => LEFT + share * (W - LEFT - 6)
const up = (share) => LOW - between(share, -1, 2) * (LOW - TOP)
const line = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("")
const SCALES = [1, 2, 4, 8, 16, 32, 64]

export const mount = async (place) => {
  await styled
  const link = address("variance")
  const begin = { ...BEGIN, error: [...SWAY] }
  const state = link.read({ ...begin, error: [...SWAY] })
  if (!PREFIXES.includes(state.token) || !state.token) state.token = BEGIN.token
  for (const [key, most] of Object.entries({ lambda: 1, gamma: 1, times: 16, seed: 2 ** 31, count: MOST })) state[key] = between(state[key], 0, most)
  state.error = state.error.map((x) => between(x, -1, 1))
  for (const key of ["seed", "count"]) state[key] = Math.round(state[key])

  const parts = []
  const add = (part) => { parts.push(part); return part.node }
  const changed = onceAFrame(() => { draw(); link.write(state, begin) })
  const knob = (key, max, step) => add(slider({ label: WORDS[key], min: 0, max, step, get: () => state[key], set: (x) => { state[key] = x; changed() } }))
  const critic = (times) => { state.error = [...SWAY]; state.times = times; changed() }
  const critics = Object.entries({ exact: 0, noisy: 1, junk: 16 }).map(([name, times]) => {
    const button = element("button", { type: "button", onclick: () => critic(times) }, WORDS.critics[name])
    parts.push({ update: () => button.setAttribute("aria-pressed", state.times === times && (!times || state.error.every((x, i) => x === SWAY[i]))) })
    return button
  })

  // The tree: a column for each number of tokens written, a cell for each prefix.
  const chips = {}, cells = {}
  const cell = (prefix, i) => {
    const bar = cells[prefix] = element("span", { class: "bar" })
    draggable(bar, {
      min: -1, max: 1, step: 0.01, label: WORDS.cell(prefix), get: () => state.times && state.error[i],
      set: (x) => {
        if (!state.times) Object.assign(state, { error: SWAY.map(() => 0), times: 1 }) // from what is shown
        state.error[i] = x
        changed()
      } })
    const chip = prefix && (chips[prefix] = element("button", { type: "button", class: "chip", "aria-label": WORDS.judge(prefix),
      onclick: () => { state.token = prefix; changed() } }, prefix.at(-1)))
    return element("td", { rowspan: 2 ** (3 - prefix.length) }, element("div", { class: "node" },
      element("span", { class: "side" }, chip || "", element("small", {}, shown(exact(prefix)))), bar))
  }
  const rows = PREFIXES.filter((prefix) => prefix.length === 3).map((leaf, row) => element("tr", {},
    PREFIXES.flatMap((prefix, i) => leaf.startsWith(prefix) && row % 2 ** (3 - prefix.length) === 0 ? [cell(prefix, i)] : []),
    element("td", { class: "score" }, ANSWERS.filter((answer) => answer.startsWith(leaf)).map(score).join(" / "))))
  const tree = element("table", { class: "rows tree" },
    element("thead", {}, element("tr", {}, ["V(s₀)", "V(s₁)", "V(s₂)", "V(s₃)"].map((head) => element("th", { scope: "col" }, head)),
      element("th", { scope: "col" }, WORDS.score))),
    element("tbody", {}, rows))

  const path = (kind) => svg("path", { class: kind })
  const text = (x, y, words, kind = "start") => svg("text", { x, y, class: kind }, words)
  const bias2 = path("area bias"), noise = path("area noise"), total = path("total"), mc = path("plain"), here = path("axis")
  const dot = svg("circle", { r: 6, class: "dot" }), above = text(W / 2, TOP + 10, "", "")
  const plot = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "plot", "aria-hidden": "true" },
    path("axis"), cropped(W, TOP, LOW, bias2, noise, total), mc, here, dot, above,
    svg("rect", { x: LEFT, y: 5, width: 8, height: 8, class: "area bias" }), text(LEFT + 12, 13, WORDS.bias2),
    svg("rect", { x: 84, y: 5, width: 8, height: 8, class: "area noise" }), text(96, 13, WORDS.variance),
    svg("path", { class: "plain", d: "M160 9h14" }), text(178, 13, WORDS.mc),
    text(LEFT, H - 4, "0"), text(across(1), H - 4, "1", "end"), text(across(0.5), H - 4, "λ", ""),
    ...[0, 0.25, 0.5].map((y) => text(LEFT - 3, up(y / HIGHEST) + 3, String(y).replace("0.", "."), "end")))
  plot.querySelector(".axis").setAttribute("d", `M${LEFT} ${TOP}V${LOW}H${W}`)
  const handle = element("div", { class: "handle" }, plot)
  draggable(handle, { min: 0, max: 1, step: 0.01, label: WORDS.drag, share: (across(1) - LEFT) / W, get: () => state.lambda, set: (x) => { state.lambda = x; changed() } })

  const band = svg("rect", { x: LEFT, class: "range" }), middle = path("mean"), right = path("plain"), dots = path("dots"), running = path("running"), gap = path("gap")
  const scale = [0, 1, 2].map((i) => text(LEFT - 3, up(i / 2) + 3, "", "end"))
  const sampled = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "plot", "aria-hidden": "true" },
    band, svg("path", { class: "axis", d: `M${LEFT} ${TOP}V${LOW}H${W}` }), right, middle, dots, running, gap, ...scale,
    svg("path", { class: "plain", d: `M${LEFT} 9h14` }), text(LEFT + 18, 13, WORDS.truth),
    svg("rect", { x: 84, y: 5, width: 12, height: 8, class: "range" }), text(100, 13, WORDS.exact),
    svg("path", { class: "running", d: "M234 9h14" }), text(252, 13, WORDS.runs),
    text(LEFT, H - 4, "0"), text(across(1), H - 4, String(MOST), "end"), text(across(0.5), H - 4, WORDS.at, ""))

  // Samples come one a frame, or all at once where motion is not wanted.
  let coming = false
  const come = () => {
    if (!coming) return
    state.count = matchMedia("(prefers-reduced-motion: reduce)").matches ? MOST : state.count + 1
    coming = state.count < MOST
    changed()
    if (coming) requestAnimationFrame(come)
  }
  const start = element("button", { type: "button", onclick: () => {
    coming = !coming
    if (state.count >= MOST) state.count = 0
    come()
    changed()
  } })
  const other = element("button", { type: "button", onclick: () => { state.seed = (state.seed + 1) % 2 ** 31; changed() } }, WORDS.other)
  parts.push({ update: () => {
    start.textContent = coming ? WORDS.stop : WORDS.sample
    other.disabled = !state.count
  } })

  const outputs = (of) => Object.fromEntries(Object.keys(of).map((key) => [key, element("output")]))
  const listed = (of, made) => element("p", { class: "sums" }, Object.entries(of).map(([key, label]) => element("span", {}, `${label} `, made[key])))
  const sums = outputs(WORDS.sums), tally = outputs(WORDS.dots)
  const says = element("p", { class: "says", role: "status" })

  const drawTree = () => {
    const off = errors(state)
    const before = state.token.slice(0, -1)
    PREFIXES.forEach((prefix, i) => {
      const bar = cells[prefix]
      const held = prefix === before, counts = prefix.startsWith(state.token)
      const text = held ? WORDS.held : (off[i] >= 0 ? "+" : "") + shown(off[i])
      drawBar(bar, off[i], 1)
      if (bar.textContent !== text) bar.textContent = text
      bar.classList.toggle("drag", counts)
      bar.closest("td").classList.toggle("aside", !counts && !held)
      bar.tabIndex = counts ? 0 : -1
      bar.setAttribute("aria-disabled", !counts)
      bar.setAttribute("aria-valuenow", state.times && state.error[i])
      bar.setAttribute("aria-valuetext", text)
      chips[prefix]?.setAttribute("aria-pressed", prefix === state.token)
    })
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
    return best(points)
  }

  const drawSamples = (all, exactly) => {
    const picked = drawn(state).map((n) => all[n])
    const full = SCALES.find((most) => all.every((x) => Math.abs(x) <= most)) ?? SCALES.at(-1)
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
    const { mean, variance } = picked.length ? moments(picked, 0) : {}
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
    const erring = errors(state).some((x, i) => x && PREFIXES[i].startsWith(state.token))
    says.textContent = WORDS.says[state.gamma < 1 ? "gamma" : state.lambda === 1 ? "last" : !erring ? "right" : biased ? "wrong" : "lucky"]
    handle.setAttribute("aria-valuenow", state.lambda)
    handle.setAttribute("aria-valuetext", `λ ${state.lambda}, ${Object.entries(WORDS.sums).map(([key, label]) => `${label} ${sums[key].textContent}`).join(", ")}`)
    parts.forEach(({ update }) => update())
  }

  place.replaceChildren(element("section", { class: "lab variance", "aria-label": WORDS.name },
    element("div", { class: "answers", role: "group" }, critics),
    element("div", { class: "knobs" }, knob("lambda", 1, 0.01), knob("times", 16, 0.25), knob("gamma", 1, 0.01)),
    says,
    element("div", { class: "plates" },
      element("div", {}, element("p", { class: "hint" }, WORDS.tree), tree, add(cutNote())),
      element("div", {}, handle, listed(WORDS.sums, sums),
        element("div", { class: "answers" }, start, other), sampled, listed(WORDS.dots, tally))),
    element("div", { class: "answers" },
      againButton(() => { coming = false; Object.assign(state, { ...begin, error: [...SWAY] }); changed() }),
      copyButton(() => python(state)))))
  draw()
}
