// One token under the clip: its objective against the ratio to the old policy, for either
// sign of the advantage; what k1, k2 and k3 say of its ratio to the reference; and how far
// ten tokens go when one batch is used again and again.
import { address, againButton, between, copyButton, cropped, draggable, dualClip, element, lang, onceAFrame, show, shown, slider, styled, svg, tick, write } from "./lab.js"
import { beads, MOST as UPDATES } from "./beads_model.js"
import { EOS } from "./world.js"
import { k1, k2, k3, policyToken } from "./ppo.js"

const WORDS = {
  zh: {
    name: "裁剪下的一个 token", ratio: "ρ = actor / old", objective: "目标（loss 取负）", token: "左右拖动：这个 token 的 ratio，actor / old",
    reference: "actor / reference", from: "左右拖动：这个 token 的 actor / reference",
    knobs: { advantage: "优势 A", low: "裁剪：往下", high: "裁剪：往上", dual: "dual clip（0 为关）" },
    sums: { ratio: "ρ", loss: "loss", push: "概率往" },
    estimates: { reference: "actor / reference", k1: "k1", k2: "k2", k3: "k3" },
    says: { none: "优势是 0：没什么可推的，梯度是 0", free: "在范围里或走反了：有梯度", clipped: "被裁剪：loss 是平的，没有梯度", bounded: "dual clip：loss 到了上限，没有梯度" },
    estimators: "KL 的三种估计", end: "结束",
    updates: "用这批数据更新几次", clip: "裁剪", batch: "课程的两个回答，十个 token 的 ratio",
    stopped: (words) => words.length ? `自己的推动停了：${words.join("、")}。还在动的，是被同一个位置上别的 token 带着走的。` : "没有一个被拦下。",
  },
  en: {
    name: "One token under the clip", ratio: "ρ = actor / old", objective: "objective (minus the loss)", token: "drag this token's ratio, actor / old",
    reference: "actor / reference", from: "drag this token's actor / reference",
    knobs: { advantage: "advantage A", low: "clip below", high: "clip above", dual: "dual clip, 0 for off" },
    sums: { ratio: "ρ", loss: "loss", push: "push" },
    estimates: { reference: "actor / reference", k1: "k1", k2: "k2", k3: "k3" },
    says: { none: "no advantage: nothing to push, the gradient is 0", free: "inside the range, or gone the wrong way: a gradient", clipped: "clipped: the loss is flat, no gradient", bounded: "dual clip: the loss is at its bound, no gradient" },
    estimators: "three estimates of the KL", end: "end",
    updates: "updates with this batch", clip: "clip", batch: "the course's two answers: ratios of their ten tokens",
    stopped: (words) => words.length ? `No push of its own any more: ${words.join(", ")}. What still moves is carried by other tokens of the same place.` : "None is held back.",
  },
}[lang]
const BEGIN = { advantage: 1, ratio: 1.35, low: 0.2, high: 0.2, dual: 3, reference: 0.6, updates: 3, clip: true }
const MOST = 4 // the largest ratio that is drawn
const K_BASE = 140, K_UNIT = 42 // where the KL is 0, and its unit
const W = 340, H = 190, LEFT = 30, TOP = 20, BASE = 98
const LEAST = 0.05
const x = (ratio) => LEFT + ratio / MOST * (W - LEFT - 8)

const curve = (f, y) => Array.from({ length: 161 }, (_, i) => {
  const ratio = Math.max(i / 160 * MOST, 0.01)
  return `${i ? "L" : "M"}${x(ratio).toFixed(1)} ${between(y(f(ratio)), -H, 2 * H).toFixed(1)}`
}).join("")

const python = ({ advantage, ratio, low, high, dual, reference }, withKl) => `import torch${withKl ? `
from ppo_ref.kl import kl_k1, kl_k2, kl_k3` : ""}
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
` + (withKl ? `
# The KL has the reference below, not the old policy.
log_probs = log_probs.detach()
ref_log_probs = log_probs - torch.tensor([[${reference}]], dtype=torch.float64).log()
for name, k in ("k1", kl_k1), ("k2", kl_k2), ("k3", kl_k3):
    print(name, k(log_probs=log_probs, ref_log_probs=ref_log_probs).item())
` : "")

// On the page of the surrogate: one token that went too far; the KL is not spoken of.
export const VIEWS = { surrogate: { ...BEGIN, ratio: 1.5 } }

export const mount = async (place, view) => {
  await styled
  const link = address("clip")
  const begin = VIEWS[view] ?? BEGIN, state = link.read({ ...begin })
  for (const [key, [least, most]] of Object.entries({ advantage: [-2, 2], ratio: [LEAST, MOST], reference: [LEAST, MOST], low: [0, 0.9], high: [0, 2], dual: [0, 5] })) state[key] = between(state[key], least, most)
  state.dual = dualClip(state.dual)
  state.updates = Math.round(between(state.updates, 0, UPDATES))

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
  const kHeight = (k) => K_BASE - k * K_UNIT
  const estimates = [k1, k2, k3].map((k, i) => svg("path", { class: `line k${i + 1}`, d: curve((ratio) => k(Math.log(ratio)), kHeight) }))
  const mark = svg("path", { class: "axis" }), bead = svg("circle", { r: 7, cy: K_BASE, class: "dot" })
  const plate = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "plot", "aria-hidden": "true" },
    svg("path", { class: "axis", d: `M${LEFT} ${K_BASE}H${W}M${x(1)} ${TOP}V${H - 16}` }), mark, cropped(W, TOP, H - 14, ...estimates), bead, ...labels(),
    ...[0, 1, 2].map((k) => svg("text", { x: LEFT - 5, y: kHeight(k) + 4, class: "end" }, k)),
    svg("text", { x: LEFT, y: 12, class: "start" }, WORDS.estimators), svg("text", { x: W, y: K_BASE + 15, class: "end" }, WORDS.reference),
    ...["k1", "k2", "k3"].map((name, i) => svg("text", { x: W - 62 + 26 * i, y: 12, class: name }, name)))

  const dragged = (drawn, label, key) => {
    const handle = element("div", { class: "handle" }, drawn)
    draggable(handle, {
      min: LEAST, max: MOST, step: 0.01, label, share: (x(MOST) - x(LEAST)) / W,
      get: () => state[key], set: (value) => { state[key] = value; changed() } })
    return handle
  }
  const handle = dragged(plot, WORDS.token, "ratio"), kHandle = dragged(plate, WORDS.from, "reference")
  // Ten tokens, a line for each: where its bead is after so many updates with one batch.
  const LINE = 17, FIRST = 26, [LEFTMOST, RIGHTMOST] = [0.4, 1.4], bx = (ratio) => 62 + (ratio - LEFTMOST) / (RIGHTMOST - LEFTMOST) * (W - 80)
  const lines = beads({ updates: 0, clip: true }).map(({ node, advantage }, i) => {
    const y = FIRST + LINE * (i + (i > 5)), name = node[lang] === EOS ? WORDS.end : node[lang]
    return { y, name, trail: svg("path", { class: advantage > 0 ? "line" : "line bad" }), bead: svg("circle", { r: 5, cy: y, class: "dot" }),
      word: svg("text", { x: 54, y: y + 4, class: "end" }, name) }
  })
  const bottom = lines.at(-1).y + 8
  const string = svg("svg", { viewBox: `0 0 ${W} ${bottom + 16}`, class: "plot", role: "img" },
    svg("rect", { x: bx(0.8), width: bx(1.2) - bx(0.8), y: FIRST - 8, height: bottom - FIRST + 8, class: "range" }),
    svg("path", { class: "axis", d: `M${bx(1)} ${FIRST - 8}V${bottom}` }), ...lines.flatMap(({ trail, bead, word }) => [trail, bead, word]),
    svg("text", { x: 0, y: 12, class: "start" }, WORDS.batch), ...[0.6, 0.8, 1, 1.2].map((r) => svg("text", { x: bx(r), y: bottom + 13 }, r)))
  const updates = slider({ label: WORDS.updates, min: 0, max: UPDATES, step: 1, get: () => state.updates, set: (value) => { state.updates = value; changed() } })
  const clipping = tick({ label: WORDS.clip, get: () => state.clip, set: (value) => { state.clip = value; changed() } })
  const stopped = element("p", { class: "hint" })
  const drawBeads = () => {
    const now = beads(state)
    now.forEach(({ ratio, out }, i) => {
      lines[i].trail.setAttribute("d", `M${bx(1)} ${lines[i].y}H${bx(ratio)}`)
      lines[i].bead.setAttribute("cx", bx(ratio))
      lines[i].bead.classList.toggle("flat", out)
    })
    string.setAttribute("aria-label", `${WORDS.batch}: ${now.map(({ ratio }, i) => `${lines[i].name} ${shown(ratio)}`).join(", ")}`)
    write(stopped, WORDS.stopped(now.flatMap(({ out }, i) => out ? [lines[i].name] : [])))
    updates.update()
    clipping.update()
  }
  const sums = {}
  const listed = (words) => element("p", { class: "sums" }, Object.entries(words).map(([key, word]) =>
    element("span", {}, `${word} `, sums[key] = element("output"))))
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
    const kind = !advantage ? "none" : token.bounded ? "bounded" : token.clipped ? "clipped" : "free"
    dot.classList.toggle("flat", kind !== "free")
    says.textContent = WORDS.says[kind]
    const log = Math.log(state.reference)
    const of = { ...token, reference: state.reference, k1: k1(log), k2: k2(log), k3: k3(log) }
    for (const [key, output] of Object.entries(sums)) output.textContent = shown(of[key], 3)
    mark.setAttribute("d", `M${x(state.reference)} ${TOP}V${H - 14}`)
    bead.setAttribute("cx", x(state.reference))
    kHandle.setAttribute("aria-valuenow", state.reference)
    kHandle.setAttribute("aria-valuetext", ["reference", "k1", "k2", "k3"].map((key) => `${WORDS.estimates[key]} ${shown(of[key], 3)}`).join(", "))
    handle.setAttribute("aria-valuenow", state.ratio)
    handle.setAttribute("aria-valuetext", `${WORDS.ratio} ${state.ratio}, ${WORDS.says[kind]}`)
    if (!view) drawBeads()
    parts.forEach(({ update }) => update())
  }

  show(place, element("section", { class: "lab", "aria-label": WORDS.name },
    element("div", { class: "knobs" }, knob("advantage", -2, 2, 0.1), knob("low", 0, 0.9, 0.05), knob("high", 0, 2, 0.05), knob("dual", 0, 5, 0.5)),
    element("div", { class: "plates" },
      element("div", {}, handle, says, listed(WORDS.sums)),
      view ? [] : [element("div", {}, kHandle, listed(WORDS.estimates)),
        element("div", {}, element("div", { class: "knobs" }, updates.node, clipping.node), string, stopped)]),
    element("div", { class: "answers" },
      againButton(() => { Object.assign(state, begin); changed() }), copyButton(() => python(state, !view)))), view)
  draw()
}
