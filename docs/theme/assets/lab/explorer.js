// The step explorer: two answers of six tokens, every number of a PPO step as a bar.
import { address, againButton, aloud, between, choice, copyButton, cutNote, draggable, drawBar, dualClip, element, lang, onceAFrame, scaleFor, show, shown, slider, styled, tick, write } from "./lab.js"
import { BUGS, PRESETS, VIEWS, compute, python } from "./explorer_model.js"

const WORDS = {
  zh: {
    name: "逐 token 实验", preset: "从哪里开始", answer: "回答", token: "token", bugs: "弄坏它",
    fit: "训完一轮：V 变成 R", total: "合计",
    heads: { inputs: ["a₀", "a₁", "工具", "工具", "a₄", "a₅"], slot_after_eos: ["a₀", "a₁", "a₂", "EOS", "pad", "pad"] },
    answers: { why_sum_deltas: ["写 1, 1", "写 1, 0"] },
    drag: "带 ↔ 的格子可以左右拖，也可以用方向键。", mask: "点“算”那一行，决定哪个 token 算数。",
    presets: { batch: "教程的两个回答（第一个出自对话 002）", verl: "verl 0.9.1、0.7.1、0.4.0 的默认值", old_verl: "verl 0.3.0 的默认值",
      three: "对话 004 的三个 token", one: "对话 001 那一行：它印的 return 没有 γ、λ 算得出", fit: "对话 001 的一个价值：0.8，目标 0.95" }, changed: "你改过的",
    rows: { mask: "算", score: "得分 s", kl: "KL", rewards: "奖励 r", values: "价值 V", deltas: "TD error δ", advantages: "优势 A",
      returns: "目标 R", used: "给 actor 的 A", ratios: "ratio ρ", losses: "loss", pushes: "概率往" },
    knobs: { gamma: "γ", lambda: "λ", beta: "β（KL 的系数）", low: "裁剪：往下", high: "裁剪：往上", dual: "dual clip（0 为关）", white: "白化" },
    sums: { loss: "策略 loss", valueLoss: "价值 loss", clipfrac: "被裁剪的比例", ppoKl: "新旧 KL", steps: "这次更新的步数" },
    bug: { "": "没有弄坏", values: "V 晚了一格", log_probs: "log-prob 晚了一格", padding: "白化没带 mask", score: "得分放在行尾",
      reference: "reference 的权重不对", engine: "旧 log-prob 来自另一个引擎", returns: "目标用了另一个 λ", targets: "目标也被白化了",
      split: "每个回答先平均，再平均", steps: "每个 micro-batch 更新一步" },
    fires: "抓住它的断言：", asserts: { values: "values[:, t] 没读过第 t 个 token", "log-probs": "log_probs[:, t] 属于第 t 个 token", padding: "padding 不影响任何优势", score: "得分在最后一个有效 token 上", kl: "第零步 KL 为零", ratio: "第一个 mini-batch 的 ratio 为一", "return-to-go": "优势加价值等于此后的回报", targets: "更新期间目标不变", gradient: "梯度与怎么切 micro-batch 无关", steps: "每个 mini-batch 一步" },
    late: "每格换成了右边那一格的。行里最后一格右边没有，留着自己的。", both: "两个回答合在一起：",
  },
  en: {
    name: "Step explorer", preset: "Begin with", answer: "answer", token: "token", bugs: "Break it",
    fit: "Fit one round: V becomes R", total: "sum",
    heads: { inputs: ["a₀", "a₁", "tool", "tool", "a₄", "a₅"], slot_after_eos: ["a₀", "a₁", "a₂", "EOS", "pad", "pad"] },
    answers: { why_sum_deltas: ["1, 1 is written", "1, 0 is written"] },
    drag: "Drag the cells marked ↔ left and right, or use the arrow keys. ", mask: "In the row “counts”, click a token to leave it out or take it in.",
    presets: { batch: "the course's two answers, the first of dialogue 002", verl: "defaults of verl 0.9.1, 0.7.1, 0.4.0", old_verl: "defaults of verl 0.3.0",
      three: "three tokens of dialogue 004", one: "the row of dialogue 001: no γ, λ gives the returns it prints", fit: "one value of dialogue 001: 0.8, its target 0.95" }, changed: "changed by you",
    rows: { mask: "counts", score: "score s", kl: "KL", rewards: "reward r", values: "value V", deltas: "TD error δ", advantages: "advantage A",
      returns: "target R", used: "A for the actor", ratios: "ratio ρ", losses: "loss", pushes: "push" },
    knobs: { gamma: "γ", lambda: "λ", beta: "β, price of KL", low: "clip below", high: "clip above", dual: "dual clip, 0 for off", white: "whiten" },
    sums: { loss: "policy loss", valueLoss: "value loss", clipfrac: "clip fraction", ppoKl: "KL, old to new", steps: "steps of this update" },
    bug: { "": "nothing is broken", values: "V one slot late", log_probs: "log-probs one slot late", padding: "whitened without the mask",
      score: "score at the end of the row", reference: "reference has other weights", engine: "old log-probs of another engine",
      returns: "targets with another λ", targets: "targets whitened too", split: "a mean per answer, then their mean", steps: "a step per micro-batch" },
    fires: "The assert that fires: ", asserts: { values: "values[:, t] has not read token t", "log-probs": "log_probs[:, t] belongs to token t", padding: "Padding changes no advantage", score: "The score is on the last valid token", kl: "KL is zero at step zero", ratio: "The ratio is one in the first mini-batch", "return-to-go": "A plus V is the return to go", targets: "Targets stay fixed during the update", gradient: "The gradient does not depend on the split", steps: "One optimizer step per mini-batch" },
    late: "Each slot has got what belongs to the one at its right. The last slot of the row has none there and keeps its own.", both: "Both answers together:",
  },
}[lang]

// From top to bottom. What is in the unit of the score has one scale, at least ±1. Of any
// other row `full` is what a full bar stands for; without it its largest number decides.
// `drag` names what is moved, between `least` and `most`.
const ROWS = [
  { key: "score", of: "tokenScores", inScore: true, drag: "scores", least: -1, most: 1 },
  { key: "kl", drag: "kl", least: -1, most: 1 },
  { key: "rewards", inScore: true },
  { key: "values", inScore: true, drag: "values", least: -1, most: 1 },
  { key: "deltas", inScore: true },
  { key: "advantages", inScore: true },
  { key: "returns", inScore: true },
  { key: "used" },
  { key: "ratios", full: 1, zero: 1, drag: "ratios", least: 0.05, most: 3 },
  { key: "losses" },
  { key: "pushes" },
]
const KNOBS = [["gamma", 0, 1, 0.01], ["lambda", 0, 1, 0.01], ["beta", 0, 0.5, 0.001], ["low", 0, 0.9, 0.05], ["high", 0, 1, 0.05], ["dual", 0, 5, 0.5]]
// The whole of it; a view shows less.
const WHOLE = {
  begin: PRESETS.batch, rows: ["mask", ...ROWS.map(({ key }) => key)], knobs: [...KNOBS.map(([key]) => key), "white"],
  sums: Object.keys(WORDS.sums), answers: 2, choices: true,
}
const SUMMED = ["score", "kl", "rewards", "deltas", "advantages"]

export const mount = async (place, name) => {
  await styled
  const { begin, rows, knobs, sums: named = [], slots = 6, answers: several = 1, digits, total, fit, choices } = { ...WHOLE, ...name && { sums: [], answers: 1, choices: false }, ...VIEWS[name] }
  // Four digits need the room of the zero before the point.
  const places = (key) => digits?.[key] ?? (digits > 0 ? digits : 2)
  const number = (x, key) => places(key) < 4 ? shown(x, places(key)) : shown(x, places(key)).replace(/^(−?)0\./, "$1.")
  const link = address("explorer")
  const copy = (x) => JSON.parse(JSON.stringify(x))
  const first = { preset: "batch", ...begin }
  let state = link.read(copy(first))
  if (!Object.hasOwn(PRESETS, state.preset)) state.preset = "batch"
  if (!Object.hasOwn(WORDS.bug, state.bug)) state.bug = ""
  if (!state.mask.every((row) => row.some(Boolean))) state.mask = copy(begin.mask)
  state.answer = several === 1 ? begin.answer : state.answer === 1 ? 1 : 0
  for (const [key, least, most] of KNOBS) state[key] = between(state[key], least, most)
  state.dual = dualClip(state.dual)
  for (const { drag, least, most } of ROWS) {
    if (drag && drag !== "scores") state[drag] = state[drag].map((row) => row.map((x) => between(x, least, most)))
  }

  // Chosen and then changed, it is none of them any more; so the same can be chosen again.
  const chosen = () => {
    const { answer, bug, ...begun } = PRESETS[state.preset]
    const kept = Object.keys(begun).every((key) => JSON.stringify(state[key]) === JSON.stringify(begun[key]))
    return kept ? state.preset : "changed"
  }

  const parts = []
  const add = (part) => { parts.push(part); return part.node }
  const changed = onceAFrame(() => { draw(); link.write(state, first) })
  const knob = (key) => ({ label: WORDS.knobs[key], get: () => state[key], set: (x) => { state[key] = key === "dual" ? dualClip(x) : x; changed() } })
  const button = (text, onclick) => element("button", { type: "button", onclick: () => { onclick(); changed() } }, text)

  const controls = element("div", { class: "knobs" },
    choices ? [
      add(choice({ label: WORDS.preset, options: [...Object.entries(WORDS.presets), ["changed", WORDS.changed, true]], get: chosen,
        set: (preset) => { state = { preset, ...copy(PRESETS[preset]), answer: state.answer }; changed() } })),
      add(choice({ label: WORDS.bugs, options: Object.entries(WORDS.bug), get: () => state.bug, set: (bug) => { state.bug = bug; changed() } })),
    ] : [],
    KNOBS.filter(([key]) => knobs.includes(key)).map(([key, min, max, step]) => add(slider({ ...knob(key), min, max, step }))),
    knobs.includes("white") ? add(tick(knob("white"))) : [])

  const answers = [0, 1].map((i) => button(WORDS.answers[name]?.[i] ?? `${WORDS.answer} ${i}`, () => { state.answer = i }))
  parts.push({ update: () => answers.forEach((button, i) => button.setAttribute("aria-pressed", state.answer === i)) })

  const tokens = Array.from({ length: slots }, (_, t) => t)
  const masks = tokens.map((t) => element("button", {
    type: "button", class: "counts", "aria-label": `${WORDS.rows.mask}, ${WORDS.token} ${t}`,
    onclick: () => {
      const row = state.mask[state.answer]
      if (row[t] && row.filter(Boolean).length === 1) return // one must stay
      row[t] = !row[t]
      changed()
    },
  }))
  const heads = element("tr", {}, element("th", { scope: "col" }, WORDS.token),
    tokens.map((t) => element("th", { scope: "col" }, WORDS.heads[name]?.[t] ?? t)), total ? element("th", { scope: "col" }, WORDS.total) : [])
  const body = [], cells = new Map(), scales = {}, totals = {}
  if (rows.includes("mask")) body.push(element("tr", {}, element("th", { scope: "row" }, WORDS.rows.mask), masks.map((button) => element("td", {}, button)), total ? element("td") : []))
  const drawn = ROWS.filter(({ key }) => rows.includes(key))
  for (const { key, drag, least, most } of drawn) {
    const line = tokens.map((t) => {
      const handle = element("span", { class: "bar" })
      if (drag) {
        draggable(handle, {
          min: least, max: most, step: 0.01, label: `${WORDS.rows[key]}, ${WORDS.token} ${t}`,
          get: () => drag === "scores" ? state.scores[state.answer] : state[drag][state.answer][t],
          set: (x) => {
            if (drag === "scores") state.scores[state.answer] = x
            else state[drag][state.answer][t] = x
            changed()
          },
        })
      }
      return handle
    })
    cells.set(key, line)
    body.push(element("tr", { class: key }, element("th", { scope: "row" }, WORDS.rows[key], drag ? " ↔" : "", scales[key] = element("small", { class: "scale" })),
      line.map((handle) => element("td", {}, handle)),
      total ? element("td", { class: "total" }, SUMMED.includes(key) ? totals[key] = element("output") : "") : []))
  }

  const sums = Object.fromEntries(named.map((key) => [key, element("output")]))
  const fires = element("p", { class: "fires" })
  const asserts = new URL("../../debug/asserts/", import.meta.url)

  // What all the rest leads to: the advantages, or else the last row that is no input.
  const outcome = rows.includes("advantages") ? "advantages" : drawn.findLast(({ drag }) => !drag).key
  const live = aloud()
  const follows = () => [
    `${WORDS.rows[outcome]}: ${cells.get(outcome).map(({ textContent }) => textContent).filter(Boolean).join(", ")}`,
    ...total ? [`${WORDS.total} ${totals[outcome].textContent}`] : [],
    ...sums.loss ? [`${WORDS.sums.loss} ${sums.loss.textContent}`] : [],
    ...state.bug ? [fires.textContent] : [],
  ].join("; ")

  // Only what changed is written: most of a frame's time is the page's, not the sums'.
  const before = new Map()
  const draw = () => {
    const numbers = compute(state)
    const row = state.mask[state.answer]
    const last = row.lastIndexOf(true)
    const largest = (of) => Math.max(...numbers[of].flatMap((line, i) => line.map((x, t) => state.mask[i][t] ? Math.abs(x) : 0)))
    const score = Math.max(1, ...drawn.filter(({ inScore }) => inScore).map(({ key, of = key }) => largest(of)))
    for (const { key, of = key, full: fixed, inScore, zero = 0, drag } of drawn) {
      const full = fixed ?? scaleFor(inScore ? score : largest(of))
      write(scales[key], `${zero || ""}±${full}`)
      if (totals[key]) write(totals[key], number(numbers[of][state.answer].reduce((sum, x, t) => row[t] ? sum + x : sum, 0), key))
      cells.get(key).forEach((cell, t) => {
        const x = numbers[of][state.answer][t], counts = row[t]
        const movable = Boolean(drag && counts && (drag !== "scores" || t === last))
        const length = counts ? x - zero : 0
        const text = !counts ? "" : key !== "pushes" ? number(x, key)
          : x ? `${x > 0 ? "↑" : "↓"}${number(Math.abs(x), key)}` : "0"
        const flat = (key === "losses" || key === "pushes") && counts && !numbers.pushes[state.answer][t]
        const value = drag && (drag === "scores" ? state.scores[state.answer] : state[drag][state.answer][t])
        const now = [length, full, text, flat, movable, value].join()
        if (before.get(cell) === now) return
        before.set(cell, now)
        drawBar(cell, length, full)
        cell.textContent = text
        cell.classList.toggle("out", !counts)
        cell.classList.toggle("flat", flat)
        if (drag) {
          cell.classList.toggle("drag", movable)
          cell.tabIndex = movable ? 0 : -1
          cell.setAttribute("aria-disabled", !movable)
          cell.setAttribute("aria-valuenow", value)
        }
      })
    }
    masks.forEach((button, t) => {
      if (button.getAttribute("aria-pressed") === String(row[t])) return
      button.setAttribute("aria-pressed", row[t])
      button.textContent = row[t] ? "●" : "○"
    })
    for (const [key, output] of Object.entries(sums)) write(output, key === "steps" ? numbers.steps : shown(numbers[key], 3))
    const bug = BUGS[state.bug]
    if (before.get(fires) !== state.bug) {
      before.set(fires, state.bug)
      fires.replaceChildren(...bug
        ? [WORDS.fires, element("a", { href: `${asserts}#assert-${bug.assert}` }, WORDS.asserts[bug.assert]),
          state.bug === "values" || state.bug === "log_probs" ? element("small", {}, ` ${WORDS.late}`) : ""] : [])
    }
    parts.forEach(({ update }) => update())
    live.say(follows())
  }

  const fitted = () => {
    const { returns } = compute(state)
    state.values[state.answer] = returns[state.answer].map((x) => Number(x.toFixed(6)))
  }
  show(place, element("section", { class: "lab", "aria-label": WORDS.name },
    controls, choices ? fires : [],
    several > 1 ? element("div", { class: "answers", role: "group", "aria-label": WORDS.answer }, answers) : [],
    fit ? element("div", { class: "answers" }, button(WORDS.fit, fitted)) : [],
    element("table", { class: "rows" }, element("thead", {}, heads), element("tbody", {}, body)),
    named.length ? element("p", { class: "sums" }, WORDS.both, named.map((key) => element("span", {}, `${WORDS.sums[key]} `, sums[key]))) : [],
    element("p", { class: "hint" }, WORDS.drag, rows.includes("mask") ? WORDS.mask : ""),
    add(cutNote()), live.node,
    element("div", { class: "answers" }, againButton(() => { state = copy(first); changed() }), copyButton(() => python(state)))), name)
  draw()
}
