/**
 * One terminal of the server, as a browser shows it: what stands in it and what happens, by a stream that is open while
 * the page is visible and goes on where it stopped. Talks to the API only.
 */
import type { Problem, SandboxTerminal } from '#lib/contract/schema.ts';
import { blocksOf } from './event-blocks.ts';
import type { Language } from './run-words.ts';

export interface ShownEvent {
  event: string;
  data: Record<string, unknown>;
}

export interface KeptListener {
  /** The next event is read once this resolves. */
  onEvent(event: ShownEvent): Promise<void>;
  /** It went; a sentence. */
  onGone(because: string): void;
  /** The stream was opened or closed: what holds the sandbox awake may have changed. */
  onShown(): void;
}

const RETRY_MS = 1000;
const LOST: Pick<Problem, 'detail' | 'hint'> = {
  detail: 'The server could not be reached.',
  hint: 'Look at what stands here before running it again.',
};

const addressOf = (id: string) => `/api/instances/${encodeURIComponent(id)}/terminals`;
const send = (address: string, method: string, body?: unknown) =>
  fetch(address, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });

/** The terminals of a sandbox: open ones and the last that went. Empty without an answer. */
export async function terminalsOf(id: string): Promise<SandboxTerminal[]> {
  const answer = await send(addressOf(id), 'GET');
  return answer.ok ? ((await answer.json()) as SandboxTerminal[]) : [];
}

/** Opens a terminal. Throws an Error with the refusal. */
export async function openTerminal(id: string): Promise<SandboxTerminal> {
  const answer = await send(addressOf(id), 'POST', {});
  if (answer.ok) return (await answer.json()) as SandboxTerminal;
  const { detail, hint } = (await answer.json()) as Problem;
  throw new Error(hint === undefined ? detail : `${detail} ${hint}`);
}

export async function closeTerminal(id: string, terminal: string): Promise<void> {
  await send(`${addressOf(id)}/${terminal}`, 'DELETE');
}

export class KeptTerminal {
  readonly #address: string;
  readonly #listener: KeptListener;
  readonly #over = new AbortController();
  #last = '0';
  /** Resolves once the last clear was answered: a line that follows it is not cleared. */
  #cleared: Promise<unknown> = Promise.resolve();

  constructor(id: string, terminal: string, listener: KeptListener) {
    this.#address = `${addressOf(id)}/${terminal}`;
    this.#listener = listener;
    void this.#show();
  }

  /** Runs a line; null when the server took it, which the stream then shows. */
  async type(text: string, language: Language): Promise<Pick<Problem, 'detail' | 'hint'> | null> {
    await this.#cleared;
    try {
      const answer = await send(`${this.#address}/lines`, 'POST', { text, language });
      return answer.ok ? null : ((await answer.json()) as Problem);
    } catch {
      // Whether the line arrived is not known: the stream shows it when it did.
      return LOST;
    }
  }

  /** Stops the line that runs. */
  interrupt(): void {
    // When the server is not reached, the line goes on, which the screen shows.
    send(`${this.#address}/interrupt`, 'POST', {}).catch(() => undefined);
  }

  /** Removes its scrollback at the server, for everybody; the stream tells. False when the server did not. */
  async clear(): Promise<boolean> {
    const answer = send(`${this.#address}/clear`, 'POST', {}).then(
      ({ ok }) => ok,
      () => false,
    );
    this.#cleared = answer;
    return await answer;
  }

  /** Stops showing it; it stays. */
  leave(): void {
    this.#over.abort();
  }

  async #show(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      await whenVisible(signal);
      if (signal.aborted) return;
      const hidden = new AbortController();
      const look = () => document.visibilityState === 'hidden' && hidden.abort();
      document.addEventListener('visibilitychange', look);
      try {
        if (!(await this.#follow(AbortSignal.any([signal, hidden.signal])))) return;
      } catch {
        // The connection broke, or the page is hidden: it goes on below.
      } finally {
        document.removeEventListener('visibilitychange', look);
      }
      if (!hidden.signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** False when there is nothing more to show. */
  async #follow(signal: AbortSignal): Promise<boolean> {
    const answer = await fetch(`${this.#address}/stream`, { headers: { 'last-event-id': this.#last }, signal });
    if (!answer.ok || answer.body === null) {
      if (answer.status !== 404 && answer.status !== 410) return answer.status >= 429;
      this.#listener.onGone(((await answer.json()) as Problem).detail);
      return false;
    }
    this.#listener.onShown();
    for await (const { event, id, data } of blocksOf(answer.body)) {
      if (signal.aborted) return true;
      if (id !== '') this.#last = id;
      if (event === 'gone') {
        this.#listener.onGone(String((data as { because?: unknown }).because));
        return false;
      }
      if (event !== 'error') await this.#listener.onEvent({ event, data: data as Record<string, unknown> });
    }
    return true;
  }
}

function whenVisible(signal: AbortSignal): Promise<void> {
  if (document.visibilityState !== 'hidden') return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (document.visibilityState === 'hidden' && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
  });
}
