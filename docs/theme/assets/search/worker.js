// Answers the theme's search box (messages of Material 9: READY 1, QUERY 2, RESULT 3).
//
// It begins with the titles, verdicts and other wordings of all pages (FIRST, which
// start.js sends): a twentieth of the index, there a second or two sooner on a slow
// phone. Once the whole index has come, the last query is answered again.
//
// Every word is looked for as it stands in every section. Chinese needs no dictionary
// so, code no syntax: the theme's own lunr takes "-T-1" for an exclusion, drops the last
// word of a Chinese query, and cuts titles where its dictionary happens to.
const READY = 1, QUERY = 2, RESULT = 3, FIRST = 4
const GREEK = ("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi " +
  "omicron pi rho sigma sigma tau upsilon phi chi psi omega").split(" ")
const NEVER = "\0"
const HAN = /\p{sc=Han}/u

// One spelling for all: full width, hats, capitals, δ and delta, − and -.
const fold = (text) =>
  text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/\u2212/g, "-")
    .replace(/[α-ω]/g, (letter) => ` ${GREEK[letter.charCodeAt(0) - 0x3b1]} `)

// A blank on both sides of every word; a run of Chinese counts as one.
const words = (text) =>
  ` ${fold(text).replace(/\p{sc=Han}+/gu, " $& ").replace(/[^\p{L}\p{N}.]+|\.(?!\d)/gu, " ")} `

// Without what people leave out when they type code or a formula.
const literal = (text) => fold(text).replace(/[\s_\\{}$`]+/g, "")

const stem = (word) =>
  word.length < 4 ? word : word.replace(/ies$|(s)es$|([^s])s$/, "$1$2")

// What is said in passing, unless nothing else is.
const PASSING = /^([的是和与了吗呢在]|the|a|an|is|are|of|in|to|and|what|how|does|do|my)$/
const told = (all) => all.some((word) => !PASSING.test(word)) ? all.filter((word) => !PASSING.test(word)) : all

// What to look for: Chinese in pairs of characters, other words by their beginning,
// numbers and single letters only whole.
const termsOf = (query) => new Set(told(words(query).split(" ").filter(Boolean)).flatMap((word) =>
  HAN.test(word)
    ? word.length === 1 ? [word] : Array.from(word.slice(1), (_, i) => word.slice(i, i + 2))
    : [/^([\d.]+|.)$/.test(word) ? ` ${word} ` : ` ${stem(word)}`]))

// What something is called, singular or plural alike.
const named = (text) => [...termsOf(text)].join()

// Pairs that no page has, between two that some page has: the end of one Chinese word
// and the beginning of the next. They say nothing of what was looked for.
const straddling = (query, isKnown) => {
  const found = new Set()
  for (const [run] of fold(query).matchAll(/\p{sc=Han}{4,}/gu)) {
    for (let at = 1; at + 3 <= run.length; at++) {
      const pair = run.slice(at, at + 2)
      const before = run.slice(at - 1, at + 1), behind = run.slice(at + 1, at + 3)
      if (!isKnown(pair) && isKnown(before) && isKnown(behind)) found.add(pair)
    }
  }
  return found
}

const count = (text, term) => {
  let found = 0
  for (let at = text.indexOf(term); at >= 0 && found < 9; at = text.indexOf(term, at + 1)) found++
  return found
}

// What a section is worth for one thing looked for: a title more than other wordings of
// the question, those more than a heading, a heading more than the text. The more of a
// title it is, the better.
const worth = (section, kind, sought) => {
  const { title, names, text } = section[kind]
  const times = count(text, sought)
  return (title.includes(sought) ? (section.whole ? 6 : 3) + 6 * sought.length / title.length : 0) +
    (names.includes(sought) ? 5 : 0) + times / (times + 1)
}

const prepare = (doc) => {
  const { title, aliases = [], names = [], text } = doc
  const others = [...aliases, ...names]
  const fields = [title, others.join(" / "), text]
  const called = new Set([title, ...others].map(named))
  const as = (how) => Object.fromEntries(["title", "names", "text"].map((key, i) => [key, how(fields[i])]))
  return { doc, called, whole: !doc.location.includes("#"), words: as(words), literal: as(literal) }
}

const escape = (text) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`)

const marker = (terms) => {
  const spelled = [...terms].map((term) => HAN.test(term) ? term : term.trim().replace(/[.]/g, "\\$&") + (term.endsWith(" ") ? "(?![a-z\\d])" : "[a-z]*"))
  const either = (some) => some.join("|") || "(?!)"
  const chinese = either(spelled.filter((term) => HAN.test(term)))
  const others = either(spelled.filter((term) => !HAN.test(term)))
  return new RegExp(`(^|[^a-z\\d])(${others})|(${chinese})`, "giu")
}

const mark = (text, pattern) =>
  escape(text.replace(pattern, "$1\x01$2$3\x02")).replace(/\x02\x01/g, "")
    .replace(/\x01/g, "<mark>").replace(/\x02/g, "</mark>")

// From a little before the query itself, or the first word of it.
const excerpt = (text, query, pattern) => {
  const whole = text.toLowerCase().indexOf(query.trim().toLowerCase())
  const from = Math.max(0, (whole < 0 ? text.search(pattern) : whole) - 30)
  return (from ? "…" : "") + mark(text.slice(from, from + 160), pattern) + (text.length > from + 160 ? "…" : "")
}

// How much of what was looked for the best page holds; a word only in its text counts
// half. Below this, no page is found: measured on tests/browser/queries.yml. Whoever tells
// his trouble in many words uses some that no page has.
const COVERED = 0.4, MANY = 6, COVERED_OF_MANY = 0.25
const share = (sections, sought) =>
  sections.some(({ words: { title, names } }) => (title + names).includes(sought)) ? 1
    : sections.some(({ words: { text } }) => text.includes(sought)) ? 0.5 : 0
const covered = (pages, hits, query) => {
  const isKnown = (pair) => hits.get(pair)?.length > 0
  const unsaid = straddling(query, isKnown)
  const weights = Array.from(hits, ([term, found]) => [term, Math.log(1 + pages.length / (found.length || 0.5))])
    .filter(([term]) => !unsaid.has(term))
  const held = (sections) => weights.reduce((sum, [term, weight]) => sum + weight * share(sections, term), 0)
  return Math.max(...pages.map(held)) / weights.reduce((sum, [, weight]) => sum + weight, 0)
}

const search = ({ pages, uncovered }, query) => {
  const terms = termsOf(query)
  const whole = terms.size > 1 || /[^\p{L}\p{N}\s]/u.test(query) ? literal(query) : NEVER
  if (!terms.size) return []
  const typed = named(query)
  const hits = new Map(Array.from(terms, (term) => [term, pages.filter((sections) =>
    sections.some(({ words: { title, names, text } }) => (title + names + text).includes(term)))]))
  const rarity = new Map(Array.from(hits, ([term, found]) => [term, Math.log(1 + pages.length / (found.length || Infinity))]))
  const all = [...rarity.values()].reduce((sum, value) => sum + value, 0)
  const pattern = marker(terms)
  const results = [...new Set([...hits.values()].flat())].map((sections) => {
    const best = new Map()
    const raise = (key, value) => best.set(key, Math.max(best.get(key) ?? 0, value))
    const items = sections.map((section) => {
      let score = 12 * all * worth(section, "literal", whole)
      if (section.called.has(typed)) score += 15 * all // more than any mention
      raise("", score)
      for (const [term, weight] of rarity) {
        const value = worth(section, "words", term) * weight
        raise(term, value)
        score += value
      }
      const { location, title, text } = section.doc
      return { location, score, terms: {}, whole: section.whole, title: mark(title, pattern), text: excerpt(text, query, pattern) }
    }).filter((item) => item.score > 0 || item.whole)
    // The theme shows the first section in full and folds those behind it.
    items.sort((a, b) => a.whole - b.whole || b.score - a.score)
    const found = [...terms].filter((term) => best.get(term) > 0).length / terms.size
    const page = sections.find(({ whole }) => whole)
    const boost = page?.called.has(typed) ? 1 : page?.doc.boost ?? 1
    return { items, score: boost * found * [...best.values()].reduce((sum, value) => sum + value, 0) }
  })
  const ranked = results.sort((a, b) => b.score - a.score).map(({ items }) => items)
  const enough = terms.size > MANY ? COVERED_OF_MANY : COVERED
  if (!uncovered || covered(pages, hits, query) >= enough) return ranked
  const notice = { location: uncovered.location, score: Infinity, terms: {}, whole: true,
    title: escape(uncovered.title.replace("{}", query.trim())), text: uncovered[ranked.length ? "text" : "alone"] }
  return [[notice], ...ranked]
}

const indexed = ({ docs, uncovered }) => {
  const pages = new Map()
  for (const doc of docs) {
    const [page] = doc.location.split("#")
    pages.set(page, [...pages.get(page) ?? [], prepare(doc)])
  }
  return { pages: [...pages.values()], uncovered }
}

let index, asked

const answer = () => {
  if (asked === undefined) return
  const items = search(index, asked)
  // What the titles do not hold, the texts may.
  if (items.length || index.uncovered) postMessage({ type: RESULT, data: { items } })
}

const begin = async (first) => {
  index = indexed(first)
  postMessage({ type: READY })
  const whole = await fetch(new URL("../../search/search_index.json", location))
  index = indexed(await whole.json())
  answer()
}

addEventListener("message", ({ data: { type, data } }) => {
  if (type === FIRST) begin(data)
  if (type === QUERY) {
    asked = data
    answer()
  }
})
