// Fetches the search only once a reader turns to it. It stands before the theme's script,
// whose worker it takes the place of; see worker.js.
{
  const address = new URL("worker.js", document.currentScript.src)
  const Plain = window.Worker
  class SearchWorker extends EventTarget {
    waiting = []

    constructor() {
      super()
      const box = document.querySelector(".md-search__input")
      const start = () => this.start()
      box.addEventListener("focus", start, { once: true })
      if (document.activeElement === box) start()
    }

    start() {
      this.worker = new Plain(address)
      this.worker.onmessage = ({ data }) => this.dispatchEvent(new MessageEvent("message", { data }))
      for (const message of this.waiting) this.worker.postMessage(message)
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
