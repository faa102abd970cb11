// The page of `python -m ppo_ref view`: the run viewer, with the runs that were named.
document.documentElement.lang = navigator.language.startsWith("zh") ? "zh" : "en"
const { mount } = await import("./runs.js") // which asks for the language
const given = await (await fetch("given.json")).json()
await mount(document.querySelector("main"), Object.entries(given).map(([path, address]) => ({ path, text: async () => {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(await answer.text())
  return answer.text()
} })))
