// The first screen: one answer runs through the seven stations of an iteration. A station
// is a button; what it does to the six tokens is drawn, said in a sentence, and its name
// is a door to the topic.
import { aloud, element, lang, onceAFrame, show, shown, styled, styles, svg, write } from "./lab.js"
import { set } from "./drawing.js"
import { pictureButton } from "./picture.js"
import { BETA, CUT, numbers, stations } from "./stations_model.js"
import { EOS, sentence } from "./world.js"

const made = numbers(), STATIONS = stations()
const word = (token) => token[lang] === EOS ? WORDS.end : token[lang]
const comma = 2 // the token that saved the answer
const WORDS = {
  zh: {
    name: "一个回答走过的七站", end: "结束", play: "走一遍", pause: "停", score: (x) => `得分 ${x}`,
    topics: { pipeline: "一轮训练", rewards: "奖励与 KL", alignment: "下标对齐", bootstrap: "自举", gae: "GAE 直觉", critic: "critic 学什么", on_policy: "on-policy 与重要性采样" },
    says: {
      pipeline: () => `actor 写下“${sentence(made.tokens, lang)}”，柱子是写出每个 token 的概率。乘起来是 ${shown(made.answer, 4)}：少见，这次却答对了。`,
      rewards: () => `得分 1 落在最后一个 token 上。每个 token 再减去 ${BETA} 乘它的 KL，小得几乎看不出来。`,
      alignment: () => `柱子是 V，立在 token 之前：左边都写好了，它还没写，critic 预期得几分。`,
      bootstrap: () => `在第 ${CUT} 个 token 处剪断，后面的不等了，用 V 顶上：一共 ${shown(made.cut)}。`,
      gae: () => `优势：这个 token 写得比预期好多少，再算上一部分后来的事。是逗号救了这个回答：${shown(made.advantages[comma])}。`,
      critic: () => `critic 的 V 被拉向 returns，也就是优势加上旧的 V：第一个从 ${shown(made.values[0])} 拉向 ${shown(made.returns[0])}。`,
      on_policy: () => `更新一次以后：逗号的概率是原来的 ${shown(made.ratios[comma])} 倍，这就是 ratio。柱子是它离 1 有多远。`,
    },
  },
  en: {
    name: "The seven stations of an answer", end: "end", play: "Run", pause: "Pause", score: (x) => `score ${x}`,
    topics: { pipeline: "One iteration", rewards: "Rewards and KL", alignment: "Index alignment", bootstrap: "Bootstrapping", gae: "GAE intuition", critic: "What the critic learns", on_policy: "On-policy, importance ratios" },
    says: {
      pipeline: () => `The actor writes "${sentence(made.tokens, lang)}"; a bar is how likely each token was. Multiplied, ${shown(made.answer, 4)}: a rare answer, and right.`,
      rewards: () => `The score, 1, falls on the last token. Each token loses ${BETA} times its KL, too little to be seen.`,
      alignment: () => "A post is V. It stands before a token: what the critic expects when all to its left is written.",
      bootstrap: () => `Cut before token ${CUT}: V stands in for all that would have come, ${shown(made.cut)} in sum.`,
      gae: () => `The advantage: how much better than expected a token was, and a part of what came later. The comma saved the answer: ${shown(made.advantages[comma])}.`,
      critic: () => `The critic's V is pulled to its return, the advantage plus the old V: the first from ${shown(made.values[0])} to ${shown(made.returns[0])}.`,
      on_policy: () => `After one update the comma is written ${shown(made.ratios[comma])} times as often: that is its ratio. A bar is how far it is from 1.`,
    },
  },
}[lang]

// Heights in pixels.
const UNIT = 84, HEAD = 24, ZERO = HEAD + 18 + UNIT * 1.06, HEIGHT = ZERO + UNIT * 0.42 + 8
const GUTTER = 14, END = 44 // left of the first token, right of the last
const FIRST = 2 // the station of the picture that stands there without scripts
const MOVE = 350, STAY = 3200 // milliseconds
const still = matchMedia("(prefers-reduced-motion: reduce)")

const drawTokens = () => {
  const slots = made.tokens.map((token) => {
    const nodes = { word: svg("text", { class: "word", y: 16 }), bar: svg("path", { class: "bar" }), head: svg("circle", { class: "head", r: 4.5 }), number: svg("text", { class: "number" }) }
    nodes.word.textContent = word(token)
    return { ...nodes, group: svg("g", {}, nodes.bar, nodes.head, nodes.word, nodes.number) }
  })
  const axis = svg("line", { class: "axis", x1: 0, y1: ZERO, y2: ZERO })
  const cut = svg("line", { class: "cut", y1: HEAD, y2: HEIGHT })
  const score = { post: svg("path", { class: "bar up" }), number: svg("text", { class: "number" }) }
  const root = svg("svg", { class: "stations", role: "img", height: HEIGHT }, axis, cut, ...Object.values(score), ...slots.map(({ group }) => group))

  // Between two stations a mark goes from where it was to where it is going.
  const draw = (before, now, share, width) => {
    const column = (width - GUTTER - END) / slots.length
    const x = (t) => GUTTER + t * column
    const blend = (a, b) => a + (b - a) * share
    const place = (mark, t) => x(t) + (mark.at === "on" ? column / 2 : 0)
    set(root, { width, viewBox: `0 0 ${width} ${HEIGHT}`, "aria-label": now.marks.map(({ number }, t) => `${word(made.tokens[t])} ${shown(number)}`).join(", ") })
    set(axis, { x2: width })
    slots.forEach(({ group, word: letters, bar, head, number }, t) => {
      const [old, next] = [before.marks[t], now.marks[t]]
      const at = blend(place(old, t), place(next, t))
      const [from, to] = ["from", "to"].map((end) => ZERO - blend(old[end], next[end]) * UNIT)
      const sign = next.to - next.from > 0.004999 ? "up" : next.to - next.from < -0.004999 ? "down" : "none"
      set(group, { class: `${next.at} ${sign}${next.faint ? " faint" : ""}` })
      set(letters, { x: x(t) + column / 2 })
      set(bar, { d: `M${at.toFixed(1)} ${from.toFixed(1)}V${to.toFixed(1)}` })
      set(head, { cx: at, cy: to })
      set(number, { x: at, y: next.to < next.from ? Math.max(to, from) + 18 : Math.min(to, from) - 9 })
      write(number, shown(next.number))
    })
    set(cut, { x1: x(CUT), x2: x(CUT), visibility: now.cut === undefined ? "hidden" : "visible" })
    const scored = now.score !== undefined
    set(score.post, { d: `M${x(slots.length)} ${ZERO}V${ZERO - UNIT}`, visibility: scored ? "visible" : "hidden" })
    set(score.number, { x: x(slots.length), y: ZERO + 18, visibility: scored ? "visible" : "hidden" })
    write(score.number, scored ? WORDS.score(now.score) : "")
  }
  return { root, draw }
}

export const mount = async (place) => {
  await Promise.all([styled, styles("stations.css")])
  let at = FIRST, before = STATIONS[FIRST], share = 1, width = 0, timer = 0
  const drawing = drawTokens(), live = aloud()
  const door = element("a", { class: "door" }), says = element("p", { class: "says" })
  const stops = STATIONS.map(({ topic }, i) => element("button", { type: "button", "aria-label": `${i + 1} ${WORDS.topics[topic]}`, onclick: () => { pause(); go(i) } }, String(i + 1)))
  const play = element("button", { type: "button", class: "play", onclick: () => timer ? pause() : run() })
  const draw = onceAFrame(() => { if (width) drawing.draw(before, STATIONS[at], share, width) })
  const go = (i) => {
    before = STATIONS[at]
    at = i
    const begun = performance.now()
    const step = (now) => {
      share = still.matches ? 1 : Math.min((now - begun) / MOVE, 1)
      draw()
      if (share < 1 && at === i) requestAnimationFrame(step)
    }
    share = still.matches ? 1 : 0
    requestAnimationFrame(step)
    tell()
  }
  const pause = () => { clearInterval(timer); timer = 0; tell() }
  const run = () => {
    go(0)
    timer = setInterval(() => { if (at === STATIONS.length - 1) pause(); else go(at + 1) }, STAY)
    tell()
  }
  const tell = () => {
    const { topic } = STATIONS[at]
    write(door, `${at + 1} · ${WORDS.topics[topic]}`)
    door.href = `${topic}/`
    write(says, WORDS.says[topic]())
    write(play, timer ? WORDS.pause : WORDS.play)
    live.say(`${door.textContent} ${says.textContent}`)
    stops.forEach((stop, i) => stop.setAttribute("aria-pressed", i === at))
  }
  const section = element("section", { class: "lab stations", "aria-label": WORDS.name },
    element("div", { class: "stops", role: "group", "aria-label": WORDS.name }, stops),
    element("p", { class: "where" }, door), drawing.root, says, live.node,
    element("div", { class: "answers" }, play, pictureButton(() => [drawing.root], () => [door.textContent, says.textContent])))
  tell()
  show(place, section)
  new ResizeObserver(() => {
    const now = section.clientWidth - 2 * parseFloat(getComputedStyle(section).paddingLeft)
    if (now > 0 && now !== width) { width = now; draw() }
  }).observe(section)
}
