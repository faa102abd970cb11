// Fetches the search only once a reader turns to it. It stands before the theme's script,
// whose worker it takes the place of; see worker.js.
{
  const FIRST = 4
  const address = new URL("worker.js", document.currentScript.src)
  const first = new URL("../../search/first.json", document.currentScript.src)
  const Plain = window.Worker
  class SearchWorker extends EventTarget {
    waiting = []

    constructor() {
      super()
      const box = document.querySelector(".md-search__input")
      // A finger on the magnifier comes a little before the box has the focus.
      addEventListener("pointerdown", ({ target }) => target.closest('[for="__search"]') && this.start())
      box.addEventListener("focus", () => this.start())
      // The theme asks anew when a key comes up; what is pasted or dictated has no key.
      box.addEventListener("input", () => box.dispatchEvent(new Event("keyup")))
      if (document.activeElement === box) this.start()
    }

    async start() {
      if (this.worker) return
      const begun = fetch(first) // on its way while the worker is
      this.worker = new Plain(address)
      this.worker.onmessage = ({ data }) => this.dispatchEvent(new MessageEvent("message", { data }))
      for (const message of this.waiting) this.worker.postMessage(message)
      this.worker.postMessage({ type: FIRST, data: await (await begun).json() })
    }

    postMessage(message) {
      if (this.worker) this.worker.postMessage(message)
      else this.waiting.push(message)
    }
  }

  window.Worker = new Proxy(Plain, {
    construct: (Worker, [url, options]) =>
      /\/workers\/search\./.test(url) ? new SearchWorker() : new Worker(url, options),
  })
}
