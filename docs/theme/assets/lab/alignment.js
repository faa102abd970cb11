// Which tokens has values[:, t] read? A rail of ids, outputs above it, and a slice to choose.
import { address, choice, copyButton, element, lang, onceAFrame, show, styled } from "./lab.js"

const PROMPT = ["1", "+", "1", "="], ANSWER = ["2", ".", { zh: "对", en: "ok" }[lang], "EOS"]
const T = ANSWER.length
const V = (t) => `V(s${"₀₁₂₃₄"[t]})`
// As the picture of its question page has it.
const VIEWS = { value_before_token: { prompt: ["p₀", "p₁", "p₂"], answer: ["a₀", "a₁", "a₂", "a₃"] } }
// What may be cut from the outputs, and how many slots later than it should be.
const SLICES = { "[:, -T-1:-1]": 0, "[:, -T:]": 1, "[:, -T-2:-2]": -1 }
const RIGHT = "[:, -T-1:-1]"
const WORDS = {
  zh: {
    name: "下标对齐，一步一步看", slice: "从输出里切", step: "第 t 个 token", before: "上一个", after: "下一个", table: "每一格",
    rows: { ids: "ids", output: "输出", values: "values", log_probs: "log_probs", rewards: "奖励" },
    read: "读过", out: "这一格", pays: "写完拿到 r", scored: "它的概率",
    right: (t) => `values[:, ${t}] 读过 prompt${t ? ` 和第 0${t > 1 ? ` 到 ${t - 1}` : ""} 个 token` : ""}，没读过第 ${t} 个：它是 ${V(t)}。`,
    late: (t) => `values[:, ${t}] 已经读过第 ${t} 个 token：它是 ${V(t + 1)}，晚了一格；${t + 1 < T ? `同一格的 logits 预测的是第 ${t + 1} 个 token` : "回答到这个 token 为止，同一格的 logits 什么也不预测"}。`,
    early: (t) => `values[:, ${t}] 连第 ${t - 1} 个 token 也没读过：它早了一格。`,
    first: "values[:, 0] 连 prompt 的最后一个 token 也没读过：它早了一格。",
  },
  en: {
    name: "Index alignment, step by step", slice: "cut from the outputs", step: "token t", before: "before", after: "next", table: "the slots",
    rows: { ids: "ids", output: "output", values: "values", log_probs: "log_probs", rewards: "rewards" },
    read: "has read", out: "this one", pays: "after it comes r", scored: "its probability",
    right: (t) => `values[:, ${t}] has read the prompt${t ? ` and token${t > 1 ? `s 0 to ${t - 1}` : " 0"}` : ""}, not token ${t}: it is ${V(t)}.`,
    late: (t) => `values[:, ${t}] has read token ${t} already: it is ${V(t + 1)}, one slot late; ${t + 1 < T ? `the logits of this slot predict token ${t + 1}` : "the answer ends with this token, and the logits of this slot predict none"}.`,
    early: (t) => `values[:, ${t}] has not even read token ${t - 1}: it is one slot early.`,
    first: "values[:, 0] has not even read the last token of the prompt: it is one slot early.",
  },
}[lang]
const BEGIN = { t: 1, slice: RIGHT }

const python = (slice, P) => `import torch

T = ${T}
ids = torch.arange(1.0, ${P + T + 1}.0)[None]

def outputs(ids):  # at each position: what was read so far
    return ids.cumsum(1)

values = outputs(ids)${slice}
for t in range(T):
    changed = ids.clone()
    changed[:, ${P} + t] += 1
    moved = outputs(changed)${slice} != values
    print("token", t, "moves", moved[0].int().tolist())
`

export const mount = async (place, view) => {
  await styled
  const { prompt, answer } = VIEWS[view] ?? { prompt: PROMPT, answer: ANSWER }
  const P = prompt.length, ALL = P + T
  const link = address("alignment")
  const state = link.read({ ...BEGIN })
  if (!Object.hasOwn(SLICES, state.slice)) state.slice = RIGHT
  if (![0, 1, 2, 3].includes(state.t)) state.t = 1
  const changed = onceAFrame(() => { draw(); link.write(state, BEGIN) })
  const go = (by) => { state.t = Math.min(Math.max(state.t + by, 0), T - 1); changed() }
  const slices = choice({ label: WORDS.slice, options: Object.keys(SLICES).map((cut) => [cut, cut]),
    get: () => state.slice, set: (cut) => { state.slice = cut; changed() } })
  const before = element("button", { type: "button", onclick: () => go(-1) }, WORDS.before)
  const after = element("button", { type: "button", onclick: () => go(1) }, WORDS.after)
  const at = element("output")
  const cells = Object.fromEntries(Object.keys(WORDS.rows).map((row) => [row, Array.from({ length: ALL }, () => element("td"))]))
  const says = element("p", { class: "says", role: "status" })

  const draw = () => {
    const { t, slice } = state
    const off = SLICES[slice], token = P + t, out = token - 1 + off
    for (let i = 0; i < ALL; i++) {
      const set = (row, text, kind = "") => Object.assign(cells[row][i], { textContent: text, className: kind })
      set("ids", prompt[i] ?? answer[i - P], [i <= out ? "read" : "", i === token ? "now" : ""].join(" ").trim())
      set("output", i, i === out ? "now" : "")
      set("values", i === out ? WORDS.out : i < out ? "·" : "", i === out ? (off ? "wrong now" : "now") : i < out ? "read" : "")
      set("log_probs", i === token - 1 + off ? (off ? "✗" : "→") : i === token ? WORDS.scored : "", i === token - 1 + off && off ? "wrong" : "")
      set("rewards", i === token ? `${WORDS.pays}` : "", i === token ? "now" : "")
    }
    at.textContent = `t = ${t}`
    before.disabled = t === 0
    after.disabled = t === T - 1
    says.textContent = off === 0 ? WORDS.right(t) : off > 0 ? WORDS.late(t) : t ? WORDS.early(t) : WORDS.first
    says.classList.toggle("fault", off !== 0)
    slices.update()
    // On a phone the table is wider than its place: keep what is spoken of in sight.
    // The names of the rows stay, and cover the left of it.
    const { offsetLeft, offsetWidth } = cells.ids[token], names = wide.querySelector("th").offsetWidth
    wide.scrollLeft = offsetLeft + offsetWidth / 2 - (wide.clientWidth + names) / 2
  }
  const wide = element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": WORDS.table }, element("table", { class: "rows" },
    element("tbody", {}, Object.entries(WORDS.rows).map(([row, label]) =>
      element("tr", {}, element("th", { scope: "row" }, label), cells[row])))))
  const section = element("section", { class: "lab alignment", "aria-label": WORDS.name },
    element("div", { class: "knobs" }, slices.node, element("span", { class: "steps" }, before, at, after)),
    says,
    wide,
    copyButton(() => python(state.slice, P)))
  section.addEventListener("keydown", ({ key, target }) => {
    if (target.tagName === "SELECT") return
    if (key === "ArrowLeft") go(-1)
    if (key === "ArrowRight") go(1)
  })
  show(place, section, view)
  draw()
}
