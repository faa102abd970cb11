// What the widgets of the lab share: elements, sliders, cells that one drags, a state
// that travels in the address, a button that copies code.

export const lang = document.documentElement.lang.startsWith("zh") ? "zh" : "en"
const WORDS = {
  zh: { copy: "复制成 Python", copied: "已复制", again: "回到开头", cut: "断开的柱子画不下，实际更长。" },
  en: { copy: "Copy as Python", copied: "Copied", again: "Begin again", cut: "A broken bar is longer than it is drawn." },
}[lang]

// Only pages with a widget need its styles.
export const styles = (name) => new Promise((done) => document.head.append(
  Object.assign(document.createElement("link"), {
    rel: "stylesheet", href: new URL(name, import.meta.url), onload: done, onerror: done })))
export const styled = styles("lab.css")

export const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value)
    else if (value === true) made.setAttribute(key, "")
    else if (value !== false && value != null) made.setAttribute(key, value)
  }
  made.append(...children.flat())
  return made
}

export const svg = (tag, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

// A part of a plot, from one height to another; what leaves it is cut off there, so that
// no curve runs through the words above.
export const cropped = (width, top, bottom, ...children) =>
  svg("svg", { y: top, width, height: bottom - top, viewBox: `0 ${top} ${width} ${bottom - top}` }, ...children)

// Writes a text only where it is another: what is written is laid out anew.
export const write = (node, text) => { if (node.textContent !== String(text)) node.textContent = text }

// Where a widget goes: in the place of its picture, or, on a page that shows a view of it,
// into the room below the line that says what to try.
export const show = (place, section, view) => {
  if (view) section.classList.add("small")
  const room = view ? place.nextElementSibling : place
  room.replaceChildren(section)
}

// A number as people read it: no −0, and a real minus sign.
export const shown = (x, digits = 2) => (Math.abs(x) < 0.5 * 10 ** -digits ? 0 : x).toFixed(digits).replace("-", "−")
// Dual clip is off at 0; between that and 1 it would turn the loss around.
export const dualClip = (bound) => bound <= 1 ? 0 : bound
export const rounded = (x, step) => Number((Math.round(x / step) * step).toFixed(6))
export const between = (x, low, high) => Math.min(Math.max(x, low), high)

// What a full bar stands for, where the largest of its numbers is this.
const SCALES = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25]
export const scaleFor = (largest) => SCALES.find((scale) => scale >= largest - 1e-9) ?? largest

// Draws a bar as long as x is of `full`. A longer one is cut there, and looks broken.
export const drawBar = (cell, x, full) => {
  cell.style.setProperty("--x", between(x / full, -1, 1).toFixed(4))
  cell.classList.toggle("cut", Math.abs(x) > full + 1e-9)
}
// Says what a broken bar is while there is one.
export const cutNote = () => {
  const node = element("p", { class: "hint cut-note" }, WORDS.cut)
  return { node, update: () => { node.style.visibility = node.closest(".lab").querySelector(".bar.cut") ? "" : "hidden" } }
}

// Does it have the form of the example: the same keys and lengths, and numbers where
// numbers are? What comes from an address can be anything.
const fits = (value, example) =>
  Array.isArray(example)
    ? Array.isArray(value) && value.length === example.length && value.every((x, i) => fits(x, example[i]))
    : typeof value === typeof example && (typeof value !== "number" || Number.isFinite(value))

// The state of a widget in the address, as what differs from its beginning. Others see
// what they are sent, and Back leads where one was. A widget may write it shorter than
// JSON does: with `code`, that is its own.
const asJson = {
  read(sent, state) {
    const found = JSON.parse(sent)
    for (const key of Object.keys(state)) if (fits(found[key], state[key])) state[key] = found[key]
    return state
  },
  write(state, beginning) {
    const differs = Object.entries(state).filter(([key, value]) =>
      JSON.stringify(value) !== JSON.stringify(beginning[key]))
    return differs.length ? JSON.stringify(Object.fromEntries(differs)) : ""
  },
}
export const address = (name, code = asJson) => {
  let waiting
  return {
    read(state) {
      try { return code.read(new URLSearchParams(location.search).get(name) ?? "{}", state) }
      catch { return state } // not ours, or cut off: begin at the beginning
    },
    write(state, beginning) {
      clearTimeout(waiting) // browsers allow few changes a second
      waiting = setTimeout(() => {
        const here = new URL(location), sent = code.write(state, beginning)
        if (sent) here.searchParams.set(name, sent)
        else here.searchParams.delete(name)
        history.replaceState(history.state, "", here)
      }, 250)
    },
  }
}

// A named slider with its number beside it, or what that stands for.
export const slider = ({ label, min, max, step, get, set, text = get }) => {
  const number = element("output")
  const input = element("input", { type: "range", min, max, step, oninput: () => set(Number(input.value)) })
  const update = () => {
    if (number.textContent === String(text())) return
    input.value = get()
    number.textContent = text()
    input.setAttribute("aria-valuetext", text())
  }
  return { node: element("label", { class: "knob" }, element("span", {}, label), input, number), update }
}

export const choice = ({ label, options, get, set }) => {
  const select = element("select", { onchange: () => set(select.value) },
    options.map(([value, text, hidden]) => element("option", { value, hidden, disabled: hidden }, text)))
  return {
    node: element("label", { class: "knob" }, element("span", {}, label), select),
    update: () => { select.value = get() },
  }
}

export const tick = ({ label, get, set }) => {
  const input = element("input", { type: "checkbox", onchange: () => set(input.checked) })
  return { node: element("label", { class: "knob tick" }, input, element("span", {}, label)), update: () => { input.checked = get() } }
}

// Makes an element one that is dragged, or moved by the arrows. A finger drags sideways: up
// and down is for scrolling. So does a mouse, or, with `upright`, up and down, as what it
// moves does; left and right are then for the keys of `along`. `share` is the part of its
// width that lies between min and max, or `way` says how many pixels do.
const WAY = 180 // pixels from min to max, where a width is too small for that
const SLOP = 16 // pixels, by which every browser has decided whether a finger scrolls
export const draggable = (cell, { min, max, step, label, get, set, share, upright, way = () => share ? share * cell.clientWidth : WAY }) => {
  const move = (value) => set(rounded(between(value, min, max), step))
  const keys = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10, ...upright ? {} : { ArrowRight: 1, ArrowLeft: -1 } }
  const still = () => cell.getAttribute("aria-disabled") === "true"
  let from = null
  cell.classList.add("drag")
  for (const [key, value] of Object.entries({
    role: "slider", tabindex: 0, "aria-label": label, "aria-valuemin": min, "aria-valuemax": max,
  })) cell.setAttribute(key, value)
  cell.addEventListener("pointerdown", (event) => {
    if (still()) return
    const finger = event.pointerType === "touch"
    const at = upright && !finger ? ({ clientY }) => -clientY : ({ clientX }) => clientX
    from = { at, begun: at(event), value: get(), undecided: finger && { x: event.clientX, y: event.clientY } }
    cell.setPointerCapture(event.pointerId)
    cell.focus({ preventScroll: true, focusVisible: false })
    event.preventDefault()
  })
  cell.addEventListener("pointermove", (event) => {
    if (!from) return
    if (from.undecided) {
      const { x, y } = from.undecided, dx = event.clientX - x
      if (Math.abs(dx) < SLOP || Math.abs(dx) < Math.abs(event.clientY - y)) return
      from = { ...from, begun: from.begun + Math.sign(dx) * SLOP, undecided: false }
    }
    move(from.value + (from.at(event) - from.begun) / way() * (max - min))
  })
  for (const end of ["pointerup", "pointercancel"]) cell.addEventListener(end, () => { from = null })
  cell.addEventListener("keydown", (event) => {
    const { key } = event
    if (still()) return
    if (key === "Home" || key === "End") move(key === "Home" ? min : max)
    else if (key in keys) move(get() + keys[key] * step)
    else return
    event.preventDefault()
  })
}

// A row of a drawing is one stop for Tab: left and right go along it.
export const along = (nodes) => {
  const reach = (node) => { for (const other of nodes) other.setAttribute("tabindex", other === node ? 0 : -1) }
  reach(nodes[0])
  nodes.forEach((node, t) => {
    node.addEventListener("focus", () => reach(node))
    node.addEventListener("keydown", (event) => {
      const there = nodes[t + { ArrowRight: 1, ArrowLeft: -1 }[event.key]]
      if (!there || there.hasAttribute("hidden")) return
      there.focus()
      event.preventDefault()
    })
  })
}

// Calls draw at most once a frame, however often it is asked to.
export const onceAFrame = (draw) => {
  let asked = false
  return () => {
    if (asked) return
    asked = true
    requestAnimationFrame(() => { asked = false; draw() })
  }
}

// For who listens: what follows from a change, after a moment of rest. How a widget
// begins is not said.
export const aloud = () => {
  const node = element("p", { class: "unseen", role: "status" })
  let said, waiting
  return { node, say: (text) => {
    said ??= text
    clearTimeout(waiting)
    waiting = setTimeout(() => { if (text !== said) node.textContent = said = text }, 500)
  } }
}

export const againButton = (reset) => element("button", { type: "button", class: "again", onclick: reset }, WORDS.again)

export const copyButton = (text) => {
  const button = element("button", { type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(await text()) } catch { return code.hidden = false, code.textContent = await text() }
    button.textContent = WORDS.copied
    setTimeout(() => { button.textContent = WORDS.copy }, 1500)
  } }, WORDS.copy)
  const code = element("pre", { hidden: true }) // where a page may not write to the clipboard
  return element("div", { class: "copy" }, button, code)
}
