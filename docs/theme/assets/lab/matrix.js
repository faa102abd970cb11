// The releases side by side, filtered, and what changed in verl between two of them. The
// page is whole without it: this hides rows, columns and changes, as the address says.
import { choice, label, make } from "./elements.js"

const WORDS = {
  en: { find: "Find", topic: "Topic", every: "all", beside: "beside", all: "all releases",
    differ: "Only where they differ", rows: (n, all) => `${n} of ${all} rows`, from: "From", to: "to",
    told: (n) => `${n} ${n === 1 ? "change" : "changes"}`, between: (n) => `What changed in verl between the two: ${n}` },
  zh: { find: "查找", topic: "主题", every: "全部", beside: "对比", all: "全部版本",
    differ: "只看不同的", rows: (n, all) => `${n} / ${all} 行`, from: "从", to: "到",
    told: (n) => `改动 ${n} 处`, between: (n) => `这两版之间 verl 改了 ${n} 处` },
}[document.documentElement.lang.slice(0, 2)]
const plain = (name) => name.toLowerCase().replace(/[^a-z0-9]+/g, "-")

const begin = () => {
  const table = document.querySelector("table.releases"), line = document.querySelector("ol.timeline")
  const heads = [...table.tHead.rows[0].cells], names = heads.map((head) => head.textContent.trim())
  const ids = heads.map((head) => plain(head.firstChild.textContent.trim()))
  const bodies = [...table.tBodies].map((body) => ({ body, title: body.querySelector("h3"),
    rows: [...body.rows].slice(1).map((row) => ({ row, text: row.textContent.toLowerCase(), cells: [...row.cells] })) }))
  const releases = [...new Set([names[1], ...line.textContent.match(/verl \d\S*/g)])]
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
  const order = releases.map(plain), now = ids[1]

  const q = make("input", { type: "search", name: "q" }), differ = make("input", { type: "checkbox", name: "differ", value: "1" })
  const topic = choice("topic", [["", WORDS.every], ...bodies.map(({ title }) => [title.id.slice(9), title.textContent])])
  const beside = choice("with", [["", WORDS.all], ...names.slice(2).map((name, i) => [ids[i + 2], name])])
  const [from, to] = ["from", "to"].map((name) => choice(name, releases.map((each, i) => [order[i], each])))
  const fields = [q, topic, beside, differ, from, to]
  const told = make("output"), count = make("output")
  const tools = make("div", { className: "tools" }, label(WORDS.find, q), label(WORDS.topic, topic),
    label(`${names[1]} ${WORDS.beside}`, beside), make("label", {}, differ, " ", WORDS.differ), told)
  table.parentElement.before(tools)
  line.before(make("div", { className: "tools" }, label(WORDS.from, from), label(WORDS.to, to), count))

  const drawChanges = () => {
    const [first, last] = [from, to].map(({ value }) => order.indexOf(value))
    let n = 0
    for (const item of line.children) {
      const at = order.indexOf(item.querySelector("h3").id.slice(6))
      item.hidden = at <= first || at > last
      if (!item.hidden) n += item.querySelectorAll(".claim").length
    }
    count.textContent = WORDS.told(n)
    return n
  }
  const draw = () => {
    const chosen = ids.indexOf(beside.value, 2), away = (i) => chosen > 1 && i > 1 && i !== chosen
    const words = q.value.toLowerCase().split(/\s+/).filter(Boolean)
    let shown = 0, all = 0
    table.classList.toggle("two", chosen > 1)
    heads.forEach((head, i) => { head.hidden = away(i) })
    for (const { body, title, rows } of bodies) {
      for (const { row, text, cells } of rows) {
        cells.forEach((cell, i) => { cell.hidden = away(i) })
        const alike = (cell, i) => i < 2 || cell.hidden || ["same", cells[1].className].includes(cell.className)
        row.hidden = !(title.id.endsWith(topic.value) && words.every((word) => text.includes(word)))
          || (differ.checked && cells.every(alike))
        shown += !row.hidden
        all += 1
      }
      body.hidden = rows.every(({ row }) => row.hidden)
    }
    told.textContent = WORDS.rows(shown, all)
    const n = drawChanges()
    if (beside.value === from.value && to.value === now) {
      told.append(" · ", make("a", { href: "#timeline" }, WORDS.between(n)))
    }
  }

  // On a phone two columns have room; all of them scroll sideways for whoever asks.
  const usual = { q: "", topic: "", with: matchMedia("(max-width: 60em)").matches ? ids[2] : "", differ: "",
    from: order[0], to: now }
  const value = (field) => field === differ ? (differ.checked ? "1" : "") : field.value
  const set = (field, given) => { if (field === differ) differ.checked = given; else field.value = given }
  const pick = () => { if (order.includes(beside.value)) [from.value, to.value] = [beside.value, now] }
  const sent = new URLSearchParams(location.search)
  for (const field of fields) {
    const given = sent.get(field.name)
    // Of an address from elsewhere, what no choice has is left out.
    const known = given !== null && (!field.options || [...field.options].some((option) => option.value === given))
    set(field, known ? given : usual[field.name])
  }
  if (sent.has("with") && !sent.has("from")) pick()
  const changed = ({ target }) => {
    if (target === beside) pick()
    if ((target === from || target === to) && to.value === now && ids.includes(from.value, 2)) beside.value = from.value
    draw()
    const here = new URL(location)
    for (const field of fields) {
      if (value(field) === usual[field.name]) here.searchParams.delete(field.name)
      else here.searchParams.set(field.name, value(field))
    }
    history.replaceState(history.state, "", here)
  }
  for (const field of fields) field.addEventListener("input", changed)
  draw()

  // An open cell is closed by Escape, or by turning elsewhere.
  const close = (but) => {
    for (const cell of table.querySelectorAll("details[open]")) if (!cell.contains(but)) cell.open = false
  }
  document.addEventListener("pointerdown", ({ target }) => close(target))
  document.addEventListener("keydown", ({ key, target }) => {
    if (key !== "Escape") return
    target.closest?.("details.cell")?.firstElementChild.focus()
    close()
  })
  // A row that a link leads to is there, whatever was chosen.
  const lead = () => {
    const place = document.getElementById(location.hash.slice(1))
    if (!place || !table.contains(place) || !place.closest("[hidden]")) return
    for (const field of [q, topic, differ]) set(field, "")
    draw()
    place.scrollIntoView()
  }
  addEventListener("hashchange", lead)
  lead()
}
let begun = false
export const mount = () => {
  if (!begun) begin()
  begun = true
}
