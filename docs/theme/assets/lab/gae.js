// The small one of the home page: a critic's values, and what GAE makes of them.
import { address, againButton, aloud, between, copyButton, cutNote, draggable, drawBar, element, lang, onceAFrame, scaleFor, shown, slider, styled, write } from "./lab.js"
import { gae } from "./ppo.js"

const WORDS = {
  zh: { name: "GAE：拖一拖", answer: ["是的", "，", "1+1", "=", "2", "EOS"], values: "价值 V", deltas: "TD error δ", advantages: "优势 A",
    lambda: "λ", says: "得分 1。左右拖动价值或 λ：每个 token 的优势跟着变。", token: "第 {} 个 token 之前的价值" },
  en: { name: "GAE, to drag", answer: ["Yes", ",", "1+1", "=", "2", "EOS"], values: "value V", deltas: "TD error δ", advantages: "advantage A",
    lambda: "λ", says: "The score is 1. Drag a value or λ left or right, and see each token's advantage follow.", token: "value before token {}" },
}[lang]
const BEGIN = { values: [0.3, 0.5, 0.4, 0.7, 0.6, 0.9], lambda: 0.95 }
const ROWS = ["values", "deltas", "advantages"]

const python = ({ values, lambda }) => `import torch
from ppo_ref.advantages import gae, td_residuals

batch = {
    "token_level_rewards": torch.tensor([[0., 0., 0., 0., 0., 1.]]).double(),
    "values": torch.tensor([[${values.join(", ")}]]).double(),
    "response_mask": torch.ones(1, 6, dtype=torch.bool),
}
print("deltas", td_residuals(**batch).tolist()[0])
print("advantages", gae(**batch, gae_lambda=${lambda}).advantages.tolist()[0])
`

export const mount = async (place) => {
  await styled
  const link = address("gae")
  const state = link.read({ ...BEGIN, values: [...BEGIN.values] })
  state.values = state.values.map((v) => between(v, -1, 1))
  state.lambda = between(state.lambda, 0, 1)
  const changed = onceAFrame(() => { draw(); link.write(state, BEGIN) })
  const lambda = slider({ label: WORDS.lambda, min: 0, max: 1, step: 0.01, get: () => state.lambda, set: (x) => { state.lambda = x; changed() } })
  const cells = Object.fromEntries(ROWS.map((key) => [key, BEGIN.values.map((_, t) => {
    const cell = element("span", { class: "bar" })
    if (key === "values") {
      draggable(cell, { min: -1, max: 1, step: 0.01, label: WORDS.token.replace("{}", t),
        get: () => state.values[t], set: (v) => { state.values[t] = v; changed() } })
    }
    return cell
  })]))
  // The three rows are in one unit, that of the score, and have one scale.
  const scales = ROWS.map(() => element("small", { class: "scale" }))
  const live = aloud(), cut = cutNote()
  const draw = () => {
    const { deltas: [deltas], advantages: [advantages] } = gae({
      rewards: [[0, 0, 0, 0, 0, 1]], values: [state.values], mask: [Array(6).fill(true)], gamma: 1, lambda: state.lambda })
    const rows = { values: state.values, deltas, advantages }
    const full = scaleFor(Math.max(1, ...Object.values(rows).flat().map(Math.abs)))
    scales.forEach((scale) => write(scale, `±${full}`))
    for (const [key, row] of Object.entries(rows)) {
      row.forEach((x, t) => {
        drawBar(cells[key][t], x, full)
        cells[key][t].textContent = shown(x)
        if (key === "values") cells[key][t].setAttribute("aria-valuenow", x)
      })
    }
    lambda.update()
    cut.update()
    live.say(`${WORDS.advantages}: ${advantages.map((x) => shown(x)).join(", ")}`)
  }
  place.replaceChildren(element("section", { class: "lab", "aria-label": WORDS.name },
    element("table", { class: "rows" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "1+1=?"), WORDS.answer.map((token) => element("th", { scope: "col" }, token)))),
      element("tbody", {}, ROWS.map((key, i) => element("tr", { class: key },
        element("th", { scope: "row" }, WORDS[key], key === "values" ? " ↔" : "", scales[i]), cells[key].map((cell) => element("td", {}, cell)))))),
    lambda.node, element("p", { class: "hint" }, WORDS.says), cut.node, live.node,
    element("div", { class: "answers" },
      againButton(() => { Object.assign(state, { ...BEGIN, values: [...BEGIN.values] }); changed() }),
      copyButton(() => python(state)))))
  draw()
}
