// Four tokens at one position: what the actor and the reference give them, and the KL that
// is measured when somebody samples.
import { address, againButton, between, copyButton, cutNote, draggable, drawBar, element, lang, onceAFrame, show, shown, slider, styled, write } from "./lab.js"
import { BEGIN, measured, moved, python } from "./kl_model.js"

const WORDS = {
  zh: { name: "一个位置上的四个 token", token: "token", temperature: "采样的温度",
    rows: { actor: "actor", ref: "reference", kld: "kld", sampled: "被采到", area: "被采到 × kld" },
    sums: { below: "采到负的 kld 的概率", mean: "kld（k1）的均值", k2: "k2 的均值", k3: "k3 的均值" },
    says: { own: "actor 自己采：单个 kld 可以是负的，均值不会。", other: "采样的分布不是算 log-prob 的分布：均值可以是负的。" } },
  en: { name: "Four tokens at one position", token: "token", temperature: "sampled at temperature",
    rows: { actor: "actor", ref: "reference", kld: "kld", sampled: "sampled", area: "sampled × kld" },
    sums: { below: "chance of a negative kld", mean: "mean of kld (k1)", k2: "mean of k2", k3: "mean of k3" },
    says: { own: "The actor samples: a single kld may be negative, their mean is not.", other: "What sampled is not what the log-probs are of: the mean may be negative." } },
}[lang]
const FULL = { actor: 1, ref: 1, kld: 2, sampled: 1, area: 0.5 }
const DRAGGED = ["actor", "ref"]

export const mount = async (place, view) => {
  await styled
  const link = address("kl")
  const copy = (x) => JSON.parse(JSON.stringify(x))
  const state = link.read(copy(BEGIN))
  for (const key of DRAGGED) {
    const all = state[key].map((x) => between(x, 0.001, 0.999)), sum = all.reduce((a, b) => a + b)
    state[key] = Math.abs(sum - 1) < 1e-4 ? all : all.map((x) => x / sum)
  }
  state.temperature = between(state.temperature, 0.25, 4)
  const changed = onceAFrame(() => { draw(); link.write(state, BEGIN) })
  const heat = slider({ label: WORDS.temperature, min: 0.25, max: 4, step: 0.05, get: () => state.temperature, set: (x) => { state.temperature = x; changed() } })
  const cells = Object.fromEntries(Object.keys(FULL).map((key) => [key, BEGIN.actor.map((_, i) => {
    const cell = element("span", { class: "bar" })
    if (DRAGGED.includes(key)) {
      draggable(cell, { min: 0.01, max: 0.97, step: 0.01, label: `${WORDS.rows[key]}, ${WORDS.token} ${i}`,
        get: () => state[key][i], set: (x) => { state[key] = moved(state[key], i, x); changed() } })
    }
    return cell
  })]))
  const sums = Object.fromEntries(Object.keys(WORDS.sums).map((key) => [key, element("output")]))
  const says = element("p", { class: "says", role: "status" }), cut = cutNote()
  const draw = () => {
    const numbers = measured(state)
    for (const [key, line] of Object.entries(cells)) {
      line.forEach((cell, i) => {
        const x = numbers[key][i]
        drawBar(cell, x, FULL[key])
        write(cell, shown(x))
        if (DRAGGED.includes(key)) cell.setAttribute("aria-valuenow", x.toFixed(2))
      })
    }
    for (const [key, output] of Object.entries(sums)) write(output, shown(numbers[key], 3))
    write(says, WORDS.says[state.temperature === 1 ? "own" : "other"])
    heat.update()
    cut.update()
  }
  show(place, element("section", { class: "lab", "aria-label": WORDS.name },
    element("div", { class: "knobs" }, heat.node), says,
    element("table", { class: "rows" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, WORDS.token), BEGIN.actor.map((_, i) => element("th", { scope: "col" }, i)))),
      element("tbody", {}, Object.keys(FULL).map((key) => element("tr", { class: key },
        element("th", { scope: "row" }, WORDS.rows[key], DRAGGED.includes(key) ? " ↔" : "",
          element("small", { class: "scale" }, `±${FULL[key]}`)), cells[key].map((cell) => element("td", {}, cell)))))),
    element("p", { class: "sums" }, Object.entries(WORDS.sums).map(([key, label]) => element("span", {}, `${label} `, sums[key]))),
    cut.node,
    element("div", { class: "answers" },
      againButton(() => { Object.assign(state, copy(BEGIN)); changed() }),
      copyButton(() => python(state)))), view)
  draw()
}
