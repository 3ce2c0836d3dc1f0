/**
 * `fetch` for guests' JavaScript. A request leaves the guest at once; its answer is delivered between two runs of the
 * guest's jobs. Knows nothing of rules: the server has them.
 */
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten';
import type { FetchAnswer, FetchRequest } from '../../workers/protocol/fetch-messages.ts';
import type { Cancel } from '../../workers/protocol/guest-network.ts';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';
import { followRedirects } from '../../workers/protocol/redirects.ts';
import { type HostFunction, type JavaScriptBridge, Utf8Bytes } from './javascript-bridge.ts';
import { FETCH_PRELUDE, LAZY_FETCH } from './javascript-fetch-prelude.ts';

/** Sends a request of the guest; `refusal` says why every one fails. */
export interface FetchPort {
  fetch(request: FetchRequest, cancel: Cancel): Promise<FetchAnswer>;
}

/** As browsers do. */
const MOST_REDIRECTS = 20;
/** Requests that guest code may have under way at a time; the worker sends some of them at a time. */
const MOST_PENDING = 10_000;

interface Delivered {
  id: number;
  meta: string;
  body: Uint8Array;
}

export class JavaScriptFetch {
  readonly #context: QuickJSContext;
  readonly #port: FetchPort;
  /** The guest's function that settles a request; null until it first uses a name of `LAZY_FETCH`. */
  #deliver: QuickJSHandle | null = null;
  readonly #pending = new Map<number, Cancel>();
  readonly #answers: Delivered[] = [];
  #current: Delivered = { id: 0, meta: '', body: new Uint8Array(0) };
  #wake: (() => void) | null = null;

  /**
   * Defines `fetch`, `Headers`, `Request`, `Response`, `AbortController` and `AbortSignal` in the guest. What is behind
   * them is made by the first use of one: it takes 0.8 ms, more than all else of a run.
   */
  constructor(context: QuickJSContext, bridge: JavaScriptBridge, port: FetchPort) {
    this.#context = context;
    this.#port = port;
    const load = bridge.function('load', () => this.#load(bridge));
    const lazy = context.unwrapResult(context.evalCode(LAZY_FETCH, 'prelude'));
    context.unwrapResult(context.callFunction(lazy, context.undefined, load)).dispose();
    for (const handle of [load, lazy]) handle.dispose();
  }

  #load(bridge: JavaScriptBridge): void {
    if (this.#deliver !== null) return;
    const context = this.#context;
    const functions: Record<string, HostFunction> = {
      send: (meta, body) => this.#send(String(meta), body instanceof Uint8Array ? Uint8Array.from(body) : null),
      cancel: (id) => {
        const cancel = this.#pending.get(Number(id));
        if (cancel === undefined) return;
        cancel.cancelled = true;
        cancel.onCancel?.();
      },
      answer: () => this.#current.meta,
      answerBody: () => this.#current.body,
      decode: (bytes) => new Utf8Bytes(Buffer.from(decoded(bytes))),
      encode: (bytes) => (bytes instanceof Uint8Array ? Uint8Array.from(bytes) : new Uint8Array(0)),
    };
    const host = context.newObject();
    for (const [name, work] of Object.entries(functions)) {
      bridge.function(name, work).consume((handle) => context.setProp(host, name, handle));
    }
    const prelude = context.unwrapResult(context.evalCode(FETCH_PRELUDE, 'prelude'));
    try {
      this.#deliver = context.unwrapResult(context.callFunction(prelude, context.undefined, host));
    } finally {
      prelude.dispose();
      host.dispose();
    }
  }

  /**
   * Runs the guest's jobs and delivers answers until no request is under way, or until `deadline`. What a job throws is
   * left for who settles the value.
   */
  async settle(runtime: QuickJSRuntime, deadline: number): Promise<void> {
    for (;;) {
      const jobs = runtime.executePendingJobs();
      const failed = jobs.error !== undefined;
      jobs.dispose();
      if (failed || !this.isBusy || monotonicMs() > deadline) return;
      await this.answered();
      this.deliver();
    }
  }

  /** Whether a request is under way. */
  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  /** Resolves once there is an answer. */
  answered(): Promise<void> {
    return this.#answers.length > 0 ? Promise.resolve() : new Promise((resolve) => (this.#wake = resolve));
  }

  /** Gives the guest the answers that are there. */
  deliver(): void {
    for (const answer of this.#answers.splice(0)) this.#hand(answer);
  }

  /** Gives up what is under way: its answers are not waited for, and not delivered. */
  abandon(): void {
    for (const cancel of this.#pending.values()) {
      cancel.cancelled = true;
      cancel.onCancel?.();
    }
    this.#pending.clear();
  }

  dispose(): void {
    this.abandon();
    this.#deliver?.dispose();
  }

  #hand(answer: Delivered): void {
    if (this.#deliver === null || !this.#pending.delete(answer.id)) return;
    this.#current = answer;
    const context = this.#context;
    // It only settles a promise: an error can come of a lack of memory alone, and then the promise stays pending.
    context.callFunction(this.#deliver, context.undefined).dispose();
    this.#current = { id: 0, meta: '', body: new Uint8Array(0) };
  }

  #send(text: string, body: Uint8Array | null): void {
    const { id, url, method, headers, redirect } = JSON.parse(text) as {
      id: number;
      url: string;
      method: string;
      headers: [string, string][];
      redirect: string;
    };
    if (this.#pending.size >= MOST_PENDING) throw new RangeError(`more than ${MOST_PENDING} requests at a time`);
    const cancel: Cancel = { cancelled: false, onCancel: null };
    this.#pending.set(id, cancel);
    const request: FetchRequest = { url, method, headers, body, decode: true, timeoutMs: null };
    const most = redirect === 'follow' ? MOST_REDIRECTS : 0;
    void followRedirects(request, (one) => this.#port.fetch(one, cancel), { most }).then((followed) => {
      const { answer, tooMany, redirects } = followed;
      const isWrong = tooMany && redirect !== 'manual';
      const why = redirect === 'error' ? 'the server answered with a redirect' : 'more than 20 redirects';
      const failure = isWrong ? why : 'failure' in answer ? answer.message : null;
      const meta =
        failure !== null || !('status' in answer)
          ? { id, failure }
          : {
              id,
              status: answer.status,
              statusText: answer.statusText,
              headers: answer.headers,
              url: followed.url.replace(/#.*$/s, ''),
              redirected: redirects > 0,
            };
      const content = failure === null && 'status' in answer ? answer.body : new Uint8Array(0);
      this.#answers.push({ id, meta: JSON.stringify(meta), body: content });
      this.#wake?.();
      this.#wake = null;
    });
  }
}

/** As UTF-8, without a byte order mark; what is none becomes U+FFFD. */
function decoded(bytes: string | Uint8Array | undefined): string {
  return bytes instanceof Uint8Array ? new TextDecoder().decode(bytes) : '';
}
