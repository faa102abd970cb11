// The language switch keeps the section; without scripts it keeps the page.
for (const link of document.querySelectorAll("a.language")) {
  const follow = () => { link.hash = location.hash }
  for (const event of ["pointerover", "focus", "click"]) link.addEventListener(event, follow)
  follow()
}

// What scrolls sideways within itself can be reached by keyboard.
for (const box of document.querySelectorAll(".arithmatex, .output-table")) {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
}

// pip needs the whole address of the wheel, wherever the site is being read.
for (const line of document.querySelectorAll(".install")) {
  const link = line.querySelector("a"), button = line.querySelector("button")
  link.textContent = link.href
  button.dataset.clipboardText = `pip install ${link.href}`
  button.hidden = false
}
