// In front of start.js, in the copy of the site for reading offline: what is opened from
// a folder may neither fetch nor start a Worker. So the index comes as a script, and so
// does worker.js, as a function of what a Worker would give it.
{
  const run = (address) => new Promise((done, failed) => {
    const script = document.createElement("script")
    Object.assign(script, { src: address, onload: done, onerror: failed })
    document.head.append(script)
  })
  window.Worker = class {
    constructor(address) {
      const index = new URL("../../search/search_index.js", address)
      this.started = Promise.all([run(address), run(index)]).then(() => searchWorker(
        async () => ({ json: async () => searchIndex }),
        (data) => this.onmessage({ data }),
        (_, answer) => { this.answer = answer },
        address,
      ))
    }

    async postMessage(data) {
      await this.started
      this.answer({ data })
    }
  }
}
