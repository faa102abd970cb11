// The run viewer: one run or two, their figures as curves under one cursor, and what was
// said, token by token. It reads stored runs, and whatever folder or dump one opens.
import { address, between, copyButton, element, lang, onceAFrame, shown, styled, styles, svg } from "./lab.js"
import { QUANTITIES, readRun, recordedAt, watchedNumbers } from "./run_files.js"

const WORDS = {
  zh: {
    name: "训练查看器", runs: ["一次训练", "和它比"], none: "不比", iteration: "第 {} 轮", of: "共 {} 轮", play: "播放", pause: "暂停",
    at: "第几轮", figures: "看哪些统计量", colour: "token 的颜色和数字", more: "还有 {} 个 token",
    hint: "在曲线上左右拖，或用方向键，看每一轮的数字和回答。",
    quantities: { advantages: "优势", values: "价值", ratio: "ratio", probability: "概率", rewards: "奖励" },
    watched: "每轮之后都问的一道题，和给定的两个回答", says: "现在答：", recorded: "第 {} 轮采样的回答", recordedOn: "当时的数字。",
    before: "PPO 之前", row: "第 {} 行", score: "得分", unrecorded: "这里没有记下{}", rows: "回答", next: "后面的", previous: "前面的",
    own: "打开你自己的训练", folder: "选文件夹 runs/1", files: "选文件", yours: "你的",
    says_own: "train 写出的文件夹，或一个 JSON 的 dump；也可以拖到这里。文件只在浏览器里读，不会发往任何地方。",
  },
  en: {
    name: "Run viewer", runs: ["a run", "beside it"], none: "nothing", iteration: "iteration {}", of: "of {}", play: "play", pause: "pause",
    at: "iteration", figures: "figures", colour: "colour and number of a token", more: "{} more tokens",
    hint: "Drag along the curves, or use the arrow keys: figures and answers follow.",
    quantities: { advantages: "advantage", values: "value", ratio: "ratio", probability: "probability", rewards: "reward" },
    watched: "One question after every iteration, and two given answers", says: "now says ", recorded: "Answers sampled in iteration {}", recordedOn: "with the numbers of that time.",
    before: "before PPO", row: "row {}", score: "score", unrecorded: "no {} recorded here", rows: "answers", next: "next", previous: "previous",
    own: "Open a run of your own", folder: "a folder, runs/1", files: "files", yours: "yours",
    says_own: "A folder that train wrote, or a dump as JSON; or drop it here. It is read in your browser, and nothing is sent anywhere.",
  },
}[lang]
const TITLES = {
  smollm2_ppo: ["SmolLM2 学两位数加法：PPO", "SmolLM2 learns two-digit sums: PPO"],
  smollm2_ppo_seed_1: ["同上，种子 1", "the same, seed 1"],
  smollm2_ppo_seed_2: ["同上，种子 2", "the same, seed 2"],
  smollm2_grpo: ["SmolLM2 学两位数加法：GRPO，每题八个回答", "SmolLM2, the same sums: GRPO, eight answers"],
  smollm2_grpo_seed_1: ["GRPO，种子 1", "GRPO, seed 1"],
  smollm2_grpo_seed_2: ["GRPO，种子 2", "GRPO, seed 2"],
  smollm2_any_number: ["SmolLM2，PPO：写出随便一个数就给分", "SmolLM2, PPO: any number is paid"],
  smollm2_eight_responses: ["SmolLM2，PPO：四道题，每题八个回答", "SmolLM2, PPO: eight answers to four questions"],
  smollm2_without_critic: ["SmolLM2，REINFORCE++，没有 critic", "SmolLM2, REINFORCE++, no critic"],
  smollm2_long: ["SmolLM2，PPO：150 轮，critic 学得更快", "SmolLM2, PPO: 150 iterations, a faster critic"],
  smollm2_shifted_values: ["SmolLM2：values 晚一格", "SmolLM2: values one late"],
  smollm2_kl_free: ["SmolLM2：KL 不要钱", "SmolLM2: KL is free"],
  smollm2_contained: ["SmolLM2：判分只看有没有那个数", "SmolLM2: paid wherever the number stands"],
  smollm2_temperature: ["SmolLM2：采样温度 0.6，训练时不除", "SmolLM2: sampled at 0.6, trained as if at 1"],
  smollm2_large_steps: ["SmolLM2：学习率十倍", "SmolLM2: ten times the learning rate"],
  smollm2_flipped_sign: ["SmolLM2：优势的符号反了", "SmolLM2: advantages with the wrong sign"],
  smollm2_too_short: ["SmolLM2：只给两格", "SmolLM2: two slots only"],
  healthy: ["健康的一次", "healthy"],
  flipped_sign: ["优势的符号反了", "advantages with the wrong sign"],
  shifted_values: ["values 晚一格", "values one late"],
  penalty: ["答错扣一分，24 格", "wrong answers cost 1, 24 slots"],
  whitened_over_padding: ["同样扣分，白化连 padding 也算", "the same, whitened over padding"],
  learned_reward: ["奖励模型打分，有 KL 惩罚", "a reward model, KL has its price"],
  learned_reward_without_kl: ["奖励模型打分，没有 KL 惩罚", "a reward model, KL is free"],
  four_responses: ["每题四个回答", "four answers to a question"],
  reinforce_plus_plus: ["REINFORCE++，没有 critic", "REINFORCE++, no critic"],
  grpo: ["GRPO，每题四个回答", "GRPO, four answers"],
  rloo: ["RLOO，每题四个回答", "RLOO, four answers"],
}
const FIGURES = ["score", "kl", "entropy", "clip_fraction", "explained_variance", "actor_grad_norm",
  "response_length", "critic_grad_norm", "ratio_max", "value_loss", "solved", "held_out"]
const BEGIN = { first: "smollm2_ppo", second: "smollm2_large_steps", at: 10, colour: "probability", figures: FIGURES.slice(0, 6).join() }
const SLOTS = ["first", "second"], PAGE = 4, MOST = 512, PACE = 120 // answers, tokens, ms an iteration

const put = (text, ...given) => given.reduce((made, x) => made.replace("{}", x), text)
const brief = (x) => x === undefined ? "—" : x === 0 ? "0" : Math.abs(x) >= 1e5 ? x.toExponential(1)
  : shown(x, Math.abs(x) >= 100 ? 0 : Math.abs(x) >= 10 ? 1 : Math.abs(x) >= 1 ? 2 : 3)

// A row of tokens whose texts, numbers and colours change in place.
const tokenRow = () => {
  const node = element("ol", { class: "tokens" }), cells = []
  let all = false
  const update = (tokens, numbers, strength, digits = 2) => {
    const count = all ? tokens.length : Math.min(tokens.length, MOST)
    while (cells.length < count) {
      const text = element("span"), number = element("small"), cell = element("li", {}, text, number)
      cells.push({ cell, text, number })
    }
    if (node.childElementCount !== count || cells.some(({ cell }, t) => (t < count) !== (cell.parentNode === node))) {
      node.replaceChildren(...cells.slice(0, count).map(({ cell }) => cell))
      if (count < tokens.length) {
        node.append(element("button", { type: "button", onclick: () => { all = true; update(tokens, numbers, strength, digits) } },
          put(WORDS.more, tokens.length - count)))
      }
    }
    for (let t = 0; t < count; t++) {
      const { cell, text, number } = cells[t], x = numbers?.[t], s = x == null ? 0 : between(strength(x), -1, 1)
      const visible = tokens[t].replaceAll(" ", "␣").replaceAll("\n", "⏎") || "∅"
      if (text.textContent !== visible) text.textContent = visible
      const below = x == null ? "" : shown(x, digits)
      if (number.textContent !== below) number.textContent = below
      const deep = Math.abs(s).toFixed(2)
      if (cells[t].deep !== deep) cell.style.setProperty("--s", cells[t].deep = deep)
      cell.classList.toggle("below", s < 0)
    }
  }
  return { node, update }
}

export const mount = async (place, given = []) => {
  await Promise.all([styled, styles("runs.css")])
  const link = address("runs")
  const state = link.read({ ...BEGIN })
  const title = (name) => own.has(name) ? name : TITLES[name]?.[lang === "zh" ? 0 : 1] ?? ""
  const known = (name) => own.has(name) || Object.hasOwn(TITLES, name)
  const own = new Map(), read = new Map()
  let runs = [], last = 0, page = 0, faults = [], turn = 0, playing
  if (!known(state.first)) state.first = BEGIN.first
  if (state.second && !known(state.second)) state.second = BEGIN.second
  state.figures = FIGURES.filter((name) => state.figures.split(",").includes(name)).join()
  if (!Object.hasOwn(WORDS.quantities, state.colour)) state.colour = BEGIN.colour

  const changed = onceAFrame(() => { draw(); share() })
  const share = () => link.write(SLOTS.some((slot) => own.has(state[slot]))
    ? { ...state, first: BEGIN.first, second: BEGIN.second } : state, BEGIN)

  // The runs themselves.
  const fetched = async (name) => {
    const file = `${name}.jsonl`
    try {
      const answer = await fetch(new URL(`stored/${file}.txt`, import.meta.url))
      if (!answer.ok) throw new Error(answer.status)
      return readRun({ [file]: await answer.text() })
    } catch (fault) {
      read.delete(name) // another time, perhaps
      throw fault.key ? fault : { file, key: "unread", got: fault.message }
    }
  }
  const load = (name) => {
    if (own.has(name)) return own.get(name)
    if (!read.has(name)) read.set(name, fetched(name))
    return read.get(name)
  }
  const choose = async () => {
    const mine = ++turn
    section.setAttribute("aria-busy", true)
    const loaded = await Promise.all(SLOTS.map(async (slot) => {
      try { return state[slot] ? await load(state[slot]) : null } catch (fault) { faults.push(fault); return null }
    }))
    if (mine !== turn) return
    section.setAttribute("aria-busy", false)
    runs = loaded
    rebuild()
    draw()
  }
  const open = async (files) => {
    const { groups, within } = await import("./run_folders.js")
    faults = []
    let found = groups(files)
    if (!found.length && files.length) faults.push({ file: files[0].path, key: "missing", got: files.map(({ path }) => path).join(", ").slice(0, 80) })
    if (found.length > 2) {
      faults.push({ key: "many", got: found.map(([name]) => name).join(", ").slice(0, 80) })
      found = []
    }
    const names = []
    for (const [name, byName] of found) {
      const texts = {}
      try {
        for (const [file, { text }] of Object.entries(byName)) {
          try { texts[file] = await text() } catch (error) { throw { file, key: "unread", got: error.message } }
        }
        own.set(name, readRun(texts))
        names.push(name)
        faults = faults.concat(own.get(name).faults.map((fault) => within(name, fault)))
      } catch (fault) {
        if (!fault.key) throw fault
        faults.push(within(name, fault))
      }
    }
    if (names.length) {
      const before = SLOTS.map((slot) => state[slot]).filter((name) => own.has(name) && !names.includes(name))
      ;[state.first, state.second = ""] = [...names, ...before]
      state.at = Infinity // its end
    }
    page = 0
    options()
    await choose()
  }

  // Which two.
  const selects = SLOTS.map((slot, i) => element("select", { onchange: ({ target }) => {
    state[slot] = target.value; faults = []; page = 0; choose(); share()
  }, "aria-label": WORDS.runs[i] }))
  const options = () => selects.forEach((select, i) => select.replaceChildren(...[
    i ? element("option", { value: "" }, WORDS.none) : "",
    own.size ? element("optgroup", { label: WORDS.yours }, [...own.keys()].map((name) => element("option", { value: name }, name))) : "",
    ...Object.keys(TITLES).map((name) => element("option", { value: name }, title(name))),
  ].filter(Boolean)))
  options()

  // Curves: a panel for each figure, drawn once; only dots and numbers follow the cursor.
  const curves = element("div", { class: "curves" }), live = element("p", { class: "unseen", role: "status" })
  let panels = []
  const chips = FIGURES.map((name) => element("button", { type: "button", onclick: () => {
    const on = new Set(state.figures.split(","))
    if (!on.delete(name)) on.add(name)
    state.figures = FIGURES.filter((one) => on.has(one)).join()
    rebuild(); changed()
  } }, name))
  const slider = element("input", { type: "range", min: 0, step: 1, "aria-label": WORDS.at, oninput: () => { stop(); go(Number(slider.value)) } })
  const number = element("output"), count = element("span")
  const go = (at) => { state.at = between(Math.round(at), 0, last); changed() }
  const stop = () => { clearInterval(playing); playing = undefined; button() }
  const button = () => {
    play.textContent = playing ? "❚❚" : "▶"
    play.setAttribute("aria-label", playing ? WORDS.pause : WORDS.play)
  }
  const play = element("button", { type: "button", class: "play", onclick: () => {
    if (playing) return stop()
    if (state.at >= last) state.at = 0
    playing = setInterval(() => state.at < last ? go(state.at + 1) : stop(), PACE)
    button()
  } })
  button()
  let field = null
  const drag = ({ clientX }) => {
    const { left, width } = field.getBoundingClientRect()
    go((clientX - left) / width * last)
  }
  curves.addEventListener("pointerdown", (event) => {
    field = event.target.closest(".field")
    if (!field) return
    stop()
    curves.setPointerCapture(event.pointerId)
    slider.focus({ preventScroll: true })
    drag(event)
    event.preventDefault()
  })
  curves.addEventListener("pointermove", (event) => { if (field) drag(event) })
  for (const end of ["pointerup", "pointercancel"]) curves.addEventListener(end, () => { field = null })

  const panel = (name) => {
    const columns = runs.map((run) => run?.figures[name] ?? [])
    const measured = columns.flatMap((column) => column.filter(() => true)) // filter leaves out holes
    if (!measured.length) return null
    const end = (of) => measured.reduce((a, b) => of(a, b)), least = end(Math.min), most = end(Math.max)
    const y = (x) => most > least ? 1 - (x - least) / (most - least) : 0.5
    const plot = svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": true })
    const dots = [], outputs = [], cursor = element("b")
    columns.forEach((column, i) => {
      let before = -2, d = ""
      const steps = column.flatMap((_, at) => [at]), gap = Math.max(1, (steps[1] ?? 1) - (steps[0] ?? 0))
      for (const at of steps) {
        d += `${at - before > gap ? "M" : "L"}${(at / last * 100).toFixed(2)} ${(y(column[at]) * 100).toFixed(2)}`
        before = at
      }
      plot.append(svg("path", { d, class: SLOTS[i] }))
      dots.push(element("i", { class: SLOTS[i] }))
      outputs.push(element("output", { class: SLOTS[i] }))
    })
    const node = element("figure", { class: "curve" },
      element("figcaption", {}, element("code", {}, name), outputs.filter((_, i) => runs[i])),
      element("div", { class: "field" }, plot, cursor, dots),
      element("small", {}, element("span", {}, brief(least)), element("span", {}, brief(most))))
    const update = () => {
      const left = `${last ? state.at / last * 100 : 0}%`
      cursor.style.left = left
      columns.forEach((column, i) => {
        const x = column[state.at]
        outputs[i].textContent = brief(x)
        dots[i].hidden = x === undefined
        if (x !== undefined) Object.assign(dots[i].style, { left, top: `${y(x) * 100}%` })
      })
    }
    return { name, node, update }
  }

  // Tokens: a column for each run.
  const scale = {} // what a full colour stands for, the same for both
  const strength = (x) => state.colour === "ratio" ? Math.log(x) / scale.ratio : x / scale[state.colour]
  const columns = SLOTS.map((slot) => {
    const head = element("h3", { class: slot }), body = element("div")
    return { head, body, node: element("div", { class: "said" }, head, body), rows: [] }
  })
  const legend = element("span", { class: "scale", "aria-hidden": true })
  const colours = Object.entries(WORDS.quantities).map(([name, label]) => element("button", { type: "button", "data-colour": name,
    onclick: () => { state.colour = name; rebuild(); changed() } }, label))
  const pages = element("p", { class: "pages" })
  const answersOf = (run) => run.answers ?? run.recorded.get(recordedAt(run, state.at)) ?? []
  const turnPage = (by) => element("button", { type: "button", onclick: () => { page += by; draw() } }, by < 0 ? WORDS.previous : WORDS.next)

  const heading = (run, at) => run.answers ? "" : at === undefined ? put(WORDS.unrecorded, WORDS.rows)
    : `${put(WORDS.recorded, at)}${at === state.at ? "" : lang === "zh" ? `，${WORDS.recordedOn}` : `, ${WORDS.recordedOn}`}`
  const fill = (column, run) => {
    column.body.replaceChildren()
    column.rows = []
    if (!run) return
    const quantity = QUANTITIES[state.colour]
    if (run.watched.length) {
      const says = element("strong"), question = element("span")
      const words = run.watched.findLast((one) => one)
      const rows = words.answers.map(() => tokenRow())
      column.body.append(element("h4", {}, WORDS.watched), element("p", { class: "asked" }, question, " ", WORDS.says, says),
        ...rows.map(({ node }) => node))
      const missing = element("p", { class: "hint" })
      column.body.append(missing)
      column.rows.push(() => {
        const at = Math.min(state.at, run.watched.length - 1), record = run.watched[at]
        if (!record) return
        question.textContent = record.question
        says.textContent = record.says
        const any = watchedNumbers(run, at, 0, state.colour)
        missing.textContent = any ? "" : put(WORDS.unrecorded, WORDS.quantities[state.colour])
        rows.forEach(({ update }, i) => {
          const tokens = [...record.answers[i]]
          while (tokens.length < record.log_probs[i].length) tokens.push("<eos>")
          update(tokens, watchedNumbers(run, at, i, state.colour), strength)
        })
      })
    }
    const when = element("h4"), missing = element("p", { class: "hint" })
    const rows = Array.from({ length: PAGE }, () => {
      const asked = element("p", { class: "asked" }), row = tokenRow(), node = element("div", {}, asked, row.node)
      return { asked, row, node }
    })
    column.body.append(when, ...rows.map(({ node }) => node), missing)
    let seen
    column.rows.push(() => {
      const at = run.answers ? undefined : recordedAt(run, state.at), answers = answersOf(run).slice(page * PAGE, (page + 1) * PAGE)
      when.textContent = heading(run, at)
      if (seen === `${at} ${page}`) return // what was sampled stays until the next record
      seen = `${at} ${page}`
      rows.forEach(({ asked, row, node }, i) => {
        const answer = answers[i]
        node.hidden = !answer
        if (!answer) return
        asked.textContent = `${run.answers ? put(WORDS.row, answer.question) : answer.question} `
        if (answer.score !== null) asked.append(element("small", {}, `${WORDS.score} ${shown(answer.score)}`))
        row.update(answer.tokens, quantity(answer.rows), strength)
      })
      missing.textContent = answers.some(({ rows: known }) => quantity(known)) || !answers.length ? ""
        : put(WORDS.unrecorded, WORDS.quantities[state.colour])
    })
  }

  // What follows from the choice of runs, figures and colour.
  const rebuild = () => {
    last = Math.max(0, ...runs.map((run) => run?.last ?? 0))
    state.at = Math.round(between(state.at, 0, last))
    slider.max = last
    const on = new Set(state.figures.split(","))
    panels = FIGURES.filter((name) => on.has(name)).map(panel).filter(Boolean)
    curves.replaceChildren(...panels.map(({ node }) => node))
    chips.forEach((chip, i) => {
      chip.setAttribute("aria-pressed", on.has(FIGURES[i]))
      chip.hidden = !runs.some((run) => run?.figures[FIGURES[i]])
    })
    timeline.hidden = hint.hidden = !last
    curves.hidden = !panels.length
    const all = runs.filter(Boolean).flatMap((run) => [
      ...[...run.recorded.values(), run.answers ?? []].flat().flatMap(({ rows }) => QUANTITIES[state.colour](rows) ?? []),
      ...run.watched.flatMap((record, at) => record.answers.flatMap((_, i) => watchedNumbers(run, at, i, state.colour) ?? [])),
    ]).filter((x) => x !== null)
    const large = (measure) => { // of 20 tokens one has more: a few extremes leave the rest its colours
      const sizes = Float64Array.from(all, measure).sort()
      return sizes[Math.floor(sizes.length * 0.95)] || sizes.at(-1)
    }
    scale[state.colour] = (state.colour === "probability" ? 1 : state.colour === "ratio"
      ? Math.min(large((x) => Math.abs(Math.log(x))), Math.LN2 * 2) : large(Math.abs)) || 1
    const end = scale[state.colour]
    const ends = { probability: ["", "0", "1"], ratio: [`≤ ${brief(Math.exp(-end))}`, "1", `≥ ${brief(Math.exp(end))}`] }[state.colour] ?? [`≤ ${brief(-end)}`, "0", `≥ ${brief(end)}`]
    legend.replaceChildren(...ends.map((text) => element("span", {}, text)))
    legend.classList.toggle("half", !ends[0])
    colours.forEach((choice) => choice.setAttribute("aria-pressed", choice.dataset.colour === state.colour))
    selects.forEach((select, i) => { select.value = state[SLOTS[i]] })
    columns.forEach((column, i) => {
      column.node.hidden = !runs[i]
      column.head.textContent = title(state[SLOTS[i]])
      fill(column, runs[i])
    })
    said.classList.toggle("pair", Boolean(runs[0] && runs[1]))
    copying.hidden = SLOTS.some((slot) => own.has(state[slot]))
    notes.hidden = !faults.length
    notes.replaceChildren()
    if (faults.length) tell(faults)
  }

  // Few have a fault to read of: its words come when there is one.
  const tell = async (now) => {
    const { told } = await import("./run_faults.js").catch(() => ({ told: (all) => all.map(({ file, got }) => `${file}: ${got}`) }))
    if (now === faults) notes.replaceChildren(...told(now).map((text) => element("li", {}, text)))
  }

  let resting
  const speak = () => {
    clearTimeout(resting) // not every number that passes by
    resting = setTimeout(() => {
      live.textContent = [put(WORDS.iteration, state.at), ...SLOTS.flatMap((slot, i) => runs[i]
        ? [`${title(state[slot])}: ${panels.map(({ name }) => `${name} ${brief(runs[i].figures[name]?.[state.at])}`).join(", ")}`] : [])].join(". ")
    }, 500)
  }
  const draw = () => {
    slider.value = state.at
    const named = state.at ? put(WORDS.iteration, state.at) : WORDS.before
    slider.setAttribute("aria-valuetext", named)
    number.textContent = named
    count.textContent = put(WORDS.of, last)
    panels.forEach(({ update }) => update())
    const longest = Math.max(0, ...runs.map((run) => run ? answersOf(run).length : 0))
    page = between(page, 0, Math.max(0, Math.ceil(longest / PAGE) - 1))
    pages.hidden = longest <= PAGE
    pages.replaceChildren(...page ? [turnPage(-1)] : [], ` ${WORDS.rows} ${page * PAGE + 1}–${Math.min((page + 1) * PAGE, longest)} / ${longest} `,
      ...(page + 1) * PAGE < longest ? [turnPage(1)] : [])
    columns.forEach(({ rows }) => rows.forEach((update) => update()))
    speak()
  }

  // Files of one's own.
  const input = (label, attributes) => {
    const choice = element("input", { type: "file", ...attributes, onchange: () => {
      open([...choice.files].map((file) => ({ path: file.webkitRelativePath || file.name, text: () => file.text() })))
      choice.value = ""
    } })
    return element("label", { class: "file" }, label, choice)
  }
  const notes = element("ul", { class: "fires", role: "alert", hidden: true })
  const timeline = element("div", { class: "timeline" }, play, slider, element("span", {}, number, " ", count))
  const hint = element("p", { class: "hint" }, WORDS.hint)
  const said = element("div", { class: "answers-of" }, columns.map(({ node }) => node))
  const copying = copyButton(() => python(state))
  const section = element("section", { class: "lab runs", "aria-label": WORDS.name },
    element("div", { class: "which" }, selects.map((select, i) => element("label", { class: SLOTS[i] }, element("span", {}, WORDS.runs[i]), select))),
    notes, hint, curves, timeline, live,
    element("div", { class: "chips", role: "group", "aria-label": WORDS.figures }, chips),
    element("div", { class: "colours" }, element("div", { class: "answers", role: "group", "aria-label": WORDS.colour }, colours), legend),
    said, pages, copying,
    element("details", { class: "own" }, element("summary", {}, WORDS.own), element("p", {}, WORDS.says_own),
      element("p", {}, input(WORDS.folder, { webkitdirectory: true }), " ", input(WORDS.files, { multiple: true, accept: ".json,.jsonl" }))))
  section.addEventListener("dragover", (event) => { event.preventDefault(); section.classList.add("over") })
  section.addEventListener("dragleave", () => section.classList.remove("over"))
  section.addEventListener("drop", async (event) => {
    event.preventDefault()
    section.classList.remove("over")
    const given = [...event.dataTransfer.items].filter(({ kind }) => kind === "file")
      .map((item) => [item.webkitGetAsEntry?.(), item.getAsFile()]) // gone after the first wait
    const { dropped } = await import("./run_folders.js")
    await open(await dropped(given))
  })
  if (given.length) await open(given)
  else await choose()
  place.replaceChildren(section)
}

// The same numbers, read from the same runs.
const NUMBERS = {
  advantages: ['r["advantages"]'],
  values: ['r["values"]', 'now["values"][i]'],
  rewards: ['r["token_level_rewards"]'],
  probability: ['[exp(x) for x in r["old_log_probs"]]', '[exp(x) for x in now["log_probs"][i]]'],
  ratio: ['[exp(x - y) for x, y in zip(r["new_log_probs"], r["old_log_probs"])]',
    '[exp(x - y) for x, y in zip(now["log_probs"][i], watched[at - 1]["log_probs"][i])]'],
}
const python = ({ first, second, at, colour, figures }) => `from math import exp
from ppo_ref.train.stored_runs import stored_run

at, figures = ${at}, ${JSON.stringify(figures.split(",").filter(Boolean))}
for name in ${JSON.stringify([...new Set([first, second].filter(Boolean))])}:
    run = stored_run(name)
    line = next((x for x in run.iterations if x["iteration"] == at), {})
    print(name, {figure: line.get(figure) for figure in figures})
    watched = [r for r in run.records if r["record"] == "watched"]
    for now in watched[at:at + 1]:
        print(name, now["question"], now["says"])${NUMBERS[colour][1] && (at || colour !== "ratio") ? `
        for i, answer in enumerate(now["answers"]):
            print(name, answer, ${NUMBERS[colour][1]})` : ""}${NUMBERS[colour][0] ? `
    answers = [r for r in run.records if r["record"] == "response" and r["iteration"] <= at]${colour === "ratio" ? `
    answers = [r for r in answers if "new_log_probs" in r]` : ""}
    for r in answers:
        if r["iteration"] == answers[-1]["iteration"]:
            print(name, r["question"], r["response"], ${NUMBERS[colour][0]})` : ""}
`
