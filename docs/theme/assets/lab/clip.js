// One token under the clip: its objective against the ratio, for either sign of the
// advantage; and what k1, k2 and k3 say of it.
import { address, between, copyButton, cropped, draggable, dualClip, element, lang, onceAFrame, show, shown, slider, styled, svg } from "./lab.js"
import { k1, k2, k3, policyToken } from "./ppo.js"

const WORDS = {
  zh: {
    name: "裁剪下的一个 token", ratio: "ratio ρ", objective: "目标（loss 取负）", copy: "复制成 Python", token: "拖动这个 token 的 ratio",
    knobs: { advantage: "优势 A", low: "裁剪：往下", high: "裁剪：往上", dual: "dual clip（0 为关）" },
    sums: { ratio: "ρ", loss: "loss", push: "概率往", k1: "k1", k2: "k2", k3: "k3" },
    says: { free: "在范围里或走反了：有梯度", clipped: "被裁剪：loss 是平的，没有梯度", bounded: "dual clip：loss 到了上限，没有梯度" },
    estimators: "log ρ 的三种 KL 估计",
  },
  en: {
    name: "One token under the clip", ratio: "ratio ρ", objective: "objective (minus the loss)", copy: "Copy as Python", token: "drag this token's ratio",
    knobs: { advantage: "advantage A", low: "clip below", high: "clip above", dual: "dual clip, 0 for off" },
    sums: { ratio: "ρ", loss: "loss", push: "push", k1: "k1", k2: "k2", k3: "k3" },
    says: { free: "inside the range, or gone the wrong way: a gradient", clipped: "clipped: the loss is flat, no gradient", bounded: "dual clip: the loss is at its bound, no gradient" },
    estimators: "three estimates of the KL from log ρ",
  },
}[lang]
const BEGIN = { advantage: 1, ratio: 1.35, low: 0.2, high: 0.2, dual: 3 }
const MOST = 4 // the largest ratio that is drawn
const W = 340, H = 190, LEFT = 30, TOP = 20, BASE = 98
const LEAST = 0.05
const x = (ratio) => LEFT + ratio / MOST * (W - LEFT - 8)

const curve = (f, y) => Array.from({ length: 161 }, (_, i) => {
  const ratio = Math.max(i / 160 * MOST, 0.01)
  return `${i ? "L" : "M"}${x(ratio).toFixed(1)} ${between(y(f(ratio)), -H, 2 * H).toFixed(1)}`
}).join("")

const python = ({ advantage, ratio, low, high, dual }) => `import torch
from ppo_ref.kl import kl_k1, kl_k2, kl_k3
from ppo_ref.losses import policy_loss

log_probs = torch.tensor([[${ratio}]], dtype=torch.float64).log()
log_probs.requires_grad_()
old = torch.zeros_like(log_probs)
loss = policy_loss(
    log_probs=log_probs, old_log_probs=old,
    advantages=torch.tensor([[${advantage}]], dtype=torch.float64),
    response_mask=torch.tensor([[True]]),
    clip_range=(${low}, ${high}), dual_clip=${dual || "None"}).loss
(gradient,) = torch.autograd.grad(loss, log_probs)
print("loss", loss.item(), "push", -gradient.item())
for name, k in ("k1", kl_k1), ("k2", kl_k2), ("k3", kl_k3):
    print(name, k(log_probs=log_probs, ref_log_probs=old).item())
`

// On the page of the surrogate: one token that went too far; the KL is not spoken of.
export const VIEWS = { surrogate: { ...BEGIN, ratio: 1.5 } }
const CLIPPED = ["ratio", "loss", "push"]

export const mount = async (place, view) => {
  await styled
  const link = address("clip")
  const begin = VIEWS[view] ?? BEGIN, state = link.read({ ...begin })
  for (const [key, [least, most]] of Object.entries({ advantage: [-2, 2], ratio: [LEAST, MOST], low: [0, 0.9], high: [0, 2], dual: [0, 5] })) state[key] = between(state[key], least, most)
  state.dual = dualClip(state.dual)

  const parts = []
  const changed = onceAFrame(() => { draw(); link.write(state, begin) })
  const add = (part) => { parts.push(part); return part.node }
  const knob = (key, min, max, step) => add(slider({
    label: WORDS.knobs[key], min, max, step, get: () => state[key],
    set: (value) => { state[key] = key === "dual" ? dualClip(value) : value; changed() } }))

  const range = svg("rect", { y: TOP, height: H - 16 - TOP, class: "range" })
  const plain = svg("path", { class: "plain" }), clipped = svg("path", { class: "line" })
  const dot = svg("circle", { r: 7, class: "dot" })
  const labels = () => [0, 1, 2, 3, 4].map((r) => svg("text", { x: x(r), y: H - 2 }, String(r)))
  const plot = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "plot", "aria-hidden": "true" },
    range, svg("path", { class: "axis", d: `M${LEFT} ${BASE}H${W}M${x(1)} ${TOP}V${H - 16}` }),
    cropped(W, TOP, H - 14, plain, clipped), dot, ...labels(),
    svg("text", { x: LEFT, y: 12, class: "start" }, WORDS.objective), svg("text", { x: W, y: BASE - 5, class: "end" }, WORDS.ratio))
  const heights = [0, 1, 2].map(() => svg("text", { x: LEFT - 5, class: "end" }))
  plot.append(...heights)
  const kBase = 140
  const estimates = [k1, k2, k3].map((_, i) => svg("path", { class: `line k${i + 1}` }))
  const mark = svg("path", { class: "axis" })
  const plate = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "plot", "aria-hidden": "true" },
    svg("path", { class: "axis", d: `M${LEFT} ${kBase}H${W}` }), mark, cropped(W, TOP, H - 14, ...estimates), ...labels(),
    svg("text", { x: LEFT, y: 12, class: "start" }, WORDS.estimators),
    ...["k1", "k2", "k3"].map((name, i) => svg("text", { x: W - 60 + 26 * i, y: 12, class: name }, name)))

  const handle = element("div", { class: "handle" }, plot)
  draggable(handle, {
    min: LEAST, max: MOST, step: 0.01, label: WORDS.token, sideways: (x(MOST) - x(LEAST)) / W,
    get: () => state.ratio, set: (ratio) => { state.ratio = ratio; changed() } })
  const named = view ? CLIPPED : Object.keys(WORDS.sums)
  const sums = Object.fromEntries(named.map((key) => [key, element("output")]))
  const says = element("p", { class: "says", role: "status" })

  const draw = () => {
    const { advantage, low, high } = state
    const dual = state.dual || undefined
    const at = (ratio) => policyToken({ logRatio: Math.log(ratio), advantage, low, high, dual })
    const tick = Math.abs(advantage) > 1 ? 4 : 2
    const y = (objective) => BASE - objective / tick * 42
    heights.forEach((label, i) => {
      const at = [tick, 0, -tick][i]
      label.textContent = String(at).replace("-", "−")
      label.setAttribute("y", y(at) + 3)
    })
    const token = at(state.ratio)
    range.setAttribute("x", x(1 - low))
    range.setAttribute("width", x(1 + high) - x(1 - low))
    plain.setAttribute("d", curve((ratio) => advantage * ratio, y))
    clipped.setAttribute("d", curve((ratio) => -at(ratio).loss, y))
    dot.setAttribute("cx", x(state.ratio))
    dot.setAttribute("cy", between(y(-token.loss), TOP, H - 20))
    const kind = token.bounded ? "bounded" : token.clipped ? "clipped" : "free"
    dot.classList.toggle("flat", kind !== "free")
    says.textContent = WORDS.says[kind]
    const log = Math.log(state.ratio)
    const of = { ...token, k1: k1(log), k2: k2(log), k3: k3(log) }
    for (const [key, output] of Object.entries(sums)) output.textContent = shown(of[key], 3)
    estimates.forEach((path, i) => path.setAttribute("d", curve((ratio) => [k1, k2, k3][i](Math.log(ratio)), (k) => kBase - k * 42)))
    mark.setAttribute("d", `M${x(state.ratio)} ${TOP}V${H - 14}`)
    handle.setAttribute("aria-valuenow", state.ratio)
    handle.setAttribute("aria-valuetext", `${WORDS.ratio} ${state.ratio}, ${WORDS.says[kind]}`)
    parts.forEach(({ update }) => update())
  }

  show(place, element("section", { class: "lab", "aria-label": WORDS.name },
    element("div", { class: "knobs" }, knob("advantage", -2, 2, 0.1), knob("low", 0, 0.9, 0.05), knob("high", 0, 2, 0.05), knob("dual", 0, 5, 0.5)),
    element("div", { class: "plates" }, handle, view ? [] : element("div", {}, plate)),
    says,
    element("p", { class: "sums" }, named.map((key) => element("span", {}, `${WORDS.sums[key]} `, sums[key]))),
    copyButton(WORDS.copy, () => python(state))), view)
  draw()
}
