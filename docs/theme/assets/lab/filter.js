// A long list in folded groups, filtered by words and by kind. The page is whole without
// it: this hides what does not fit, and opens the groups in which something does.
import { choice, label, make } from "./elements.js"

const WORDS = {
  en: { find: "Find", told: "Told in", topic: "Topic", kind: "Kind", every: "all", found: (n, all) => `${n} of ${all}` },
  zh: { find: "查找", told: "出自", topic: "主题", kind: "种类", every: "全部", found: (n, all) => `${n} / ${all} 条` },
}[document.documentElement.lang.slice(0, 2)]

export const mount = (list, asks) => {
  const items = [...list.querySelectorAll("[data-of]")].map((item) => ({ item, text: item.textContent.toLowerCase() }))
  const groups = [...list.querySelectorAll("details.group")], first = list.querySelector("#first")
  const kinds = [...new Set(items.map(({ item }) => item.dataset.of))]
  const q = make("input", { type: "search", name: "find" })
  const kind = choice("of", [["", WORDS.every], ...kinds.map((text) => [text, text])])
  const told = make("output")
  list.querySelector(".count").after(make("div", { className: "tools" }, label(WORDS.find, q), label(WORDS[asks], kind), told))

  const draw = () => {
    const words = q.value.toLowerCase().split(/\s+/).filter(Boolean), asked = words.length > 0 || kind.value !== ""
    let shown = 0
    for (const { item, text } of items) {
      item.hidden = (kind.value && item.dataset.of !== kind.value) || !words.every((word) => text.includes(word))
      shown += !item.hidden
    }
    for (const group of groups) {
      group.hidden = !group.querySelector("[data-of]:not([hidden])")
      group.open = asked && !group.hidden
    }
    if (first) first.hidden = !first.nextElementSibling.querySelector("[data-of]:not([hidden])")
    told.textContent = asked ? WORDS.found(shown, items.length) : ""
    const address = new URL(location.href)
    for (const field of [q, kind]) field.value ? address.searchParams.set(field.name, field.value) : address.searchParams.delete(field.name)
    history.replaceState(history.state, "", address)
  }
  const given = new URLSearchParams(location.search)
  for (const field of [q, kind]) {
    field.value = given.get(field.name) ?? ""
    field.addEventListener("input", draw)
  }
  if (kind.selectedIndex < 0) kind.value = ""
  if (q.value || kind.value) draw()
  // A link leads to a part that may be folded.
  const lead = () => {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)))
    const group = place?.closest("details.group")
    if (!group || !list.contains(group) || group.open) return
    group.open = true
    place.scrollIntoView()
  }
  addEventListener("hashchange", lead)
  lead()
}
