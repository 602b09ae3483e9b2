// Answers asks a worker questions. A newer question of the same kind takes the place of
// one that waits. stop ends the worker, and the next question starts another.
export class Answers {
  constructor(url, busy) {
    this.url = url;
    this.busy = busy; // called with true when a question takes long, and with false
    this.waiting = new Map(); // by kind
    this.current = null;
    this.next = 1;
  }

  ask(question, kind = question.op, file = null) {
    return new Promise((resolve, reject) => {
      this.waiting.get(kind)?.reject(new Error("replaced"));
      this.waiting.delete(kind);
      this.waiting.set(kind, { question, kind, file, resolve, reject });
      // A question that nobody waits for any more mustn't hold up the newer one.
      if (this.current?.kind === kind) {
        const stale = this.current;
        setTimeout(() => { if (this.current === stale) this.restart("replaced"); }, 1000);
      }
      this.work();
    });
  }

  stop() { this.restart("stopped"); }

  restart(why) {
    this.worker?.terminate();
    this.worker = null;
    this.ready = false;
    this.finish(q => q.reject(new Error(why)));
  }

  finish(f) {
    const q = this.current;
    this.current = null;
    clearTimeout(this.timer);
    if (q) { this.busy(false); f(q); }
    this.work();
  }

  start() {
    this.worker = new Worker("worker.js");
    this.worker.onmessage = e => this.hear(e.data);
    this.worker.onerror = e => { e.preventDefault(); this.hear({ died: e.message || "the worker failed" }); };
    this.worker.postMessage({ begin: { url: this.url, module: this.module } });
  }

  hear(m) {
    if (m.module) this.module = m.module;
    if (m.ready) { this.ready = true; this.work(); }
    if (m.died) {
      this.worker?.terminate();
      this.worker = null;
      this.ready = false;
      const waited = [...this.waiting.values()];
      this.waiting.clear();
      for (const q of waited) q.reject(new Error(m.died));
      this.finish(q => q.reject(new Error(m.died)));
    } else if (m.id !== undefined && m.id === this.current?.id) {
      this.finish(q => q.resolve(JSON.parse(m.answer)));
    }
  }

  work() {
    if (this.current || this.waiting.size === 0) return;
    if (!this.worker) this.start();
    if (!this.ready) { this.slow(); return; }
    const [kind, q] = this.waiting.entries().next().value;
    this.waiting.delete(kind);
    this.current = q;
    q.id = this.next++;
    this.slow();
    this.worker.postMessage({ id: q.id, question: q.question, file: q.file });
  }

  slow() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { if (this.current) this.busy(true); }, 200);
  }
}
