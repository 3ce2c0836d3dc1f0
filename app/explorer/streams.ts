/** Ends calls whose answer never ends by itself: the explorer shows what arrived in a short while. */

const AWHILE_MS = 3000;

/** `fetch`, with an event stream cut after three seconds. */
export async function fetchAWhile(input: string | URL | Request, options?: RequestInit): Promise<Response> {
  const answer = await fetch(input, options);
  const streams = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (!streams || answer.body === null) return answer;
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  const enough = setTimeout(() => void reader.cancel(), AWHILE_MS);
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    text += decoder.decode(piece.value, { stream: true });
  }
  clearTimeout(enough);
  const cut = new Response(text, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
  Object.defineProperty(cut, 'url', { value: answer.url });
  return cut;
}
