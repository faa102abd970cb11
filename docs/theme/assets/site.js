// The theme's script is a third of a page, and whoever reads the answer needs nothing of
// it: it comes with the first sign of a reader. What only it can answer, a click or a
// key, is kept, and put to it once it is there.
{
  const later = document.querySelector("script[type=later]")
  const signs = ["pointermove", "pointerdown", "touchstart", "keydown", "wheel", "scroll", "focusin", "click"]
  let asked, key
  const fetchTheme = (event) => {
    for (const sign of signs) removeEventListener(sign, fetchTheme, true)
    if (event.type === "keydown" && !event.target.closest("article")) key = event
    const script = document.createElement("script")
    script.src = later.src
    script.onload = () => {
      document.addEventListener("DOMContentLoaded", ready, { once: true })
      if (document.readyState !== "loading") document.dispatchEvent(new Event("DOMContentLoaded"))
    }
    document.body.append(script)
  }
  const wait = (event) => {
    const control = event.target.closest('label[for^="__palette"], label[for="__search"], [data-clipboard-text]')
    if (!control) return
    event.preventDefault()
    event.stopImmediatePropagation()
    asked = control
  }
  const ready = () => {
    removeEventListener("click", wait, true)
    dispatchEvent(new Event("theme"))
    asked?.click()
    key?.target.dispatchEvent(new KeyboardEvent("keydown", key))
  }
  if (later) {
    for (const sign of signs) addEventListener(sign, fetchTheme, { capture: true, passive: true })
    addEventListener("click", wait, true)
    // Until then: that there are scripts, and the switch of the colours.
    document.documentElement.classList.replace("no-js", "js")
    let chosen
    try { chosen = __md_get("__palette")?.index } catch { /* a browser that keeps nothing */ }
    document.querySelectorAll('label[for^="__palette"]')[chosen ?? 0].hidden = false
  }
}

// The language switch keeps the section, and what is set in a drawing; without scripts it
// keeps the page.
for (const link of document.querySelectorAll("a.language")) {
  const follow = () => { link.hash = location.hash; link.search = location.search }
  for (const event of ["pointerover", "focus", "click"]) link.addEventListener(event, follow)
  follow()
}

// What scrolls sideways within itself can be reached by keyboard. The theme puts a box
// around tables.
const reachBoxes = () => {
  for (const box of document.querySelectorAll(".arithmatex, .tabbed-labels, .md-typeset__scrollwrap, .md-typeset :is(table:not([class]), pre > code)")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
    else box.removeAttribute("tabindex")
  }
}
reachBoxes()
addEventListener("theme", () => setTimeout(reachBoxes))

// One switch shows where figures come from; it is remembered where that is allowed.
const remembered = (value) => {
  try {
    if (value !== undefined) localStorage.setItem("provenance", value)
    return localStorage.getItem("provenance") === "true"
  } catch { return value }
}
for (const button of document.querySelectorAll("button.provenance")) {
  const show = (on) => {
    document.documentElement.classList.toggle("show-provenance", on)
    button.setAttribute("aria-pressed", on)
  }
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true"
    show(on)
    remembered(on)
  })
  show(remembered() ?? false)
  button.hidden = false
}

// An anchor that moved leads on; what is folded opens for whoever was sent there.
const leadOn = () => {
  const place = document.getElementById(location.hash.slice(1))
  for (let fold = place?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true
  if (place?.matches(".moved")) location.replace(place.querySelector("a").href)
}
addEventListener("hashchange", leadOn)
leadOn()

// What is copied from a box goes on from what is copied from the one before.
let copied = ""
for (const { dataset } of document.querySelectorAll("[data-copy], [data-more]")) copied = dataset.copy ??= copied + dataset.more

// The same as a script that says in front what it needs (PEP 723): uv run installs that,
// the package from the site itself.
const wheel = document.querySelector('.install a[href$=".whl"]')?.href
for (const button of document.querySelectorAll("button.script")) {
  const { copy = button.parentElement.querySelector("code").textContent.trimEnd() } = button.closest("[class*=highlight]").dataset
  const needs = button.dataset.needs.split(" ").map((name) => name === "ppo-ref" ? `${name} @ ${wheel}` : name)
  const lines = needs.map((need) => `#   ${JSON.stringify(need)},\n`).join("")
  button.dataset.clipboardText = `# /// script\n# requires-python = ">=3.11"\n# dependencies = [\n${lines}# ]\n# ///\n${copy}`
  button.hidden = false
}

// The theme wraps the button of every code box in a landmark, all of them nameless.
addEventListener("theme", () => {
  for (const nav of document.querySelectorAll(".md-code__nav")) nav.role = "none"
})

// pip needs the whole address of the wheel, wherever the site is being read.
for (const line of document.querySelectorAll(".install")) {
  const link = line.querySelector("a"), button = line.querySelector("button")
  link.textContent = link.href
  button.dataset.clipboardText = link.parentElement.textContent
  button.hidden = false
}

// What is pasted into a thread ends with the address of the page, that of the published
// site where this is a copy of it.
for (const button of document.querySelectorAll("button.comment")) {
  const home = document.querySelector("link[rel=canonical]")?.href ?? location.href
  const short = button.parentElement.querySelector("a")?.getAttribute("href") ?? "./"
  button.dataset.clipboardText += new URL(short, home)
  button.hidden = false
}

// A picture that can be operated is replaced by its widget when it comes into view. A line
// that says what to try, with data-lab="explorer/inputs", gets that view of the explorer
// below it, where room is kept. A copy on disk has none of it: browsers load no modules
// from files.
const scripts = new URL(document.currentScript?.src ?? "assets/site.js", location)
const places = new Set(document.querySelectorAll("[data-lab]"))
const start = (name, ...given) => import(new URL(`lab/${name}.js`, scripts)).then(({ mount }) => mount(...given)).catch(() => {})
const mountWidget = (place) => {
  if (!places.delete(place)) return
  const [widget, view] = place.dataset.lab.split("/")
  start(widget, place, view)
}
const served = location.protocol !== "file:"
if (served && document.querySelector(".judged, [data-exercises]")) start("exercises")
// Within another page, with ?embed=1, there is the first widget alone.
if (served && /[?&]embed=1/.test(location.search)) start("embed")
const waiting = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) if (isIntersecting) mountWidget(target)
}, { rootMargin: "200px" })
for (const place of places) {
  if (served) { waiting.observe(place); continue }
  place.hidden = place.matches("p")
  ;(place.hidden ? place.nextElementSibling : place).classList.remove("room")
}
// Who goes by Tab would otherwise pass by what is not yet in view.
addEventListener("keydown", ({ key }) => {
  if (key === "Tab" && served) places.forEach(mountWidget)
})
