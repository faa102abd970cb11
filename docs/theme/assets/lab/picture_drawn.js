// Draws a picture of what a widget shows: see picture.js.
import { element, svg } from "./lab.js"

const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "text-anchor", "paint-order", "stroke-linejoin", "writing-mode"]
const MARGIN = 16, LINE = 22, SHARP = 2

// A copy that needs no style sheet.
const flat = (drawing) => {
  const copy = drawing.cloneNode(true)
  const originals = drawing.querySelectorAll("*"), copies = copy.querySelectorAll("*")
  originals.forEach((node, i) => {
    const style = getComputedStyle(node)
    if (style.display === "none") return copies[i].remove()
    for (const look of LOOKS) copies[i].setAttribute(look, style.getPropertyValue(look))
    copies[i].removeAttribute("class")
  })
  return copy
}

// A text in lines that are no wider than that.
const broken = (text, width, font) => {
  const pen = document.createElement("canvas").getContext("2d"), lines = [""]
  pen.font = font
  for (const part of text.split(/(?<=[ \u3000-\u9fff\uff00-\uffef])/)) {
    if (pen.measureText(lines.at(-1) + part).width > width) lines.push("")
    lines[lines.length - 1] += part
  }
  return lines
}

const asPicture = (drawings, lines) => {
  const box = drawings[0].closest(".lab"), style = getComputedStyle(box)
  const width = Math.max(...drawings.map((drawing) => drawing.clientWidth)) + 2 * MARGIN
  const parts = []
  let y = MARGIN
  for (const drawing of drawings) {
    const copy = flat(drawing), height = drawing.clientHeight
    for (const [key, value] of Object.entries({ x: MARGIN, y, width: drawing.clientWidth, height })) copy.setAttribute(key, value)
    parts.push(copy)
    y += height + LINE / 2
  }
  for (const line of lines.flatMap((text) => broken(text, width - 2 * MARGIN, `13px ${style.fontFamily}`))) {
    y += LINE
    const text = svg("text", { x: MARGIN, y, fill: style.color, "font-size": 13 })
    text.textContent = line
    parts.push(text)
  }
  const height = y + MARGIN
  const whole = svg("svg", { width: width * SHARP, height: height * SHARP, viewBox: `0 0 ${width} ${height}`, "font-family": style.fontFamily, xmlns: "http://www.w3.org/2000/svg" },
    svg("rect", { width, height, fill: style.backgroundColor }), ...parts)
  return { source: new XMLSerializer().serializeToString(whole), width: width * SHARP, height: height * SHARP }
}

const asPng = async ({ source, width, height }) => {
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`
  await image.decode()
  const canvas = element("canvas", { width, height })
  canvas.getContext("2d").drawImage(image, 0, 0)
  return new Promise((done) => canvas.toBlob(done, "image/png"))
}

export const draw = (drawings, lines) => asPng(asPicture(drawings, lines))
