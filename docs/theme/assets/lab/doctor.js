// Paste a training log: each figure that is known is judged, and the section of this
// page that applies is shown beside it. All of it happens here; nothing is sent.
import { element, lang, onceAFrame, styled, styles } from "./lab.js"
import { decode, goesBack, judge, notJudged, readLog, SeveralRuns } from "./doctor_model.js"

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`
const WORDS = {
  zh: { name: "日志医生", paste: "把日志粘贴到这里，或者把文件拖进来：verl、TRL、OpenRLHF、slime、ms-swift、Unsloth、SkyRL、NeMo-RL、prime-rl 的控制台输出，JSONL，wandb 导出的 CSV",
    choose: "选择文件", example: "看一个例子", clear: "清空",
    levels: { broken: "有错", look: "要看", note: "注意", fine: "正常" },
    none: "没有认出任何一个数。能认的行是这样的：step:1 - critic/score/mean:0.5 - actor/entropy:0.3。", seen: "看到的名字：",
    runs: "这里有几次训练，看哪一次？", few: "不到十步，分不出趋势和噪声；至少要二十步。", some: "不到二十步，还不能说得分没涨。", back: "步数往回走了：几次训练被当成一次来判断。", steps: (steps, figures) => `${steps} 步，认出 ${figures} 个数。`,
    fine: "看不出问题：", others: "没有判断的 {} 个：", from: "第一步 {}，最后五分之一平均 {}",
    lost: (lost, steps) => lost === steps ? `记了 ${steps} 步，没有一步是有限的数` : `${steps} 步里有 ${lost} 步不是有限的数；只看其余各步：`, section: "这一节", clean: "认出的数都看不出问题。分数真的在涨吗？再读几个回答。" },
  en: { name: "Log doctor", paste: "Paste a log here, or drop a file: the console of verl, TRL, OpenRLHF, slime, ms-swift, Unsloth, SkyRL, NeMo-RL or prime-rl, JSON lines, or a CSV exported from wandb",
    choose: "Choose a file", example: "Show me an example", clear: "Clear",
    levels: { broken: "broken", look: "look", note: "note", fine: "fine" },
    none: "No figure in it is known. A line that can be read: step:1 - critic/score/mean:0.5 - actor/entropy:0.3.", seen: "Names seen: ",
    runs: "Several runs are in it. Which one?", few: " Too few to tell a trend from noise, for which 20 are needed.", some: " Too few to say that a score does not rise, for which 20 are needed.", back: " The counter of steps goes back: several runs are judged as one.", steps: (steps, figures) => `${counted(steps, "step")}, ${counted(figures, "figure")} known.`,
    fine: "Nothing unusual:", others: "Not judged, {}:", from: "{} in the first step, {} on average in the last fifth",
    lost: (lost, steps) => lost === steps ? `never a finite number in ${counted(steps, "step")}` : `not a finite number in ${lost} of ${counted(steps, "step")}; among the others, `, section: "this section", clean: "Nothing unusual in what is known. Does the score really rise? Read a few answers." },
}[lang]
const SHOWN = 60 // points of a line
const NAMED = 12 // names that a refusal tells

const say = (text, ...values) => values.reduce((said, value) => said.replace("{}", value), text)
// From where to where a figure went; a step without a number is given none.
const course = ({ begin, last, steps, lost }) =>
  (lost ? WORDS.lost(lost, steps) : "") + (lost < steps ? say(WORDS.from, short(begin), short(last)) : "")
const short = (x) => String(Number(x.toPrecision(3))).replace("-", "−")

// A series as a small line, without axes.
const line = (values) => {
  const x = values.filter(Number.isFinite)
  const every = Math.max(1, Math.floor(x.length / SHOWN))
  const few = x.filter((_, i) => i % every === 0)
  const low = Math.min(...few), range = Math.max(...few) - low || 1
  const points = few.map((y, i) => `${(i / Math.max(1, few.length - 1) * 76 + 2).toFixed(1)},${(20 - (y - low) / range * 18).toFixed(1)}`)
  const box = element("span", { class: "line", "aria-hidden": "true" })
  box.innerHTML = `<svg viewBox="0 0 80 22"><polyline points="${points.join(" ")}"/></svg>`
  return box
}

// What the page says in that section: all up to its folded boxes, without the heading.
const section = (row) => {
  const parts = [], heading = document.getElementById(row)
  for (let part = (heading?.closest("summary") ?? heading)?.nextElementSibling; part; part = part.nextElementSibling) {
    if (/^(H[12]|DETAILS)$/.test(part.tagName)) break
    parts.push(part.cloneNode(true))
  }
  for (const part of parts) for (const marked of [part, ...part.querySelectorAll("[id]")]) marked.removeAttribute("id")
  return parts
}

export const mount = async (place) => {
  const known = await (await fetch(new URL("doctor.json", import.meta.url))).json()
  await Promise.all([styled, styles("doctor.css")])
  const text = element("textarea", { rows: 5, placeholder: WORDS.paste, "aria-label": WORDS.paste, spellcheck: "false" })
  const results = element("div", { class: "results", role: "status" })
  const item = (log, { key, name, level, says, row, ...found }) =>
    element("details", { class: `finding ${level}`, open: level === "broken" },
      element("summary", {}, element("b", {}, WORDS.levels[level]), element("code", {}, key), line(log.get(key)),
        element("span", {}, `${name}${lang === "zh" ? "：" : ": "}${says}`)),
      element("p", {}, course(found), lang === "zh" ? "。" : ". ", element("a", { href: `#${row}` }, WORDS.section)),
      element("blockquote", {}, section(row)))
  const names = (label, keys) => keys.length ? [element("p", { class: "hint" }, label, " ", keys.join(", "))] : []
  const ask = (runs) => results.replaceChildren(element("p", {}, WORDS.runs), element("div", { class: "answers" },
    runs.map((run) => element("button", { type: "button", onclick: () => judgeRun(run) }, run))))
  const refuse = (seen) => results.replaceChildren(element("p", {}, WORDS.none,
    seen.length ? ` ${WORDS.seen}${seen.slice(0, NAMED).join(", ")}${seen.length > NAMED ? ", …" : ""}` : ""))
  const reading = (run) => {
    try {
      return readLog(text.value, known.figures, run)
    } catch (error) {
      if (!(error instanceof SeveralRuns)) throw error
      ask(error.runs)
      return null
    }
  }
  const judgeRun = (run) => {
    if (!text.value.trim()) return results.replaceChildren()
    const { log, seen } = reading(run) ?? {}
    if (!log) return null
    if (!log.size) return refuse(seen)
    const found = judge(log, known, lang)
    const unusual = found.filter(({ level }) => level !== "fine")
    const others = notJudged(log, known.figures)
    // Not by Math.max(...): a log may have more figures than a call may have arguments.
    const steps = [...log.values()].reduce((most, values) => Math.max(most, values.length), 0)
    const tooFew = steps < 10 ? WORDS.few : steps < 20 ? WORDS.some : ""
    return results.replaceChildren(element("p", {}, `${WORDS.steps(steps, found.length)}${tooFew}${goesBack(log) ? WORDS.back : ""}`),
      ...unusual.map((one) => item(log, one)), ...unusual.length ? [] : [element("p", {}, WORDS.clean)],
      ...names(WORDS.fine, found.filter(({ level }) => level === "fine").map(({ key }) => key)),
      ...names(say(WORDS.others, others.length), others))
  }
  const update = onceAFrame(() => judgeRun(""))
  const show = (value) => { text.value = value; update() }
  const read = async (file) => file && show(decode(new Uint8Array(await file.arrayBuffer())))
  text.addEventListener("input", update)
  const file = element("input", { type: "file", hidden: true, onchange: () => read(file.files[0]) })
  const button = (label, onclick) => element("button", { type: "button", onclick }, label)
  // A run of ours: what its iterations logged, without the answers.
  const example = async () => {
    const run = await (await fetch(new URL("stored/smollm2_large_steps.jsonl.txt", import.meta.url))).text()
    show(run.split("\n").filter((logged) => !logged.includes('"record')).join("\n"))
  }
  place.replaceChildren(element("section", {
    class: "lab doctor", "aria-label": WORDS.name,
    ondragover: (event) => event.preventDefault(),
    ondrop: (event) => { event.preventDefault(); read(event.dataTransfer.files[0]) },
  }, text, element("div", { class: "answers" }, button(WORDS.choose, () => file.click()), file,
    button(WORDS.example, example), button(WORDS.clear, () => show(""))), results))
}
