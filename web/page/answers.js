// Answers asks a worker questions. A newer question of the same kind takes the place of
// one that waits. stop ends the worker, and the next question starts another; lost, which
// the page may set, is called then, as what the worker had read is gone.
export class Answers {
  constructor(url, busy) {
    this.url = url;
    this.busy = busy; // called with these answers, and true when a question takes long, or false
    this.waiting = new Map(); // by kind
    this.current = null;
    this.next = 1;
  }

  // ask sends a question; more is a file or pixels.
  ask(question, kind = question.op, more = {}) {
    return new Promise((resolve, reject) => {
      this.waiting.get(kind)?.reject(new Error("replaced"));
      this.waiting.delete(kind);
      this.waiting.set(kind, { question, more, resolve, reject });
      this.work();
    });
  }

  // abandon drops the questions of a view that is no longer wanted. One that goes on for
  // half a second more is ended, so that it doesn't hold up the newer ones.
  abandon() {
    for (const q of this.waiting.values()) q.reject(new Error("replaced"));
    this.waiting.clear();
    const stale = this.current;
    if (stale) setTimeout(() => { if (this.current === stale) this.restart("replaced"); }, 500);
  }

  stop() {
    for (const q of this.waiting.values()) q.reject(new Error("stopped"));
    this.waiting.clear();
    if (this.worker && (this.current || !this.ready)) this.restart("stopped");
  }

  restart(why) {
    this.end();
    this.finish(q => q.reject(new Error(why)));
  }

  end() {
    this.worker?.terminate();
    this.worker = null;
    this.ready = false;
    this.lost?.();
  }

  finish(f) {
    const q = this.current;
    this.current = null;
    clearTimeout(this.timer);
    this.busy(this, false);
    if (q) f(q);
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
      this.end();
      const waited = [...this.waiting.values()];
      this.waiting.clear();
      for (const q of waited) q.reject(new Error(m.died));
      this.finish(q => q.reject(new Error(m.died)));
    } else if (m.id !== undefined && m.id === this.current?.id) {
      this.finish(q => { try { q.resolve(JSON.parse(m.answer)); } catch (e) { q.reject(e); } });
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
    this.worker.postMessage({ id: q.id, question: q.question, ...q.more });
  }

  slow() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { if (this.current || this.waiting.size) this.busy(this, true); }, 200);
  }
}
