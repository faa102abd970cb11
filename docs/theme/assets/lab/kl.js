// A few tokens at one position: what the actor and the reference give them, and the KL that
// is measured when somebody samples.
import { address, againButton, copyButton, cutNote, draggable, drawBar, element, lang, onceAFrame, show, shown, slider, styled, write } from "./lab.js"
import { BEGIN, SETS, begin, measured, moved, python, read, written } from "./kl_model.js"
import { ROOT } from "./world.js"

const WORDS = {
  zh: { name: "一个位置上的几个 token", sets: { four: "四个 token", first: "课程里的第一个 token" }, token: "token", temperature: "采样的温度",
    rows: { actor: "actor", ref: "reference", kld: "kld", sampled: "被采到", area: "被采到 × kld" },
    sums: { below: "采到负的 kld 的概率", mean: "kld（k1）的均值", k2: "k2 的均值", k3: "k3 的均值" },
    says: { own: "actor 自己采：单个 kld 可以是负的，均值不会。", other: "采样的分布不是算 log-prob 的分布：均值可以是负的。" } },
  en: { name: "A few tokens at one position", sets: { four: "four tokens", first: "the course's first token" }, token: "token", temperature: "sampled at temperature",
    rows: { actor: "actor", ref: "reference", kld: "kld", sampled: "sampled", area: "sampled × kld" },
    sums: { below: "chance of a negative kld", mean: "mean of kld (k1)", k2: "mean of k2", k3: "mean of k3" },
    says: { own: "The actor samples: a single kld may be negative, their mean is not.", other: "What sampled is not what the log-probs are of: the mean may be negative." } },
}[lang]
const KEYS = ["actor", "ref", "kld", "sampled", "area"]
const FULL = { four: { kld: 2, area: 0.5 }, first: { kld: 1, area: 0.1 } } // the others: 1
const HEADS = { four: [0, 1, 2, 3], first: ROOT.children.map((token) => token[lang]) }
const DRAGGED = ["actor", "ref"]

export const mount = async (place, view) => {
  await styled
  const link = address("kl", { read, write: written })
  let state = link.read(begin("four"))
  const changed = onceAFrame(() => { draw(); link.write(state, BEGIN) })
  const heat = slider({ label: WORDS.temperature, min: 0.25, max: 4, step: 0.05, get: () => state.temperature, set: (x) => { state.temperature = x; changed() } })
  const choose = (set) => { state = begin(set); changed() }
  const sets = Object.keys(SETS).map((set) => element("button", { type: "button", onclick: () => choose(set) }, WORDS.sets[set]))
  const cells = Object.fromEntries(KEYS.map((key) => [key, BEGIN.actor.map((_, i) => {
    const cell = element("span", { class: "bar" })
    if (DRAGGED.includes(key)) {
      draggable(cell, { min: 0.01, max: 0.97, step: 0.01, label: "",
        get: () => state[key][i], set: (x) => { state[key] = moved(state[key], i, x); changed() } })
    }
    return cell
  })]))
  const sums = Object.fromEntries(Object.keys(WORDS.sums).map((key) => [key, element("output")]))
  const says = element("p", { class: "says", role: "status" }), cut = cutNote()
  const heads = BEGIN.actor.map(() => element("th", { scope: "col" }))
  const scales = Object.fromEntries(KEYS.map((key) => [key, element("small", { class: "scale" })]))
  const draw = () => {
    const numbers = measured(state)
    sets.forEach((button, i) => button.setAttribute("aria-pressed", Object.keys(SETS)[i] === state.set))
    heads.forEach((head, i) => { head.hidden = i >= state.actor.length; write(head, HEADS[state.set][i] ?? "") })
    for (const [key, line] of Object.entries(cells)) {
      const full = FULL[state.set][key] ?? 1
      write(scales[key], `±${full}`)
      line.forEach((cell, i) => {
        cell.parentElement.hidden = i >= state.actor.length
        if (cell.parentElement.hidden) return
        const x = numbers[key][i]
        drawBar(cell, x, full)
        if (DRAGGED.includes(key)) cell.setAttribute("aria-label", `${WORDS.rows[key]}, ${WORDS.token} ${HEADS[state.set][i]}`)
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
    element("div", { class: "answers", role: "group", "aria-label": WORDS.token }, sets),
    element("div", { class: "knobs" }, heat.node), says,
    element("table", { class: "rows" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, WORDS.token), heads)),
      element("tbody", {}, KEYS.map((key) => element("tr", { class: key },
        element("th", { scope: "row" }, WORDS.rows[key], DRAGGED.includes(key) ? " ↔" : "", scales[key]), cells[key].map((cell) => element("td", {}, cell)))))),
    element("p", { class: "sums" }, Object.entries(WORDS.sums).map(([key, label]) => element("span", {}, `${label} `, sums[key]))),
    cut.node,
    element("div", { class: "answers" },
      againButton(() => choose("four")),
      copyButton(() => python(state)))), view)
  draw()
}
