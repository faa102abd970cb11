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

// The theme wraps the button of every code box in a landmark, all of them nameless.
document$.subscribe(() => {
  for (const nav of document.querySelectorAll(".md-code__nav")) nav.role = "none"
})
