// A drawing as a picture, to be pasted where nothing can be operated: with the colours that
// it has now, and the address from which it came.
import { element, lang } from "./lab.js"

const WORDS = {
  zh: { copy: "复制成图", copied: "已复制", saved: "已保存" },
  en: { copy: "Copy as picture", copied: "Copied", saved: "Saved" },
}[lang]

// `drawings` and `lines` are asked when it is pressed; what draws them comes then. Where a
// page may not write to the clipboard, the picture is saved.
export const pictureButton = (drawings, lines) => {
  const button = element("button", { type: "button", onclick: async () => {
    const png = import("./picture_drawn.js").then(({ draw }) => draw(drawings(), [...lines(), location.href]))
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": png })])
      button.textContent = WORDS.copied
    } catch {
      const link = element("a", { href: URL.createObjectURL(await png), download: "ppo.png" })
      link.click()
      URL.revokeObjectURL(link.href)
      button.textContent = WORDS.saved
    }
    setTimeout(() => { button.textContent = WORDS.copy }, 1500)
  } }, WORDS.copy)
  return button
}
