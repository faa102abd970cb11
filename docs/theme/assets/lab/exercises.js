// Exercises that are judged in the page, the puzzle of a page, and what was solved so far.
// What answers people give, and what there is to say to each, stands in the page:
// site_tools/finish/exercises.py. Judging touches no page; node tests it
// (tests/site/lab/test_exercises.py).

// A number as people write it: its value, and by how much another may differ from it.
const NUMBER = /^([-+]?(?:\d+\.?(\d*)|\.(\d+)))(?:\/(\d+(?:\.\d+)?))?([%‰]?)$/
export const readNumber = (text) => {
  const plain = text.normalize("NFKC").replace(/\s/g, "").replace(/[−–]/g, "-").replace(/,(?=\d{3}(?!\d))/g, "")
  const [, number, ...rest] = plain.match(NUMBER) ?? []
  if (number === undefined) return null
  const [decimals = rest[1] ?? "", , divisor, sign] = rest
  const scale = { "%": 0.01, "‰": 0.001 }[sign] ?? 1
  const half = divisor ? 0.005 : decimals || sign ? 0.5 * 10 ** -decimals.length : 0 // a count is exact
  return { value: Number(number) / (divisor ?? 1) * scale, half: half * scale, decimals: decimals.length }
}

const sameNumber = (given, shown) => {
  const [a, b] = [given, shown].map(readNumber)
  return Boolean(a && b) && Math.abs(a.value - b.value) <= b.half + 1e-9
}
const code = (text) => text.normalize("NFKC").replace(/\s/g, "").replaceAll("'", '"')
const sameCode = (given, shown) => code(given) === code(shown)

// Which of the answers of a list was given; what is right is looked at first. −1: none.
export const judge = (kind, answers, given) => {
  const same = { number: sameNumber, code: sameCode }[kind] ?? ((a, b) => a === b)
  const is = (right) => answers.findIndex((answer) => answer.right === right && same(given, answer.shown))
  return is(true) >= 0 ? is(true) : is(false)
}

// What a browser keeps: by page, the exercises solved, the guess at its puzzle, and of a
// test whether the first answer to each question was right. What it may not keep is
// known until the page is left.
const KEY = "ppo-course"
let kept = {}
const of = (page) => {
  try { kept = JSON.parse(localStorage.getItem(KEY)) ?? kept } catch { /* not allowed, or not ours */ }
  const { solved, guess, first } = kept[page] ?? {}
  const list = (x) => Array.isArray(x) ? x : []
  return { solved: list(solved), guess: typeof guess === "string" ? guess : "", first: list(first) }
}
const keep = (page, change) => {
  kept = { ...kept, [page]: { ...of(page), ...change } }
  try { localStorage.setItem(KEY, JSON.stringify(kept)) } catch { /* as above */ }
}
const forget = () => {
  kept = {}
  try { localStorage.removeItem(KEY) } catch { /* as above */ }
}

export const mount = () => {
  const all = (where, inside = document) => [...inside.querySelectorAll(where)]
  const make = (tag, name, ...children) => {
    const made = Object.assign(document.createElement(tag), { className: name })
    made.append(...children)
    return made
  }
  const page = all("[id^=on-]")[0]?.id.slice(3)

  // The answers of a list. What is said to one is all of its item but the answer.
  const read = (list) => [...list.children].map((item) => ({
    right: item.matches(".right"),
    shown: all(".mark + *", item)[0].textContent,
    words: () => [...all(".mark + *", item)[0].cloneNode(true).childNodes], // with its formulas
    said: (without = ".mark + *") => {
      const copy = item.cloneNode(true)
      for (const part of all(without, copy)) {
        const after = part.nextSibling
        if (!part.matches(".mark") && after?.data) after.data = after.data.replace(/^[\s:：,，.。;；—–-]+/, "")
        part.remove()
      }
      return [...copy.childNodes]
    },
  }))

  // Lets a reader answer: calls `given` with the number of the answer and what was given.
  const ask = (box, list, answers, given) => {
    const [asked] = all(".attempt", box), { kind } = list.dataset
    asked.hidden = asked.inert = false
    const buttons = all("li", asked).map((option, i) => {
      const button = make("button", "", ...option.childNodes)
      button.type = "button"
      button.onclick = () => given(i, String(i))
      option.replaceChildren(button)
      return button
    })
    const press = (i) => buttons.forEach((each, j) => each.setAttribute("aria-pressed", j === i))
    press(-1)
    const [input] = all("input", asked)
    if (input) asked.onsubmit = (event) => {
      event.preventDefault()
      if (input.value.trim()) given(judge(kind, answers, input.value), input.value)
    }
    return { press, input, choice: kind === "choice" }
  }

  // Of a test, the first answer to a question counts.
  const [test] = all(".first-answers")
  const tally = () => {
    const { first } = of(page)
    all("output", test)[0].textContent = `${first.filter((right) => right).length} / ${folds.length}`
  }
  const markFirst = (number, right) => {
    const first = [...of(page).first]
    if (!test || typeof first[number] === "boolean") return
    first[number] = right
    keep(page, { first })
    tally()
  }

  const folds = all("details.exercise"), progress = make("span", "progress")
  const count = () => {
    progress.textContent = ` ${of(page).solved.filter((i) => folds[i]).length} / ${folds.length}`
  }
  folds.forEach((fold, number) => {
    const [list, told, show, solution] = [".judged", ".told", ".show", ".solution"].map((where) => all(where, fold)[0])
    const answers = read(list)
    const mark = make("span", "mark right", " ✓")
    const open = () => { solution.hidden = false; show.hidden = true }
    const succeed = () => { all("summary", fold)[0].append(mark); open() }
    show.onclick = () => { markFirst(number, false); open() } // who looks has not answered
    const { press } = ask(fold, list, answers, (i) => {
      const answer = answers[i]
      if (answer) markFirst(number, answer.right) // what nobody foresaw may be a slip
      press(i)
      told.className = `told ${answer?.right ? "right" : "wrong"}`
      told.replaceChildren(...(answer ? answer.said() : [told.dataset.unknown]))
      if (!answer?.right) return
      keep(page, { solved: [...new Set([...of(page).solved, number])] })
      succeed()
      count()
    })
    list.hidden = solution.hidden = true
    show.hidden = false
    if (of(page).solved.includes(number)) succeed()
  })
  if (folds[0]) {
    let above = folds[0]
    while (above && above.tagName !== "H2") above = above.previousElementSibling
    above?.append(progress)
    count()
  }

  const [puzzle] = all(".puzzle"), [later] = all(".come-back")
  if (puzzle && later) {
    const [list] = all(".judged", puzzle), [told] = all(".told", puzzle), answers = read(list)
    const { press, input, choice } = ask(puzzle, list, answers, (_, guess) => { keep(page, { guess }); tell() })
    const tell = () => {
      const { guess } = of(page), right = answers.find((answer) => answer.right)
      const i = choice ? guess && Number(guess) : judge(list.dataset.kind, answers, guess), answer = guess && answers[i]
      const bold = (...words) => make("strong", "", ...words)
      press(i)
      told.textContent = guess && told.dataset.kept
      later.replaceChildren(make("p", "", ...(guess ? [later.dataset.guess, bold(...(choice ? answer?.words() ?? [] : [guess])), " "] : [later.dataset.none]), ...(answer ? answer.said() : [])))
      if (!answer?.right) later.append(make("p", "", later.dataset.answer, bold(...right.words()), " ", ...right.said()))
    }
    if (input) input.value = of(page).guess
    all("details", puzzle)[0].hidden = true
    later.hidden = false
    tell()
  }

  if (test) {
    all("button", test)[0].onclick = () => { keep(page, { first: [], solved: [] }); location.reload() }
    tally()
    test.inert = false
  }

  const [sum] = all(".progress-of-all:not(.first-answers)")
  const list = () => {
    let solved = 0, total = 0
    for (const step of all("[data-exercises]")) {
      const count = Number(step.dataset.exercises), here = of(step.dataset.page).solved.filter((i) => i < count).length
      if (step.nextElementSibling?.className === "progress") step.nextElementSibling.remove()
      if (here) step.after(make("span", "progress", ` ${here} / ${count}`))
      solved += here
      total += count
    }
    all("output", sum)[0].textContent = `${solved} / ${total}`
  }
  if (sum) {
    all("button", sum)[0].onclick = () => { forget(); list() }
    list()
    sum.inert = false
  }
}
